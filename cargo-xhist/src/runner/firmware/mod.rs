//! Runs firmware under the user's own runner (probe-rs, QEMU, gdb), and reads the ring from the target's memory when that ends.
//!
//! Cargo calls this program in place of the user's runner. It passes everything through: arguments, standard streams, signals,
//! the exit code. The ring becomes a ring file of the run, so all reports find it.

mod embedded_test;
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
use xhist_history::notes::typed;
use xhist_report::cli::how_to_dump::bytes_of;

use self::embedded_test::Tests;
use self::kinds::KnownRunner;
use self::kinds::kind::{ReadCommand, Reading};
use self::ring_place::{OVERWRITTEN, RingBytes, RingPlace};
use self::target_memory::Emulator;
use crate::command::COMMANDS;
use crate::command::config::{self, RunnerForm};
use crate::names::FIRMWARE_RUNNER_NAME;
use crate::output::Language;
use crate::output::relay::Relay;
use crate::output::results::{Failed, Results};
use crate::post_run::{RunnerRecord, signal_of};
use crate::system::{self, Caught};

/// A debugger that reads a few kilobytes is done long before.
const LONGEST_READ: Duration = Duration::from_secs(60);
/// Lines of a reader's messages that are shown.
const SHOWN_LINES: usize = 4;
/// Failed tests that run again for their histories: each time the target is flashed.
const MOST_AGAIN: usize = 10;

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

    /// Puts our runner in front of the user's. False: cargo would split the path.
    pub(crate) fn set(cargo: &mut Command, program: &Path, target: &str, users: RunnerForm) -> bool {
        let is_list = users == RunnerForm::List;
        let Some(program) = program.to_str().filter(|path| is_list || !path.contains(char::is_whitespace))
        else {
            return false;
        };
        // A setting has the type of the user's: cargo refuses a text in place of a list.
        let value = match users {
            RunnerForm::List => toml::Value::from(vec![program, target]),
            RunnerForm::Text => toml::Value::from(format!("{program} {target}")),
            // Cargo 1.95 sometimes adds a list of the command line to that of a file, instead of taking only that.
            RunnerForm::Weaker => {
                cargo.env(config::runner_variable(target), format!("{program} {target}"));
                return true;
            }
        };
        cargo.arg("--config").arg(format!("target.{target:?}.runner={value}"));
        true
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

    /// The user's runner with a program and its arguments.
    fn command(&self, firmware: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(&self.runner[0]);
        command.args(&self.runner[1..]).args(firmware).env_remove(VARIABLE);
        command
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
    let known = kinds::known(&call.runner);
    // A program with its debug information is large.
    let (tests, place) = match bytes_of(elf) {
        Ok(bytes) => (Tests::of(&bytes), RingPlace::of(elf, &bytes).map_err(|problem| problem.to_string())),
        Err(error) => (None, Err(error.to_string())),
    };
    let program = call.runner[0].display();
    // A signal of the terminal is for the runner; one that reached only this process is forwarded.
    let caught = Caught::start();
    let mut command = call.command(&call.firmware);
    // What failed is known from what the runner prints.
    let relay = tests.as_ref().and_then(|_| Relay::of(&mut command, false, Language::Text));
    let spawned = command.spawn();
    // It holds the runner's ends of the relay open.
    drop(command);
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            eprintln!("error: cannot run `{program}`: {error}");
            return ExitCode::from(101);
        }
    };
    let (status, emulators) = match run_to_end(&mut child, &caught, known.as_ref(), place.as_ref().ok()) {
        Ok(ended) => ended,
        Err(error) => {
            eprintln!("error: cannot wait for `{program}`: {error}");
            return ExitCode::from(101);
        }
    };
    let run = EndedRun { call: &call, known, place, status, asked: caught.newest() };
    let (results, _) = relay.map(Relay::finish).unwrap_or_default();
    match tests {
        Some(tests) if results.has_any() => run.keep_tests(&results, &tests, emulators, &caught),
        _ => run.keep_last(None, emulators),
    }
    // Cargo must see how the runner ended.
    system::end_as(status)
}

/// Waits for the runner, and reads rings where memory ends with an emulator.
fn run_to_end(
    child: &mut Child,
    caught: &Caught,
    known: Option<&KnownRunner<'_>>,
    place: Option<&RingPlace>,
) -> io::Result<(ExitStatus, Vec<Emulator>)> {
    match (known.map(|known| known.reading), place) {
        (Some(Reading::AtItsEnd(emulators)), Some(place)) => {
            caught.during(child.id(), || target_memory::run_to_end(child, place, emulators))
        }
        _ => Ok((caught.wait(child)?, Vec::new())),
    }
}

/// A runner that ended.
struct EndedRun<'a> {
    call: &'a Call,
    known: Option<KnownRunner<'a>>,
    place: Result<RingPlace, String>,
    status: ExitStatus,
    /// The signal that asked it to end.
    asked: Option<i32>,
}

