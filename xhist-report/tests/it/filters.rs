//! Do filters show what the user asks for, and say what they leave out?

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use qs_core::map::Hash;
use qs_core::record::EventKind;

use crate::golden::check;
use crate::support::{Dir, RingImage, outcome};

/// Two crates and three functions.
const STATEMENTS: &[(u16, u32, &str)] = &[
    (1, 2, "main"),
    (1, 3, "main"),
    (1, 7, "net::Socket::poll"),
    (1, 8, "net::Socket::poll"),
    (2, 4, "block_on"),
    (2, 5, "block_on"),
];

fn map() -> (String, u64) {
    let mut body = String::new();
    for (file, path) in [(1, "src/main.rs"), (2, "/r/registry/src/index/tokio-1.54.1/src/runtime/mod.rs")] {
        body += &format!("{{\"file\":{file},\"path\":\"{path}\",\"base\":0}}\n");
        for (_, line, function) in STATEMENTS.iter().filter(|(of, ..)| *of == file) {
            body += &format!(
                "{{\"stmt\":{file},\"line\":{line},\"col\":5,\"end\":\"{line}:9\",\"kind\":\"expr\",\"fn\":\"{function}\"}}\n"
            );
        }
    }
    let mut hash = Hash::new();
    hash.update(body.as_bytes());
    let hash = hash.finish();
    (
        format!(
            "{{\"xhist\":\"map\",\"version\":3,\"hash\":\"{hash:016x}\",\"root\":\"/p/app\",\"tool\":\"t\"}}\n{body}"
        ),
        hash,
    )
}

fn ring(tid: u32, name: &'static str) -> RingImage {
    RingImage { map_hash: map().1, clock_hz: 1_000_000, ..RingImage::hosted(4096, 7, tid, name) }
}

/// `main` and two workers, with a record, a panic and a loop of both crates.
fn busy() -> Vec<u8> {
    let record = &[0x40, 0xE2, 0x01, 0x00, 0x51, 7, 0x08, b'h', b'i', 0];
    let main = ring(7, "main")
        .timed(1_000, 1, 2)
        .timed(1_100, 1, 3)
        .timed(1_200, 1, 7)
        .frame(101, record)
        .timed(1_300, 1, 8)
        .event(EventKind::Panic, 1_400, 0);
    let worker =
        ring(8, "worker").packed(2_000, &[(1, 7), (2, 4), (2, 5)]).packed_again(0, &[(1, 8)], 1, 500_000);
    let other = ring(9, "worker").timed(3_000, 2, 4).timed(3_100, 2, 5).timed(3_200, 1, 7);
    [main.build(), worker.build(), other.build()].concat()
}

fn dir() -> Dir {
    let dir = Dir::new();
    dir.write("xhist.map", map().0);
    dir.write("dump.bin", busy());
    dir
}

/// The places of a listing, without numbers.
fn places(out: &str) -> Vec<String> {
    let short = |line: &str| line.rsplit('/').next().unwrap_or(line).to_owned();
    out.lines().map(short).collect()
}

#[test]
fn every_filter_on_every_layout() {
    let dir = dir();
    for (name, args) in [
        ("filter.only-file", &["--only", "main.rs"][..]),
        ("filter.only-crate", &["--only", "tokio", "--thread"]),
        ("filter.only-function", &["--only", "Socket::poll", "--only", "block_on", "--not", "tokio"]),
        ("filter.not-lines", &["--not", "src/main.rs:3-7"]),
        ("filter.thread", &["--thread", "worker"]),
        ("filter.threads", &["--thread", "worker*", "--last", "1", "--thread"]),
        ("filter.each", &["--last", "2", "--each", "--thread"]),
        ("filter.last", &["--last", "2", "--not", "tokio"]),
        ("filter.json", &["--only", "main.rs", "--format", "json"]),
        ("filter.lanes", &["--only", "Socket", "--lanes"]),
        ("filter.hot", &["hot", "--not", "tokio", "--thread", "2"]),
        ("filter.lcov", &["coverage", "--only", "main"]),
    ] {
        let outcome = dir.run(&[args, &["dump.bin"]].concat());
        check(
            &format!("{name}.txt"),
            &format!("{}---\n{}exit {}\n", outcome.out, outcome.notes, outcome.code),
        );
    }
}

