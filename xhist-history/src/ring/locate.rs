//! Finds rings in an image by their headers.

use std::ops::Range;

use memchr::memmem;
use qs_core::ring::{
    BYTE_ORDER_MARK, Flags, Header, HeaderDamage, HeaderError, MAGIC, NEWEST_VERSION, OLDEST_VERSION, Status,
    repair,
};

use crate::model::{BEFORE_RESET, Ring};

/// Bytes scanned between two reports of progress.
const STRIDE: usize = 64 << 20;
/// Bytes scanned for one needle after the other: they stay in the processor's cache.
const BLOCK: usize = 256 << 10;
/// Headers that are tried with each bit flipped; a malicious image could hold millions.
const MAX_REPAIRS: usize = 4096;
/// More rings than any program has; a malicious image could hold millions.
const MAX_RINGS: usize = 1 << 16;
/// Rings do not overlap, except for stale headers. All rings together may be this many times as long
/// as the image; without a limit a small image could cost hours of work.
const MAX_OVERLAP: usize = 4;
/// Places of a kind that are not rings: this number of them is kept.
const MAX_BAD: usize = 10;

/// Adds `more` bytes to those of an image that are held, unless that is too much; whether it was added.
pub(super) fn take_room(held: &mut usize, more: usize, image: &[u8]) -> bool {
    let all = held.saturating_add(more);
    let fits = all <= image.len().saturating_mul(MAX_OVERLAP);
    if fits {
        *held = all;
    }
    fits
}

/// A ring and where its header is.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The header as read.
    pub header: Header,
    /// What users see of it.
    pub ring: Ring,
    /// What was wrong with the header, which could still be read.
    pub damage: Option<HeaderDamage>,
}

/// A place that starts like a ring but is not one.
#[derive(Clone, Copy, Debug)]
pub struct NoRing {
    /// Offset in the image.
    pub offset: usize,
    /// Why it is not a ring.
    pub error: HeaderError,
}

/// The first few of something, and how many more there are.
#[derive(Clone, Debug)]
pub struct Few<T> {
    /// The first few.
    pub first: Vec<T>,
    /// How many more there are.
    pub more: usize,
}

impl<T> Default for Few<T> {
    fn default() -> Few<T> {
        Few { first: Vec::new(), more: 0 }
    }
}

impl<T> Few<T> {
    /// Keeps one more, or counts it.
    pub fn push(&mut self, one: T) {
        if self.first.len() < MAX_BAD {
            self.first.push(one);
        } else {
            self.more += 1;
        }
    }
}

/// Everything that looked like a ring.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Good headers, by offset.
    pub rings: Vec<Placed>,
    /// Certainly rings, but damaged or of another version.
    pub unreadable: Few<NoRing>,
    /// Most likely just bytes like a ring's magic.
    pub doubtful: Few<NoRing>,
    /// What is damaged in rings that can be read, and rings that are missing; in sentences.
    pub damaged: Few<String>,
    /// Good headers that were left out, to bound time and memory.
    pub left_out: usize,
    /// Headers that were tried with a bit flipped.
    repairs: usize,
    /// Bytes of all good rings together.
    held: usize,
}

/// Scans the pieces of the image that may hold anything but zeros, or all of it; `progress` is called with the
/// offset reached.
pub fn find(image: &[u8], data: Option<&[Range<usize>]>, progress: &mut dyn FnMut(usize)) -> Findings {
    let mut findings = Findings::default();
    let mut scanner = Scanner::new(image);
    let whole = 0..image.len();
    for piece in data.unwrap_or(std::slice::from_ref(&whole)) {
        let piece_end = piece.end.min(image.len());
        for start in (piece.start..piece_end).step_by(STRIDE) {
            progress(start);
            let end = piece_end.min(start + STRIDE);
            for block in (start..end).step_by(BLOCK) {
                for offset in scanner.headers(block..end.min(block + BLOCK)) {
                    findings.add(image, *offset);
                }
            }
        }
    }
    findings
}

/// Searches for the start of headers: the magic, or behind a damaged magic the byte-order mark.
struct Scanner<'i> {
    image: &'i [u8],
    magic: memmem::Finder<'static>,
    marks: [memmem::Finder<'static>; 2],
    found: Vec<usize>,
}

/// Where the byte-order mark and the version are in a header.
const MARK_AT: usize = 8;
const VERSION_AT: usize = 12;

