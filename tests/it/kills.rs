//! Is a file that a killed process leaves right, whenever that was?
//!
//! `XHIST_KILLS` is the number of kills: 100 usually, 1000 with `XHIST_LONG=1`.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use xhist_tests::{Build, Case, Torture, tries};

pub const CASES: &[Case] = &[
    Case::new("a_killed_program_leaves_every_statement", || kills("packed", "16k")),
    Case::new("a_killed_program_with_a_small_ring", || kills("packed", "4k")),
    Case::new("a_killed_program_with_single_frames", || kills("single", "4k")),
];

/// Kills the program at random moments. The last statement in the ring is the last one in the log or the one before it, and
/// all earlier ones are there.
fn kills(frames: &str, size: &str) {
    let times = tries("XHIST_KILLS", 100, 1000);
    let build = if frames == "packed" { Build::Optimised } else { Build::Each };
    let torture = Torture::new(build, "counts", size, 16).env("XHIST_FRAMES", frames);
    let (mut empty, mut most) = (0, 0);
    for kill in 0..times {
        torture.reset();
        let mut process = torture.command().spawn().expect("it runs");
        // Up to where it is in full swing, and a little more; now and then before it began.
        let wait = Duration::from_micros(fastrand::u64(0..3000));
        let start = Instant::now();
        while kill % 10 != 0 && torture.counted() == 0 && start.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
        std::thread::sleep(wait);
        rustix::process::kill_process(rustix::process::Pid::from_child(&process), Signal::KILL)
            .expect("it runs");
        process.wait().expect("it ended");
        let counted = torture.counted();
        let rings = torture.recorded();
        let Some(ring) = rings.first() else {
            assert!(counted <= 1, "no ring after {counted} statements");
            empty += 1;
            continue;
        };
        let what = format!("kill {kill} after {counted} statements");
        ring.whole(&what);
        assert!(ring.header.dropped == 0, "{what}");
        let recorded = ring.statements.len() as u64;
        let last = ring.statements.last().copied();
        let newest = match last {
            None => 0,
            _ if last == Some(torture.nth(counted)) => counted,
            _ => counted - 1,
        };
        assert!(
            newest + 1 >= counted && recorded <= newest,
            "{what}: {recorded} recorded, the last is {last:?}"
        );
        for (at, statement) in (newest - recorded + 1..).zip(&ring.statements) {
            assert_eq!(*statement, torture.nth(at), "{what}: statement {at} of {newest}");
        }
        assert!(
            recorded == newest || recorded as usize * 64 > ring.header.size,
            "{what}: {recorded} recorded"
        );
        most = most.max(counted);
    }
    println!("{times} kills, {empty} before the first statement, the latest after {most} statements");
    assert!(most > 1000 && empty < times / 2, "{empty} of {times} were too early, the latest after {most}");
}
