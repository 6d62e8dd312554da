//! Builds ring images, maps and runs the program. It must not use the code under test to build them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use qs_core::frame::FrameWriter;
use qs_core::map::{FileLine, Hash, Head, Line, StmtLine, Text};
use qs_core::record::packed::{FrameRepetition, Page, code, digits, payload_head, step};
use qs_core::record::words::{REPETITION, UNIT, UnitRepetition, Word};
use qs_core::record::{EventKind, RECORD_BASE, Statement, ids};
use qs_core::ring::{BYTE_ORDER_MARK, Flags, Folded, MAGIC, Shown, State, check_word};
use xhist_history::ExitCode;
use xhist_report::Options;

use crate::words_model::{PAGE, ends, open_len};

/// A ring, as a recorder leaves it in memory: on bare metal packed frames, on a host chunks of words.
#[derive(Clone, Debug)]
pub struct RingImage {
    pub big_endian: bool,
    pub hosted: bool,
    pub size: u32,
    pub time_width: u8,
    pub version: u8,
    pub map_hash: u64,
    pub clock_hz: u32,
    pub last_time: u64,
    pub pid: u32,
    pub tid: u32,
    pub name: &'static str,
    pub flags: Flags,
    pub status: u32,
    pub number: u16,
    /// Rings that its process has made, as ring 0 says; 0: it does not say.
    pub rings: u16,
    pub dropped: u32,
    /// Bytes that earlier threads wrote into it.
    pub earlier: u64,
    pub cleared: u64,
    /// How often the newest closed frame came again.
    pub folded: u64,
    /// What is open: its time, and its statements so far.
    pub open: Option<(u64, Vec<(u16, u16)>)>,
    /// Units of the newest frame, if it is a chunk.
    pub units: usize,
    /// Everything ever written.
    pub stream: Vec<u8>,
    pub seq: u8,
}

impl RingImage {
    pub fn bare(size: u32) -> RingImage {
        assert!(size >= 256, "recorders have no ring of {size} bytes");
        RingImage {
            big_endian: cfg!(target_endian = "big"),
            hosted: false,
            size,
            time_width: 0,
            version: 3,
            map_hash: 0,
            clock_hz: 0,
            last_time: 0,
            pid: 0,
            tid: 0,
            name: "",
            flags: Flags::PACKED,
            status: 1,
            number: 0,
            rings: 0,
            dropped: 0,
            earlier: 0,
            cleared: 0,
            folded: 0,
            open: None,
            units: 0,
            stream: Vec::new(),
            seq: 0,
        }
    }

    pub fn hosted(size: u32, pid: u32, tid: u32, name: &'static str) -> RingImage {
        assert!(size as usize >= PAGE, "recorders have no ring of {size} bytes");
        let flags = Flags::WORDS | Flags::TIME_AUTO;
        RingImage { hosted: true, version: 4, flags, pid, tid, name, time_width: 4, ..RingImage::bare(size) }
    }

    /// A statement with a frame of its own, as with `XHIST_FRAMES=single`.
    pub fn statement(self, file: u16, line: u16) -> RingImage {
        self.timed(0, file, line)
    }

    pub fn statements(self, all: &[(u16, u16)]) -> RingImage {
        all.iter().fold(self, |ring, (file, line)| ring.statement(*file, *line))
    }

    /// Makes its time stamps tickets.
    pub fn exact(self) -> RingImage {
        RingImage { flags: self.flags.without(Flags::TIME_AUTO) | Flags::EXACT, ..self }
    }

    /// A statement at a time in full.
    pub fn timed(self, time: u64, file: u16, line: u16) -> RingImage {
        let statement = Statement { file, line };
        if self.hosted && Word::new(statement, 0).is_none() {
            return self.frame(RECORD_BASE + ids::STATEMENT, &statement.to_word().to_le_bytes());
        }
        self.packed(time, &[(file, line)])
    }

    /// A closed frame of statements.
    pub fn packed(self, time: u64, statements: &[(u16, u16)]) -> RingImage {
        self.packed_again(time, statements, 0, 0)
    }

    /// The same, and the frames before it came again.
    pub fn packed_again(self, time: u64, statements: &[(u16, u16)], frames: u64, times: u64) -> RingImage {
        if self.hosted {
            assert!(frames <= 1, "a chunk repeats words of the one before it");
            return self.chunk(time, statements, times);
        }
        let (page, mut data) = packed_data(statements);
        if times > 0 {
            data.push(step::REPEAT);
            let FrameRepetition { frames, times } = FrameRepetition { frames, times };
            digits(frames, |byte| data.push(byte));
            digits(times, |byte| data.push(byte));
        }
        self.packed_frame(time, page, &data)
    }

