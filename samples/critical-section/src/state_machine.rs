//! The example of the Xhist paper: a state machine that handles its own (synchronous) events
//! and those of a timer (asynchronous), and counts both in a critical section.
//!
//! After a while it stops responding, each time at another place. The stack holds no trace
//! of the cause; the history does.

mod crit_section;
mod event_handlers;
mod watchdog;

use std::hint::black_box;

enum State {
    Idle,
    Working,
    Waiting,
}

fn main() {
    event_handlers::install();
    watchdog::start();
    println!("handling events ...");
    let mut state = State::Idle;
    loop {
        state = step(state);
    }
}

fn step(state: State) -> State {
    match state {
        State::Idle => {
            event_handlers::request_event();
            State::Working
        }
        State::Working => {
            work();
            State::Waiting
        }
        State::Waiting => {
            event_handlers::wait_for_event();
            crit_section::add(-1);
            watchdog::event_handled();
            State::Idle
        }
    }
}

/// Synchronous events: each is posted and taken at once.
fn work() {
    for _ in 0..2 {
        crit_section::add(1);
        compute();
        crit_section::add(-1);
        compute();
    }
}

// xhist instrument FALSE
fn compute() {
    for i in 0..20_000 {
        black_box(i);
    }
}
// xhist instrument TRUE
