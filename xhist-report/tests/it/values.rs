//! Are recorded values shown with their entries, by name, and as bytes if their types are not known?

use qs_core::map::Hash;
use qs_core::record::packed::step;
use qs_core::record::value::RecordedValue;
use qs_core::ring::Flags;

use crate::support::{Dir, Outcome, RingImage, packed_data};

const BODY: &str = r#"{"file":1,"path":"src/a.rs","base":0,"first":1,"room":9,"values":5,"value_room":9}
{"fn":1,"path":"parse","at":"2:1","end":"9:2"}
{"stmt":1,"line":3,"col":5,"end":"4:20","kind":"let","fn":"parse"}
{"stmt":1,"line":6,"col":5,"end":"6:20","kind":"expr","fn":"parse"}
{"value":1,"line":2,"col":10,"name":"size","kind":"param","fn":"parse"}
{"value":1,"line":4,"col":9,"name":"len","kind":"let","fn":"parse"}
{"value":1,"line":8,"col":9,"name":"secret","kind":"let","fn":"parse"}
"#;

fn map() -> (String, u64) {
    let mut hash = Hash::new();
    hash.update(BODY.as_bytes());
    let hash = hash.finish();
    let head = format!(
        "{{\"xhist\":\"map\",\"version\":4,\"hash\":\"{hash:016x}\",\"root\":\"/p\",\"tool\":\"t\"}}\n"
    );
    (head + BODY, hash)
}

/// Steps of a statement and of the values behind it.
fn steps(line: u16, values: &[(u32, &[u8])]) -> Vec<u8> {
    let (_, mut data) = packed_data(&[(1, line)]);
    for (number, bytes) in values {
        data.push(step::VALUE);
        RecordedValue::new(*number, bytes).operands(|byte| data.push(byte));
    }
    data
}

/// A ring with values, its map and its directory.
fn dir(flags: u8) -> Dir {
    let dir = Dir::new();
    let (text, map_hash) = map();
    dir.write("xhist.map", text);
    dir.write("ring.bin", ring(map_hash, flags, 0x1092));
    dir
}

/// A ring in which `size` has this value.
fn ring(map_hash: u64, flags: u8, size: u16) -> Vec<u8> {
    let (page, _) = packed_data(&[(1, 3)]);
    let of_entry = steps(3, &[(5, &size.to_le_bytes()), (6, &[7])]);
    let elsewhere = steps(6, &[(7, &[0xAB; 4]), (99, &[1])]);
    let mut late = vec![step::VALUE];
    RecordedValue::new(6, &[8]).operands(|byte| late.push(byte));
    let ring = RingImage { map_hash, ..RingImage::bare(1024) };
    let ring = ring.packed_frame(0, page, &[of_entry, elsewhere].concat());
    let mut image = ring.packed_frame(0, page, &late).build();
    // The recorder sets it at run time.
    image[15] |= flags;
    image
}

fn shown(args: &[&str]) -> Outcome {
    let file = &["ring.bin", "--map", "xhist.map"];
    dir(Flags::VALUES.0).run(&[args, file].concat())
}

#[test]
fn values_follow_their_entries() {
    let outcome = shown(&[]);
    assert_eq!(
        outcome.out,
        "1 src/a.rs:3  size = 0x92 0x10 (2 bytes), len = 0x07 (1 byte)\n\
         2 src/a.rs:6  a.rs:8: secret = 0xab 0xab 0xab 0xab (4 bytes), value#99 = 0x01 (1 byte), \
         a.rs:4: len = 0x08 (1 byte)\n"
    );
    assert!(
        outcome.notes.contains("--program FILE") && outcome.notes.lines().count() == 1,
        "{}",
        outcome.notes
    );
    assert_eq!(outcome.code, 0);
}

/// Without the flag in the header they are shown, too, but not with their entry.
#[test]
fn values_without_an_entry_have_no_number() {
    let outcome = dir(0).run(&["ring.bin", "--map", "xhist.map"]);
    assert!(outcome.out.starts_with("1 src/a.rs:3\n  a.rs:2: size = "), "{}", outcome.out);
    let outcome = dir(0).run(&["ring.bin", "--map", "xhist.map", "--format", "json"]);
    assert!(outcome.out.contains(r#"{"kind":"values","ring":1,"values":[{"name":"size""#), "{}", outcome.out);
}

#[test]
fn selected_entries_keep_their_values() {
    for args in [&["--last", "1"][..], &["--only", "src/a.rs:6"]] {
        let outcome = shown(args);
        assert!(outcome.out.starts_with("1 src/a.rs:6  a.rs:8: secret = "), "{}", outcome.out);
        assert!(!outcome.out.contains("size"), "{}", outcome.out);
    }
}

#[test]
fn redacted_values_are_in_no_format() {
    for command in
        [&["history"][..], &["history", "--format", "json"], &["calls"], &["calls", "--format", "json"]]
    {
        for pattern in ["secret", "parse::secret", "parse", "src/", "**"] {
            let outcome = shown(&[command, &["--redact", pattern]].concat());
            let text = outcome.out.to_lowercase();
            assert!(!text.contains("0xab") && !text.contains("abab"), "{pattern}: {text}");
            // A value that no map names may be any.
            assert!(!text.contains("0x01") && !text.contains("\"01\""), "{pattern}: {text}");
        }
    }
    assert!(shown(&["--redact", "secret"]).out.contains("secret = <redacted>"));
    assert!(shown(&["--redact", "other"]).out.contains("len = 0x07"));
}

#[test]
fn the_header_says_that_there_are_values() {
    assert!(shown(&["builds"]).out.contains("values:"));
    assert!(shown(&["--format", "json"]).out.contains(r#""values":true"#));
    assert!(!dir(0).run(&["builds", "ring.bin", "--map", "xhist.map"]).out.contains("values:"));
}

#[test]
fn diff_shows_the_value_of_each_side() {
    let dir = dir(Flags::VALUES.0);
    dir.write("other.bin", ring(map().1, Flags::VALUES.0, 0x2233));
    let text = dir.run(&["diff", "ring.bin", "other.bin", "--map", "xhist.map"]).out;
    let sides: Vec<&str> = text.lines().filter(|line| line.starts_with("    ")).collect();
    assert_eq!(sides, ["    GOOD  0x92 0x10 (2 bytes)", "    BAD   0x33 0x22 (2 bytes)"], "{text}");
    let json = dir.run(&["diff", "ring.bin", "other.bin", "--map", "xhist.map", "--format", "json"]).out;
    let value = json.lines().find(|line| line.contains(r#""kind":"value""#)).expect(&json);
    assert!(value.ends_with(r#""good":"0x92 0x10 (2 bytes)","bad":"0x33 0x22 (2 bytes)"}"#), "{json}");
}
