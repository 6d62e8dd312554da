//! Analyses of files, kept from one preparation to the next: after an edit only what changed is parsed.
//!
//! A file of the directory is an analysis. Its name is a sum of all that decides about it: this program, the text, the options,
//! and the macros that the text may call. So nothing there is ever wrong, only unused.

use std::collections::HashSet;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::Mutex;

use xhist_instrument::{Analysis, Macros, Options, Refusal, analyze_among};

use crate::plan::write_if_changed;

/// The analyses that the last preparation needed.
#[derive(Debug)]
pub(crate) struct KeptAnalyses {
    directory: PathBuf,
    /// This program.
    program: String,
    used: Mutex<HashSet<OsString>>,
}

impl KeptAnalyses {
    /// Those of this directory. `program` describes this program.
    pub(crate) fn new(directory: PathBuf, program: String) -> KeptAnalyses {
        KeptAnalyses { directory, program, used: Mutex::default() }
    }

    /// [`analyze_among`].
    pub(crate) fn of(&self, text: &[u8], options: &Options, macros: &Macros) -> Result<Analysis, Refusal> {
        self.get((text, options, macros), || analyze_among(text, options, macros))
    }

    fn get(
        &self,
        (text, options, macros): (&[u8], &Options, &Macros),
        analyse: impl FnOnce() -> Result<Analysis, Refusal>,
    ) -> Result<Analysis, Refusal> {
        let mut hash = DefaultHasher::new();
        (&self.program, text, format!("{options:?}"), macros.sum_for(text)).hash(&mut hash);
        let name = OsString::from(format!("{:016x}", hash.finish()));
        let path = self.directory.join(&name);
        let known = std::fs::read(&path).ok().and_then(|bytes| Analysis::from_bytes(&bytes));
        let analysis = match known {
            Some(analysis) => analysis,
            None => {
                let analysis = analyse()?;
                // Without it, the next preparation analyses the file again.
                let _ = write_if_changed(&path, &analysis.to_bytes());
                analysis
            }
        };
        self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(name);
        Ok(analysis)
    }

    /// Removes those that were not asked for.
    pub(crate) fn prune(self) {
        let used = self.used.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| !used.contains(&entry.file_name())) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn only_what_decides_about_an_analysis_makes_another_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let kept = |program: &str| KeptAnalyses::new(directory.path().into(), program.to_owned());
        let analysed = Cell::new(0);
        let of = |kept: &KeptAnalyses, text: &str, options: &Options, macros: &Macros| {
            let analyse = || {
                analysed.set(analysed.get() + 1);
                analyze_among(text.as_bytes(), options, macros)
            };
            let found = kept.get((text.as_bytes(), options, macros), analyse);
            assert_eq!(found, analyze_among(text.as_bytes(), options, macros));
            analysed.take()
        };
        let (options, mut macros) = (Options::default(), Macros::default());
        let first = kept("1");
        assert_eq!(of(&first, "fn f() { m!(g()) }", &options, &macros), 1);
        assert_eq!(of(&kept("1"), "fn f() { m!(g()) }", &options, &macros), 0);
        assert_eq!(of(&kept("1"), "fn f() { m!(h()) }", &options, &macros), 1);
        assert_eq!(of(&kept("2"), "fn f() { m!(g()) }", &options, &macros), 1);
        let entries = Options { detail: xhist_instrument::Detail::Function, ..options };
        assert_eq!(of(&kept("1"), "fn f() { m!(g()) }", &entries, &macros), 1);
        macros.add_file("b.rs".as_ref(), b"fn k() {}");
        assert_eq!(of(&kept("1"), "fn f() { m!(g()) }", &options, &macros), 0);
        macros.add_file("a.rs".as_ref(), b"macro_rules! m { ($e:expr) => { $e } }");
        assert_eq!(of(&kept("1"), "fn f() { m!(g()) }", &options, &macros), 1);
        assert_eq!(of(&first, "fn {", &options, &macros), 1);
        assert_eq!(of(&first, "fn {", &options, &macros), 1, "an error is not kept");
        first.prune();
        assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 1);
    }
}
