//! Asynchronous events: when one is due, the system timer pends a software interrupt of lower priority.
//! Its handler counts the event.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cortex_m::Peripherals;
use cortex_m::peripheral::SCB;
use cortex_m::peripheral::scb::SystemHandler;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::exception;

use crate::crit_section;

static TICKS: AtomicU32 = AtomicU32::new(0);
static DUE: AtomicU32 = AtomicU32::new(0);

#[exception]
fn SysTick() {
    let now = TICKS.load(Relaxed) + 1;
    TICKS.store(now, Relaxed);
    if now == DUE.load(Relaxed) {
        SCB::set_pendsv();
    }
    watch(now);
}

#[exception]
fn PendSV() {
    crit_section::add(1);
}

// xhist instrument FALSE
pub fn install() {
    let Some(mut board) = Peripherals::take() else { return };
    // SAFETY: the timer is still off, so no handler relies on another priority.
    unsafe { board.SCB.set_priority(SystemHandler::PendSV, 0xE0) };
    board.SYST.set_clock_source(SystClkSource::Core);
    board.SYST.set_reload(1_250);
    board.SYST.clear_current();
    board.SYST.enable_counter();
    board.SYST.enable_interrupt();
}

/// Schedules the event for one of the next ticks.
pub fn request_event() {
    let now = TICKS.load(Relaxed);
    DUE.store(now + 1 + now.wrapping_mul(2_654_435_769) % 5, Relaxed);
}

pub fn wait_for_event() {
    while crit_section::waiting() == 0 {
        #[cfg(feature = "link")]
        crate::link::poll();
    }
}

static HANDLED: AtomicU32 = AtomicU32::new(0);

pub fn handled() {
    HANDLED.store(TICKS.load(Relaxed), Relaxed);
}

/// A watchdog, as boards have one: it resets a core that stops responding.
fn watch(now: u32) {
    #[cfg(feature = "link")]
    if now % 100 == 0 {
        xhist_rt::qs_record!(100, 0; u32 now, u32 HANDLED.load(Relaxed));
    }
    if cfg!(feature = "watchdog") && now - HANDLED.load(Relaxed) > 2_000 {
        SCB::sys_reset();
    }
}
// xhist instrument TRUE
