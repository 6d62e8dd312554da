//! The right map is found, and a wrong one is reported.

use crate::support::{Dir, Outcome, RingImage, map_text};

const FILES: &[(u16, &str, u32)] = &[(1, "src/main.rs", 0), (2, "src/long.rs", 65_535)];

fn dump(map_hash: u64) -> Vec<u8> {
    RingImage { map_hash, ..RingImage::bare(256) }.statements(&[(1, 2), (2, 3)]).build()
}

fn assert_named(outcome: &Outcome, place: &str) {
    assert_eq!(
        (outcome.code, outcome.out.as_str()),
        (0, "1 src/main.rs:2\n2 src/long.rs:65538\n"),
        "{place}"
    );
}

const NUMBERS: &str = "1 file#1:2\n2 file#2:3\n";

#[test]
fn a_map_is_found_beside_the_dump_above_it_and_under_target() {
    let (map, hash) = map_text("/p", FILES);
    let (other, _) = map_text("/p", &[(1, "other.rs", 0)]);
    for place in [
        "dumps/today/xhist.map",
        "dumps/today/another-name.map",
        "dumps/xhist.map",
        "xhist.map",
        "target/xhist/maps/0123.map",
        "target/xhist/xhist.map",
        "work/target/xhist/maps/a.map",
        "dumps/xhist.map.d/0123.map",
        "work/xhist.map",
        "work/xhist.map.d/0123.map",
    ] {
        let dir = Dir::new();
        dir.write("dumps/today/a.map", &other);
        dir.write("dumps/today/dump.bin", dump(hash));
        dir.write("work/notes.txt", "");
        dir.write(place, &map);
        let path = dir.path().join("dumps/today/dump.bin");
        let mut command = dir.command(&[path.to_str().unwrap()]);
        let outcome = crate::support::outcome(command.current_dir(dir.path().join("work")).output().unwrap());
        assert_named(&outcome, place);
        assert_eq!(outcome.notes, "", "{place}");
    }
}

#[test]
fn without_any_map_files_are_numbers_and_the_report_is_complete() {
    let dir = Dir::new();
    dir.write("dump.bin", dump(5));
    let outcome = dir.run(&["dump.bin"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, NUMBERS));
    assert!(outcome.notes.contains("no map found"), "{}", outcome.notes);
}

#[test]
fn maps_of_other_builds_are_listed_and_not_used() {
    let dir = Dir::new();
    let (map, hash) = map_text("/p", FILES);
    dir.write("xhist.map", map);
    dir.write("dump.bin", dump(0xABC));
    let outcome = dir.run(&["dump.bin"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (1, NUMBERS));
    assert!(outcome.notes.contains("the map of the dump is 0000000000000abc"), "{}", outcome.notes);
    assert!(outcome.notes.contains(&format!("xhist.map is map {hash:016x}")), "{}", outcome.notes);
}

#[test]
fn a_named_map_of_another_build_is_used_with_a_warning() {
    let dir = Dir::new();
    dir.write("given.map", map_text("/p", FILES).0);
    dir.write("dump.bin", dump(0xABC));
    let outcome = dir.run(&["dump.bin", "--map", "given.map"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (1, "1 src/main.rs:2\n2 src/long.rs:65538\n"));
    assert!(outcome.notes.contains("belongs to another build"), "{}", outcome.notes);
}

#[test]
fn earlier_versions_of_a_named_map_are_found() {
    let dir = Dir::new();
    let (map, hash) = map_text("/p", FILES);
    dir.write("a/given.map", map_text("/p", &[(1, "new.rs", 0)]).0);
    dir.write(&format!("a/given.map.d/{hash:016x}.map"), map);
    dir.write("dump.bin", dump(hash));
    assert_named(&dir.run(&["dump.bin", "--map", "a/given.map"]), "kept");
}

#[test]
fn a_dump_without_a_hash_takes_the_nearest_map_and_says_so() {
    let dir = Dir::new();
    dir.write("xhist.map", map_text("/p", FILES).0);
    dir.write("dump.bin", dump(0));
    let outcome = dir.run(&["dump.bin"]);
    assert_named(&outcome, "nearest");
    assert!(outcome.notes.contains("map not verified"), "{}", outcome.notes);
}

#[test]
fn an_edited_map_is_reported() {
    let dir = Dir::new();
    let (map, hash) = map_text("/p", FILES);
    dir.write("xhist.map", map.replace("main.rs", "mine.rs"));
    dir.write("dump.bin", dump(hash));
    let outcome = dir.run(&["dump.bin"]);
    assert_eq!((outcome.code, outcome.out.lines().next()), (1, Some("1 src/mine.rs:2")));
    assert!(outcome.notes.contains("was edited or damaged"), "{}", outcome.notes);
}

#[test]
fn bad_lines_of_a_map_are_reported_with_their_number() {
    let dir = Dir::new();
    let (map, hash) = map_text("/p", FILES);
    dir.write("xhist.map", format!("{map}garbage\n"));
    dir.write("dump.bin", dump(hash));
    let outcome = dir.run(&["dump.bin"]);
    assert!(outcome.notes.contains("xhist.map:4: not a line of a map file"), "{}", outcome.notes);
    assert!(outcome.out.contains("src/main.rs:2"));
}

#[test]
fn a_missing_map_and_a_file_of_another_kind_are_errors() {
    let dir = Dir::new();
    dir.write("dump.bin", dump(1));
    dir.write("noise.map", crate::support::noise(5000));
    let outcome = dir.run(&["dump.bin", "--map", "missing.map"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
    assert!(outcome.notes.contains("cannot read the map missing.map"), "{}", outcome.notes);
    let outcome = dir.run(&["dump.bin", "--map", "noise.map"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (1, NUMBERS));
    assert!(outcome.notes.contains("noise.map is not a map of xhist"), "{}", outcome.notes);
    assert_eq!(dir.run(&["dump.bin", "--map", "."]).code, 2);
}

#[test]
fn without_any_map_a_note_says_which_one_is_needed_and_where_to_look() {
    let dir = Dir::new();
    dir.write("dumps/a.bin", RingImage { map_hash: 0x0f3a, ..RingImage::bare(256) }.statement(1, 22).build());
    let outcome = dir.run(&["dumps/a.bin"]);
    // All that was recorded is there.
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "1 file#1:22\n"));
    let dumps = std::fs::canonicalize(dir.path().join("dumps")).unwrap();
    for said in ["map 0000000000000f3a", "--map FILE", &dumps.display().to_string(), "beside Cargo.toml"] {
        assert!(outcome.notes.contains(said), "{said}: {}", outcome.notes);
    }
    dir.write("dumps/b.bin", RingImage::bare(256).statement(1, 22).build());
    let outcome = dir.run(&["dumps/b.bin"]);
    assert!(outcome.notes.contains("does not say which map"), "{}", outcome.notes);
}
