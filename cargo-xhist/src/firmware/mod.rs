//! Runs firmware under the user's own runner (probe-rs, QEMU, OpenOCD, gdb), and reads the ring from the target's memory when that
//! ends.
//!
//! Cargo calls this program in place of the user's runner. It passes everything through: arguments, standard streams, signals,
//! the exit code. The ring becomes a ring file of the run, so all reports find it.

mod kinds;
mod ring_place;
mod target_memory;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use qs_core::ring::{self, Item, Reader};
use serde::{Deserialize, Serialize};
use xhist_history::typed;

use self::kinds::kind::{ReadCommand, Reading, RunnerKind};
use self::ring_place::{OVERWRITTEN, RingBytes, RingPlace, RingProblem};
use crate::command::COMMANDS;
use crate::names::FIRMWARE_RUNNER_NAME;
use crate::post_run::{RunnerRecord, signal_of};
use crate::system::{self, Caught};

/// A debugger that reads a few kilobytes is done long before.
const LONGEST_READ: Duration = Duration::from_secs(60);
/// Lines of a reader's messages that are shown.
const SHOWN_LINES: usize = 4;

/// The variable with the description of a run.
const VARIABLE: &str = "XHIST_FIRMWARE_RUN";

/// What the runner needs to know of a run. It is in the environment, because cargo splits a runner's line at blanks.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FirmwareRun {
    /// The directory of the run. `None`: the user's `XHIST_FILE` names the file.
    pub(crate) directory: Option<PathBuf>,
    /// The words of the user's runner for each target.
    pub(crate) runners: BTreeMap<String, Vec<String>>,
}

impl FirmwareRun {
    /// Gives the description to the runner that this cargo starts.
    pub(crate) fn describe_to(&self, cargo: &mut Command) {
        cargo.env(VARIABLE, serde_json::to_string(self).unwrap_or_default());
    }

    /// Cargo's setting that puts our runner in front of the user's. It is of the same type: cargo refuses a text in place of a
    /// list. `None`: cargo would split the path.
    pub(crate) fn setting(program: &Path, target: &str, is_list: bool) -> Option<String> {
        let program = program.to_str().filter(|path| is_list || !path.contains(char::is_whitespace))?;
        let value = match is_list {
            true => toml::Value::from(vec![program, target]),
            false => toml::Value::from(format!("{program} {target}")),
        };
        Some(format!("target.{target:?}.runner={value}"))
    }
}

/// What a runner is called with.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    /// The directory of the run.
    directory: Option<PathBuf>,
    /// The words of the user's runner.
    runner: Vec<OsString>,
    /// The firmware and its arguments.
    firmware: Vec<OsString>,
}

impl Call {
    /// Takes this program's path, the target, and the words that cargo adds.
    fn parse(args: &[OsString], description: &str) -> Option<Call> {
        let [_, target, firmware @ ..] = args else { return None };
        let mut run: FirmwareRun = serde_json::from_str(description).ok()?;
        let runner: Vec<OsString> =
            run.runners.remove(target.to_str()?)?.into_iter().map(OsString::from).collect();
        let is_whole = !runner.is_empty() && !firmware.is_empty();
        is_whole.then(|| Call { directory: run.directory, runner, firmware: firmware.to_vec() })
    }
}

/// Runs one program.
pub(crate) fn main(args: &[OsString]) -> ExitCode {
    let description = std::env::var(VARIABLE).unwrap_or_default();
    let Some(call) = Call::parse(args, &description) else {
        eprintln!("error: {FIRMWARE_RUNNER_NAME} is called by cargo, with the user's runner and a program");
        return ExitCode::from(1);
    };
    typed::use_cargo(&COMMANDS);
    let elf = Path::new(&call.firmware[0]);
    let kind = kinds::kind_of(&call.runner);
    let program = call.runner[0].display();
    // A signal of the terminal is for the runner; one that reached only this process is forwarded.
    system::leave_quit();
    let caught = Caught::start();
    let mut command = Command::new(&call.runner[0]);
    let spawned = command.args(&call.runner[1..]).args(&call.firmware).env_remove(VARIABLE).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            eprintln!("error: cannot run `{program}`: {error}");
            return ExitCode::from(101);
        }
    };
    let place = RingPlace::of(elf);
    let (status, memory) = match run_to_end(&mut child, &caught, kind, &place) {
        Ok(ended) => ended,
        Err(error) => {
            eprintln!("error: cannot wait for `{program}`: {error}");
            return ExitCode::from(101);
        }
    };
    let memory = match (memory, kind.map(|kind| &kind.reading), &place) {
        (None, Some(Reading::After(command)), Ok(place)) => read_after(*command, &call.runner, place),
        (None, _, Err(problem)) => Err(problem.to_string()),
        (None, ..) => Err(format!("`{program}` is not a runner after which xhist can read memory")),
        (Some(memory), ..) => memory,
    };
    match memory {
        Ok(memory) => {
            if !has_statements(&memory) {
                eprintln!("\nxhist: {OVERWRITTEN}");
            }
            keep(&memory, &call, status, caught.newest());
        }
        Err(problem) => {
            let dump = typed::command(format!("history --how-to-dump {}", typed::shown_path(elf)));
            eprintln!("\nxhist: {problem}; how to read the history: {dump}");
        }
    }
    // Cargo must see how the runner ended.
    system::end_as(status)
}

