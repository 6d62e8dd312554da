//! The example of the Xhist paper on a Cortex-M: a state machine that handles its own (synchronous) events and
//! those of a timer (asynchronous), and counts both in a critical section.
//!
//! After a while it stops responding, each time at another place. The stack holds no trace of the cause;
//! the history does.

#![no_std]
#![no_main]

#[cfg(feature = "embassy-boot")]
mod boot_embassy;
#[cfg(feature = "mcuboot")]
mod boot_mcuboot;
#[cfg(feature = "coredump")]
mod coredump;
mod crit_section;
mod event_handlers;
#[cfg(feature = "field")]
mod field;
#[cfg(feature = "field")]
mod flash;
#[cfg(feature = "link")]
mod link;
#[cfg(any(feature = "fault", feature = "panic"))]
mod mistakes;
mod post_mortem;
#[cfg(any(all(feature = "link", not(feature = "rtt")), feature = "field"))]
mod uart;

use core::hint::black_box;

use cortex_m_rt::entry;

enum State {
    Idle,
    Working,
    Waiting,
}

#[entry]
fn main() -> ! {
    #[cfg(feature = "field")]
    field::start();
    post_mortem::report_earlier_run();
    event_handlers::install();
    #[cfg(feature = "link")]
    link::start();
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
            event_handlers::handled();
            State::Idle
        }
    }
}

/// Synchronous events: each is posted and taken at once.
fn work() {
    #[cfg(any(feature = "fault", feature = "panic"))]
    mistakes::make();
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
