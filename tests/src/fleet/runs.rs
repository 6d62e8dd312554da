//! Runs the program for one dump, and compares how it ended with what its scenario wants.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, SystemTime};

use crate::fleet::bugs::{HANG, InjectedBug};
use crate::fleet::builds::FleetBuild;
use crate::fleet::scenario::Scenario;
use crate::run::processor_time;

/// 2026-10-01, in seconds.
const FIRST_DAY: u64 = 1_790_812_800;
const DAY: u64 = 86_400;

/// Pages of 96 lines in the bitmap of statements that ever ran. `XHIST_EVER=on` makes it 30 times as large.
const PAGES: &str = "128";

/// Runs the program, which leaves its ring file here.
///
/// # Panics
/// The run ended in another way than the scenario says.
pub fn run(scenario: &Scenario, build: &FleetBuild, file: &Path) {
    let mut command = Command::new(&build.program);
    command.args(&scenario.jobs).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("XHIST_FILE", file).env("XHIST_SIZE", scenario.ring.to_string());
    command.env("XHIST_EVER", PAGES).env("XHIST_PANIC", "0");
    let status = match scenario.hanging {
        None => command.status().expect("the program starts"),
        Some(job) => killed(command, job, Duration::from_millis(scenario.patience)),
    };
    let is_expected = match scenario.bug {
        None => status.code() == Some(0),
        Some(HANG) => status.signal() == Some(9),
        Some(2) => status.code() == Some(1),
        Some(10) => status.signal() == Some(6),
        Some(_) => status.code() == Some(101),
    };
    let what = scenario.bug.map_or("success", |bug| InjectedBug::numbered(bug).what);
    assert!(is_expected, "build {}: {status}, not {what}: {:?}", build.number, scenario.jobs);
    let time = FIRST_DAY + (scenario.day - 1) * DAY + scenario.second;
    let file = File::options().write(true).open(file).expect("the program leaves a ring file");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(time)).expect("another time");
}

/// Lets the program start a job that never ends, and kills it when it has computed that long: on a busy machine it may not even
/// have begun after a time that passes.
fn killed(mut command: Command, job: usize, patience: Duration) -> ExitStatus {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let stdout = child.stdout.take().expect("its output");
    let start = format!("job {job}");
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    // The reader stays open, so that the program can print until it is killed.
    let mut lines = lines.skip_while(|line| *line != start);
    assert!(lines.next().is_some(), "the program begins job {job}");
    let begun = processor_time(child.id());
    while processor_time(child.id()) < begun + patience {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("the program runs");
    child.wait().expect("its end")
}

/// A day as `2026-10-01`.
pub fn date(day: u64) -> String {
    format!("2026-10-{day:02}")
}
