//! Runs programs in cargo's place: one test for nextest, and firmware under the user's own runner.
//!
//! Of a test only a failure keeps its history.
//!
//! Nextest starts a process for each test. The runner gives each test a directory, for the ring files of its process and of
//! all processes that it starts, and removes the directory after a success.

pub(crate) mod firmware;

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use crate::names::{RUNNER_NAME, SPECTRA};
use crate::post_run;
use crate::system;
use qs_core::ring::process_start::ProcessStart;

/// Runs one test. `args`: the runner's path, the test program, its arguments.
pub(crate) fn main(args: &[OsString]) -> ExitCode {
    let [_, program, args @ ..] = args else {
        eprintln!("error: {RUNNER_NAME} is called by nextest, with a test program as its first argument");
        return ExitCode::from(1);
    };
    let mut command = Command::new(program);
    command.args(args);
    let pattern = std::env::var_os("XHIST_FILE").unwrap_or_default();
    let (run, name) = (Path::new(&pattern).parent(), Path::new(&pattern).file_name());
    let own = run.map(|run| run.join(std::process::id().to_string()));
    if let (Some(own), Some(name)) = (&own, name)
        && std::fs::create_dir_all(own).is_ok()
    {
        command.env("XHIST_FILE", own.join(name));
    }
    // Signals are for the test; this process ends the same way below.
    system::leave_signals();
    let (pid, status) = match run_to_end(&mut command) {
        Ok(ended) => ended,
        Err(error) => {
            eprintln!("error: cannot run {}: {error}", program.display());
            return ExitCode::from(101);
        }
    };
    if let Some(own) = own {
        let test = test_name(args);
        spectra(&own).for_each(|file| _ = belongs_to(&file, pid));
        if status.success() {
            // A process that lists the tests is no test.
            run.into_iter().filter(|_| test.is_some()).for_each(|run| keep_spectra(&own, run));
            let _ = std::fs::remove_dir_all(own);
        } else {
            let (exit, signal) = (status.code(), post_run::signal_of(status));
            let nextest_run = std::env::var("NEXTEST_RUN_ID").ok();
            post_run::RunnerRecord { test, pid: Some(pid), exit, signal, asked: None, nextest_run }
                .write(&own);
        }
    }
    // Nextest must see how the test ended.
    system::end_as(status)
}

/// Runs the test to its end.
fn run_to_end(command: &mut Command) -> io::Result<(u32, ExitStatus)> {
    let mut child = command.spawn()?;
    Ok((child.id(), child.wait()?))
}

/// The files of spectra in the directory of a test.
fn spectra(own: &Path) -> impl Iterator<Item = PathBuf> {
    let files = std::fs::read_dir(own).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == SPECTRA))
}

/// Adds to a file of spectra that its process belongs to the test: processes that started each other between the two may
/// not be recorded.
fn belongs_to(file: &Path, test: u32) -> io::Result<()> {
    let number = file.file_stem().and_then(|stem| stem.to_str()?.rsplit_once('-')?.1.parse().ok());
    let Some(pid) = number.filter(|pid| *pid != test) else { return Ok(()) };
    let start = ProcessStart { pid, parent: test, thread: 0 };
    OpenOptions::new().append(true).open(file)?.write_all(&start.bytes())
}

/// Moves the spectra of a test that passed to the directory of the run. They are small, and suspects need them.
fn keep_spectra(own: &Path, run: &Path) {
    for file in spectra(own) {
        let _ = file.file_name().map(|name| std::fs::rename(&file, run.join(name)));
    }
}

/// The name of the test: nextest passes it with `--exact`, among other options.
fn test_name(args: &[OsString]) -> Option<String> {
    let mut names = args.iter().filter(|arg| !arg.as_encoded_bytes().starts_with(b"-"));
    let is_one = args.iter().any(|arg| arg == "--exact");
    names.next().filter(|_| is_one).map(|name| name.to_string_lossy().into_owned())
}
