//! Are repeated statements printed as a loop?

use xhist_history::ReadOptions;
use xhist_report::{Layout, Options};

use crate::support::{Dir, RingImage, listing, map_text, report, report_with};

/// Twice round lines 40 to 42.
const LOOP: &[(u16, u16)] = &[(1, 40), (1, 41), (1, 42), (1, 40), (1, 41), (1, 42)];

fn ring() -> RingImage {
    RingImage::hosted(4096, 1, 1, "main")
}

#[test]
fn packed_frames_are_read_in_order_with_what_is_open() {
    let all: Vec<(u16, u16)> = (0..500u16).map(|n| (1 + n % 3, n.wrapping_mul(7919) % 300)).collect();
    for big_endian in [false, true] {
        let ring = RingImage { big_endian, ..ring() }.statements(&all[..7]);
        let ring = all[7..450].chunks(60).fold(ring, |ring, frame| ring.packed(0, frame).frame(0, &[]));
        let outcome = report(&ring.open(0, &all[450..]).build());
        let expected: Vec<_> = all.iter().map(|(file, line)| (*file, u32::from(*line))).collect();
        assert_eq!((outcome.code, outcome.out), (0, listing(&expected)));
    }
}

#[test]
fn a_loop_is_printed_in_its_place_and_has_no_number() {
    let before = ring().packed(0, &[(2, 7)]);
    let again = before.clone().packed(0, LOOP).packed_again(0, &[(2, 8), (2, 9)], 1, 2000);
    let lines = "1 file#2:7\n2 file#1:40\n3 file#1:41\n4 file#1:42\n5 file#1:40\n6 file#1:41\n7 file#1:42\n";
    let repetition = "... lines 40-42 x 4,000 in file#1\n";
    let outcome = report(&again.build());
    assert_eq!((outcome.code, outcome.out), (0, format!("{lines}{repetition}8 file#2:8\n9 file#2:9\n")));
    let folded = RingImage { folded: 2000, ..before.packed(0, LOOP) };
    assert_eq!(report(&folded.build()).out, format!("{lines}{repetition}"));
    let open = folded.open(0, &[(1, 40)]);
    assert_eq!(report(&open.build()).out, format!("{lines}{repetition}8 file#1:40\n"));
}

#[test]
fn a_short_loop_is_written_out_for_programs() {
    let image = ring().packed(0, LOOP).packed_again(0, &[(2, 8)], 1, 1666).build();
    let rounds = (0..1 + 1666).flat_map(|_| LOOP).map(|(file, line)| (*file, u32::from(*line)));
    assert_eq!(report(&image).out, listing(&rounds.chain([(2, 8)]).collect::<Vec<_>>()));
    let last = |last| {
        report_with(&image, &Options::from(ReadOptions { last: Some(last), ..ReadOptions::default() })).out
    };
    assert_eq!(last(3), "1 file#1:41\n2 file#1:42\n3 file#2:8\n");
}

#[test]
fn a_loop_of_several_frames_and_files_is_one() {
    let ring = RingImage::bare(4096).packed(0, &[(1, 5), (2, 90)]).packed(0, &[(2, 91), (1, 6)]);
    let outcome = report(&ring.packed_again(0, &[(3, 1)], 2, 1_234_567).build());
    let lines: Vec<&str> = outcome.out.lines().collect();
    assert_eq!(lines[4..], ["... lines 5-6 x 1,234,567 in file#1, 90-91 in file#2", "5 file#3:1"]);
}

#[test]
fn what_is_no_longer_there_did_not_repeat() {
    // The frame that came again is overwritten, or there never was one.
    for ring in
        [ring().packed_again(0, &[(3, 1)], 1, 9), ring().statement(1, 1).packed_again(0, &[(3, 1)], 1, 9)]
    {
        let outcome = report(&ring.build());
        assert!(outcome.code == 0 && !outcome.out.contains("..."), "{}", outcome.out);
    }
}

#[test]
fn the_last_entries_are_counted_without_loops() {
    let image = ring().packed(0, LOOP).packed_again(0, &[(2, 8), (2, 9)], 1, 3000).build();
    let last = |last| {
        report_with(&image, &Options::from(ReadOptions { last: Some(last), ..ReadOptions::default() })).out
    };
    assert_eq!(last(2), "1 file#2:8\n2 file#2:9\n");
    assert_eq!(last(3), "1 file#1:42\n... lines 40-42 x 6,000 in file#1\n2 file#2:8\n3 file#2:9\n");
}

#[test]
fn columns_and_names_are_those_of_entries() {
    let (map, hash) = map_text("/project", &[(1, "src/main.rs", 0), (2, "src/main.rs", 65_535)]);
    let dir = Dir::new();
    dir.write("xhist.map", map);
    let ring = RingImage { map_hash: hash, time_width: 0, ..ring() };
    let image = ring.packed(0, &[(2, 1), (2, 3)]).packed_again(0, &[(1, 1)], 1, 6000).build();
    dir.write("dump.bin", image);
    let outcome = dir.run(&["dump.bin", "--time", "--thread"]);
    assert!(
        outcome.out.contains("\n... lines 65536-65538 x 6,000 in src/main.rs\t-\tmain\n3 src"),
        "{}",
        outcome.out
    );
    let json = dir.run(&["dump.bin", "--format", "json"]).out;
    let again = r#"{"kind":"again","ring":1,"statements":2,"times":6000,"rounds":6000,"places":[{"file_id":2,"file":"src/main.rs","first":65536,"last":65538}],"text":"... lines 65536-65538 x 6,000 in src/main.rs"}"#;
    assert!(json.contains(again), "{json}");
}

#[test]
fn people_see_it_under_the_numbers() {
    let image = ring().packed(0, LOOP).packed_again(0, &[(2, 8), (2, 9), (2, 8), (2, 9)], 1, 3).build();
    let layout = Layout { terminal: true, ..Layout::default() };
    let out = report_with(&image, &Options { layout, ..Options::default() }).out;
    assert!(out.contains("\n   \u{1b}[2m... lines 40-42 x 6 in file#1\u{1b}[0m\n\u{1b}[2m 7"), "{out:?}");
}
