//! Runs a recorded test again: `cargo xhist why` with values, `cargo xhist diff --rerun` several times.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xhist_history::model::count;
use xhist_history::notes::typed::{quoted, shown_path};
use xhist_history::runs;
use xhist_history::runs::record::{RunRecord, is_documentation};
use xhist_report::cli::again::{self, FailedTest};

use crate::command::again_options::{Again, RecordedTest, Rerun, Why};
use crate::command::{Command, Parsed, Verb};
use crate::error::{Error, UsageError};
use crate::run::carry_out::carry_out;

/// Runs with values, if the first one ends another way than the recorded one.
const TRIES: u32 = 5;

/// Carries out the command.
pub(crate) fn run(again: &Again) -> Result<ExitCode, Error> {
    match again {
        Again::Why(Why { test }) => why(test),
        Again::Rerun(Rerun { times, test }) => rerun(*times, test),
    }
}

/// A recorded run of tests or of firmware, and the command that repeats one of them.
struct Recorded {
    /// Its directory.
    run: PathBuf,
    /// The test, or the firmware.
    test: FailedTest,
    /// Firmware that a signal stopped.
    was_stopped: bool,
    command: Command,
}

/// How a test ended when it ran again.
struct Repeated {
    run: PathBuf,
    /// How it failed; `None` if it passed.
    failed: Option<FailedTest>,
}

