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

use super::interrupt;
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
/// Bytes that are added to the sum at a stretch.
const PIECE: usize = 8;
/// Pages from here on have no statements for the short path.
const FAR: u32 = 1 << 30;

/// All that the recorder keeps outside of the ring.
#[repr(C)]
pub(super) struct Writer {
    /// Where the next statement goes; from `limit` on, it takes the long way.
    cursor: *mut u8,
    limit: *mut u8,
    /// What the short path may add here, see [`key()`].
    key: u32,
    /// Positions of the data of the open frame and of the one before, their low halves.
    pub(super) data: u32,
    last: u32,
    /// How often the frame before came again.
    pub(super) folded: u32,
    /// The first is the one that the frame starts on.
    pages: [u32; PAGES],
    /// The program's clock.
    pub(super) time: Option<fn() -> u32>,
    /// The interrupt at the cursor, and at the start of the frame.
    interrupt: u16,
    first_interrupt: u16,
    /// Which of the pages is at the cursor, and which is given up next.
    place: u8,
    turn: u8,
    /// Bytes of data that `sum` has.
    summed: u8,
    pub(super) sum: u8,
    /// The sum of what stands before the data.
    pub(super) head_sum: u8,
    /// Bytes of data before the first statement's code.
    lead: u8,
    /// Bytes of data in the frame before; 0 when the open one is known not to be the same.
    last_len: u8,
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

/// A statement as the short path takes it, when its file and line are low enough: its page, and seven bits of code.
const fn near(site: Statement) -> Option<u32> {
    let page = page_of(site);
    if page < FAR { Some(page | (packed::code(site) & 0x7F) as u32) } else { None }
}

/// The number of a statement's page: nine bits above seven where that is enough for it.
const fn page_of(site: Statement) -> u32 {
    let (file, window) = (site.file as u32, (site.line / WINDOW) as u32);
    if file < 32 && window < 16 { file << 11 | window << 7 } else { FAR | file << 10 | window }
}

/// The page with this number.
pub(super) const fn page(number: u32) -> Page {
    let (file, window) = match number.checked_sub(FAR) {
        None => (number >> 11, number >> 7 & 15),
        Some(number) => (number >> 10, number & 0x3FF),
    };
    Page { file: file as u16, base: (window * WINDOW as u32) as u16 }
}

/// The words of this page's statements lie below it, at most 128, so that the difference has the statement's code in its
/// low byte.
fn key(page: u32) -> u32 {
    if page < FAR { marked(page) + 0x80 } else { page }
}

/// With the interrupt at hand in the upper half.
#[inline(always)]
fn marked(word: u32) -> u32 {
    word | u32::from(interrupt::at_hand()) << 16
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
    let values = [marked(word) as usize, WRITER.0.get().expose_provenance()];
    let is_done = masked_with(values, |[word, _]| {
        let writer = WRITER.0.get();
        // SAFETY: nobody else comes here while interrupts are masked. Below the limit lie two bytes of the open frame.
        unsafe {
            let code = (word as u32).wrapping_sub((*writer).key);
            let cursor = (*writer).cursor;
            let is_short = code >= 0x80u32.wrapping_neg() && cursor < (*writer).limit;
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
        record_slowly(word & !0x7F, word as u8 | 0x80);
    }
}

#[inline(never)]
extern "C" fn record_far(word: u32) {
    let site = Statement::from_word(word);
    record_slowly(page_of(site), packed::code(site));
}

/// In pieces, so that interrupts are not kept off for long. A handler in between finds everything in order and may do any of the rest.
#[cold]
#[inline(never)]
extern "C" fn record_slowly(page: u32, code: u8) {
    while !with(|writer| writer.advance(page, code)) {}
}

/// Statements are filtered out, or no longer.
pub(crate) fn mute(is_muted: bool) {
    with(|writer| {
        writer.is_muted = is_muted;
        writer.look_again();
    });
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
        turn: 0,
        summed: 0,
        sum: 0,
        head_sum: 0,
        lead: 0,
        last_len: 0,
        is_muted: false,
    };

    pub(super) fn is_open(&self) -> bool {
        !self.cursor.is_null()
    }

    /// The next statement takes the long way.
    pub(super) fn look_again(&mut self) {
        self.limit = self.cursor;
    }

    /// Bytes of data in the open frame.
    pub(super) fn len(&self) -> usize {
        memory::index(self.cursor).wrapping_sub(self.data) as usize & MASK
    }

    /// Records a statement, or does a piece of what has to be done before; whether the statement is recorded.
    fn advance(&mut self, page: u32, code: u8) -> bool {
        if self.is_muted {
            return true;
        }
        let interrupt = interrupt::number();
        if !self.is_open() {
            self.open(page, code, interrupt);
            return true;
        }
        let len = self.len();
        if !self.catch_up(len) {
            return false;
        }
        let is_head = page == self.pages[0]
            && interrupt == self.first_interrupt
            && code == memory::get(self.data.wrapping_add(self.lead.into()));
        if is_head && len == usize::from(self.last_len) {
            self.fold();
            return true;
        }
        if !(is_head && len >= ROOM - LOOK) && self.add(len, page, code, interrupt) {
            return true;
        }
        self.close();
        (self.last, self.last_len) = (self.data, len as u8);
        false
    }

    /// Brings sum and comparison a piece nearer to what the short path has written; whether they are there.
    pub(super) fn catch_up(&mut self, len: usize) -> bool {
        let end = len.min(usize::from(self.summed) + PIECE);
        let (ring, mut sum, mut last_len) = (memory::bytes(), self.sum, u32::from(self.last_len));
        for at in u32::from(self.summed)..end as u32 {
            let byte = ring.get(self.data.wrapping_add(at));
            sum = sum.wrapping_add(byte);
            if at >= last_len || byte != ring.get(self.last.wrapping_add(at)) {
                last_len = 0;
            }
        }
        (self.sum, self.last_len, self.summed) = (sum, last_len as u8, end as u8);
        end == len
    }

    /// Counts the open frame, which is the one before once more, and starts it anew with its first statement.
    fn fold(&mut self) {
        self.folded = self.folded.wrapping_add(1);
        let folded = Folded::new(memory::state().head(), self.folded.into());
        memory::set_folded(folded.counted());
        memory::put(self.data.wrapping_add(u32::from(self.lead) + 1), step::FREE);
        memory::set_folded(folded);
        self.start();
    }

    /// Adds a statement to the open frame; false when there is no room.
    fn add(&mut self, len: usize, page: u32, code: u8, interrupt: u16) -> bool {
        // The first byte last: until then, readers stop at the zero there.
        let start = self.data.wrapping_add(len as u32);
        let (mut at, mut first) = (start, step::FREE);
        let mut push = |byte| {
            if at == start {
                first = byte;
            } else {
                memory::put(at, byte);
            }
            at = at.wrapping_add(1);
        };
        if interrupt != self.interrupt {
            tell_interrupt(interrupt, &mut push);
        }
        let mut turn = self.turn;
        let place = match self.pages.iter().position(|known| *known == page) {
            Some(place) => {
                if place != usize::from(self.place) {
                    push(step::RECENT + place as u8);
                }
                place as u8
            }
            None => {
                turn = if usize::from(turn) + 1 < PAGES { turn + 1 } else { 1 };
                tell_page(page, turn, &mut push);
                turn
            }
        };
        push(code);
        let len = len + at.wrapping_sub(start) as usize;
        if len > ROOM {
            return false;
        }
        memory::put(at, step::FREE);
        memory::put(start, first);
        if let Some(known) = self.pages.get_mut(usize::from(place)) {
            *known = page;
        }
        (self.place, self.turn, self.interrupt) = (place, turn, interrupt);
        self.go_to(page, len);
        true
    }

    /// The frame has its first statement: it is on its first page, knows no other, and nothing of it is summed up.
    #[inline(never)]
    fn start(&mut self) {
        let first = self.pages[0];
        self.pages = [NONE; PAGES];
        self.pages[0] = first;
        (self.place, self.turn, self.interrupt) = (0, 0, self.first_interrupt);
        (self.sum, self.summed) = (self.head_sum, 0);
        self.go_to(first, usize::from(self.lead) + 1);
    }

    /// So many bytes of data are there.
    #[inline(never)]
    fn go_to(&mut self, page: u32, len: usize) {
        let last_len = usize::from(self.last_len);
        let mut end = if len < ROOM - LOOK { (len / SEGMENT + 1) * SEGMENT } else { len };
        if len < last_len {
            end = end.min(last_len);
        }
        let index = (self.data as usize + len) & MASK;
        // The zero behind a statement has to lie in one piece with it.
        let count = (end - len).min(MASK - index);
        self.key = key(page);
        self.cursor = memory::at(index);
        self.limit = self.cursor.wrapping_add(count);
    }

    /// Opens a frame with this statement.
    fn open(&mut self, page_number: u32, code: u8, interrupt: u16) {
        if page_number != self.pages[0] {
            self.last_len = 0;
        }
        (self.pages[0], self.first_interrupt, self.folded) = (page_number, interrupt, 0);
        let before = memory::state();
        let head_len = self.put_head(before, page(page_number));
        self.data = (before.head() as u32).wrapping_add(head_len as u32);
        let mut at = self.data;
        if interrupt != 0 {
            tell_interrupt(interrupt, &mut |byte| {
                memory::put(at, byte);
                at = at.wrapping_add(1);
            });
        }
        self.lead = at.wrapping_sub(self.data) as u8;
        memory::put(at, code);
        memory::put(at.wrapping_add(1), step::FREE);
        memory::set_state(before.with_open(head_len));
        self.start();
    }

    /// No frame is open.
    pub(super) fn stand(&mut self) {
        (self.cursor, self.limit) = (core::ptr::null_mut(), core::ptr::null_mut());
    }

    /// Whatever comes next, it does not stand behind the newest frame.
    pub(super) fn forget(&mut self) {
        self.last_len = 0;
    }
}

/// The step to an interrupt.
fn tell_interrupt(number: u16, push: &mut dyn FnMut(u8)) {
    push(step::INTERRUPT);
    digits(number.into(), push);
}

/// The step to a page that the frame does not keep.
fn tell_page(number: u32, place: u8, push: &mut dyn FnMut(u8)) {
    let page = page(number);
    push(step::PAGE);
    digits(place.into(), push);
    digits(page.file.into(), push);
    digits(page.base.into(), push);
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
                prop_assert!(word < 1 << 16);
                let code = word.wrapping_sub(key(page_of(site)));
                prop_assert_eq!((code >> 7, code as u8), (u32::MAX >> 7, packed::code(site)));
                prop_assert_eq!((word & !0x7F, word as u8 | 0x80), (page_of(site), packed::code(site)));
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
