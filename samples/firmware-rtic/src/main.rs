//! Measures, and gives an alarm when a reading is too large. There is a mistake in it: the features choose which.

#![no_std]
#![no_main]

use panic_semihosting as _;

#[rtic::app(device = lm3s6965, dispatchers = [SSI0, QEI0])]
mod app {
    use core::future::poll_fn;
    use core::task::{Poll, Waker};

    use cortex_m_semihosting::{debug, hprintln};
    use heapless::Deque;
    use lm3s6965::Interrupt;

    const LIMIT: u32 = 50;

    #[shared]
    struct Shared {
        readings: Deque<u32, 8>,
        /// What the converter has measured, for the task that waits for it.
        measured: Option<u32>,
        waiting: Option<Waker>,
    }

    #[local]
    struct Local {
        next: u32,
    }

    #[init]
    fn init(_: init::Context) -> (Shared, Local) {
        hprintln!("measuring");
        measure::spawn().ok();
        let shared = Shared { readings: Deque::new(), measured: None, waiting: None };
        (shared, Local { next: 0 })
    }

    #[idle]
    fn idle(_: idle::Context) -> ! {
        loop {
            cortex_m::asm::wfi();
        }
    }

    /// Measures eight times, then sends all that is there.
    #[task(priority = 2, shared = [readings, measured, waiting])]
    async fn measure(mut cx: measure::Context) {
        for _ in 0..8 {
            if !cfg!(feature = "lost") {
                rtic::pend(Interrupt::ADC0_SEQUENCE_0);
            }
            let reading = poll_fn(|context| {
                let measured = cx.shared.measured.lock(|measured| measured.take());
                match measured {
                    Some(reading) => Poll::Ready(reading),
                    None => {
                        if cfg!(feature = "lost") {
                            // It measures before the waker is there.
                            rtic::pend(Interrupt::ADC0_SEQUENCE_0);
                        }
                        let waker = context.waker().clone();
                        cx.shared.waiting.lock(|waiting| *waiting = Some(waker));
                        Poll::Pending
                    }
                }
            })
            .await;
            cx.shared.readings.lock(|readings| readings.push_back(reading)).ok();
        }
        send::spawn().ok();
    }

    #[task(priority = 1, shared = [readings])]
    async fn send(mut cx: send::Context) {
        let count = cx.shared.readings.lock(|readings| readings.len());
        for _ in 0..count {
            let reading = cx.shared.readings.lock(|readings| readings.pop_front());
            let reading = reading.expect("a reading");
            if reading > LIMIT {
                rtic::pend(Interrupt::GPIOA);
            }
        }
        debug::exit(debug::EXIT_SUCCESS);
    }

    /// The converter has measured.
    #[task(binds = ADC0_SEQUENCE_0, priority = 3, local = [next], shared = [measured, waiting])]
    fn converted(cx: converted::Context) {
        let reading = *cx.local.next;
        *cx.local.next += 10;
        (cx.shared.measured, cx.shared.waiting).lock(|measured, waiting| {
            *measured = Some(reading);
            if let Some(waker) = waiting.take() {
                waker.wake();
            }
        });
    }

    /// Readings are too large: those that wait are not sent.
    #[task(binds = GPIOA, priority = 3, shared = [readings])]
    fn alarm(mut cx: alarm::Context) {
        cx.shared.readings.lock(|readings| {
            if !cfg!(feature = "good") {
                readings.clear();
            }
        });
    }
}
