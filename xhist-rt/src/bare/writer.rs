//! What the recorder keeps outside of the ring on bare metal, and access to it with interrupts masked.

use core::cell::UnsafeCell;

use qs_core::record::packed::step;
use qs_core::ring::data_room;

use super::cores::{self, CORES};
use super::header::Header;
use super::mask::masked;
use super::memory::{self, MASK, RING_SIZE};

/// Bytes of data in a frame.
pub(super) const ROOM: usize = data_room(RING_SIZE);
/// The first statement of a frame may come again this number of bytes before or behind the place where it is expected,
/// because the first steps to pages are longer than the later ones.
pub(super) const SLACK: usize = 4;
/// Number of pages that a frame can select by number.
pub(super) const PAGES: usize = 5;
/// Number of attempts before interrupts are masked for the whole operation. Closing a frame and opening the next are two.
pub(super) const TRIES: usize = 8;
/// No page.
pub(super) const NONE: u32 = u32::MAX;
/// Statements of pages from this number on never take the fast path. Its bit is above those of page and interrupt.
pub(super) const FAR: u32 = 1 << 30;

/// The recorder's data outside of the ring.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Writer {
    /// Address of the next statement. From `limit` on, it takes the slow path.
    pub(super) cursor: *mut u8,
    pub(super) limit: *mut u8,
    /// Key of the page for the fast path, see [`key()`]. During a draft, the draft's mark, which closes the fast path.
    pub(super) key: u32,
    /// Low halves of the positions of the data in the open frame and in the previous one.
    pub(super) data: u32,
    pub(super) last: u32,
    /// Number of repetitions of the previous frame.
    pub(super) folded: u32,
    /// The pages with numbers. The first is the one at the frame's start.
    pub(super) pages: [u32; PAGES],
    /// The program's clock.
    pub(super) time: Option<fn() -> u32>,
    /// The interrupts at the cursor and at the start of the frame.
    pub(super) interrupt: u16,
    pub(super) first_interrupt: u16,
    /// Number of the page at the cursor.
    pub(super) place: u8,
    /// Number of bytes of data in `sum`.
    pub(super) summed: u8,
    pub(super) sum: u8,
    /// The sum of the bytes before the data.
    pub(super) head_sum: u8,
    /// Length of the previous frame's data. 0 if the open frame is known to be different.
    pub(super) last_len: u8,
    /// Where the first statement of the open frame ran again last, in bytes of data. 0 = nowhere.
    pub(super) again: u8,
    /// Length from which the open frame ends when its first statement comes again.
    pub(super) look: u8,
    pub(super) is_muted: bool,
}

/// Bytes behind each writer of several, so its place is a shift away.
const SPARE: usize =
    if CORES > 1 { size_of::<Writer>().next_power_of_two() - size_of::<Writer>() } else { 0 };

#[repr(C)]
struct Slot {
    writer: UnsafeCell<Writer>,
    spare: [u8; SPARE],
}

/// The writer of each core.
pub(super) struct Writers([Slot; CORES]);

// SAFETY: a core touches its own writer only, and only while its interrupts are masked.
unsafe impl Sync for Writers {}

impl Writers {
    /// The writer of this core, to be accessed only while interrupts are masked. `None` if the program has fewer rings than
    /// the chip has cores.
    #[inline(always)]
    pub(super) fn own(&self) -> Option<*mut Writer> {
        self.0.get(cores::current()).map(|slot| slot.writer.get())
    }

    /// Address of the first writer.
    #[inline(always)]
    pub(super) fn address(&self) -> usize {
        self.0.as_ptr().expose_provenance()
    }
}

pub(super) static WRITERS: Writers =
    Writers([const { Slot { writer: UnsafeCell::new(Writer::NEW), spare: [0; SPARE] } }; CORES]);

/// Calls `act` with the writer, with interrupts masked and the ring initialised. `act` must not call this again. Drafts in
/// progress start again, and the next statement takes the slow path.
pub(super) fn with<R>(act: impl FnOnce(&mut Writer) -> R) -> R {
    with_any(|writer| {
        writer.key = NONE;
        act(writer)
    })
}

/// [`with`] for callers that do not change the writer, or that handle drafts.
#[inline(always)]
pub(super) fn with_any<R>(act: impl FnOnce(&mut Writer) -> R) -> R {
    if memory::lay_out() {
        start_clock();
    }
    with_laid_out(act)
}

