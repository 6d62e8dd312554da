//! The options of what runs a recorded test again: `cargo xhist why`, and `cargo xhist diff --rerun`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser};

/// Which test is run again.
#[derive(Clone, Debug, Args)]
pub(crate) struct RecordedTest {
    /// Its name or a part of it; without it, the first test that failed
    #[arg(value_name = "TEST")]
    pub(crate) test: Option<String>,

    /// The run that it is of (`last`, `prev`, `-2`, a name or a directory); without it, the one that failed last
    #[arg(long, value_name = "RUN", allow_negative_numbers = true)]
    pub(crate) run: Option<PathBuf>,
}

/// Runs a failed test again with the values of the functions in its answer and among its suspects, checks that it failed the same
/// way, and prints the answer with the values. If it did not, prints the first statement at which two such runs part.
#[derive(Clone, Debug, Parser)]
#[command(name = "cargo xhist why", bin_name = "cargo xhist why")]
pub(crate) struct Why {
    #[command(flatten)]
    pub(crate) test: RecordedTest,
}

/// Runs a test N times, and prints the first statement at which two of the runs part: what a flaky test needs.
#[derive(Clone, Debug, Parser)]
#[command(name = "cargo xhist diff --rerun", bin_name = "cargo xhist diff")]
pub(crate) struct Rerun {
    /// How often the test runs
    #[arg(long = "rerun", value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) times: u32,

    #[command(flatten)]
    pub(crate) test: RecordedTest,
}

/// What is run again.
#[derive(Clone, Debug)]
pub(crate) enum Again {
    Why(Why),
    Rerun(Rerun),
}

/// Whether these words run something again.
pub(crate) fn is_again(words: &[OsString]) -> bool {
    let is_rerun =
        |word: &OsString| word.to_str().is_some_and(|word| word == "--rerun" || word.starts_with("--rerun="));
    words.first().is_some_and(|word| word == "why" || word == "diff" && words.iter().any(is_rerun))
}

impl Again {
    /// Parses the words from the command on. Clap prints help.
    pub(crate) fn parse(words: &[OsString]) -> Result<Again, clap::Error> {
        match words.first().is_some_and(|word| word == "why") {
            true => Why::try_parse_from(words).map(Again::Why),
            false => Rerun::try_parse_from(words).map(Again::Rerun),
        }
    }
}
