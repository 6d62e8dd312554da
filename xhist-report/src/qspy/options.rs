//! How a QS stream is decoded and printed. It must not know how that was typed.

use std::path::{Path, PathBuf};

use super::dictionaries;
use crate::qs::{Known, Palette, Target};

/// Which dictionary file is read and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DictionaryFile {
    /// None.
    #[default]
    No,
    /// The one named after the target's build: `qspy230714_092653.dic`.
    OfBuild,
    /// This one is read; written is always the one of the build.
    Named(String),
}

/// How a QS stream is decoded and printed.
#[derive(Clone, Debug, Default)]
pub struct QsOptions {
    /// Sizes and version, until the target tells its own.
    pub target: Target,
    /// Names that formats other than QSPY's begin with, and keep.
    pub names: Option<Known>,
    /// The dictionary file.
    pub dictionaries: DictionaryFile,
    /// Directory that names of dictionary files start from.
    pub dir: PathBuf,
    /// Colours.
    pub palette: Palette,
    /// Only every so-manieth line; 0: none at all.
    pub quiet: Option<u32>,
    /// Control characters in names become visible, for a terminal.
    pub visible: bool,
    /// Keep the lines here, without colours.
    pub text: Option<PathBuf>,
    /// Keep the bytes here.
    pub raw: Option<PathBuf>,
    /// Matlab rows.
    pub matlab: Option<PathBuf>,
    /// A sequence diagram of the objects in the list.
    pub sequence: Option<(String, PathBuf)>,
}

impl QsOptions {
    /// What is known before the first byte.
    pub fn known(&self) -> Known {
        self.names.clone().unwrap_or_else(|| Known::new(self.target))
    }

    /// Reads the dictionary file once and for all, if it has a name.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn read_names(&mut self) -> Result<(), String> {
        if let Some(path) = self.dictionary() {
            self.names = Some(dictionaries::names(&self.dir.join(path), Known::new(self.target))?.kept());
        }
        Ok(())
    }

    /// The files that are written beside.
    pub fn beside(&self) -> impl Iterator<Item = &Path> {
        let sequence = self.sequence.as_ref().map(|(_, path)| path);
        let files = [self.text.as_ref(), self.raw.as_ref(), self.matlab.as_ref(), sequence];
        files.into_iter().flatten().map(PathBuf::as_path)
    }

    /// The dictionary file that was named.
    pub fn dictionary(&self) -> Option<&Path> {
        match &self.dictionaries {
            DictionaryFile::Named(name) => Some(Path::new(name)),
            DictionaryFile::No | DictionaryFile::OfBuild => None,
        }
    }

    /// The same for another target, without files: each is of one.
    #[must_use]
    pub fn of_another(&self) -> QsOptions {
        QsOptions { text: None, raw: None, matlab: None, sequence: None, ..self.clone() }
    }
}
