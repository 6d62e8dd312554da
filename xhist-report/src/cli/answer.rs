//! `xhist-report answer`: what failed in a run, each failure with the end of its history.

use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::annotations;
use super::answer_document::{AnswerDocument, AnsweredFailure, SCHEMA};
use super::budget_args::BudgetArgs;
use super::error::UsageError;
use super::open::LastOpened;
use super::pager::Pager;
use super::values::ValueArgs;
use crate::budget::{Budget, KeptEntries, Weight};
use crate::causes::suspects::{self, FirstLines, RingsOfTests, StartedProcess};
use crate::format::ReportKind;
use crate::format::entries::{AnsweredEnds, SharedAnswer};
use crate::format::{FORMATS, Layout, Links};
use crate::options::{ListingRoom, Options};
use crate::reports::report;
use xhist_history::ExitCode;
use xhist_history::ReadOptions;
use xhist_history::model::{SuspectLine, count_processes, visible};
use xhist_history::notes::typed;
use xhist_history::notes::typed::shown_path;
use xhist_history::notes::{Notes, outcome};
use xhist_history::runs::record::{
    self, CrashRecord, RunRecord, RunRecordError, TestRecord, UNDESCRIBED, run_directory,
};
use xhist_history::runs::{self, HistoryPlace};
use xhist_history::source;

/// Lines of all tests that failed; each of them has some.
const TEST_LINES: usize = 300;
const FEWEST_LINES: usize = 8;
/// Lines of a test that failed, when suspects follow: both together are on one screen of 40 lines. The first suspects may take
/// four more.
const ABOVE_SUSPECTS: usize = 14;
/// The same in bytes: both together have 4 KiB.
const BYTES_ABOVE_SUSPECTS: usize = 2200;
/// Tests with a listing. All are named.
const LISTED_TESTS: usize = 40;
/// Suspects that are shown where they ran last.
const SUSPECTS: usize = 5;
/// The same for a program that crashed. No list of suspects follows, so they are not marked, and those without a line are named.
const SUSPECTS_OF_CRASH: usize = 16;
/// Bytes of a ring file of such a program, at most: ranking keeps its statements in memory.
const RANKED_CRASH: u64 = 16 << 20;
/// Bytes of the listing of such a program: with the lines around it there are 4 KiB.
const BYTES_OF_CRASH: usize = 3840;
/// Processes with a listing: of those that crashed, and of those that one test started.
const LISTED_CRASHES: usize = 3;
const LISTED_STARTED: usize = 1;
/// Processes that one test started and that are named without a listing.
const NAMED_STARTED: usize = 4;

/// What `xhist-report answer` takes.
#[derive(Clone, Debug, Args)]
pub struct AnswerArgs {
    /// A run (`last`, `prev`, `-2`, a name or a directory), or a ring file; without it the run that failed last
    #[arg(value_name = "RUN", allow_negative_numbers = true)]
    run: Option<PathBuf>,

    /// Print about N lines for each test that failed and each process that crashed
    #[arg(long, value_name = "N")]
    lines: Option<usize>,

    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: AnswerFormat,

    /// Print text that is longer than the screen without a pager
    #[arg(long)]
    no_pager: bool,

    /// Print the first suspects below it, as after the run
    #[arg(long, conflicts_with = "bytes")]
    suspects: bool,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    values: ValueArgs,
}

/// How an answer looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum AnswerFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON document in one line: failures, their last statements, suspects, and what to type next
    Json,
    /// The JSON schema of that document; reads no run
    JsonSchema,
    /// Workflow commands of GitHub: an annotation for each failure and suspect; all of them in GITHUB_STEP_SUMMARY
    Github,
}