    pub fn packed_frame(mut self, time: u64, page: Page, data: &[u8]) -> RingImage {
        assert!(!self.hosted, "on a host there are no packed frames");
        self.last_time = if time > 0 { time } else { self.last_time };
        let (head, len) = payload_head(time as u32, page, data.len() as u8);
        self.frame(RECORD_BASE + ids::PACKED, &[&head[..len], data].concat())
    }

    fn chunk(mut self, time: u64, statements: &[(u16, u16)], times: u64) -> RingImage {
        self.seq = self.seq.wrapping_add(1);
        self.last_time = if time > 0 { time } else { self.last_time };
        let words = long_words(statements);
        let (head, tail) =
            ends(self.stream.len() as u64, self.seq, low(time), self.repetition(times), &words);
        self.stream.extend([head, words.clone(), tail].concat());
        self.units = words.len() / UNIT;
        self
    }

    /// The newest chunk came again so often.
    fn repetition(&self, times: u64) -> UnitRepetition {
        let period = if times > 0 { self.units.max(1) as u32 } else { 0 };
        UnitRepetition { period, times, is_counted: false }
    }

    /// A frame that is still open.
    pub fn open(mut self, time: u64, statements: &[(u16, u16)]) -> RingImage {
        self.open = Some((time, statements.to_vec()));
        self
    }

    /// The head of the open frame and its data so far. On a host a chunk is always open.
    fn open_bytes(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let seq = self.seq.wrapping_add(1);
        if self.hosted {
            // The rest of the head is written when the chunk is closed.
            let mut head = vec![0; open_len(self.stream.len() as u64, seq) - REPETITION];
            head.extend(self.repetition(self.folded).to_bytes());
            let words = self.open.as_ref().map_or(Vec::new(), |(_, statements)| long_words(statements));
            return Some((head, words));
        }
        let (time, statements) = self.open.as_ref()?;
        let (page, data) = packed_data(statements);
        let (payload, len) = payload_head(*time as u32, page, 0);
        let mut head = Vec::new();
        FrameWriter::new(seq, RECORD_BASE + ids::PACKED, |byte| head.push(byte))
            .bytes(&payload[..len])
            .finish();
        // Without checksum and flag.
        let sum_len = if head[head.len() - 3] == 0x7D { 3 } else { 2 };
        head.truncate(head.len() - sum_len);
        Some((head, data))
    }

    pub fn event(mut self, kind: EventKind, time: u64, value: u64) -> RingImage {
        self.seq = self.seq.wrapping_add(1);
        kind.emit(self.seq, RECORD_BASE, time as u32, value, |byte| self.stream.push(byte));
        self.units = 0;
        self
    }

    /// An exception event: 118, elements as documented; each argument is a u32.
    pub fn exception(
        self,
        time: u64,
        severity: u8,
        code: u32,
        args: &[u32],
        buffer: Option<&[u8]>,
    ) -> RingImage {
        let head = [&[0xF5], &code.to_le_bytes()[..], &[0x01, severity]].concat();
        self.trace(118, time, head, args, buffer)
    }

    /// A profile event: 119.
    pub fn profile(self, time: u64, opcode: u8, data: u32, args: &[u32]) -> RingImage {
        let data = if data == 0 { vec![] } else { [&[0xF5], &data.to_le_bytes()[..]].concat() };
        self.trace(119, time, [vec![0xD0, opcode], data].concat(), args, None)
    }

    fn trace(mut self, id: u8, time: u64, head: Vec<u8>, args: &[u32], buffer: Option<&[u8]>) -> RingImage {
        self.last_time = time;
        let args = args.iter().flat_map(|arg| [&[0x05], &arg.to_le_bytes()[..]].concat());
        let buffer = buffer.map_or(vec![], |bytes| [&[0x09, bytes.len() as u8], bytes].concat());
        let elements: Vec<u8> = head.into_iter().chain(args).chain(buffer).collect();
        self.frame(id, &[&(time as u32).to_le_bytes(), &elements[..]].concat())
    }

    pub fn frame(mut self, id: u8, payload: &[u8]) -> RingImage {
        self.seq = self.seq.wrapping_add(1);
        FrameWriter::new(self.seq, id, |byte| self.stream.push(byte)).bytes(payload).finish();
        self.units = 0;
        self
    }

