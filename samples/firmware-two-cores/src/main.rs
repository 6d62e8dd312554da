//! One core posts events, the other one takes them. Both count the waiting events in a section that only one of them may enter.
//!
//! After a while the count is wrong: the merged history of both cores shows why.

#![no_std]
#![no_main]

mod board;
mod crit_section;

use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use board::entry;

static POSTED: AtomicU32 = AtomicU32::new(0);
static TAKEN: AtomicU32 = AtomicU32::new(0);

#[entry]
fn main() -> ! {
    if board::core() == 0 {
        board::start_clock();
        board::start_second_core();
        for _ in 0..300 {
            post_events();
        }
        board::end(true)
    }
    loop {
        crit_section::wait_for_some();
        take_event();
    }
}

/// Posts three events, and waits until they are taken.
fn post_events() {
    for _ in 0..3 {
        POSTED.fetch_add(1, SeqCst);
        crit_section::add(1);
    }
    crit_section::wait_for_none();
    let (posted, taken) = (POSTED.load(SeqCst), TAKEN.load(SeqCst));
    assert_eq!(posted, taken, "events posted and taken");
}

fn take_event() {
    TAKEN.fetch_add(1, SeqCst);
    crit_section::add(-1);
}
