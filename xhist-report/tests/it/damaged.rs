//! Does any bad input lead to a clear message and exit code?

use std::io::{Seek, SeekFrom, Write};
use std::time::Instant;

use qs_core::ring::{BYTE_ORDER_MARK, LAYOUT_VERSION, MAGIC, NEWEST_VERSION};
use xhist_history::ReadOptions;
use xhist_report::Options;

use crate::support::{Dir, RingImage, listing, noise, outcome, report, report_with};

const THREE: &[(u16, u16)] = &[(1, 2), (1, 0x7E7D), (2, 3)];

fn three() -> String {
    listing(&[(1, 2), (1, 0x7E7D), (2, 3)])
}

/// `count` statements 1:0, 1:1, ...
fn many(ring: RingImage, count: u16) -> RingImage {
    (0..count).fold(ring, |ring, line| ring.statement(1, line))
}

#[test]
fn a_ring_is_read_in_either_byte_order_and_with_either_header() {
    for big_endian in [false, true] {
        for ring in [RingImage::bare(256), RingImage::hosted(4096, 1, 1, "main")] {
            let ring = RingImage { big_endian, ..ring }.statements(THREE);
            let outcome = report(&ring.build());
            assert_eq!((outcome.code, outcome.out), (0, three()), "{big_endian} {ring:?}");
        }
    }
}

#[test]
fn a_ring_that_wrapped_loses_only_its_oldest_entries() {
    for count in [20, 30, 57, 200, 1000] {
        let outcome = report(&many(RingImage::bare(1024), count).build());
        let lines: Vec<u16> =
            outcome.out.lines().map(|line| line.rsplit(':').next().unwrap().parse().unwrap()).collect();
        let first = count - lines.len() as u16;
        assert_eq!(lines, (first..count).collect::<Vec<_>>());
        assert!(count < 30 || lines.len() >= 25, "{} of {count}", lines.len());
        assert_eq!((outcome.code, outcome.notes.contains("lost")), (0, false), "{}", outcome.notes);
    }
}

#[test]
fn statements_of_an_open_frame_are_the_last_entries() {
    let ring = RingImage::bare(256).statements(THREE).open(0, &[(9, 9)]);
    let outcome = report(&ring.build());
    assert_eq!((outcome.code, outcome.out), (0, three() + "4 file#9:9\n"));
    let alone = RingImage::bare(256).open(0, &[(9, 9)]);
    let outcome = report(&alone.build());
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "1 file#9:9\n"));
}

#[test]
fn a_torn_last_frame_is_reported() {
    let mut ring = RingImage::bare(256).statements(THREE);
    let whole = ring.stream.len();
    ring = ring.statement(7, 7);
    ring.stream[whole + 3] ^= 0x55;
    let outcome = report(&ring.build());
    assert_eq!((outcome.code, outcome.out), (1, three()));
    assert!(outcome.notes.contains("newest frame not whole, after entry 3"), "{}", outcome.notes);
}

#[test]
fn damage_in_the_middle_is_reported_at_its_place() {
    let mut ring = RingImage::hosted(4096, 1, 1, "main").statements(THREE);
    ring.stream[30] ^= 0x55;
    let outcome = report(&ring.build());
    assert_eq!((outcome.code, outcome.out), (1, listing(&[(1, 2), (2, 3)])));
    assert!(outcome.notes.contains("ring 1 (thread main): "), "{}", outcome.notes);
    assert!(outcome.notes.contains("bad checksum"), "{}", outcome.notes);
    assert!(outcome.notes.contains("1 frame missing, before entry 2"), "{}", outcome.notes);
}

#[test]
fn damage_before_the_entries_shown_is_reported_as_such() {
    let mut ring = RingImage::bare(512).statements(THREE);
    ring.stream[20] ^= 0x55;
    let outcome =
        report_with(&ring.build(), &Options::from(ReadOptions { last: Some(1), ..ReadOptions::default() }));
    assert_eq!((outcome.code, outcome.out.as_str()), (1, "1 file#2:3\n"));
    ring = ring.statements(THREE);
    let outcome =
        report_with(&ring.build(), &Options::from(ReadOptions { last: Some(2), ..ReadOptions::default() }));
    assert_eq!(outcome.code, 1);
    assert!(outcome.notes.contains("1 frame missing, before the entries shown"), "{}", outcome.notes);
}

#[test]
fn many_losses_are_reported_in_a_few_lines() {
    let mut ring = many(RingImage::bare(4096), 300);
    for at in (4..ring.stream.len()).step_by(24) {
        ring.stream[at] ^= 0x55;
    }
    let outcome = report(&ring.build());
    assert_eq!(outcome.code, 1);
    assert_eq!(outcome.notes.lines().filter(|line| line.contains("lost: ")).count(), 11, "{}", outcome.notes);
    assert!(outcome.notes.contains("more places with losses"));
}

#[test]
fn a_ring_cut_in_half_gives_its_first_half() {
    let image = many(RingImage::bare(2048), 100).build();
    let outcome = report(&image[..64 + 1024]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.out.lines().count() > 50, "{}", outcome.out);
    assert!(outcome.notes.contains("bytes of the ring not in the image"), "{}", outcome.notes);
}

