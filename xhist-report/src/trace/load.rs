//! Finds and reads files of formats, all of it bounded. It must not know what stands in them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::file;
use super::formats::Formats;
use super::{Filter, TraceOptions, Wanted};

/// Longest file.
const MAX_FILE: u64 = 1 << 20;
/// All files together.
const MAX_ALL: u64 = 4 << 20;
/// Most files.
const MAX_FILES: usize = 1000;
/// So many messages of each kind are told.
const MAX_TOLD: usize = 20;

/// Where files of formats are, in the order in which they are believed.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Files and directories that were named; there has to be something.
    pub named: Vec<PathBuf>,
    /// Those that the environment names.
    pub of_environment: Vec<PathBuf>,
    /// Directories where some may be.
    pub usual: Vec<PathBuf>,
}

/// Reads all formats, and what was typed of them.
///
/// # Errors
/// What was typed and is wrong, in a sentence.
pub fn load(places: &Places, wanted: &Wanted) -> Result<TraceOptions, String> {
    let mut loader = Loader { formats: Formats::none(), ..Loader::default() };
    for path in &places.named {
        loader.path(path).map_err(|error| format!("cannot read the formats {}: {error}", path.display()))?;
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
    let Loader { mut formats, mut remarks, mut wrongs, left_out, .. } = loader;
    formats.add_ours().into_iter().for_each(|other| remarks.push(other));
    if left_out > 0 {
        let (files, all) = (MAX_FILES, MAX_ALL >> 20);
        wrongs.push(format!("{left_out} .fmt files left out: more than {files}, or more than {all} MiB"));
    }
    let filter = Filter::new(wanted, &formats)?;
    Ok(TraceOptions { formats, filter, remarks: remarks.told(), wrongs: wrongs.told() })
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
            MAX_TOLD => self.more += 1,
            _ => self.first.push(message),
        }
    }

    fn told(mut self) -> Vec<String> {
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
                    // The last by name: those that are read are the same each time.
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
                if let Err(other) = formats.add(definition, place) {
                    remarks.push(other);
                }
            }
            Err(wrong) => wrongs.push(format!("{}:{line}:{}: {wrong}", path.display(), wrong.column)),
        });
        Ok(())
    }
}
