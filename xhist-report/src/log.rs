//! Files that a report is appended to, one after another: `NAME-000001.log`, `NAME-000002.log`, ... A file ends at a line's end.
//! It must not know what is written.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::source;

/// What was written is handed to the system after so long at the latest, if anything more is written.
const PATIENCE: Duration = Duration::from_millis(500);
/// So many bytes wait at most.
const ROOM: usize = 64 << 10;
/// Longest name before the number, in characters.
const MAX_NAME: usize = 100;

/// How files follow each other.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// Where they are.
    pub dir: PathBuf,
    /// What stands before their number.
    pub name: String,
    /// A file of so many bytes is followed by another.
    pub size: u64,
    /// So many files are kept, the newest; `None`: all.
    pub keep: Option<usize>,
}

/// The file that is written now.
#[derive(Debug)]
pub struct Log {
    rotation: Rotation,
    number: u64,
    path: PathBuf,
    file: File,
    /// Bytes in the file and waiting.
    len: u64,
    waiting: Vec<u8>,
    flushed: Instant,
    opening: Opening,
}

/// The first line of all, for formats where each file starts with it.
#[derive(Debug)]
enum Opening {
    /// Nothing is repeated.
    No,
    /// It is still coming.
    Coming(Vec<u8>),
    /// It is this.
    Line(Vec<u8>),
}

impl Rotation {
    /// A name for what comes from these sources.
    pub fn name_of(sources: &[std::ffi::OsString]) -> String {
        let [source] = sources else { return "xhist".to_owned() };
        let is_part = |char: char| char.is_alphanumeric() || matches!(char, '.' | '_');
        let text = source.to_string_lossy();
        // Of a path, the last part says enough.
        let text = if text.contains("://") { &text } else { text.rsplit('/').next().unwrap_or_default() };
        let parts: Vec<&str> = text.split(|char| !is_part(char)).filter(|part| !part.is_empty()).collect();
        let name: String = parts.join("-").trim_start_matches('.').chars().take(MAX_NAME).collect();
        if name.is_empty() { "xhist".to_owned() } else { name }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{}-{number:06}.log", self.name))
    }

    /// Numbers of the files that are there, lowest first.
    fn numbers(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(&self.dir)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| {
                let digits = name.strip_prefix(&self.name)?.strip_prefix('-')?.strip_suffix(".log")?;
                let is_ours = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
                // There always is a number behind those that count.
                digits.parse::<u32>().ok().filter(|_| is_ours).map(u64::from)
            });
            numbers.extend(number);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Opens the file behind the newest one, and deletes those that are too many.
    fn next(&self) -> io::Result<(u64, PathBuf, File)> {
        let mut numbers = self.numbers()?;
        let mut number = numbers.last().map_or(1, |last| last.saturating_add(1));
        let (path, file) = loop {
            let path = self.path(number);
            match File::create_new(&path) {
                Ok(file) => break (path, file),
                // Another reader was faster.
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
    /// Opens the file behind those that are there.
    ///
    /// # Errors
    /// What cannot be written, in a sentence.
    pub fn open(rotation: Rotation) -> Result<Log, String> {
        let dir = rotation.dir.display().to_string();
        let opened = std::fs::create_dir_all(&rotation.dir).and_then(|()| rotation.next());
        let (number, path, file) = opened.map_err(|error| format!("cannot keep a log in {dir}: {error}"))?;
        let (waiting, flushed, opening) = (Vec::new(), Instant::now(), Opening::No);
        Ok(Log { rotation, number, path, file, len: 0, waiting, flushed, opening })
    }

    /// The first line says how the others are read, so each file starts with it.
    pub fn repeat_first_line(&mut self) {
        if matches!(self.opening, Opening::No) {
            self.opening = Opening::Coming(Vec::new());
        }
    }

    fn learn_first_line(&mut self, piece: &[u8]) {
        let Opening::Coming(line) = &mut self.opening else { return };
        let end = memchr::memchr(b'\n', piece);
        line.extend_from_slice(&piece[..end.map_or(piece.len(), |end| end + 1)]);
        if end.is_some() {
            self.opening = Opening::Line(std::mem::take(line));
        }
    }

    /// Hands over what waits.
    fn hand_over(&mut self) -> io::Result<()> {
        self.flushed = Instant::now();
        let written = self.file.write_all(&self.waiting);
        // What could not be written is not written twice.
        self.waiting.clear();
        written.and_then(|()| self.check()).map_err(|error| of(&self.path, error))
    }

    /// Bytes of a file that was deleted would be nowhere.
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
        if let Opening::Line(line) = &self.opening {
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
        // Only after an error is there anything left, and that was told.
        let _ = self.file.write_all(&self.waiting);
    }
}

/// `4096`, `10M`, `1G`.
///
/// # Errors
/// How sizes are written.
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
    fn a_directory_that_is_gone_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(rotation(&dir.path().join("logs"), 100, None)).unwrap();
        log.write_all(b"1\n").unwrap();
        std::fs::remove_dir_all(dir.path().join("logs")).unwrap();
        let why = log.flush().unwrap_err().to_string();
        assert!(why.contains("x-000001.log"), "{why}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told() {
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
                // It was not full one line before.
                let lines = text[..text.len() - 1].iter().rposition(|byte| *byte == b'\n');
                prop_assert!(lines.is_none_or(|end| ((end + 1) as u64) < size));
            }
        }
    }
}
