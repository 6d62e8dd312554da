//! What all panes are made from, and the words that they share.

use crate::view::index::ViewIndex;
use crate::view::state::ViewState;
use xhist_history::recording::{RecordedLane, Recording, SiteId, StepId};

/// What all panes are made from.
#[derive(Clone, Copy)]
pub struct Scene<'s> {
    /// The history.
    pub recording: &'s Recording,
    /// What is derived from it.
    pub index: &'s ViewIndex,
    /// Where the view is.
    pub state: &'s ViewState,
}

impl<'s> Scene<'s> {
    /// `main.rs:12`.
    pub fn place(&self, site: SiteId) -> String {
        let (file, line) = (self.recording.file_of(site), self.recording.site(site));
        let path = file.map_or("?", |file| &file.path);
        format!("{}:{}", path.rsplit('/').next().unwrap_or(path), line.map_or(0, |site| site.line))
    }

    /// The text of a site's line, without indentation.
    pub fn text(&self, site: SiteId) -> &'s str {
        let line = |site| self.recording.site(site).map(|site| (site.file, site.line));
        line(site).map_or("", |(file, line)| self.index.line(self.recording, file, line).trim())
    }

    /// `#120`.
    pub fn number(&self, step: StepId) -> String {
        format!("#{}", self.recording.number(step))
    }

    /// Values that were recorded behind a step: `x = 1, y = 2`.
    pub fn values(&self, step: StepId) -> String {
        let strings = &self.recording.strings;
        let values = self.recording.values_at(step).iter();
        let values = values.map(|value| format!("{} = {}", strings.get(value.name), strings.get(value.text)));
        values.collect::<Vec<_>>().join(", ")
    }
}

/// How a thread ended. One that was still there at the end, as far as its ring knows, has not.
pub fn end_of(lane: &RecordedLane) -> &'static str {
    match lane.status {
        "running or killed" => "not ended",
        status => status,
    }
}

/// A text in a column of this width: the end of one that is longer.
pub fn column(text: &str, width: usize) -> String {
    let length = text.chars().count();
    match length > width {
        true => text.chars().skip(length - width).collect(),
        false => format!("{text:<width$}"),
    }
}
