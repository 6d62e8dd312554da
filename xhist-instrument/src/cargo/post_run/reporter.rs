//! Starts `xhist-report`, a program of its own, for the answer to a failed run.
//!
//! `xhist-report answer DIRECTORY` reads `run.json` and the ring files in the directory of a run.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that names the program; `off`: the short listing is printed.
const VARIABLE: &str = "XHIST_REPORT";
const PROGRAM: &str = "xhist-report";
/// What `xhist-report --version` prints for this version.
const VERSION: &str = concat!("xhist-report ", env!("CARGO_PKG_VERSION"));

/// Lines of a program that chose its exit code.
const BRIEF_LINES: &str = "12";

/// `xhist-report` of this version.
pub(super) struct Reporter {
    program: PathBuf,
}

/// Whether it is installed.
pub(super) enum Found {
    Reporter(Reporter),
    /// The user wants the short listing.
    NotWanted,
    Missing(MissingReporter),
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum MissingReporter {
    NotInstalled,
    /// It cannot be started.
    Start(PathBuf, io::Error),
    /// It is of another version: what it printed.
    Version(PathBuf, String),
    /// It started, but ended without an answer.
    Failed(PathBuf, std::process::ExitStatus),
}

impl fmt::Display for MissingReporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &PathBuf| crate::shell::visible(&path.to_string_lossy());
        match self {
            MissingReporter::NotInstalled => write!(
                f,
                "`cargo install --path xhist-report` in a checkout of xhist adds functions, source text and folded calls to this \
                 listing"
            ),
            MissingReporter::Start(path, error) => write!(f, "cannot start {}: {error}", shown(path)),
            MissingReporter::Version(path, version) => write!(
                f,
                "{} is `{}`, and this is {}; `cargo install --path xhist-report` in the same checkout of xhist as this \
                 program's installs the right one",
                shown(path),
                crate::shell::visible(version),
                env!("CARGO_PKG_VERSION")
            ),
            MissingReporter::Failed(path, status) => write!(f, "{} ended with {status}", shown(path)),
        }
    }
}

impl Reporter {
    /// The program that the user names, else the one beside this program, else the one on the path.
    pub(super) fn find() -> Found {
        let chosen = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
        if chosen.as_ref().is_some_and(|value| value == "off") {
            return Found::NotWanted;
        }
        let beside = || {
            let own = std::env::current_exe().ok()?;
            Some(own.parent()?.join(PROGRAM)).filter(|path| path.is_file())
        };
        let program = chosen.map(PathBuf::from).or_else(beside).unwrap_or_else(|| PROGRAM.into());
        let mut version = Command::new(&program);
        version.arg("--version").stdin(Stdio::null()).stderr(Stdio::null());
        match version.output() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Found::Missing(MissingReporter::NotInstalled)
            }
            Err(error) => Found::Missing(MissingReporter::Start(program, error)),
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stdout);
                let text = text.lines().next().unwrap_or_default().trim();
                if text == VERSION {
                    return Found::Reporter(Reporter { program });
                }
                let text: String = text.chars().take(80).collect();
                Found::Missing(MissingReporter::Version(program, text))
            }
        }
    }

    /// Prints the answer to the run of this directory on stderr.
    pub(super) fn answer(&self, directory: &Path) -> Result<(), MissingReporter> {
        self.print_answer(&[], directory)
    }

    /// Prints the last few statements in this ring file on stderr.
    pub(super) fn answer_briefly(&self, file: &Path) -> Result<(), MissingReporter> {
        self.print_answer(&["--lines", BRIEF_LINES], file)
    }

    fn print_answer(&self, options: &[&str], of: &Path) -> Result<(), MissingReporter> {
        let mut command = Command::new(&self.program);
        command.args(["answer", "--no-pager"]).args(options).arg(of);
        command.stdin(Stdio::null()).stdout(io::stderr());
        let status = match command.status() {
            Ok(status) => status,
            Err(error) => return Err(MissingReporter::Start(self.program.clone(), error)),
        };
        match status.code() {
            // Complete, or something was lost.
            Some(0 | 1) => Ok(()),
            _ => Err(MissingReporter::Failed(self.program.clone(), status)),
        }
    }

    /// Prints annotations of the failures in this run for GitHub, on stdout.
    pub(super) fn annotate(&self, directory: &Path) {
        let mut command = Command::new(&self.program);
        command.args(["answer", "--format", "github"]).arg(directory).stdin(Stdio::null());
        // It reports its own errors; the exit code is that of the tests.
        let _ = command.status();
    }

    /// Prints the suspects of the run of this directory on stderr, if there are any.
    pub(super) fn suspects(&self, directory: &Path) {
        let mut command = Command::new(&self.program);
        command.args(["suspects", "--brief"]).arg(directory).stdin(Stdio::null()).stdout(io::stderr());
        // The answer is there without them.
        let _ = command.status();
    }
}
