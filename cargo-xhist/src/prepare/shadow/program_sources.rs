//! The module graph as a set of sources for the pipeline, and the shadow as its sink.

use std::borrow::Cow;
use std::path::Path;

use xhist_instrument::pipeline::{Exemption, Failure, Sink, SourceSet, SourceText};
use xhist_instrument::select::ValueSelection;
use xhist_instrument::{Analysis, MainHash, Options, Settings};

use crate::prepare::shadow::Shadow;
use crate::prepare::shadow::written::WrittenFiles;
use crate::workspace::Workspace;
use crate::workspace::module_graph::ModuleFile;

/// The sources of the program that cargo builds.
pub(crate) struct ProgramSources<'a> {
    pub(crate) files: &'a [ModuleFile],
    pub(crate) choice: &'a Choice<'a>,
}

/// What decides how a file is instrumented.
pub(crate) struct Choice<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) settings: &'a Settings,
    pub(crate) has_triggers: bool,
    pub(crate) watches: bool,
    /// The patterns `--values` of the command line.
    pub(crate) values: ValueSelection,
}

impl Choice<'_> {
    /// The options of a file.
    pub(crate) fn options(&self, file: &Path) -> Options {
        let options = self.workspace.settings(self.settings, file).options();
        let (triggers, watches) = (self.has_triggers, self.watches);
        Options { main_hash: MainHash::FromEnv, triggers, watches, ..options }
    }

    /// The options of a file whose edition is known.
    pub(crate) fn options_of(&self, file: &ModuleFile) -> Options {
        Options { edition2015: file.edition2015, ..self.options(&file.path) }
    }
}

impl SourceSet for ProgramSources<'_> {
    fn count(&self) -> usize {
        self.files.len()
    }

    fn path(&self, index: usize) -> &Path {
        &self.files[index].path
    }

    fn name(&self, index: usize) -> String {
        let path = self.path(index);
        path.strip_prefix(&self.choice.workspace.root).unwrap_or(path).display().to_string()
    }

    fn is_dependency(&self, index: usize) -> bool {
        self.choice.workspace.dependencies.iter().any(|directory| self.path(index).starts_with(directory))
    }

    fn options(&self, index: usize) -> Options {
        self.choice.options_of(&self.files[index])
    }

    fn text(&self, index: usize) -> Result<SourceText<'_>, Failure> {
        let text = &self.files[index].text;
        Ok(SourceText { raw: Cow::Borrowed(text), original: Cow::Borrowed(text) })
    }

    fn select(&self, index: usize, analysis: &mut Analysis) -> Option<Exemption> {
        self.choice.workspace.select(&self.choice.values, self.path(index), analysis);
        None
    }
}

/// Writes the sources of a program into its shadow.
pub(crate) struct ShadowSink<'a> {
    pub(crate) files: &'a [ModuleFile],
    pub(crate) shadow: &'a Shadow<'a>,
    pub(crate) written: &'a WrittenFiles<'a>,
    /// Where the maps of all builds are kept.
    pub(crate) maps: &'a Path,
}

impl Sink for ShadowSink<'_> {
    fn put(&self, index: usize, _source: &SourceText<'_>, text: &[u8]) -> Result<(), Failure> {
        self.shadow.write(&self.files[index].path, text).map_err(|error| Failure::Sink(Box::new(error)))
    }

    fn has(&self, index: usize, inputs: u64) -> bool {
        self.written.has(&self.shadow.place_of(&self.files[index].path), inputs)
    }

    fn written(&self, index: usize, inputs: u64) {
        self.written.add(self.shadow.place_of(&self.files[index].path), inputs);
    }

    fn texts(&self) -> Option<&Path> {
        Some(self.maps)
    }

    fn leave(&self, _index: usize, _is_cleaned: bool) -> Result<bool, Failure> {
        Ok(false)
    }
}
