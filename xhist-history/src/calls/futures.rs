//! Steps of futures with ids: which activation goes on, and which has ended.

use qs_core::record::{TaskMark, TaskStep};

use super::activation::{Activation, Exit};
use super::stack::{CallStack, Slot};

impl CallStack {
    /// A future made a step. Returns its activation if it was dropped while it waited.
    pub(super) fn task(&mut self, TaskMark { step, task }: TaskMark) -> Option<Activation> {
        let id = u64::from(task);
        let is_it = |slot: &Slot| slot.activation.task == Some(id) && slot.activation.ended.is_none();
        let index = self.slots.iter().rposition(is_it);
        let is_at_await = index.is_some_and(|index| self.awaits(index));
        let running = index.map(|index| &mut self.slots[index].activation);
        self.task = matches!(step, TaskStep::Enter | TaskStep::Resume).then_some(id);
        match step {
            TaskStep::Enter => {}
            TaskStep::Resume => match running {
                Some(running) => running.has_resumed = true,
                None => self.parked.goes_on(id),
            },
            // The stack shows what a panic unwinds.
            TaskStep::Unwind if running.is_some() => {}
            TaskStep::End | TaskStep::Unwind => match running {
                Some(running) => {
                    running.ended = Some(match is_at_await && !running.has_resumed {
                        true if self.structure.must_go_on(running.statement) => Exit::Cancelled,
                        // It may have returned there, behind its last `.await`.
                        true => Exit::Parked,
                        false => Exit::Returned,
                    });
                }
                None => {
                    let is_cancelled = |parked: &Activation| {
                        !parked.has_resumed && self.structure.must_go_on(parked.statement)
                    };
                    return self.parked.end(id).filter(is_cancelled);
                }
            },
        }
        None
    }
}
