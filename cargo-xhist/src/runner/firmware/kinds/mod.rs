//! The runners that are known: how each is recognised, and how the target's memory is read.

mod gdb;
pub(super) mod kind;
mod probe_rs;
mod qemu;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use self::kind::{Reading, RunnerKind};

/// All of them.
static KINDS: [RunnerKind; 4] = [probe_rs::KIND, qemu::KIND, qemu::FOR_TESTS, gdb::KIND];

/// Programs that start the runner, as in `timeout 60 probe-rs run --chip ...`.
const STARTERS: [&str; 8] = ["env", "ionice", "nice", "setsid", "stdbuf", "sudo", "time", "timeout"];

/// A runner of a known kind.
pub(super) struct KnownRunner<'a> {
    /// Its own words, behind those of a program that starts it.
    pub(super) words: &'a [OsString],
    pub(super) reading: Reading,
}

/// The runner with these words, by the name of its program.
pub(super) fn known(runner: &[OsString]) -> Option<KnownRunner<'_>> {
    let is_started = STARTERS.contains(&name(runner.first()?)?);
    let places = if is_started { 1..runner.len() } else { 0..1 };
    places.into_iter().find_map(|at| {
        let words = &runner[at..];
        let (program, args) = words.split_first()?;
        let name = name(program)?;
        let kind = KINDS.iter().find(|kind| (kind.is)(name, args))?;
        let reading = if is_started { kind.reading.of_a_started_one() } else { kind.reading };
        Some(KnownRunner { words, reading })
    })
}

fn name(program: &OsStr) -> Option<&str> {
    Path::new(program).file_stem()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::firmware::ring_place::RingPlace;
    use crate::runner::firmware::target_memory::Emulators;

    fn line(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    /// The command that reads after this runner.
    fn read(runner: &str) -> Result<String, String> {
        read_of(None, runner)
    }

    /// The same for a program that names this chip.
    fn read_of(chip: Option<&str>, runner: &str) -> Result<String, String> {
        let runner = line(runner);
        let KnownRunner { words, reading } = known(&runner).ok_or("unknown")?;
        let place = RingPlace { start: 0x2000_0040, len: 8320, chip: chip.map(str::to_owned) };
        match reading {
            Reading::AtItsEnd(Emulators::Runner) => Ok("at its end".to_owned()),
            Reading::AtItsEnd(Emulators::Started(_)) => Ok("at the end of each".to_owned()),
            Reading::After(command) => {
                let words = command(words, &place, Path::new("f"))?;
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
            ("embedded-test-qemu-runner --qemu qemu-system-arm", "at the end of each"),
            ("timeout 60 qemu-system-arm -machine lm3s6965evb -kernel", "at the end of each"),
            (
                "/usr/bin/timeout --foreground 60 probe-rs run --chip A",
                "probe-rs read --chip A --output f --format binary b32 0x20000040 2080",
            ),
        ] {
            assert_eq!(read(runner).as_deref(), Ok(command), "{runner}");
        }
        for unknown in [
            "espflash flash --monitor",
            "probe-rs download --chip A",
            "qemu-arm",
            "elf2uf2-rs -d",
            "timeout 60 espflash flash --monitor",
            "timeout",
            // A server, which gives its word to no gdb.
            "probe-rs gdb --chip A",
            // It refuses the program that cargo puts behind its arguments.
            "openocd -f interface/stlink.cfg -f target/stm32f4x.cfg",
        ] {
            assert_eq!(read(unknown), Err("unknown".to_owned()), "{unknown}");
        }
    }
    #[test]
    fn probe_rs_reads_the_chip_that_the_program_names() {
        for (runner, chip) in [("probe-rs run", "--chip A"), ("probe-rs run --chip=a", "--chip=a")] {
            let command = format!("probe-rs read {chip} --output f --format binary b32 0x20000040 2080");
            assert_eq!(read_of(Some("A"), runner), Ok(command));
        }
    }
}
