//! Async tasks on bare metal: marks among the statements, as in hosted programs. A mark is recorded as a statement of a file that
//! no program has, see [`TaskMark`].

use qs_core::record::{TaskMark, TaskStep};

use super::statement::record_at;
use crate::shared::Shared;

/// Numbers of ended tasks that are kept for the next tasks.
const KEPT: usize = 8;

/// Numbers for tasks. Those of ended tasks are used again, newest first, so a loop that starts and ends tasks folds.
struct TaskNumbers {
    free: [u16; KEPT],
    len: u8,
    next: u16,
}

static NUMBERS: Shared<TaskNumbers> = Shared::new(TaskNumbers { free: [0; KEPT], len: 0, next: 0 });

impl TaskNumbers {
    fn take(&mut self) -> u16 {
        let kept = self.free.get(usize::from(self.len).wrapping_sub(1)).copied();
        match kept {
            Some(_) => self.len -= 1,
            // Behind the last number comes the first again, as in `TaskMark`.
            None => self.next = self.next.wrapping_add(1).max(1),
        }
        kept.unwrap_or(self.next)
    }

    fn put(&mut self, number: u16) {
        if let Some(place) = self.free.get_mut(usize::from(self.len)) {
            *place = number;
            self.len += 1;
        }
    }
}

/// A task, as the future of its body holds it. Bytes, so that a future grows by two and not by what they would have to be
/// aligned to.
pub(crate) struct RecordedTask([u8; 2]);

impl RecordedTask {
    /// Numbers a task, and records that it begins.
    pub(crate) fn enter() -> RecordedTask {
        let task = RecordedTask(NUMBERS.with(TaskNumbers::take).unwrap_or(0).to_ne_bytes());
        task.mark(TaskStep::Enter);
        task
    }

    /// Records that it goes on behind an `.await`.
    pub(crate) fn resume(&self) {
        self.mark(TaskStep::Resume);
    }

    #[inline(never)]
    fn mark(&self, step: TaskStep) {
        record_at(TaskMark { step, task: u16::from_ne_bytes(self.0).into() }.statement());
    }
}

impl Drop for RecordedTask {
    fn drop(&mut self) {
        self.mark(TaskStep::End);
        NUMBERS.with(|numbers| numbers.put(u16::from_ne_bytes(self.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_the_number_of_the_one_that_ended_last() {
        let mut numbers = TaskNumbers { free: [0; KEPT], len: 0, next: 0 };
        assert_eq!([numbers.take(), numbers.take(), numbers.take()], [1, 2, 3]);
        numbers.put(1);
        numbers.put(3);
        assert_eq!([numbers.take(), numbers.take(), numbers.take()], [3, 1, 4]);
        (0..20).for_each(|number| numbers.put(number));
        assert_eq!(numbers.take(), KEPT as u16 - 1, "more are forgotten");
        numbers = TaskNumbers { free: [0; KEPT], len: 0, next: u16::MAX };
        assert_eq!(numbers.take(), 1, "after the last number");
    }
}
