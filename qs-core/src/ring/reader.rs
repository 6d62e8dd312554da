//! Reads one ring from its oldest whole frame to its newest statement.
//!
//! What an overwriting writer leaves at the oldest end (the tail of a frame) is skipped
//! silently: it is older than the history. Everything else that cannot be read is told.

use crate::frame::{Damage, Decoder, Ended, FLAG, Frame};
use crate::record::{Statement, XhistRecord};

use super::header::Header;

/// Longest frame that an append under way may be writing over the oldest bytes.
const OPEN_GUARD: u64 = 40;

/// What a ring yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A good frame. Its `missing` tells of a gap before it.
    Frame(Frame<'a>),
    /// Bytes that are no good frame.
    Damaged(Damage),
    /// The statement of an append that was under way, and its time.
    Pending(Statement, Option<u32>),
    /// The image ends before the ring does.
    Cut {
        /// Bytes of the ring that are not in the image.
        missing: u64,
    },
    /// The newest frame is not the one that the header counted last.
    Torn {
        /// Sequence number that the header counted.
        expected: u8,
    },
}

/// Walks a ring; call [`Reader::next`] until it returns `None`.
///
/// Offsets in frames and damages count from the first byte ever written to the ring.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    header: Header,
    data: &'a [u8],
    decoder: Decoder,
    /// Position of the next byte, counted from the first byte ever written.
    at: u64,
    end: u64,
    skip_to_flag: bool,
    newest_seq: Option<u8>,
    /// Bytes of the ring that the image lacks.
    cut: u64,
    tail: Tail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    Cut,
    Torn,
    Pending,
    Done,
}

impl<'a> Reader<'a> {
    /// A reader of the ring whose header was read from the start of `image`.
    pub fn new(header: Header, image: &'a [u8]) -> Reader<'a> {
        let data = image.get(header.header_len..).unwrap_or(&[]);
        let data = &data[..data.len().min(header.size)];
        let end = header.newest().head();
        // An append under way may have begun to overwrite the oldest bytes.
        let reach = if header.open != 0 { end + OPEN_GUARD } else { end };
        let at = reach.saturating_sub(header.size as u64).min(end);
        let wrapped = at > 0;
        let mut decoder = Decoder::new();
        decoder.set_offset(at);
        Reader {
            header,
            data,
            decoder,
            at,
            end,
            skip_to_flag: wrapped,
            newest_seq: None,
            cut: 0,
            tail: Tail::Cut,
        }
    }

    /// The header that this reader follows.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Frames that were overwritten cannot be counted, but bytes can: how many were written
    /// before the oldest byte of the ring.
    pub fn overwritten(&self) -> u64 {
        self.end.saturating_sub(self.header.size as u64)
    }

    /// The next item, oldest first.
    #[allow(clippy::should_implement_trait, reason = "items borrow the reader's buffer")]
    pub fn next(&mut self) -> Option<Item<'_>> {
        let ended = loop {
            let Some(run) = self.run() else { return self.tail_item() };
            let (used, ended) = self.decoder.take_slice(run);
            self.at += used as u64;
            if let Some(ended) = ended {
                break ended;
            }
        };
        Some(match ended {
            Ended::Damaged(damage) => Item::Damaged(damage),
            Ended::Frame(end) => {
                let frame = self.decoder.frame(end);
                self.newest_seq = Some(frame.seq);
                Item::Frame(frame)
            }
        })
    }

    /// The last `lines` statements, oldest first, each with how often it stands in a row: a few
    /// times are as many lines, a loop that spins is one.
    pub fn tail(self, lines: usize) -> impl Iterator<Item = (Statement, u64)> + use<'a> {
        let all = Lines { reader: self, ahead: None, again: None };
        let count = all.clone().count();
        all.skip(count.saturating_sub(lines))
    }

    fn next_statement(&mut self) -> Option<Statement> {
        let base = self.header.record_base;
        loop {
            match self.next()? {
                Item::Pending(statement, _) => return Some(statement),
                Item::Frame(frame) => {
                    if let Some(XhistRecord::Statement { statement, .. }) = XhistRecord::parse(&frame, base) {
                        return Some(statement);
                    }
                }
                _ => {}
            }
        }
    }

    /// What is to be told behind the last byte, one thing a call.
    fn tail_item(&mut self) -> Option<Item<'static>> {
        loop {
            let tail = self.tail;
            match tail {
                Tail::Cut => {
                    self.tail = Tail::Torn;
                    if self.cut > 0 {
                        return Some(Item::Cut { missing: self.cut });
                    }
                }
                Tail::Torn => {
                    self.tail = Tail::Pending;
                    let expected = self.header.newest().seq();
                    if self.end > 0 && self.cut == 0 && self.newest_seq != Some(expected) {
                        return Some(Item::Torn { expected });
                    }
                }
                Tail::Pending => {
                    self.tail = Tail::Done;
                    if let Some((word, time)) = self.header.pending() {
                        return Some(Item::Pending(Statement::from_word(word), time));
                    }
                }
                Tail::Done => return None,
            }
        }
    }

    /// The next bytes that lie in one piece.
    fn run(&mut self) -> Option<&'a [u8]> {
        if self.skip_to_flag {
            self.skip_to_flag = false;
            self.skip_partial_frame();
        }
        if self.at >= self.end {
            return None;
        }
        let size = self.header.size as u64;
        let start = (self.at % size) as usize;
        let len = (self.end - self.at).min(size - start as u64) as usize;
        let run = self.data.get(start..).unwrap_or(&[]);
        let run = &run[..run.len().min(len)];
        if run.is_empty() {
            // The image ends here; go on where the ring wraps.
            let next = (self.at + (size - start as u64)).min(self.end);
            self.cut += next - self.at;
            self.at = next;
            self.decoder.restart();
            self.decoder.set_offset(self.at);
            self.skip_to_flag = self.at < self.end;
            return self.run();
        }
        Some(run)
    }

    fn skip_partial_frame(&mut self) {
        let size = self.header.size as u64;
        while self.at < self.end {
            let byte = self.data.get((self.at % size) as usize);
            self.at += 1;
            if byte == Some(&FLAG) {
                break;
            }
        }
        self.decoder.set_offset(self.at);
    }
}

/// Statements as a listing shows them.
#[derive(Clone)]
struct Lines<'a> {
    reader: Reader<'a>,
    /// Read already, to see where a run ends.
    ahead: Option<Statement>,
    /// A short run whose lines are not all given yet.
    again: Option<(Statement, u64)>,
}

impl Iterator for Lines<'_> {
    type Item = (Statement, u64);

    fn next(&mut self) -> Option<(Statement, u64)> {
        /// From here on it is a loop that spins.
        const SPINS: u64 = 8;
        if let Some((statement, times)) = self.again.take() {
            self.again = (times > 1).then_some((statement, times - 1));
            return Some((statement, 1));
        }
        let statement = self.ahead.take().or_else(|| self.reader.next_statement())?;
        let mut times = 1;
        self.ahead = loop {
            match self.reader.next_statement() {
                Some(next) if next == statement => times += 1,
                next => break next,
            }
        };
        if times >= SPINS {
            return Some((statement, times));
        }
        self.again = (times > 1).then_some((statement, times - 1));
        Some((statement, 1))
    }
}
