//! Does a program see its signals as without the recorder, although its handlers run on lanes?

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use qs_core::record::Statement;
use xhist_tests::{
    Build, Case, Done, Need, Run, Torture, Tree, finding_recorder, online_cargo, report, repository,
};

/// The program uses crates that this repository does not use.
const REGISTRY: &[Need] = &[Need::Registry];

pub const CASES: &[Case] = &[
    Case::needing("signal_actions_are_as_without_the_recorder", REGISTRY, || same("actions")),
    Case::needing("crates_that_install_handlers_work", REGISTRY, || same("crates")),
    Case::needing("programs_end_as_without_the_recorder", REGISTRY, || {
        ENDS.iter().for_each(|end| same(end));
    }),
    Case::new("the_report_names_handlers_that_have_no_lane", foreign),
    Case::new("what_handlers_without_a_lane_record_is_counted_once", || {
        uncounted("crowded_handler", 3);
        // Eight levels have lanes.
        uncounted("deep_handlers", 12 * 3);
    }),
    Case::needing("a_program_may_have_a_sigaction_of_its_own", REGISTRY, own_definition),
];

const ENDS: &[&str] = &[
    "stack",
    "stack-of-a-thread",
    "null",
    "null-default",
    "null-ignored",
    "non-canonical",
    "sent-segv",
    "sent-bus",
    "sent-ignored",
    "recovers",
    "once",
    "term",
    "reset-term",
    "exits",
    "unwinds",
    "unwinds-unseen",
    "abort",
    "executes",
];

/// The handler was installed by a system call.
fn foreign() {
    let kinds = ["foreign_handler", "late_foreign_handler", "foreign_handler_of_a_thread", "started_first"];
    for kind in kinds {
        let is_reported = kind != "started_first";
        let torture = Torture::new(Build::Optimised, kind, "64k", 1000);
        let ended = torture.run().done();
        ended.check([0, 128 + 9].contains(&ended.code()), "it ends as it should");
        let done = report(torture.tree.path()).arg(torture.ring_file()).done();
        let note = "note: handlers of signal 12 were not installed through the C library";
        done.check(
            done.code() == 0 && done.stderr.contains(note) == is_reported,
            &format!("{kind}: {is_reported}"),
        );
    }
}

/// The ring of the thread has all that the thread itself did, and the number of what its handlers did.
fn uncounted(kind: &str, lost: u32) {
    let torture = Torture::new(Build::Optimised, kind, "16k", 1000);
    torture.run().succeed();
    let rings = torture.recorded();
    let is_own = |statement: &Statement| [50, 52].contains(&statement.file);
    let own: Vec<_> = rings[0].whole(kind).statements.iter().copied().filter(is_own).collect();
    let begun: Vec<_> = torture.reference(0).statements().collect();
    assert!(begun.ends_with(&own) && own.len() == 600, "{kind}: {} of {}", own.len(), begun.len());
    let dropped: Vec<u32> =
        rings.iter().map(|ring| ring.header.dropped).filter(|dropped| *dropped > 0).collect();
    assert_eq!(dropped, [lost], "{kind}");
}

/// The program without the recorder, with it, and with it and a `sigaction` of its own.
fn programs() -> &'static [PathBuf; 3] {
    static PROGRAMS: OnceLock<[PathBuf; 3]> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let fixture = repository().join("tests/fixtures/handlers");
        let tree = Tree::kept("handlers", &fixture, finding_recorder);
        ["", "--features recorder", "--features recorder,own"].map(|features| {
            let target = tree.join("target").join(features.replace("--features ", ""));
            let build = online_cargo(tree.path()).args("build --quiet --locked").args(features);
            build.arg("--target-dir").arg(&target).succeed();
            target.join("debug/handlers")
        })
    })
}

fn run(program: &Path, what: &str, file: Option<&Path>, tree: &Tree) -> Done {
    let run = Run::new(program, tree.path()).args(what);
    match file {
        Some(file) => run.env("XHIST_FILE", file).done(),
        None => run.done(),
    }
}

/// Compares what a program prints and how it ends, with its rings in memory and in a file.
fn same(what: &str) {
    let [without, with, _] = programs();
    let tree = Tree::empty(what);
    let expected = run(without, what, None, &tree);
    for file in [None, Some(tree.join("ring.xhist"))] {
        let done = run(with, what, file.as_deref(), &tree);
        done.check(done.code() == expected.code(), &format!("{what}: it ends with {}", expected.code()));
        done.check(done.stdout == expected.stdout, &format!("{what}: it prints\n{}", expected.stdout));
        let (own, other) = (without_ids(&done.stderr), without_ids(&expected.stderr));
        done.check(own == other, &format!("{what}: its errors are\n{other}"));
    }
}

/// A message of the standard library names the thread by its id.
fn without_ids(text: &str) -> String {
    let is_plain = |part: &&str| !part.starts_with(|char: char| char.is_ascii_digit());
    text.split_inclusive(['(', ')']).filter(is_plain).collect()
}

/// The names of ours are weak, so its own is called.
fn own_definition() {
    let tree = Tree::empty("own-sigaction");
    let done = run(&programs()[2], "own", None, &tree);
    done.check(done.code() == 0 && done.stdout == "its own: true\n", "its own is called");
}
