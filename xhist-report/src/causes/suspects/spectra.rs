//! Spectra of the threads of a run, and which threads are those of one test.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use qs_core::record::Statement;
use qs_core::ring::process_start::{self, ProcessStart};
use qs_core::ring::spectrum;
use walkdir::WalkDir;

/// Longest file of spectra that is read.
const MAX_FILE: u64 = 256 << 20;
/// Most bytes of all files of a run.
const MAX_RUN: u64 = 512 << 20;
/// Most threads of a run: the tests of a library of channels start 90,000.
pub(super) const MAX_THREADS: usize = 250_000;
/// Longest chain of threads that start each other.
const DEEPEST: usize = 64;

/// The statements that one thread ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSpectrum {
    /// The file that it comes from.
    pub file: PathBuf,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Number of the thread in its process.
    pub number: u32,
    /// Number of the thread that started it; 0 = not known.
    pub parent: u32,
    /// Its name.
    pub name: String,
    /// Whether it panicked.
    pub has_panicked: bool,
    /// Hash of the map of its build.
    pub map_hash: u64,
    /// Its bytes, among those of all files.
    bytes: Range<usize>,
}

impl ThreadSpectrum {
    /// Whether a harness may have started it for a test: such a thread has the name of the test.
    pub fn may_be_test(&self) -> bool {
        !self.name.is_empty() && self.name != "main"
    }
}

/// The spectra of a run.
#[derive(Clone, Debug, Default)]
pub struct Spectra {
    /// Of each thread that ended.
    pub threads: Vec<ThreadSpectrum>,
    /// Which thread started which process, each with the file that has the record.
    pub starts: Vec<(ProcessStart, PathBuf)>,
    /// The bytes of all files.
    bytes: Vec<u8>,
    /// Number of statements that found no place, and of slots that a file lacks.
    pub lost: u64,
    /// Number of places that start like a spectrum but are not one, and files that were too long.
    pub damaged: usize,
    /// Number of files that have more threads than are read.
    pub cut: usize,
}

impl Spectra {
    /// Reads all files of spectra below a directory.
    pub fn read(directory: &Path) -> Spectra {
        let mut spectra = Spectra::default();
        let mut left = MAX_RUN;
        let entries = WalkDir::new(directory).sort_by_file_name().into_iter().filter_map(Result::ok);
        let is_spectra = |path: &Path| path.extension().is_some_and(|extension| extension == "spectra");
        for entry in entries.filter(|entry| entry.file_type().is_file() && is_spectra(entry.path())) {
            let limit = MAX_FILE.min(left);
            let len = entry.metadata().map_or(0, |metadata| metadata.len());
            let mut bytes = Vec::new();
            let read = File::open(entry.path()).and_then(|file| file.take(limit).read_to_end(&mut bytes));
            if read.is_err() || len > limit {
                spectra.damaged += 1;
            }
            left -= bytes.len() as u64;
            spectra.add(entry.path(), &bytes);
        }
        spectra
    }

    /// Adds the spectra in the bytes of a file.
    pub fn add(&mut self, file: &Path, bytes: &[u8]) {
        self.add_up_to(MAX_THREADS, file, bytes);
    }

    fn add_up_to(&mut self, most: usize, file: &Path, bytes: &[u8]) {
        let (start, mut at) = (self.bytes.len(), 0);
        let first_thread = self.threads.len();
        self.bytes.extend_from_slice(bytes);
        while at < bytes.len() {
            if self.starts.len() < most
                && let Ok(started) = ProcessStart::parse(&bytes[at..])
            {
                self.starts.push((started, file.to_owned()));
                at += process_start::LEN;
                continue;
            }
            match spectrum::Spectrum::parse(&bytes[at..]) {
                Ok(_) if self.threads.len() >= most => {
                    self.cut += 1;
                    self.drop_orphans(first_thread);
                    break;
                }
                Ok(found) => {
                    let first = start + at;
                    self.lost += u64::from(found.header.lost) + found.missing() as u64;
                    self.threads.push(ThreadSpectrum {
                        file: file.to_owned(),
                        pid: found.header.pid,
                        tid: found.header.tid,
                        number: found.header.number,
                        parent: found.header.parent,
                        name: found.name().to_owned(),
                        has_panicked: found.header.has_panicked,
                        map_hash: found.header.map_hash,
                        bytes: first..first + found.len(),
                    });
                    at += found.len();
                }
                Err(_) => {
                    self.damaged += 1;
                    let next = spectrum::find(&bytes[at + 1..]).find(|(_, found)| found.is_ok());
                    at = next.map_or(bytes.len(), |(offset, _)| at + 1 + offset);
                }
            }
        }
    }

