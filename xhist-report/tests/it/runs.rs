//! Does the list of runs say what is kept, and can each run be read by its name?

use qs_core::record::EventKind;

use crate::support::{Dir, RingImage};

/// No process has this id.
const GONE: u32 = 4_194_305;

fn ring(tid: u32, line: u16) -> RingImage {
    RingImage::hosted(4096, GONE, tid, "main").statement(1, line)
}

/// Six runs: an old one, failed tests, a signal, a damaged description, one that was killed, one that goes on.
fn dir() -> Dir {
    let dir = Dir::new();
    let write = |run: &str, record: Option<&str>, rings: &[(&str, Vec<u8>)]| {
        let of = |name: &str| format!("target/xhist/runs/{run}/{name}");
        std::fs::create_dir_all(dir.path().join(of(""))).unwrap();
        rings.iter().for_each(|(name, bytes)| _ = dir.write(&of(name), bytes));
        record.iter().for_each(|text| _ = dir.write(&of("run.json"), text));
    };
    let old = r#"{"version":1,"command":"cargo run","started_ms":1000,"ended_ms":2000,"exit":0,"signal":null,"failed":false,"failed_rings":[]}"#;
    write("0000000001000-4194305", Some(old), &[("app-7.xhist", ring(1, 1).build())]);
    let tests = r#"{"version":1,"command":"cargo test","started_ms":86400000,"ended_ms":86400500,"exit":101,"signal":null,"failed":true,
        "failed_rings":["app-9.xhist"],"tests":[{"name":"net::reads","outcome":"failed"},{"name":"net::writes","outcome":"passed"}]}"#;
    let two = [ring(1, 2).build(), ring(2, 3).build()].concat();
    write("0000086400000-4194305", Some(tests), &[("app-8.xhist", ring(1, 4).build()), ("app-9.xhist", two)]);
    let signal = r#"{"version":1,"command":"cargo run -- \u001b[2J","started_ms":172800000,"ended_ms":172800500,"exit":null,"signal":"SIGSEGV","failed":true,"failed_rings":[]}"#;
    write("0000172800000-4194305", Some(signal), &[("tool-8.xhist", ring(1, 5).build())]);
    let panicked = ring(1, 6).event(EventKind::Panic, 0, 0);
    let panicked = RingImage { status: 4, ..panicked };
    write("0000259200000-4194305", Some("{\"version\":1,"), &[("app-8.xhist", panicked.build())]);
    write("0000345600000-4194305", None, &[]);
    write(&format!("9999999999999-{}", std::process::id()), None, &[]);
    dir
}

#[test]
fn every_run_is_listed_with_its_ending_the_newest_last() {
    let dir = dir();
    let outcome = dir.run(&["runs"]);
    assert_eq!((outcome.code, outcome.notes.as_str()), (0, ""));
    let lines: Vec<&str> = outcome.out.lines().collect();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[0]).join(" "), "RUN WHEN SIZE RINGS HOW IT ENDED COMMAND");
    let column = lines[0].find("HOW").unwrap();
    // The command of a run with a long text is below the other commands.
    assert_eq!(lines[5].find("app"), lines[0].find("COMMAND"));
    let (head, [_, rest @ ..]) = lines.split_at(5) else { panic!("{lines:?}") };
    let lines = [head, rest].concat();
    let rest: Vec<String> = lines[1..].iter().map(|line| words(&line[column..]).join(" ")).collect();
    assert_eq!(
        rest,
        [
            "exit code 0 cargo run",
            "exit code 101: 1 test failed: net::reads cargo test",
            "ended by SIGSEGV cargo run -- \\u{1b}[2J",
            "run.json cannot be read; a program panicked, crashed or was killed",
            "cargo xhist was killed; no program recorded anything",
            "running",
        ]
    );
    let firsts: Vec<String> = lines[1..4].iter().map(|line| words(line)[..2].join(" ")).collect();
    assert_eq!(
        firsts,
        [
            "0000000001000-4194305 1970-01-01T00:00:01Z",
            "0000086400000-4194305 1970-01-02T00:00:00Z",
            "0000172800000-4194305 1970-01-03T00:00:00Z",
        ]
    );
    let rings: Vec<String> = lines[1..].iter().map(|line| words(&line[..column]).pop().unwrap()).collect();
    assert_eq!(rings, ["1", "3", "1", "1", "0", "0"]);
}

