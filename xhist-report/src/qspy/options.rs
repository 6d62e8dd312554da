//! Options of decoding and printing a QS stream.

use std::path::{Path, PathBuf};

use qs_host::{Palette, TargetDescription, TargetSymbols};

/// Which dictionary file is read and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DictionaryFile {
    /// None.
    #[default]
    No,
    /// The one named after the target's build: `qspy230714_092653.dic`.
    OfBuild,
    /// This one is read. The one that is written is always that of the build.
    Named(String),
}

/// Options of decoding and printing a QS stream.
#[derive(Clone, Debug, Default)]
pub struct QsOptions {
    /// Sizes and version, until the target sends its own.
    pub target: TargetDescription,
    /// Names for formats other than QSPY's: they are forgotten only if the target is of another build.
    pub names: Option<TargetSymbols>,
    /// The dictionary file.
    pub dictionaries: DictionaryFile,
    /// Directory of dictionary files.
    pub dir: PathBuf,
    /// Colours.
    pub palette: Palette,
    /// Show every Nth line only; 0 shows none.
    pub quiet: Option<u32>,
    /// Escape control characters in names, for a terminal.
    pub visible: bool,
    /// Write the lines to this file, without colours.
    pub text: Option<PathBuf>,
    /// Write the bytes to this file.
    pub raw: Option<PathBuf>,
    /// Write rows for Matlab to this file.
    pub matlab: Option<PathBuf>,
    /// Draw a sequence diagram of the objects in the list, in this file.
    pub sequence: Option<(String, PathBuf)>,
}

impl QsOptions {
    /// The symbols that are known before the first byte.
    pub fn known(&self) -> TargetSymbols {
        self.names.clone().unwrap_or_else(|| TargetSymbols::new(self.target))
    }

    /// The side files.
    pub fn side_files(&self) -> impl Iterator<Item = &Path> {
        let sequence = self.sequence.as_ref().map(|(_, path)| path);
        let files = [self.text.as_ref(), self.raw.as_ref(), self.matlab.as_ref(), sequence];
        files.into_iter().flatten().map(PathBuf::as_path)
    }

    /// The dictionary file that the user named.
    pub fn dictionary(&self) -> Option<&Path> {
        match &self.dictionaries {
            DictionaryFile::Named(name) => Some(Path::new(name)),
            DictionaryFile::No | DictionaryFile::OfBuild => None,
        }
    }

    /// The options for another target. A side file belongs to one target, so these have none.
    #[must_use]
    pub fn without_side_files(&self) -> QsOptions {
        QsOptions { text: None, raw: None, matlab: None, sequence: None, ..self.clone() }
    }
}