    pub fn build(&self) -> Vec<u8> {
        let mut image = self.header();
        let start = image.len();
        image.resize(start + self.size as usize, 0);
        let mut put = |at: usize, byte: u8| image[start + at % self.size as usize] = byte;
        for (at, byte) in self.stream.iter().enumerate() {
            put(at, *byte);
        }
        let (head, data) = self.open_bytes().unwrap_or_default();
        for (at, byte) in head.iter().chain(&data).enumerate() {
            put(self.stream.len() + at, *byte);
        }
        let end = self.stream.len() + head.len() + data.len();
        let zeroed = if self.hosted { self.zeroed() as usize } else { end + 2 };
        (end..zeroed).for_each(|at| put(at, 0));
        image
    }

    /// Position behind the last byte that was zeroed for words: a chunk and a slack, as recorders have them.
    fn zeroed(&self) -> u64 {
        let (head, words) = self.open_bytes().unwrap_or_default();
        let size = self.size as usize;
        (self.stream.len() + head.len() + words.len() + size / 4 + size / 8) as u64
    }

    pub fn header(&self) -> Vec<u8> {
        let header_len = if self.hosted { PAGE } else { 64 };
        let mut header = Vec::from(MAGIC);
        self.put(&mut header, &BYTE_ORDER_MARK.to_be_bytes());
        header.extend([self.version, self.time_width, RECORD_BASE, self.flags.0]);
        self.put(&mut header, &(header_len as u16).to_be_bytes());
        self.put(&mut header, &[0, 0]);
        self.put(&mut header, &self.size.to_be_bytes());
        self.put(&mut header, &self.map_hash.to_be_bytes());
        self.put(&mut header, &self.clock_hz.to_be_bytes());
        let word = |at: usize| {
            let bytes = header[at..at + 4].try_into().unwrap();
            if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let check = check_word([word(8), word(12), word(16), word(20)]);
        self.put(&mut header, &check.to_be_bytes());
        let closed = State::closed(self.stream.len() as u64, self.seq);
        let state = self.open_bytes().map_or(closed, |(head, _)| closed.with_open(head.len()));
        self.put(&mut header, &state.0.to_be_bytes());
        let folded = if self.hosted { 0 } else { Folded::new(state.head(), self.folded).0 };
        self.put(&mut header, &folded.to_be_bytes());
        self.put(&mut header, &self.dropped.to_be_bytes());
        self.put(&mut header, &[0; 4]);
        if self.hosted {
            let open_time = self.open.as_ref().map_or(0, |(time, _)| *time);
            self.put(&mut header, &self.last_time.max(open_time).to_be_bytes());
            self.put(&mut header, &self.zeroed().to_be_bytes());
            header.resize(104, 0);
            self.put(&mut header, &open_time.to_be_bytes());
            header.resize(120, 0);
            self.put(&mut header, &self.pid.to_be_bytes());
            self.put(&mut header, &self.tid.to_be_bytes());
            self.put(&mut header, &self.status.to_be_bytes());
            self.put(&mut header, &self.number.to_be_bytes());
            self.put(&mut header, &self.rings.to_be_bytes());
            self.put(&mut header, &self.earlier.to_be_bytes());
            header.resize(176, 0);
            let cleared = Shown { position: self.cleared, ..Shown::default() };
            for word in if self.cleared == 0 { [0, 0] } else { cleared.words() } {
                self.put(&mut header, &word.to_be_bytes());
            }
            header.extend(self.name.as_bytes());
            header.resize(PAGE, 0);
        }
        header
    }

    /// Appends a number given in big-endian bytes in the byte order of this ring.
    fn put(&self, header: &mut Vec<u8>, big_endian: &[u8]) {
        if self.big_endian {
            header.extend(big_endian);
        } else {
            header.extend(big_endian.iter().rev());
        }
    }
}

/// The low half of the time of a chunk, of which 0 means no time.
fn low(time: u64) -> u32 {
    if time > 0 { (time as u32).max(1) } else { 0 }
}

/// Statements as words without numbers.
fn long_words(statements: &[(u16, u16)]) -> Vec<u8> {
    let word = |(file, line): &(u16, u16)| match Word::new(Statement { file: *file, line: *line }, 0) {
        Some(Word::Long(bytes)) => bytes,
        _ => panic!("no long word for file {file}, line {line}"),
    };
    statements.iter().flat_map(word).collect()
}

/// The first page of these statements, and the steps that encode them.
pub fn packed_data(statements: &[(u16, u16)]) -> (Page, Vec<u8>) {
    let all = statements.iter().map(|(file, line)| Statement { file: *file, line: *line });
    let first = all.clone().next().map_or(Page::default(), Page::of);
    let mut pages = vec![first];
    let (mut page, mut data) = (first, Vec::new());
    for statement in all {
        if Page::of(statement) != page {
            page = Page::of(statement);
            match pages.iter().position(|known| *known == page) {
                Some(number) => data.push(step::RECENT + number as u8),
                None => {
                    let number = pages.len() % 16;
                    if pages.len() > number {
                        pages[number] = page
                    } else {
                        pages.push(page)
                    }
                    data.push(step::PAGE);
                    for value in [number as u64, page.file.into(), page.base.into()] {
                        digits(value, |byte| data.push(byte));
                    }
                }
            }
        }
        data.push(code(statement));
    }
    (first, data)
}

/// A map of these files; returns its text and hash.
pub fn map_text(root: &str, files: &[(u16, &str, u32)]) -> (String, u64) {
    let mut body = String::new();
    for (file, path, base) in files {
        writeln!(body, "{}", file_line(*file, path, *base)).unwrap();
    }
    with_head(root, &body)
}

/// A map of one file with these statements: line and function.
pub fn map_of_statements(root: &str, path: &str, statements: &[(u32, &str)]) -> (String, u64) {
    let spans: Vec<_> = statements.iter().map(|(line, function)| (*line, 9, *function)).collect();
    map_of_spans(root, path, &spans)
}

/// The same; each statement is a line, the column behind its end, and a function.
pub fn map_of_spans(root: &str, path: &str, statements: &[(u32, u32, &str)]) -> (String, u64) {
    let mut body = format!("{}\n", file_line(1, path, 0));
    for (line, end_col, function) in statements {
        let (kind, function) = (Text::plain("expr"), Text::plain(function));
        let line = Line::Stmt(StmtLine {
            file: 1,
            line: *line,
            col: 5,
            end_line: *line,
            end_col: *end_col,
            kind,
            function,
            text: 0,
            calls: Text::default(),
            jump: None,
            awaits: false,
            recorded: true,
        });
        writeln!(body, "{line}").unwrap();
    }
    with_head(root, &body)
}

fn file_line(file: u16, path: &str, base: u32) -> Line<'_> {
    Line::File(FileLine { file, path: Text::plain(path), base, ..FileLine::default() })
}

