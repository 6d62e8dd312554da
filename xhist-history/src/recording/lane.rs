//! Lanes: the threads of a recording, and the interrupts of firmware.

use super::ids::{CallId, StepId};

/// A thread, or an interrupt on top of it.
#[derive(Clone, Debug, Default)]
pub struct RecordedLane {
    /// Name of the thread, printable.
    pub name: String,
    /// Process id; 0 = not known.
    pub pid: u32,
    /// Thread id; 0 = not known.
    pub tid: u32,
    /// Number of its ring.
    pub ring: usize,
    /// The number of the interrupt; 0 for a thread.
    pub interrupt: u16,
    /// The state of the thread at the end, in one word.
    pub status: &'static str,
    /// A panic is not known to be caught.
    pub is_panicking: bool,
    /// The first such panic, if it is a step.
    pub panic: Option<StepId>,
    /// Its steps, oldest first.
    pub steps: Vec<StepId>,
    /// Its calls, by their first steps; an outer call comes before the calls in it.
    pub calls: Vec<CallId>,
}

impl RecordedLane {
    /// The panic that ended it.
    pub fn fatal_panic(&self) -> Option<StepId> {
        self.panic.filter(|_| matches!(self.status, "panicked" | "killed"))
    }

    /// The position of a step among the steps of the lane; of a step elsewhere that of the newest one before it.
    pub fn position(&self, step: StepId) -> Option<usize> {
        self.steps.partition_point(|other| *other <= step).checked_sub(1)
    }
}