#[test]
fn a_ring_is_found_at_any_place_in_noise() {
    let ring = RingImage::bare(256).statements(THREE).build();
    let noise = noise(1 << 20);
    for at in [0, 1, 511, 512, 513, 77_777] {
        let image = [&noise[..at], &ring, &noise[at..]].concat();
        let outcome = report(&image);
        assert_eq!((outcome.code, outcome.out), (0, three()), "at {at}");
    }
}

#[test]
fn a_ring_is_found_at_the_seams_of_the_scan() {
    let ring = RingImage::bare(256).statements(THREE).build();
    let seam = 64 << 20;
    for at in [seam - 8, seam - 7, seam - 1, seam] {
        let mut image = vec![0; seam + 1000];
        image[at..at + ring.len()].copy_from_slice(&ring);
        let outcome = report(&image);
        assert_eq!((outcome.code, outcome.out), (0, three()), "at {at}");
    }
}

#[test]
fn an_image_without_a_ring_has_exit_code_3_and_a_message() {
    let magics = MAGIC.repeat(1000);
    for (image, message) in [
        (&b""[..], "the source is empty"),
        (&[0; 1 << 20], "no xhist ring in 1048576 bytes"),
        (&noise(1 << 20), "no xhist ring in 1048576 bytes"),
        (&MAGIC, "header cut off after 8 bytes"),
        (&magics, "990 more places that start like a ring"),
        (&RingImage::bare(256).build(), "no entry in the 1 ring found"),
    ] {
        let outcome = report(image);
        assert_eq!((outcome.code, outcome.out.as_str()), (3, ""));
        assert!(outcome.notes.contains(message), "{}", outcome.notes);
    }
}

#[test]
fn absurd_headers_are_refused_with_a_reason() {
    for (ring, message) in [
        (RingImage { size: 0, ..RingImage::bare(256) }, "absurd sizes"),
        (RingImage { size: 100, ..RingImage::bare(256) }, "absurd sizes"),
        (RingImage { version: 2, ..RingImage::bare(256) }, "layout version 2 (this tool reads 3 and 4)"),
        (RingImage { version: 9, ..RingImage::bare(256) }, "layout version 9 (this tool reads 3 and 4)"),
        (RingImage { version: 3, ..RingImage::hosted(4096, 1, 1, "") }, "absurd sizes (header 4096 bytes"),
        (RingImage { version: 3, hosted: true, ..RingImage::bare(4096) }, "absurd sizes (header 4096 bytes"),
        (RingImage { version: 4, ..RingImage::bare(256) }, "absurd sizes (header 64 bytes"),
    ] {
        let bad = [ring.header(), vec![0; 256]].concat();
        let outcome = report(&bad);
        assert_eq!(outcome.code, 3);
        assert!(outcome.notes.contains(message), "{}", outcome.notes);
        // Beside a good ring it is a loss.
        let good = RingImage::bare(256).statements(THREE).build();
        let outcome = report(&[bad, good].concat());
        assert_eq!((outcome.code, outcome.out), (1, three()));
        assert!(outcome.notes.contains(message), "{}", outcome.notes);
    }
}

#[test]
fn a_ring_of_another_version_is_reported_behind_any_number_of_fakes() {
    let newer = RingImage { version: NEWEST_VERSION + 1, ..RingImage::bare(256) }.build();
    let good = RingImage::bare(256).statements(THREE).build();
    let outcome = report(&[MAGIC.repeat(100), newer, good].concat());
    assert_eq!((outcome.code, outcome.out), (1, three()));
    assert!(outcome.notes.contains(&format!("layout version {}", NEWEST_VERSION + 1)), "{}", outcome.notes);
}

#[test]
fn fake_magic_beside_a_good_ring_is_not_worth_a_word() {
    let good = RingImage::bare(256).statements(THREE).build();
    // As program text has them: the magic alone, the byte-order mark alone, and both with something between.
    let mark = BYTE_ORDER_MARK.to_ne_bytes();
    let text = [&MAGIC[..], &[0x48, 0x89], &mark, &[LAYOUT_VERSION; 60], &MAGIC, &[0; 100], &mark, &[2; 60]];
    // A header that is being made has no magic yet.
    let mut being_made = RingImage::bare(256).build();
    being_made[..8].fill(0);
    let image = [&text.concat()[..], &being_made, &good].concat();
    let outcome = report(&image);
    assert_eq!((outcome.code, outcome.out), (0, three()));
    assert!(!outcome.notes.contains("lost"), "{}", outcome.notes);
}

#[test]
fn a_ring_that_claims_2_gib_in_a_small_image_is_read_as_far_as_it_goes() {
    let mut small = RingImage::bare(1 << 31).statements(THREE);
    let header = small.header();
    small.size = 64;
    let data = &small.build()[64..];
    let outcome = report(&[&header, data].concat());
    assert_eq!((outcome.code, outcome.out), (1, three()));
    assert!(
        outcome.notes.contains("the source ends 2147483584 bytes before the ring does"),
        "{}",
        outcome.notes
    );
}