#[test]
fn standard_input_is_filtered_as_a_file_is() {
    let dir = dir();
    let args = ["--only", "main.rs", "--thread", "main"];
    let mut command = dir.command(&[&["-"], &args[..]].concat());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&busy()).unwrap();
    let piped = outcome(child.wait_with_output().unwrap());
    let file = dir.run(&[&["dump.bin"], &args[..]].concat());
    assert_eq!((piped.code, &piped.out, &piped.notes), (0, &file.out, &file.notes));
    assert_eq!(places(&piped.out), ["main.rs:2", "main.rs:3", "main.rs:7", "main.rs:8"]);
}

#[test]
fn a_name_that_nothing_has_is_an_error() {
    let dir = dir();
    for (args, text) in [
        (
            &["--only", "nothing"][..],
            "--only nothing matches no file, crate or function of this program; its crates: app, tokio",
        ),
        (
            &["--not", "x/y.rs"],
            "--not x/y.rs matches no file, crate or function of this program; its files: /r/",
        ),
        (&["hot", "--only", "nothing"], "--only nothing matches no file"),
        (&["coverage", "--only", "nothing"], "--only nothing matches no file"),
        (&["--thread", "absent"], "no thread is called absent; the threads: main, worker, worker#2"),
        (&["--only", ""], "`` is not a pattern: it is empty"),
    ] {
        let outcome = dir.run(&[args, &["dump.bin"]].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?} {}", outcome.notes);
        assert!(outcome.notes.contains(text), "{args:?} {}", outcome.notes);
    }
    // Without a map there are no names. That is not the user's mistake.
    std::fs::remove_file(dir.path().join("xhist.map")).unwrap();
    let outcome = dir.run(&["dump.bin", "--only", "main"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (1, ""));
    assert!(outcome.notes.contains("--only needs the map of the program"), "{}", outcome.notes);
    assert_eq!(dir.run(&["dump.bin", "--thread", "main"]).code, 0);
}

#[test]
fn filters_are_refused_where_they_have_no_meaning() {
    let dir = dir();
    for (args, option) in [
        (&["qspy", "--only", "main"][..], "--only"),
        (&["qspy", "--thread", "main"], "--thread"),
        (&["coverage", "--thread", "main"], "--thread"),
        (&["traceinfo", "--not", "main"], "--not"),
        (&["builds", "--only", "main"], "--only"),
        (&["builds", "--thread"], "--thread"),
        (&["--lanes", "--thread"], "--thread"),
        (&["--ring", "1", "--thread", "main"], "--thread NAME"),
        (&["--each"], "--last"),
    ] {
        let outcome = dir.run(&[args, &["dump.bin"]].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?}");
        assert!(outcome.notes.contains(option), "{args:?} {}", outcome.notes);
    }
}

#[test]
fn nothing_left_is_said() {
    let dir = dir();
    let outcome = dir.run(&["dump.bin", "--only", "block_on", "--thread", "main"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, ""));
    let text = "note: --only block_on --thread main: nothing to show, all 5 entries are left out\n";
    assert!(outcome.notes.contains(text), "{}", outcome.notes);
}

#[test]
fn what_is_missing_is_reported_also_where_nothing_is_shown() {
    let dir = dir();
    let cut = ring(7, "main").statement(1, 2).statement(1, 3);
    let cut = RingImage { seq: cut.seq.wrapping_add(3), ..cut }.statement(1, 3).statement(2, 4);
    dir.write("cut.bin", cut.build());
    for (args, text) in [
        (&["--only", "main.rs:2"][..], "ring 1 (thread main): 3 frames missing, after entry 1"),
        (&["--only", "tokio"], "ring 1 (thread main): 3 frames missing, after entry 0"),
        (&["--only", "main", "--last", "1"], "ring 1 (thread main): 3 frames missing, before entry 1"),
        (&["--only", "tokio", "--last", "1"], "ring 1 (thread main): 3 frames missing"),
        (
            &["--only", "main.rs:2-3", "--last", "0"],
            "ring 1 (thread main): 3 frames missing, before the entries shown",
        ),
    ] {
        let outcome = dir.run(&[&["cut.bin"], args].concat());
        assert_eq!(outcome.code, 1, "{args:?}");
        assert_eq!(outcome.notes.matches("lost:").count(), 1, "{}", outcome.notes);
        assert!(outcome.notes.contains(text), "{args:?} {}", outcome.notes);
    }
}

/// Of a repetition, the statements that are shown are counted; without any it disappears.
#[test]
fn a_repetition_counts_what_is_shown_of_it() {
    let dir = dir();
    let run = |args: &[&str]| dir.run(&[&["dump.bin", "--thread", "worker"], args].concat()).out;
    assert!(run(&[]).contains("... line 7 x 500,000 in src/main.rs, 4-5 in /r/"));
    assert_eq!(
        run(&["--only", "Socket"]),
        "1 src/main.rs:7\n... line 7 x 500,000 in src/main.rs\n2 src/main.rs:8\n"
    );
    assert_eq!(run(&["--only", "main.rs:8"]), "1 src/main.rs:8\n");
    let json = run(&["--only", "tokio", "--format", "json"]);
    assert!(json.contains(r#"{"kind":"again","ring":2,"statements":2,"times":500000,"#), "{json}");
    // Its entries are not among the newest.
    assert_eq!(run(&["--only", "Socket", "--last", "1"]), "1 src/main.rs:8\n");
}

#[test]
fn a_file_that_grows_is_filtered() {
    let dir = dir();
    let mut program = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let of = |tid, name| RingImage { pid: program.id(), time_width: 0, ..ring(tid, name) };
    let main = of(7, "main").packed(0, &[(1, 2), (2, 4), (1, 3), (1, 7)]).build();
    let path = dir.write("run.xhist", &main);
    let args =
        ["run.xhist", "--follow", "--last", "2", "--not", "tokio", "--thread", "w*", "--thread", "main"];
    let mut reader = dir.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = std::io::BufReader::new(reader.stdout.take().unwrap());
    let mut next = |count: usize| {
        let mut text = String::new();
        (0..count).for_each(|_| _ = std::io::BufRead::read_line(&mut out, &mut text).unwrap());
        text
    };
    assert_eq!(next(2), "1 src/main.rs:3\n2 src/main.rs:7\n");
    let more = [of(8, "other").packed(0, &[(1, 2)]), of(9, "worker").packed(0, &[(2, 5), (1, 8)])];
    let more: Vec<u8> = more.iter().flat_map(|ring| ring.build()).collect();
    File::options().append(true).open(&path).unwrap().write_all(&more).unwrap();
    assert_eq!(next(1), "3 src/main.rs:8\n");
    program.kill().unwrap();
    program.wait().unwrap();
    let outcome = outcome(reader.wait_with_output().unwrap());
    assert_eq!(outcome.code, 0, "{}", outcome.notes);
    assert!(outcome.notes.contains(": 3 of 7 entries left out"), "{}", outcome.notes);
}

#[test]
fn a_file_behind_thread_is_the_source() {
    let dir = dir();
    let all = dir.run(&["dump.bin", "--thread"]).out;
    assert_eq!(dir.run(&["--thread", "dump.bin"]).out, all);
    dir.write("main", "not a dump");
    let main = dir.run(&["dump.bin", "--thread=main"]).out;
    assert_eq!(dir.run(&["dump.bin", "--thread", "main"]).out, main);
    assert_ne!(main, all);
}
