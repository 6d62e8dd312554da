//! Is the history right at every single instruction?

use std::collections::BTreeMap;

use xhist_tests::{Build, Case, Need, Recorded, Run, Stop, Torture, Tracee, recorded, tail};

pub const CASES: &[Case] = &[
    Case::needing("statements", &[Need::Tracing], || steps("statement", "4k", &[Turned(0)])),
    Case::needing("statements_with_numbers_known_later", &[Need::Tracing], || {
        steps("straight", "4k", &[Turned(0)]);
    }),
    Case::needing("a_turn", &[Need::Tracing], || steps("turn", "4k", &[Turned(1)])),
    Case::needing("a_chunk_is_cut_before_its_loop", &[Need::Tracing], || {
        steps("restructure", "4k", &[Turned(1), Folded]);
    }),
    Case::needing("a_chunk_is_folded", &[Need::Tracing], || steps("fold", "4k", &[Turned(0), Folded])),
    Case::needing("a_loop_is_left", &[Need::Tracing], || steps("unfold", "4k", &[Turned(0)])),
    Case::needing("the_ring_goes_round", &[Need::Tracing], || steps("around", "4k", &[Round])),
    Case::needing("a_stamp", &[Need::Tracing], || steps("stamp", "4k", &[])),
    Case::needing("a_record", &[Need::Tracing], || steps("record", "4k", &[Records(3)])),
    Case::needing("an_event", &[Need::Tracing], || steps("event", "4k", &[Event])),
    Case::needing("the_first_statement", &[Need::Tracing], || steps("first", "4k", &[])),
    Case::needing("under_gdb", &[Need::Tracing, Need::Gdb], under_gdb),
];

/// What must have happened between the two marks, or the case would show nothing.
enum Happened {
    /// That many frames were closed.
    Turned(u8),
    /// Rounds of a loop were counted.
    Folded,
    /// The ring began again.
    Round,
    /// That many records.
    Records(usize),
    /// An event was recorded.
    Event,
}
use Happened::*;

/// Most statements that began and are not in the ring yet: those of a block of machine code.
const BEHIND: usize = 2;

/// Steps through appends of this kind and looks at the ring each time.
fn steps(kind: &str, size: &str, happened: &[Happened]) {
    for build in Build::ALL {
        for frames in ["packed", "single", "exact"] {
            let is_packed = frames == "packed";
            let is_long = ["turn", "restructure", "fold", "around", "event"].contains(&kind);
            let is_chunk = ["turn", "restructure", "fold", "unfold", "around"].contains(&kind);
            if build == Build::Plain && (is_long || !is_packed) || is_chunk && !is_packed {
                continue;
            }
            let (build, happened) = if is_packed { (build, happened) } else { (Build::Each, &[][..]) };
            let torture =
                Torture::new(build, &format!("stepped {kind}"), size, 4000).env("XHIST_FRAMES", frames);
            let mut tracee = Tracee::start(&mut torture.command());
            assert_eq!(tracee.run(0), Stop::Mark);
            let before = torture.recorded();
            let (mut steps, mut seen, mut last) = (0, BTreeMap::new(), None);
            let what = format!("{kind} {build:?} {frames}");
            while tracee.step(0) == Stop::Step {
                steps += 1;
                // Most instructions change nothing that a reader sees.
                let image = torture.image();
                if last.as_ref() != Some(&image) {
                    look(&torture, &what, steps, &mut seen);
                    last = Some(image);
                }
            }
            let after = torture.recorded();
            assert!(steps > 50, "{what}: {steps} instructions");
            check(before.last(), after.last().expect("a ring"), happened, &what);
        }
    }
}

/// The history is what began, but for the newest statements, and what was seen once is not lost again.
fn look(torture: &Torture, what: &str, step: usize, seen: &mut BTreeMap<u32, usize>) {
    let rings = torture.recorded();
    for log in torture.references() {
        let begun: Vec<_> = log.statements().collect();
        let Some(ring) = rings.iter().find(|ring| ring.header.tid == log.thread) else {
            assert!(begun.len() <= BEHIND, "{what}: no ring at {step}, {} began", begun.len());
            continue;
        };
        ring.whole(&format!("{what}, {step}"));
        let (history, size) = (&ring.statements, ring.header.size);
        let least = begun.len().saturating_sub(BEHIND);
        // With rounds that are folded, there is more room.
        let has_wrapped = 4 * begun.len() > size / 2;
        let is_newest =
            |newest: &usize| begun[..*newest].ends_with(history) && (has_wrapped || history.len() == *newest);
        let newest = (least..=begun.len()).rev().find(is_newest).unwrap_or_else(|| {
            panic!("{what}, {step}: {:?} began, {:?} is recorded", tail(&begun), tail(history));
        });
        assert!(!has_wrapped || history.len() >= size / 16, "{what}, {step}: {} left", history.len());
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
            Folded => after.rounds > before.rounds,
            Round => after.header.state.head() / size > before.header.state.head() / size,
            Records(records) => after.records.len() == before.records.len() + records,
            Event => after.events.len() > before.events.len(),
        };
        assert!(has, "{what}: it did not happen");
    }
}

/// The same with a debugger, whose dumps of memory are what users have.
fn under_gdb() {
    const STEPS: usize = 120;
    for kind in ["straight", "record"] {
        let torture = Torture::new(Build::Optimised, &format!("stepped {kind}"), "4k", 4000);
        let dump = |step: usize| torture.tree.join(&format!("{step}.bin"));
        let mut script = "set language c\nrun\n".to_owned();
        for step in 0..STEPS {
            let (path, start) = (dump(step), "*(char**)&XHIST_RING");
            let end = format!("{start}+*(unsigned long*)&XHIST_RING_LEN");
            script.push_str(&format!("stepi\ndump binary memory {} {start} {end}\n", path.display()));
        }
        torture.tree.write("script", &(script + "kill\n"));
        let gdb = Run::new("gdb", torture.tree.path()).args("-nx -batch -x script --args");
        torture.under(gdb).env("DEBUGINFOD_URLS", "").succeed();
        let begun: Vec<_> = torture.reference(0).statements().collect();
        let mut seen = 0;
        for step in 0..STEPS {
            let image = std::fs::read(dump(step)).unwrap_or_else(|error| panic!("{kind}, {step}: {error}"));
            let rings = recorded(&image);
            let now = &rings[0].whole(&format!("{kind}, {step}")).statements;
            assert!(begun.starts_with(now), "{kind}, {step}: {:?}", tail(now));
            assert!(
                step == 0 || (seen..=seen + 1).contains(&now.len()),
                "{kind}, {step}: {} after {seen}",
                now.len()
            );
            seen = now.len();
        }
        assert!(seen == begun.len() || seen + 1 == begun.len(), "{kind}: {seen} of {}", begun.len());
    }
}
