//! Are several rings one history in the right order?

use qs_core::record::EventKind;
use qs_core::ring::Flags;
use xhist_history::ReadOptions;
use xhist_report::format::by_name;
use xhist_report::{Layout, Options};

use crate::support::{Dir, RingImage, listing, report, report_with};

#[test]
fn rings_of_one_process_are_merged_by_time_across_clock_turns() {
    let start = 0x3_FFFF_FF00u64;
    let a =
        (0..100).fold(RingImage::hosted(4096, 1, 1, "a"), |ring, n| ring.timed(start + 20 * n, 1, n as u16));
    let b = (0..100)
        .fold(RingImage::hosted(4096, 1, 2, "b"), |ring, n| ring.timed(start + 20 * n + 10, 2, n as u16));
    let outcome = report(&[b.build(), a.build()].concat());
    let expected: Vec<(u16, u32)> = (0..100).flat_map(|n| [(1, n), (2, n)]).collect();
    assert_eq!((outcome.code, outcome.out), (0, listing(&expected)));
}

#[test]
fn a_long_thread_name_is_shown_in_full() {
    const NAME: &str = "wrap::tests::initial_indent_breaks_the_line_where_it_is_longer_than_the_width_of_the_text_and_nothing_else_is_on_it::case_12";
    let ring = RingImage::hosted(4096, 1, 2, NAME).statement(1, 7);
    for big_endian in [false, true] {
        let image = RingImage { big_endian, ..ring.clone() }.build();
        let layout = Layout { thread: true, ..Layout::default() };
        let outcome = report_with(&image, &Options { layout, ..Options::default() });
        assert_eq!(outcome.code, 0, "{}", outcome.notes);
        assert!(outcome.out.contains(NAME), "{}", outcome.out);
    }
}

#[test]
fn a_thread_that_ended_long_ago_comes_before_those_that_ran_on() {
    let old = RingImage::hosted(4096, 1, 1, "old").timed(0x1_0000_0010, 1, 1).timed(0x1_0000_0020, 1, 2);
    let new = RingImage::hosted(4096, 1, 2, "new").timed(0x9_0000_0005, 2, 1);
    let outcome = report(&[new.build(), old.build()].concat());
    assert_eq!(outcome.out, listing(&[(1, 1), (1, 2), (2, 1)]));
}

#[test]
fn a_full_time_in_the_ring_bridges_a_long_sleep() {
    let sleeper = RingImage::hosted(4096, 1, 1, "sleeper")
        .timed(100, 1, 1)
        .event(EventKind::Time, 0x5_0000_0050, 0x5_0000_0050)
        .timed(0x5_0000_0050, 1, 2);
    let other = RingImage::hosted(4096, 1, 2, "other").timed(0x4_0000_0010, 2, 1).timed(0x5_0000_0060, 2, 2);
    let outcome = report(&[sleeper.build(), other.build()].concat());
    assert_eq!((outcome.code, outcome.out), (0, listing(&[(1, 1), (2, 1), (1, 2), (2, 2)])));
}

/// The first stamp of the short thread is known by that time in full only.
#[test]
fn a_full_time_soon_after_a_stamp_is_no_round_of_the_clock() {
    let short = RingImage::hosted(4096, 1, 1, "short").timed(0x9_0000_0100, 1, 1).event(
        EventKind::Until,
        0x9_0000_0140,
        0x9_0000_0140,
    );
    let other = RingImage::hosted(4096, 1, 2, "other").timed(0x8_8000_0000, 2, 1).timed(0x9_0000_0200, 2, 2);
    let outcome = report(&[short.build(), other.build()].concat());
    assert_eq!((outcome.code, outcome.out), (0, listing(&[(2, 1), (1, 1), (2, 2)])));
}

/// The first of two full times is the upper bound of what ran before both.
#[test]
fn before_a_pause_the_order_is_certain() {
    let waits = RingImage {
        clock_hz: 1000,
        ..RingImage::hosted(4096, 1, 1, "waits").timed(100, 1, 1).statement(1, 2)
    };
    let waits = waits.event(EventKind::Until, 101, 101).event(EventKind::Until, 900, 900).timed(900, 1, 3);
    let other = RingImage::hosted(4096, 1, 2, "other").timed(500, 2, 1).timed(1000, 2, 2);
    let outcome = report(&[waits.build(), other.build()].concat());
    assert_eq!(outcome.out, listing(&[(1, 1), (1, 2), (2, 1), (1, 3), (2, 2)]));
    assert!(!outcome.notes.contains("not certain"), "{}", outcome.notes);
}

