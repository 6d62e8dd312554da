//! What a recorded statement adds to the densest code there is, as ratios in one run:
//! `cargo bench -p xhist-rt --features std,trace`.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

const ROUNDS: u64 = 2_000_000;
const STATEMENTS: u64 = 8;

/// Eight statements of about a nanosecond's work, with `mark` before each.
#[inline(always)]
fn kernel(mut mark: impl FnMut(u16)) -> u64 {
    let mut x = 1u64;
    for round in 0..ROUNDS {
        for line in 0..STATEMENTS as u16 {
            mark(line);
            x = black_box(x.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(5) ^ round);
        }
    }
    x
}

/// Nanoseconds a statement; the best of five runs.
fn measure(run: impl Fn() -> u64) -> f64 {
    let once = || {
        let start = Instant::now();
        black_box(run());
        start.elapsed().as_secs_f64() * 1e9 / (ROUNDS * STATEMENTS) as f64
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn main() {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let plain = measure(|| kernel(|_| ()));
    let counter = measure(|| kernel(|_| COUNTER.store(COUNTER.load(Relaxed) + 1, Relaxed)));
    let alone = measure(|| kernel(|line| xhist_rt::s(1, line)));
    // From the second thread on, statements carry time stamps: all, or with XHIST_TIME=coarse some.
    std::thread::spawn(|| xhist_rt::s(1, 1)).join().expect("the thread ends");
    let timed = measure(|| kernel(|line| xhist_rt::s(1, line)));
    println!("{:<28} {:>10} {:>14}", "", "ns", "times plain");
    for (name, time) in [
        ("plain", plain),
        ("a counter", counter),
        ("recorded, one thread", alone),
        ("recorded, two threads", timed),
    ] {
        println!("{name:<28} {time:>10.2} {:>14.2}", time / plain);
    }
}
