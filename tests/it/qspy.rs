//! Does `qspy` print what QSPY 7.3 printed? Streams of our own are in `tests/vectors/qs` (`cargo run -p xhist-tests
//! --bin vectors` makes them); recorded streams lie beside the checkout.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use qs_host::Palette;
use xhist_history::ExitCode;
use xhist_report::format::by_name;
use xhist_report::{DictionaryFile, Options, QsOptions, report};
use xhist_tests::{Case, Need, Tree, report as command, repository};

const STREAMS: &[Need] = &[Need::QsStreams];

pub const CASES: &[Case] = &[
    Case::new("every_line_row_and_file_of_our_own_streams_is_the_same", || {
        same(&RecordedStream::own(), 4_000)
    }),
    Case::needing("every_recorded_line_row_and_file_is_the_same", STREAMS, || {
        same(&RecordedStream::all(), 20_000)
    }),
    Case::needing("the_command_prints_a_recorded_stream", STREAMS, by_command),
    Case::needing("damaged_streams_end_in_time_and_without_panic", STREAMS, damaged),
];

/// The last line that is not the decoder's.
const OPENED: &[u8] = b"Opened File=";
/// What ends QSPY's output.
const DONE: &[u8] = b"\nQSPY Done";
/// The most differences that are shown.
const SHOWN: usize = 12;
/// A stream of a few KiB that takes longer has hung.
const LIMIT: Duration = Duration::from_secs(30);

/// A recorded stream.
struct RecordedStream {
    name: String,
    options: Vec<String>,
    extra: String,
    corpus: PathBuf,
}

impl RecordedStream {
    fn all() -> Vec<RecordedStream> {
        RecordedStream::in_directory(&Need::qs_streams().expect("the recorded streams"))
    }

    fn own() -> Vec<RecordedStream> {
        RecordedStream::in_directory(&repository().join("tests/vectors/qs"))
    }

    fn in_directory(corpus: &Path) -> Vec<RecordedStream> {
        let index = std::fs::read_to_string(corpus.join("index.tsv")).expect("index.tsv");
        let rows = index.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
        rows.map(|row| RecordedStream {
            name: row[0].to_owned(),
            options: row[1].split(' ').map(str::to_owned).collect(),
            extra: row[4].to_owned(),
            corpus: corpus.to_owned(),
        })
        .filter(|recorded| recorded.file("txt").is_some())
        .collect()
    }

    fn file(&self, extension: &str) -> Option<Vec<u8>> {
        std::fs::read(self.corpus.join(format!("{}.{extension}", self.name))).ok()
    }

    fn stream(&self) -> Vec<u8> {
        self.file("bin").expect("a stream")
    }

    /// What QSPY printed of the stream.
    fn text(&self) -> Vec<u8> {
        let text = self.file("txt").expect("its text");
        let start = match find(&text, OPENED) {
            Some(at) => at + find(&text[at..], b"\n").expect("the end of a line") + 1,
            // Not even that is shown in the quietest mode.
            None => text.len() - DONE.len() - 1,
        };
        let end = text.windows(DONE.len()).rposition(|window| window == DONE).expect("an end");
        text[start.min(end)..end].to_vec()
    }

    /// `dic=qspy230714_092653.dic` names the file that a file beside the stream had.
    fn other_name(&self, kind: &str) -> Option<String> {
        let named = |extra: &str| Some(extra.strip_prefix(kind)?.strip_prefix('=')?.to_owned());
        self.extra.split(',').find_map(named)
    }

    fn saves(&self) -> Option<(String, Vec<u8>)> {
        Some((self.other_name("saved.dic")?, self.file("saved.dic")?))
    }

