//! What the recorder keeps outside of the ring on bare metal, and access to it with interrupts masked.

use core::cell::UnsafeCell;

use qs_core::record::packed::step;
use qs_core::ring::data_room;

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

pub(super) struct WriterCell(UnsafeCell<Writer>);

// SAFETY: only touched while interrupts are masked.
unsafe impl Sync for WriterCell {}

impl WriterCell {
    /// The writer, to be accessed only while interrupts are masked.
    #[inline(always)]
    pub(super) const fn get(&self) -> *mut Writer {
        self.0.get()
    }
}

pub(super) static WRITER: WriterCell = WriterCell(UnsafeCell::new(Writer::NEW));

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
        with_laid_out(|writer| {
            writer.time.get_or_insert(time);
            memory::set_time_width(4);
        });
    }
}

#[cfg(not(feature = "cycles"))]
#[inline(always)]
fn start_clock() {}

/// [`with_any`] if the ring is known to be initialised.
#[inline(always)]
pub(super) fn with_laid_out<R>(act: impl FnOnce(&mut Writer) -> R) -> R {
    // SAFETY: interrupts are masked and `act` does not call this function, so the reference is the only one.
    masked(|| act(unsafe { &mut *WRITER.get() }))
}

/// Applies a change of the filters, or of whether recording is stopped. Reads both while handlers cannot change them.
pub(crate) fn apply_filters() {
    with(|writer| writer.is_muted = crate::filters::is_frozen() || !crate::filters::wants_statements());
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
        is_muted: false,
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

    /// Forgets the previous frame, because the next one does not follow it.
    pub(super) fn forget(&mut self) {
        self.last_len = 0;
    }
}
