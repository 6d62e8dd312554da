//! Does a report of several threads say which order is certain?

use proptest::prelude::*;
use xhist_report::format::by_name;
use xhist_report::{Layout, Options};

use crate::support::{Dir, RingImage, report_with};

fn ring(tid: u32, name: &'static str) -> RingImage {
    RingImage::hosted(4096, 1, tid, name)
}

fn json(image: &[u8]) -> Vec<(u64, u64, bool)> {
    let format = by_name("json").unwrap();
    let out = report_with(image, &Options { format, ..Options::default() }).out;
    let lines = out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines
        .filter(|line| line["kind"] == "statement")
        .map(|line| {
            let number = |name: &str| line[name].as_u64().unwrap();
            (number("file_id"), number("line"), line["order"] == "uncertain")
        })
        .collect()
}

/// Frames whose bounds overlap (1 and 2), and one behind both.
fn overlapping() -> Vec<u8> {
    let a =
        ring(1, "main").packed(100, &[(1, 1), (1, 2), (1, 3)]).packed(200, &[(1, 4)]).packed(300, &[(1, 5)]);
    let b = ring(2, "worker")
        .packed(150, &[(2, 1), (2, 2)])
        .packed(190, &[(2, 3)])
        .packed(400, &[(2, 4), (2, 5)]);
    [a.build(), b.build()].concat()
}

#[test]
fn what_another_thread_may_have_run_between_is_marked() {
    assert_eq!(
        json(&overlapping()),
        [
            (1, 1, false),
            // Up to 200, and the other thread's clock ticked at 150 and 190.
            (1, 2, true),
            (1, 3, true),
            (2, 1, false),
            // Up to 190: all that it may be among has its mark.
            (2, 2, false),
            (2, 3, false),
            (1, 4, false),
            // The last statement of a thread that may have run much later, were it not stamped.
            (1, 5, false),
            (2, 4, false),
            (2, 5, false),
        ]
    );
}

#[test]
fn what_a_thread_left_unstamped_may_have_run_any_time_later() {
    let blocked = ring(1, "main").packed(100, &[(1, 1), (1, 2)]);
    let worker = ring(2, "worker").packed(200, &[(2, 1), (2, 2)]);
    let image = [blocked.build(), worker.build()].concat();
    assert_eq!(json(&image), [(1, 1, false), (1, 2, true), (2, 1, false), (2, 2, false)]);
}

#[test]
fn threads_without_a_clock_are_of_no_certain_order() {
    let image =
        [ring(1, "a").packed(0, &[(1, 1), (1, 2)]).build(), ring(2, "b").packed(0, &[(2, 1)]).build()]
            .concat();
    assert_eq!(json(&image), [(1, 1, true), (1, 2, true), (2, 1, false)]);
    // One thread alone is in order, whatever it tells.
    assert_eq!(json(&ring(1, "a").packed(0, &[(1, 1), (1, 2)]).build()), [(1, 1, false), (1, 2, false)]);
}

#[test]
fn marks_are_for_people_and_explained_once() {
    let image = overlapping();
    let outcome = report_with(&image, &Options::default());
    assert_eq!((outcome.code, outcome.out.contains('~'), outcome.notes.contains("order")), (0, false, false));
    let layout = Layout { terminal: true, ..Layout::default() };
    let outcome = report_with(&image, &Options { layout, ..Options::default() });
    assert_eq!(outcome.out.matches('~').count(), 2, "{}", outcome.out);
    assert_eq!(outcome.notes.matches("2 of 10 entries are marked").count(), 1, "{}", outcome.notes);
}