#[test]
fn programs_get_the_list_as_json() {
    let dir = dir();
    let outcome = dir.run(&["runs", "--format", "json"]);
    assert_eq!(outcome.code, 0);
    let lines: Vec<serde_json::Value> =
        outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines[0]["kind"].as_str(), lines[0]["entries"].as_u64()), (Some("report"), Some(6)));
    let states: Vec<&str> = lines[1..7].iter().map(|line| line["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["ended", "failed", "failed", "damaged", "killed", "running"]);
    let tests = &lines[2];
    assert_eq!(tests["run"], "0000086400000-4194305");
    assert_eq!(tests["path"], "target/xhist/runs/0000086400000-4194305");
    assert_eq!(tests["failed_tests"], serde_json::json!(["net::reads"]));
    assert_eq!((&tests["exit"], &tests["rings"], &tests["files"]), (&101.into(), &3.into(), &2.into()));
    assert_eq!(tests["programs"], serde_json::json!(["app"]));
    assert_eq!(lines[3]["signal"], "SIGSEGV");
    assert!(tests["bytes"].as_u64().unwrap() >= 2 * 1024, "{tests}");
    assert_eq!(lines[7], serde_json::json!({"kind": "end", "entries": 6, "complete": true}));
}

#[test]
fn a_run_is_a_source_by_its_name_or_its_directory() {
    let dir = dir();
    for source in ["0000086400000-4194305", "target/xhist/runs/0000086400000-4194305"] {
        let outcome = dir.run(&[source]);
        assert_eq!(
            (outcome.code, outcome.out.as_str()),
            (0, "1 file#1:2\n2 file#1:3\n"),
            "{}",
            outcome.notes
        );
        let note = "runs/0000086400000-4194305/app-9.xhist of `cargo test`, which failed";
        assert!(outcome.notes.contains(note), "{}", outcome.notes);
        assert!(outcome.notes.contains("other ring files of that run: target/xhist/"), "{}", outcome.notes);
    }
    // A file of that name comes first.
    dir.write("0000086400000-4194305", ring(1, 77).build());
    assert_eq!(dir.run(&["0000086400000-4194305"]).out, "1 file#1:77\n");
    for (source, text) in [
        ("0000000000009-1", "cannot"),
        ("target/xhist/runs/0000345600000-4194305", "is a directory without a ring file"),
    ] {
        let outcome = dir.run(&[source]);
        assert_eq!(outcome.code, 2, "{}", outcome.notes);
        assert!(outcome.notes.contains(text), "{}", outcome.notes);
    }
}

#[test]
fn without_runs_that_is_said() {
    let dir = Dir::new();
    let outcome = dir.run(&["runs"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
    assert!(outcome.notes.contains("there is no target/xhist here or above"), "{}", outcome.notes);
    std::fs::create_dir_all(dir.path().join("target/xhist/runs")).unwrap();
    let outcome = dir.run(&["runs"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, ""));
    assert!(outcome.notes.contains("note: no run is kept in "), "{}", outcome.notes);
}

#[test]
fn the_newest_runs_have_short_names() {
    let dir = dir();
    for (name, run) in [
        ("last", "0000259200000-4194305"),
        ("-1", "0000259200000-4194305"),
        ("prev", "0000172800000-4194305"),
        ("-2", "0000172800000-4194305"),
        ("-4", "0000000001000-4194305"),
    ] {
        let (short, long) = (dir.run(&[name]), dir.run(&[run]));
        assert_eq!((short.code, &short.out, &short.notes), (long.code, &long.out, &long.notes), "{name}");
        assert!(!short.out.is_empty(), "{name}");
    }
    let diff = dir.run(&["diff", "-4", "prev"]);
    assert_eq!(diff.out, dir.run(&["diff", "0000000001000-4194305", "0000172800000-4194305"]).out);
    assert_ne!(diff.code, 2, "{}", diff.notes);
    let none = dir.run(&["-9"]);
    assert!(none.code == 2 && none.notes.contains("cannot read -9"), "{}", none.notes);
    // A file has precedence.
    dir.write("last", ring(1, 77).build());
    assert!(dir.run(&["last"]).out.contains(":77"));
}

#[test]
fn a_typo_of_a_command_is_recognised() {
    let outcome = Dir::new().run(&["answr"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.notes.ends_with("; did you mean `xhist-report answer`?\n"), "{}", outcome.notes);
}
