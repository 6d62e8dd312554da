//! A report that is one document: where it is written, and the browser that shows it.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::args::Args;
use super::error::UsageError;
use super::options::is_same;
use crate::format::Document;
use xhist_history::ExitCode;
use xhist_history::notes::Notes;
use xhist_history::source::Opened;

/// Programs that show a file, in the order in which they are tried.
#[cfg(target_os = "macos")]
const OPENERS: &[&[&str]] = &[&["open"]];
#[cfg(windows)]
const OPENERS: &[&[&str]] = &[&["explorer"]];
#[cfg(not(any(target_os = "macos", windows)))]
const OPENERS: &[&[&str]] = &[&["xdg-open"], &["gio", "open"], &["x-www-browser"], &["wslview"]];

impl Args {
    /// Checks that a document goes to one file.
    ///
    /// # Errors
    /// What to type instead.
    pub(super) fn check_document(&self) -> Result<(), UsageError> {
        let format = self.format();
        match format.document {
            Some(_) if self.sources.len() > 1 => Err(UsageError::SeveralSources(format.name)),
            Some(Document::Folder) if self.output.is_none() => Err(UsageError::Folder(format.name)),
            Some(_) if self.is_terminal() => Err(UsageError::Document(format.name)),
            _ => Ok(()),
        }
    }

    /// The folder that the report is written to, if its format has several files.
    pub(super) fn output_folder(&self) -> Option<PathBuf> {
        self.output.clone().filter(|_| self.format().document == Some(Document::Folder))
    }

    /// The file that the report is written to; `None` for standard output. Without a name it is beside the ring file.
    ///
    /// # Errors
    /// It is the file that is read.
    pub(super) fn output_file(&self, opened: &Opened) -> Result<Option<PathBuf>, UsageError> {
        if self.output_folder().is_some() {
            return Ok(None);
        }
        if let Some(path) = &self.output {
            let is_read = opened.path.as_deref().is_some_and(|source| is_same(path, source));
            return if is_read { Err(UsageError::Overwritten(path.clone())) } else { Ok(Some(path.clone())) };
        }
        if !self.open {
            return Ok(None);
        }
        let name = |path: &Path| path.with_extension(self.format().name);
        let beside = opened.path.as_deref().map(name).filter(|path| can_write(path));
        let elsewhere = || std::env::temp_dir().join("xhist").with_extension(self.format().name);
        Ok(Some(beside.unwrap_or_else(elsewhere)))
    }
}

/// Whether a file can be made beside this one.
fn can_write(path: &Path) -> bool {
    path.parent().is_some_and(|dir| {
        tempfile::tempfile_in(if dir == Path::new("") { Path::new(".") } else { dir }).is_ok()
    })
}

/// Writes a report to a file, which is replaced only by a whole one. `opens`: a browser shows it.
pub fn write(
    path: &Path,
    opens: bool,
    notes: &mut Notes<'_>,
    report: impl FnOnce(&mut dyn Write, &mut Notes<'_>) -> ExitCode,
) -> ExitCode {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return write_into(path, notes, report);
    }
    let dir = path.parent().filter(|dir| *dir != Path::new("")).unwrap_or(Path::new("."));
    let written = temporary(dir).and_then(|file| {
        let mut out = io::BufWriter::with_capacity(256 << 10, file);
        let code = report(&mut out, notes);
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if file.as_file().metadata()?.len() > 0 {
            file.persist(path).map_err(|error| error.error)?;
            return Ok((code, true));
        }
        Ok((code, false))
    });
    match written {
        Ok((code, true)) => {
            let _ = writeln!(io::stdout(), "{}", path.display());
            if opens && !open(path) {
                notes.note(format_args!(
                    "found no program that opens a browser; open {} in one",
                    path.display()
                ));
            }
            code
        }
        Ok((code, false)) => code,
        Err(error) => {
            notes.error(format_args!("cannot write {}: {error}", path.display()));
            ExitCode::Usage
        }
    }
}

/// Writes to a device or a pipe, such as /dev/null. A file in its place would remove it.
fn write_into(
    path: &Path,
    notes: &mut Notes<'_>,
    report: impl FnOnce(&mut dyn Write, &mut Notes<'_>) -> ExitCode,
) -> ExitCode {
    match std::fs::File::options().write(true).open(path) {
        Ok(file) => report(&mut io::BufWriter::new(file), notes),
        Err(error) => {
            notes.error(format_args!("cannot write {}: {error}", path.display()));
            ExitCode::Usage
        }
    }
}

/// A temporary file with the permissions of other files, because it becomes one.
fn temporary(dir: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(".xhist-").tempfile_in(dir)
}

/// Shows a file in the browser. `false`: no program for it was found.
fn open(path: &Path) -> bool {
    let path = dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let start = |words: &&[&str]| {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        add_path(&mut command, &path);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
    };
    OPENERS.iter().any(start)
}

#[cfg(not(windows))]
fn add_path(command: &mut Command, path: &Path) {
    command.arg(path);
}

/// The explorer of Windows takes a comma for the end of a path without quotes.
#[cfg(windows)]
fn add_path(command: &mut Command, path: &Path) {
    use std::os::windows::process::CommandExt as _;
    let mut quoted = OsString::from("\"");
    quoted.push(path);
    quoted.push("\"");
    command.raw_arg(quoted);
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::FileTypeExt as _;

    use super::*;

    #[test]
    fn a_pipe_is_written_to_and_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        let mut pipe = std::fs::File::options().read(true).write(true).open(&path).expect("a pipe");
        let report = |out: &mut dyn Write, _: &mut Notes<'_>| {
            out.write_all(b"page").expect("room");
            ExitCode::Complete
        };
        let code = write(&path, false, &mut Notes::new(&mut Vec::new()), report);
        let mut read = [0; 4];
        pipe.read_exact(&mut read).expect("what was written");
        assert_eq!((code, &read), (ExitCode::Complete, b"page"));
        assert!(path.metadata().expect("a pipe").file_type().is_fifo());
    }
}