impl<'i> Scanner<'i> {
    fn new(image: &'i [u8]) -> Scanner<'i> {
        let marks = [BYTE_ORDER_MARK.to_le_bytes(), BYTE_ORDER_MARK.to_be_bytes()];
        Scanner {
            image,
            magic: memmem::Finder::new(&MAGIC),
            marks: marks.map(|mark| memmem::Finder::new(&mark).into_owned()),
            found: Vec::new(),
        }
    }

    /// The places in a block where a header may start, in order.
    fn headers(&mut self, block: Range<usize>) -> &[usize] {
        let Scanner { image, magic, marks, found } = self;
        let starts = |needle: &memmem::Finder<'_>, at: usize| {
            // A match may lie across the end of the block.
            let end = image.len().min(block.end + at + needle.needle().len() - 1);
            let bytes = image.get(block.start + at..end).unwrap_or(&[]);
            needle.find_iter(bytes).map(|offset| block.start + offset).collect::<Vec<_>>()
        };
        found.clear();
        found.extend(starts(magic, 0));
        let magics = found.len();
        for mark in marks {
            let is_header = |start: &usize| {
                let bytes = &image[*start..];
                bytes
                    .get(VERSION_AT)
                    .is_some_and(|version| (OLDEST_VERSION..=NEWEST_VERSION).contains(version))
                    && !bytes.starts_with(&MAGIC)
            };
            found.extend(starts(mark, MARK_AT).into_iter().filter(is_header));
        }
        if found.len() > magics {
            found.sort_unstable();
        }
        found
    }
}

impl Findings {
    /// Takes a place where a header may start.
    fn add(&mut self, image: &[u8], offset: usize) {
        let rest = &image[offset..];
        let has_magic = rest.starts_with(&MAGIC);
        let (header, damage) = match Header::parse(rest) {
            Ok(header) if has_magic => (header, None),
            parsed => {
                self.repairs += usize::from(has_magic);
                let repaired = if self.repairs <= MAX_REPAIRS { repair(rest) } else { None };
                match (repaired, parsed) {
                    (Some((header, damage)), _) => (header, Some(damage)),
                    (None, Err(error)) if has_magic => return self.add_bad(rest, offset, error),
                    (None, _) => return,
                }
            }
        };
        let present = rest.len().saturating_sub(header.header_len).min(header.size);
        if self.rings.len() >= MAX_RINGS || !take_room(&mut self.held, present, image) {
            self.left_out += 1;
            return;
        }
        let ring = describe(self.rings.len() + 1, offset, &header);
        self.rings.push(Placed { header, ring, damage });
    }

    fn add_bad(&mut self, bytes: &[u8], offset: usize, error: HeaderError) {
        let certain = match error {
            HeaderError::Version(_) | HeaderError::Size { .. } => true,
            // Program text has the magic too, but nothing that follows on it in a header.
            HeaderError::Cut { .. } | HeaderError::Check => has_byte_order_mark(bytes),
            HeaderError::ByteOrder(_) => false,
        };
        let few = if certain { &mut self.unreadable } else { &mut self.doubtful };
        few.push(NoRing { offset, error });
    }
}

fn has_byte_order_mark(bytes: &[u8]) -> bool {
    let mark = bytes.get(8..12);
    mark == Some(&BYTE_ORDER_MARK.to_le_bytes()) || mark == Some(&BYTE_ORDER_MARK.to_be_bytes())
}

/// A ring as users see it.
pub fn describe(number: usize, offset: usize, header: &Header) -> Ring {
    let is_earlier = header.flags.has(Flags::EARLIER);
    let status = match header.status {
        _ if is_earlier => BEFORE_RESET,
        // A program that was killed or aborted could not record its end, and another process may have its number now.
        Status::Live => "running or killed",
        Status::Ended => "ended",
        Status::Exited => "exited",
        Status::Panicked => "panicked",
        Status::Killed => "killed",
    };
    let mut ring = Ring {
        number,
        offset,
        layout: header.version,
        size: header.size,
        pid: header.pid,
        tid: header.tid,
        thread_name: None,
        core: (header.cores > 1).then_some(header.core),
        status,
        clock_hz: header.clock_hz,
        start: (header.start_time, header.start_wall),
        last_time: header.last_time,
        map_hash: header.map_hash,
        exact: header.flags.has(Flags::EXACT),
        entries_only: header.has_entries_only(),
        has_values: header.has_values(),
        anchor: header.anchor,
        dropped: header.dropped,
        causes: header.words.causes,
        tasks: header.words.tasks,
        ..Ring::default()
    };
    ring.set_thread_name(header.thread_name());
    ring
}
