//! Reads and writes dictionary files, and says so as QSPY does. It must not know what is in them.

use std::path::{Path, PathBuf};

use crate::qs::{Class, Known, Lines, Wrong, read_dictionaries, write_dictionaries};

use super::options::{DictionaryFile, QsOptions};

/// A longer file is no dictionary file; it is read so far.
const MAX_FILE: u64 = 1 << 20;

/// The dictionary files of a session.
pub struct Dictionaries {
    file: DictionaryFile,
    dir: PathBuf,
}

impl Dictionaries {
    /// As the options say.
    pub fn new(options: &QsOptions) -> Dictionaries {
        Dictionaries { file: options.dictionaries.clone(), dir: options.dir.clone() }
    }

    /// Reads the file, if there is to be one; whether it told of objects.
    pub fn read(&self, known: &mut Known, to: &mut impl Lines) -> bool {
        let name = match &self.file {
            DictionaryFile::No => return false,
            DictionaryFile::OfBuild if !known.target.is_known() => {
                to.line(Class::Error, b"   <QSPY-> No Target info yet to read dictionaries");
                return false;
            }
            DictionaryFile::OfBuild => file_name(known),
            DictionaryFile::Named(name) => name.clone(),
        };
        let Ok(text) = read_start(&self.dir.join(&name)) else {
            to.line(Class::Error, format!("   <QSPY-> Dictionaries not found File={name}").as_bytes());
            return false;
        };
        let opening = format!("   <QSPY-> Reading dictionaries from File={name}");
        to.line(Class::Ordinary, opening.as_bytes());
        let mut objects_read = false;
        match read_dictionaries(&text, known, &mut objects_read) {
            Ok(()) => {}
            Err(Wrong::OtherTarget) => {
                to.line(Class::Info, &Wrong::OtherTarget.line(&name));
                known.clear();
            }
            Err(wrong) => to.line(Class::Error, &wrong.line(&name)),
        }
        objects_read
    }

    /// Whether there is to be a file.
    pub fn are_wanted(&self) -> bool {
        self.file != DictionaryFile::No
    }

    /// Writes all names to the file of the target's build.
    pub fn save(&self, known: &Known, to: &mut impl Lines) {
        if !self.are_wanted() {
            return to.line(Class::Error, b"   <QSPY-> Dictionaries NOT configured (no -d option)");
        }
        if !known.target.is_known() {
            return to.line(Class::Error, b"   <QSPY-> Dictionaries NOT saved (no target info)");
        }
        let name = file_name(known);
        match std::fs::write(self.dir.join(&name), write_dictionaries(known)) {
            Ok(()) => {
                to.line(Class::Info, format!("   <QSPY-> Dictionaries saved to File={name}").as_bytes());
            }
            Err(_) => {
                let line = format!("   <QSPY-> Cannot save dictionaries to File={name}");
                to.line(Class::Error, line.as_bytes());
            }
        }
    }
}

/// What a dictionary file adds to what is known.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn names(path: &Path, mut known: Known) -> Result<Known, String> {
    let shown = path.display().to_string();
    let text = read_start(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    match read_dictionaries(&text, &mut known, &mut false) {
        Ok(()) => Ok(known),
        Err(wrong) => Err(String::from_utf8_lossy(&wrong.message(&shown)).into_owned()),
    }
}

/// The name that follows from the target's build.
fn file_name(known: &Known) -> String {
    format!("qspy{}.dic", known.target.build_text())
}

fn read_start(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;

    let mut text = Vec::new();
    std::fs::File::open(path)?.take(MAX_FILE).read_to_end(&mut text)?;
    Ok(text)
}
