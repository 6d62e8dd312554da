//! The bare-metal recorder: a ring in a static, one for each core with `multi-core`, written with interrupts masked for a few
//! instructions.
//!
//! `writer` is what the recorder keeps outside of the ring, `statement`, `value` and `task` record, `trigger` starts and stops
//! that, `draft` puts statements into the ring, `byte_list` holds its bytes, `frame` what frames look like, `memory` the ring
//! itself, `cores` what several cores have, `mask` and `interrupt` the interrupts, `cycles` the core's clock, `link` what a link
//! takes out. Hosted rings share nothing of it, see `crate::hosted::words`.

mod byte_list;
mod cores;
#[cfg(feature = "cycles")]
mod cycles;
mod draft;
mod frame;
mod header;
mod interrupt;
mod link;
mod mask;
mod memory;
mod statement;
mod task;
mod trigger;
mod value;
mod writer;

use qs_core::record::Statement;
use qs_core::ring::{BARE_HEADER_LEN, Header, Item, Reader, frame_room};

pub use crate::inert::{Init, clear, init, stop_after, stop_on_record, xhist_logdev, xhist_write};
pub(crate) use crate::value::types::add_build;
pub use frame::flush;
pub use interrupt::interrupt;
pub use link::{get_block, get_byte};
pub use memory::RING_SIZE;
use statement::record_at;
pub(crate) use statement::{newest, record, record as entry};
pub(crate) use task::RecordedTask as Task;
pub(crate) use trigger::{start_at, stop_at};
pub(crate) use value::{own, target, target as reference};
pub(crate) use writer::apply_filters;

/// Records a statement whose file and line are only known at run time.
#[inline(always)]
pub(crate) fn at(file: u16, line: u16) {
    record_at(Statement { file, line });
}

/// Appends a QS record.
pub(crate) fn append_record<const LEN: usize, const TIMED: bool>(bytes: &[u8; LEN], len: usize) {
    append(bytes.get(..len).unwrap_or_default(), TIMED);
}

#[inline(never)]
fn append(bytes: &[u8], is_timed: bool) {
    frame::append(bytes, is_timed);
}

/// Length of the longest record in bytes.
pub(crate) const fn longest_record() -> usize {
    RING_SIZE / 8
}

/// Sets the clock for time stamps.
pub(crate) fn set_time(time: fn() -> u32) {
    #[cfg(feature = "multi-core")]
    cores::set_clock(time);
    #[cfg(not(feature = "multi-core"))]
    writer::with(|writer| writer.time = Some(time));
    writer::change_headers(|header| header.set_time_width(4));
}

/// Starts recording, if it is stopped.
pub fn start() {
    crate::filters::freeze(false);
    apply_filters();
}

/// Stops recording of statements and records. The ring keeps its contents.
pub fn stop() {
    crate::filters::freeze(true);
    apply_filters();
}

/// Sets the hash of the map that the program was instrumented with.
pub(crate) fn set_map_hash(hash: u64) {
    writer::change_headers(|header| header.map_hash.store(hash));
}

/// Sets the flag of a program that records only function entries.
pub(crate) fn set_entries_only() {
    writer::change_headers(|header| header.set_entries_only());
}

/// Sets the flag of a program that records values.
pub(crate) fn set_values() {
    writer::change_headers(|header| header.set_values());
}

/// Calls `sink` with the bytes of the ring, header first, in pieces of 64 bytes. Interrupts are masked only while a piece is
/// copied, so a slow link does not delay them. Bytes that interrupts overwrite meanwhile become zero, and the report lacks
/// them.
///
/// With the feature `multi-core` these are the rings of all cores, one behind the other. The other cores go on meanwhile.
pub fn export(mut sink: impl FnMut(&[u8])) {
    writer::with_any(|_| memory::rings()).for_each(|ring| export_ring(ring, &mut sink));
}

/// [`export`] of the ring from before the last reset. False if there is no such ring.
///
/// With the feature `keep`, the recorder has two rings that take turns, in the section `.uninit.xhist`, which start-up code
/// must not clear. After power-on the check word in the header does not match: the memory holds no ring. The report shows bytes
/// that were overwritten since.
#[cfg(feature = "keep")]
pub fn export_earlier(mut sink: impl FnMut(&[u8])) -> bool {
    let earlier = writer::with_any(|_| memory::earlier());
    earlier.map(|ring| export_ring(ring, &mut sink)).count() > 0
}

/// Fills `into` with file and line of the newest statements, and returns the filled part, oldest first. For panic and fault
/// handlers. Repeated statements appear once. With the feature `multi-core` these are statements of the core that calls it.
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

/// Without the feature `keep`, no ring survives a reset: never calls `sink`, and returns false.
#[cfg(not(feature = "keep"))]
pub fn export_earlier(_sink: impl FnMut(&[u8])) -> bool {
    false
}

fn export_ring(ring: *const memory::Ring, mut sink: impl FnMut(&[u8])) {
    const PIECE: usize = BARE_HEADER_LEN;
    let mut piece = [0; PIECE];
    let (mut begun, mut end) = (None, None);
    for start in (0..BARE_HEADER_LEN + RING_SIZE).step_by(PIECE) {
        let head = writer::with_any(|_| memory::copy(ring, start, &mut piece));
        let begun = *begun.get_or_insert(head);
        let end = *end.get_or_insert_with(|| memory::open_end(ring, &piece));
        clear_newer(&mut piece, start, begun, head);
        // The open frame may grow over the end of the ring, where pieces are older than those before it.
        if let Some(byte) = piece.get_mut(end.wrapping_sub(start)) {
            *byte = 0;
        }
        sink(&piece);
    }
}

/// Clears the bytes that were written since the header was copied, when the head was `begun`. A reader would take them for
/// the oldest bytes.
fn clear_newer(piece: &mut [u8], start: usize, begun: u64, head: u64) {
    // The frame that was open then, and the next one, are in the reserved room of the header.
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
