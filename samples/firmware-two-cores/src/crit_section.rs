//! The number of waiting events. Its two steps must not be interrupted by those of the other core, but the lock is missing.

use core::hint::black_box;
use core::sync::atomic::{AtomicI32, Ordering::SeqCst};

static WAITING: AtomicI32 = AtomicI32::new(0);

pub fn add(change: i32) {
    if cfg!(feature = "good") {
        critical_section::with(|_| change_by(change));
    } else {
        change_by(change);
    }
}

fn change_by(change: i32) {
    let waiting = read();
    WAITING.store(waiting + change, SeqCst);
}

// xhist instrument FALSE
pub fn wait_for_some() {
    while WAITING.load(SeqCst) <= 0 {}
}

pub fn wait_for_none() {
    while WAITING.load(SeqCst) > 0 {}
}

/// A slow device register.
fn read() -> i32 {
    let waiting = WAITING.load(SeqCst);
    for i in 0..20_000 {
        black_box(i);
    }
    waiting
}
// xhist instrument TRUE
