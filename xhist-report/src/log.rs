//! A report in numbered files: `NAME-000001.log`, `NAME-000002.log`, ... Each file ends with a whole line.
//!
//! Own code instead of the crate `file-rotate`: that one renames full files, so a reader of a file loses it; it neither repeats a first
//! line nor reports that the file was deleted.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::source;

/// Longest time that bytes stay in memory while more is written.
const PATIENCE: Duration = Duration::from_millis(500);
/// Most bytes that stay in memory.
const ROOM: usize = 64 << 10;
/// Longest name before the number, in characters.
const MAX_NAME: usize = 100;

/// Names, sizes and number of the files.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// Their directory.
    pub dir: PathBuf,
    /// The name before the number.
    pub name: String,
    /// A file of this many bytes is full.
    pub size: u64,
    /// How many files are kept, the newest; `None`: all.
    pub keep: Option<usize>,
}

/// The directory or the file of a log cannot be written.
#[derive(Debug)]
pub struct LogError {
    /// The directory.
    pub dir: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot keep a log in {}: {}", self.dir.display(), self.error)
    }
}

impl std::error::Error for LogError {}

impl From<LogError> for String {
    fn from(error: LogError) -> String {
        error.to_string()
    }
}

/// The log, with its current file.
#[derive(Debug)]
pub struct Log {
    rotation: Rotation,
    number: u64,
    path: PathBuf,
    file: File,
    /// Bytes in the file and in memory.
    len: u64,
    waiting: Vec<u8>,
    flushed: Instant,
    opening: FirstLine,
}

/// The first line of the report, for formats whose files all start with it.
#[derive(Debug)]
enum FirstLine {
    /// It is not repeated.
    No,
    /// Its start; the rest is still to come.
    Coming(Vec<u8>),
    /// The whole line.
    Line(Vec<u8>),
}

impl Rotation {
    /// A name for a report on these sources.
    pub fn name_of(sources: &[std::ffi::OsString]) -> String {
        let [source] = sources else { return "xhist".to_owned() };
        let is_part = |char: char| char.is_alphanumeric() || matches!(char, '.' | '_');
        let text = source.to_string_lossy();
        // Only the last part of a path.
        let text = if text.contains("://") { &text } else { text.rsplit('/').next().unwrap_or_default() };
        let parts: Vec<&str> = text.split(|char| !is_part(char)).filter(|part| !part.is_empty()).collect();
        let name: String = parts.join("-").trim_start_matches('.').chars().take(MAX_NAME).collect();
        if name.is_empty() { "xhist".to_owned() } else { name }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{}-{number:06}.log", self.name))
    }

    /// Numbers of the existing files, lowest first.
    fn numbers(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(&self.dir)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| {
                let digits = name.strip_prefix(&self.name)?.strip_prefix('-')?.strip_suffix(".log")?;
                let is_ours = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
                // `u32`, so that a next number always exists.
                digits.parse::<u32>().ok().filter(|_| is_ours).map(u64::from)
            });
            numbers.extend(number);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Creates the next file and deletes the oldest ones.
    fn next(&self) -> io::Result<(u64, PathBuf, File)> {
        let mut numbers = self.numbers()?;
        let mut number = numbers.last().map_or(1, |last| last.saturating_add(1));
        let (path, file) = loop {
            let path = self.path(number);
            match File::create_new(&path) {
                Ok(file) => break (path, file),
                // Another process created it.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number = number.saturating_add(1),
                Err(error) => return Err(of(&path, error)),
            }
        };
        numbers.retain(|old| *old < number);
        let keep = self.keep.map_or(usize::MAX, |keep| keep.saturating_sub(1));
        for old in &numbers[..numbers.len().saturating_sub(keep)] {
            let path = self.path(*old);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(of(&path, error)),
                _ => {}
            }
        }
        Ok((number, path, file))
    }
}

impl Log {
    /// Creates the file behind the existing ones.
    ///
    /// # Errors
    /// The directory or the file cannot be written.
    pub fn open(rotation: Rotation) -> Result<Log, LogError> {
        let opened = std::fs::create_dir_all(&rotation.dir).and_then(|()| rotation.next());
        let (number, path, file) = match opened {
            Ok(opened) => opened,
            Err(error) => return Err(LogError { dir: rotation.dir, error }),
        };
        let (waiting, flushed, opening) = (Vec::new(), Instant::now(), FirstLine::No);
        Ok(Log { rotation, number, path, file, len: 0, waiting, flushed, opening })
    }

    /// Starts each file with the first line, which says how to read the others.
    pub fn repeat_first_line(&mut self) {
        if matches!(self.opening, FirstLine::No) {
            self.opening = FirstLine::Coming(Vec::new());
        }
    }

    fn learn_first_line(&mut self, piece: &[u8]) {
        let FirstLine::Coming(line) = &mut self.opening else { return };
        let end = memchr::memchr(b'\n', piece);
        line.extend_from_slice(&piece[..end.map_or(piece.len(), |end| end + 1)]);
        if end.is_some() {
            self.opening = FirstLine::Line(std::mem::take(line));
        }
    }

    /// Writes the bytes in memory to the file.
    fn hand_over(&mut self) -> io::Result<()> {
        self.flushed = Instant::now();
        let written = self.file.write_all(&self.waiting);
        // After an error, bytes are not written twice.
        self.waiting.clear();
        written.and_then(|()| self.check()).map_err(|error| of(&self.path, error))
    }

    /// Checks that the file was not deleted: its bytes would be lost.
    fn check(&self) -> io::Result<()> {
        match source::is_at(&self.path, &self.file)? {
            true => Ok(()),
            false => Err(io::Error::new(ErrorKind::NotFound, "it was replaced")),
        }
    }

