//! What the compiler says about a crate: its warnings and errors, as it prints them for the sources without calls.
//!
//! The compiler reads a shadow, so it would show lines with calls, and columns that count them. When it says something about
//! such a line, the user's own sources are checked beside it, and what is said about them is printed. The same holds for a
//! warning that the user denies.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use qs_core::inserted::{CRATE, PRINTED};
use serde_json::Value;

use super::denied::{Denied, is_of_lint};
use super::refusals::{announcement, reason, refused};

/// How to learn what the compiler says about the user's own sources.
pub(super) struct Plain {
    /// The compiler that checks them.
    pub(super) check: Command,
    /// The same compiler, without arguments.
    pub(super) compiler: Command,
    pub(super) denied: Denied,
}

/// Runs a compiler. `plain` checks the user's own sources. When the compiler refuses one of these functions or macros, the name
/// becomes a file in `directory`, and no errors are printed: the build is repeated.
pub(super) fn run(
    command: &mut Command,
    mut plain: Option<Plain>,
    freed: &BTreeSet<String>,
    directory: &Path,
) -> io::Result<ExitStatus> {
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
    let (mut held, mut names, mut check) = (Vec::new(), BTreeSet::new(), None);
    let mut stderr = io::stderr();
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        match diagnostic(&line) {
            // Cargo waits for all other lines, such as those that name finished files.
            None => stderr.write_all(&line)?,
            Some(diagnostic) => {
                names.extend(refused(&diagnostic).into_iter().filter(|name| freed.contains(name)));
                let decides = |plain: &mut Plain| {
                    shows_calls(&line) || plain.denied.may_have(&diagnostic, &mut plain.compiler)
                };
                if let Some(plain) = plain.take_if(decides) {
                    check = Check::start(plain.check);
                }
                held.extend_from_slice(&line);
            }
        }
        line.clear();
    }
    let mut status = child.wait()?;
    if !names.is_empty() {
        std::fs::create_dir_all(directory)?;
        names.iter().try_for_each(|name| std::fs::write(directory.join(name), ""))?;
        writeln!(stderr, "{}", announcement(&reason(&names)))?;
    } else {
        if let Some(said) = check.and_then(|check| check.said_beside(status)) {
            (held, status) = said;
        }
        stderr.write_all(&held)?;
    }
    Ok(status)
}

/// The warning, error or advice in a line of the compiler.
fn diagnostic(line: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(line).ok()?;
    message["level"].is_string().then_some(message)
}

/// Directories with shadows as JSON has them. The compiler names a file that is missing by its whole path.
const SHADOWS: [&str; 4] = ["xhist/shadow", "xhist/deps/", r"xhist\\shadow", r"xhist\\deps\\"];

/// Whether a line of the compiler shows a line of source text with inserted calls, or the path of a shadow.
fn shows_calls(line: &[u8]) -> bool {
    let mut marks = [CRATE, PRINTED].into_iter().chain(SHADOWS);
    marks.any(|name| line.windows(name.len()).any(|part| part == name.as_bytes()))
}

/// A compiler that checks the user's own sources.
struct Check(Child);

impl Check {
    /// Its output is read behind that of the other compiler. If it fills the pipe, it waits.
    fn start(mut command: Command) -> Option<Check> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().ok().map(Check)
    }

    /// What it said and how it ended, if that counts. The compiler of the shadow may know more, for example of an error that
    /// only machine code has. But it does not know what the user denies.
    fn said_beside(self, shadow: ExitStatus) -> Option<(Vec<u8>, ExitStatus)> {
        let output = self.0.wait_with_output().ok()?;
        let lines = output.stderr.split_inclusive(|byte| *byte == b'\n');
        let said: Vec<_> = lines.filter_map(|line| Some((line, diagnostic(line)?))).collect();
        let errors: Vec<_> =
            said.iter().map(|(_, said)| said).filter(|said| said["level"] == "error").collect();
        let is_denied = !errors.is_empty() && errors.into_iter().all(is_of_lint);
        let counts = output.status.success() == shadow.success() || shadow.success() && is_denied;
        counts.then(|| (said.iter().map(|(line, _)| *line).collect::<Vec<_>>().concat(), output.status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_calls_are_known_and_lines_about_files_pass() {
        let with_call =
            br#"{"level":"warning","spans":[{"text":[{"text":"::xhist_rt::s(0x1);let a = 1;"}]}]}"#;
        assert!(shows_calls(with_call) && diagnostic(with_call).is_some());
        let first_line = br#"{"level":"error","spans":[{"text":[{"text":"extern crate xhist_rt as __xhist_out;fn f()"}]}]}"#;
        assert!(shows_calls(first_line));
        assert!(shows_calls(
            br#"{"level":"help","message":"create file \"/p/target/xhist/shadow/p/a.rs\""}"#
        ));
        assert!(shows_calls(br#"{"level":"help","message":"create file \"C:\\p\\xhist\\shadow\\a.rs\""}"#));
        assert!(!shows_calls(br#"{"level":"warning","message":"unused"}"#));
        assert!(diagnostic(b"{\"artifact\":\"/a\",\"emit\":\"link\"}").is_none());
        assert!(diagnostic(b"text").is_none());
    }
}
