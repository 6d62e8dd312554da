//! OpenOCD as a runner: it is started again with the same configuration files.

use std::ffi::OsString;
use std::path::Path;

use super::kind::{Reading, RunnerKind, options, words};
use crate::firmware::ring_place::RingPlace;

pub(super) const KIND: RunnerKind =
    RunnerKind { is: |program, _| program == "openocd", reading: Reading::After(command) };

fn command(runner: &[OsString], place: &RingPlace, file: &Path) -> Result<Vec<OsString>, String> {
    let (program, args) = runner.split_first().ok_or("there is no program")?;
    let dump = format!("dump_image {} {:#x} {}", file.display(), place.start, place.len);
    let mut command = vec![program.clone()];
    command.extend(options(args, &["-f", "--file", "-s", "--search"], &[]));
    command.extend(words([&"-c", &"init", &"-c", &"halt", &"-c", &dump, &"-c", &"shutdown"]));
    Ok(command)
}
