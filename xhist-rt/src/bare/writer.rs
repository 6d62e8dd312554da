//! Statements on bare metal: one ring, a short path that masks interrupts for some ten instructions, and a path for all
//! else.
//!
//! The frames are those of `docs/wire-format.md`, made in another way than hosted rings make them. The byte behind the
//! newest statement is always zero, so nothing is cleared ahead. What takes long is done in pieces: the short path ends
//! every [`SEGMENT`] bytes, and the other one then brings the sum up to date and compares the frame with the one before.
//!
//! A frame ends early where its first statement comes again near its end, so that those of a steady loop are equal, and
//! all but the first of them are counted and not kept.

use core::cell::UnsafeCell;

use qs_core::record::Statement;
use qs_core::record::packed::{self, Page, WINDOW, step};
use qs_core::ring::{Folded, data_room};

use super::mask::{masked, masked_with};
use super::memory::{self, MASK};

/// Bytes of data in a frame.
pub(super) const ROOM: usize = data_room(super::RING_SIZE);
/// Bytes of a frame's end in which it is closed when its first statement comes.
const LOOK: usize = if ROOM / 4 < 32 { ROOM / 4 } else { 32 };
/// Bytes that the short path writes at most before the sum is brought up to date.
const SEGMENT: usize = 32;
/// Pages that a frame keeps at hand.
const PAGES: usize = 5;
/// No page.
const NONE: u32 = u32::MAX;
/// Most bytes that one statement takes: a step to a page and its own.
const LONGEST: usize = 12;

/// All that the recorder keeps outside of the ring.
#[repr(C)]
pub(super) struct Writer {
    /// Where the next statement goes; from `limit` on, it takes the long way.
    cursor: *mut u8,
    limit: *mut u8,
    /// The page at the cursor.
    page: u32,
    /// The page that the frame starts on.
    first: u32,
    /// Positions of the data of the open frame and of the one before, their low halves.
    pub(super) data: u32,
    last: u32,
    /// How often the frame before came again.
    pub(super) folded: u32,
    pages: [u32; PAGES],
    /// The program's clock.
    pub(super) time: Option<fn() -> u32>,
    /// Bytes of data that `sum` has.
    summed: u8,
    pub(super) sum: u8,
    /// The sum of what stands before the data.
    pub(super) head_sum: u8,
    /// Bytes of data in the frame before; 0 when the open one cannot be compared with it.
    last_len: u8,
    /// Which page is given up next.
    turn: u8,
    /// So far the open frame is the one before once more.
    is_same: bool,
    pub(super) is_open: bool,
    is_muted: bool,
}

struct Slot(UnsafeCell<Writer>);

// SAFETY: only touched while interrupts are masked.
unsafe impl Sync for Slot {}

static WRITER: Slot = Slot(UnsafeCell::new(Writer::NEW));

/// Does something to the writer, whose ring is laid out, with interrupts masked; `act` must not come back here.
pub(super) fn with<R>(act: impl FnOnce(&mut Writer) -> R) -> R {
    masked(|| {
        memory::lay_out();
        // SAFETY: nobody else comes here while interrupts are masked.
        act(unsafe { &mut *WRITER.0.get() })
    })
}

/// A statement as the short path takes it, when its file and line are low enough: seven bits of code, nine of page.
const fn near(site: Statement) -> Option<u32> {
    let window = site.line / WINDOW;
    if site.file < 32 && window < 16 {
        Some((page_of(site) << 7) | (packed::code(site) & 0x7F) as u32)
    } else {
        None
    }
}

/// The number of a statement's page: below 512 where that is enough for it.
const fn page_of(site: Statement) -> u32 {
    let (file, window) = (site.file as u32, (site.line / WINDOW) as u32);
    if file < 32 && window < 16 { file << 4 | window } else { 512 + (file << 10 | window) }
}

/// The page with this number.
pub(super) const fn page(number: u32) -> Page {
    let (file, window) = match number.checked_sub(512) {
        None => (number >> 4, number & 15),
        Some(number) => (number >> 10, number & 0x3FF),
    };
    Page { file: file as u16, base: (window * WINDOW as u32) as u16 }
}