#[test]
fn a_ring_across_two_pieces_of_a_sparse_file_is_found() {
    let ring = RingImage::bare(8192).statements(THREE).build();
    let image = [vec![0; 10_000], ring, vec![0; 10_000]].concat();
    let data = Some(vec![8192..12_288, 16_384..20_480, 90_000..95_000]);
    let outcome = report_with(&image, &Options::from(ReadOptions { data, ..ReadOptions::default() }));
    assert_eq!((outcome.code, outcome.out), (0, three()));
}

#[test]
fn headers_over_headers_take_bounded_time() {
    // Each header claims all the bytes behind it: without a bound this is quadratic.
    let ring = RingImage::bare(1 << 21).statements(THREE);
    let header = &ring.build()[..64];
    let image = header.repeat(20_000);
    let started = Instant::now();
    let outcome = report(&image);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    assert_eq!(outcome.code, 3);
    assert!(outcome.notes.contains("rings left out"), "{}", outcome.notes);
}

#[test]
fn a_ring_deep_in_a_sparse_file_of_gigabytes_is_found() {
    let dir = Dir::new();
    let path = dir.write("huge.bin", b"");
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(3 << 30).unwrap();
    file.seek(SeekFrom::Start((5 << 29) + 12_345)).unwrap();
    file.write_all(&RingImage::bare(4096).statements(THREE).build()).unwrap();
    let outcome = dir.run(&["huge.bin"]);
    assert_eq!((outcome.code, outcome.out), (0, three()), "{}", outcome.notes);
}

/// Intel HEX or S-records, eight bytes each.
fn as_text(image: &[u8], motorola: bool) -> Vec<String> {
    let record = |(index, data): (usize, &[u8])| {
        let [high, low] = (8 * index as u16).to_be_bytes();
        let (mark, head, total) = match motorola {
            true => ("S1", vec![data.len() as u8 + 3, high, low], 0xFF),
            false => (":", vec![data.len() as u8, high, low, 0], 0),
        };
        let mut bytes = [&head, data].concat();
        bytes.push(bytes.iter().fold(total, |left: u8, byte| left.wrapping_sub(*byte)));
        format!("{mark}{}", bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>())
    };
    image.chunks(8).enumerate().map(record).collect()
}

#[test]
fn a_bad_record_of_a_text_form_costs_only_itself() {
    let statements: Vec<_> = (1..=30).map(|line| (1, line)).collect();
    let image = RingImage::bare(1024).statements(&statements).build();
    let dir = Dir::new();
    for motorola in [false, true] {
        let mut records = as_text(&image, motorola);
        dir.write("whole.hex", records.join("\r\n"));
        let whole = dir.run(&["whole.hex"]);
        assert_eq!((whole.code, whole.out.lines().count()), (0, 30), "{}", whole.notes);
        records[20].replace_range(12..14, "\u{e9}");
        records[30].truncate(14);
        dir.write("bad.hex", records.join("\n"));
        let bad = dir.run(&["bad.hex"]);
        let lines = bad.out.lines().count();
        assert!(bad.code == 1 && (20..30).contains(&lines), "{}: {lines}\n{}", bad.code, bad.notes);
        for note in ["the record in line 21 was left out: ", "the record in line 31 was left out: "] {
            assert!(bad.notes.contains(note), "{}", bad.notes);
        }
        let none: Vec<_> = records.iter().map(|record| &record[..record.len() - 1]).collect();
        dir.write("none.hex", none.join("\n"));
        let none = dir.run(&["none.hex"]);
        assert_eq!((none.code, none.out.as_str()), (2, ""));
        assert!(none.notes.contains("none.hex: no record is good: "), "{}", none.notes);
    }
}

#[test]
fn a_text_form_is_read_from_a_pipe_too() {
    let dir = Dir::new();
    for motorola in [false, true] {
        let text = as_text(&RingImage::bare(256).statements(THREE).build(), motorola).join("\n");
        let path = dir.write("ring.hex", text);
        let piped = dir.command(&["-"]).stdin(std::fs::File::open(&path).unwrap()).output().unwrap();
        let piped = outcome(piped);
        assert_eq!((piped.code, piped.out), (0, three()), "{}", piped.notes);
    }
}

#[test]
fn memory_that_a_text_form_has_twice_is_read_once() {
    let dir = Dir::new();
    let [older, newer] =
        [&THREE[..2], THREE].map(|statements| RingImage::bare(256).statements(statements).build());
    for motorola in [false, true] {
        let [first, second] = [as_text(&older, motorola), as_text(&newer, motorola)];
        dir.write("same.hex", [&second[..], &second].concat().join("\n"));
        let same = dir.run(&["same.hex"]);
        assert_eq!((same.code, same.out), (0, three()), "{}", same.notes);
        dir.write("twice.hex", [first, second].concat().join("\n"));
        let twice = dir.run(&["twice.hex"]);
        assert_eq!((twice.code, twice.out), (1, three()), "{}", twice.notes);
        assert!(twice.notes.contains("the later ones were taken"), "{}", twice.notes);
    }
}
