//! What the last preparation wrote into the shadow: a file whose inputs are the same is there already.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::keep::facts::Fact;
use crate::plan::write_if_changed;

/// The files of a shadow, with a sum of their inputs.
pub(crate) struct WrittenFiles<'a> {
    path: &'a Path,
    /// This program.
    program: String,
    before: HashMap<PathBuf, WrittenFile>,
    now: Mutex<HashMap<PathBuf, WrittenFile>>,
}

#[derive(Serialize, Deserialize)]
struct WrittenFile {
    inputs: u64,
    /// The file as it was written.
    made: Fact,
}

impl<'a> WrittenFiles<'a> {
    /// Reads what the last preparation of this program kept in a file.
    pub(crate) fn load(path: &'a Path, program: String) -> WrittenFiles<'a> {
        let kept = std::fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let kept = kept.filter(|(by, _): &(String, _)| *by == program);
        let before = kept.map_or_else(HashMap::new, |(_, files)| files);
        WrittenFiles { path, program, before, now: Mutex::default() }
    }

    /// Whether the file is as it was written from these inputs.
    pub(crate) fn has(&self, file: &Path, inputs: u64) -> bool {
        self.before.get(file).is_some_and(|kept| kept.inputs == inputs && kept.made == Fact::made(file))
    }

    /// The file is written.
    pub(crate) fn add(&self, file: PathBuf, inputs: u64) {
        let made = Fact::made(&file);
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.insert(file, WrittenFile { inputs, made });
    }

    /// Keeps the list. Without it, the next preparation writes all files again, so errors are ignored.
    pub(crate) fn keep(self) {
        let now = self.now.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Ok(text) = serde_json::to_vec(&(self.program, now)) {
            let _ = write_if_changed(self.path, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_while_nothing_about_it_has_changed() {
        let directory = tempfile::tempdir().expect("a directory");
        let (list, file) = (directory.path().join("written"), directory.path().join("a.rs"));
        std::fs::write(&file, "a").expect("a file");
        let of = |program: &str| WrittenFiles::load(&list, program.to_owned());
        let first = of("1");
        assert!(!first.has(&file, 7));
        first.add(file.clone(), 7);
        first.keep();
        assert!(of("1").has(&file, 7) && !of("1").has(&file, 8) && !of("2").has(&file, 7));
        std::fs::write(&file, "bc").expect("a file");
        assert!(!of("1").has(&file, 7));
        std::fs::remove_file(&file).expect("a file");
        assert!(!of("1").has(&file, 7));
    }
}
