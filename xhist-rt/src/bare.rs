//! The bare-metal recorder: one ring in a static, a critical section around each append.

use core::cell::UnsafeCell;

use qs_core::ring::{BARE_HEADER_LEN, FLAG_PACKED};

use crate::ring::{Append, Header, Hot, Writer};
use crate::site::Site;

/// Bytes of the ring; `XHIST_RING_SIZE` when compiling changes it.
pub const RING_SIZE: usize = crate::size::compiled(4096) as usize;

#[repr(C, align(8))]
struct Memory {
    header: UnsafeCell<[u8; BARE_HEADER_LEN]>,
    data: UnsafeCell<[u8; RING_SIZE]>,
}

// SAFETY: only touched inside a critical section.
unsafe impl Sync for Memory {}

/// The ring, for debuggers: `dump binary value dump.bin XHIST_RING`. Zeros until the first
/// statement lays it out, so that it takes no room in flash.
#[unsafe(no_mangle)]
static XHIST_RING: Memory =
    Memory { header: UnsafeCell::new([0; BARE_HEADER_LEN]), data: UnsafeCell::new([0; RING_SIZE]) };

struct Slot(UnsafeCell<Option<Writer>>);

// SAFETY: only touched inside a critical section.
unsafe impl Sync for Slot {}

static WRITER: Slot = Slot(UnsafeCell::new(None));

/// The writer and the ring, laid out at the first call.
///
/// # Safety
/// Inside a critical section, and the result is not used behind it.
unsafe fn writer() -> (*mut Writer, *mut Header) {
    let header = (&raw const XHIST_RING).cast_mut().cast::<Header>();
    // SAFETY: the memory is a header and `RING_SIZE` bytes, all inside `UnsafeCell`s; the critical
    // section makes this the only reference.
    unsafe {
        let writer = (*WRITER.0.get()).get_or_insert_with(|| {
            (*header).init(BARE_HEADER_LEN, RING_SIZE as u32, 0, FLAG_PACKED);
            Writer::new(header, None)
        });
        (&raw mut *writer, header)
    }
}

/// Records that a statement is about to run.
#[inline(never)]
pub(crate) fn record(site: Site) {
    // SAFETY: inside a critical section.
    critical_section::with(|_| unsafe {
        Writer::append(writer().0, Append::Statement(site), || Hot::Free, |_, _| {});
    });
}

/// Which map this program was instrumented with.
pub(crate) fn set_map_hash(hash: u64) {
    // SAFETY: the critical section makes this the only reference.
    critical_section::with(|_| unsafe { (*writer().1).map_hash.store(hash) });
}

/// Calls `sink` with the bytes of the ring, header first, in pieces copied inside short critical
/// sections, so that a slow link does not keep interrupts off.
pub fn export(mut sink: impl FnMut(&[u8])) {
    const PIECE: usize = 64;
    let mut piece = [0; PIECE];
    for start in (0..BARE_HEADER_LEN + RING_SIZE).step_by(PIECE) {
        critical_section::with(|_| {
            // SAFETY: inside a critical section; header and ring are a multiple of the piece.
            unsafe {
                let header = writer().1.cast::<u8>();
                core::ptr::copy_nonoverlapping(header.add(start), piece.as_mut_ptr(), PIECE);
            }
        });
        sink(&piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use qs_core::record::Statement;
    use qs_core::ring::{self, Item, Reader};

    fn history() -> Vec<u32> {
        let mut image = Vec::new();
        export(|piece| image.extend_from_slice(piece));
        let header = ring::Header::parse(&image).expect("a header");
        assert_eq!((header.size, header.map_hash), (RING_SIZE, 7));
        let mut reader = Reader::new(header, &image);
        let mut words = Vec::new();
        while let Some(item) = reader.next() {
            let Item::Statement(statement, None) = item else { panic!("{item:?}") };
            words.push(Statement::to_word(statement));
        }
        words
    }

    fn record_word(word: u32) {
        record(Site::new((word >> 16) as u16, word as u16));
    }

    #[test]
    fn the_export_holds_the_newest_statements_in_order() {
        set_map_hash(7);
        for word in 0..3 {
            record_word(word);
        }
        assert_eq!(history(), [0, 1, 2]);
        for word in 3..20_000 {
            record_word(word);
        }
        let history = history();
        assert_eq!(history.last(), Some(&19_999));
        assert!(history.windows(2).all(|pair| pair[0] + 1 == pair[1]));
        // A byte each, the frame's own for 240 of them, and what is prepared ahead.
        assert!(history.len() > RING_SIZE * 2 / 3, "{}", history.len());
    }
}
