//! Does a project that is instrumented in place, without `cargo xhist`, record with plain cargo?

use std::time::Duration;

use object::{Object, ObjectSection};
use rustix::process::Signal;
use xhist_tests::{Case, Listing, Run, Tree, cargo, instrument, line_of, report, repository};

pub const CASES: &[Case] = &[
    Case::new("plain_cargo_runs_an_instrumented_project", plain_cargo_run),
    Case::new("strip_gives_back_every_file_byte_for_byte", strip_gives_back_every_file),
    Case::new("a_project_without_the_recorder_is_told_so", told_of_the_recorder),
    Case::new("a_forked_child_has_a_file_of_its_own", forks),
    Case::new("a_daemon_keeps_the_history_of_its_children", daemon),
    Case::new("history_is_written_at_a_signal_and_at_exit", figure_3),
    Case::new("without_the_trace_feature_the_code_has_the_same_size", same_size),
];

fn sample(name: &str) -> Tree {
    Tree::copy_of(&repository().join("samples").join(name))
}

fn fixture(name: &str) -> Tree {
    Tree::copy_of(&repository().join("tests/fixtures").join(name))
}

/// Names the recorder in the manifest, as a user does.
pub fn add_recorder(tree: &Tree, features: &str) {
    let path = repository().join("xhist-rt");
    let manifest = tree.read("Cargo.toml");
    let has_table = manifest.contains("[dependencies]\n");
    let manifest = if has_table { manifest } else { format!("{manifest}\n[dependencies]\n") };
    let line = format!("xhist-rt = {{ path = {path:?}, features = [{features}] }}");
    tree.write("Cargo.toml", &manifest.replace("[dependencies]\n", &format!("[dependencies]\n{line}\n")));
}

