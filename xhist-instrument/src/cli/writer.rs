//! Writes sources: in place, to the output directory, or, with `--check`, not at all.

use super::Args;
use super::folder::{FolderSource, FolderSources};
use super::output::Output;
use super::sources::{read, without_calls};
use crate::pipeline::{Failure, Sink, SourceText};
use std::path::{Path, PathBuf};

/// See the module.
pub struct SourceWriter<'a> {
    pub args: &'a Args,
    pub found: &'a FolderSources,
    pub output: Option<&'a Output>,
    pub map_path: &'a Path,
    /// The directory that keeps earlier maps.
    pub kept: PathBuf,
}

impl Sink for SourceWriter<'_> {
    fn put(&self, index: usize, source: &SourceText<'_>, text: &[u8]) -> Result<(), Failure> {
        if self.args.check { Ok(()) } else { self.write(&self.found.sources[index], &source.raw, text) }
    }

    fn texts(&self) -> Option<&Path> {
        Some(&*self.kept).filter(|_| !self.args.check)
    }

    fn leave(&self, index: usize, is_cleaned: bool) -> Result<bool, Failure> {
        let source = &self.found.sources[index];
        if is_cleaned && !self.args.check {
            let raw = read(source)?;
            let stripped = without_calls(&raw)?;
            if stripped != raw {
                self.write(source, &raw, &stripped)?;
                return Ok(true);
            }
        }
        match self.output {
            // A map in the input is not the map of the output.
            Some(output) if output.dir.join(&source.below) != self.map_path => {
                output.copy(&source.real, &source.below).map_err(|error| Failure::Io("copy", error))?;
            }
            _ => {}
        }
        Ok(false)
    }
}

impl SourceWriter<'_> {
    /// Writes the new text of a source.
    fn write(&self, source: &FolderSource, raw: &[u8], text: &[u8]) -> Result<(), Failure> {
        match self.output {
            Some(output) => {
                let written = output.write(&source.real, &source.below, text);
                written.map_err(|error| Failure::Io("write", error))
            }
            // A file with this text already keeps its time.
            None if text == raw => Ok(()),
            None => Ok(crate::files::atomic::replace(&source.real, raw, text)?),
        }
    }
}
