//! Runs one test in place of nextest, and keeps its history only when it failed.
//!
//! Nextest starts a process for each test, each with its own ring file. The runner gives each process a directory, and
//! removes the directory after a success.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use super::exit_code::exit_code;
use super::names::{RUNNER_NAME, SPECTRA};
use super::post_run;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Runs one test. `args`: the runner's path, the test program, its arguments.
pub(super) fn main(args: &[OsString]) -> ExitCode {
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
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        let _ = signal_hook::flag::register(signal, Arc::default());
    }
    let status = match command.status() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("error: cannot run {}: {error}", program.display());
            return ExitCode::from(101);
        }
    };
    if let Some(own) = own {
        if status.success() {
            run.into_iter().for_each(|run| keep_spectra(&own, run));
            let _ = std::fs::remove_dir_all(own);
        } else {
            let (exit, signal) = (status.code(), post_run::signal_of(status));
            post_run::TestOutcome { test: test_name(args), exit, signal }.write(&own);
        }
    }
    if let Some(signal) = status.signal() {
        // Nextest must see how the test ended.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    exit_code(status)
}

/// Moves the spectra of a test that passed to the directory of the run. They are small, and suspects need them.
fn keep_spectra(own: &Path, run: &Path) {
    for entry in std::fs::read_dir(own).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == SPECTRA) {
            let _ = std::fs::rename(entry.path(), run.join(entry.file_name()));
        }
    }
}

/// The name of the test: nextest passes it with `--exact`, among other options.
fn test_name(args: &[OsString]) -> Option<String> {
    let mut names = args.iter().filter(|arg| !arg.as_encoded_bytes().starts_with(b"-"));
    let is_one = args.iter().any(|arg| arg == "--exact");
    names.next().filter(|_| is_one).map(|name| name.to_string_lossy().into_owned())
}