fn plain_cargo_run() {
    let tree = sample("thread-pool");
    instrument(tree.path()).args("src/").succeed();
    add_recorder(&tree, r#""std", "trace""#);
    let file = tree.join("history.xhist");
    let done = cargo(tree.path()).args("run --quiet").env("XHIST_FILE", &file).succeed();
    done.check(done.stdout.ends_with("1 of 3 workers failed\n"), "the program does what it did");
    let listing = Listing::parse(&report(tree.path()).arg(&file).succeed().stdout);
    let places = listing.places();
    let panics = line_of(&tree.join("src/pool.rs"), "let sender = words[1];");
    assert!(places.contains(&format!("src/pool.rs:{panics}")), "{places:#?}");
    let last = line_of(&tree.join("src/main.rs"), "println!(\"{failed} of 3 workers failed\")");
    assert_eq!(listing.last(), format!("src/main.rs:{last}"));
}

fn strip_gives_back_every_file() {
    for name in ["critical-section", "thread-pool"] {
        let tree = sample(name);
        let before = tree.fingerprint();
        instrument(tree.path()).args("src/ --map").arg(Tree::empty("map").join("xhist.map")).succeed();
        let main = tree.read(if name == "thread-pool" { "src/main.rs" } else { "src/state_machine.rs" });
        assert!(main.contains("xhist_rt::s("), "{main}");
        instrument(tree.path()).args("--strip src/").succeed();
        before.assert_same(&tree.fingerprint());
    }
}

fn told_of_the_recorder() {
    let tree = sample("thread-pool");
    let done = instrument(tree.path()).args("src/").succeed();
    done.check(done.stderr.contains("xhist-rt"), "the manifest needs a line");
    instrument(tree.path()).args("--strip src/").succeed();
    add_recorder(&tree, r#""std", "trace""#);
    let done = instrument(tree.path()).args("src/").succeed();
    done.check(!done.stderr.contains("xhist-rt"), "nothing to tell once it is named");
}

/// Without [`xhist_rt::init`]: of a ring file that parent and child both wrote, nothing could be told.
fn forks() {
    forks_in("", |run| run.env("XHIST_FILE", "ring.xhist"));
}

/// The child's file lies beside its parent's, wherever they are meanwhile, and whoever named it.
fn daemon() {
    let away = "std::env::set_current_dir(\"/\").unwrap();";
    forks_in(away, |run| run.env("XHIST_FILE", "ring.xhist"));
    let named = "xhist_rt::Init::new().no_signal().file(\"ring.xhist\").install();";
    forks_in(&format!("{named} {away}"), |run| run);
    // An empty name is none.
    forks_in(named, |run| run.env("XHIST_FILE", ""));
}

/// A program that begins with this code and forks.
fn forks_in(begin: &str, with: impl Fn(Run) -> Run) {
    let tree = fixture("zoo");
    add_recorder(&tree, r#""std", "trace""#);
    let file = "src/bin/forks.rs";
    let place = |mark: &str| format!("{file}:{}", line_of(&tree.join(file), &format!(" // {mark}")));
    tree.replace(file, "fn main() {", &format!("fn main() {{ {begin}"));
    instrument(tree.path()).args("src/").succeed();
    cargo(tree.path()).args("build --quiet --bin forks").succeed();
    with(Run::new(tree.join("target/debug/forks"), tree.path())).succeed();
    let (of_parent, of_child) = of_both(&tree, "ring.xhist");
    assert_eq!(of_parent.last(), Some(&place("parent last")));
    assert_eq!(of_child.last(), Some(&place("child last")));
    assert!(!of_parent.contains(&place("child first")), "{of_parent:#?}");
    assert!(!of_child.contains(&place("parent before")), "{of_child:#?}");
}

/// The places in the ring file of the parent, and in that of the child beside it.
fn of_both(tree: &Tree, parent: &str) -> (Vec<String>, Vec<String>) {
    let places = |file: &str| {
        Listing::parse(&report(tree.path()).arg(file).succeed().stdout).only_statements().places()
    };
    let names = std::fs::read_dir(tree.path()).expect("a directory").flatten().map(|entry| entry.file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    let child = names.iter().find(|name| name.starts_with(&format!("{parent}.")));
    (places(parent), places(child.unwrap_or_else(|| panic!("one for the child in {names:?}"))))
}

fn figure_3() {
    let tree = fixture("figure-3");
    add_recorder(&tree, r#""std", "trace""#);
    instrument(tree.path()).args("src/").succeed();
    cargo(tree.path()).args("build --quiet").succeed();
    let history = tree.join("history.bin");
    let program = Run::new(tree.join("target/debug/figure-3"), tree.path());
    let mut running = program.arg(&history).with_input().start();
    running.wait_for("running\n");
    let main = tree.join("src/main.rs");
    let reads = format!("src/main.rs:{}", line_of(&main, "read_line(&mut line)"));
    // It has said `running`, but need not have come to the next statements: ask until it has.
    running.wait_until("its history says that it reads its input", |running| {
        running.signal(Signal::USR1);
        std::thread::sleep(Duration::from_millis(20));
        let done = report(tree.path()).arg(&history).done();
        done.code() == 0 && Listing::parse(&done.stdout).last() == reads
    });
    running.write("go on\n");
    running.done().expect(0);
    let at_exit = report(tree.path()).arg(&history).succeed();
    let last = format!("src/main.rs:{}", line_of(&main, "// last"));
    assert_eq!(Listing::parse(&at_exit.stdout).last(), last, "the newest export");
}

/// The program with the recorder named but unused, and the instrumented one without `trace`.
fn same_size() {
    let tree = sample("thread-pool");
    add_recorder(&tree, "");
    tree.write(
        "src/main.rs",
        &tree.read("src/main.rs").replace("mod pool;", "extern crate xhist_rt;\nmod pool;"),
    );
    let build = || {
        cargo(tree.path()).args("build --quiet --release").succeed();
        text_size(&std::fs::read(tree.join("target/release/thread-pool")).expect("the program"))
    };
    let plain = build();
    instrument(tree.path()).args("src/").succeed();
    let source = tree.read("src/pool.rs");
    assert!(source.contains("xhist_rt::s("), "{source}");
    assert_eq!(build(), plain, "bytes of .text");
    // The same check sees a difference where there is one.
    tree.replace("Cargo.toml", "features = []", r#"features = ["std", "trace"]"#);
    assert!(build() > plain, "recording takes code");
}

fn text_size(program: &[u8]) -> u64 {
    let file = object::File::parse(program).expect("a program");
    let section = file.section_by_name(".text").or_else(|| file.section_by_name("__text"));
    section.expect("code").size()
}
