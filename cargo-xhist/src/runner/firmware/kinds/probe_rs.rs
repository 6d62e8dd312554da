//! probe-rs (the crate probe-rs-tools, 0.24 to 0.32): `probe-rs read` attaches to the chip without a reset.

use std::ffi::OsString;
use std::path::Path;

use super::kind::{Reading, RunnerKind, options, words};
use crate::runner::firmware::ring_place::RingPlace;

pub(super) const KIND: RunnerKind = RunnerKind {
    is: |program, args| program == "probe-rs" && subcommand(args).is_some(),
    reading: Reading::After(command),
};

/// Options of every subcommand.
const GLOBAL: [&str; 3] = ["--host", "--token", "--preset"];
/// Options that choose the probe and the chip, and are the same for `read`. Those that would reset the chip are left out.
const WITH_VALUE: [&str; 5] = ["--chip", "--chip-description-path", "--protocol", "--probe", "--speed"];
const ALONE: [&str; 1] = ["--non-interactive"];

/// The index of the subcommand, if it is one that runs a program.
fn subcommand(args: &[OsString]) -> Option<usize> {
    args.iter().position(|arg| arg == "run" || arg == "attach")
}

fn command(runner: &[OsString], place: &RingPlace, file: &Path) -> Result<Vec<OsString>, String> {
    let (program, args) = runner.split_first().ok_or("there is no program")?;
    let at = subcommand(args).ok_or("there is no subcommand")?;
    if args.iter().any(|arg| arg == "--dry-run") {
        return Err("with --dry-run there is no target to read".to_owned());
    }
    let (start, count) = (format!("{:#x}", place.start), (place.len / 4).to_string());
    let mut command = vec![program.clone()];
    command.extend(options(&args[..at], &GLOBAL, &[]));
    command.push("read".into());
    let with_value: Vec<&str> = WITH_VALUE.iter().chain(&GLOBAL).copied().collect();
    command.extend(options(&args[at + 1..], &with_value, &ALONE));
    if let (Some(chip), []) = (&place.chip, &options(&args[at + 1..], &["--chip"], &[])[..]) {
        command.extend(words([&"--chip", chip]));
    }
    // Words are read faster than bytes. A ring is a whole number of them.
    command.extend(words([&"--output", &file, &"--format", &"binary", &"b32", &start, &count]));
    Ok(command)
}
