//! Cleans up after killed runs: finishes rewrites, removes temporary files.

use super::journal::{self, JournalError};
use super::temporary::{LETTERS, PREFIX, is_same_file};
use std::fs::{self, File};
use std::path::Path;

/// The kind of a file that a killed run left.
#[derive(Debug, PartialEq, Eq)]
enum Leftover {
    /// Content that did not replace its file yet.
    Temporary,
    /// The journal of a rewrite in place.
    Journal,
}

impl Leftover {
    /// The kind by the file's name. Earlier versions used no suffix; without one, names of only lower-case letters
    /// are skipped, because a user may have chosen them.
    fn of(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(PREFIX)?;
        let (letters, suffix) = rest.split_once('.').unwrap_or((rest, ""));
        let is_random = letters.len() == LETTERS && letters.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match suffix {
            "tmp" if is_random => Some(Self::Temporary),
            "redo" if is_random => Some(Self::Journal),
            "" if is_random && rest == letters => {
                letters.bytes().any(|byte| !byte.is_ascii_lowercase()).then_some(Self::Temporary)
            }
            _ => None,
        }
    }
}

/// Removes the files that killed runs left in this directory, after finishing their rewrites. Files of running
/// processes stay. Returns the rewrites that failed.
pub fn remove_stale(directory: &Path) -> Vec<JournalError> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut problems = Vec::new();
    for entry in entries.flatten() {
        let Some(left) = entry.file_name().to_str().and_then(Leftover::of) else { continue };
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_err() || !is_same_file(&file, &path) {
            continue;
        }
        if left == Leftover::Journal
            && let Err(problem) = journal::finish(&path)
        {
            problems.push(problem);
            continue;
        }
        let _ = fs::remove_file(&path);
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::temporary::TemporaryFile;
    use super::*;

    #[test]
    fn only_stale_files_of_this_tool_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let ours = [".xhist-a1B2c3.tmp", ".xhist-Ab3dEf", ".xhist-abcdef.tmp"];
        let others = [
            ".xhist-backup",
            ".xhist-notes",
            ".xhist-a1B2c3.txt",
            ".xhist-Ab3dEf.",
            "xhist-Ab3dEf",
            ".xhist-",
        ];
        for name in ours.iter().chain(&others) {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        fs::create_dir(dir.path().join(".xhist-Zz9Zz9.tmp")).unwrap();
        let at_work = TemporaryFile::beside(&dir.path().join("a.rs"), ".tmp").unwrap();
        assert!(remove_stale(dir.path()).is_empty());
        for name in ours {
            assert!(!dir.path().join(name).exists(), "{name}");
        }
        for name in others {
            assert!(dir.path().join(name).exists(), "{name}");
        }
        assert!(at_work.path.exists() && dir.path().join(".xhist-Zz9Zz9.tmp").exists());
        drop(at_work);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), others.len() + 1);
    }
}
