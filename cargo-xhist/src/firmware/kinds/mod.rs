//! The runners that are known: how each is recognised, and how the target's memory is read.

mod gdb;
mod openocd;
mod probe_rs;
mod qemu;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::ring_place::RingPlace;

/// Makes the command that writes the ring to this file, from the words of the user's runner.
pub(super) type ReadCommand = fn(&[OsString], &RingPlace, &Path) -> Result<Vec<OsString>, String>;

/// When and how memory is read.
pub(super) enum Reading {
    /// The target's memory is that of the runner's process, so it is read before the process is gone.
    AtItsEnd,
    /// The target keeps its memory: a command reads it afterwards.
    After(ReadCommand),
}

/// A kind of runner.
pub(super) struct Kind {
    /// Whether it is this program with these arguments.
    is: fn(&str, &[OsString]) -> bool,
    pub(super) reading: Reading,
}

/// All of them.
const KINDS: [Kind; 4] = [probe_rs::KIND, qemu::KIND, openocd::KIND, gdb::KIND];

impl Kind {
    /// The kind of a runner, by the name of its program.
    pub(super) fn of(runner: &[OsString]) -> Option<&'static Kind> {
        static ALL: [Kind; 4] = KINDS;
        let (program, args) = runner.split_first()?;
        let name = Path::new(program).file_stem()?.to_str()?;
        ALL.iter().find(|kind| (kind.is)(name, args))
    }
}

/// The options with these names that a command line has, with their values. `--name value` and `--name=value` are the same.
fn options(args: &[OsString], with_value: &[&str], alone: &[&str]) -> Vec<OsString> {
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
fn words<const N: usize>(words: [&dyn AsRef<OsStr>; N]) -> impl Iterator<Item = OsString> {
    words.map(|word| word.as_ref().to_owned()).into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    /// The command that reads after this runner.
    fn read(runner: &str) -> Result<String, String> {
        let runner = line(runner);
        let kind = Kind::of(&runner).ok_or("unknown")?;
        let place = RingPlace { start: 0x2000_0040, len: 8320 };
        match kind.reading {
            Reading::AtItsEnd => Ok("at its end".to_owned()),
            Reading::After(command) => {
                let words = command(&runner, &place, Path::new("f"))?;
                Ok(words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
            }
        }
    }

    #[test]
    fn each_runner_has_its_command() {
        for (runner, command) in [
            (
                "probe-rs run --chip nRF52840_xxAA",
                "probe-rs read --chip nRF52840_xxAA --output f --format binary b32 0x20000040 2080",
            ),
            (
                "/opt/bin/probe-rs attach --always-print-stacktrace --chip=A --probe 0d28:0204 --speed 4000 --protocol swd",
                "/opt/bin/probe-rs read --chip=A --probe 0d28:0204 --speed 4000 --protocol swd --output f --format binary b32 0x20000040 2080",
            ),
            (
                "probe-rs --host a run --connect-under-reset --non-interactive --log-format full --chip B",
                "probe-rs --host a read --non-interactive --chip B --output f --format binary b32 0x20000040 2080",
            ),
            ("qemu-system-arm -machine lm3s6965evb -kernel", "at its end"),
            ("qemu-system-riscv32 -nographic -kernel", "at its end"),
            (
                "openocd -f interface/stlink.cfg -f target/stm32f4x.cfg -c program",
                "openocd -f interface/stlink.cfg -f target/stm32f4x.cfg -c init -c halt -c dump_image f 0x20000040 8320 -c shutdown",
            ),
        ] {
            assert_eq!(read(runner).as_deref(), Ok(command), "{runner}");
        }
        for unknown in ["espflash flash --monitor", "probe-rs download --chip A", "qemu-arm", "elf2uf2-rs -d"]
        {
            assert_eq!(read(unknown).as_deref(), Err("unknown"), "{unknown}");
        }
    }
}
