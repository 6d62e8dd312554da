//! A timer that wakes a thread. Each step is a profile event.

use xhist_rt::profile_event;

use crate::codes::{THREAD_READY, TIMER_ARMED, TIMER_CREATED, TIMER_FIRED};

pub struct Timer {
    id: u32,
    left: u32,
    thread: u32,
}

impl Timer {
    pub fn new(id: u32, thread: u32) -> Timer {
        profile_event!(TIMER_CREATED; id, thread);
        Timer { id, left: 0, thread }
    }

    pub fn arm(&mut self, ticks: u32) {
        profile_event!(TIMER_ARMED; self.id, ticks);
        self.left = ticks;
    }

    /// Advances the timer; true if it fires.
    pub fn tick(&mut self, now: u32) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        profile_event!(TIMER_FIRED, now; self.id);
        profile_event!(THREAD_READY; self.thread, self.id);
        true
    }
}
