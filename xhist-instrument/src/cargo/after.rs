//! After the run: the last statements of what crashed, panicked or failed, and where the rest is.
//!
//! Reads ring files through `qs_core` only. It shows the tail of each thread by itself;
//! `xhist-report` merges, names and explains.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use qs_core::map::Line;
use qs_core::record::{Statement, XhistRecord};
use qs_core::ring::{self, Header, Item, Reader, Status};

/// Statements shown of a thread.
const LINES: usize = 30;
/// Threads shown of a process.
const THREADS: usize = 3;
/// Processes shown.
const PROCESSES: usize = 3;

/// A run that is over.
pub(super) struct Run {
    /// Where its ring files lie.
    pub(super) directory: PathBuf,
    /// The user's own `XHIST_FILE`.
    pub(super) chosen_file: Option<PathBuf>,
    /// The program printed the statements under a panic itself.
    pub(super) prints_panics: bool,
}

/// How a process ended, as its rings tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It ran to its end, or still runs.
    Clean,
    Panicked,
    /// It never came to its exit handlers: killed, aborted, crashed or `_exit`.
    Died,
}

struct Process {
    path: PathBuf,
    pid: u32,
    end: End,
    threads: Vec<Thread>,
}

struct Thread {
    header: Header,
    statements: Vec<Statement>,
}

/// Tells of every process of the run that ended badly; of the last one when the command failed
/// without a visible reason.
pub(super) fn tell(run: &Run, success: bool, map: &Path) {
    let mut processes: Vec<Process> = files(run).into_iter().filter_map(|path| read(&path)).collect();
    let died = |process: &Process| process.end == End::Died;
    let panicked = |process: &Process| process.end == End::Panicked;
    if success {
        // Tests make processes die and threads panic on purpose.
        processes.retain(|process| run.prints_panics && (died(process) || panicked(process)));
    } else if processes.iter().any(|process| died(process) || panicked(process)) {
        processes.retain(|process| died(process) || panicked(process));
    } else {
        let keep = processes.len().saturating_sub(1);
        processes.drain(..keep);
    }
    if processes.is_empty() {
        return;
    }
    let names = Names::load(map);
    for process in processes.iter().rev().take(PROCESSES).rev() {
        process.tell(&names, run.prints_panics);
    }
}

/// Ring files of the run, oldest first.
fn files(run: &Run) -> Vec<PathBuf> {
    if let Some(path) = &run.chosen_file {
        return vec![path.clone()];
    }
    let Ok(entries) = std::fs::read_dir(&run.directory) else { return Vec::new() };
    let mut files: Vec<_> = entries
        .flatten()
        // Build scripts may link instrumented members; they are no program of the user's.
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with("build-script-"))
        .map(|entry| (entry.metadata().and_then(|meta| meta.modified()).ok(), entry.path()))
        .collect();
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

fn read(path: &Path) -> Option<Process> {
    let image = std::fs::read(path).ok()?;
    let rings = ring::find(&image).filter_map(|found| Some((found.offset, found.header.ok()?)));
    let mut threads: Vec<Thread> =
        rings.map(|(offset, header)| Thread { header, statements: last(&image[offset..], header) }).collect();
    threads.retain(|thread| !thread.statements.is_empty());
    let pid = threads.first()?.header.pid;
    let has = |status: Status| threads.iter().any(|thread| thread.header.status == status);
    let end = if has(Status::Killed) || (has(Status::Live) && !is_running(pid)) {
        End::Died
    } else if has(Status::Panicked) {
        End::Panicked
    } else {
        End::Clean
    };
    // The thread that panicked first, then the one that ran last.
    threads.sort_by_key(|thread| {
        let rank = match (end, thread.header.status) {
            (End::Panicked, Status::Panicked) | (End::Died, Status::Live | Status::Killed) => 0,
            _ => 1,
        };
        (rank, std::cmp::Reverse(thread.header.last_time))
    });
    Some(Process { path: path.to_path_buf(), pid, end, threads })
}

fn is_running(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

fn last(image: &[u8], header: Header) -> Vec<Statement> {
    let mut reader = Reader::new(header, image);
    let mut last = VecDeque::with_capacity(LINES);
    while let Some(item) = reader.next() {
        let statement = match item {
            Item::Frame(frame) => match XhistRecord::parse(&frame, header.record_base) {
                Some(XhistRecord::Statement { statement, .. }) => statement,
                _ => continue,
            },
            Item::Pending(statement, _) => statement,
            _ => continue,
        };
        if last.len() == LINES {
            last.pop_front();
        }
        last.push_back(statement);
    }
    last.into()
}

impl Process {
    fn tell(&self, names: &Names, prints_panics: bool) {
        let what = match self.end {
            End::Clean => "ended",
            End::Panicked => "had a panic",
            End::Died => "died without exiting",
        };
        let program = self.path.file_stem().unwrap_or_default().display();
        eprintln!("\nxhist: {program} (process {}) {what}", self.pid);
        if self.end != End::Panicked || !prints_panics {
            let shown = self
                .threads
                .iter()
                .filter(|thread| self.end != End::Panicked || thread.header.status == Status::Panicked);
            for thread in shown.take(THREADS) {
                let name = thread.header.thread_name().unwrap_or("unnamed");
                eprintln!("last statements of thread {name} (newest last):");
                for (index, statement) in thread.statements.iter().enumerate() {
                    eprintln!("{:>4} {}", index + 1, names.show(*statement));
                }
            }
        }
        eprintln!("whole history: xhist-report {}", shown_path(&self.path).display());
    }
}

/// Relative to the working directory when that is shorter.
fn shown_path(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_path_buf()
}

/// Path and base line of each file id.
struct Names(HashMap<u16, (String, u32)>);

impl Names {
    fn load(map: &Path) -> Names {
        let text = std::fs::read_to_string(map).unwrap_or_default();
        let files = text.lines().filter_map(|line| match Line::parse(line) {
            Ok(Line::File(file)) => Some((file.file, (file.path.chars().collect(), file.base))),
            _ => None,
        });
        Names(files.collect())
    }

    fn show(&self, statement: Statement) -> String {
        match self.0.get(&statement.file) {
            Some((path, base)) => format!("{path}:{}", u32::from(statement.line) + base),
            None => format!("file#{}:{}", statement.file, statement.line),
        }
    }
}
