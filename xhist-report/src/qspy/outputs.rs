//! Side files: their names and how they are written.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::SessionError;
use xhist_history::notes::Notes;

/// A file name after the current time: `qspy260102_030405.txt`. The second one of a second is `qspy260102_030405-2.txt`.
pub fn by_time(extension: &str) -> PathBuf {
    let now = jiff::Zoned::now().strftime("qspy%y%m%d_%H%M%S").to_string();
    free_name(|number| match number {
        1 => PathBuf::from(format!("{now}.{extension}")),
        number => PathBuf::from(format!("{now}-{number}.{extension}")),
    })
}

/// The first of these names that no file has yet.
fn free_name(name: impl Fn(u32) -> PathBuf) -> PathBuf {
    (1..u32::MAX).map(&name).find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| name(1))
}

/// A side file that is open. Its first error is reported when it is closed.
pub struct Output {
    path: PathBuf,
    file: BufWriter<File>,
    error: Option<io::Error>,
}

impl Output {
    /// Creates the file, if there is a path.
    ///
    /// # Errors
    /// That the file cannot be created.
    pub fn create(path: Option<&Path>) -> Result<Option<Output>, SessionError> {
        let Some(path) = path else { return Ok(None) };
        let file =
            File::create(path).map_err(|error| SessionError::SideFile { path: path.to_owned(), error })?;
        Ok(Some(Output { path: path.to_owned(), file: BufWriter::new(file), error: None }))
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        if let Err(error) = self.file.write_all(bytes) {
            self.error.get_or_insert(error);
        }
    }

    /// Closes the file and reports its first error.
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
