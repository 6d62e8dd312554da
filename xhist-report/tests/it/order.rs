//! Does a report of several threads say which order is certain?

use proptest::prelude::*;
use xhist_report::format::by_name;
use xhist_report::{Layout, Options};

use crate::support::{Dir, RingImage, report_with};

fn ring(tid: u32, name: &'static str) -> RingImage {
    RingImage::hosted(4096, 1, tid, name)
}

/// A ring whose clock ticks each microsecond.
fn clocked(tid: u32, name: &'static str) -> RingImage {
    RingImage { clock_hz: 1_000_000, ..ring(tid, name) }
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
fn what_is_known_to_a_millisecond_has_no_mark() {
    let busy = |ring: RingImage, first: u64, file| {
        (0..4).fold(ring, |ring, n| ring.packed(first + 1000 * n, &[(file, 1), (file, 2)]))
    };
    // Stamped each millisecond, half of one apart: in a millisecond the order is open, and known well enough.
    let a = busy(clocked(1, "a"), 10_000, 1).packed(14_000, &[(1, 9)]);
    let b = busy(clocked(2, "b"), 10_500, 2).packed(14_500, &[(2, 9)]);
    assert!(json(&[a.build(), b.build()].concat()).iter().all(|(_, _, uncertain)| !uncertain));
    // One more tick is too much, and the rate is that of any ring that knows it.
    let a = ring(1, "a").packed(10_000, &[(1, 1), (1, 2)]).packed(11_001, &[(1, 9)]);
    let b = clocked(2, "b").packed(10_500, &[(2, 1)]).packed(10_600, &[(2, 9)]);
    let all = json(&[a.build(), b.build()].concat());
    assert_eq!(all, [(1, 1, false), (1, 2, true), (2, 1, false), (2, 9, false), (1, 9, false)]);
    // Wide bounds that contain no other thread's entries are certain.
    let a = clocked(1, "a").packed(10_000, &[(1, 1), (1, 2)]).packed(90_000, &[(1, 9)]);
    let b = clocked(2, "b").packed(9_000, &[(2, 1)]).packed(9_500, &[(2, 9)]);
    assert!(json(&[a.build(), b.build()].concat()).iter().all(|(_, _, uncertain)| !uncertain));
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
    // The entries of a single thread are always in order.
    assert_eq!(json(&ring(1, "a").packed(0, &[(1, 1), (1, 2)]).build()), [(1, 1, false), (1, 2, false)]);
}

#[test]
fn marks_are_for_people_and_explained_once() {
    let image = overlapping();
    let outcome = report_with(&image, &Options::default());
    assert_eq!((outcome.code, outcome.out.contains('~')), (0, false));
    assert_eq!(outcome.notes.matches("not certain for 2 of 10 entries").count(), 1, "{}", outcome.notes);
    // For programs it is in the column of the time, which such an entry has not.
    let timed = Layout { time: true, thread: true, ..Layout::default() };
    let outcome = report_with(&image, &Options { layout: timed, ..Options::default() });
    assert_eq!(outcome.out.matches("\t~\t").count(), 2, "{}", outcome.out);
    assert_eq!(outcome.notes.matches("2 of 10 entries are marked").count(), 1, "{}", outcome.notes);
    let one = report_with(&ring(1, "a").packed(0, &[(1, 1), (1, 2)]).build(), &Options::default());
    assert!(!one.notes.contains("order"), "{}", one.notes);
    let layout = Layout { terminal: true, ..Layout::default() };
    let outcome = report_with(&image, &Options { layout, ..Options::default() });
    assert_eq!(outcome.out.matches('~').count(), 2, "{}", outcome.out);
    assert_eq!(outcome.notes.matches("2 of 10 entries are marked").count(), 1, "{}", outcome.notes);
}

#[test]
fn lanes_are_printed_side_by_side() {
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
    let loss = "at least 3 statements not recorded: signal handlers were nested too deep, \
                threads found no room for a ring, or a child was forked unseen";
    assert!(outcome.notes.contains(loss), "{}", outcome.notes);
}

/// Two threads take turns: which of them, how many statements, and whether its frame ends behind them.
type Turns = Vec<(bool, u16, bool)>;

/// The rings of such a run, and when each line ran. The clock goes on by `step` with each statement.
fn run(mut rings: [RingImage; 2], turns: Turns, step: u64) -> (Vec<u8>, Vec<u64>) {
    let mut frames: [(u64, Vec<(u16, u16)>); 2] = Default::default();
    let mut clock = 0;
    let mut times = Vec::new();
    for (second, statements, close) in turns {
        let index = usize::from(second);
        for _ in 0..statements {
            clock += step;
            let frame = &mut frames[index];
            if frame.1.is_empty() {
                frame.0 = clock;
            }
            frame.1.push((1 + index as u16, times.len() as u16));
            times.push(clock);
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
    (rings.iter().flat_map(RingImage::build).collect(), times)
}

fn turns() -> impl Strategy<Value = Turns> {
    proptest::collection::vec((any::<bool>(), 1u16..6, any::<bool>()), 1..40)
}

proptest! {
    /// A frame has a stamp at its start only.
    #[test]
    fn entries_without_a_mark_are_in_their_true_order(turns in turns()) {
        let (image, times) = run([ring(1, "a"), ring(2, "b")], turns, 1);
        let entries = json(&image);
        prop_assert_eq!(entries.len(), times.len());
        let certain: Vec<u64> = entries.iter().filter(|entry| !entry.2).map(|entry| entry.1).collect();
        prop_assert!(certain.is_sorted(), "{:?}", entries);
        for file in [1, 2] {
            let own: Vec<u64> = entries.iter().filter(|entry| entry.0 == file).map(|entry| entry.1).collect();
            prop_assert!(own.is_sorted());
        }
    }

    /// The same with a clock whose rate is known.
    #[test]
    fn entries_without_a_mark_are_in_order_to_a_millisecond(turns in turns(), step in 1u64..400) {
        let (image, times) = run([clocked(1, "a"), clocked(2, "b")], turns, step);
        let entries = json(&image);
        prop_assert_eq!(entries.len(), times.len());
        let certain = entries.iter().filter(|entry| !entry.2).map(|entry| times[entry.1 as usize]);
        let mut newest = 0;
        for time in certain {
            prop_assert!(time + 1000 >= newest, "{} behind {}: {:?}", time, newest, entries);
            newest = newest.max(time);
        }
    }
}