#[test]
fn what_has_no_time_comes_first_and_keeps_its_place_in_its_ring() {
    let a =
        RingImage::hosted(4096, 1, 1, "a").statement(1, 1).timed(50, 1, 2).statement(1, 3).timed(90, 1, 4);
    let b = RingImage::hosted(4096, 1, 2, "b").statement(2, 1).timed(60, 2, 2);
    let untimed = RingImage { last_time: 7, ..RingImage::hosted(4096, 1, 3, "c").statement(3, 1) };
    let outcome = report(&[a.build(), b.build(), untimed.build()].concat());
    assert_eq!(outcome.out, listing(&[(3, 1), (2, 1), (1, 1), (1, 2), (1, 3), (2, 2), (1, 4)]));
}

#[test]
fn an_earlier_export_of_the_same_ring_is_left_out() {
    let main =
        (0..20).fold(RingImage::hosted(4096, 1, 1, "main"), |ring, n| ring.timed(1000 + n, 1, n as u16));
    let other = RingImage::hosted(4096, 1, 2, "other").timed(5, 2, 1);
    let first = [main.build(), other.build()].concat();
    let later = main.timed(2000, 1, 20);
    let image = [first, later.build(), other.clone().timed(6, 2, 2).build()].concat();
    let outcome = report(&image);
    let lines: Vec<&str> = outcome.out.lines().collect();
    assert_eq!(lines[..2], ["1 file#2:1", "2 file#2:2"]);
    assert_eq!(outcome.out.matches("file#1:19").count(), 1, "{}", outcome.out);
    assert_eq!(outcome.code, 0);
    assert!(outcome.notes.contains("2 rings are earlier copies of others"), "{}", outcome.notes);
    let one = report(&[other.build(), other.timed(6, 2, 2).build()].concat());
    assert!(one.notes.contains("1 ring is an earlier copy of another and left out"), "{}", one.notes);
    let first = report_with(&image, &Options::from(ReadOptions { rings: vec![1], ..ReadOptions::default() }));
    assert!(first.out.ends_with("file#1:19\n"));
}

#[test]
fn an_earlier_export_that_was_overwritten_since_is_reported_as_well() {
    let main = RingImage::hosted(4096, 1, 1, "main").timed(1, 1, 1);
    let later = (2..30).fold(main.clone(), |ring, n| ring.timed(n, 1, n as u16));
    let outcome = report(&[main.build(), later.build()].concat());
    assert!(outcome.out.starts_with("1 file#1:1\n2 file#1:2"), "{}", outcome.out);
}

#[test]
fn processes_are_printed_one_after_another() {
    let a = RingImage::hosted(4096, 11, 1, "a").timed(50, 1, 1).timed(70, 1, 2);
    let b = RingImage::hosted(4096, 22, 2, "b").timed(40, 2, 1).timed(60, 2, 2);
    let outcome = report(&[a.build(), b.build()].concat());
    assert_eq!((outcome.code, outcome.out), (0, listing(&[(2, 1), (2, 2), (1, 1), (1, 2)])));
    assert!(outcome.notes.contains("several processes (process id 22, 11)"), "{}", outcome.notes);
}

#[test]
fn bare_rings_follow_in_the_order_of_their_place() {
    let a = RingImage::bare(256).statement(1, 1).build();
    let b = RingImage::bare(256).statement(2, 1).build();
    assert_eq!(report(&[a, vec![0; 13], b].concat()).out, listing(&[(1, 1), (2, 1)]));
}

#[test]
fn bare_rings_may_be_of_different_boots_and_are_not_merged() {
    let boot = |file| {
        let ring = RingImage { time_width: 4, ..RingImage::bare(256) };
        RingImage { last_time: 0, ..ring.timed(10, file, 1).timed(20, file, 2) }.build()
    };
    let outcome = report(&[boot(1), boot(2)].concat());
    assert_eq!((outcome.code, outcome.out), (0, listing(&[(1, 1), (1, 2), (2, 1), (2, 2)])));
}

#[test]
fn an_event_of_a_recorder_without_a_clock_has_no_time() {
    let ring = RingImage { clock_hz: 1, ..RingImage::hosted(4096, 1, 1, "main") };
    let ring = ring.timed(500, 1, 1).event(EventKind::Panic, 0, 0).timed(501, 1, 2);
    let layout = Layout { time: true, ..Layout::default() };
    let format = by_name("json").expect("a format");
    let outcome = report_with(&ring.build(), &Options { layout, format, ..Options::default() });
    assert!(outcome.out.contains("{\"kind\":\"panic\",\"n\":2,\"ring\":1}\n"), "{}", outcome.out);
}

#[test]
fn an_empty_ring_beside_others_is_fine() {
    let empty = RingImage::hosted(4096, 1, 1, "idle").build();
    let full = RingImage::hosted(4096, 1, 2, "busy").timed(5, 1, 1).build();
    let outcome = report(&[empty, full].concat());
    assert_eq!((outcome.code, outcome.out), (0, listing(&[(1, 1)])));
}

