//! A sensor is calibrated by a task of a low priority and sampled by one of a high priority, which interrupts the other.
//! There is a mistake in it: the features choose which.

#![no_std]
#![no_main]

use core::future::poll_fn;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use core::task::Poll;

use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use embassy_executor::InterruptExecutor;
use embassy_futures::yield_now;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use embassy_sync::waitqueue::AtomicWaker;
use lm3s6965::{Interrupt, interrupt};
use panic_semihosting as _;

static HIGH: InterruptExecutor = InterruptExecutor::new();
static LOW: InterruptExecutor = InterruptExecutor::new();

/// The high task is to sample.
static WANTED: Signal<CriticalSectionRawMutex, ()> = Signal::new();
/// What it sampled, 0 before, and who waits for it.
static SAMPLE: AtomicU32 = AtomicU32::new(0);
static WAITING: AtomicWaker = AtomicWaker::new();
/// Steps of the calibration that are done.
static CALIBRATED: AtomicU32 = AtomicU32::new(0);
const STEPS: u32 = 8;

#[entry]
fn main() -> ! {
    let mut core = cortex_m::Peripherals::take().expect("the only call");
    hprintln!("calibrating");
    // A lower number is a higher priority. The chip has three bits.
    unsafe {
        core.NVIC.set_priority(Interrupt::QEI0, 1 << 5);
        core.NVIC.set_priority(Interrupt::SSI0, 6 << 5);
    }
    HIGH.start(Interrupt::QEI0).spawn(sample().expect("a free task"));
    LOW.start(Interrupt::SSI0).spawn(calibrate().expect("a free task"));
    loop {
        cortex_m::asm::wfi();
    }
}

#[interrupt]
fn QEI0() {
    unsafe { HIGH.on_interrupt() }
}

#[interrupt]
fn SSI0() {
    unsafe { LOW.on_interrupt() }
}

#[embassy_executor::task]
async fn sample() {
    loop {
        WANTED.wait().await;
        if !cfg!(any(feature = "good", feature = "lost")) {
            // Only tasks of this priority run at this `.await`, and the one that it waits for has a lower one.
            while CALIBRATED.load(Relaxed) < STEPS {
                yield_now().await;
            }
        }
        SAMPLE.store(20 + CALIBRATED.load(Relaxed), Relaxed);
        WAITING.wake();
    }
}

#[embassy_executor::task]
async fn calibrate() {
    for step in 0..STEPS {
        if step == 4 {
            let sample = ask().await;
            hprintln!("sample {}", sample);
        }
        CALIBRATED.store(step + 1, Relaxed);
        yield_now().await;
    }
    debug::exit(debug::EXIT_SUCCESS);
}

/// Asks the task of the high priority for a sample.
async fn ask() -> u32 {
    if !cfg!(feature = "lost") {
        WANTED.signal(());
    }
    poll_fn(|context| {
        let sample = SAMPLE.swap(0, Relaxed);
        if sample != 0 {
            return Poll::Ready(sample);
        }
        if cfg!(feature = "lost") {
            // It is sampled before the waker is there.
            WANTED.signal(());
        }
        WAITING.register(context.waker());
        Poll::Pending
    })
    .await
}
