//! Rewrites a file in place: for one that has other names, or whose owner or attributes a new file could not get.
//! A journal beside it holds the old and the new content, so the next run finishes what a killed one began.

use super::temporary::Temporary;
use super::{ReplaceError, directory_of, holds};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::path::Path;

/// First line of a journal. The name of the file, the length of its old content, both contents follow.
const MAGIC: &str = "xhist-instrument: a file that is being rewritten in place\n";

/// Replaces the content of a file that was `expected` when it was read.
pub(super) fn rewrite(path: &Path, expected: &[u8], content: &[u8]) -> Result<(), ReplaceError> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    let mut journal = Temporary::beside(path, ".tmp")?;
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    for part in [MAGIC.as_bytes(), &lengths(name, expected), name, expected, content] {
        journal.file.write_all(part)?;
    }
    journal.file.sync_all()?;
    journal.rename("redo")?;
    sync_directory(path);
    if !holds(path, expected)? {
        return Err(ReplaceError::Changed);
    }
    if let Err(error) = overwrite(&mut file, content) {
        // The disk may be full; the old content had its place there.
        if overwrite(&mut file, expected).is_err() {
            journal.leave();
        }
        return Err(error.into());
    }
    Ok(())
}

/// Two lines: the length of the name, and of the old content.
fn lengths(name: &[u8], old: &[u8]) -> Vec<u8> {
    format!("{}\n{}\n", name.len(), old.len()).into_bytes()
}

fn overwrite(file: &mut File, content: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(content)?;
    file.set_len(content.len() as u64)?;
    file.sync_all()
}

/// The journal must be found after a crash of the machine as well.
fn sync_directory(path: &Path) {
    let _ = File::open(directory_of(path)).and_then(|directory| directory.sync_all());
}

/// Finishes what the writer of this journal began. A file that somebody changed since stays as it is.
pub(super) fn finish(journal: &Path) -> Result<(), String> {
    let text = std::fs::read(journal).map_err(|error| format!("{}: {error}", journal.display()))?;
    let (name, old, new) =
        parse(&text).ok_or_else(|| format!("{}: not a journal of this tool", journal.display()))?;
    let path = directory_of(journal).join(name);
    let failed = |error: io::Error| {
        let (path, journal) = (path.display(), journal.display());
        format!(
            "{path}: a killed run was rewriting it, and it cannot be finished ({error}); {journal} has both texts"
        )
    };
    let file = std::fs::symlink_metadata(&path);
    if file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    if !file.map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("not a regular file any longer")));
    }
    let now = std::fs::read(&path).map_err(failed)?;
    if now == old || now == new {
        return Ok(());
    }
    let written = now.iter().zip(new).take_while(|(now, new)| now == new).count();
    if now[written..] != *old.get(written..).unwrap_or_default() {
        return Err(failed(io::Error::other("somebody changed it since")));
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
    const NEW: &[u8] = b"fn f() { ::xhist_rt::s::<1,1,9>();x(); ::xhist_rt::s::<1,1,9>();y(); }\n";

    fn journal(dir: &Path, name: &str, old: &[u8], new: &[u8]) {
        let text = [MAGIC.as_bytes(), &lengths(name.as_bytes(), old), name.as_bytes(), old, new].concat();
        std::fs::write(dir.join(".xhist-abc123.redo"), text).unwrap();
    }

    #[test]
    fn a_write_that_was_killed_anywhere_is_finished() {
        for (old, new) in [(OLD, NEW), (NEW, OLD), (OLD, b"".as_slice())] {
            let states = (0..=new.len()).map(|done| [&new[..done], old.get(done..).unwrap_or(b"")].concat());
            for state in states {
                let dir = tempfile::tempdir().unwrap();
                std::fs::write(dir.path().join("a.rs"), &state).unwrap();
                journal(dir.path(), "a.rs", old, new);
                assert_eq!(remove_stale(dir.path()), Vec::<String>::new());
                let now = std::fs::read(dir.path().join("a.rs")).unwrap();
                assert!(now == new || state == old && now == old, "{state:?}");
                assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
            }
        }
    }

    #[test]
    fn what_somebody_changed_since_stays_and_so_does_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.rs"), "fn f() { mine(); }\n").unwrap();
        journal(dir.path(), "a.rs", OLD, NEW);
        let problems = remove_stale(dir.path());
        assert!(problems[0].contains("somebody changed it since"), "{problems:?}");
        assert_eq!(std::fs::read(dir.path().join("a.rs")).unwrap(), b"fn f() { mine(); }\n");
        assert!(dir.path().join(".xhist-abc123.redo").exists());
    }

    #[test]
    fn a_journal_reaches_no_other_directory() {
        for name in ["../a.rs", "/a.rs", "..", ""] {
            let text = [MAGIC.as_bytes(), &lengths(name.as_bytes(), OLD), name.as_bytes(), OLD, NEW].concat();
            assert_eq!(parse(&text), None, "{name}");
        }
        assert_eq!(parse(b"xhist"), None);
        assert_eq!(parse(format!("{MAGIC}99999999999\n5\nx").as_bytes()), None);
    }
}
