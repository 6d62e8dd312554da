//! Where does `xhist-report suspects` rank the wrong line of a crate? A table, as docs/benchmarks.md has it.
//!
//! ```sh
//! cargo run --release -p xhist-tests --bin faults             # every fault of tests/fixtures/faults.tsv
//! cargo run --release -p xhist-tests --bin faults -- shlex    # those of these crates
//! ```

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::Duration;

use xhist_tests::{Fault, Need, Verdict, clean_up, set_deadline};

/// A crate that takes longer has failed.
const CRATE_LIMIT: Duration = Duration::from_secs(1800);

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if let Some(missing) = Need::Registry.missing() {
        eprintln!("error: {missing}");
        return ExitCode::from(2);
    }
    let mut faults = Fault::list();
    faults.retain(|fault| names.is_empty() || names.contains(&fault.name));
    for set in ["tuned", "held out"] {
        let of_set: Vec<Fault> = faults.iter().filter(|fault| fault.set == set).cloned().collect();
        if !of_set.is_empty() {
            table(set, &of_set);
        }
    }
    ExitCode::SUCCESS
}

fn table(set: &str, faults: &[Fault]) {
    println!("| crate ({set}) | line | mistake | tests | function | suspect | named | diff |");
    println!("|---|---|---|---|---|---|---|---|");
    let (mut first, mut among_five, mut named, mut in_diff) = (0, 0, 0, 0);
    for of_crate in faults.chunk_by(|one, other| one.name == other.name) {
        set_deadline(CRATE_LIMIT);
        // A crate that cannot be examined, such as one whose tests do not end, does not end the table.
        let Ok(verdicts) = catch_unwind(|| examined(of_crate)) else {
            println!("| {} {} | | not examined | | | | | |", of_crate[0].name, of_crate[0].version);
            clean_up();
            continue;
        };
        for (fault, verdict) in of_crate.iter().zip(verdicts) {
            let Verdict { line, tests, rank, function, is_named, is_in_diff, .. } = verdict;
            let shown = |rank: Option<u64>| rank.map_or("not found".to_owned(), |rank| rank.to_string());
            let said = |is: bool| if is { "yes" } else { "no" };
            println!(
                "| {} {} | {}:{line} | {} | {} failed, {} passed | {} | {} | {} | {} |",
                fault.name,
                fault.version,
                fault.file,
                fault.what,
                tests.0,
                tests.1,
                shown(function),
                shown(rank),
                said(is_named),
                said(is_in_diff),
            );
            first += usize::from(rank == Some(1));
            among_five += usize::from(rank.is_some_and(|rank| rank <= 5));
            named += usize::from(is_named);
            in_diff += usize::from(is_in_diff);
        }
        clean_up();
    }
    let all = faults.len();
    println!(
        "\n{set}, {all} faults: {named} named by `cargo xhist test`, {first} the first suspect, {among_five} among the first five, {in_diff} in the first screen of `diff`\n"
    );
}

/// The verdicts on the faults of one crate.
fn examined(faults: &[Fault]) -> Vec<Verdict> {
    let (released, tree) = faults[0].unpack();
    faults.iter().map(|fault| fault.examine(&released, &tree)).collect()
}