/// Prints the answer on standard output.
///
/// # Errors
/// Nothing failed, or what is named cannot be read.
pub fn run(args: &AnswerArgs, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    if args.format == AnswerFormat::JsonSchema {
        return Ok(outcome(io::stdout().lock().write_all(SCHEMA.as_bytes()), notes));
    }
    let dir = std::env::current_dir().map_err(UsageError::WorkDir)?;
    let place = match &args.run {
        Some(run) => runs::find(&dir, run)?.map_or_else(|| run.clone(), HistoryPlace::into_path),
        None => runs::failed(&dir)?,
    };
    if args.format == AnswerFormat::Github {
        if args.budget.is_given() {
            let why = "does not go with --format github, of which GitHub itself shows a part";
            return Err(UsageError::Conflict { option: "--budget", why });
        }
        return annotations::run(&run_directory(&place), &args.values, notes);
    }
    if args.format == AnswerFormat::Json {
        let budget = args.budget.budget();
        let wanted = Wanted { lines: args.lines, values: &args.values, suspects_of: None, budget };
        return document(&place, wanted, &mut io::stdout().lock(), notes);
    }
    let is_terminal = io::stdout().is_terminal();
    let budget = args.budget.budget();
    let wanted = Wanted { lines: args.lines, values: &args.values, suspects_of: None, budget };
    let (mut text, code) = answer(&place, wanted, is_terminal, notes)?;
    // After a run there are some only below tests.
    let has_tests = || RunRecord::read(&place).is_ok_and(|record| record.failed_tests().next().is_some());
    if args.suspects && has_tests() {
        suspects::print_brief(&run_directory(&place), typed::is_cargo(), &mut text, notes);
    }
    let mut pager = Pager::new(is_terminal && !args.no_pager);
    let shown = match is_terminal && anstream::stdout().current_choice() != anstream::ColorChoice::Never {
        true => pager.write_all(&text),
        false => pager.write_all(&anstream::adapter::strip_bytes(&text).into_vec()),
    };
    Ok(outcome(shown.and_then(|()| pager.finish()), notes).max(code))
}

/// What an answer shows.
pub(super) struct Wanted<'w> {
    /// About this number of lines for each failure.
    pub(super) lines: Option<usize>,
    pub(super) values: &'w ValueArgs,
    /// The run whose suspects are marked; without it, the run itself.
    pub(super) suspects_of: Option<&'w Path>,
    /// How long it may be.
    pub(super) budget: Option<Budget>,
}

/// The answer to a run or to one ring file, with styles and, for a terminal, links.
///
/// # Errors
/// What is named cannot be read.
pub(super) fn answer(
    place: &Path,
    mut wanted: Wanted<'_>,
    is_terminal: bool,
    notes: &mut Notes<'_>,
) -> Result<(Vec<u8>, ExitCode), UsageError> {
    let budget = wanted.budget.take();
    let listing = listing(place, wanted, is_terminal, notes)?;
    let code = listing.code;
    let text = match budget {
        Some(budget) => listing.within(budget, is_terminal),
        None => listing.out,
    };
    Ok((text, code))
}

/// Writes the answer as one JSON document, in one line.
///
/// # Errors
/// What is named cannot be read.
pub(super) fn document(
    place: &Path,
    wanted: Wanted<'_>,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> Result<ExitCode, UsageError> {
    let record = RunRecord::read(place).ok();
    let budget = wanted.budget.clone();
    let (failures, code) = match &record {
        Some(record) if !record.failed => (Vec::new(), ExitCode::Complete),
        _ => {
            let Listing { failures, code, .. } = listing(place, wanted, false, notes)?;
            (failures, code)
        }
    };
    let mut document = AnswerDocument::of(place, record.as_ref(), failures);
    document.complete = code == ExitCode::Complete;
    if record.is_some_and(|record| record.failed_tests().next().is_some()) {
        document.add_suspects(suspects::rows_and_diff(place, SUSPECTS));
    }
    if let Some(budget) = &budget {
        document.fit(budget);
    }
    let mut line = serde_json::to_vec(&document).unwrap_or_default();
    line.push(b'\n');
    Ok(outcome(out.write_all(&line).and_then(|()| out.flush()), notes).max(code))
}

fn listing(
    place: &Path,
    Wanted { lines, values, suspects_of, .. }: Wanted<'_>,
    is_terminal: bool,
    notes: &mut Notes<'_>,
) -> Result<Listing, UsageError> {
    let mut listing = Listing {
        lines,
        values: values.clone(),
        links: if is_terminal {
            Links::of_terminal(&|name| std::env::var(name).ok())
        } else {
            Links::default()
        },
        suspects: FirstLines::default(),
        opened: LastOpened::default(),
        rings: None,
        started: Vec::new(),
        code: ExitCode::Complete,
        out: Vec::new(),
        listings: Vec::new(),
        failures: Vec::new(),
    };
    let written = match place.is_dir() {
        true => match RunRecord::read(place) {
            Ok(record) => {
                if record.failed_tests().next().is_some() {
                    listing.suspects = match suspects_of {
                        Some(run) => suspects::first_lines_in(place, run, SUSPECTS),
                        None => suspects::first_lines(place, SUSPECTS),
                    };
                    listing.started = suspects::started_processes(place);
                } else if record.crashes.iter().all(|crash| is_at_most(&crash.file, RANKED_CRASH)) {
                    listing.suspects = suspects::first_lines(place, SUSPECTS_OF_CRASH);
                }
                listing.failures(&record, notes)
            }
            Err(RunRecordError::Missing) if !source::ring_files(place).is_empty() => {
                listing.undescribed(place, notes)
            }
            Err(_) => {
                return Err(UsageError::Source {
                    name: visible(&place.display().to_string()).into_owned(),
                    why: "has no run.json that can be read, which `cargo xhist` writes at the end of a run",
                });
            }
        },
        false => listing.file(place, notes),
    };
    written?;
    Ok(listing)
}