#[test]
fn lanes_stand_side_by_side() {
    let dir = Dir::new();
    dir.write("dump.bin", overlapping());
    let outcome = dir.run(&["dump.bin", "--lanes"]);
    let expected = "    main                          worker                        \n \
        1  file#1:1\n 2 ~file#1:2\n 3 ~file#1:3\n 4                                file#2:1\n";
    assert!(outcome.out.starts_with(expected), "{}", outcome.out);
    assert!(!outcome.out.contains('\u{1b}'));
    let timed = dir.run(&["dump.bin", "--lanes", "--time"]);
    assert!(timed.out.contains("\n 1                 100 file#1:1\n"), "{}", timed.out);
    assert_eq!(dir.run(&["dump.bin", "--lanes", "--thread"]).code, 2);
}

#[test]
fn tickets_are_an_exact_order_and_no_times() {
    let ring = |tid, first: u64, file| {
        let ring = RingImage { clock_hz: 1000, ..ring(tid, "") };
        (0..3u16).fold(ring, |ring, n| ring.timed(first + 2 * u64::from(n), file, n)).exact()
    };
    let image = [ring(1, 0x1_0000_0001, 1).build(), ring(2, 0x1_0000_0002, 2).build()].concat();
    let layout = Layout { time: true, ..Layout::default() };
    let outcome = report_with(&image, &Options { layout, ..Options::default() });
    assert!(
        outcome.out.starts_with("1 file#1:0\t#4294967297\n2 file#2:0\t#4294967298\n3 file#1:1"),
        "{}",
        outcome.out
    );
    assert!(json(&image).iter().all(|(_, _, uncertain)| !uncertain));
    let format = by_name("json").unwrap();
    let out = report_with(&image, &Options { format, ..Options::default() }).out;
    assert!(out.contains(r#""ticket":4294967297"#) && !out.contains("ticks"), "{out}");
}

#[test]
fn statements_that_could_not_be_kept_are_a_loss() {
    let ring = RingImage { dropped: 3, ..ring(1, "main").packed(0, &[(1, 1)]) };
    let outcome = report_with(&ring.build(), &Options::default());
    assert_eq!((outcome.code, outcome.out.as_str()), (1, "1 file#1:1\n"));
    let told = "at least 3 statements not recorded: signal handlers were nested too deep, \
                threads found no room for a ring, or a child was forked unseen";
    assert!(outcome.notes.contains(told), "{}", outcome.notes);
}

proptest! {
    /// Two threads take turns in a random way; a frame has a stamp at its start only.
    #[test]
    fn entries_without_a_mark_stand_in_their_true_order(
        turns in proptest::collection::vec((any::<bool>(), 1u16..6, any::<bool>()), 1..40),
    ) {
        let mut rings = [ring(1, "a"), ring(2, "b")];
        let mut frames: [(u64, Vec<(u16, u16)>); 2] = Default::default();
        let mut clock = 0;
        let mut truth = Vec::new();
        for (second, statements, close) in turns {
            let index = usize::from(second);
            for _ in 0..statements {
                clock += 1;
                let frame = &mut frames[index];
                if frame.1.is_empty() {
                    frame.0 = clock;
                }
                let line = truth.len() as u16;
                frame.1.push((1 + index as u16, line));
                truth.push(line);
            }
            if close {
                let (time, statements) = std::mem::take(&mut frames[index]);
                rings[index] = rings[index].clone().packed(time, &statements);
            }
        }
        for (ring, (time, statements)) in rings.iter_mut().zip(frames) {
            if !statements.is_empty() {
                *ring = ring.clone().packed(time, &statements);
            }
        }
        let told = json(&rings.iter().flat_map(RingImage::build).collect::<Vec<_>>());
        prop_assert_eq!(told.len(), truth.len());
        let certain: Vec<u64> = told.iter().filter(|entry| !entry.2).map(|entry| entry.1).collect();
        prop_assert!(certain.is_sorted(), "{:?}", told);
        for file in [1, 2] {
            let own: Vec<u64> = told.iter().filter(|entry| entry.0 == file).map(|entry| entry.1).collect();
            prop_assert!(own.is_sorted());
        }
    }
}
