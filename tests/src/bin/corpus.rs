//! Do real crates pass their own tests under `cargo xhist test`, with the counts that they have without it?
//! A table, and exit code 1 when one differs.
//!
//! ```sh
//! cargo run --release -p xhist-tests --bin corpus                        # every crate of ../shared/corpus/crates.tsv
//! cargo run --release -p xhist-tests --bin corpus -- bytes itoa@1.0.15   # these, from crates.io
//! cargo run --release -p xhist-tests --bin corpus -- --release bytes     # both times with optimisation
//! cargo run --release -p xhist-tests --bin corpus -- --detail=function   # with an option of cargo xhist
//! ```
//!
//! Options with a value have the form `--option=value`.
//!
//! `XHIST_TESTS_KEEP=1` keeps the directories that it worked in.

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::Duration;

use xhist_tests::{Comparison, CorpusOptions, Counts, Crate, Need, clean_up, set_deadline};

/// A crate that takes longer differs.
const CRATE_LIMIT: Duration = Duration::from_secs(1800);

fn main() -> ExitCode {
    let is_option = |argument: &String| argument.starts_with("--");
    let (given, specs): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(is_option);
    let (release, ours): (Vec<_>, Vec<_>) = given.into_iter().partition(|option| option == "--release");
    let options = CorpusOptions { release: !release.is_empty(), ours: ours.join(" ") };
    let crates = match specs.is_empty() {
        true => Crate::list(),
        false => Ok(specs.iter().map(|spec| Crate::named(spec)).collect()),
    };
    let crates = crates.and_then(|crates| Need::Registry.missing().map_or(Ok(crates), Err));
    match crates {
        Ok(crates) => table(&crates, &options),
        Err(error) => {
            eprintln!("error: {error}; crates can be named: corpus NAME[@VERSION]...");
            ExitCode::from(2)
        }
    }
}

fn table(crates: &[Crate], options: &CorpusOptions) -> ExitCode {
    println!(
        "{:16} {:9} {:>6} {:>6} {:>7} {:>8} {:>8} {:>10} {:>8} {:>9} {:>8}",
        "crate",
        "version",
        "passed",
        "failed",
        "ignored",
        "plain",
        "ours",
        "statements",
        "skipped",
        "recorded",
        "refused"
    );
    let mut differing = Vec::new();
    for released in crates {
        set_deadline(CRATE_LIMIT);
        let is_same = catch_unwind(|| row(released, &released.compare(options))).unwrap_or_else(|_| {
            println!("{:16} could not be compared", released.name);
            false
        });
        if !is_same {
            differing.push(released.name.as_str());
        }
        clean_up();
    }
    if differing.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("{} of {} differ: {}", differing.len(), crates.len(), differing.join(", "));
    ExitCode::FAILURE
}

/// Prints one line of the table. Returns whether nothing differed.
fn row(released: &Crate, comparison: &Comparison) -> bool {
    let Comparison { version, ours, plain_seconds, our_seconds, reach, difference, .. } = comparison;
    let Counts { passed, failed, ignored } = ours;
    let (name, share) = (&released.name, reach.share());
    let mark = if difference.is_empty() { "" } else { "  differs" };
    println!(
        "{name:16} {version:9} {passed:6} {failed:6} {ignored:7} {plain_seconds:7.1}s {our_seconds:7.1}s {:10} {:8} {share:7.1} % {:8}{mark}",
        reach.statements, reach.skipped, reach.refused
    );
    if !difference.is_empty() {
        eprintln!("--- {name} {version}\n{}---", difference);
    }
    difference.is_empty()
}