    fn options(&self, dir: &Path) -> QsOptions {
        let mut options = QsOptions { dir: dir.to_owned(), ..QsOptions::default() };
        let mut words = self.options.iter().peekable();
        while let Some(word) = words.next() {
            let (letter, rest) = word.split_at(2.min(word.len()));
            let mut value = || match rest {
                "" => words.next_if(|next| !next.starts_with('-')).cloned().unwrap_or_default(),
                rest => rest.to_owned(),
            };
            match letter {
                "-f" | "-u" | "-k" => drop(value()),
                "-r" => {
                    options.palette = match rest {
                        "c1" => Palette::Dark,
                        "c2" => Palette::Light,
                        _ => Palette::None,
                    };
                }
                "-v" => options.target.set_version(version(&value())),
                "-q" => options.quiet = Some(value().parse().unwrap_or(0)),
                "-m" => options.matlab = Some(dir.join("m")),
                "-g" => options.sequence = Some((value(), dir.join("seq"))),
                "-d" => {
                    options.dictionaries = match value() {
                        name if name.is_empty() => DictionaryFile::OfBuild,
                        name => DictionaryFile::Named(name),
                    }
                }
                _ => {
                    let size = options.target.sizes.by_letter(letter.as_bytes()[1]).expect("a size");
                    *size = rest.parse().expect("a digit");
                }
            }
        }
        options
    }

    /// A directory with the dictionary file that QSPY had.
    fn directory(&self) -> Tree {
        let tree = Tree::empty("qspy");
        if let Some(dictionary) = self.file("dic") {
            let name = self.other_name("dic").unwrap_or_else(|| format!("{}.dic", self.name));
            std::fs::write(tree.path().join(name), dictionary).expect("a dictionary file");
        }
        tree
    }
}