/// Records that a statement is about to run.
#[inline(always)]
pub(crate) fn record(site: Statement) {
    match near(site) {
        Some(word) => record_near(word),
        None => record_far(site.to_word()),
    }
}

/// One constant of 16 bits and a call: eight bytes of code at most places.
#[inline(never)]
extern "C" fn record_near(word: u32) {
    // Only the low byte of the code counts.
    let (page, code) = (word >> 7, word | 0x80);
    let values = [page as usize, code as usize, WRITER.0.get().expose_provenance()];
    let is_done = masked_with(values, |[page, code, _]| {
        let writer = WRITER.0.get();
        // SAFETY: nobody else comes here while interrupts are masked. Below the limit lie two bytes of the open frame.
        unsafe {
            let cursor = (*writer).cursor;
            let is_short = (*writer).page == page as u32 && cursor < (*writer).limit;
            if is_short {
                // The zero first: readers stop there.
                cursor.add(1).write_volatile(step::FREE);
                cursor.write_volatile(code as u8);
                (*writer).cursor = cursor.add(1);
            }
            is_short
        }
    });
    if !is_done {
        record_slowly(page, code as u8);
    }
}

#[inline(never)]
extern "C" fn record_far(word: u32) {
    let site = Statement::from_word(word);
    record_slowly(page_of(site), packed::code(site));
}

#[cold]
#[inline(never)]
extern "C" fn record_slowly(page: u32, code: u8) {
    with(|writer| writer.statement(page, code));
}

/// Statements are filtered out, or no longer.
pub(crate) fn mute(is_muted: bool) {
    with(|writer| {
        writer.is_muted = is_muted;
        writer.limit = writer.cursor;
    });
}

impl Writer {
    pub(super) const NEW: Writer = Writer {
        cursor: core::ptr::null_mut(),
        limit: core::ptr::null_mut(),
        page: 0,
        first: 0,
        data: 0,
        last: 0,
        folded: 0,
        pages: [0; PAGES],
        time: None,
        summed: 0,
        sum: 0,
        head_sum: 0,
        last_len: 0,
        turn: 0,
        is_same: false,
        is_open: false,
        is_muted: false,
    };

    /// Bytes of data in the open frame.
    pub(super) fn len(&self) -> usize {
        memory::index(self.cursor).wrapping_sub(self.data) as usize & MASK
    }

    fn statement(&mut self, page: u32, code: u8) {
        if self.is_muted {
            return;
        }
        if self.is_open {
            let len = self.len();
            self.catch_up(len);
            let is_head = page == self.first && code == memory::get(self.data);
            if is_head && self.is_same && len == usize::from(self.last_len) {
                return self.fold();
            }
            if !(is_head && len >= ROOM - LOOK) && self.add(len, page, code) {
                return;
            }
        }
        self.open(page, code);
    }

    /// Brings sum and comparison up to date with what the short path has written.
    pub(super) fn catch_up(&mut self, len: usize) {
        for at in u32::from(self.summed)..len as u32 {
            let byte = memory::get(self.data.wrapping_add(at));
            self.sum = self.sum.wrapping_add(byte);
            self.is_same &= at < u32::from(self.last_len) && byte == memory::get(self.last.wrapping_add(at));
        }
        self.summed = len as u8;
    }

    /// Counts the open frame, which is the one before once more, and starts it anew with its first statement.
    fn fold(&mut self) {
        self.folded = self.folded.wrapping_add(1);
        let folded = Folded::new(memory::state().head(), self.folded.into());
        memory::set_folded(folded.counted());
        memory::put(self.data.wrapping_add(1), step::FREE);
        memory::set_folded(folded);
        (self.sum, self.summed, self.is_same) = (self.head_sum, 0, true);
        self.forget_pages();
        self.go_to(1);
    }

