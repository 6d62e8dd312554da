//! Does `builds` report which build a dump came from, and whether its sources have changed?

use std::time::{Duration, SystemTime};

use qs_core::map::Hash;

use crate::support::{Dir, Outcome, RingImage, map_of_spans, map_text};

const SOURCE: &str = "fn main() {\n    first();\n    second();\n}\n";

/// A map of `src/main.rs` as above.
fn map_of_source(root: &str) -> (String, u64) {
    map_of_spans(root, "src/main.rs", &[(2, 13, "main"), (3, 14, "main")])
}

fn dump(map_hash: u64) -> Vec<u8> {
    let ring = RingImage { map_hash, clock_hz: 1000, ..RingImage::hosted(4096, 77, 78, "worker") };
    ring.statements(&[(1, 2), (1, 3)]).build()
}

/// A project with its map, both an hour old, and a dump of it.
struct Project {
    dir: Dir,
    hash: u64,
}

impl Project {
    fn new() -> Project {
        let dir = Dir::new();
        let (map, hash) = map_of_source(dir.path().canonicalize().unwrap().to_str().unwrap());
        let project = Project { dir, hash };
        project.write("src/main.rs", SOURCE, 3700);
        project.write("target/xhist/xhist.map", &map, 3600);
        project.write(&format!("target/xhist/maps/{hash:016x}.map"), &map, 3600);
        project.dir.write("dump.bin", dump(hash));
        project
    }

    /// Writes a file with a time that many seconds ago.
    fn write(&self, name: &str, text: &str, age: u64) {
        let path = self.dir.write(name, text);
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }

    fn identify(&self, more: &[&str]) -> Outcome {
        self.dir.run(&[&["builds", "dump.bin"], more].concat())
    }
}

#[track_caller]
fn assert_reports(outcome: &Outcome, code: u8, facts: &[&str]) {
    assert_eq!(outcome.code, code, "{}{}", outcome.out, outcome.notes);
    for fact in facts {
        assert!(outcome.out.contains(fact), "{fact:?} in\n{}", outcome.out);
    }
}

#[test]
fn the_current_build() {
    let project = Project::new();
    let outcome = project.identify(&[]);
    let build = format!("build {:016x}\n", project.hash);
    let map = format!("target/xhist/maps/{:016x}.map\n", project.hash);
    assert_reports(&outcome, 0, &[&build, &map, "by xhist test\n", "1 file, 2 statements\n"]);
    assert_reports(&outcome, 0, &["the current build\n", "sources:  unchanged since\n", "process:  77\n"]);
    assert_reports(
        &outcome,
        0,
        &[
            "ring 1:   thread worker (78), running or killed, 4096 bytes at offset 0x0, layout 4, 1000 ticks a second\n",
        ],
    );
    assert_eq!(outcome.notes, "");
    assert!(!outcome.out.contains("src/main.rs"), "no entries: {}", outcome.out);
}

#[test]
fn an_older_build_whose_sources_moved_on() {
    let project = Project::new();
    let root = project.dir.path().canonicalize().unwrap();
    let (newer, hash) = map_text(root.to_str().unwrap(), &[(1, "src/main.rs", 0), (2, "src/new.rs", 0)]);
    project.write("target/xhist/xhist.map", &newer, 60);
    project.write("src/main.rs", &SOURCE.replace("    second", "    // More.\n    second"), 100);
    let current = format!("an older build; the current one is {hash:016x}\n");
    let facts =
        [current.as_str(), "0 of 1 unchanged since\n", "src/main.rs: the statement of line 3 is elsewhere\n"];
    assert_reports(&project.identify(&[]), 0, &facts);
    // The history is that of the old map; text that would mislead is left out.
    let history = project.dir.run(&["dump.bin", "--source"]);
    assert_eq!((history.code, history.out.as_str()), (0, "1 src/main.rs:2\t\n2 src/main.rs:3\t\n"));
    assert_eq!(history.notes.matches("has changed since this build").count(), 1, "{}", history.notes);
}

