//! Finds rings in an image. It must not know what is in them.

use std::ops::Range;

use memchr::memmem;
use qs_core::ring::{BYTE_ORDER_MARK, FLAG_EXACT, Header, HeaderError, MAGIC, Status};

use crate::model::Ring;

/// Bytes scanned between two reports of progress.
const STRIDE: usize = 64 << 20;
/// More rings than any program has; an image made to tire us could hold millions.
const MAX_RINGS: usize = 1 << 16;
/// Rings do not overlap, save for stale headers. All rings together may be so many times as long
/// as the image; without a limit a small image could claim hours of work.
const MAX_OVERLAP: usize = 4;
/// So many places of a kind that are no ring are kept.
const MAX_BAD: usize = 10;

/// Counts what is held of an image, unless that is too much with so many bytes `more`; whether it is not.
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
}

/// A place that starts like a ring and is none.
#[derive(Clone, Copy, Debug)]
pub struct NoRing {
    /// Offset in the image.
    pub offset: usize,
    /// Why it is none.
    pub error: HeaderError,
}

/// Places that are no ring: the first few, and how many there are.
#[derive(Clone, Debug, Default)]
pub struct Few {
    /// The first few.
    pub first: Vec<NoRing>,
    /// How many more there are.
    pub more: usize,
}

/// Everything that looked like a ring.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Good headers, by offset.
    pub rings: Vec<Placed>,
    /// Rings for certain, but damaged or of another version.
    pub unreadable: Few,
    /// Most likely just bytes like a ring's magic.
    pub doubtful: Few,
    /// Good headers that were left out, to bound time and memory.
    pub left_out: usize,
    /// Bytes of all good rings together.
    held: usize,
}

/// Scans the pieces of the image that may hold anything but zeros, or all of it; `progress` is told
/// how far it is.
pub fn find(image: &[u8], data: Option<&[Range<usize>]>, progress: &mut dyn FnMut(usize)) -> Findings {
    let mut findings = Findings::default();
    let whole = 0..image.len();
    for piece in data.unwrap_or(std::slice::from_ref(&whole)) {
        let piece_end = piece.end.min(image.len());
        for start in (piece.start..piece_end).step_by(STRIDE) {
            progress(start);
            // A magic may lie across the end of the stride.
            let end = piece_end.min(start + STRIDE + MAGIC.len() - 1);
            for offset in memmem::find_iter(&image[start..end], &MAGIC) {
                findings.add(image, start + offset);
            }
        }
    }
    findings
}

impl Findings {
    /// Takes a place that starts with the magic.
    fn add(&mut self, image: &[u8], offset: usize) {
        let rest = &image[offset..];
        let header = match Header::parse(rest) {
            Ok(header) => header,
            Err(error) => return self.add_bad(rest, offset, error),
        };
        let present = rest.len().saturating_sub(header.header_len).min(header.size);
        if self.rings.len() >= MAX_RINGS || !take_room(&mut self.held, present, image) {
            self.left_out += 1;
            return;
        }
        let number = self.rings.len() + 1;
        self.rings.push(Placed { header, ring: describe(number, offset, &header) });
    }

    fn add_bad(&mut self, bytes: &[u8], offset: usize, error: HeaderError) {
        let certain = match error {
            HeaderError::Version(_) | HeaderError::Size { .. } => true,
            HeaderError::Cut { .. } => has_byte_order_mark(bytes),
            HeaderError::ByteOrder(_) | HeaderError::Check => false,
        };
        let few = if certain { &mut self.unreadable } else { &mut self.doubtful };
        if few.first.len() < MAX_BAD {
            few.first.push(NoRing { offset, error });
        } else {
            few.more += 1;
        }
    }
}

fn has_byte_order_mark(bytes: &[u8]) -> bool {
    let mark = bytes.get(8..12);
    mark == Some(&BYTE_ORDER_MARK.to_le_bytes()) || mark == Some(&BYTE_ORDER_MARK.to_be_bytes())
}

/// A ring in the words of a user.
pub fn describe(number: usize, offset: usize, header: &Header) -> Ring {
    let is_earlier = header.flags & qs_core::ring::FLAG_EARLIER != 0;
    let status = match header.status {
        _ if is_earlier => "before the reset",
        // Killed or aborted, it had no chance to say so; and its number may be another process's by now.
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
        status,
        clock_hz: header.clock_hz,
        map_hash: header.map_hash,
        exact: header.flags & FLAG_EXACT != 0,
        dropped: header.dropped,
        ..Ring::default()
    };
    ring.set_thread_name(header.thread_name());
    ring
}
