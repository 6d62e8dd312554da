//! How many lines of `xhist-report suspects` are read until a faulty line of a crate? A table, as docs/benchmarks.md has it.
//!
//! ```sh
//! cargo run --release -p xhist-tests --bin faults                                 # all of tests/fixtures/faults.tsv
//! cargo run --release -p xhist-tests --bin faults -- shlex                        # those of these crates
//! cargo run --release -p xhist-tests --bin faults -- --set "real tuned" --keep DIR    # of a set; DIR gets the suspects and
//!                                                        # the runs, and the next time they are not run again
//! ```

use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use xhist_tests::{Fault, Need, Tree, Verdict, clean_up, set_deadline};

/// A crate that takes longer has failed.
const CRATE_LIMIT: Duration = Duration::from_secs(1800);
/// What a reader may be willing to read.
const LINES: [usize; 3] = [1, 5, 10];

#[derive(Default)]
struct Arguments {
    crates: Vec<String>,
    set: Option<String>,
    keep: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}; usage: faults [--set NAME] [--keep DIR] [CRATE...]");
            return ExitCode::from(2);
        }
    };
    if let Some(missing) = Need::Registry.missing() {
        eprintln!("error: {missing}");
        return ExitCode::from(2);
    }
    let mut faults = Fault::list();
    faults.retain(|fault| {
        let is_of_set = arguments.set.as_ref().is_none_or(|set| fault.set == *set);
        is_of_set && (arguments.crates.is_empty() || arguments.crates.contains(&fault.name))
    });
    if faults.is_empty() {
        eprintln!("error: the table has no such fault");
        return ExitCode::from(2);
    }
    for of_set in faults.chunk_by(|one, other| one.set == other.set) {
        table(of_set, arguments.keep.as_ref());
    }
    ExitCode::SUCCESS
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--set" => found.set = Some(value()?),
            "--keep" => found.keep = Some(value()?.into()),
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            name => found.crates.push(name.to_owned()),
        }
    }
    Ok(found)
}

/// What is counted over the faults of a set.
#[derive(Default)]
struct Summary {
    examined: usize,
    named: usize,
    in_diff: usize,
    /// Within each number of LINES: of the list, of Ochiai's order, of a random one.
    within: [[usize; 3]; 3],
    /// Sums of the lines and bytes of the answers.
    answers: [usize; 2],
}

fn table(faults: &[Fault], keep: Option<&PathBuf>) {
    let set = &faults[0].set;
    println!(
        "| crate ({set}) | line | mistake | tests | function | suspect | lines read | Ochiai | random | named | diff | answer |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut summary = Summary::default();
    for of_crate in faults.chunk_by(|one, other| (&one.name, &one.version) == (&other.name, &other.version)) {
        set_deadline(CRATE_LIMIT);
        // A crate that cannot be examined, such as one whose tests do not end, does not end the table.
        let Ok(verdicts) = catch_unwind(|| examined(of_crate, keep)) else {
            println!("| {} {} | | not examined | | | | | | | | | |", of_crate[0].name, of_crate[0].version);
            clean_up();
            continue;
        };
        for (fault, verdict) in of_crate.iter().zip(verdicts) {
            row(fault, &verdict);
            summary.add(&verdict);
            if let Some(Err(error)) = keep.map(|directory| verdict.keep(fault, directory)) {
                eprintln!("warning: nothing is kept: {error}");
            }
        }
        clean_up();
    }
    summary.print(set, faults.len());
}

fn row(fault: &Fault, verdict: &Verdict) {
    let shown = |found: Option<String>| found.unwrap_or_else(|| "not found".to_owned());
    let said = |is: bool| if is { "yes" } else { "no" };
    let chance = |of: fn(&xhist_tests::ByChance) -> f64| {
        shown(verdict.by_chance.as_ref().map(|chance| format!("{:.1}", of(chance))))
    };
    let more = match fault.edits.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    println!(
        "| {} {} | {}:{}{more} | {} | {} failed, {} passed | {} | {} | {} | {} | {} | {} | {} | {} lines, {} bytes |",
        fault.name,
        fault.version,
        fault.edits[0].file,
        verdict.line,
        fault.what,
        verdict.tests.0,
        verdict.tests.1,
        shown(verdict.function.map(|rank| rank.to_string())),
        shown(verdict.rank.map(|rank| rank.to_string())),
        shown(verdict.lines_read.map(|lines| lines.to_string())),
        chance(|chance| chance.ochiai),
        chance(|chance| chance.random),
        said(verdict.is_named),
        said(verdict.is_in_diff),
        verdict.answer.lines().count(),
        verdict.answer.len(),
    );
}

impl Summary {
    fn add(&mut self, verdict: &Verdict) {
        self.examined += 1;
        self.named += usize::from(verdict.is_named);
        self.in_diff += usize::from(verdict.is_in_diff);
        self.answers[0] += verdict.answer.lines().count();
        self.answers[1] += verdict.answer.len();
        let orders = [
            verdict.lines_read.map(|lines| lines as f64),
            verdict.by_chance.map(|chance| chance.ochiai),
            verdict.by_chance.map(|chance| chance.random),
        ];
        for (within, read) in self.within.iter_mut().zip(orders) {
            for (count, most) in within.iter_mut().zip(LINES) {
                *count += usize::from(read.is_some_and(|read| read <= most as f64));
            }
        }
    }

    fn print(&self, set: &str, all: usize) {
        let Summary { examined, named, in_diff, within, answers } = self;
        println!(
            "\n{set}, {all} faults, {examined} examined: {named} named by `cargo xhist test`, {in_diff} in the first screen of `diff`"
        );
        let [one, five, ten] = LINES;
        println!("within the first {one}, {five}, {ten} lines read:");
        for (order, [one, five, ten]) in ["suspects", "Ochiai", "random"].iter().zip(within) {
            println!("    {order:8} {one:3} {five:3} {ten:3}");
        }
        let mean = |sum: usize| sum / (*examined).max(1);
        println!("answers, on average: {} lines, {} bytes\n", mean(answers[0]), mean(answers[1]));
    }
}

/// The verdicts on the faults of one crate.
fn examined(faults: &[Fault], keep: Option<&PathBuf>) -> Vec<Verdict> {
    let (released, tree) = faults[0].unpack();
    let verdict = |(number, fault): (usize, &Fault)| match keep {
        Some(keep) => {
            let place = keep.join(format!("{}-{}-{number}", fault.name, fault.version));
            fault.examine(&released, &Tree::staying(&place, tree.path()), true)
        }
        None => fault.examine(&released, &tree, false),
    };
    (0..).zip(faults).map(verdict).collect()
}
