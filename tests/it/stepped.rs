//! Is the history right at every single instruction?

use std::collections::BTreeMap;

use xhist_tests::{Build, Case, Moment, Need, Recorded, Stop, Torture, Tracee, tail};

pub const CASES: &[Case] = &[
    Case::needing("a_statement_on_the_same_page", &[Need::Tracing], || steps("same_page", "64k", &[Turned(0)])),
    Case::needing("a_page_is_turned", &[Need::Tracing], || steps("pages", "64k", &[])),
    Case::needing("a_page_is_turned_and_the_time_told", &[Need::Tracing], || steps("marked", "64k", &[])),
    Case::needing("a_frame_ends", &[Need::Tracing], || steps("frame_end", "64k", &[Turned(1)])),
    Case::needing("a_frame_is_folded", &[Need::Tracing], || steps("fold", "4k", &[Turned(0), Folded])),
    Case::needing("a_loop_is_left", &[Need::Tracing], || steps("unfold", "4k", &[])),
    Case::needing("the_ring_goes_round", &[Need::Tracing], || steps("around", "1k", &[Round])),
    Case::needing("the_first_statement", &[Need::Tracing], || steps("first", "4k", &[])),
    Case::needing("an_event", &[Need::Tracing], || steps("event", "64k", &[Event])),
];

/// What must have happened between the two marks, or the case would show nothing.
enum Happened {
    /// So many frames were closed.
    Turned(u8),
    /// An equal frame was counted.
    Folded,
    /// The ring began anew.
    Round,
    /// An event was recorded.
    Event,
}
use Happened::*;

/// Steps through appends of this kind and looks at the ring each time.
fn steps(kind: &str, size: &str, happened: &[Happened]) {
    for build in Build::ALL {
        for frames in ["packed", "single", "exact"] {
            if frames != "packed" && (build == Build::Plain || kind == "fold") {
                continue;
            }
            let happened = if frames == "packed" { happened } else { &[] };
            let torture = Torture::new(build, &format!("stepped {kind}"), size, 4000).env("XHIST_FRAMES", frames);
            let mut tracee = Tracee::start(&mut torture.command());
            assert_eq!(tracee.run(0), Stop::Mark);
            let before = torture.recorded();
            let (mut steps, mut seen) = (0, BTreeMap::new());
            let what = format!("{kind} {build:?} {frames}");
            while tracee.step(0) == Stop::Step {
                steps += 1;
                look(&torture, &what, steps, &mut seen);
            }
            let after = torture.recorded();
            println!("{what}: {steps} instructions");
            assert!(steps > 50, "{what}: {steps} instructions");
            check(before.last(), after.last().expect("a ring"), happened, &what);
        }
    }
}

/// The history is what began, and what was seen once is not lost again.
fn look(torture: &Torture, what: &str, step: usize, seen: &mut BTreeMap<u32, usize>) {
    let rings = torture.recorded();
    for log in torture.references() {
        let begun = log.entries.len();
        let Some(ring) = rings.iter().find(|ring| ring.header.tid == log.thread) else {
            assert!(begun <= 1, "{what}: no ring at {step}, {begun} began");
            continue;
        };
        ring.whole();
        let left_out = log.agree(&ring.statements, Moment::Anywhere, 0);
        let left_out = left_out.unwrap_or_else(|why| panic!("{what}, {step}: {why}: {:?}", tail(&ring.statements)));
        let has_wrapped = ring.header.newest().head() as usize + 600 > ring.header.size;
        let is_behind = usize::from(ring.statements.last() != log.entries.last().map(|entry| &entry.statement));
        assert!(has_wrapped || left_out <= is_behind, "{what}, {step}: {left_out} left out");
        assert!(!has_wrapped || ring.statements.len() > ring.header.size / 8, "{what}, {step}");
        let newest = begun - is_behind;
        let before = seen.insert(log.thread, newest).unwrap_or(0);
        assert!(before <= newest, "{what}, {step}: {before} statements were seen, now {newest}");
    }
}

fn check(before: Option<&Recorded>, after: &Recorded, happened: &[Happened], what: &str) {
    let none = || panic!("{what}: no ring before");
    for happened in happened {
        let before = before.unwrap_or_else(none);
        let size = after.header.size as u64;
        let has = match happened {
            Turned(frames) => after.header.state.seq().wrapping_sub(before.header.state.seq()) == *frames,
            Folded => after.header.folded != before.header.folded,
            Round => after.header.newest().head() / size > before.header.newest().head() / size,
            Event => after.events.len() > before.events.len(),
        };
        assert!(has, "{what}: it did not happen");
    }
}
