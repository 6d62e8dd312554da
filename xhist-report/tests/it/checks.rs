//! Are broken rules of order printed with the history that proves them, and nothing else?

use qs_core::map::Hash;

use crate::golden::check;
use crate::support::{Dir, RingImage};

const SOURCE: &str = "\
fn main() {
    add(1);
    add(2);
}
// xhist exclusive TRUE
fn add(change: i32) {
    let old = read();
    write(old + change);
}
// xhist exclusive FALSE
// xhist expect main.rs:2..main.rs:3
fn handler() {
    add(3);
}
";

/// A map of `src/main.rs` in this directory. Version 2 does not say what statements call.
fn map(root: &str, version: u32) -> (String, u64) {
    let mut body = "{\"file\":1,\"path\":\"src/main.rs\",\"base\":0}\n".to_owned();
    for (path, at, end) in [("main", "1:11", "4:2"), ("add", "6:21", "9:2"), ("handler", "12:14", "14:2")] {
        body += &format!("{{\"fn\":1,\"path\":\"{path}\",\"at\":\"{at}\",\"end\":\"{end}\"}}\n");
    }
    for (line, function, calls) in [
        (2, "main", "add"),
        (3, "main", "add"),
        (7, "add", "read"),
        (8, "add", "write"),
        (13, "handler", "add"),
    ] {
        let end = SOURCE.lines().nth(line - 1).unwrap().len() + 1;
        body += &format!(
            "{{\"stmt\":1,\"line\":{line},\"col\":5,\"end\":\"{line}:{end}\",\"kind\":\"expr\",\"fn\":\"{function}\",\"calls\":\"{calls}\"}}\n"
        );
    }
    let mut hash = Hash::new();
    hash.update(body.as_bytes());
    let hash = hash.finish();
    (
        format!(
            "{{\"xhist\":\"map\",\"version\":{version},\"hash\":\"{hash:016x}\",\"root\":\"{root}\",\"tool\":\"t\"}}\n{body}"
        ),
        hash,
    )
}

/// A project with a dump whose two threads ran these lines.
fn project(version: u32, main: &[u16], worker: &[u16]) -> Dir {
    let dir = Dir::new();
    let (map, hash) = map(dir.path().to_str().unwrap(), version);
    dir.write("Cargo.toml", "[package]\nname = \"app\"\n");
    dir.write("target/xhist/xhist.map", map);
    dir.write("src/main.rs", SOURCE);
    let ring = |tid, name, lines: &[u16]| {
        let lines: Vec<(u16, u16)> = lines.iter().map(|line| (1, *line)).collect();
        RingImage { map_hash: hash, ..RingImage::hosted(4096, 7, tid, name) }.statements(&lines).build()
    };
    dir.write("dump.bin", [ring(7, "main", main), ring(8, "worker", worker)].concat());
    dir
}

const BROKEN: &[u16] = &[2, 7, 13, 7, 8, 8, 2, 7, 8];

#[test]
fn broken_rules_are_printed_with_their_proof() {
    let dir = project(3, BROKEN, &[3, 7, 8]);
    for (name, args) in [
        ("order.text", &["order"][..]),
        ("order.json", &["order", "--format", "json"]),
        ("order.thread", &["order", "--thread", "worker"]),
        ("order.expect", &["order", "--expect", "app::handler..main.rs:3", "--thread", "main"]),
    ] {
        let outcome = dir.run(&[args, &["dump.bin"]].concat());
        check(
            &format!("{name}.txt"),
            &format!("{}---\n{}exit {}\n", outcome.out, outcome.notes, outcome.code),
        );
    }
}

#[test]
fn rules_come_from_the_command_line_and_from_files() {
    let dir = project(3, BROKEN, &[3, 7, 8]);
    dir.write("rules.txt", "# of the team\nexclusive handler\n\nexpect add..handler\n");
    let outcome = dir.run(&["order", "dump.bin", "--rules", "rules.txt"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.out.contains("expect add..handler: "), "{}", outcome.out);
    assert!(outcome.notes.contains("checked 1 exclusive section, 2 expectations"), "{}", outcome.notes);
    dir.write("wrong.txt", "exclusive handler\nalways handler\n");
    for (args, text) in [
        (
            &["order", "--rules", "wrong.txt"][..],
            "wrong.txt:2: `always handler`: a rule starts with `expect` or `exclusive`",
        ),
        (&["order", "--rules", "none.txt"], "cannot read the rules none.txt"),
        (&["order", "--expect", "main"], "`main` is not of the form A..B"),
        (&["order", "--exclusive", ""], "is not a pattern"),
        (&["order", "--expect", "main..nothing"], "--expect nothing matches no file, crate or function"),
        (&["order", "--only", "main"], "unexpected argument '--only'"),
        (&["order", "--last", "5"], "--last"),
    ] {
        let outcome = dir.run(&[args, &["dump.bin"]].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?} {}", outcome.notes);
        assert!(outcome.notes.contains(text), "{args:?} {}", outcome.notes);
    }
}

#[test]
fn rules_that_are_kept_are_counted_and_nothing_is_printed() {
    let dir = project(3, &[2, 7, 8, 3, 7, 8], &[3, 7, 8]);
    let outcome = dir.run(&["order", "dump.bin"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, ""));
    let text =
        "checked 1 exclusive section, 1 expectation, and 0 statements that take a lock (0 pairs of locks)";
    assert!(outcome.notes.contains(text), "{}", outcome.notes);
}

#[test]
fn what_cannot_be_checked_is_said() {
    let old = project(2, BROKEN, &[]);
    let outcome = old.run(&["order", "dump.bin"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (1, ""));
    assert!(outcome.notes.contains("`order` needs a map that describes the code"), "{}", outcome.notes);
    // Comments are in the sources only.
    let dir = project(3, BROKEN, &[]);
    dir.write("src/main.rs", format!("// A new line.\n{SOURCE}"));
    let outcome = dir.run(&["order", "dump.bin"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, ""), "{}", outcome.notes);
    assert!(outcome.notes.contains("1 source is not here as built"), "{}", outcome.notes);
    assert_eq!(dir.run(&["order", "dump.bin", "--exclusive", "add"]).code, 1);
    // A comment that is not a rule.
    let dir = project(3, BROKEN, &[]);
    dir.write("src/main.rs", SOURCE.replace("main.rs:2..main.rs:3", "main.rs:2"));
    let outcome = dir.run(&["order", "dump.bin"]);
    assert!(
        outcome.notes.contains("src/main.rs:11: `main.rs:2` is not of the form A..B"),
        "{}",
        outcome.notes
    );
}
