//! Is a file that a killed process leaves right, whenever that was?
//!
//! `XHIST_KILLS` is the number of kills: 100 usually, 1000 with `XHIST_LONG=1`.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use xhist_tests::{Build, Case, Listing, Torture, Tree, cargo, line_of, report, tries};

pub const CASES: &[Case] = &[
    Case::new("a_killed_program_leaves_every_statement", || kills("packed", "16k")),
    Case::new("a_killed_program_with_a_small_ring", || kills("packed", "4k")),
    Case::new("a_killed_program_with_single_frames", || kills("single", "4k")),
    Case::new("what_runs_too_long_without_a_check_is_reported", without_a_check),
];

/// Kills the program at random moments. The last statement in the ring is the last one in the log or the one before it, and
/// all earlier ones are there.
fn kills(frames: &str, size: &str) {
    let times = tries("XHIST_KILLS", 100, 1000);
    let build = if frames == "packed" { Build::Optimised } else { Build::Each };
    let torture = Torture::new(build, "counts", size, 16).env("XHIST_FRAMES", frames);
    let (mut empty, mut most, mut prologues) = (0, 0, 0);
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
        // What the ring overwrote first is in the prologue, whole.
        assert!(ring.header.has_beginning(), "{what}: no prologue");
        for (at, statement) in (1..).zip(&ring.first) {
            assert_eq!(*statement, torture.nth(at), "{what}: statement {at} in the prologue");
        }
        prologues += u32::from(!ring.first.is_empty());
        most = most.max(counted);
    }
    println!("{times} kills, {empty} before the first statement, the latest after {most} statements");
    assert!(prologues > 0, "no ring was full");
    assert!(most > 1000 && empty < times / 2, "{empty} of {times} were too early, the latest after {most}");
}

/// Functions that call each other check when they are entered, and not on their way up.
const WITHOUT_A_CHECK: &str = r#"
fn even(level: u32) -> u32 {
    if level == 0 {
        return 0;
    }
    let below = odd(level - 1);
    let one = below + 1;
    std::hint::black_box(one)
}

fn odd(level: u32) -> u32 {
    if level == 0 {
        return 0;
    }
    let below = even(level - 1);
    let two = below + 1;
    std::hint::black_box(two)
}

fn climb(levels: u32, has_check: bool) {
    let reached = even(levels);
    match has_check {
        true => check(reached),
        false => std::process::abort(),
    }
}

fn check(reached: u32) {
    println!("{reached}");
    std::process::abort();
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let levels = arguments.next().unwrap().parse().unwrap();
    let has_check = arguments.next().is_some();
    let thread = std::thread::Builder::new().name("climber".into()).stack_size(1 << 29);
    thread.spawn(move || climb(levels, has_check)).unwrap().join().unwrap();
}
"#;

/// It ends far beyond the slack, and far beyond the ring, with a check and without one.
fn without_a_check() {
    let tree = Tree::program("without-a-check", WITHOUT_A_CHECK);
    let file = tree.join("ring.xhist");
    let place = |text| format!("src/main.rs:{}", line_of(&tree.join("src/main.rs"), text));
    for (levels, end) in
        [(500, ""), (500, "check"), (10_000, ""), (10_000, "check"), (60_000, ""), (60_000, "check")]
    {
        let run = cargo(tree.path()).args(&format!("xhist run --quiet -- {levels} {end}"));
        let done = run.env("XHIST_FILE", &file).env("XHIST_SIZE", "64k").done().expect(128 + 6);
        done.check(end.is_empty() || done.stdout == format!("{levels}\n"), "the program is right");
        let done = report(tree.path()).args("history --thread climber").arg(&file).done();
        let listing = Listing::parse(&done.stdout);
        if !end.is_empty() {
            done.check(listing.last() == place("abort();"), "what follows the check is there");
        }
        let places = listing.places();
        let up =
            ["let one = below + 1;", "black_box(one)", "let two = below + 1;", "black_box(two)"].map(place);
        // A fold just before the way up leaves more room than a thread is sure to have: then all of it is there.
        let is_whole = places.iter().filter(|place| up.contains(place)).count() == 2 * levels
            && places.last().is_some_and(|last| !up.contains(last));
        let says_so = done.stderr.contains("a thread recorded more between two checks than its ring");
        let is_right = if levels > 500 { says_so || is_whole } else { !says_so };
        done.check(is_right, "it says so exactly where it is so");
        // What is read is what ran: on the way up these lines follow each other.
        let is_next = |pair: &[String]| match up.iter().position(|place| *place == pair[0]) {
            Some(at) => pair[1] == up[(at + 1) % 4] || !up.contains(&pair[1]),
            None => true,
        };
        let is_right = places.windows(2).all(is_next);
        done.check(is_right, "no statements are in a wrong order");
        let is_short = levels == 60_000;
        done.check(is_short || places.len() > 1000, "the newest statements are there");
        std::fs::remove_file(&file).expect("a ring file");
    }
}