/// Stamps come from the core's counter, unless the program has set a clock.
#[cfg(feature = "cycles")]
#[cold]
fn start_clock() {
    if let Some(time) = super::cycles::start() {
        with_laid_out(|writer| _ = writer.time.get_or_insert(time));
        change_headers(|header| header.set_time_width(4));
    }
}

#[cfg(not(feature = "cycles"))]
#[inline(always)]
fn start_clock() {}

/// [`with_any`] if the ring is known to be initialised.
#[inline(always)]
pub(super) fn with_laid_out<R>(act: impl FnOnce(&mut Writer) -> R) -> R {
    masked(|| match WRITERS.own() {
        // SAFETY: interrupts are masked and `act` does not call this function, so the reference is the only one.
        Some(writer) => act(unsafe { &mut *writer }),
        None => act(&mut Writer { is_muted: true, ..Writer::NEW }),
    })
}

/// Calls `act` with the header of each ring that is written. No other core changes them meanwhile.
pub(super) fn change_headers(act: impl Fn(&Header)) {
    cores::between(|| with_any(|_| memory::headers().for_each(act)));
}

/// Applies a change of the filters, or of whether recording is stopped. Reads both while handlers cannot change them. Other cores
/// notice it in their slow path, at most [`SEGMENT`](super::statement) bytes later.
pub(crate) fn apply_filters() {
    with(|writer| {
        if cfg!(not(feature = "multi-core")) {
            writer.is_muted = is_unwanted();
        }
    });
}

/// Whether the filters keep statements out.
pub(super) fn is_unwanted() -> bool {
    crate::filters::is_frozen() || !crate::filters::wants_statements()
}

impl Writer {
    pub(super) const NEW: Writer = Writer {
        cursor: core::ptr::null_mut(),
        limit: core::ptr::null_mut(),
        key: 0,
        data: 0,
        last: 0,
        folded: 0,
        pages: [0; PAGES],
        time: None,
        interrupt: 0,
        first_interrupt: 0,
        place: 0,
        summed: 0,
        sum: 0,
        head_sum: 0,
        last_len: 0,
        again: 0,
        look: 0,
        // With several cores this is for those without a ring.
        is_muted: crate::filters::WAITS && cfg!(not(feature = "multi-core")),
    };

    pub(super) fn is_open(&self) -> bool {
        !self.cursor.is_null()
    }

    /// Length of the open frame's data in bytes.
    pub(super) fn len(&self) -> usize {
        memory::index(self.cursor).wrapping_sub(self.data) as usize & MASK
    }

    /// Number of bytes of data before the code of the first statement: those of the step to its interrupt.
    pub(super) fn lead(&self) -> usize {
        let number = self.first_interrupt;
        match number {
            0 => 0,
            _ => 2 + usize::from(number > 0x1F) + usize::from(number > 0x3FF) + usize::from(number > 0x7FFF),
        }
    }

    /// Updates sum and comparison with the bytes that the fast path has written.
    pub(super) fn catch_up(&mut self, len: usize) {
        let ring = memory::bytes();
        // All new statements are on the page at the cursor.
        let first = match self.place {
            0 => ring.get(self.data.wrapping_add(self.lead() as u32)),
            _ => step::FREE,
        };
        for at in self.summed..len as u8 {
            let byte = ring.get(self.data.wrapping_add(at.into()));
            self.sum = self.sum.wrapping_add(byte);
            // The next frame must have room until there.
            if byte == first && usize::from(at) + 2 * SLACK <= ROOM {
                self.again = at;
            }
            if at >= self.last_len || byte != ring.get(self.last.wrapping_add(at.into())) {
                self.last_len = 0;
            }
        }
        self.summed = len as u8;
    }

    /// Marks that no frame is open.
    pub(super) fn set_closed(&mut self) {
        (self.cursor, self.limit) = (core::ptr::null_mut(), core::ptr::null_mut());
    }

    /// Whether this is the writer of a core without a ring.
    pub(super) fn is_of_no_ring(&self) -> bool {
        cfg!(feature = "multi-core") && self.is_muted
    }

    /// The time, for a frame or a record. 0 without a clock.
    pub(super) fn now(&self) -> u32 {
        #[cfg(feature = "multi-core")]
        let clock = cores::clock();
        #[cfg(not(feature = "multi-core"))]
        let clock = self.time;
        clock.map_or(0, |time| time().max(1))
    }

    /// Forgets the previous frame, because the next one does not follow it.
    pub(super) fn forget(&mut self) {
        self.last_len = 0;
    }
}