    /// Drops the threads from this one on whose test is not among them: a test ends behind the threads that it starts. Each of
    /// them would count as a test.
    fn drop_orphans(&mut self, first: usize) {
        let threads = &self.threads[first..];
        let parents: HashMap<(u32, u32), u32> =
            threads.iter().map(|thread| ((thread.pid, thread.number), thread.parent)).collect();
        let has_root = |thread: &ThreadSpectrum| {
            let above = |parent: &u32| parents.get(&(thread.pid, *parent)).copied();
            std::iter::successors(Some(thread.parent), above).take(DEEPEST).any(|parent| parent == 0)
        };
        let stays: Vec<bool> = threads.iter().map(has_root).collect();
        let mut stays = std::iter::repeat_n(true, first).chain(stays);
        self.threads.retain(|_| stays.next() == Some(true));
    }

    /// What a thread ran.
    pub fn statements(&self, thread: &ThreadSpectrum) -> impl Iterator<Item = Statement> {
        let spectrum =
            self.bytes.get(thread.bytes.clone()).and_then(|bytes| spectrum::Spectrum::parse(bytes).ok());
        spectrum.into_iter().flat_map(|spectrum| spectrum.statements())
    }

    /// For each thread the thread above it in its process that the harness started: itself for most.
    pub fn roots(&self) -> Vec<usize> {
        let by_number: HashMap<(&Path, u32, u32), usize> = self
            .threads
            .iter()
            .enumerate()
            .map(|(index, thread)| ((thread.file.as_path(), thread.pid, thread.number), index))
            .collect();
        let root = |index: usize| {
            let mut at = index;
            for _ in 0..DEEPEST {
                let thread = &self.threads[at];
                let above = by_number.get(&(thread.file.as_path(), thread.pid, thread.parent));
                match above.filter(|above| thread.parent != 0 && **above != at) {
                    // The harness runs in the main thread.
                    Some(above) if self.threads[*above].name != "main" => at = *above,
                    _ => break,
                }
            }
            at
        };
        (0..self.threads.len()).map(root).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use qs_core::ring::NAME_LEN;
    use qs_core::ring::spectrum::SpectrumHeader;

    /// The bytes of a spectrum without statements.
    fn bytes(name: &str, number: u32, parent: u32) -> Vec<u8> {
        of_process(1, name, number, parent)
    }

    /// The same of a thread of this process.
    pub fn of_process(pid: u32, name: &str, number: u32, parent: u32) -> Vec<u8> {
        let mut text = [0; NAME_LEN];
        text[..name.len()].copy_from_slice(name.as_bytes());
        let about = SpectrumHeader {
            map_hash: 255,
            pid,
            tid: 100 + number,
            number,
            parent,
            lost: 0,
            has_panicked: false,
            name: text,
        };
        spectrum::header(&about, 0).to_vec()
    }

    #[test]
    fn threads_belong_to_the_test_that_started_them() {
        let mut spectra = Spectra::default();
        let image = [
            bytes("main", 1, 0),
            bytes("a::test", 2, 1),
            bytes("worker", 3, 2),
            bytes("", 4, 3),
            bytes("b::test", 5, 0),
        ];
        spectra.add(Path::new("x"), &image.concat());
        assert_eq!(spectra.roots(), [0, 1, 1, 1, 4]);
        assert_eq!((spectra.lost, spectra.damaged), (0, 0));
    }

    #[test]
    fn threads_that_start_each_other_do_not_hang() {
        let mut spectra = Spectra::default();
        spectra.add(Path::new("x"), &[bytes("a", 1, 2), bytes("b", 2, 1)].concat());
        assert_eq!(spectra.roots().len(), 2);
    }

    #[test]
    fn damage_is_skipped_and_counted() {
        let mut spectra = Spectra::default();
        let mut image = [bytes("a", 1, 0), bytes("b", 2, 0), bytes("c", 3, 0)].concat();
        let second = bytes("a", 1, 0).len();
        image[second + 16] ^= 1;
        spectra.add(Path::new("x"), &image);
        let names: Vec<_> = spectra.threads.iter().map(|thread| thread.name.as_str()).collect();
        assert_eq!((names, spectra.damaged), (vec!["a", "c"], 1));
    }

    #[test]
    fn threads_without_their_test_do_not_count_as_tests() {
        let threads = [("a", 1, 0), ("b", 2, 1), ("b", 4, 3), ("b", 5, 4), ("b", 3, 0)];
        let file: Vec<u8> =
            threads.into_iter().flat_map(|(name, number, parent)| bytes(name, number, parent)).collect();
        let names = |most| {
            let mut spectra = Spectra::default();
            spectra.add_up_to(5, Path::new("other.spectra"), &bytes("b", 4, 3));
            spectra.add_up_to(most, Path::new("a.spectra"), &file);
            (spectra.threads.iter().map(|thread| thread.number).collect::<Vec<_>>(), spectra.cut)
        };
        assert_eq!(names(5), (vec![4, 1, 2], 1), "the test of 4 and 5 has no room");
        assert_eq!(names(6), (vec![4, 1, 2, 4, 5, 3], 0));
    }
}
