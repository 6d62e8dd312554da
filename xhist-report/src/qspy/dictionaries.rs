//! Opens the dictionary files of a session and prints QSPY's lines about them.

use std::path::{Path, PathBuf};

use qs_host::{
    DictionaryError, LineClass, LineSink, OtherBuild, TargetSymbols, read_dictionaries, write_dictionaries,
};

use super::error::SessionError;
use super::options::{DictionaryFile, QsOptions};

/// Longest dictionary file; the rest of a longer file is ignored.
const MAX_FILE: u64 = 1 << 20;

/// What a dictionary file did to the names of objects.
pub enum ObjectNames {
    Unchanged,
    /// All names of the file were read.
    Read,
    /// The file is for another target, so all names were cleared. `Some` if it is for another build.
    Discarded(Option<OtherBuild>),
}

/// The dictionary files of a session.
pub struct Dictionaries {
    file: DictionaryFile,
    dir: PathBuf,
}

impl Dictionaries {
    /// Creates the files of these options.
    pub fn new(options: &QsOptions) -> Dictionaries {
        Dictionaries { file: options.dictionaries.clone(), dir: options.dir.clone() }
    }

    /// Reads the file, if there is one.
    pub fn read(&self, known: &mut TargetSymbols, to: &mut impl LineSink) -> ObjectNames {
        let name = match &self.file {
            DictionaryFile::No => return ObjectNames::Unchanged,
            DictionaryFile::OfBuild if !known.target.is_known() => {
                to.line(LineClass::Error, b"   <QSPY-> No Target info yet to read dictionaries");
                return ObjectNames::Unchanged;
            }
            DictionaryFile::OfBuild => file_name(known),
            DictionaryFile::Named(name) => name.clone(),
        };
        let Ok(text) = read_start(&self.dir.join(&name)) else {
            to.line(LineClass::Error, format!("   <QSPY-> Dictionaries not found File={name}").as_bytes());
            return ObjectNames::Unchanged;
        };
        let opening = format!("   <QSPY-> Reading dictionaries from File={name}");
        to.line(LineClass::Ordinary, opening.as_bytes());
        let mut objects_read = false;
        let target = known.target.build;
        match read_dictionaries(&text, known, &mut objects_read) {
            Ok(()) => {}
            Err(DictionaryError::OtherTarget) => {
                to.line(LineClass::Info, &DictionaryError::OtherTarget.line(&name));
                known.clear();
                let builds = OtherBuild { names: known.target.build, target };
                return ObjectNames::Discarded(Some(builds).filter(|_| builds.names != target));
            }
            Err(wrong) => to.line(LineClass::Error, &wrong.line(&name)),
        }
        if objects_read { ObjectNames::Read } else { ObjectNames::Unchanged }
    }

    /// Whether the options name a file.
    pub fn are_wanted(&self) -> bool {
        self.file != DictionaryFile::No
    }

    /// Writes all names to the file of the target's build.
    pub fn save(&self, known: &TargetSymbols, to: &mut impl LineSink) {
        if !self.are_wanted() {
            return to.line(LineClass::Error, b"   <QSPY-> Dictionaries NOT configured (no -d option)");
        }
        if !known.target.is_known() {
            return to.line(LineClass::Error, b"   <QSPY-> Dictionaries NOT saved (no target info)");
        }
        let name = file_name(known);
        match std::fs::write(self.dir.join(&name), write_dictionaries(known)) {
            Ok(()) => {
                to.line(LineClass::Info, format!("   <QSPY-> Dictionaries saved to File={name}").as_bytes());
            }
            Err(_) => {
                let line = format!("   <QSPY-> Cannot save dictionaries to File={name}");
                to.line(LineClass::Error, line.as_bytes());
            }
        }
    }
}

impl QsOptions {
    /// Reads the dictionary file that the user named, once, for formats other than QSPY's.
    ///
    /// # Errors
    /// The file cannot be read, or is wrong.
    pub fn read_names(&mut self) -> Result<(), SessionError> {
        if let Some(path) = self.dictionary() {
            self.names = Some(names(&self.dir.join(path), TargetSymbols::new(self.target))?.kept());
        }
        Ok(())
    }
}

/// The symbols with those of a dictionary file.
///
/// # Errors
/// The file cannot be read, or is wrong.
fn names(path: &Path, mut known: TargetSymbols) -> Result<TargetSymbols, SessionError> {
    let text = read_start(path).map_err(|error| SessionError::Unreadable { path: path.to_owned(), error })?;
    read_dictionaries(&text, &mut known, &mut false)
        .map_err(|error| SessionError::Dictionary { path: path.to_owned(), error })?;
    Ok(known)
}

/// The file name that the target's build gives.
fn file_name(known: &TargetSymbols) -> String {
    format!("qspy{}.dic", known.target.build_text())
}

fn read_start(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;

    let mut text = Vec::new();
    std::fs::File::open(path)?.take(MAX_FILE).read_to_end(&mut text)?;
    Ok(text)
}
