//! The passed test of a run that ran most like a failed one, and what only one of the two ran.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use super::bits::SiteSet;
use super::history::TestedCode;
use super::program::{ProgramSites, Role};
use super::run::{RecordedRun, RunError, Test};
use xhist_history::ReadOptions;
use xhist_history::model::Ring;
use xhist_history::notes::Notes;
use xhist_history::program::map::Maps;

/// A failed test and the passed one that ran most like it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestTest {
    /// Name of the failed test.
    pub failed: String,
    /// Name of the passed test.
    pub passed: String,
    /// What only the failed test ran: the program's own code first, and the nearest to the failure.
    pub only_failed: Vec<RanLine>,
    /// What only the passed test ran.
    pub only_passed: Vec<RanLine>,
}

/// A line that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RanLine {
    /// Its file, printable.
    pub file: String,
    /// Its number.
    pub line: u32,
    /// Its function.
    pub function: String,
}

/// Why there is no such test.
#[derive(Debug)]
pub enum NearestError {
    /// The run cannot be read.
    Run(RunError),
    /// No failed test has the name; those that failed.
    NoTest(String, Vec<String>),
    /// No test passed, or nothing is known of those that did.
    NonePassed,
    /// The map given cannot be read; why is printed already.
    UnreadableMap,
}

impl fmt::Display for NearestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NearestError::Run(error) => error.fmt(f),
            NearestError::NoTest(name, failed) => {
                write!(f, "no failed test `{name}` in this run; failed: {}", failed.join(", "))
            }
            NearestError::NonePassed => {
                f.write_str("no passed test of this run is recorded: name another history to compare with")
            }
            NearestError::UnreadableMap => f.write_str("without its map a run cannot be compared"),
        }
    }
}

impl std::error::Error for NearestError {}

/// Tests that are tried for one with a history.
const TRIED: usize = 12;
/// A test less alike than this share of the best one is not preferred for its history.
const SHARE: f64 = 0.5;

/// Finds the passed test that ran most like this one, if possible among those with a history. `options` say where the map is.
///
/// # Errors
/// The run has no such test, or cannot be read.
pub fn nearest_passed(
    directory: &Path,
    options: &ReadOptions,
    test: &str,
    has_history: &dyn Fn(&str) -> bool,
    notes: &mut Notes<'_>,
) -> Result<NearestTest, NearestError> {
    let run = RecordedRun::read(directory).map_err(NearestError::Run)?;
    let hash = run.map_hash().map_err(NearestError::Run)?;
    let ring = Ring::of_map(hash);
    let maps = Maps::load(&[&ring], options, notes).map_err(|_| NearestError::UnreadableMap)?;
    let (_, names) = maps.of(&ring);
    let program = run.program(names);
    if program.sites.is_empty() {
        return Err(NearestError::Run(RunError::NoMap(hash)));
    }
    let code = TestedCode::new(&program, names, &options.programs);
    let tests = run.tests(&code).map_err(NearestError::Run)?.tests;
    let is_named = |name: &str| name == test || name.rsplit("::").next() == Some(test);
    let failed = tests.iter().find(|known| known.failed && is_named(&known.name)).ok_or_else(|| {
        let failed = tests.iter().filter(|known| known.failed).map(|known| known.name.clone());
        NearestError::NoTest(test.to_owned(), failed.take(20).collect())
    })?;
    let passed = most_alike(&program, failed, &tests, has_history).ok_or(NearestError::NonePassed)?;
    // What ran last is nearest to the failure.
    let order = failed.history.as_ref().map_or(&[][..], |history| &history.order);
    let newest: HashMap<u32, usize> = order.iter().enumerate().map(|(at, site)| (*site, at)).collect();
    let lines = |of: &Test, other: &Test| {
        let mut sites: Vec<u32> = of.ran.iter().filter(|site| !other.ran.contains(*site)).collect();
        sites.sort_by_key(|site| {
            let known = &program.sites[*site as usize];
            (known.role, Reverse(newest.get(site)), *site)
        });
        let line = |site: u32| {
            let known = &program.sites[site as usize];
            RanLine {
                file: names.place(known.file, 1).path.unwrap_or("?").to_owned(),
                line: known.line,
                function: program.functions[known.function as usize].path.clone(),
            }
        };
        sites.into_iter().map(line).collect()
    };
    Ok(NearestTest {
        failed: failed.name.clone(),
        passed: passed.name.clone(),
        only_failed: lines(failed, passed),
        only_passed: lines(passed, failed),
    })
}

/// The passed test that shares most of the program's own code with a failed one.
fn most_alike<'t>(
    program: &ProgramSites,
    failed: &Test,
    tests: &'t [Test],
    has_history: &dyn Fn(&str) -> bool,
) -> Option<&'t Test> {
    let own = |test: &Test| -> SiteSet {
        test.ran.iter().filter(|site| program.sites[*site as usize].role == Role::Own).collect()
    };
    let ran = own(failed);
    let passed = tests.iter().filter(|test| !test.failed);
    let mut passed: Vec<(f64, &Test)> = passed.map(|test| (ran.similarity(&own(test)), test)).collect();
    // The sort is stable: of several, the first.
    passed.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let best = passed.first()?;
    let is_alike = |(similarity, _): &&(f64, &Test)| *similarity >= SHARE * best.0;
    let mut alike = passed.iter().take(TRIED).take_while(is_alike);
    Some(alike.find(|(_, test)| has_history(&test.name)).unwrap_or(best).1)
}