/// The text of the build is kept beside its map.
#[test]
fn the_text_of_the_build_is_shown_when_the_file_has_changed() {
    let dir = Dir::new();
    let hash_of = |text: &str| {
        let mut hash = Hash::new();
        hash.update(text.as_bytes());
        hash.finish()
    };
    let (map, old_hash) = map_of_source(dir.path().canonicalize().unwrap().to_str().unwrap());
    let (head, body) = map.split_once('\n').unwrap();
    let source = hash_of(SOURCE);
    let body = body.replacen("}\n", &format!(",\"source\":\"{source:016x}\"}}\n"), 1);
    let hash = hash_of(&body);
    let head = head.replace(&format!("{old_hash:016x}"), &format!("{hash:016x}"));
    dir.write("xhist.map", format!("{head}\n{body}"));
    dir.write("dump.bin", dump(hash));
    let kept = format!("xhist.map.d/{source:016x}.source");
    let text = "1 src/main.rs:2\tfirst();\n2 src/main.rs:3\tsecond();\n";
    let shown = |notes: &str| {
        let outcome = dir.run(&["dump.bin", "--source"]);
        assert_eq!((outcome.code, outcome.out.as_str()), (0, text), "{}", outcome.notes);
        assert_eq!(outcome.notes, notes);
    };
    let changed =
        "xhist-report: note: src/main.rs has changed since this build: the text of the build is shown\n";
    // Unchanged, also when it was written again after the dump.
    dir.write("src/main.rs", SOURCE);
    shown("");
    dir.write(&kept, SOURCE);
    for (edited, notes) in [
        (format!("// One more line.\n{SOURCE}"), changed),
        (SOURCE.replace("second", "s_cond"), changed),
        (SOURCE.replace("first", "::xhist_rt::s(0x1_0002_0a01);first"), ""),
        (SOURCE.replace("first", "::xhist_rt::s(0x1_0002_0a01);f_rst"), changed),
    ] {
        dir.write("src/main.rs", edited);
        shown(notes);
    }
    for args in [&["answer", "dump.bin"][..], &["page", "dump.bin"]] {
        let outcome = dir.run(args);
        assert_eq!(outcome.notes.matches(changed).count(), 1, "{args:?}: {}", outcome.notes);
    }
    assert!(dir.run(&["answer", "dump.bin"]).out.contains("first();"));
    assert_reports(&dir.run(&["builds", "dump.bin"]), 0, &["unchanged since"]);
    // A missing file: what is kept is the text of the build.
    std::fs::remove_file(dir.path().join("src/main.rs")).unwrap();
    shown("");
    // A copy that was edited is not.
    dir.write(&kept, SOURCE.replace("first", "f_rst"));
    let damaged = dir.run(&["dump.bin", "--source"]);
    assert_eq!(damaged.out, "1 src/main.rs:2\t\n2 src/main.rs:3\t\n");
    assert!(damaged.notes.contains("no source text of src/main.rs"), "{}", damaged.notes);
}

#[test]
fn an_edit_that_was_taken_back_does_not_count() {
    let project = Project::new();
    project.write("src/main.rs", SOURCE, 100);
    // The kept map stays as old as it is; the project's own is written when the build changes.
    let own = std::fs::read_to_string(project.dir.path().join("target/xhist/xhist.map")).unwrap();
    project.write("target/xhist/xhist.map", &own, 60);
    assert_reports(&project.identify(&[]), 0, &["the current build\n", "sources:  unchanged since\n"]);
}

#[test]
fn sources_that_were_only_written_again() {
    let project = Project::new();
    project.write("src/main.rs", &SOURCE.replace("second", "s_cond"), 100);
    let facts = ["the current build\n", "src/main.rs: written after the map, no statement has moved\n"];
    assert_reports(&project.identify(&[]), 0, &facts);
    // The dump is newer still, so a build of the same statements may have made it.
    let history = project.dir.run(&["dump.bin", "--source"]);
    assert_eq!(
        (history.out.as_str(), history.notes.as_str()),
        ("1 src/main.rs:2\tfirst();\n2 src/main.rs:3\ts_cond();\n", "")
    );
    project.dir.write("src/main.rs", SOURCE);
    let dump = std::fs::File::options().write(true).open(project.dir.path().join("dump.bin")).unwrap();
    dump.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    let history = project.dir.run(&["dump.bin", "--source"]);
    assert!(history.notes.contains("src/main.rs was written after the dump"), "{}", history.notes);
    assert_eq!(history.code, 0);
    std::fs::remove_file(project.dir.path().join("src/main.rs")).unwrap();
    assert_reports(&project.identify(&[]), 0, &["sources:  not here\n"]);
}

