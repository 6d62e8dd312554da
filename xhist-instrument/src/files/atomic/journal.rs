//! Rewrites a file in place, for files with hard links, or with an owner or attributes that a new file cannot get.
//! A journal holds the old and the new content, so the next run can finish an interrupted rewrite.

use super::file::{ReplaceError, directory_of, has_content};
use super::temporary::TemporaryFile;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// First line of a journal. It is followed by the length of the file's name, the length of the old content, the name,
/// the old content and the new content.
const MAGIC: &str = "xhist-instrument: a file that is being rewritten in place\n";

/// Replaces the content of a file that was `expected` when it was read.
pub(super) fn rewrite(path: &Path, expected: &[u8], content: &[u8]) -> Result<(), ReplaceError> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    let mut journal = TemporaryFile::beside(path, ".tmp")?;
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    for part in [MAGIC.as_bytes(), &lengths(name, expected), name, expected, content] {
        journal.file.write_all(part)?;
    }
    journal.file.sync_all()?;
    journal.rename("redo")?;
    sync_directory(path);
    if !has_content(path, expected)? {
        return Err(ReplaceError::Changed);
    }
    if let Err(error) = overwrite(&mut file, content) {
        // The disk may be full; the old content fits in the space that it had.
        if overwrite(&mut file, expected).is_err() {
            journal.keep();
        }
        return Err(error.into());
    }
    Ok(())
}

/// Two lines: the length of the name and the length of the old content.
fn lengths(name: &[u8], old: &[u8]) -> Vec<u8> {
    format!("{}\n{}\n", name.len(), old.len()).into_bytes()
}

fn overwrite(file: &mut File, content: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(content)?;
    file.set_len(content.len() as u64)?;
    file.sync_all()
}

/// Makes the journal survive a crash of the machine.
fn sync_directory(path: &Path) {
    let _ = File::open(directory_of(path)).and_then(|directory| directory.sync_all());
}

/// Why a rewrite of a killed run cannot be finished.
#[derive(Debug)]
pub enum JournalError {
    /// The journal cannot be read.
    Read {
        /// The journal.
        journal: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file has the name of a journal and another content.
    Foreign(PathBuf),
    /// The file cannot be rewritten.
    Unfinished {
        /// The file.
        path: PathBuf,
        /// Its journal, which holds both texts.
        journal: PathBuf,
        /// The cause.
        cause: UnfinishedCause,
    },
}

/// Why the file of a journal cannot be rewritten.
#[derive(Debug)]
pub enum UnfinishedCause {
    /// The system's error.
    Io(io::Error),
    /// The path is not a regular file any longer.
    NotAFile,
    /// The content is not a mix of the new and the old content, as an interrupted rewrite leaves it.
    Changed,
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { journal, error } => write!(f, "{}: {error}", journal.display()),
            Self::Foreign(journal) => write!(f, "{}: not a journal of this tool", journal.display()),
            Self::Unfinished { path, journal, cause } => write!(
                f,
                "{}: a killed run was rewriting it, and it cannot be finished ({cause}); {} has both texts",
                path.display(),
                journal.display()
            ),
        }
    }
}

impl fmt::Display for UnfinishedCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NotAFile => f.write_str("not a regular file any longer"),
            Self::Changed => f.write_str("it changed since"),
        }
    }
}

/// Finishes the rewrite that this journal describes. A file that was edited since stays as it is.
pub(super) fn finish(journal: &Path) -> Result<(), JournalError> {
    let text =
        std::fs::read(journal).map_err(|error| JournalError::Read { journal: journal.to_owned(), error })?;
    let (name, old, new) = parse(&text).ok_or_else(|| JournalError::Foreign(journal.to_owned()))?;
    let path = directory_of(journal).join(name);
    let unfinished =
        |cause| JournalError::Unfinished { path: path.clone(), journal: journal.to_owned(), cause };
    let failed = |error| unfinished(UnfinishedCause::Io(error));
    let file = std::fs::symlink_metadata(&path);
    if file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    if !file.map_err(failed)?.is_file() {
        return Err(unfinished(UnfinishedCause::NotAFile));
    }
    let now = std::fs::read(&path).map_err(failed)?;
    if now == old || now == new {
        return Ok(());
    }
    let written = now.iter().zip(new).take_while(|(now, new)| now == new).count();
    if now[written..] != *old.get(written..).unwrap_or_default() {
        return Err(unfinished(UnfinishedCause::Changed));
    }
    let mut file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
    overwrite(&mut file, new).map_err(failed)
}

