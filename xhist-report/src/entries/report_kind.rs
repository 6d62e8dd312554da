//! The kinds of reports.

/// What a report shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// The entries, one after another.
    History,
    /// The end of each thread, folded.
    Answer,
    /// The statements that were ever executed, file by file.
    Coverage,
    /// The functions that fill the rings.
    Hotspots,
    /// Broken rules of order.
    Order,
    /// The calls that statements imply.
    Calls,
    /// The builds that the rings came from.
    Builds,
    /// The async tasks that have not ended.
    Tasks,
    /// Every record of a QS stream, and every error in it.
    Qspy,
    /// The whole history at once, for views that go back and forth.
    Recording,
}

impl ReportKind {
    /// The command that asks for this report instead of that of the format.
    pub fn command(self) -> Option<&'static str> {
        match self {
            ReportKind::Builds => Some("builds"),
            ReportKind::Hotspots => Some("hot"),
            ReportKind::Tasks => Some("tasks"),
            ReportKind::Order => Some("order"),
            ReportKind::History
            | ReportKind::Answer
            | ReportKind::Coverage
            | ReportKind::Calls
            | ReportKind::Qspy
            | ReportKind::Recording => None,
        }
    }
}
