//! Is the history right when signals arrive inside handlers that append?

use xhist_tests::{Build, Case, Moment, Need, Stop, is_long};

use crate::interrupted::{SIGNALS, Stopped};

pub const CASES: &[Case] = &[
    Case::needing("a_handler_in_a_handler", &[Need::Tracing], twice),
    Case::needing("one_after_another", &[Need::Tracing], one_after_another),
    Case::needing("three_deep", &[Need::Tracing], three_deep),
    Case::needing("the_ring_is_read_while_handlers_run", &[Need::Tracing], watched),
];

/// Usually one place in sixteen is tried for the second signal, and the place next to it when the first signal came one
/// instruction earlier. With `XHIST_LONG=1` all are tried.
const EVERY: u32 = 16;

/// Whether a second signal is due at this place when the first came at that one.
fn is_due(first: u32, second: u32) -> bool {
    is_long() || (first + second).is_multiple_of(EVERY)
}

/// A second signal at every instruction of the first append of a handler, which comes at every instruction of some
/// statements.
fn twice() {
    for (kind, steps, inner) in [("straight", 140, 150), ("statement", 150, 60)] {
        let mut stopped = Stopped::new(kind, Build::Optimised);
        for outer in 0..steps {
            let here = stopped.tracee.snapshot();
            assert_eq!(stopped.step(SIGNALS[0]), Stop::Step);
            for at in 0..inner {
                if is_due(outer, at) {
                    let inside = stopped.tracee.snapshot();
                    stopped.finish(SIGNALS[0], &|| format!("interrupted at {outer}, and there at {at}"));
                    stopped.tracee.restore(&inside);
                }
                assert_eq!(stopped.step(0), Stop::Step);
            }
            stopped.tracee.restore(&here);
            assert_eq!(stopped.step(0), Stop::Step);
        }
    }
}

/// A second signal at every instruction behind the handler of a first, which comes at every instruction.
fn one_after_another() {
    for (kind, steps, behind) in [("straight", 60, 60), ("statement", 150, 60)] {
        let mut stopped = Stopped::new(kind, Build::Optimised);
        for first in 0..steps {
            let here = stopped.tracee.snapshot();
            // Up to the handler's return, and behind it.
            assert_eq!(stopped.tracee.run_to_return(SIGNALS[0]), Stop::Step);
            for second in 0..behind {
                assert_eq!(stopped.step(0), Stop::Step);
                if is_due(first, second) {
                    let there = stopped.tracee.snapshot();
                    stopped.finish(SIGNALS[0], &|| {
                        format!("interrupted at {first}, and {second} behind the handler")
                    });
                    stopped.tracee.restore(&there);
                }
            }
            stopped.tracee.restore(&here);
            assert_eq!(stopped.step(0), Stop::Step);
        }
    }
}

/// Three handlers inside each other, at random places.
fn three_deep() {
    let seed = seed();
    let mut random = fastrand::Rng::with_seed(seed);
    for (kind, dives) in
        [("straight", 300), ("statement", 300), ("turn", 300), ("record", 200), ("event", 100), ("fold", 100)]
    {
        dive(kind, dives, &mut random, |stopped, place, random| {
            let signals: [i32; 3] = std::array::from_fn(|_| SIGNALS[random.usize(0..4)]);
            // Most of what can go wrong is in the first appends of a handler.
            let steps: [u32; 2] = std::array::from_fn(|_| {
                let most = if random.bool() { 150 } else { 1000 };
                random.u32(0..most)
            });
            let what = || format!("{signals:?} at {place} {steps:?} (XHIST_SEED={seed})");
            let mut go = |signal, steps| {
                assert_eq!(stopped.step(signal), Stop::Step);
                (0..steps).all(|_| stopped.step(0) == Stop::Step)
            };
            match go(signals[0], steps[0]) && go(signals[1], steps[1]) {
                true => stopped.finish(signals[2], &what),
                // The second mark came before.
                false => stopped.check(Moment::Done, &what),
            }
        });
    }
}

/// The ring is right at each instruction of handlers and of what comes behind them.
fn watched() {
    let seed = seed();
    let mut random = fastrand::Rng::with_seed(seed);
    for (kind, dives) in [("straight", 60), ("statement", 60), ("turn", 60), ("event", 20), ("fold", 40)] {
        dive(kind, dives, &mut random, |stopped, place, random| {
            let signals = [random.choice(SIGNALS).expect("four"), SIGNALS[random.usize(0..2)]];
            let second = random.u32(1..400);
            let what = |step| format!("{signals:?} at {place} and {second}, step {step} (XHIST_SEED={seed})");
            let mut last = None;
            for step in 0..if signals[0] == SIGNALS[0] { 4000 } else { 1500 } {
                let signal = match step {
                    0 => signals[0],
                    _ if step == second => signals[1],
                    _ => 0,
                };
                if stopped.step(signal) != Stop::Step {
                    break;
                }
                let image = stopped.torture.image();
                if last.as_ref() != Some(&image) {
                    stopped.check(Moment::Anywhere, &|| what(step));
                    last = Some(image);
                }
            }
        });
    }
}

/// Stops at random places, one after the other, looks from there, and comes back each time. `dives` places are tried with
/// `XHIST_LONG=1`, an eighth of them otherwise.
fn dive(
    kind: &str,
    dives: usize,
    random: &mut fastrand::Rng,
    look: impl Fn(&mut Stopped, u32, &mut fastrand::Rng),
) {
    let mut stopped = Stopped::new(kind, Build::Optimised);
    let mut steps = stopped.steps_to_the_end();
    let start = stopped.tracee.snapshot();
    let mut left = if is_long() { dives } else { dives / 8 };
    while left > 0 {
        let mut places: Vec<u32> = (0..left).map(|_| random.u32(0..steps)).collect();
        places.sort_unstable();
        let mut at = 0;
        for place in places {
            // When seconds passed, the time is written between two frames, and the end comes earlier.
            if let Some((last, stop)) =
                (at..place).map(|at| (at, stopped.step(0))).find(|(_, stop)| *stop != Stop::Step)
            {
                assert_eq!(stop, Stop::Mark, "{kind} at {last}");
                steps = last + 1;
                break;
            }
            at = place;
            let here = stopped.tracee.snapshot();
            look(&mut stopped, place, random);
            stopped.tracee.restore(&here);
            left -= 1;
        }
        stopped.tracee.restore(&start);
    }
}

/// `XHIST_SEED`, or another each time.
fn seed() -> u64 {
    let given = std::env::var("XHIST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(|| fastrand::u64(..));
    println!("XHIST_SEED={seed}");
    seed
}
