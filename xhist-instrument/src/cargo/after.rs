//! After the run: the last statements of what crashed, panicked or failed, and where the rest is.
//!
//! Reads ring files through `qs_core` only. It shows the tail of each thread by itself;
//! `xhist-report` merges, names and explains.

use std::path::{Path, PathBuf};

use qs_core::record::Statement;
use qs_core::ring::{self, Header, Line, Reader, Status, Thousands};

use crate::map::MapFile;

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
    /// The map of what it ran, and the directory that its paths start from.
    pub(super) map: PathBuf,
    pub(super) root: PathBuf,
    /// The user's own `XHIST_FILE`.
    pub(super) chosen_file: Option<PathBuf>,
    /// The program printed the statements under a panic itself.
    pub(super) prints_panics: bool,
    /// Only processes that failed left a file.
    pub(super) only_failed: bool,
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
    lines: Vec<Line>,
}

/// Tells of every process of the run that ended badly; of the last one when the command failed
/// without a visible reason.
pub(super) fn tell(run: &Run, success: bool) {
    if success && !run.prints_panics {
        // Tests make processes die and threads panic on purpose.
        return;
    }
    let mut processes: Vec<Process> = files(run).into_iter().filter_map(|path| read(&path)).collect();
    let paths: Vec<PathBuf> = processes.iter().map(|process| process.path.clone()).collect();
    // It goes on in the file whose name this one had.
    processes.retain(|process| !is_put_aside(&process.path, process.pid, &paths));
    let died = |process: &Process| process.end == End::Died;
    let panicked = |process: &Process| process.end == End::Panicked;
    if success || processes.iter().any(|process| died(process) || panicked(process)) {
        processes.retain(|process| died(process) || panicked(process));
    } else if !run.only_failed {
        let keep = processes.len().saturating_sub(1);
        processes.drain(..keep);
    }
    if processes.is_empty() {
        if let (false, Some(path)) = (success, &run.chosen_file) {
            eprintln!("\nxhist: history, if anything was recorded: xhist-report {}", path.display());
        }
        return;
    }
    let map = MapFile::load(&run.map, &run.root).ok();
    let more = processes.len().saturating_sub(PROCESSES);
    for process in &processes[more..] {
        process.tell(map.as_ref(), run.prints_panics);
    }
    if more > 0 {
        eprintln!("\nxhist: the history of {more} more: {}", shown_path(&run.directory).display());
    }
}

/// Ring files of the run, oldest first.
fn files(run: &Run) -> Vec<PathBuf> {
    if let Some(path) = &run.chosen_file {
        return vec![path.clone()];
    }
    let mut files = Vec::new();
    // Nextest's tests have directories of their own.
    let mut directories = vec![run.directory.clone()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                directories.push(entry.path());
            } else if !runs_in_compiler(&entry.file_name().to_string_lossy()) {
                files.push((meta.modified().ok(), entry.path()));
            }
        }
    }
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// The recorder puts the process id behind the name of what a process left when it executed itself anew.
fn is_put_aside(path: &Path, pid: u32, paths: &[PathBuf]) -> bool {
    path.extension().is_some_and(|extension| extension.to_str() == Some(&pid.to_string()))
        && path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(&format!("-{pid}.xhist")))
        && paths.contains(&path.with_extension(""))
}

/// Build scripts may link instrumented members, and the compiler may load macros that do; they are no program of
/// the user's. By the name of a ring file: the program's and the process id.
fn runs_in_compiler(name: &str) -> bool {
    let program = name.rsplit_once('-').map_or(name, |(program, _)| program);
    matches!(program, "rustc" | "rustdoc") || program.starts_with("build-script-")
}

fn read(path: &Path) -> Option<Process> {
    let image = std::fs::read(path).ok()?;
    let rings = ring::find(&image).filter_map(|found| Some((found.offset, found.header.ok()?)));
    let mut threads: Vec<Thread> = rings
        .map(|(offset, header)| Thread {
            header,
            lines: Reader::new(header, &image[offset..]).tail(LINES).collect(),
        })
        .collect();
    threads.retain(|thread| !thread.lines.is_empty());
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

pub(super) fn is_running(pid: u32) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The state stands behind the name; a zombie only waits to be noticed.
    text.rsplit(") ").next().is_some_and(|rest| !rest.starts_with(['Z', 'X']))
}

impl Process {
    fn tell(&self, map: Option<&MapFile>, prints_panics: bool) {
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
                let mut number = 0;
                for line in &thread.lines {
                    match line {
                        Line::Statement(statement, times) => {
                            number += 1;
                            let (path, line) = place(map, *statement);
                            let repeated =
                                if *times > 1 { format!(" x {}", Thousands(*times)) } else { String::new() };
                            eprintln!("{number:>4} {path}:{line}{repeated}");
                        }
                        Line::Again(again) => {
                            eprintln!("     {}", again.show(|statement| place(map, statement)))
                        }
                    }
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

/// Path and line, or numbers where the map does not know the file.
fn place(map: Option<&MapFile>, statement: Statement) -> (String, u32) {
    let Statement { file, line } = statement;
    match map.and_then(|map| map.place(file, line)) {
        Some((path, line)) => (path.to_owned(), line),
        None => (format!("file#{file}"), u32::from(line)),
    }
}
