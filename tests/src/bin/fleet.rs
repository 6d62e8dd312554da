//! Makes a fleet of dumps with known truth, for tools that look at many dumps at once.
//!
//! ```sh
//! cargo run --release -p xhist-tests --bin fleet -- DIR --dumps 100000 [--seed N] [--jobs N]
//! ```
//!
//! DIR gets `dumps/*/*.xhist`, `maps/HASH.map`, `truth.tsv` (build, device, day, outcome and bug of each dump) and
//! `places.tsv` (the line of each bug in each build).

use std::path::PathBuf;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use xhist_tests::clean_up;
use xhist_tests::fleet::{BUGS, FleetOptions, FleetSummary, make_fleet};

fn main() -> ExitCode {
    let (directory, options) = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}; usage: fleet DIR [--dumps N] [--seed N] [--jobs N]");
            return ExitCode::from(2);
        }
    };
    // Runs that abort leave no core files.
    let cores = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    setrlimit(Resource::Core, cores).expect("a lower limit");
    let made = make_fleet(&directory, &options);
    clean_up();
    match made {
        Ok(summary) => {
            print(&options, &summary);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}: {error}", directory.display());
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<(PathBuf, FleetOptions), String> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut options = FleetOptions { dumps: 2000, seed: 1, jobs };
    let mut directory = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let value = arguments.next().ok_or(format!("{argument} needs a number"))?;
            value.parse::<u64>().map_err(|error| format!("{argument} {value}: {error}"))
        };
        match argument.as_str() {
            "--dumps" => options.dumps = number()?,
            "--seed" => options.seed = number()?,
            "--jobs" => options.jobs = number()? as usize,
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            path if directory.is_none() => directory = Some(PathBuf::from(path)),
            path => return Err(format!("a second directory, {path}")),
        }
    }
    let directory = directory.ok_or("no directory")?;
    // Programs run elsewhere, so their ring files need a full path.
    let directory = std::path::absolute(&directory).map_err(|error| error.to_string())?;
    Ok((directory, options))
}

fn print(options: &FleetOptions, summary: &FleetSummary) {
    if let Some(missing) = &summary.missing {
        println!("without crates of the corpus and without the bug in one: {missing}");
    }
    for (bug, count) in BUGS.iter().zip(summary.bugs) {
        println!("bug {:2}: {count:6} in builds {}-{}: {}", bug.number, bug.since, bug.until, bug.what);
    }
    println!("good:   {:6}", summary.good);
    for (build, count) in (1..).zip(summary.builds) {
        println!("build {build}: {count}");
    }
    let (dumps, kib) = (options.dumps, summary.bytes as f64 / 1024.0);
    println!(
        "{dumps} dumps, {:.1} KiB each, builds in {:.1} s, runs in {:.1} s: {:.0} dumps a second",
        kib / dumps.max(1) as f64,
        summary.building,
        summary.running,
        dumps as f64 / summary.running
    );
}
