//! Do real crates pass their own tests under `cargo xhist test`, with the counts that they have without it?
//! A table, and exit code 1 when one differs.
//!
//! ```sh
//! cargo run --release -p xhist-tests --bin corpus                        # every crate of ../shared/corpus/crates.tsv
//! cargo run --release -p xhist-tests --bin corpus -- bytes itoa@1.0.15   # these, from crates.io
//! cargo run --release -p xhist-tests --bin corpus -- --release bytes     # both times with optimisation
//! cargo run --release -p xhist-tests --bin corpus -- --detail=function   # with an option of cargo xhist
//! cargo run --release -p xhist-tests --bin corpus -- --share [CRATE...]  # how much of what ran is in the history
//! ```
//!
//! Options with a value have the form `--option=value`. `--share` takes `--missing`, which prints each line that is not
//! recorded. It needs llvm-profdata and llvm-cov of the compiler's version of LLVM, and keeps what it builds from run to run.
//!
//! `XHIST_TESTS_KEEP=1` keeps the directories that it worked in.

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::Duration;

use std::collections::BTreeMap;

use xhist_tests::{Comparison, CorpusOptions, Counts, Crate, Need, Share, clean_up, set_deadline};

/// A crate that takes longer differs.
const CRATE_LIMIT: Duration = Duration::from_secs(1800);

/// The crates of `--share` beside those of the list: popular ones with much in macros and in `const fn`.
const SHARED: [&str; 6] =
    ["bitflags@2.11.0", "libm@0.2.16", "num-traits@0.2.19", "proptest@1.9.0", "rand@0.9.2", "uuid@1.19.0"];

fn main() -> ExitCode {
    let is_option = |argument: &String| argument.starts_with("--");
    let (given, specs): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(is_option);
    let has = |option: &str| given.iter().any(|given| given == option);
    if has("--share") {
        return shares(&specs, has("--missing"));
    }
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

/// The table of shares.
fn shares(specs: &[String], lists_missing: bool) -> ExitCode {
    let listed = || Ok(Crate::list()?.into_iter().chain(SHARED.map(Crate::named)).collect());
    let crates = match specs {
        [] => listed(),
        specs => Ok(specs.iter().map(|spec| Crate::named(spec)).collect()),
    };
    let crates: Vec<Crate> = match crates.and_then(|crates| Need::Registry.missing().map_or(Ok(crates), Err))
    {
        Ok(crates) => crates,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    println!("{:16} {:9} {:>8} {:>8} {:>9}", "crate", "version", "executed", "recorded", "share");
    let mut percents = Vec::new();
    for released in &crates {
        set_deadline(CRATE_LIMIT);
        let Ok(share) = catch_unwind(|| Share::of(released)) else {
            println!("{:16} could not be measured", released.name);
            continue;
        };
        percents.push(share.percent());
        print_share(released, &share, lists_missing);
        clean_up();
    }
    if percents.is_empty() {
        return ExitCode::FAILURE;
    }
    let least = percents.iter().copied().fold(100.0, f64::min);
    let mean = percents.iter().sum::<f64>() / percents.len() as f64;
    println!("{} crates: {mean:.1} % in the mean, {least:.1} % at least", percents.len());
    if percents.len() == crates.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One line of the table, and where most of what is missing is.
fn print_share(released: &Crate, share: &Share, lists_missing: bool) {
    /// Reasons and files in a line.
    const SHOWN: usize = 4;
    let (executed, missing) = (share.executed.len(), share.missing.len());
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for ((file, _), reason) in &share.missing {
        *places.entry((reason, file)).or_default() += 1;
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
    let shown = places.iter().take(SHOWN).map(|((reason, file), lines)| match *reason {
        "" => format!("{lines} {file}"),
        reason => format!("{lines} {file} ({reason})"),
    });
    println!(
        "{:16} {:9} {executed:8} {:8} {:7.1} %  {}",
        released.name,
        share.version,
        executed - missing,
        share.percent(),
        shown.collect::<Vec<_>>().join(", ")
    );
    if lists_missing {
        for ((file, line), reason) in &share.missing {
            println!("    {file}:{line}  {reason}");
        }
    }
}