impl EndedRun<'_> {
    /// Keeps what the target has now: the history of the program, or of its last test.
    fn keep_last(&self, test: Option<&str>, mut emulators: Vec<Emulator>) {
        let memory = match (emulators.pop(), &self.known, &self.place) {
            (Some(emulator), ..) => emulator.memory,
            (None, Some(KnownRunner { words, reading: Reading::After(command) }), Ok(place)) => {
                read_after(*command, words, place)
            }
            (None, _, Err(problem)) => Err(problem.clone()),
            (None, ..) => {
                let program = self.call.runner[0].display();
                Err(format!("`{program}` is not a runner after which xhist can read memory"))
            }
        };
        self.keep(memory, test, std::process::id());
    }

    /// Keeps the history of each test that failed.
    fn keep_tests(&self, results: &Results, tests: &Tests, emulators: Vec<Emulator>, caught: &Caught) {
        if let Some(Reading::AtItsEnd(_)) = self.known.as_ref().map(|known| known.reading) {
            for emulator in emulators {
                let test = tests.run_by(&emulator.words);
                let failed = results.failed.iter().find(|failed| Some(&*failed.name) == test);
                if let Some(failed) = failed {
                    self.keep(emulator.memory, Some(&failed.name), emulator.pid);
                }
            }
            return;
        }
        match &results.failed[..] {
            [] => self.keep_last(None, emulators),
            // Nothing ran since.
            [only] if results.others.is_empty() => self.keep_last(Some(&only.name), emulators),
            _ if self.asked.is_some() => {}
            failed => self.run_again(failed, caught),
        }
    }

    /// Each start of the target clears the ring of the test before. So the tests that failed run again, one by one.
    fn run_again(&self, failed: &[Failed], caught: &Caught) {
        for Failed { name, .. } in failed.iter().take(MOST_AGAIN) {
            eprintln!("xhist: for its history, {name} runs again alone");
            let mut command = self.call.command(&[
                &*self.call.firmware[0],
                name.as_ref(),
                "--exact".as_ref(),
                "--include-ignored".as_ref(),
            ]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let ended = command.spawn().and_then(|mut child| caught.wait(&mut child));
            if caught.newest().is_some() {
                return;
            }
            match ended {
                Ok(status) if status.success() => {
                    eprintln!("xhist: this time {name} passed, so it has no history")
                }
                Ok(_) => self.keep_last(Some(name), Vec::new()),
                Err(error) => eprintln!("xhist: it cannot be run: {error}"),
            }
        }
        if let Some(Failed { name, .. }) = failed.get(MOST_AGAIN) {
            let (more, one) = (failed.len() - MOST_AGAIN, typed::command(format!("test -- {name} --exact")));
            eprintln!("xhist: {more} more failed; the history of one: {one}");
        }
    }

    /// Makes the ring a file of the run, with a record of how the runner ended. `process`: of the emulator, or of this runner.
    fn keep(&self, memory: RingBytes, test: Option<&str>, process: u32) {
        let elf = Path::new(&self.call.firmware[0]);
        let memory = match memory {
            Ok(memory) => memory,
            Err(problem) => {
                let dump = typed::command(format!("history --how-to-dump {}", typed::shown_path(elf)));
                eprintln!("\nxhist: {problem}; how to read the history: {dump}");
                return;
            }
        };
        if !has_statements(&memory) {
            eprintln!("\nxhist: {OVERWRITTEN}");
        }
        let name = elf.file_name().unwrap_or_default().to_string_lossy();
        let fill = |pattern: &str| pattern.replace("%e", &name).replace("%p", &process.to_string());
        let file = match (&self.call.directory, std::env::var("XHIST_FILE")) {
            // Each program and each test has a directory, as each test of nextest.
            (Some(run), _) => unused(run, &process.to_string()).join(fill("%e-%p.xhist")),
            (None, Ok(pattern)) => PathBuf::from(fill(&pattern)),
            (None, Err(_)) => return,
        };
        let directory = file.parent().unwrap_or(Path::new("."));
        let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&file, &memory));
        if let Err(error) = written {
            eprintln!("\nxhist: the history cannot be written to {}: {error}", file.display());
        } else if self.call.directory.is_some() {
            let record = RunnerRecord {
                test: test.map(String::from),
                pid: Some(process),
                exit: self.status.code(),
                signal: signal_of(self.status),
                asked: self.asked.and_then(system::signal_name).map(String::from),
                ..RunnerRecord::default()
            };
            record.write(directory);
        }
    }
}

/// A directory in this one that nothing has: a runner may have several tests.
fn unused(directory: &Path, name: &str) -> PathBuf {
    let numbered = (2..).map(|number| directory.join(format!("{name}-{number}")));
    let mut all = [directory.join(name)].into_iter().chain(numbered);
    all.find(|path| !path.exists()).unwrap_or_else(|| directory.join(name))
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
        let set = |program: &str, form| {
            let mut cargo = Command::new("cargo");
            let is_set = FirmwareRun::set(&mut cargo, Path::new(program), "t-a", form);
            let args = cargo.get_args().map(|arg| arg.to_string_lossy().into_owned());
            let envs = cargo.get_envs().map(|(name, value)| format!("{name:?}={value:?}"));
            is_set.then(|| args.chain(envs).collect::<Vec<_>>().join(" "))
        };
        for (program, form, expected) in [
            ("/p", RunnerForm::Text, Some(r#"--config target."t-a".runner="/p t-a""#)),
            ("/a p", RunnerForm::List, Some(r#"--config target."t-a".runner=["/a p", "t-a"]"#)),
            ("/p", RunnerForm::Weaker, Some(r#""CARGO_TARGET_T_A_RUNNER"=Some("/p t-a")"#)),
            ("/a p", RunnerForm::Text, None),
            ("/a p", RunnerForm::Weaker, None),
        ] {
            assert_eq!(set(program, form).as_deref(), expected, "{program} {form:?}");
        }
    }
}
