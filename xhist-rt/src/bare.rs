//! The bare-metal recorder: one ring in a static, a critical section around each append.

use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use critical_section::Mutex;
use qs_core::frame::FLAG;

use qs_core::ring::{BARE_HEADER_LEN, FLAG_PACKED};

use crate::ring::{Append, Clock, Header, Hot, Record, Ticks, Writer};
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
static MUTED: AtomicBool = AtomicBool::new(false);
static TIME: Mutex<Cell<Option<Time>>> = Mutex::new(Cell::new(None));
/// There is one thread, so its frames need not tell the time in between.
static NO_MARKS: AtomicBool = AtomicBool::new(false);
/// A clock that the program has given.
type Time = fn() -> u32;
/// How far a link has taken the ring.
static TAKEN: Mutex<Cell<Taken>> = Mutex::new(Cell::new(Taken { position: 0, skips: false }));

/// See [`TAKEN`].
#[derive(Clone, Copy)]
struct Taken {
    position: u64,
    /// It was overtaken, so the rest of a frame is passed over.
    skips: bool,
}

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
    if !MUTED.load(Relaxed) {
        append(Append::Statement(site));
    }
}

/// Appends, whatever it is.
pub(crate) fn append(what: Append<'_>) {
    // SAFETY: inside a critical section.
    critical_section::with(|_| unsafe {
        Writer::append(writer().0, what, || Hot::Free, |_, _| {});
    });
}

/// Appends a record of QS: see [`Record`].
pub(crate) fn append_record<const LEN: usize, const TIMED: bool>(bytes: &[u8; LEN], len: usize)
where
    for<'a> Append<'a>: From<Record<'a, LEN>>,
{
    append(Record { bytes, len, timed: TIMED }.into());
}

/// Statements are filtered out, or no longer.
pub(crate) fn mute(is_muted: bool) {
    MUTED.store(is_muted, Relaxed);
}

/// Bytes of the longest record that the ring is to hold.
pub(crate) const fn longest_record() -> usize {
    RING_SIZE / 8
}

/// Gives the time stamps a clock.
pub(crate) fn set_time(time: Time) {
    // SAFETY: inside a critical section.
    critical_section::with(|token| unsafe {
        TIME.borrow(token).set(Some(time));
        let (writer, header) = writer();
        Writer::set_clock(writer, Clock { now, marks: &NO_MARKS });
        (*header).set_time_width(4);
    });
}

/// The time for stamps; only called while a record is appended.
fn now() -> Ticks {
    let given = critical_section::with(|token| TIME.borrow(token).get());
    Ticks::Low(given.map_or(0, |time| time()))
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

/// Takes the next bytes of the stream that a link sends; how many. 0 when nothing is there.
///
/// The stream has the records and the closed frames of statements; [`flush`] closes the open one. What is overwritten
/// before it is taken is missing in it, and the sequence number of the next frame tells.
pub fn get_block(buffer: &mut [u8]) -> usize {
    // Short critical sections, so that interrupts are not kept off.
    const PIECE: usize = 32;
    let mut len = 0;
    for piece in buffer.chunks_mut(PIECE) {
        let taken = critical_section::with(|token| {
            let cell = TAKEN.borrow(token);
            let mut taken = cell.get();
            let count = take(&mut taken, piece);
            cell.set(taken);
            count
        });
        len += taken;
        if taken < piece.len() {
            break;
        }
    }
    len
}

/// Takes the next byte.
pub fn get_byte() -> Option<u8> {
    let mut byte = [0];
    (get_block(&mut byte) == 1).then_some(byte[0])
}

/// Closes the frame that statements are in, so that a link can take them.
pub fn flush() {
    append(Append::Close);
}

/// Takes bytes up to the end of the closed frames; inside a critical section.
fn take(taken: &mut Taken, into: &mut [u8]) -> usize {
    // SAFETY: inside a critical section; a masked position lies in the ring.
    let (head, kept, data) = unsafe {
        let header = writer().1;
        ((*header).head(), (*header).kept(), XHIST_RING.data.get().cast::<u8>())
    };
    if taken.position < kept {
        *taken = Taken { position: kept, skips: kept > 0 };
    }
    let mut len = 0;
    while let Some(place) = into.get_mut(len).filter(|_| taken.position < head) {
        // SAFETY: as above.
        let byte = unsafe { data.add(taken.position as usize & (RING_SIZE - 1)).read() };
        taken.position += 1;
        if taken.skips {
            taken.skips = byte != FLAG;
            continue;
        }
        *place = byte;
        len += 1;
    }
    len
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
