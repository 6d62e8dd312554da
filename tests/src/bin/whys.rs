//! Is the fault on the screen of `cargo xhist why`, and how long does that take? A table, as docs/benchmarks.md has it.
//!
//! ```sh
//! cargo run --release -p xhist-tests --bin whys                    # the real faults of tests/fixtures/faults.tsv
//! cargo run --release -p xhist-tests --bin whys -- json wkt        # those of these crates
//! ```

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use xhist_tests::{Fault, Need, Tree, clean_up, online_cargo, set_deadline};

/// A crate that takes longer is left out.
const LIMIT: Duration = Duration::from_secs(600);
/// Lines of a screen, and what is printed last is on it.
const SCREEN: usize = 40;

/// What was found for one fault.
struct ReadScreen {
    test: String,
    /// A faulty line is on the screen; it has a value there.
    seen: (bool, bool),
    /// Lines and bytes that `why` prints itself.
    printed: (usize, usize),
    /// Seconds of the test alone, of `why` with its build, and of `why` again.
    seconds: [f64; 3],
}

fn main() -> ExitCode {
    let crates: Vec<String> = std::env::args().skip(1).collect();
    if let Some(missing) = Need::Registry.missing() {
        eprintln!("error: {missing}");
        return ExitCode::from(2);
    }
    let mut faults = Fault::list();
    faults.retain(|fault| fault.is_real() && (crates.is_empty() || crates.contains(&fault.name)));
    println!("| crate | test | faulty line | its value | lines, bytes | test | first `why` | `why` |");
    println!("|---|---|---|---|---|---|---|---|");
    let said = |is: bool| if is { "yes" } else { "no" };
    for fault in &faults {
        set_deadline(LIMIT);
        let found = catch_unwind(|| examined(fault));
        clean_up();
        let name = format!("{} {}", fault.name, fault.version);
        let Ok(ReadScreen { test, seen, printed, seconds: [alone, first, again] }) = found else {
            println!("| {name} | not examined | | | | | | |");
            continue;
        };
        println!(
            "| {name} | `{test}` | {} | {} | {}, {} | {alone:.1} s | {first:.1} s | {again:.1} s |",
            said(seen.0),
            said(seen.1),
            printed.0,
            printed.1,
        );
    }
    ExitCode::SUCCESS
}

fn examined(fault: &Fault) -> ReadScreen {
    let (released, tree) = fault.unpack();
    let verdict = fault.examine(&released, &tree, false);
    let _faulty = fault.put_into(&tree);
    let test = verdict.suspects["clusters"][0]["failed"][0].as_str().expect("a failed test").to_owned();
    let targets = &released.targets;
    let plain = || timed(&tree, &format!("test --quiet {targets} {test}"));
    plain();
    let (alone, _) = plain();
    let why = || timed(&tree, &format!("xhist why {test}"));
    let ((first, _), (again, printed)) = (why(), why());
    let own = printed.rfind("\nxhist: test ").map_or("", |at| &printed[at + 1..]);
    let lines: Vec<&str> = own.lines().collect();
    let screen = &lines[lines.len().saturating_sub(SCREEN)..];
    let is_faulty = |line: &&&str| {
        let mut words = line.split_whitespace();
        words.any(|word| verdict.faulty.iter().any(|(file, number)| word == format!("{file}:{number}")))
    };
    let faulty: Vec<&&str> = screen.iter().filter(is_faulty).collect();
    // Values are behind the text and two spaces.
    let has_value =
        |line: &&&str| line.rsplit("  ").any(|part| part.split(", ").next().is_some_and(is_value));
    ReadScreen {
        test,
        seen: (!faulty.is_empty(), faulty.iter().any(has_value)),
        printed: (lines.len(), own.len()),
        seconds: [alone, first, again],
    }
}

/// `name = value`, and not a statement.
fn is_value(text: &str) -> bool {
    text.split_once(" = ").is_some_and(|(name, _)| !name.contains(' ')) && !text.ends_with(';')
}

/// The seconds that a command of cargo takes, and what it prints on standard error.
fn timed(tree: &Tree, arguments: &str) -> (f64, String) {
    let begin = Instant::now();
    let printed = online_cargo(tree.path()).args(arguments).done().stderr;
    (begin.elapsed().as_secs_f64(), printed)
}
