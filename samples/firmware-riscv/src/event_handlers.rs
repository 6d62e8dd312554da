//! Asynchronous events: when one is due, the timer's handler pends the software interrupt.
//! Its handler counts the event.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use riscv::register::{mie, mstatus};

use crate::crit_section;

static TICKS: AtomicU32 = AtomicU32::new(0);
static DUE: AtomicU32 = AtomicU32::new(0);

// xhist instrument FALSE
// The number of an interrupt can be read only at its start, so each handler passes its own to the history.
#[riscv_rt::core_interrupt(riscv::interrupt::Interrupt::MachineTimer)]
fn timer() {
    xhist_rt::interrupt(7, tick)
}

#[riscv_rt::core_interrupt(riscv::interrupt::Interrupt::MachineSoft)]
fn software() {
    xhist_rt::interrupt(3, count)
}
// xhist instrument TRUE

fn tick() {
    let now = TICKS.load(Relaxed) + 1;
    TICKS.store(now, Relaxed);
    if now == DUE.load(Relaxed) {
        pend(true);
    }
    set_timer();
}

fn count() {
    pend(false);
    crit_section::add(1);
}

// xhist instrument FALSE
/// The board's core-local interruptor: registers of the software interrupt, of the compare value and of the time.
const PENDING: *mut u32 = 0x0200_0000 as *mut u32;
const COMPARE: *mut u32 = 0x0200_4000 as *mut u32;
const TIME: *const u32 = 0x0200_BFF8 as *const u32;

fn pend(is_pending: bool) {
    // SAFETY: a device register that only this function writes.
    unsafe { PENDING.write_volatile(is_pending.into()) };
}

/// Sets the next tick: after 0.1 ms, at 10 MHz.
fn set_timer() {
    // SAFETY: device registers that only this function uses. The low half is enough for the first minutes.
    unsafe { COMPARE.write_volatile(TIME.read_volatile().wrapping_add(1_000)) };
}

pub fn install() {
    // SAFETY: both interrupts have handlers, and no critical section is open.
    unsafe {
        COMPARE.add(1).write_volatile(0);
        set_timer();
        mie::set_mtimer();
        mie::set_msoft();
        mstatus::set_mie();
    }
}

/// Schedules the event for one of the next ticks.
pub fn request_event() {
    let now = TICKS.load(Relaxed);
    DUE.store(now + 1 + now.wrapping_mul(2_654_435_769) % 5, Relaxed);
}

pub fn wait_for_event() {
    while crit_section::waiting() == 0 {}
}
// xhist instrument TRUE
