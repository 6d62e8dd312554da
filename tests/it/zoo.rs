//! The zoo: one project of small programs, each of which ends in its own way. Built once, run by many cases.

use std::path::PathBuf;
use std::sync::OnceLock;

use xhist_tests::{Done, Listing, Run, Tree, cargo, line_of, report, repository};

/// The project, with all its programs built both ways.
pub fn zoo() -> &'static Tree {
    static ZOO: OnceLock<Tree> = OnceLock::new();
    ZOO.get_or_init(|| {
        let tree = Tree::copy_of(&repository().join("tests/fixtures/zoo"));
        cargo(tree.path()).args("generate-lockfile --quiet").succeed();
        cargo(tree.path()).args("build --quiet --bins").succeed();
        cargo(tree.path()).args("xhist build --quiet --bins").succeed();
        tree
    })
}

/// Programs that are also built with a check at each statement.
const EACH: [&str; 6] = ["churn", "emptied", "forks", "goes_on", "ping_pong", "times"];

/// The instrumented program with a check at each statement, as `XHIST_TIME` and `XHIST_FRAMES` want it.
pub fn program_of_each(name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    assert!(EACH.contains(&name), "{name} is not built like this");
    BUILT.get_or_init(|| {
        // A directory of its own: the other programs stay where they are.
        let programs = EACH.map(|name| format!(" --bin {name}")).concat();
        let build = format!("xhist build --quiet --target-dir target/each{programs}");
        zoo_cargo(&build).env("XHIST_TIME", "on").succeed();
    });
    zoo().join(&format!("target/each/xhist/build/debug/{name}"))
}

/// Cargo in the project.
pub fn zoo_cargo(args: &str) -> Run {
    cargo(zoo().path()).args(args)
}

/// The instrumented program itself.
pub fn program(name: &str) -> PathBuf {
    zoo().join(&format!("target/xhist/build/debug/{name}"))
}

/// `file:line` of the statement of a program that is marked with this comment.
pub fn place(program: &str, mark: &str) -> String {
    let file = format!("src/bin/{program}.rs");
    let line = line_of(&zoo().join(&file), &format!(" // {mark}"));
    format!("{file}:{line}")
}

/// Runs an instrumented program that ends well, with its rings in a file of its own. Its whole history.
pub fn record(name: &str, size: &str, columns: &str) -> (Done, Listing) {
    record_with(name, size, columns, ("XHIST", "on"))
}

/// The same with one more word for the recorder, which may ask for what each statement has to check for.
pub fn record_with(name: &str, size: &str, columns: &str, word: (&str, &str)) -> (Done, Listing) {
    let tree = Tree::empty(name);
    let file = tree.join("history.xhist");
    let program = match word {
        ("XHIST_TIME", "on") | ("XHIST_FRAMES", "single" | "exact") => program_of_each(name),
        _ => program(name),
    };
    let run = Run::new(program, tree.path()).env("XHIST_FILE", &file).env("XHIST_SIZE", size);
    let done = run.env(word.0, word.1).succeed();
    let listing = report(zoo().path()).args(columns).arg(&file).succeed();
    let is_about_order = |line: &str| {
        line.contains("the order among threads is not certain")
            || line.contains("marked as of uncertain order")
    };
    listing.check(listing.stderr.lines().all(is_about_order), "nothing was lost");
    (done, Listing::parse(&listing.stdout))
}
