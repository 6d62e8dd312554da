//! Async tasks: numbers them, and records their steps among the statements of the thread that runs them.
//!
//! A thread uses the numbers of its ended tasks again, newest first. A loop that starts and ends tasks then records the
//! same words in each round, and folds.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use qs_core::record::{TaskMark, TaskStep};

use crate::hosted::slow_path;
use crate::hosted::thread_state::ThisThread;

/// The next number that no task had.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// Numbers that a thread keeps for its next tasks.
const KEPT: usize = 16;

std::thread_local! {
    // Without a destructor, so that a future that is dropped at the end of a thread finds it.
    static FREE: FreeNumbers = const { FreeNumbers { words: [const { Cell::new([0; 4]) }; KEPT], len: Cell::new(0) } };
}

/// Words of ended tasks.
struct FreeNumbers {
    words: [Cell<[u8; 4]>; KEPT],
    len: Cell<usize>,
}

impl FreeNumbers {
    fn take(&self) -> Option<[u8; 4]> {
        let len = self.len.get().checked_sub(1)?;
        self.len.set(len);
        self.words.get(len).map(Cell::get)
    }

    fn put(&self, word: [u8; 4]) {
        if let Some(place) = self.words.get(self.len.get()) {
            place.set(word);
            self.len.set(self.len.get() + 1);
        }
    }

    /// Two bytes that differ between most threads.
    fn home(&self) -> [u8; 2] {
        (((&raw const *self).addr() >> 6) as u16).to_ne_bytes()
    }
}

/// A task, as the future of its body holds it. Bytes, so that a future grows by six and not by what they would have to
/// be aligned to.
pub(crate) struct RecordedTask {
    /// The word of its [`TaskStep::Resume`], which holds its number.
    word: [u8; 4],
    /// The thread that it began in.
    home: [u8; 2],
}

impl RecordedTask {
    /// Numbers a task, and records that it begins.
    pub(crate) fn enter() -> RecordedTask {
        let (free, home) = FREE.with(|free| (free.take(), free.home()));
        let word = free.unwrap_or_else(new_number);
        slow_path::put_word(TaskMark::with_step(word, TaskStep::Enter));
        count(false);
        RecordedTask { word: TaskMark::with_step(word, TaskStep::Resume), home }
    }

    /// Records that it goes on behind an `.await`.
    #[inline(always)]
    pub(crate) fn resume(&self) {
        slow_path::put_word(self.word);
    }
}

impl Drop for RecordedTask {
    fn drop(&mut self) {
        let step = if std::thread::panicking() { TaskStep::Unwind } else { TaskStep::End };
        slow_path::put_word(TaskMark::with_step(self.word, step));
        count(true);
        // Between two threads the order of marks is known to a millisecond only, so a number stays with its thread.
        FREE.with(|free| {
            if free.home() == self.home {
                free.put(self.word);
            }
        });
    }
}

/// Counts a task in the header of this thread's ring. Marks are overwritten, the count stays.
#[inline(always)]
fn count(ends: bool) {
    if let Some(track) = ThisThread::get().track() {
        track.writer.header().count_task(ends);
    }
}

/// A word of a number that no task had.
#[cold]
fn new_number() -> [u8; 4] {
    let task = NEXT.fetch_add(1, Relaxed) % TaskMark::NUMBERS;
    TaskMark { step: TaskStep::Enter, task }.word()
}