/// Which part of a history a failure lists.
struct ListedPart {
    lines: usize,
    /// Only these rings; without any, all.
    rings: Vec<usize>,
    failed_test: Option<usize>,
    is_test: bool,
    suspects: Vec<SuspectLine>,
    room: Option<ListingRoom>,
}

/// Whether a file is there and has at most this number of bytes.
fn is_at_most(file: &Path, bytes: u64) -> bool {
    std::fs::metadata(file).is_ok_and(|metadata| metadata.len() <= bytes)
}

/// Lines of a text.
fn count_lines(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}

struct Listing {
    lines: Option<usize>,
    links: Links,
    values: ValueArgs,
    /// Lines that the tests of the run make suspicious.
    suspects: FirstLines,
    opened: LastOpened,
    /// Those of the last ring file with a failed test.
    rings: Option<RingsOfTests>,
    /// The processes that each failed test started.
    started: Vec<Vec<StartedProcess>>,
    code: ExitCode,
    out: Vec<u8>,
    /// Which bytes of it list the ends of threads.
    listings: Vec<Range<usize>>,
    /// The same as data.
    failures: Vec<AnsweredFailure>,
}

impl Listing {
    /// The same text within a budget: what failed, and of each listing the newest lines.
    fn within(&self, budget: Budget, is_terminal: bool) -> Vec<u8> {
        let mut entries = KeptEntries::new(budget, false);
        let (mut at, mut listings) = (0, self.listings.iter().peekable());
        for text in self.out.split_inclusive(|byte| *byte == b'\n') {
            while listings.next_if(|listing| listing.end <= at).is_some() {}
            let listed = listings.peek().filter(|listing| listing.contains(&at));
            // The heading of a listing ends in a colon.
            let is_heading = listed.is_none_or(|listing| listing.start == at) || text.ends_with(b":\n");
            let behind = listed.map_or(0, |listing| count_lines(&self.out[at..listing.end]));
            let weight = if is_heading { Weight::FRAME } else { Weight::earlier(behind) };
            match is_terminal {
                true => entries.push(weight, text),
                // Styles are not printed.
                false => entries.push(weight, &anstream::adapter::strip_bytes(text).into_vec()),
            }
            at += text.len();
        }
        let mut text = Vec::new();
        // Memory takes all of it.
        let _ = entries.write(&mut text);
        text
    }

    /// The programs of a run that is not over, or whose `cargo xhist` was killed: the newest one last.
    fn undescribed(&mut self, run: &Path, notes: &mut Notes<'_>) -> Result<(), source::SourceError> {
        notes.note(format_args!("{UNDESCRIBED}"));
        let mut files = source::ring_files(run);
        files.sort_by(|one, other| other.cmp(one));
        for (_, file) in files.iter().take(LISTED_CRASHES).rev() {
            self.file(file, notes)?;
        }
        let more = files.len().saturating_sub(LISTED_CRASHES);
        if more > 0 {
            self.line(&format!("{more} more ring files: {}", shown_path(run)));
        }
        Ok(())
    }