#[test]
fn sources_instrumented_in_place_are_what_the_map_was_made_from() {
    let project = Project::new();
    let instrumented = SOURCE
        .replace("first", "::xhist_rt::s(0x1_0002_0a01);first")
        .replace("second", "::xhist_rt::s(0x1_0003_0a01);second");
    project.write("src/main.rs", &instrumented, 100);
    assert_reports(&project.identify(&[]), 0, &["sources:  unchanged since\n"]);
    project.write(
        "src/main.rs",
        &instrumented.replace("    ::xhist_rt::s(0x1_0003_0a01)", "\n    ::xhist_rt::s(0x1_0003_0a01)"),
        100,
    );
    assert_reports(&project.identify(&[]), 0, &["src/main.rs: the statement of line 3 is elsewhere\n"]);
}

#[test]
fn a_build_of_elsewhere_is_reported_with_what_to_do() {
    let project = Project::new();
    project.dir.write("dump.bin", dump(0xABC));
    let known = format!("here:     {:016x} of ", project.hash);
    let facts =
        ["build 0000000000000abc\n", "map:      not found\n", "searched: ", known.as_str(), "--map FILE"];
    assert_reports(&project.identify(&[]), 1, &facts);
    // A map that is named belongs to it or does not.
    let (map, hash) = map_text("/other", &[(1, "a.rs", 0)]);
    project.dir.write("given.txt", map);
    assert_reports(&project.identify(&["--map", "given.txt"]), 1, &["map:      not found\n", "of /other"]);
    project.dir.write("dump.bin", dump(hash));
    let facts = ["map:      given.txt\n", "project:  /other\n", "age:      not known"];
    assert_reports(&project.identify(&["--map", "given.txt"]), 0, &facts);
    assert_eq!(project.identify(&["--map", "missing.map"]).code, 2);
    let empty = Dir::new();
    empty.write("dump.bin", dump(1));
    assert_reports(&empty.run(&["builds", "dump.bin"]), 1, &["no map of any build\n"]);
}

#[test]
fn a_ring_without_a_hash_and_one_without_entries() {
    let project = Project::new();
    project.dir.write("dump.bin", RingImage::bare(256).statement(1, 1).build());
    let facts = ["build not known\n", "process:  not known\n", "owner not known"];
    assert_reports(&project.identify(&[]), 1, &facts);
    project.dir.write("dump.bin", RingImage { map_hash: project.hash, ..RingImage::bare(256) }.build());
    assert_reports(&project.identify(&[]), 0, &["the current build\n"]);
    project.dir.write("dump.bin", "nothing");
    assert_eq!(project.identify(&[]).code, 3);
}

#[test]
fn each_build_is_reported_once_with_all_its_rings() {
    let project = Project::new();
    let (map, other) = map_text("/other", &[(1, "a.rs", 0)]);
    project.dir.write("other.map", map);
    project.dir.write("dump.bin", [dump(project.hash), dump(other), dump(project.hash)].concat());
    let outcome = project.identify(&["--format", "json"]);
    assert_eq!(outcome.code, 0, "{}", outcome.notes);
    let lines: Vec<serde_json::Value> =
        outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["schema"], &lines[0]["kind"]), (&2.into(), &"report".into()));
    let builds: Vec<_> = lines.iter().filter(|line| line["kind"] == "build").collect();
    assert_eq!(builds.len(), 2, "{}", outcome.out);
    let own = builds.iter().find(|build| build["map"] == format!("{:016x}", project.hash)).unwrap();
    assert_eq!((&own["known"], &own["current"]), (&true.into(), &true.into()));
    let statements = (own["files"].as_u64(), own["statements"].as_u64());
    assert_eq!(statements, (Some(1), Some(2)));
    assert!(own["rings"].as_array().is_some_and(|rings| rings.contains(&3.into())), "{own}");
    let foreign = builds.iter().find(|build| build["root"] == "/other").unwrap();
    assert_eq!(foreign["missing"], serde_json::json!(["a.rs"]));
    assert_eq!(lines.last().unwrap()["complete"], true);
}

#[test]
fn an_edited_map_is_reported_here_too() {
    let project = Project::new();
    let path = project.dir.path().join(format!("target/xhist/maps/{:016x}.map", project.hash));
    let map = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, map.replace("main.rs", "mine.rs")).unwrap();
    let outcome = project.identify(&[]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.notes.contains("was edited or damaged"), "{}", outcome.notes);
}
