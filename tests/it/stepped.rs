//! Is the history right at every single instruction?

use std::collections::BTreeMap;

use xhist_tests::{Build, Case, Moment, Need, Recorded, Run, Stop, Torture, Tracee, recorded, tail};

pub const CASES: &[Case] = &[
    Case::needing("a_statement_on_the_same_page", &[Need::Tracing], || {
        steps("same_page", "4k", &[Turned(0)])
    }),
    Case::needing("a_page_is_turned", &[Need::Tracing], || steps("pages", "4k", &[])),
    Case::needing("a_page_of_another_frame", &[Need::Tracing], || steps("pages_again", "4k", &[Turned(0)])),
    Case::needing("a_page_is_turned_and_the_time_told", &[Need::Tracing], || steps("marked", "4k", &[])),
    Case::needing("a_frame_ends", &[Need::Tracing], || steps("frame_end", "4k", &[Turned(1)])),
    Case::needing("a_frame_is_folded", &[Need::Tracing], || steps("fold", "4k", &[Turned(0), Folded])),
    Case::needing("a_loop_is_left", &[Need::Tracing], || steps("unfold", "4k", &[])),
    Case::needing("the_ring_goes_round", &[Need::Tracing], || steps("around", "1k", &[Round])),
    Case::needing("the_first_statement", &[Need::Tracing], || steps("first", "4k", &[])),
    Case::needing("under_gdb", &[Need::Tracing, Need::Gdb], under_gdb),
    Case::needing("an_event", &[Need::Tracing], || steps("event", "4k", &[Event])),
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
            let is_long = ["fold", "around"].contains(&kind);
            if build == Build::Plain && (is_long || frames != "packed")
                || kind.contains("fold") && frames != "packed"
            {
                continue;
            }
            let happened = if frames == "packed" { happened } else { &[] };
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

/// The history is what began, and what was seen once is not lost again.
fn look(torture: &Torture, what: &str, step: usize, seen: &mut BTreeMap<u32, usize>) {
    let rings = torture.recorded();
    for log in torture.references() {
        let begun = log.statements().count();
        let Some(ring) = rings.iter().find(|ring| ring.header.tid == log.thread) else {
            assert!(begun <= 1, "{what}: no ring at {step}, {begun} began");
            continue;
        };
        ring.whole(&format!("{what}, {step}"));
        let left_out = log.agree(&ring.statements, Moment::Anywhere, 0);
        let left_out =
            left_out.unwrap_or_else(|why| panic!("{what}, {step}: {why}: {:?}", tail(&ring.statements)));
        let has_wrapped = ring.header.newest().head() as usize + 600 > ring.header.size;
        let is_behind = usize::from(ring.statements.last().copied() != log.statements().last());
        assert!(has_wrapped || left_out <= is_behind, "{what}, {step}: {left_out} left out");
        assert!(!has_wrapped || ring.statements.len() > ring.header.size / 64, "{what}, {step}");
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

/// The same with a debugger, whose dumps of memory are what users have.
fn under_gdb() {
    const STEPS: usize = 120;
    for kind in ["same_page", "pages", "event"] {
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