    fn failures(&mut self, record: &RunRecord, notes: &mut Notes<'_>) -> Result<(), source::SourceError> {
        let tests: Vec<&TestRecord> = record.failed_tests().collect();
        let each = (TEST_LINES / tests.len().max(1)).max(FEWEST_LINES);
        let most = if self.suspects.is_empty() { Options::default().lines } else { ABOVE_SUSPECTS };
        let lines = self.lines.unwrap_or(each.min(most));
        for (index, test) in tests.iter().enumerate() {
            self.test(test, lines, index < LISTED_TESTS, notes)?;
            let started = self.started.get_mut(index).map(std::mem::take).unwrap_or_default();
            self.started(&test.name, &started, if index < LISTED_TESTS { lines } else { 0 }, notes)?;
        }
        let mut whole: Vec<&Path> = Vec::new();
        for file in tests.iter().filter(|test| test.ring.is_some()).filter_map(|test| test.file.as_deref()) {
            if !whole.contains(&file) {
                whole.push(file);
            }
        }
        // Not right below a test with another history, or with none.
        let has_other = |test: &&TestRecord| test.file.as_deref() != whole.first().copied();
        if !whole.is_empty() && tests.last().is_some_and(has_other) {
            self.line("");
        }
        whole.into_iter().for_each(|file| drop(self.whole(file)));
        // The most relevant last.
        let shown = record.crashes.iter().take(LISTED_CRASHES).rev();
        for crash in shown {
            self.crash(crash, notes)?;
        }
        let more = record.crashes.len().saturating_sub(LISTED_CRASHES);
        if more > 0 {
            let names = record.crashes.iter().skip(LISTED_CRASHES);
            let names: Vec<String> = names.map(|crash| shown_path(&crash.file)).collect();
            self.line(&format!("\nxhist: the history of {more} more: {}", names.join(" ")));
        }
        if tests.is_empty() && record.crashes.is_empty() {
            match record.failed_rings.first() {
                Some(ring) => self.file(&ring.clone(), notes)?,
                None => notes.note(format_args!("nothing is known to have failed in that run")),
            }
        }
        // The place for what follows from all failures together, such as a list of suspects.
        Ok(())
    }

    fn test(
        &mut self,
        test: &TestRecord,
        lines: usize,
        is_listed: bool,
        notes: &mut Notes<'_>,
    ) -> Result<(), source::SourceError> {
        let is_documentation = record::is_documentation(&test.name);
        let kind = if is_documentation { "documentation test" } else { "test" };
        let (name, how) = (visible(&test.name), visible(test.how.as_deref().unwrap_or("failed")));
        let mut failure = AnsweredFailure {
            kind,
            name: name.clone().into_owned(),
            how: how.clone().into_owned(),
            ..AnsweredFailure::default()
        };
        let Some(file) = &test.file else {
            self.failures.push(failure);
            let why = if is_documentation { "" } else { "; no ring is known to be its thread's" };
            self.line(&format!("\nxhist: {kind} {name} {how}{why}"));
            return Ok(());
        };
        self.line(&format!("\nxhist: {kind} {name} {how}"));
        if is_listed {
            let suspects = self.suspects.of_test(&test.name);
            // A test fails by the panic of a thread that it joins.
            let rings = match test.ring {
                Some(ring) => self.rings_of(file)?.of_test(ring),
                None => Vec::new(),
            };
            let part =
                ListedPart { lines, rings, failed_test: test.ring, is_test: true, suspects, room: None };
            let room = ListingRoom { bytes: BYTES_ABOVE_SUSPECTS, is_shared: false };
            failure = failure.at_end_of(self.report(file, self.within_room(part, room), notes)?);
        }
        failure.history = Some(match test.ring {
            Some(ring) => {
                let history = typed::command(format!("history --ring {ring} {}", shown_path(file)));
                self.line(&format!("its history: {history}"));
                history
            }
            None => self.whole(file),
        });
        self.failures.push(failure);
        Ok(())
    }

    fn rings_of(&mut self, file: &Path) -> Result<&RingsOfTests, source::SourceError> {
        let rings = match self.rings.take() {
            Some(rings) if rings.path() == file => rings,
            _ => RingsOfTests::read(file, &self.opened.open(file)?.image),
        };
        Ok(self.rings.insert(rings))
    }