fn why(test: &RecordedTest) -> Result<ExitCode, Error> {
    let mut recorded = Recorded::find(test)?;
    let what = count(recorded.test.functions.len(), "function");
    eprintln!("xhist: running {} again, with the values of {what}", recorded.test.name);
    if recorded.was_stopped {
        eprintln!("xhist: it was stopped, so stop it again when it hangs, with Ctrl-C");
    }
    let settings = &mut recorded.command.own.settings;
    settings.values.extend(recorded.test.functions.iter().cloned());
    settings.value_targets = true;
    let first = recorded.again()?;
    let is_same = |ended: &Repeated| {
        ended.failed.as_ref().is_some_and(|failed| failed_as_before(failed, &recorded.test))
    };
    let at = recorded.test.at.as_deref().unwrap_or("a place that is not recorded");
    if is_same(&first) {
        if let Some(Repeated {
            failed: Some(FailedTest { at: Some(now), within: Some(within), .. }), ..
        }) = Some(&first).filter(|first| !first.is_at(&recorded.test.at))
        {
            eprintln!("xhist: it was at {at} at its end, and now at {now}; both within {within}");
        }
        again::print_answer(&first.run, &recorded.run, &recorded.test.name);
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("xhist: it failed at {at}, and now it {}", first.shown());
    for _ in 1..TRIES {
        let other = recorded.again()?;
        if is_same(&other) || other.failed.is_some() != first.failed.is_some() {
            eprintln!("xhist: in one more run it {}; the two runs part here:", other.shown());
            return Ok(recorded.compare(&first, &other));
        }
    }
    let name = quoted(OsString::from(&recorded.test.name));
    eprintln!(
        "xhist: {TRIES} runs with values ended so; more runs without values: cargo xhist diff --rerun 20 {name}"
    );
    if first.failed.is_some() {
        again::print_answer(&first.run, &recorded.run, &recorded.test.name);
    }
    Ok(ExitCode::FAILURE)
}

fn rerun(times: u32, test: &RecordedTest) -> Result<ExitCode, Error> {
    let recorded = Recorded::find(test)?;
    eprintln!("xhist: running {} {times} times", recorded.test.name);
    let first = recorded.again()?;
    let mut failed = u32::from(first.failed.is_some());
    let mut parted: Option<(u32, Repeated)> = None;
    for number in 2..=times {
        let other = recorded.again()?;
        failed += u32::from(other.failed.is_some());
        let is_better = match &parted {
            None => again::part(&first.history(&recorded), &other.history(&recorded)),
            // A run that ended another way says more than one that only went another way.
            Some((_, known)) => known.is_like(&first) && !other.is_like(&first),
        };
        if is_better {
            parted = Some((number, other));
        } else {
            let _ = std::fs::remove_dir_all(&other.run);
        }
    }
    eprintln!("xhist: {failed} of {times} runs failed");
    match parted {
        Some((number, other)) => {
            eprintln!("xhist: run 1 {}, and run {number} {}; they part here:", first.shown(), other.shown());
            Ok(recorded.compare(&first, &other))
        }
        None => {
            println!("all {times} runs of {} ran the same statements", recorded.test.name);
            Ok(ExitCode::SUCCESS)
        }
    }
}

impl Recorded {
    /// Finds the run and its test, and the command that runs only this test again.
    fn find(RecordedTest { test, run }: &RecordedTest) -> Result<Recorded, Error> {
        let usage = |why: String| Error::from(UsageError::Again(why));
        let dir = std::env::current_dir().map_err(Error::file("find", Path::new(".")))?;
        let run = match run {
            Some(run) => runs::find(&dir, run)
                .map_err(|error| usage(error.to_string()))?
                .ok_or_else(|| usage(format!("no run {}; `cargo xhist runs` lists them", run.display())))?
                .into_path(),
            None => runs::failed(&dir).map_err(|error| usage(error.to_string()))?,
        };
        let record =
            RunRecord::read(&run).map_err(|error| usage(format!("{}: {error}", shown_path(&run))))?;
        let words: Vec<OsString> = record.words.iter().map(OsString::from).collect();
        let (mut command, test) = match Command::parse(&words) {
            Ok(Parsed::Command(command)) if matches!(command.verb, Verb::Test | Verb::Nextest) => {
                let test = again::failed_test(&run, test.as_deref()).map_err(usage)?;
                let mut command = *command;
                command.program_args = only(&test.name);
                (command, test)
            }
            Ok(Parsed::Command(command)) if command.verb == Verb::Run => {
                let firmware = again::failed_firmware(&run).map_err(|why| {
                    usage(format!(
                        "{why}, and no test ran; values of a program: {}",
                        with_values(&record.words)
                    ))
                })?;
                (*command, firmware)
            }
            _ if words.is_empty() => {
                return Err(usage(
                    "that run does not say how it was started; run the tests again".to_owned(),
                ));
            }
            _ => {
                let typed = record.words.join(" ");
                return Err(usage(format!("`cargo xhist {typed}` ran no tests")));
            }
        };
        // The test is named as the harness names it, and the command was typed in this directory.
        if let Some(directory) = &record.directory {
            std::env::set_current_dir(directory).map_err(Error::file("enter", directory))?;
        }
        command.is_again = true;
        let mut crashes = record.crashes.iter();
        let was_stopped =
            command.verb == Verb::Run && crashes.any(|crash| crash.how.starts_with("was stopped"));
        Ok(Recorded { run, test, was_stopped, command })
    }

    /// Runs the test.
    fn again(&self) -> Result<Repeated, Error> {
        let done = carry_out(&self.command)?;
        let run = done.run.ok_or_else(|| {
            let words: Vec<_> = self.command.words.iter().map(|word| word.to_string_lossy()).collect();
            let why = format!("nothing ran; this shows what cargo says: cargo xhist {}", words.join(" "));
            Error::from(UsageError::Again(why))
        })?;
        let failed = match self.command.verb {
            Verb::Run => again::failed_firmware(&run),
            _ => again::failed_test(&run, Some(&self.test.name)),
        };
        let failed = failed.ok();
        Ok(Repeated { run, failed })
    }

    /// Prints where two runs part.
    fn compare(&self, one: &Repeated, other: &Repeated) -> ExitCode {
        // The failed one is the one in question.
        let (good, bad) = if one.failed.is_some() { (other, one) } else { (one, other) };
        again::print_parting(&good.history(self), &bad.history(self)).into()
    }
}

/// Whether a test failed as before: at the same place, or in the same loop if it was stopped there.
fn failed_as_before(failed: &FailedTest, recorded: &FailedTest) -> bool {
    failed.at == recorded.at || failed.within.is_some() && failed.within == recorded.within
}

/// The arguments that run one test. rustdoc takes each word of an argument for a filter, so the place of an example is enough.
fn only(test: &str) -> Vec<OsString> {
    let line = test.rsplit_once("(line ").and_then(|(_, behind)| Some(behind.split_once(')')?.0));
    match line.filter(|_| is_documentation(test)) {
        Some(line) => ["--".to_owned(), format!("{line})")].map(OsString::from).to_vec(),
        None => ["--", test, "--exact"].map(OsString::from).to_vec(),
    }
}

/// The command with these words, and with all values.
fn with_values(words: &[String]) -> String {
    let behind = words.iter().position(|word| !word.starts_with('-')).map_or(0, |at| at + 1);
    let (front, back) = words.split_at(behind);
    let all = ["--values".to_owned(), "**".to_owned()];
    let words = ["cargo".to_owned(), "xhist".to_owned()].into_iter().chain(front.iter().cloned()).chain(all);
    let words: Vec<OsString> = words.chain(back.iter().cloned()).map(OsString::from).collect();
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

impl Repeated {
    /// The history of the test.
    fn history(&self, recorded: &Recorded) -> OsString {
        let mut history = self.run.clone().into_os_string();
        history.push("::");
        history.push(&recorded.test.name);
        history
    }

    /// Whether both passed, or both failed at the same place.
    fn is_like(&self, other: &Repeated) -> bool {
        match &other.failed {
            Some(failed) => self.is_at(&failed.at),
            None => self.failed.is_none(),
        }
    }

    /// Whether it failed at this place.
    fn is_at(&self, at: &Option<String>) -> bool {
        self.failed.as_ref().is_some_and(|failed| failed.at == *at)
    }

    fn shown(&self) -> String {
        match &self.failed {
            None => "passed".to_owned(),
            Some(FailedTest { at: Some(at), .. }) => format!("failed at {at}"),
            Some(FailedTest { at: None, .. }) => "failed".to_owned(),
        }
    }
}
