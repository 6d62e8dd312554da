//! Runs one test in place of nextest, and keeps its history only when it failed.
//!
//! Nextest starts a process for each test, thousands of them, each with rings of its own. This
//! program, under a name that says so, gives each its own directory and removes it after a success.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use super::after;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// The name under which this program is the runner.
pub(super) const NAME: &str = "xhist-runner";

/// `args`: the runner's path, the test program, its arguments.
pub(super) fn main(args: &[OsString]) -> ExitCode {
    let [_, program, args @ ..] = args else {
        eprintln!("error: {NAME} is called by nextest, with a test program as its first argument");
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
    // What ends the test is for the test; then for this process, below.
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
            let _ = std::fs::remove_dir_all(own);
        } else {
            let (exit, signal) = (status.code(), after::signal_of(status));
            after::TestOutcome { test: test_name(args), exit, signal }.write(&own);
        }
    }
    if let Some(signal) = status.signal() {
        // Nextest shall see how the test ended.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    super::exit_code(status)
}

/// Nextest names one test behind `--exact`, among other options.
fn test_name(args: &[OsString]) -> Option<String> {
    let mut names = args.iter().filter(|arg| !arg.as_encoded_bytes().starts_with(b"-"));
    let is_one = args.iter().any(|arg| arg == "--exact");
    names.next().filter(|_| is_one).map(|name| name.to_string_lossy().into_owned())
}