fn version(text: &str) -> u16 {
    let (major, minor) = text.split_once('.').expect("x.y");
    100 * major.parse::<u16>().expect("x") + 10 * minor.parse::<u16>().expect("y")
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn print(stream: &[u8], qs: QsOptions) -> (Vec<u8>, ExitCode) {
    let options = Options { format: by_name("qspy").expect("a format"), qs, ..Options::default() };
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let code = report(stream, &options, &mut out, &mut notes);
    (out, code)
}

/// QSPY shows no errors in quiet mode, and none of records of old versions that it does not show.
fn shows_errors(recorded: &RecordedStream) -> bool {
    !(recorded.name.starts_with("ver-") || recorded.options.iter().any(|option| option.starts_with("-q")))
}

/// Whether a stream starts or ends within a frame, by its bytes alone.
fn is_cut(stream: &[u8]) -> bool {
    const FLAG: u8 = 0x7E;
    let Some(end) = stream.iter().position(|byte| *byte == FLAG) else { return true };
    let mut first = Vec::new();
    let mut bytes = stream[..end].iter();
    while let Some(byte) = bytes.next() {
        first.push(if *byte == 0x7D { bytes.next().map_or(0, |byte| byte ^ 0x20) } else { *byte });
    }
    let sum = first.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    sum != 0xFF || first.len() < 3 || stream.last() != Some(&FLAG)
}

/// What differs, line by line.
#[derive(Default)]
struct Differences {
    lines: usize,
    differ: usize,
    shown: String,
}

impl Differences {
    fn compare(&mut self, name: &str, expected: &[u8], found: &[u8]) {
        let expected: Vec<&[u8]> = expected.split(|byte| *byte == b'\n').collect();
        let found: Vec<&[u8]> = found.split(|byte| *byte == b'\n').collect();
        self.lines += expected.len();
        for index in 0..expected.len().max(found.len()) {
            let (expected, found) = (expected.get(index), found.get(index));
            if expected == found {
                continue;
            }
            self.differ += 1;
            if self.differ <= SHOWN {
                let [expected, found] = [expected, found]
                    .map(|line| line.map_or("nothing".into(), |line| String::from_utf8_lossy(line)));
                let _ = writeln!(self.shown, "{name}, line {}:\n  {expected}\n  {found}", index + 1);
            }
        }
    }
}

/// All that QSPY printed and wrote of these streams, which are `at_least` lines.
fn same(all: &[RecordedStream], at_least: usize) {
    let (mut texts, mut files) = (Differences::default(), Differences::default());
    for recorded in all {
        let tree = recorded.directory();
        let (mut found, code) = print(&recorded.stream(), recorded.options(tree.path()));
        // Each error that QSPY shows is a loss, and so is what it says nothing of: a stream that is cut.
        let has_error = find(&recorded.text(), b"<COMMS> ERROR").is_some();
        if has_error || is_cut(&recorded.stream()) {
            assert_ne!(code, ExitCode::Complete, "{}", recorded.name);
        } else if shows_errors(recorded) {
            assert_eq!(code, ExitCode::Complete, "{}", recorded.name);
        }
        // Behind dots QSPY's own last words follow at once.
        if recorded.text().ends_with(b".") {
            found.pop();
        }
        texts.compare(&recorded.name, &recorded.text(), &found);
        for (extension, written) in [("m", "m"), ("seq", "seq")] {
            if let Some(expected) = recorded.file(extension) {
                let found = std::fs::read(tree.path().join(written)).unwrap_or_default();
                files.compare(&format!("{}.{extension}", recorded.name), &expected, &found);
            }
        }
        if let Some((name, expected)) = recorded.saves() {
            let found = std::fs::read(tree.path().join(&name)).unwrap_or_default();
            files.compare(&format!("{}.saved.dic", recorded.name), &expected, &found);
        }
    }
    eprintln!(
        "{} streams: {} of {} lines differ, {} of {} lines of files",
        all.len(),
        texts.differ,
        texts.lines,
        files.differ,
        files.lines
    );
    let (differ, lines) = (texts.differ + files.differ, texts.lines + files.lines);
    assert!(lines >= at_least, "{lines} lines");
    assert!(differ == 0, "\n{}{}", texts.shown, files.shown);
}

fn by_command() {
    let recorded =
        RecordedStream::all().into_iter().find(|recorded| recorded.name == "gen-pre-A-1").expect("it");
    let tree = recorded.directory();
    std::fs::write(tree.path().join("stream.bin"), recorded.stream()).expect("a stream");
    let arguments = "qspy stream.bin -T4 -O 4 -F4 -S2 -E2 -Q1 -P2 -B2 -C4 -v 7.0";
    let done = command(tree.path()).args(arguments).done();
    assert_eq!(done.stdout.as_bytes(), recorded.text());
}

/// Streams with bits turned, parts cut out and parts doubled.
fn damaged() {
    const VARIANTS: usize = 40;
    let variants = std::env::var("XHIST_VARIANTS").map_or(VARIANTS, |text| text.parse().expect("a number"));
    // The writers of rows and diagrams see the damage as well.
    let mut random = fastrand::Rng::with_seed(1);
    let mut written = 0;
    for recorded in RecordedStream::all() {
        let tree = recorded.directory();
        let mut options = recorded.options(tree.path());
        let objects = options.sequence.take().map_or("Table,?".to_owned(), |(objects, _)| objects);
        options.matlab = Some(tree.join("m"));
        options.sequence = Some((objects, tree.join("seq")));
        if options.dictionaries == DictionaryFile::OfBuild {
            options.dictionaries = DictionaryFile::No;
        }
        let stream = recorded.stream();
        for variant in 0..variants {
            let damaged = damage(&stream, &mut random);
            let start = Instant::now();
            let printed = catch_unwind(AssertUnwindSafe(|| print(&damaged, options.clone())));
            let took = start.elapsed();
            assert!(printed.is_ok() && took < LIMIT, "{} variant {variant}: {took:?}", recorded.name);
            let size = |name: &str| std::fs::metadata(tree.join(name)).expect("a file").len();
            written += size("m") + size("seq");
        }
    }
    assert!(written > 1 << 20, "rows and diagrams were written: {written}");
}

fn damage(stream: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = stream.to_vec();
    for _ in 0..random.usize(1..6) {
        if bytes.is_empty() {
            break;
        }
        let start = random.usize(..bytes.len());
        let end = (start + random.usize(1..200)).min(bytes.len());
        match random.u8(..4) {
            0 => drop(bytes.drain(start..end)),
            1 => {
                let part = bytes[start..end].to_vec();
                bytes.splice(start..start, part);
            }
            2 => bytes[start] = random.u8(..),
            _ => bytes[start] ^= 1 << random.u8(..8),
        }
    }
    bytes
}
