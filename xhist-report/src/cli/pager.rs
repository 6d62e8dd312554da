//! A pager for output that is longer than the screen of a terminal.
//!
//! The command is `$XHIST_PAGER`, else `$PAGER`, else `less`, as git takes it. Output that fits is printed as it is.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Bytes that are kept until it is known whether they fit on the screen.
const KEPT: usize = 1 << 20;
/// Exit codes of a shell that does not find a command.
const NOT_FOUND: &[i32] = if cfg!(windows) { &[9009, 1] } else { &[127] };

/// Writes to the terminal, or to a pager.
pub struct Pager {
    command: Option<String>,
    /// Lines and columns of the screen.
    screen: (usize, usize),
    kept: Vec<u8>,
    child: Option<Child>,
    /// The pager was quit, so nothing more is shown.
    has_quit: bool,
    is_passed_on: bool,
}

impl Pager {
    /// For the terminal of standard output; `is_wanted`: otherwise the output goes there at once.
    pub fn new(is_wanted: bool) -> Pager {
        let variable = |name: &str| std::env::var(name).ok();
        // No console of Windows has the variable.
        let is_dumb = variable("TERM").map_or(cfg!(unix), |term| term == "dumb");
        let command = if is_wanted && !is_dumb { command(&variable) } else { None };
        let screen = screen();
        // Without a size there is no screen.
        let command = command.filter(|_| screen.0 > 0);
        let is_passed_on = command.is_none();
        Pager { command, screen, kept: Vec::new(), child: None, has_quit: false, is_passed_on }
    }

    /// Whether the output so far is longer than the screen.
    fn is_long(&self) -> bool {
        // The prompt takes a line.
        rows(&self.kept, self.screen.1) >= self.screen.0
    }

    fn start(&mut self) -> io::Result<()> {
        match self.command.take().and_then(|command| start(&command).ok()) {
            Some(child) => {
                // Ctrl-C is the pager's as long as it runs.
                #[cfg(unix)]
                let _ = signal_hook::flag::register(
                    signal_hook::consts::SIGINT,
                    std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)),
                );
                self.child = Some(child);
                let kept = std::mem::take(&mut self.kept);
                self.send(&kept)?;
                self.kept = kept;
                Ok(())
            }
            None => self.pass_on(),
        }
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(pipe) = self.child.as_mut().and_then(|child| child.stdin.as_mut()) else { return Ok(()) };
        match pipe.write_all(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.has_quit = true;
                Ok(())
            }
            written => written,
        }
    }

    /// Writes to the terminal from here on.
    fn pass_on(&mut self) -> io::Result<()> {
        self.is_passed_on = true;
        let kept = std::mem::take(&mut self.kept);
        let mut stdout = io::stdout().lock();
        stdout.write_all(&kept)?;
        stdout.flush()
    }

    /// Shows the rest, and waits until the user leaves the pager.
    ///
    /// # Errors
    /// Those of the terminal.
    pub fn finish(mut self) -> io::Result<()> {
        if self.is_passed_on {
            return io::stdout().lock().flush();
        }
        if self.child.is_none() && self.is_long() {
            self.start()?;
        }
        let Some(mut child) = self.child.take() else { return self.pass_on() };
        drop(child.stdin.take());
        let status = child.wait()?;
        if status.code().is_some_and(|code| NOT_FOUND.contains(&code)) && !self.kept.is_empty() {
            return self.pass_on();
        }
        Ok(())
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_passed_on {
            return io::stdout().lock().write(bytes);
        }
        if self.child.is_none() {
            self.kept.extend_from_slice(bytes);
            if self.kept.len() > KEPT {
                self.start()?;
            }
            return Ok(bytes.len());
        }
        if !self.has_quit {
            self.send(bytes)?;
        }
        // What could be printed without the pager is no longer complete.
        self.kept = Vec::new();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.is_passed_on {
            true => io::stdout().lock().flush(),
            false => Ok(()),
        }
    }
}

/// The command of the pager; `None` if the user wants none.
fn command(variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let chosen = variable("XHIST_PAGER").or_else(|| variable("PAGER")).unwrap_or_else(|| "less".to_owned());
    let chosen = chosen.trim();
    (!chosen.is_empty() && chosen != "cat").then(|| chosen.to_owned())
}

fn start(command: &str) -> io::Result<Child> {
    let is_plain = |char: char| {
        char.is_alphanumeric() || "/._-+=:,@% ".contains(char) || (char == '\\' && cfg!(windows))
    };
    let mut words = command.split_whitespace();
    let mut pager = match words.next().filter(|_| command.chars().all(is_plain)) {
        Some(program) => {
            let mut pager = Command::new(program);
            pager.args(words);
            pager
        }
        None => shell(command),
    };
    pager.stdin(Stdio::piped());
    if Path::new(pager.get_program()).file_stem() == Some(OsStr::new("less")) {
        // Colours and links are for the terminal.
        pager.arg("-R");
    }
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            pager.env(name, value);
        }
    }
    pager.spawn()
}

/// What has quotes or variables is for a shell.
#[cfg(not(windows))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    shell
}

/// What has quotes or variables is for a shell, which takes the outer quotes away.
#[cfg(windows)]
fn shell(command: &str) -> Command {
    use std::os::windows::process::CommandExt as _;
    let mut shell = Command::new("cmd");
    shell.raw_arg(format!("/S /C \"{command}\""));
    shell
}

/// Lines and columns of the terminal; 0 if it has no size.
fn screen() -> (usize, usize) {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout()) {
        return (usize::from(size.ws_row), usize::from(size.ws_col));
    }
    #[cfg(not(unix))]
    if let Ok((columns, rows)) = crossterm::terminal::size() {
        return (usize::from(rows), usize::from(columns));
    }
    (0, 0)
}

/// Rows of the screen that a text takes, without its escape sequences.
fn rows(text: &[u8], columns: usize) -> usize {
    let text = anstream::adapter::strip_bytes(text).into_vec();
    let text = String::from_utf8_lossy(&text);
    text.lines().map(|line| line.chars().count().div_ceil(columns.max(1)).max(1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pager_is_chosen_as_git_chooses_it() {
        let chosen = |variables: &[(&str, &str)]| {
            command(&|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(chosen(&[]).as_deref(), Some("less"));
        assert_eq!(chosen(&[("PAGER", "more"), ("XHIST_PAGER", "most -s")]).as_deref(), Some("most -s"));
        assert_eq!(chosen(&[("PAGER", "more")]).as_deref(), Some("more"));
        assert_eq!(
            (chosen(&[("PAGER", "cat")]), chosen(&[("XHIST_PAGER", " "), ("PAGER", "more")])),
            (None, None)
        );
    }

    #[test]
    fn long_lines_take_several_rows() {
        assert_eq!(rows(b"a\n\nb\n", 80), 3);
        assert_eq!(rows("\u{1b}[31m12345678901\u{1b}[0m\n".as_bytes(), 10), 2);
        assert_eq!(rows("\u{1b}]8;;file:///a\u{1b}\\1234567890\u{1b}]8;;\u{1b}\\\n".as_bytes(), 10), 1);
    }
}