/// Waits for the runner, and reads the ring at its last moment where memory ends with it.
fn run_to_end(
    child: &mut Child,
    caught: &Caught,
    kind: Option<&RunnerKind>,
    place: &Result<RingPlace, RingProblem>,
) -> io::Result<(ExitStatus, Option<RingBytes>)> {
    match (kind, place) {
        (Some(RunnerKind { reading: Reading::AtItsEnd, .. }), Ok(place)) => {
            let (status, memory) = caught.during(child.id(), || target_memory::run_to_end(child, place))?;
            Ok((status, Some(memory)))
        }
        _ => Ok((caught.wait(child)?, None)),
    }
}

/// Starts the command that reads memory after the runner ended, and takes what it wrote.
fn read_after(command: ReadCommand, runner: &[OsString], place: &RingPlace) -> RingBytes {
    let directory = tempfile::tempdir().map_err(|error| format!("a dump cannot be written: {error}"))?;
    let file = directory.path().join("dump.bin");
    let command = command(runner, place, &file)?;
    let (program, args) = command.split_first().ok_or("there is no command that reads memory")?;
    let typed = || command.iter().map(|word| typed::quoted(Path::new(word))).collect::<Vec<_>>().join(" ");
    let log = directory.path().join("log");
    let ended = run_for_a_while(program, args, &log).map_err(|error| format!("`{}`: {error}", typed()))?;
    let memory = std::fs::read(&file).unwrap_or_default();
    if memory.len() == place.len {
        return Ok(memory);
    }
    let log = String::from_utf8_lossy(&std::fs::read(&log).unwrap_or_default()).into_owned();
    let said: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let said = said[said.len().saturating_sub(SHOWN_LINES)..].join("\n  ");
    Err(format!("the ring was not read: `{}` {}\n  {said}\n ", typed(), how(ended)))
}

fn how(ended: Option<ExitStatus>) -> String {
    match ended {
        None => format!("did not end within {} seconds", LONGEST_READ.as_secs()),
        Some(status) => match (status.code(), signal_of(status)) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, signal) => format!("died of {}", signal.unwrap_or_default()),
        },
    }
}

/// Runs a program without input, with its output in a file. `None`: it had to be stopped.
fn run_for_a_while(program: &OsStr, args: &[OsString], log: &Path) -> io::Result<Option<ExitStatus>> {
    const STEP: Duration = Duration::from_millis(10);
    let output = std::fs::File::create(log)?;
    let mut command = Command::new(program);
    // A reset would start the program again.
    for variable in ["PROBE_RS_CONNECT_UNDER_RESET", "PROBE_RS_CYCLE_POWER"] {
        command.env_remove(variable);
    }
    command.args(args).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let mut child = command.spawn()?;
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() > LONGEST_READ {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        std::thread::sleep(STEP);
    }
}

/// Whether there is a statement in one of the rings.
fn has_statements(memory: &[u8]) -> bool {
    ring::find(memory).any(|found| {
        let Ok(header) = found.header else { return false };
        let mut reader = Reader::new(header, &memory[found.offset..]);
        while let Some(item) = reader.next() {
            if matches!(item, Item::Statement(..)) {
                return true;
            }
        }
        false
    })
}

/// Makes the ring a file of the run, with a record of how the runner ended. Each program has a directory, as each test of nextest.
fn keep(memory: &[u8], call: &Call, status: ExitStatus, asked: Option<i32>) {
    let pid = std::process::id();
    let name = Path::new(&call.firmware[0]).file_name().unwrap_or_default().to_string_lossy();
    let fill = |pattern: &str| pattern.replace("%e", &name).replace("%p", &pid.to_string());
    let file = match (&call.directory, std::env::var("XHIST_FILE")) {
        (Some(run), _) => run.join(pid.to_string()).join(fill("%e-%p.xhist")),
        (None, Ok(pattern)) => PathBuf::from(fill(&pattern)),
        (None, Err(_)) => return,
    };
    let directory = file.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&file, memory));
    if let Err(error) = written {
        eprintln!("\nxhist: the history cannot be written to {}: {error}", file.display());
    } else if call.directory.is_some() {
        let asked = asked.and_then(system::signal_name).map(String::from);
        let (exit, signal) = (status.code(), signal_of(status));
        RunnerRecord { pid: Some(pid), exit, signal, asked, ..RunnerRecord::default() }.write(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_runner_is_found_by_the_target() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let runners =
            [("thumbv7m-none-eabi".to_owned(), vec!["my qemu".to_owned(), "-kernel".to_owned()])].into();
        let run = FirmwareRun { directory: Some("/runs/1".into()), runners };
        let description = serde_json::to_string(&run).expect("JSON");
        let call = Call {
            directory: Some("/runs/1".into()),
            runner: vec!["my qemu".into(), "-kernel".into()],
            firmware: words("a.elf x"),
        };
        assert_eq!(Call::parse(&words("own thumbv7m-none-eabi a.elf x"), &description), Some(call));
        for wrong in ["own", "own thumbv7m-none-eabi", "own other a.elf"] {
            assert_eq!(Call::parse(&words(wrong), &description), None, "{wrong}");
        }
        assert_eq!(Call::parse(&words("own thumbv7m-none-eabi a.elf"), ""), None);
    }

    #[test]
    fn a_setting_has_the_type_of_the_users() {
        let setting = |program: &str, is_list| FirmwareRun::setting(Path::new(program), "t", is_list);
        assert_eq!(setting("/p", false).as_deref(), Some(r#"target."t".runner="/p t""#));
        assert_eq!(setting("/a p", true).as_deref(), Some(r#"target."t".runner=["/a p", "t"]"#));
        assert_eq!(setting("/a p", false), None);
    }
}
