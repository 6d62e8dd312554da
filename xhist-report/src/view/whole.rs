//! An answer in place of the panes: the whole call that is looked at, or where a value of it comes from.

use super::row::{RowRole, RowTarget, ViewRow};
use crate::query::origin::{OriginLook, WITH_VALUES, text_lines};
use crate::query::{self, AskedHistory};
use xhist_history::notes::typed::{self, quoted};
use xhist_history::origin::origin_of;
use xhist_history::recording::{CallId, Recording, StepId};

/// The rows of an answer, and the one that keys selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeAnswer {
    /// Each with the step that it is about.
    rows: Vec<(String, Option<StepId>)>,
    /// The selected row.
    pub selected: usize,
}

impl WholeAnswer {
    /// A call, as `frame` prints it. `at`: the step whose row is selected.
    pub fn of_call(recording: &Recording, call: CallId, at: StepId) -> WholeAnswer {
        let rows = query::frame_of(recording, call, &AskedHistory::default()).into_iter().map(|row| {
            let number = ["n", "first"].iter().find_map(|key| row.json[*key].as_u64());
            (row.text, number.and_then(|number| recording.by_number(number)))
        });
        let rows: Vec<_> = rows.collect();
        let before = rows.iter().rposition(|(_, step)| step.is_some_and(|step| step <= at));
        WholeAnswer { rows, selected: before.unwrap_or_default() }
    }

    /// Where a value comes from, as `origin` prints it.
    ///
    /// # Errors
    /// Why there is no such value.
    pub fn of_value(recording: &Recording, name: &str, at: StepId) -> Result<WholeAnswer, String> {
        let origin = origin_of(recording, name, at)?;
        let command = |asked: &str| typed::command(format!("origin {}", quoted(asked)));
        let look = OriginLook { command: Box::new(command), with_values: WITH_VALUES };
        let lines = text_lines(recording, &origin, &look).into_iter();
        let steps = std::iter::once(origin.step).chain(origin.hops.iter().map(|hop| hop.step));
        let steps = steps.map(Some).chain(std::iter::repeat(None));
        let lines = lines.map(|(_, line)| anstream::adapter::strip_str(&line).to_string());
        Ok(WholeAnswer { rows: lines.zip(steps).collect(), selected: 0 })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// What the selected row is about.
    pub fn step(&self) -> Option<StepId> {
        self.rows.get(self.selected)?.1
    }

    /// A row.
    pub fn row(&self, index: usize) -> ViewRow {
        let Some((text, step)) = self.rows.get(index) else { return ViewRow::default() };
        let role = if step.is_some() { RowRole::Plain } else { RowRole::Dim };
        let target = step.map_or(RowTarget::Nothing, RowTarget::Step);
        ViewRow::new(role, text.as_str()).about(target)
    }
}