    /// What a test started: the last process with the end of its history, those before by name.
    fn started(
        &mut self,
        test: &str,
        started: &[StartedProcess],
        lines: usize,
        notes: &mut Notes<'_>,
    ) -> Result<(), source::SourceError> {
        let is_kept = |process: &&StartedProcess| process.file.is_file();
        let kept: Vec<&StartedProcess> = started.iter().filter(is_kept).collect();
        let listed = if lines == 0 { 0 } else { LISTED_STARTED };
        let (before, shown) = kept.split_at(kept.len().saturating_sub(listed));
        let suspects = self.suspects.of_test(test);
        let test = visible(test);
        if !before.is_empty() {
            let names = before.iter().take(NAMED_STARTED).map(|process| shown_path(&process.file));
            let names: Vec<String> = names.collect();
            let more = match before.len() - names.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let processes = count_processes(before.len());
            self.line(&format!(
                "{processes} that test {test} started: {}{more}",
                typed::command(format!("history {}", names.join(" ")))
            ));
        }
        for process in shown {
            let program = visible(&process.program);
            self.line(&format!("\nprocess {program} ({}) that test {test} started", process.pid));
            let part = ListedPart {
                lines,
                rings: Vec::new(),
                failed_test: None,
                is_test: true,
                suspects: suspects.clone(),
                room: None,
            };
            let threads = self.report(&process.file, part, notes)?;
            let failure = AnsweredFailure {
                kind: "process",
                name: program.into_owned(),
                pid: Some(process.pid),
                history: Some(self.whole(&process.file)),
                ..AnsweredFailure::default()
            };
            if let Some(test) = self.failures.last_mut() {
                test.started.push(failure.at_end_of(threads));
            }
        }
        let gone = started.len() - kept.len();
        if gone > 0 {
            let processes = count_processes(gone);
            self.line(&format!("of {processes} that test {test} started the history is not kept"));
        }
        Ok(())
    }

    fn crash(&mut self, crash: &CrashRecord, notes: &mut Notes<'_>) -> Result<(), source::SourceError> {
        let (program, how) = (visible(&crash.program), visible(&crash.how));
        self.line(&format!("\nxhist: {program}{} {how}", crash.process()));
        let failure = AnsweredFailure {
            kind: "process",
            name: program.into_owned(),
            pid: Some(crash.pid),
            how: how.into_owned(),
            ..AnsweredFailure::default()
        };
        self.ends_of(&crash.file, failure, self.suspects.all(), notes)
    }

    fn file(&mut self, file: &Path, notes: &mut Notes<'_>) -> Result<(), source::SourceError> {
        let name = visible(&file.display().to_string()).into_owned();
        let failure = AnsweredFailure { kind: "file", name, ..AnsweredFailure::default() };
        self.ends_of(file, failure, Vec::new(), notes)
    }

    /// The ends of all threads in a file.
    fn ends_of(
        &mut self,
        file: &Path,
        failure: AnsweredFailure,
        suspects: Vec<SuspectLine>,
        notes: &mut Notes<'_>,
    ) -> Result<(), source::SourceError> {
        let lines = self.lines.unwrap_or(Options::default().lines);
        // They would be more than the lines that the user wants.
        let suspects = if self.lines.is_none() { suspects } else { Vec::new() };
        let part =
            ListedPart { lines, rings: Vec::new(), failed_test: None, is_test: false, suspects, room: None };
        let room = ListingRoom { bytes: BYTES_OF_CRASH, is_shared: true };
        let threads = self.report(file, self.within_room(part, room), notes)?;
        let history = Some(self.whole(file));
        self.failures.push(AnsweredFailure { history, ..failure }.at_end_of(threads));
        Ok(())
    }

    /// Writes the command that prints the history of a file, and returns it.
    fn whole(&mut self, file: &Path) -> String {
        let history = typed::command(format!("history {}", shown_path(file)));
        self.line(&format!("whole history: {history}"));
        history
    }

    fn line(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
    }

    /// A part that is as long as this, if it has suspects and the user has not said how long.
    fn within_room(&self, part: ListedPart, room: ListingRoom) -> ListedPart {
        let room = Some(room).filter(|_| self.lines.is_none() && !part.suspects.is_empty());
        ListedPart { room, ..part }
    }

    fn report(
        &mut self,
        file: &Path,
        part: ListedPart,
        notes: &mut Notes<'_>,
    ) -> Result<AnsweredEnds, source::SourceError> {
        let opened = self.opened.open(file)?;
        let answered = SharedAnswer::default();
        let options = Options {
            answered: Some(answered.clone()),
            format: &FORMATS[0],
            layout: Layout { terminal: true, links: self.links, ..Layout::default() },
            report: Some(ReportKind::Answer),
            lines: part.lines,
            suspects: part.suspects,
            room: part.room,
            failed_test: part.failed_test,
            is_test: part.is_test,
            ..Options::from(ReadOptions { rings: part.rings, ..self.values.of_source(&*opened, None) })
        };
        opened.losses.iter().for_each(|loss| notes.loss(format_args!("{loss}")));
        let from = self.out.len();
        let code = report(&opened.image, &options, &mut self.out, notes);
        self.listings.push(from..self.out.len());
        self.code = self.code.max(code);
        Ok(answered.take())
    }
}
