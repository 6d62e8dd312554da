//! The program as a user runs it. The tests need dumps, which another program makes from real runs:
//!
//! ```sh
//! cargo run -p xhist-tests --bin fleet -- target/fleet-dumps --dumps 2000
//! XHIST_FLEET_DUMPS=$PWD/target/fleet-dumps cargo test --release -p xhist-fleet
//! ```
//!
//! Without them, and without a Python that has DuckDB and PySpark (`XHIST_PYTHON`), tests are ignored and say so.

mod engines;
mod groups;
mod hostile;
mod kills;
mod stores;
mod support;

use libtest_mimic::{Arguments, Trial};

/// A test, and what it needs.
type TestRow = (&'static str, fn(), &'static [support::Need]);

use support::Need::{DuckDb, Dumps, Spark};

const TESTS: &[TestRow] = &[
    ("groups::are_the_bugs", groups::are_the_bugs, &[Dumps]),
    ("groups::commands_print_what_is_there", groups::commands_print_what_is_there, &[Dumps]),
    ("groups::the_documented_compaction_keeps_all_rows", groups::compaction, &[Dumps]),
    ("engines::duckdb_has_the_same_rows", engines::duckdb, &[Dumps, DuckDb]),
    ("engines::spark_has_the_same_rows", engines::spark, &[Dumps, Spark]),
    ("kills::nothing_is_lost_or_double", kills::nothing_is_lost_or_double, &[Dumps]),
    ("stores::objects_are_dumps", stores::objects_are_dumps, &[Dumps]),
    ("hostile::damaged_dumps_are_losses", hostile::damaged_dumps, &[Dumps]),
    ("hostile::arguments_that_fail", hostile::arguments, &[]),
    ("hostile::queries_that_fail", hostile::queries, &[Dumps]),
];

fn main() {
    let trials = TESTS.iter().map(|(name, test, needs)| {
        let missing: Vec<&str> = needs.iter().filter_map(|need| need.missing()).collect();
        if !missing.is_empty() {
            eprintln!("{name} is ignored: {}", missing.join("; "));
        }
        Trial::test(*name, || {
            test();
            Ok(())
        })
        .with_ignored_flag(!missing.is_empty())
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}
