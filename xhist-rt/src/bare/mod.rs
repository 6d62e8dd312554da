//! The bare-metal recorder: one ring in a static, written with interrupts masked for a few instructions.
//!
//! `writer` has the statements, `draft` how they go into the ring, `frame` what frames look like, `memory` the ring itself, `mask` and `interrupt` the
//! interrupts, `link` what a link takes out. Hosted rings share nothing of it, see `crate::words`.

mod draft;
mod frame;
mod header;
mod interrupt;
mod link;
mod mask;
mod memory;
mod writer;

use qs_core::record::Statement;
use qs_core::ring::{BARE_HEADER_LEN, Header, Item, Reader, frame_room};

pub use interrupt::interrupt;
pub use link::{flush, get_block, get_byte};
use writer::record_at;
pub(crate) use writer::{heed_filters, record, record as entry};

/// Bytes of the ring; `XHIST_RING_SIZE` when compiling changes it.
pub const RING_SIZE: usize = crate::size::compiled(4096) as usize;

/// Records a statement whose numbers are known at run time only.
#[inline(always)]
pub(crate) fn at(file: u16, line: u16) {
    record_at(Statement { file, line });
}

/// Appends a record of QS.
pub(crate) fn append_record<const LEN: usize, const TIMED: bool>(bytes: &[u8; LEN], len: usize) {
    append(bytes.get(..len).unwrap_or_default(), TIMED);
}

#[inline(never)]
fn append(bytes: &[u8], is_timed: bool) {
    frame::append(bytes, is_timed);
}

/// Bytes of the longest record that the ring is to hold.
pub(crate) const fn longest_record() -> usize {
    RING_SIZE / 8
}

/// Gives the time stamps a clock.
pub(crate) fn set_time(time: fn() -> u32) {
    writer::with(|writer| {
        writer.time = Some(time);
        memory::set_time_width(4);
    });
}

/// Starts recording, if it was stopped.
pub fn start() {
    crate::qs::freeze(false);
    heed_filters();
}

/// Stops recording, of records too; the ring keeps what it has.
pub fn stop() {
    crate::qs::freeze(true);
    heed_filters();
}

/// Which map this program was instrumented with.
pub(crate) fn set_map_hash(hash: u64) {
    writer::with_any(|_| memory::set_map_hash(hash));
}

/// This program records only entries of functions.
pub(crate) fn set_entries_only() {
    writer::with_any(|_| memory::set_entries_only());
}

/// Calls `sink` with the bytes of the ring, header first, in pieces copied while interrupts are masked for a moment, so
/// that a slow link does not keep them off. What interrupts overwrite meanwhile is zero, and missing in the report.
pub fn export(sink: impl FnMut(&[u8])) {
    let ring = writer::with_any(|_| memory::current());
    export_ring(ring, sink);
}

/// As [`export`], with what the run before the last reset has left; false when there is nothing.
///
/// The feature `keep` gives the recorder two rings that take turns, in the section `.uninit.xhist`, which start-up code
/// must not clear. What was there when power came on is told from a ring by the check word of its header; what was
/// overwritten meanwhile is told by the report.
#[cfg(feature = "keep")]
pub fn export_earlier(sink: impl FnMut(&[u8])) -> bool {
    let earlier = writer::with_any(|_| memory::earlier());
    let is_there = earlier.is_some();
    if let Some(ring) = earlier {
        export_ring(ring, sink);
    }
    is_there
}

/// Fills `into` with file and line of the newest statements and returns those that are there, oldest first: for panic and fault
/// handlers. What came again is told once.
pub fn last(into: &mut [(u16, u16)]) -> &[(u16, u16)] {
    let mut count = 0;
    writer::with_any(|_| {
        let image = memory::image();
        let Ok(header) = Header::parse(image) else { return };
        let mut reader = Reader::new(header, image);
        while let Some(item) = reader.next() {
            let Item::Statement(statement, _) = item else { continue };
            if count < into.len() {
                count += 1;
            } else if count > 0 {
                into.rotate_left(1);
            }
            if let Some(place) = into.get_mut(count.saturating_sub(1)) {
                *place = (statement.file, statement.line);
            }
        }
    });
    into.get(..count).unwrap_or_default()
}

fn export_ring(ring: *const memory::Ring, mut sink: impl FnMut(&[u8])) {
    const PIECE: usize = BARE_HEADER_LEN;
    let mut piece = [0; PIECE];
    let mut begun = None;
    for start in (0..BARE_HEADER_LEN + RING_SIZE).step_by(PIECE) {
        let head = writer::with_any(|_| {
            memory::copy(ring, start, &mut piece);
            memory::head_of(ring)
        });
        clear_newer(&mut piece, start, *begun.get_or_insert(head), head);
        sink(&piece);
    }
}

/// Clears what was written since the header was copied, which was at `begun`: a reader would take it for the oldest.
fn clear_newer(piece: &mut [u8], start: usize, begun: u64, head: u64) {
    // The frame that was open then, and the next, are where the header says so.
    let first = (begun + 2 * frame_room(RING_SIZE) as u64) as usize;
    let written = usize::try_from(head - begun).unwrap_or(RING_SIZE);
    let places = (start..).map(|at| at.wrapping_sub(BARE_HEADER_LEN).wrapping_sub(first) & (RING_SIZE - 1));
    for (byte, behind) in piece.iter_mut().zip(places) {
        if behind < written {
            *byte = 0;
        }
    }
}

#[cfg(test)]
mod tests;
