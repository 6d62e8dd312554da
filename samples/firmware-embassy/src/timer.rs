//! The time of embassy by the system timer of every Cortex-M, which ticks each millisecond.
// xhist instrument FALSE

use core::cell::{Cell, RefCell};
use core::task::Waker;

use cortex_m::Peripherals;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::exception;
use critical_section::Mutex;
use embassy_time_driver::Driver;
use embassy_time_queue_utils::Queue;

/// Of QEMU's board at reset.
const CLOCK_HZ: u32 = 12_000_000;

struct Ticks {
    now: Mutex<Cell<u64>>,
    queue: Mutex<RefCell<Queue>>,
}

embassy_time_driver::time_driver_impl!(static TICKS: Ticks = Ticks {
    now: Mutex::new(Cell::new(0)),
    queue: Mutex::new(RefCell::new(Queue::new())),
});

impl Driver for Ticks {
    fn now(&self) -> u64 {
        critical_section::with(|token| self.now.borrow(token).get())
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|token| self.queue.borrow_ref_mut(token).schedule_wake(at, waker));
    }
}

#[exception]
fn SysTick() {
    critical_section::with(|token| {
        let now = TICKS.now.borrow(token).get() + 1;
        TICKS.now.borrow(token).set(now);
        TICKS.queue.borrow_ref_mut(token).next_expiration(now);
    });
}

pub fn start() {
    let Some(mut board) = Peripherals::take() else { return };
    board.SYST.set_clock_source(SystClkSource::Core);
    board.SYST.set_reload(CLOCK_HZ / 1_000 - 1);
    board.SYST.clear_current();
    board.SYST.enable_counter();
    board.SYST.enable_interrupt();
}
