//! Rows of the panes: text in roles, and what a row is about.

use xhist_history::recording::StepId;

/// What a part of a row is; the style follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowRole {
    /// Text.
    #[default]
    Plain,
    /// Less important.
    Dim,
    /// The statement that runs.
    Here,
    /// A recorded value.
    Value,
    /// A file and line.
    Place,
    /// The name of a function, thread or task.
    Name,
    /// A panic, signal or other event.
    Event,
    /// A keyword of the source.
    Keyword,
    /// A comment.
    Comment,
}

/// A row.
#[derive(Clone, Debug, Default)]
pub struct ViewRow {
    /// Its parts.
    pub spans: Vec<(RowRole, String)>,
    /// What it is about.
    pub target: RowTarget,
}

/// What a row is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RowTarget {
    /// Nothing to go to.
    #[default]
    Nothing,
    /// A step.
    Step(StepId),
    /// A call on the stack, counted from the innermost one.
    Frame(usize),
    /// The newest run of a line.
    LastRun(String, u32),
}

impl ViewRow {
    /// A row of one text.
    pub fn new(role: RowRole, text: impl Into<String>) -> ViewRow {
        ViewRow::default().with(role, text)
    }

    /// With another part.
    pub fn with(mut self, role: RowRole, text: impl Into<String>) -> ViewRow {
        self.spans.push((role, text.into()));
        self
    }

    /// About something.
    pub fn about(mut self, target: RowTarget) -> ViewRow {
        self.target = target;
        self
    }
}

/// The rows of a pane. Only those that are seen are made.
pub struct PaneRows<'s> {
    /// What is in the title besides the name.
    pub title: String,
    /// How many there are.
    pub len: usize,
    /// The one that the cursor is at; it is marked.
    pub current: Option<usize>,
    /// The one that keys act on.
    pub selected: usize,
    /// Makes one.
    pub row: Box<dyn Fn(usize) -> ViewRow + 's>,
}

impl<'s> PaneRows<'s> {
    /// Rows that are there.
    pub fn list(rows: Vec<ViewRow>, current: Option<usize>) -> PaneRows<'s> {
        PaneRows {
            title: String::new(),
            len: rows.len(),
            current,
            selected: current.unwrap_or_default(),
            row: Box::new(move |index| rows.get(index).cloned().unwrap_or_default()),
        }
    }

    /// The first row that is seen on a screen of this height: the selected one is in the middle.
    pub fn first(&self, height: usize) -> usize {
        self.selected.saturating_sub(height / 2).min(self.len.saturating_sub(height))
    }
}
