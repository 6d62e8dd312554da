//! What is known of a kind of runner, and how its command line is read.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::runner::firmware::ring_place::RingPlace;
use crate::runner::firmware::target_memory::Emulators;

/// Makes the command that writes the ring to this file, from the words of the user's runner.
pub(in crate::runner::firmware) type ReadCommand =
    fn(&[OsString], &RingPlace, &Path) -> Result<Vec<OsString>, String>;

/// When and how memory is read.
#[derive(Clone, Copy)]
pub(in crate::runner::firmware) enum Reading {
    /// The target's memory is that of an emulator's process, so it is read before the process is gone.
    AtItsEnd(Emulators),
    /// The target keeps its memory: a command reads it afterwards.
    After(ReadCommand),
}

impl Reading {
    /// The same for a runner that another program starts.
    pub(super) fn of_a_started_one(self) -> Reading {
        match self {
            Reading::AtItsEnd(Emulators::Runner) => Reading::AtItsEnd(Emulators::Started(is_emulator)),
            other => other,
        }
    }
}

/// Whether the program with this name is an emulator of whole machines.
pub(super) fn is_emulator(program: &str) -> bool {
    program.starts_with("qemu-system-")
}

/// A kind of runner.
pub(in crate::runner::firmware) struct RunnerKind {
    /// Whether it is this program with these arguments.
    pub(super) is: fn(&str, &[OsString]) -> bool,
    pub(in crate::runner::firmware) reading: Reading,
}

/// The options with these names that a command line has, with their values. `--name value` and `--name=value` are the same.
pub(super) fn options(args: &[OsString], with_value: &[&str], alone: &[&str]) -> Vec<OsString> {
    let mut found = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let is_joined = |name: &&&str| {
            word.to_str().and_then(|word| word.strip_prefix(**name)).is_some_and(|rest| rest.starts_with('='))
        };
        if with_value.iter().any(|name| word == name) {
            found.push(word.clone());
            found.extend(words.next().cloned());
        } else if alone.iter().any(|name| word == name) || with_value.iter().any(|name| is_joined(&name)) {
            found.push(word.clone());
        }
    }
    found
}

/// Words of a command.
pub(super) fn words<const N: usize>(words: [&dyn AsRef<OsStr>; N]) -> impl Iterator<Item = OsString> {
    words.map(|word| word.as_ref().to_owned()).into_iter()
}
