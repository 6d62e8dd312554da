//! What the view shows: where it is, which panes are in front, breakpoints, marks and what is being typed.

use std::collections::{BTreeMap, BTreeSet};

use super::row::PaneRows;
use super::search::Search;
use super::whole::WholeAnswer;
use xhist_history::recording::{Recording, StepId};

/// A pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PaneId {
    /// The file with the current line.
    Source,
    /// All steps.
    History,
    /// The stack and the calls around the cursor.
    Calls,
    /// Values of the call.
    Values,
    /// Threads and async tasks.
    Threads,
    /// What is known about the failure, and what was lost.
    Findings,
}

impl PaneId {
    /// All panes, in the order of Tab.
    pub const ALL: [PaneId; 6] =
        [PaneId::Source, PaneId::History, PaneId::Calls, PaneId::Values, PaneId::Threads, PaneId::Findings];

    /// Its name on the screen.
    pub fn name(self) -> &'static str {
        match self {
            PaneId::Source => "Source",
            PaneId::History => "History",
            PaneId::Calls => "Calls",
            PaneId::Values => "Values",
            PaneId::Threads => "Threads",
            PaneId::Findings => "Findings",
        }
    }
}

/// What keys mean at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each one does what its row says.
    Keys,
    /// The help is shown.
    Help,
    /// An answer is shown; keys choose one of its rows.
    Whole(WholeAnswer),
    /// They are characters of an answer.
    Typing(Prompt, String),
    /// The next one is the letter of a mark, to be set or gone to.
    Letter(LetterUse),
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// A step.
    Number,
    /// A text.
    Text,
}

impl Prompt {
    /// What the bottom line begins with.
    pub fn text(self) -> &'static str {
        match self {
            Prompt::Number => "go to step: ",
            Prompt::Text => "/",
        }
    }
}

/// What a letter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterUse {
    /// Names this step.
    Set,
    /// Goes to its step.
    Go,
}

/// What the view shows.
#[derive(Clone, Debug)]
pub struct ViewState {
    /// Where it is.
    pub step: StepId,
    /// Where it opened.
    pub opened: StepId,
    /// The pane that keys act on.
    pub focus: PaneId,
    /// The focused pane has the whole screen.
    pub is_zoomed: bool,
    /// Files and lines.
    pub breakpoints: BTreeSet<(u32, u32)>,
    /// Steps by letter.
    pub marks: BTreeMap<char, StepId>,
    /// The newest search.
    pub search: Option<Search>,
    /// What keys mean.
    pub mode: Mode,
    /// The number that was typed before a key.
    pub count: Option<u64>,
    /// What the bottom line says.
    pub message: String,
    /// Columns that are left out at the left.
    pub shift: usize,
    /// How often the time axis was halved.
    pub axis: u32,
    /// Columns and rows of the screen.
    pub size: (u16, u16),
    /// The program may still record.
    pub is_growing: bool,
    /// Panes, the one that had the focus last first.
    recent: Vec<PaneId>,
    /// Rows that keys selected.
    selected: BTreeMap<PaneId, usize>,
}

impl ViewState {
    /// Opens at a step, or where a recording opens.
    pub fn opened(recording: &Recording, at: Option<StepId>, size: (u16, u16)) -> ViewState {
        let opened = at.or_else(|| recording.opening_step()).unwrap_or_default();
        let mut recent = PaneId::ALL.to_vec();
        recent.swap(0, 1);
        if recording.values.is_empty() {
            recent.retain(|pane| *pane != PaneId::Values);
            recent.push(PaneId::Values);
        }
        // A program that hangs is explained by what its tasks wait for.
        let hangs = at.is_none() && !recording.opens_at_failure() && !recording.parked_tasks().is_empty();
        let mut state = ViewState {
            step: opened,
            opened,
            focus: PaneId::History,
            is_zoomed: false,
            breakpoints: BTreeSet::new(),
            marks: BTreeMap::new(),
            search: None,
            mode: Mode::Keys,
            count: None,
            message: if at.is_none() { welcome(recording, opened) } else { String::new() },
            shift: 0,
            axis: 0,
            size,
            is_growing: false,
            recent,
            selected: BTreeMap::new(),
        };
        if hangs {
            state.focus(PaneId::Findings);
        }
        state
    }

    /// Goes to a step. Rows that were selected by hand follow the cursor again.
    pub fn go_to(&mut self, step: StepId) {
        self.step = step;
        self.selected.retain(|pane, _| *pane == PaneId::Findings);
        self.shift = 0;
    }

    /// The recording has more steps than the number that was seen. A view that is at its end stays there.
    pub fn grew(&mut self, seen: usize, recording: &Recording) {
        let was_at_end = self.step.0 as usize + 1 >= seen;
        if was_at_end && let Some(last) = recording.last() {
            self.go_to(last);
        }
    }

    /// Puts a pane in front.
    pub fn focus(&mut self, pane: PaneId) {
        self.focus = pane;
        self.recent.retain(|other| *other != pane);
        self.recent.insert(0, pane);
        self.shift = 0;
    }

    /// Of some panes, the one that had the focus last.
    pub fn front(&self, panes: &[PaneId]) -> PaneId {
        self.recent.iter().find(|pane| panes.contains(pane)).copied().unwrap_or(self.focus)
    }

    /// Selects a row.
    pub fn select(&mut self, pane: PaneId, row: usize) {
        match pane {
            PaneId::History => self.go_to(StepId(row as u32)),
            _ => {
                self.selected.insert(pane, row);
            }
        }
    }

    /// The row that was selected by hand.
    pub fn selected(&self, pane: PaneId) -> Option<usize> {
        self.selected.get(&pane).copied()
    }

    /// The rows of a pane, with the row that was selected by hand.
    pub fn selecting<'s>(&self, pane: PaneId, mut rows: PaneRows<'s>) -> PaneRows<'s> {
        rows.selected = self.selected(pane).unwrap_or(rows.selected).min(rows.len.saturating_sub(1));
        rows
    }
}

/// Says where a view opened, because its end is not where most expect to begin.
fn welcome(recording: &Recording, step: StepId) -> String {
    let event = recording.event(step).map_or("", |event| recording.strings.get(event.text));
    let parked = recording.parked_tasks().len();
    match event {
        "" if parked > 0 => format!(
            "{parked} async tasks were parked at the end: Enter goes there, S steps back, ? shows all keys"
        ),
        "" => "this is the newest step: S steps back, t shows other threads, ? shows all keys".to_owned(),
        event => format!("{event}: S steps back, t shows other threads, ? shows all keys"),
    }
}