/// The name of the file, its old content and its new content.
fn parse(text: &[u8]) -> Option<(&OsStr, &[u8], &[u8])> {
    let mut rest = text.strip_prefix(MAGIC.as_bytes())?;
    let mut number = || {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let number: usize = str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
        rest = &rest[end + 1..];
        Some(number)
    };
    let (name, old) = (number()?, number()?);
    let (name, rest) = rest.split_at_checked(name)?;
    let (old, new) = rest.split_at_checked(old)?;
    let leaves = name.contains(&b'/') || [".", "..", ""].iter().any(|dots| dots.as_bytes() == name);
    if leaves { None } else { Some((file_name(name)?, old, new)) }
}

#[cfg(unix)]
fn file_name(name: &[u8]) -> Option<&OsStr> {
    Some(std::os::unix::ffi::OsStrExt::from_bytes(name))
}

#[cfg(not(unix))]
fn file_name(name: &[u8]) -> Option<&OsStr> {
    str::from_utf8(name).ok().map(OsStr::new)
}

#[cfg(test)]
mod tests {
    use super::super::remove_stale;
    use super::*;

    const OLD: &[u8] = b"fn f() { x(); y(); }\n";
    const NEW: &[u8] = b"fn f() { ::xhist_rt::s(0x1_0001_0a01);x(); ::xhist_rt::s(0x1_0001_0a01);y(); }\n";

    fn journal(dir: &Path, name: &str, old: &[u8], new: &[u8]) {
        let text = [MAGIC.as_bytes(), &lengths(name.as_bytes(), old), name.as_bytes(), old, new].concat();
        std::fs::write(dir.join(".xhist-abc123.redo"), text).unwrap();
    }

    #[test]
    fn a_rewrite_killed_at_any_byte_is_finished() {
        for (old, new) in [(OLD, NEW), (NEW, OLD), (OLD, b"".as_slice())] {
            let states = (0..=new.len()).map(|done| [&new[..done], old.get(done..).unwrap_or(b"")].concat());
            for state in states {
                let dir = tempfile::tempdir().unwrap();
                std::fs::write(dir.path().join("a.rs"), &state).unwrap();
                journal(dir.path(), "a.rs", old, new);
                assert!(remove_stale(dir.path()).is_empty());
                let now = std::fs::read(dir.path().join("a.rs")).unwrap();
                assert!(now == new || state == old && now == old, "{state:?}");
                assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
            }
        }
    }

    #[test]
    fn an_edited_file_and_its_journal_stay() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.rs"), "fn f() { mine(); }\n").unwrap();
        journal(dir.path(), "a.rs", OLD, NEW);
        let problems = remove_stale(dir.path());
        assert!(problems[0].to_string().contains("it changed since"), "{problems:?}");
        assert_eq!(std::fs::read(dir.path().join("a.rs")).unwrap(), b"fn f() { mine(); }\n");
        assert!(dir.path().join(".xhist-abc123.redo").exists());
    }

    #[test]
    fn a_journal_cannot_name_a_file_in_another_directory() {
        for name in ["../a.rs", "/a.rs", "..", ""] {
            let text = [MAGIC.as_bytes(), &lengths(name.as_bytes(), OLD), name.as_bytes(), OLD, NEW].concat();
            assert_eq!(parse(&text), None, "{name}");
        }
        assert_eq!(parse(b"xhist"), None);
        assert_eq!(parse(format!("{MAGIC}99999999999\n5\nx").as_bytes()), None);
    }
}