    fn rotate(&mut self) -> io::Result<()> {
        self.hand_over()?;
        let (number, path, file) = self.rotation.next()?;
        (self.number, self.path, self.file, self.len) = (number, path, file, 0);
        if let FirstLine::Line(line) = &self.opening {
            self.waiting.extend_from_slice(line);
            self.len = line.len() as u64;
        }
        Ok(())
    }
}

fn of(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Up to the end of the line that fills the file.
        let room = usize::try_from(self.rotation.size.saturating_sub(self.len)).unwrap_or(usize::MAX);
        let filling = bytes.get(room.saturating_sub(1)..).and_then(|rest| memchr::memchr(b'\n', rest));
        let piece = &bytes[..filling.map_or(bytes.len(), |end| room.saturating_sub(1) + end + 1)];
        self.learn_first_line(piece);
        self.waiting.extend_from_slice(piece);
        self.len += piece.len() as u64;
        if filling.is_some() {
            self.rotate()?;
        } else if self.waiting.len() >= ROOM || self.flushed.elapsed() >= PATIENCE {
            self.hand_over()?;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() && self.flushed.elapsed() < PATIENCE { Ok(()) } else { self.hand_over() }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // Bytes are left only after an error, which was reported.
        let _ = self.file.write_all(&self.waiting);
    }
}

/// `4096`, `10M`, `1G`.
///
/// # Errors
/// The text is not a size.
pub fn size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let size = digits.parse().ok().and_then(|number: u64| number.checked_mul(factor));
    size.filter(|size| *size > 0).ok_or_else(|| "a size is written as 65536, 64k, 10M or 1G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rotation(dir: &Path, size: u64, keep: Option<usize>) -> Rotation {
        Rotation { dir: dir.to_owned(), name: "x".to_owned(), size, keep }
    }

    fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn sizes_and_names() {
        assert_eq!((size("10M"), size("1g"), size("64k")), (Ok(10 << 20), Ok(1 << 30), Ok(64 << 10)));
        assert!(["", "M", "0", "-1", "1T", "99999999999G"].iter().all(|text| size(text).is_err()));
        let name = |sources: &[&str]| {
            Rotation::name_of(&sources.iter().map(|source| source.into()).collect::<Vec<_>>())
        };
        assert_eq!(name(&["tcp://localhost:6601"]), "tcp-localhost-6601");
        assert_eq!(name(&["../dir/ring.xhist"]), "ring.xhist");
        assert_eq!(
            (name(&["-"]), name(&["a", "b"]), name(&[])),
            ("xhist".into(), "xhist".into(), "xhist".into())
        );
    }

    #[test]
    fn the_oldest_go_and_numbers_go_on() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("x-000041.log"), "old").unwrap();
        std::fs::write(dir.path().join("x-y-000077.log"), "not ours").unwrap();
        std::fs::write(dir.path().join("x-18446744073709551615.log"), "no number").unwrap();
        let mut log = Log::open(rotation(dir.path(), 4, Some(2))).unwrap();
        log.write_all(b"12345\n1\n2\n3\n").unwrap();
        log.flush().unwrap();
        let expected = [
            ("x-000043.log", "1\n2\n"),
            ("x-000044.log", "3\n"),
            ("x-18446744073709551615.log", "no number"),
            ("x-y-000077.log", "not ours"),
        ];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        assert_eq!(files(dir.path()), expected);
    }

    #[test]
    fn each_file_starts_with_the_first_line_where_that_is_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(rotation(dir.path(), 12, None)).unwrap();
        log.repeat_first_line();
        for piece in ["sche", "ma\na\n", "bcd\ne", "fgh\nij\n"] {
            log.write_all(piece.as_bytes()).unwrap();
        }
        log.flush().unwrap();
        drop(log);
        let texts: Vec<String> =
            files(dir.path()).into_iter().map(|(_, text)| String::from_utf8(text).unwrap()).collect();
        assert_eq!(texts, ["schema\na\nbcd\n", "schema\nefgh\n", "schema\nij\n"]);
    }

    #[test]
    fn a_deleted_directory_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(rotation(&dir.path().join("logs"), 100, None)).unwrap();
        log.write_all(b"1\n").unwrap();
        std::fs::remove_dir_all(dir.path().join("logs")).unwrap();
        let why = log.flush().unwrap_err().to_string();
        assert!(why.contains("x-000001.log"), "{why}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(rotation(dir.path(), 100, None)).unwrap();
        log.write_all(b"1\n").unwrap();
        log.flush().unwrap();
        log.file = File::options().write(true).open("/dev/full").unwrap();
        log.write_all(b"2\n").unwrap();
        let why = log.flush().unwrap_err().to_string();
        assert!(why.contains("x-000001.log: ") && why.contains("space"), "{why}");
        assert_eq!(files(dir.path())[0].1, b"1\n");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_files_end_with_lines(
            text in "([a-z]{0,9}\n){0,40}[a-z]{0,3}", size in 1u64..50, piece in 1usize..30,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let mut log = Log::open(rotation(dir.path(), size, None)).unwrap();
            text.as_bytes().chunks(piece).for_each(|piece| log.write_all(piece).unwrap());
            log.flush().unwrap();
            let files = files(dir.path());
            let all: Vec<u8> = files.iter().flat_map(|(_, text)| text.clone()).collect();
            prop_assert_eq!(all, text.as_bytes());
            for (_, text) in &files[..files.len() - 1] {
                prop_assert!(text.ends_with(b"\n") && text.len() as u64 >= size);
                // It was not full before its last line.
                let lines = text[..text.len() - 1].iter().rposition(|byte| *byte == b'\n');
                prop_assert!(lines.is_none_or(|end| ((end + 1) as u64) < size));
            }
        }
    }
}
