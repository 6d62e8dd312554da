//! Files that are written beside the report. It must not know what is written.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::console::Notes;

/// `qspy260102_030405.txt`, by the time now; `qspy260102_030405-2.txt` for the second one of that second.
pub fn by_time(extension: &str) -> PathBuf {
    let now = jiff::Zoned::now().strftime("qspy%y%m%d_%H%M%S").to_string();
    free_name(|number| match number {
        1 => PathBuf::from(format!("{now}.{extension}")),
        number => PathBuf::from(format!("{now}-{number}.{extension}")),
    })
}

/// The first of these names that is not yet a file's.
fn free_name(name: impl Fn(u32) -> PathBuf) -> PathBuf {
    (1..u32::MAX).map(&name).find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| name(1))
}

/// A file that is being written; what goes wrong is told once, at the end.
pub struct Output {
    path: PathBuf,
    file: BufWriter<File>,
    error: Option<io::Error>,
}

impl Output {
    /// Makes the file, if one was asked for.
    ///
    /// # Errors
    /// Why it cannot be made, in a sentence.
    pub fn create(path: Option<&Path>) -> Result<Option<Output>, String> {
        let Some(path) = path else { return Ok(None) };
        let file = File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Some(Output { path: path.to_owned(), file: BufWriter::new(file), error: None }))
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        if let Err(error) = self.file.write_all(bytes) {
            self.error.get_or_insert(error);
        }
    }

    /// Writes what waits, and tells what went wrong.
    pub fn finish(mut self, notes: &mut Notes<'_>) {
        if let Err(error) = self.file.flush() {
            self.error.get_or_insert(error);
        }
        if let Some(error) = self.error {
            notes.incomplete();
            notes.error(format_args!("cannot write {}: {error}", self.path.display()));
        }
    }
}
