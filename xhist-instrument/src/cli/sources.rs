//! The files of a command line as a set of sources for the pipeline.

use super::Args;
use super::args::EditionArg;
use super::console;
use super::folder::{FolderSource, FolderSources};
use super::paths::absolute;
use crate::pipeline::{Exemption, Failure, Outcome, SourceSet, SourceText};
use crate::select::ValueFilter;
use crate::select::trigger::Request;
use crate::{Analysis, IncludeKind, Macros, Options};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Files that were found, and how the command line wants them instrumented.
pub struct CommandLineSources<'a> {
    pub args: &'a Args,
    pub found: &'a FolderSources,
}

impl SourceSet for CommandLineSources<'_> {
    fn count(&self) -> usize {
        self.found.sources.len()
    }

    fn path(&self, index: usize) -> &Path {
        &self.found.sources[index].real
    }

    fn recorded_path(&self, index: usize) -> PathBuf {
        let source = &self.found.sources[index];
        let written = self.args.out_dir.as_ref().filter(|_| self.args.reflow);
        written.map_or_else(|| source.real.clone(), |dir| absolute(dir).join(&source.below))
    }

    fn name(&self, index: usize) -> String {
        console::shown(&self.found.sources[index].path)
    }

    fn exemption(&self, index: usize) -> Option<Exemption> {
        let source = &self.found.sources[index];
        source.rule.or((!source.is_rust).then_some(Exemption::Data))
    }

    fn options(&self, index: usize) -> Options {
        let source = &self.found.sources[index];
        let edition2015 = match (self.args.edition, &source.package) {
            (Some(edition), _) => edition == EditionArg::E2015,
            (None, Some(package)) => package.edition2015,
            (None, None) => false,
        };
        let manifests = source.manifests().map(|manifest| &manifest.settings);
        let options = self.args.settings.over(manifests).options();
        let triggers = !self.found.triggers.is_empty();
        let watches = self.found.triggers.iter().any(Request::watches);
        Options { edition2015, triggers, watches, ..options }
    }

    fn text(&self, index: usize) -> Result<SourceText<'_>, Failure> {
        let raw = read(&self.found.sources[index])?;
        let original = without_calls(&raw)?;
        let original = if self.args.reflow { crate::reflow(&original)? } else { original };
        Ok(SourceText { raw: Cow::Owned(raw), original: Cow::Owned(original) })
    }

    fn select(&self, index: usize, analysis: &mut Analysis) -> Option<Exemption> {
        if analysis.is_off {
            return Some(Exemption::Off);
        }
        let source = &self.found.sources[index];
        self.found.selection.apply(&source.module, source.thin, analysis);
        for manifest in source.manifests() {
            manifest.selection.apply(&source.module, manifest.thins_file(&source.real), analysis);
        }
        let own = self.found.selection.values().of_file(&source.shown);
        let filters: Vec<_> =
            source.manifests().map(|manifest| manifest.values_of(&source.real)).chain([own]).collect();
        ValueFilter::apply(&filters, &source.module, analysis);
        None
    }
}

impl CommandLineSources<'_> {
    /// The macros of all sources: those of one file are called in others. A file that cannot be read is reported later.
    pub fn macros(&self) -> Macros {
        let sources = self.found.sources.par_iter().filter(|source| source.is_rust && source.rule.is_none());
        let of_one = |source: &FolderSource| {
            let mut macros = Macros::default();
            source.package.iter().for_each(|package| macros.add_crate(&package.name));
            if let Ok(text) = std::fs::read(&source.real) {
                macros.add_file(&source.real, &crate::strip(&text));
            }
            macros
        };
        sources.map(of_one).reduce(Macros::default, Macros::merged)
    }

    /// Leaves included files alone that are not modules: files read as strings must not change, and a file of one
    /// expression does not parse.
    pub fn apply_includes(&self, outcomes: &mut [Outcome]) {
        let mut data = HashSet::new();
        let mut code = HashSet::new();
        for (source, outcome) in self.found.sources.iter().zip(outcomes.iter()) {
            let Outcome::Analyzed(analyzed) = outcome else { continue };
            let dir = source.real.parent().unwrap_or(Path::new(""));
            for include in &analyzed.analysis.includes {
                let Ok(path) = dir.join(&include.path).canonicalize() else { continue };
                let set = if include.kind == IncludeKind::Code { &mut code } else { &mut data };
                set.insert(path);
            }
        }
        for (source, outcome) in self.found.sources.iter().zip(outcomes) {
            match outcome {
                Outcome::Analyzed(_) | Outcome::Failed(Failure::Refused(_))
                    if data.contains(&source.real) =>
                {
                    *outcome = Outcome::LeftAlone(Exemption::Data);
                }
                Outcome::Failed(Failure::Refused(refusal))
                    if code.contains(&source.real)
                        && matches!(refusal.reason, crate::RefusalReason::Unparsable(_)) =>
                {
                    *outcome = Outcome::LeftAlone(Exemption::Expression);
                }
                _ => {}
            }
        }
    }
}

/// The text of a file.
pub fn read(source: &FolderSource) -> Result<Vec<u8>, Failure> {
    std::fs::read(&source.real).map_err(|error| Failure::Io("read", error))
}

/// A text without the calls that an earlier run inserted.
pub fn without_calls(text: &[u8]) -> Result<Vec<u8>, Failure> {
    Ok(crate::try_strip(text)?.text)
}
