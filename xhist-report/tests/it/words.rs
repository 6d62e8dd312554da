//! Are words rings reported as any other ring: whole, live and damaged, with the handlers of their threads in place?

use std::io::{BufRead, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use qs_core::map::Hash;
use qs_core::record::{EventKind, Statement};
use serde_json::Value;

use crate::support::{Dir, Outcome, outcome, report};
use crate::words_model::Model;

fn model(size: usize) -> Model {
    Model { pid: 0, tid: 7, name: "main", rings: 1, ..Model::new(size) }
}

/// Statements of file 1 by long words.
fn run(model: &mut Model, lines: impl IntoIterator<Item = u16>) {
    for line in lines {
        model.check();
        model.statement(Statement { file: 1, line }, 0);
    }
}

fn numbered(model: &mut Model, numbers: impl IntoIterator<Item = u32>) {
    for number in numbers {
        model.check();
        model.statement(Statement { file: 1, line: number as u16 }, number);
    }
}

fn lines(outcome: &Outcome) -> Vec<&str> {
    outcome.out.lines().map(|line| line.split_once(' ').map_or(line, |(_, rest)| rest)).collect()
}

/// A map of one file, `src/a.rs`, whose statements have the numbers from `first` on.
fn map(first: u32, lines: &[u32]) -> (String, u64) {
    let mut body = format!("{{\"file\":1,\"path\":\"src/a.rs\",\"base\":0,\"first\":{first},\"room\":50}}\n");
    for line in lines {
        body += &format!(
            "{{\"stmt\":1,\"line\":{line},\"col\":5,\"end\":\"{line}:9\",\"kind\":\"expr\",\"fn\":\"f{}\"}}\n",
            line / 10
        );
    }
    let mut hash = Hash::new();
    hash.update(body.as_bytes());
    let hash = hash.finish();
    let head = format!(
        "{{\"xhist\":\"map\",\"version\":3,\"hash\":\"{hash:016x}\",\"root\":\"/p\",\"tool\":\"0\"}}\n"
    );
    (head + &body, hash)
}

#[test]
fn a_ring_is_listed_and_loops_are_one_line() {
    let mut ring = model(1 << 16);
    run(&mut ring, [1, 2, 3]);
    run(&mut ring, (0..30_000).map(|n| 10 + n % 3));
    run(&mut ring, [4]);
    let outcome = report(&ring.image());
    assert_eq!((outcome.code, outcome.notes.contains("lost")), (0, false), "{}", outcome.notes);
    let all = lines(&outcome);
    assert_eq!(&all[..4], ["file#1:1", "file#1:2", "file#1:3", "file#1:10"]);
    assert_eq!(all.last(), Some(&"file#1:4"));
    let folded: Vec<_> = outcome.out.lines().filter(|line| line.starts_with("...")).collect();
    assert!(matches!(folded[..], [one] if one.ends_with(" in file#1")), "{folded:?}");
}

#[test]
fn statements_are_named_by_their_numbers_and_without_a_map_by_those_alone() {
    let dir = Dir::new();
    let (text, map_hash) = map(20, &[5, 6, 17, 18]);
    let mut ring = Model { map_hash, ..model(1 << 14) };
    numbered(&mut ring, [20, 22]);
    numbered(&mut ring, (0..30_000).map(|n| 20 + n % 3));
    numbered(&mut ring, [23, 24]);
    dir.write("ring", ring.image());
    let bare = dir.run(&["ring"]);
    assert_eq!(bare.code, 1, "{}", bare.notes);
    assert!(bare.notes.contains(&format!("built with map {map_hash:016x}: name it")), "{}", bare.notes);
    assert!(bare.notes.contains("shown by number, because only a map has their files"), "{}", bare.notes);
    assert_eq!(&lines(&bare)[..2], ["statement 20", "statement 22"], "{}", bare.notes);
    assert!(bare.out.contains("\n... statements 20-22 x "), "{}", bare.out);
    let json = dir.run(&["ring", "--format", "json"]);
    let entries: Vec<Value> = json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| entries.iter().find(|entry| entry["kind"] == kind).unwrap().clone();
    assert_eq!(
        (of("statement")["number"].clone(), of("statement")["file_id"].clone()),
        (20.into(), Value::Null)
    );
    let place = &of("again")["places"][0];
    assert_eq!((place["first"].clone(), place["file_id"].clone()), (20.into(), Value::Null));

    dir.write("xhist.map", &text);
    let named = dir.run(&["ring"]);
    assert_eq!(&lines(&named)[..2], ["src/a.rs:5", "src/a.rs:17"]);
    assert!(
        named.out.contains("\n... lines 5-17 x ") && named.out.contains(" in src/a.rs\n"),
        "{}",
        named.out
    );
    // The map has no fifth statement.
    let lacks = format!("shown by number, because map {map_hash:016x} does not have them");
    assert_eq!((named.code, named.notes.matches(&lacks).count()), (1, 1), "{}", named.notes);
    for args in [&["--format", "json"][..], &["--all"], &["hot"], &["answer"], &["calls"]] {
        let outcome = dir.run(&[args, &["ring"]].concat());
        assert_eq!((outcome.code, outcome.notes.contains(&lacks)), (1, true), "{args:?}: {}", outcome.notes);
    }
    assert!(dir.run(&["ring", "--format", "json"]).out.contains("\"complete\":false"));
    assert!(lines(&named).ends_with(&["src/a.rs:18", "statement 24"]), "{}", named.out);
    let lcov = dir.run(&["coverage", "ring"]);
    assert!(lcov.out.contains("DA:5,1\n") && lcov.out.contains("DA:6,1\n"), "{}", lcov.out);
    let hot = dir.run(&["hot", "ring"]);
    assert!(hot.out.contains("f0") && hot.out.contains("src/a.rs"), "{}", hot.out);

    // A file of another kind: one error, without its lines and without advice to instrument again.
    let other = dir.run(&["--map", "ring", "ring"]);
    assert!(other.code == 1 && other.notes.contains("ring is not a map of xhist"), "{}", other.notes);
    assert!(!other.notes.contains("instrument all") && !other.notes.contains("UTF-8"), "{}", other.notes);
}

/// Writes a file with a time that many seconds ago.
fn write_aged(dir: &Dir, name: &str, bytes: impl AsRef<[u8]>, age: u64) {
    let file = std::fs::File::options().write(true).open(dir.write(name, bytes)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
}

/// As a Makefile instruments: a run for each file, so `main` names the map of its own run.
#[test]
fn sources_that_were_instrumented_after_main_have_names() {
    let dir = Dir::new();
    let (first, main) = map(20, &[5, 6]);
    let mains = |text: &str| text.replacen("}\n", &format!(",\"mains\":\"1:{main:016x}\"}}\n"), 1);
    let ((second, hash), (third, _)) = (map(20, &[5, 6, 17]), map(20, &[5, 6, 17, 18]));
    write_aged(&dir, &format!("xhist.map.d/{main:016x}.map"), mains(&first), 300);
    write_aged(&dir, &format!("xhist.map.d/{hash:016x}.map"), mains(&second), 200);
    write_aged(&dir, "xhist.map", mains(&third), 100);
    let mut ring = Model { map_hash: main, ..model(1 << 14) };
    numbered(&mut ring, 20..=22);
    for (age, more) in [(150, &[][..]), (150, &["--map", "xhist.map"])] {
        write_aged(&dir, "ring", ring.image(), age);
        let outcome = dir.run(&[&["ring"], more].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.notes);
        assert_eq!(lines(&outcome), ["src/a.rs:5", "src/a.rs:6", "src/a.rs:17"]);
        let of = format!("names map {main:016x}, and sources were instrumented after its `main`");
        assert!(outcome.notes.contains(&of), "{}", outcome.notes);
        assert!(outcome.notes.contains(&format!("later map {hash:016x}")), "{}", outcome.notes);
    }
    assert_eq!(dir.run(&["builds", "ring"]).code, 0);
    // Before these runs, `main` was all that was instrumented.
    write_aged(&dir, "ring", ring.image(), 250);
    let older = dir.run(&["ring"]);
    assert_eq!((older.code, lines(&older)), (1, vec!["src/a.rs:5", "src/a.rs:6", "statement 22"]));
    numbered(&mut ring, [23]);
    write_aged(&dir, "ring", ring.image(), 50);
    assert!(dir.run(&["ring"]).out.ends_with("src/a.rs:18\n"));
    // A map whose programs carry other hashes is that of another build.
    dir.write("xhist.map", &third);
    write_aged(&dir, "ring", ring.image(), 50);
    let other = dir.run(&["ring"]);
    assert_eq!((other.code, lines(&other).last()), (1, Some(&"statement 23")), "{}", other.notes);
}

#[test]
fn a_program_that_was_instrumented_without_any_map_gets_no_names_of_others() {
    let dir = Dir::new();
    let mut ring = Model { map_hash: qs_core::map::NO_MAP, ..model(1 << 14) };
    numbered(&mut ring, [20]);
    dir.write("ring", ring.image());
    dir.write("xhist.map", map(20, &[5]).0);
    let outcome = dir.run(&["ring"]);
    assert_eq!((outcome.code, lines(&outcome)), (1, vec!["statement 20"]));
    assert!(outcome.notes.contains("without --stdin-path"), "{}", outcome.notes);
}

/// A map of one file with these lines behind its own, whose statements have the numbers from 20 on.
fn map_of(statements: &[&str]) -> (String, u64) {
    let mut body = "{\"file\":1,\"path\":\"src/a.rs\",\"base\":0,\"first\":20,\"room\":50}\n".to_owned();
    for (col, statement) in statements.iter().enumerate() {
        let end = format!("\"col\":{},\"end\":\"5:{}\",\"kind\":\"expr\"", col * 4 + 1, col * 4 + 3);
        body += &format!("{{\"stmt\":1,\"line\":5,{end},{statement}}}\n");
    }
    let mut hash = Hash::new();
    hash.update(body.as_bytes());
    let hash = hash.finish();
    let head = "{\"xhist\":\"map\",\"version\":3,\"root\":\"/p\",\"tool\":\"0\"";
    (format!("{head},\"hash\":\"{hash:016x}\"}}\n{body}"), hash)
}

#[test]
fn of_two_statements_in_a_line_the_numbers_say_which_ran() {
    let dir = Dir::new();
    let (text, map_hash) = map_of(&["\"fn\":\"f\"", "\"fn\":\"g\"", "\"fn\":\"h\""]);
    let mut ring = Model { map_hash, ..model(1 << 14) };
    numbered(&mut ring, [21, 21, 22]);
    dir.write("ring", ring.image());
    dir.write("xhist.map", &text);
    assert_eq!(lines(&dir.run(&["ring"])), ["src/a.rs:5"; 3]);
    let lcov = dir.run(&["coverage", "ring"]).out;
    let functions: Vec<_> = lcov.lines().filter(|line| line.starts_with("FNDA")).collect();
    assert_eq!(functions, ["FNDA:0,f", "FNDA:1,g", "FNDA:1,h"]);
    assert!(lcov.contains("\nDA:5,1\nLF:1\nLH:1\n"), "{lcov}");
    let hot = dir.run(&["hot", "ring"]).out;
    let counts: Vec<Vec<&str>> = hot.lines().take(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((&counts[0][2..4], &counts[1][2..4]), (&["2", "g"][..], &["1", "h"][..]), "{hot}");
}

#[test]
fn what_is_not_recorded_is_not_said_to_have_never_run() {
    let dir = Dir::new();
    let silent = |function| format!("\"fn\":\"{function}\",\"silent\":true");
    let (f, g) = (silent("f"), silent("g"));
    let (text, map_hash) = map_of(&["\"fn\":\"f\"", &f, "\"fn\":\"g\"", &g]);
    let text = text.replace("\"line\":5,\"col\":5", "\"line\":6,\"col\":5");
    let mut hash = Hash::new();
    hash.update(text.split_once('\n').unwrap().1.as_bytes());
    let (text, map_hash) =
        (text.replace(&format!("{map_hash:016x}"), &format!("{:016x}", hash.finish())), hash.finish());
    let mut ring = Model { map_hash, ..model(1 << 14) };
    numbered(&mut ring, [20]);
    dir.write("ring", ring.image());
    dir.write("xhist.map", &text);
    let lcov = dir.run(&["coverage", "ring"]);
    let functions: Vec<_> = lcov.out.lines().filter(|line| line.starts_with("FNDA")).collect();
    assert_eq!(functions, ["FNDA:1,f", "FNDA:0,g"]);
    // Line 6 has only what is not recorded.
    assert!(lcov.out.contains("\nDA:5,1\nLF:1\nLH:1\n"), "{}", lcov.out);
    let said = "detail: function, so only 2 of 4 statements are recorded";
    assert!(lcov.notes.contains(said), "{}", lcov.notes);
    let build = dir.run(&["builds", "ring"]).out;
    assert!(build.contains("1 file, 4 statements\n  detail:   function; 2 of "), "{build}");
    let json = dir.run(&["builds", "ring", "--format", "json"]).out;
    assert!(json.contains(r#""statements":4,"detail":"function","recorded":2"#), "{json}");
}

/// A ring, and a ring for handlers that interrupted it.
fn with_lane(size: usize) -> (Model, Model) {
    let thread = Model { rings: 2, pid: 9, ..model(size) };
    let lane = Model { number: 1, lane: (1, 1), pid: 9, ..model(size) };
    (thread, lane)
}

fn handler(lane: &mut Model, of: &Model, lines: impl IntoIterator<Item = u16>) {
    lane.event(EventKind::Handler, of.cursor);
    run(lane, lines);
}

#[test]
fn handlers_are_printed_where_they_interrupted() {
    let (mut thread, mut lane) = with_lane(1 << 14);
    let mut inner = Model { number: 2, lane: (2, 2), ..lane.clone() };
    thread.is_plain = true;
    run(&mut thread, [1, 2]);
    handler(&mut lane, &thread, [100, 101]);
    handler(&mut inner, &lane, [200]);
    run(&mut lane, [102]);
    handler(&mut inner, &lane, [201]);
    run(&mut thread, [3]);
    handler(&mut lane, &thread, []);
    handler(&mut inner, &lane, [202]);
    run(&mut lane, [103]);
    thread.close();
    run(&mut thread, [4]);
    handler(&mut lane, &thread, [104]);
    let image = [inner.image(), lane.image(), thread.image()].concat();
    let whole = report(&image);
    let expected = [1, 2, 100, 101, 200, 102, 201, 3, 202, 103, 4, 104].map(|line| format!("file#1:{line}"));
    assert_eq!(lines(&whole), expected, "{}", whole.notes);
    assert_eq!(whole.code, 0, "{}", whole.notes);
    // All of them are of one thread.
    let dir = Dir::new();
    dir.write("rings", &image);
    let json = dir.run(&["rings", "--format", "json"]);
    let rings = json.out.matches("\"kind\":\"ring\"").count();
    assert_eq!((rings, json.out.matches("\"ring\":3").count()), (1, 13), "{}", json.out);
    let columns = dir.run(&["rings", "--lanes"]);
    assert_eq!(columns.out.lines().next().map(str::trim), Some("main"), "{}", columns.out);
    assert_eq!(lines(&dir.run(&["rings", "--ring", "3"])), expected);
    let alone = dir.run(&["rings", "--ring", "1"]);
    assert_eq!(lines(&alone), ["file#1:200", "file#1:201", "file#1:202"], "{}", alone.notes);
    assert_eq!(lines(&dir.run(&["rings", "--last", "3"])), &expected[9..]);
}

#[test]
fn handlers_without_statements_have_their_places_too() {
    let (mut thread, mut lane) = with_lane(1 << 14);
    let mut inner = Model { number: 2, lane: (2, 2), ..lane.clone() };
    thread.is_plain = true;
    for line in 1..5 {
        run(&mut thread, [line]);
        handler(&mut lane, &thread, []);
        handler(&mut inner, &lane, [100 + line]);
    }
    let whole = report(&[inner.image(), lane.image(), thread.image()].concat());
    let expected = [1, 101, 2, 102, 3, 103, 4, 104].map(|line| format!("file#1:{line}"));
    assert_eq!(lines(&whole), expected, "{}", whole.notes);
}

#[test]
fn a_handler_that_came_before_the_oldest_statement_comes_first() {
    let (mut thread, mut lane) = with_lane(4096);
    run(&mut thread, [1, 2]);
    handler(&mut lane, &thread, [100]);
    run(&mut thread, 1000..4000);
    handler(&mut lane, &thread, [101]);
    let whole = report(&[thread.image(), lane.image()].concat());
    let all = lines(&whole);
    assert_eq!((all[0], all.last()), ("file#1:100", Some(&"file#1:101")), "{}", whole.notes);
    let oldest = thread.truth.len() - (all.len() - 2);
    assert_eq!(all[1], format!("file#1:{}", thread.truth[oldest].line));
}

#[test]
fn a_lane_of_another_thread_is_no_part_of_this_one() {
    let (mut thread, mut lane) = with_lane(4096);
    lane.tid = 8;
    lane.name = "gone";
    run(&mut thread, [1, 2]);
    handler(&mut lane, &thread, [100]);
    let dir = Dir::new();
    dir.write("rings", [thread.image(), lane.image()].concat());
    let json = dir.run(&["rings", "--format", "json"]);
    assert!(json.out.contains("\"thread\":\"gone\"") && json.out.contains("\"line\":100"), "{}", json.out);
}

#[test]
fn what_is_not_certain_or_damaged_is_reported() {
    let mut ring = model(4096);
    run(&mut ring, 0..3000);
    let good = report(&ring.image());
    assert_eq!(good.code, 0, "{}", good.notes);
    // A byte of the open chunk becomes none of a word.
    let at = 4096 + (ring.first() as usize + 8) % 4096;
    run(&mut ring, 500..510);
    let mut image = ring.image();
    image[at] = 0x7E;
    let cut = report(&image);
    assert!(cut.code == 1 && cut.notes.contains("its open chunk is damaged"), "{}", cut.notes);
    // Any flipped bit of a closed chunk is reported, or was in what is overwritten anyway.
    let image = ring.image();
    let good = report(&image).out;
    for at in (4096..8192).step_by(13) {
        let mut image = image.clone();
        image[at] ^= 0x10;
        let bad = report(&image);
        let open = (at - 4096).wrapping_sub(ring.first() as usize) % 4096;
        let is_open = open < (ring.zeroed - ring.first()) as usize;
        let is_oldest = good.ends_with(bad.out.split_once('\n').map_or("", |(_, rest)| rest));
        assert!(is_open || is_oldest || bad.code == 1 || bad.out == good, "byte {at}");
    }
    // A recorder that was stopped inside a record has announced nothing yet.
    let mut stopped = ring.clone();
    stopped.close();
    let mut image = stopped.image();
    image[46] &= 0xE0;
    let at = 4096 + stopped.head as usize % 4096;
    image[at..at + 9].copy_from_slice(&[0, 123, 1, 2, 3, 4, 1, 4, 14]);
    let inside = report(&image);
    assert_eq!((inside.code, inside.out), (0, good.clone()), "{}", inside.notes);
    let image = ring.image();
    // So is one in the header that says where the open chunk is.
    for bit in [48, 49, 50, 51, 52, 12, 60] {
        let mut image = image.clone();
        image[40 + bit / 8] ^= 1 << (bit % 8);
        let bad = report(&image);
        assert!(bad.code == 1, "bit {bit}: {}", bad.notes);
    }
    for line in 0..500 {
        ring.statement(Statement { file: 2, line }, 0);
    }
    let overrun = report(&ring.image());
    assert!(
        overrun.code == 1 && overrun.notes.contains("what it did last is not certain"),
        "{}",
        overrun.notes
    );
}

#[test]
fn qspy_prints_the_records_of_a_stream() {
    let mut ring = model(1 << 16);
    numbered(&mut ring, 1..200);
    run(&mut ring, (0..9000).map(|n| 10 + n % 3));
    ring.event(EventKind::Started, 5);
    run(&mut ring, [1]);
    let dir = Dir::new();
    dir.write("ring", ring.image());
    let printed = dir.run(&["qspy", "ring"]);
    assert_eq!(printed.code, 0, "{}", printed.notes);
    let of = |id: &str| printed.out.lines().filter(|line| line.contains(id)).count();
    assert!(of("USER+022") > 2 && !printed.out.contains("ERROR"), "{}", printed.out);
    assert_eq!(printed.out.lines().filter(|line| line.contains("USER+023 9 ")).count(), 1, "{}", printed.out);
    assert!(printed.out.contains("USER+023 4  5"), "{}", printed.out);
}

struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_live_ring_is_followed_with_its_handlers() {
    let dir = Dir::new();
    let mut program = Program(Command::new("sleep").arg("60").spawn().unwrap());
    let (thread, lane) = with_lane(1 << 14);
    let of = |model| Model { pid: program.0.id(), ..model };
    let (mut thread, mut lane) = (of(thread), of(lane));
    thread.is_plain = true;
    run(&mut thread, [1, 2]);
    let file = |thread: &Model, lane: &Model| [thread.image(), lane.image()].concat();
    let path = dir.write("run.xhist", file(&thread, &lane));
    let mut command = dir.command(&["run.xhist", "--follow"]);
    let mut reader = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(reader.stdout.take().unwrap());
    let mut next = |count: usize| {
        let mut text = String::new();
        (0..count).for_each(|_| assert!(out.read_line(&mut text).unwrap() > 0));
        text
    };
    let write = |thread: &Model, lane: &Model| {
        use std::os::unix::fs::FileExt as _;
        let file_of = std::fs::File::options().write(true).open(&path).unwrap();
        let image = file(thread, lane);
        let size = image.len() / 2;
        // The bytes, then the words that announce them.
        for (offset, from, to) in [(0, 320, size), (size, 320, size), (0, 0, 128), (size, 0, 128)] {
            file_of.write_all_at(&image[offset + from..offset + to], (offset + from) as u64).unwrap();
        }
    };
    assert_eq!(next(2), "1 file#1:1\n2 file#1:2\n");
    // The handler came behind what is in the thread's ring so far.
    let before = thread.clone();
    run(&mut thread, [3]);
    handler(&mut lane, &thread, [100]);
    write(&before, &lane);
    std::thread::sleep(std::time::Duration::from_millis(200));
    run(&mut thread, [4]);
    write(&thread, &lane);
    assert_eq!(next(3), "3 file#1:3\n4 file#1:100\n5 file#1:4\n");
    thread.close();
    run(&mut thread, [5]);
    run(&mut lane, [101]);
    write(&thread, &lane);
    let text = next(2);
    assert!(text.contains("file#1:5\n") && text.contains("file#1:101\n"), "{text}");
    program.0.kill().unwrap();
    program.0.wait().unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let outcome = outcome(reader.wait_with_output().unwrap());
    assert_eq!((outcome.code, rest.as_str()), (0, ""), "{}", outcome.notes);
}