/// The lines of a map behind their head; also gives the hash.
fn with_head(root: &str, body: &str) -> (String, u64) {
    let mut hash = Hash::new();
    hash.update(body.as_bytes());
    let hash = hash.finish();
    let head = Line::Head(Head {
        version: qs_core::map::VERSION,
        hash,
        root: Text::plain(root),
        tool: Text::plain("test"),
        mains: Text::default(),
    });
    (format!("{head}\n{body}"), hash)
}

/// What a library call gave.
pub struct Outcome {
    pub code: u8,
    pub out: String,
    pub notes: String,
}

/// Reports on an image as a library call.
pub fn report_with(image: &[u8], options: &Options) -> Outcome {
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let code: ExitCode =
        xhist_report::report(image, options, &mut out, &mut anstream::StripStream::new(&mut notes));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Outcome { code: code as u8, out: text(out), notes: text(notes) }
}

/// Reports on an image with default options.
pub fn report(image: &[u8]) -> Outcome {
    report_with(image, &Options::default())
}

/// `1 file#1:2` and so on, as a report without a map prints it.
pub fn listing(statements: &[(u16, u32)]) -> String {
    let mut text = String::new();
    for (index, (file, line)) in statements.iter().enumerate() {
        writeln!(text, "{} file#{file}:{line}", index + 1).unwrap();
    }
    text
}

/// A directory that goes away with the test.
pub struct Dir(tempfile::TempDir);

impl Dir {
    pub fn new() -> Dir {
        Dir(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs the program in this directory.
    pub fn run(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args).stdin(Stdio::null()).output().unwrap())
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xhist-report"));
        command.args(args).current_dir(self.path());
        command
    }
}

/// What the program left.
pub fn outcome(output: Output) -> Outcome {
    Outcome {
        code: output.status.code().expect("ended by itself").try_into().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        notes: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Noise that is the same in every run.
pub fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(next).collect()
}
