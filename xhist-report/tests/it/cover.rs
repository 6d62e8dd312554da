//! Is it known of every statement whether it ever ran?

use qs_core::record::Statement;
use qs_core::record::packed::Page;
use qs_core::ring::executed;

use crate::support::{Dir, RingImage, map_of_statements};
use crate::words_model::PAGE;

const STATEMENTS: &[(u32, &str)] = &[(2, "main"), (3, "main"), (7, "T::f"), (8, "T::f"), (12, "never")];

/// A bitmap in which these lines of file 1 ran.
fn bitmap(hash: u64, lost: u32, lines: &[u16]) -> Vec<u8> {
    let mut slots = [[0u32; 4]; 8];
    for line in lines {
        let key = executed::key(Page::of(Statement { file: 1, line: *line }));
        let (word, bit) = executed::bit(*line);
        let slot = &mut slots[executed::slot(key, 8) as usize];
        slot[0] = key;
        slot[1 + word] |= bit;
    }
    let mut image = Vec::from(executed::header(8, hash, 7));
    image[32..36].copy_from_slice(&lost.to_ne_bytes());
    image.extend(slots.iter().flatten().flat_map(|word| word.to_ne_bytes()));
    image
}

fn ring(hash: u64) -> RingImage {
    RingImage { map_hash: hash, ..RingImage::hosted(4096, 7, 7, "main") }.packed(0, &[(1, 3)])
}

#[test]
fn bitmap_and_rings_make_one_tracefile() {
    let dir = Dir::new();
    let (map, hash) = map_of_statements("/project", "src/main.rs", STATEMENTS);
    dir.write("xhist.map", map);
    dir.write("dump.bin", [ring(hash).build(), bitmap(hash, 0, &[2, 7])].concat());
    let outcome = dir.run(&["coverage", "dump.bin"]);
    let expected = "TN:\nSF:/project/src/main.rs\nFN:7,T::f\nFN:2,main\nFN:12,never\nFNDA:1,T::f\nFNDA:1,main\n\
        FNDA:0,never\nFNF:3\nFNH:2\nDA:2,1\nDA:3,1\nDA:7,1\nDA:8,0\nDA:12,0\nLF:5\nLH:3\nend_of_record\n";
    assert_eq!((outcome.code, outcome.out.as_str(), outcome.notes.as_str()), (0, expected, ""));
    // It outlives all rings.
    dir.write("dump.bin", bitmap(hash, 0, &[2, 3, 7]));
    assert_eq!(dir.run(&["coverage", "dump.bin"]).out, expected);
}

#[test]
fn hotspots_are_reported_with_the_options_that_leave_them_out() {
    let dir = Dir::new();
    let (map, hash) = map_of_statements("/project", "src/a.rs", STATEMENTS);
    dir.write("xhist.map", map);
    let hot: Vec<_> = (0..90).map(|n| (1, 7 + n % 2)).chain([(1, 2), (1, 3), (1, 3), (9, 9)]).collect();
    dir.write("dump.bin", ring(hash).packed(0, &hot).build());
    let outcome = dir.run(&["hot", "dump.bin"]);
    let expected = " 94.7 %        90  T::f  src/a.rs:7-8\n  4.2 %         4  main  src/a.rs:2-3\n  1.1 %         1  ?  file#9:9\n\n\
        # leaves out what fills a twentieth of the rings or more\n[package.metadata.xhist]\nexclude = [\n    \"*::a::T::f\",\n]\n";
    assert_eq!((outcome.code, outcome.out.as_str()), (0, expected), "{}", outcome.notes);
    let json = dir.run(&["hot", "dump.bin", "--format", "json"]).out;
    let first = r#"{"kind":"hot","function":"T::f","file":"src/a.rs","first":7,"last":8,"statements":90,"exclude":"*::a::T::f"}"#;
    let lines: Vec<&str> = json.lines().collect();
    assert!(
        lines[0].starts_with(r#"{"schema":2,"kind":"report""#) && lines[1].contains(r#""kind":"ring""#),
        "{json}"
    );
    assert_eq!((lines[2], lines[5]), (first, r#"{"kind":"end","entries":0,"complete":true}"#));
    assert_eq!(dir.run(&["hot", "dump.bin", "--last", "1"]).code, 2);
}

#[test]
fn losses_are_reported_with_the_hotspots() {
    let dir = Dir::new();
    let mut image = ring(0).packed(0, &[(1, 2)]).packed(0, &[(1, 3)]).packed(0, &[(1, 7)]).build();
    dir.write("dump.bin", &image);
    assert_eq!(dir.run(&["hot", "dump.bin"]).code, 0);
    // In the second frame.
    image[PAGE + 40] ^= 1;
    dir.write("dump.bin", &image);
    let outcome = dir.run(&["hot", "dump.bin"]);
    assert!(outcome.code == 1 && outcome.notes.contains("bytes damaged"), "{}", outcome.notes);
}

#[test]
fn what_ran_again_and_was_not_written_again_fills_nothing() {
    let dir = Dir::new();
    let (map, hash) = map_of_statements("/project", "src/a.rs", STATEMENTS);
    dir.write("xhist.map", map);
    let image = ring(hash).packed(0, &[(1, 7), (1, 8)]).packed_again(0, &[(1, 12)], 1, 100).build();
    dir.write("dump.bin", image);
    let out = dir.run(&["hot", "dump.bin"]).out;
    assert!(out.starts_with(" 50.0 %         2  T::f  src/a.rs:7-8\n"), "{out}");
}

#[test]
fn without_a_bitmap_only_the_rings_are_known() {
    let dir = Dir::new();
    let (map, hash) = map_of_statements("/project", "src/main.rs", STATEMENTS);
    dir.write("xhist.map", map);
    dir.write("dump.bin", ring(hash).build());
    let outcome = dir.run(&["coverage", "dump.bin"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.out.contains("DA:2,0\nDA:3,1\n"), "{}", outcome.out);
    assert!(outcome.notes.contains("no ever-executed bitmap here"), "{}", outcome.notes);
    dir.write("dump.bin", [ring(hash).build(), bitmap(hash, 5, &[2])].concat());
    let outcome = dir.run(&["coverage", "dump.bin"]);
    assert!(
        outcome.code == 1 && outcome.notes.contains("5 times a statement found no place"),
        "{}",
        outcome.notes
    );
    dir.write("empty.bin", [0; 10]);
    assert_eq!(dir.run(&["coverage", "empty.bin"]).code, 3);
}

#[test]
fn an_image_full_of_bitmaps_is_read_in_no_time() {
    let dir = Dir::new();
    let (map, hash) = map_of_statements("/project", "src/main.rs", STATEMENTS);
    dir.write("xhist.map", map);
    let begins = Vec::from(executed::header(1 << 16, hash, 7));
    dir.write("dump.bin", begins.repeat(5_000));
    let started = std::time::Instant::now();
    let outcome = dir.run(&["coverage", "dump.bin"]);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    assert!(outcome.code == 1 && outcome.notes.contains("bitmaps left out"), "{}", outcome.notes);
}
