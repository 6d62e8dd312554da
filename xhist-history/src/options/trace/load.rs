//! Finds and reads files of formats, with limits on their number and size.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::file;
use super::formats::Formats;
use super::{Filter, SelectionError, TraceOptions, TraceSelection};

/// Longest file.
const MAX_FILE: u64 = 1 << 20;
/// All files together.
const MAX_ALL: u64 = 4 << 20;
/// Most files.
const MAX_FILES: usize = 1000;
/// Most messages of a kind that are shown.
const MAX_MESSAGES: usize = 20;

/// Where files of formats are; the first definition of a code wins.
#[derive(Clone, Debug, Default)]
pub struct FormatPlaces {
    /// Files and directories that the user named; they have to exist.
    pub named: Vec<PathBuf>,
    /// Files and directories that the environment names.
    pub of_environment: Vec<PathBuf>,
    /// Directories that may hold files of formats.
    pub usual: Vec<PathBuf>,
}

/// Why trace events cannot be described or selected as the user wants.
#[derive(Debug)]
pub enum FormatsError {
    /// A file that the user named cannot be read.
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A value of the selection is wrong.
    Selection(SelectionError),
}

impl fmt::Display for FormatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatsError::Unreadable { path, error } => {
                write!(f, "cannot read the formats {}: {error}", path.display())
            }
            FormatsError::Selection(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FormatsError {}

impl From<FormatsError> for String {
    fn from(error: FormatsError) -> String {
        error.to_string()
    }
}

/// Reads all formats and compiles the filter.
///
/// # Errors
/// A named file that cannot be read, or a wrong value of the filter.
pub fn load(places: &FormatPlaces, wanted: &TraceSelection) -> Result<TraceOptions, FormatsError> {
    let mut loader = Loader { formats: Formats::none(), ..Loader::default() };
    for path in &places.named {
        loader.path(path).map_err(|error| FormatsError::Unreadable { path: path.clone(), error })?;
    }
    for path in &places.of_environment {
        if let Err(error) = loader.path(path) {
            loader.wrongs.push(format!("XHIST_FMT names {}: {error}", path.display()));
        }
    }
    for path in &places.usual {
        match loader.path(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                loader.wrongs.push(format!("cannot read the formats in {}: {error}", path.display()));
            }
            _ => {}
        }
    }
    let Loader { mut formats, mut remarks, mut wrongs, left_out, read, .. } = loader;
    match read.is_empty() {
        true => formats = Formats::default(),
        false => formats.add_ours().into_iter().for_each(|conflict| remarks.push(conflict.to_string())),
    }
    if left_out > 0 {
        let (files, all) = (MAX_FILES, MAX_ALL >> 20);
        wrongs.push(format!("{left_out} .fmt files left out: more than {files}, or more than {all} MiB"));
    }
    let filter = Filter::new(wanted, &formats).map_err(FormatsError::Selection)?;
    Ok(TraceOptions { formats, filter, remarks: remarks.shown(), wrongs: wrongs.shown() })
}

/// The first few messages, and how many more there were.
#[derive(Default)]
struct Messages {
    first: Vec<String>,
    more: usize,
}

impl Messages {
    fn push(&mut self, message: String) {
        match self.first.len() {
            MAX_MESSAGES => self.more += 1,
            _ => self.first.push(message),
        }
    }

    fn shown(mut self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("and {} more such lines of .fmt files", self.more));
        self.first.extend(more);
        self.first
    }
}

#[derive(Default)]
struct Loader {
    formats: Formats,
    /// Files that were read, each once.
    read: BTreeSet<PathBuf>,
    /// Bytes of them.
    bytes: u64,
    remarks: Messages,
    wrongs: Messages,
    left_out: usize,
}

impl Loader {
    /// A file, or the `*.fmt` files of a directory in the order of their names.
    fn path(&mut self, path: &Path) -> io::Result<()> {
        if !std::fs::metadata(path)?.is_dir() {
            return self.file(path);
        }
        let mut files = BTreeSet::new();
        for entry in std::fs::read_dir(path)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "fmt") && path.is_file() {
                files.insert(path);
                if files.len() > MAX_FILES {
                    // The last one by name, so that the same files are read each time.
                    files.pop_last();
                    self.left_out += 1;
                }
            }
        }
        for file in files {
            if let Err(error) = self.file(&file) {
                self.wrongs.push(format!("cannot read {}: {error}", file.display()));
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> io::Result<()> {
        if !self.read.insert(std::fs::canonicalize(path)?) {
            return Ok(());
        }
        if self.read.len() > MAX_FILES || self.bytes > MAX_ALL {
            self.left_out += 1;
            return Ok(());
        }
        let mut text = Vec::new();
        File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut text)?;
        self.bytes += text.len() as u64;
        if text.len() as u64 > MAX_FILE {
            self.wrongs.push(format!("{}: longer than 1 MiB, left out", path.display()));
            return Ok(());
        }
        let Loader { formats, remarks, wrongs, .. } = self;
        file::read(&text, &mut |line, said| match said {
            Ok(definition) => {
                let place = format!("{}:{line}", path.display());
                if let Err(conflict) = formats.add(definition, place) {
                    remarks.push(conflict.to_string());
                }
            }
            Err(wrong) => wrongs.push(format!("{}:{line}:{}: {wrong}", path.display(), wrong.column)),
        });
        Ok(())
    }
}
