//! Drivers that report faults: `trace-events [TICKS]`. See `docs/trace-events.md`.

mod codes;
mod logger;
mod net;
mod timer;
mod uart;

use xhist_rt::trace;

use codes::{THREAD_READY, TIMER_CREATED};
use net::Net;
use timer::Timer;

fn main() {
    let ticks: u32 = std::env::args().nth(1).and_then(|ticks| ticks.parse().ok()).unwrap_or(200);
    trace::set_logger(Some(logger::log));
    // These events are frequent, and off by default.
    trace::enable(TIMER_CREATED..=THREAD_READY);

    let mut net = Net::default();
    let mut timer = Timer::new(1, 7);
    let (mut taken, mut sent) = (0, 0);
    timer.arm(5);
    for now in 0..ticks {
        let received = [b'a' + (now % 26) as u8, b'b', b'c'];
        taken += uart::receive(&received, now % 40 == 7);
        net.receive(64 + now % 1000);
        if now % 60 == 20 {
            // A burst of packets with too few buffers.
            (0..4).for_each(|more| net.receive(1500 + more));
        }
        sent += u32::from(net.send(200, (now % 50 == 33).then_some(600 + now)));
        if now == 3 * ticks / 4 {
            net.overwrite();
        }
        if net.take().is_none() {
            break;
        }
        if timer.tick(now) {
            timer.arm(5 + now % 10);
        }
    }
    println!("{taken} bytes and {sent} packets");
}
