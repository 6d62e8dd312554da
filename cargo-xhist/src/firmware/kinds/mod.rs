//! The runners that are known: how each is recognised, and how the target's memory is read.

mod gdb;
pub(super) mod kind;
mod probe_rs;
mod qemu;

use std::ffi::OsString;
use std::path::Path;

use self::kind::RunnerKind;

/// All of them.
static KINDS: [RunnerKind; 4] = [probe_rs::KIND, qemu::KIND, qemu::FOR_TESTS, gdb::KIND];

/// The kind of a runner, by the name of its program.
pub(super) fn kind_of(runner: &[OsString]) -> Option<&'static RunnerKind> {
    let (program, args) = runner.split_first()?;
    let name = Path::new(program).file_stem()?.to_str()?;
    KINDS.iter().find(|kind| (kind.is)(name, args))
}

#[cfg(test)]
mod tests {
    use super::kind::Reading;
    use super::*;
    use crate::firmware::ring_place::RingPlace;
    use crate::firmware::target_memory::Emulators;

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
        let kind = kind_of(&runner).ok_or("unknown")?;
        let place = RingPlace { start: 0x2000_0040, len: 8320, chip: chip.map(str::to_owned) };
        match kind.reading {
            Reading::AtItsEnd(Emulators::Runner) => Ok("at its end".to_owned()),
            Reading::AtItsEnd(Emulators::Started(_)) => Ok("at the end of each".to_owned()),
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
            ("embedded-test-qemu-runner --qemu qemu-system-arm", "at the end of each"),
        ] {
            assert_eq!(read(runner).as_deref(), Ok(command), "{runner}");
        }
        for unknown in [
            "espflash flash --monitor",
            "probe-rs download --chip A",
            "qemu-arm",
            "elf2uf2-rs -d",
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