#[test]
fn one_ring_can_be_picked() {
    let image: Vec<u8> =
        (1..=3).flat_map(|n| RingImage::hosted(4096, 1, n, "t").timed(5, n as u16, 1).build()).collect();
    let options = |ring| Options::from(ReadOptions { rings: vec![ring], ..ReadOptions::default() });
    assert_eq!(report_with(&image, &options(2)).out, listing(&[(2, 1)]));
    for ring in [0, 4, usize::MAX] {
        let outcome = report_with(&image, &options(ring));
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
        assert!(outcome.notes.contains("this source has rings 1 to 3"), "{}", outcome.notes);
    }
}

#[test]
fn threads_of_a_process_share_the_newest_clock_rate() {
    let ring = |tid, clock_hz, time| {
        RingImage { clock_hz, ..RingImage::hosted(4096, 1, tid, "") }.timed(time, 1, 1).build()
    };
    let image = [ring(1, 0, 1000), ring(2, 1000, 3000), ring(3, 7, 2000)].concat();
    let layout = Layout { time: true, ..Layout::default() };
    let outcome = report_with(&image, &Options { layout, ..Options::default() });
    let times: Vec<&str> = outcome.out.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(times, ["1.000000000", "2.000000000", "3.000000000"]);
}

#[test]
fn time_and_thread_columns_follow_behind_tabs() {
    let ring =
        RingImage { clock_hz: 1000, ..RingImage::hosted(4096, 1, 42, "") }.statement(1, 1).timed(1500, 1, 2);
    let dir = Dir::new();
    dir.write("dump.bin", ring.build());
    let outcome = dir.run(&["dump.bin", "--time", "--thread"]);
    assert_eq!(outcome.out, "1 file#1:1\t-\t42\n2 file#1:2\t1.500000000\t42\n");
}

#[test]
fn thousands_of_threads_have_a_column_each() {
    const THREADS: u32 = 2300;
    let rings = (0..THREADS).map(|tid| RingImage::hosted(4096, 7, tid + 1, "").statement(1, 5).build());
    let dir = Dir::new();
    dir.write("many.bin", rings.collect::<Vec<_>>().concat());
    let outcome = dir.run(&["--lanes", "--last", "1", "many.bin"]);
    assert_eq!(outcome.code, 0, "{}", outcome.notes);
    let last = outcome.out.lines().last().expect("an entry");
    assert!(last.ends_with(" file#1:5") && last.len() > 65_535, "{}", last.len());
}

#[test]
fn threads_of_one_name_are_numbered_everywhere() {
    let ring = |number: u16, name| {
        let tid = 10 + u32::from(number);
        RingImage { number, ..RingImage::hosted(4096, 9, tid, name) }.timed(
            100 + u64::from(number),
            number + 1,
            1,
        )
    };
    let names = ["main", "worker", "worker", "worker#2", "worker", ""];
    let rings: Vec<_> = names.iter().enumerate().map(|(number, name)| ring(number as u16, name)).collect();
    // An earlier export of the third ring has the name of the ring itself.
    let image = [&rings[2..3], &rings].concat().iter().flat_map(RingImage::build).collect::<Vec<u8>>();
    let with = |options: Options| report_with(&image, &options);
    let layout = Layout { thread: true, ..Layout::default() };
    let listed = with(Options { layout, ..Options::default() });
    let threads: Vec<_> = listed.out.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(threads, ["main", "worker#3", "worker", "worker#2", "worker#4", "15"], "{}", listed.out);
    let json = with(Options { format: by_name("json").expect("a format"), ..Options::default() }).out;
    let lanes = with(Options { layout: Layout { lanes: true, ..layout }, ..Options::default() }).out;
    for name in ["worker", "worker#2", "worker#3", "worker#4"] {
        assert!(json.contains(&format!("\"thread\":\"{name}\"")), "{json}");
        assert!(lanes.contains(&format!("{name} ")), "{lanes}");
    }
    // A thread keeps its name when `--ring` picks its ring.
    let fourth = with(Options { layout, ..ReadOptions { rings: vec![6], ..ReadOptions::default() }.into() });
    assert_eq!(fourth.out, "1 file#5:1\tworker#4\n");
}

/// The rings of firmware take turns, so that of the run before a reset may lie behind the other one.
#[test]
fn the_run_before_a_reset_comes_first_in_an_answer() {
    let dir = Dir::new();
    let earlier = RingImage { flags: Flags::PACKED | Flags::EARLIER, ..RingImage::bare(256) };
    let (earlier, now) = (earlier.statement(1, 5).build(), RingImage::bare(256).statement(1, 9).build());
    for image in [[&now[..], &earlier].concat(), [&earlier[..], &now].concat()] {
        dir.write("both.bin", image);
        let out = dir.run(&["answer", "both.bin"]).out;
        let places = ["last statements before the reset", "1:5", "last statements (newest last)", "1:9"];
        let found = places.map(|place| out.find(place));
        assert!(found.is_sorted() && found[0].is_some(), "{found:?}: {out}");
    }
}