    /// Adds a statement to the open frame; false when there is no room.
    fn add(&mut self, len: usize, page: u32, code: u8) -> bool {
        let mut bytes = [0; LONGEST];
        let mut count = 0;
        let mut push = |byte| {
            if let Some(place) = bytes.get_mut(count) {
                *place = byte;
                count += 1;
            }
        };
        if page != self.page {
            match self.pages.iter().position(|known| *known == page) {
                Some(number) => push(step::RECENT + number as u8),
                None => self.tell_page(page, &mut push),
            }
        }
        push(code);
        if len + count > ROOM {
            return false;
        }
        // From the last byte to the first: nothing is there before all is.
        let at = self.data.wrapping_add(len as u32);
        memory::put(at.wrapping_add(count as u32), step::FREE);
        for (index, byte) in bytes.iter().enumerate().take(count).rev() {
            memory::put(at.wrapping_add(index as u32), *byte);
        }
        self.page = page;
        self.go_to(len + count);
        true
    }

    /// The step to a page that the frame does not keep.
    fn tell_page(&mut self, number: u32, push: &mut dyn FnMut(u8)) {
        self.turn = if usize::from(self.turn) + 1 < PAGES { self.turn + 1 } else { 1 };
        if let Some(place) = self.pages.get_mut(usize::from(self.turn)) {
            *place = number;
        }
        let page = page(number);
        push(step::PAGE);
        digits(self.turn.into(), push);
        digits(page.file.into(), push);
        digits(page.base.into(), push);
    }

    /// As at the start of a frame: on its first page, and knowing no other.
    #[inline(never)]
    fn forget_pages(&mut self) {
        self.pages = [NONE; PAGES];
        self.pages[0] = self.first;
        (self.page, self.turn) = (self.first, 0);
    }

    /// So many bytes of data are there.
    #[inline(never)]
    fn go_to(&mut self, len: usize) {
        let last_len = usize::from(self.last_len);
        let mut end = if len < ROOM - LOOK { (len / SEGMENT + 1) * SEGMENT } else { len };
        if self.is_same && len < last_len {
            end = end.min(last_len);
        }
        let index = (self.data as usize + len) & MASK;
        // The zero behind a statement has to lie in one piece with it.
        let count = (end - len).min(MASK - index);
        self.cursor = memory::at(index);
        self.limit = self.cursor.wrapping_add(count);
    }

    /// Closes the open frame, and opens one with this statement.
    fn open(&mut self, page_number: u32, code: u8) {
        let len = if self.is_open { self.len() } else { 0 };
        let (before, seal) = self.close();
        self.is_same = self.is_open && self.first == page_number;
        (self.last, self.last_len) = (self.data, len as u8);
        let head_len = self.put_head(before, page(page_number));
        self.data = (before.head() as u32).wrapping_add(head_len as u32);
        memory::put(self.data, code);
        memory::put(self.data.wrapping_add(1), step::FREE);
        seal.put();
        memory::set_state(before.with_open(head_len));
        (self.sum, self.summed, self.folded) = (self.head_sum, 0, 0);
        (self.first, self.is_open) = (page_number, true);
        self.forget_pages();
        self.go_to(1);
    }

    /// No frame is open.
    pub(super) fn stand(&mut self) {
        (self.cursor, self.limit) = (core::ptr::null_mut(), core::ptr::null_mut());
        (self.is_open, self.folded) = (false, 0);
    }
}

/// The bytes of a number behind a step, as [`packed::digits`] of 64 bits.
#[inline(never)]
pub(super) fn digits(mut value: u32, push: &mut dyn FnMut(u8)) {
    while value >= 0x20 {
        push(0x21 + (value & 0x1F) as u8);
        value >>= 5;
    }
    push(1 + value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_page_number_is_its_page(file: u16, line: u16) {
            let site = Statement { file, line };
            prop_assert_eq!(page(page_of(site)), Page::of(site));
            if let Some(word) = near(site) {
                prop_assert_eq!((word >> 7, word as u8 | 0x80), (page_of(site), packed::code(site)));
                prop_assert!(word < 1 << 16);
            }
        }

        #[test]
        fn digits_are_those_of_the_wire_format(value: u32) {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            digits(value, &mut |byte| ours.push(byte));
            packed::digits(value.into(), |byte| theirs.push(byte));
            prop_assert_eq!(ours, theirs);
        }
    }
}
