//! A fleet of dumps with known truth: real runs of one program in five builds with ten injected bugs.
//!
//! `tests/fixtures/fleet` is the program, without a bug. `bugs` and `edits` say how builds differ, `scenario` what each
//! run does, and `truth.tsv` what came of it.

mod bugs;
mod builds;
mod dice;
mod edits;
mod runs;
mod scenario;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub use bugs::{BUGS, BUILDS, InjectedBug};
use builds::FleetBuild;
use scenario::Scenario;

/// Dumps of one directory.
const IN_DIRECTORY: u64 = 1000;

/// How a fleet is made.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// How many dumps.
    pub dumps: u64,
    /// The same seed makes the same runs.
    pub seed: u64,
    /// How many runs at a time.
    pub jobs: usize,
}

/// What was made.
#[derive(Clone, Debug)]
pub struct FleetSummary {
    /// Good runs.
    pub good: u64,
    /// Runs that each bug ended, from bug 1.
    pub bugs: [u64; BUGS.len()],
    /// Runs of each build, from build 1.
    pub builds: [u64; BUILDS as usize],
    /// Bytes of all dumps.
    pub bytes: u64,
    /// Why crates of the corpus are not used.
    pub missing: Option<String>,
    /// Seconds for the builds.
    pub building: f64,
    /// Seconds for the runs.
    pub running: f64,
}

/// Makes a fleet in an empty or new directory: `dumps`, `maps`, `truth.tsv`, and `places.tsv` with the line of each bug
/// in each build.
///
/// # Errors
/// The directory cannot be written, or it is not empty.
///
/// # Panics
/// A run ended in another way than its scenario says.
pub fn make_fleet(directory: &Path, options: &FleetOptions) -> std::io::Result<FleetSummary> {
    fs::create_dir_all(directory)?;
    if fs::read_dir(directory)?.next().is_some() {
        return Err(std::io::Error::other("the directory is not empty"));
    }
    let missing = builds::missing_crates();
    let start = Instant::now();
    let made = builds::make_builds(&edits::edited_files(), &directory.join("maps"), missing.is_none());
    let building = start.elapsed().as_secs_f64();
    fs::write(directory.join("places.tsv"), places(&made))?;
    for part in 0..options.dumps.div_ceil(IN_DIRECTORY) {
        fs::create_dir_all(directory.join(format!("dumps/{part:03}")))?;
    }
    let has_crates = missing.is_none();
    let mut summary = FleetSummary {
        good: 0,
        bugs: Default::default(),
        builds: Default::default(),
        bytes: 0,
        missing,
        building,
        running: 0.0,
    };
    let start = Instant::now();
    run_all(directory, options, &made, has_crates);
    summary.running = start.elapsed().as_secs_f64();
    let mut truth = "path\tbuild\tmap\tdevice\tday\toutcome\tbug\n".to_owned();
    for number in 0..options.dumps {
        let run = Scenario::new(options.seed, number, has_crates);
        let path = path_of(number);
        let map = &made[usize::from(run.build) - 1].map;
        let outcome = if run.bug.is_some() { "bad" } else { "good" };
        let bug = run.bug.map_or(String::new(), |bug| bug.to_string());
        let (build, device, day) = (run.build, run.device, runs::date(run.day));
        let row = writeln!(truth, "{path}\t{build}\t{map}\tdev-{device:03}\t{day}\t{outcome}\t{bug}");
        row.expect("a string has room");
        summary.bytes += fs::metadata(directory.join(path))?.len();
        summary.builds[usize::from(build) - 1] += 1;
        match run.bug {
            Some(bug) => summary.bugs[usize::from(bug) - 1] += 1,
            None => summary.good += 1,
        }
    }
    fs::write(directory.join("truth.tsv"), truth)?;
    Ok(summary)
}

/// The file of a dump, below the directory of the fleet.
fn path_of(number: u64) -> String {
    format!("dumps/{:03}/{number:06}.xhist", number / IN_DIRECTORY)
}

/// Runs the program for every dump, several at a time.
fn run_all(directory: &Path, options: &FleetOptions, builds: &[FleetBuild], has_crates: bool) {
    let next = AtomicU64::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= options.dumps {
                        return;
                    }
                    if number > 0 && number.is_multiple_of(5000) {
                        let rate = number as f64 / start.elapsed().as_secs_f64();
                        eprintln!("{number} dumps, {rate:.0} a second");
                    }
                    let scenario = Scenario::new(options.seed, number, has_crates);
                    let build = &builds[usize::from(scenario.build) - 1];
                    runs::run(&scenario, build, &directory.join(path_of(number)));
                }
            });
        }
    });
}

/// Where each bug fails in each build.
fn places(builds: &[FleetBuild]) -> String {
    let mut places = "build\tbug\tfile\tline\tfunction\tstatement\n".to_owned();
    for build in builds {
        for bug in BUGS.iter().filter(|bug| bug.is_in(build.number)) {
            let Some(text) = build.texts.get(bug.file) else { continue };
            let (number, line, file) = (bug.number, bug.line(text), bug.file);
            let function = bug.function.trim_start_matches("fn ").trim_end_matches('(');
            let row =
                writeln!(places, "{}\t{number}\t{file}\t{line}\t{function}\t{}", build.number, bug.statement);
            row.expect("a string has room");
        }
    }
    places
}
