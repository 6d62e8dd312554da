//! The number of pending events. Its two steps must not be interrupted, but the lock
//! (here: masking interrupts) is missing.

use core::hint::black_box;
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

static WAITING: AtomicI32 = AtomicI32::new(0);

pub fn add(change: i32) {
    let waiting = read();
    WAITING.store(waiting + change, Relaxed);
}

// xhist instrument FALSE
pub fn waiting() -> i32 {
    WAITING.load(Relaxed)
}

/// A slow device register.
fn read() -> i32 {
    let waiting = WAITING.load(Relaxed);
    for i in 0..400 {
        black_box(i);
    }
    waiting
}
// xhist instrument TRUE
