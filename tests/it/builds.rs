//! Does a dump show which build it came from, and can it still be read when the project has moved on?

use std::path::{Path, PathBuf};

use xhist_tests::{Case, Done, Tree, cargo, instrument, line_of, report, repository};

use crate::in_place::add_recorder;

pub const CASES: &[Case] = &[
    Case::new("an_older_dump_is_read_with_the_map_of_its_build", two_builds),
    Case::new("a_dump_of_elsewhere_says_what_to_do", foreign_dump),
    Case::new("a_build_that_was_instrumented_in_place_is_known", in_place),
];

/// Runs the program, which ends in an abort, and keeps its rings beside the project's build output.
fn run(tree: &Tree, name: &str) -> PathBuf {
    let file = tree.join(name);
    cargo(tree.path()).args("xhist run --quiet").env("XHIST_FILE", &file).done().expect(128 + 6);
    file
}

fn identify(directory: &Path, file: &Path) -> Done {
    report(directory).args("builds").arg(file).done()
}

/// The hash in the first line of what `builds` prints.
#[track_caller]
fn build_of(done: &Done) -> String {
    let hash = done.stdout.lines().next().and_then(|line| line.strip_prefix("build "));
    done.check(hash.is_some_and(|hash| hash.len() == 16), "the build comes first");
    hash.unwrap_or_default().to_owned()
}

fn two_builds() {
    let tree = Tree::copy_of(&repository().join("samples/critical-section"));
    let older = run(&tree, "older.xhist");
    let entered = line_of(&tree.join("src/crit_section.rs"), "let waiting = read()");
    let add = format!("src/crit_section.rs:{entered}\tlet waiting = read();");
    let before = report(tree.path()).arg(&older).succeed().stdout;

    // Lines above the statements of one file; the others stay as they are.
    tree.replace(
        "src/event_handlers.rs",
        "    crit_section::add(1);",
        "    // One.\n    // Two.\n    crit_section::add(1);",
    );
    let newer = run(&tree, "newer.xhist");
    let (old, new) = (identify(tree.path(), &older).expect(0), identify(tree.path(), &newer).expect(0));
    let (old_hash, new_hash) = (build_of(&old), build_of(&new));
    assert_ne!(old_hash, new_hash, "two builds");
    new.check(new.stdout.contains("this is the current build\n"), "the newer build is the current one");
    new.check(new.stdout.contains("sources:  unchanged since\n"), "nothing has changed since");
    let kept = tree.join(&format!("target/xhist/maps/{old_hash}.map"));
    let named = old.stdout.contains(&format!("map:      {}\n", kept.display()));
    old.check(named, "the kept map of the older build is named");
    let current = format!("an older build; the current one is {new_hash}\n");
    old.check(old.stdout.contains(&current), "the current build is named");
    let moved = "src/event_handlers.rs: the statement of line 12 is elsewhere\n";
    old.check(old.stdout.contains(moved), "the file that changed is named");

    let after = report(tree.path()).arg(&older).succeed();
    assert_eq!(after.stdout, before, "the older dump reads as before the edit");
    after.check(after.stderr.is_empty(), "without a word");
    let text = report(tree.path()).arg(&older).args("--source").succeed();
    text.check(text.stdout.contains(&add), "text of a file that has not changed");
    let shown = text.stdout.lines().filter(|line| line.contains(" src/event_handlers.rs:"));
    let shown: Vec<&str> = shown.collect();
    text.check(
        shown.iter().any(|line| line.ends_with("src/event_handlers.rs:12\tcrit_section::add(1);")),
        "the text of the older build, at its lines",
    );
    text.check(
        text.stderr.ends_with(
            "src/event_handlers.rs has changed since this build: the text of the build is shown\n",
        ),
        "and a note",
    );
    let new_text = report(tree.path()).arg(&newer).args("--source").succeed();
    new_text.check(new_text.stdout.contains("\tcrit_section::add(1);\n"), "text of the current build");
    new_text.check(new_text.stderr.is_empty(), "no note");
}

fn foreign_dump() {
    let tree = Tree::copy_of(&repository().join("samples/critical-section"));
    let file = run(&tree, "history.xhist");
    let field = Tree::empty("field");
    let dump = field.join("dump.bin");
    std::fs::copy(file, &dump).expect("a copy");
    let unknown = identify(field.path(), &dump).expect(1);
    let hash = build_of(&unknown);
    let map = format!("target/xhist/maps/{hash}.map");
    for fact in ["map:      not found\n", "searched: ", "--map FILE", &map] {
        unknown.check(unknown.stdout.contains(fact), fact);
    }
    let map = tree.join(&map);
    let known = report(field.path()).args("builds --map").arg(&map).arg(&dump).succeed();
    let project = format!("project:  {}\n", tree.path().display());
    known.check(known.stdout.contains(&project), "the project it was built from");
    known.check(known.stdout.contains("sources:  unchanged since\n"), "which is here");

    // In a script: what is known, of which rings.
    let json = report(field.path()).args("builds --format json --map").arg(&map).arg(&dump).succeed();
    let lines =
        json.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let builds: Vec<_> = lines.filter(|line| line["kind"] == "build").collect();
    assert_eq!(builds.len(), 1, "one build");
    assert_eq!((&builds[0]["map"], &builds[0]["rings"][0]), (&hash.as_str().into(), &1.into()));
}

fn in_place() {
    let tree = Tree::copy_of(&repository().join("samples/thread-pool"));
    add_recorder(&tree, r#""std", "trace""#);
    instrument(tree.path()).args("src/").succeed();
    let file = tree.join("history.xhist");
    cargo(tree.path()).args("run --quiet").env("XHIST_FILE", &file).succeed();
    let done = identify(tree.path(), &file).expect(0);
    let map = format!("map:      {}\n", tree.join("xhist.map").display());
    done.check(done.stdout.contains(&map), "the map beside the manifest");
    for fact in ["this is the current build\n", "sources:  unchanged since\n", "thread main ("] {
        done.check(done.stdout.contains(fact), fact);
    }
    // Edited and not instrumented again: what is recorded is no longer where it says.
    tree.replace("src/pool.rs", "let sender = words[1];", "let sender =\n        words[1];");
    let done = identify(tree.path(), &file).expect(0);
    done.check(done.stdout.contains("src/pool.rs: the statement of line "), "the file that changed is named");
}
