//! Statements on bare metal: one ring, a short path that masks interrupts for some ten instructions, and a path for all
//! else.
//!
//! The frames are those of `docs/wire-format.md`, made in another way than hosted rings make them. The byte behind the
//! newest statement is always zero, so nothing is cleared ahead. The short path ends every [`SEGMENT`] bytes, and the other
//! one then brings the sum up to date and compares the frame with the one before.
//!
//! A frame ends early where its first statement comes again near its end, so that those of a steady loop are equal, and
//! all but the first of them are counted and not kept.

use core::cell::UnsafeCell;

use qs_core::record::Statement;
use qs_core::record::packed::{self, Page, WINDOW, step};
use qs_core::ring::{Folded, data_room};

use super::draft::Draft;
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
/// How often something is begun before interrupts are kept out: closing a frame and opening the next are two.
pub(super) const TRIES: usize = 8;
/// No page.
const NONE: u32 = u32::MAX;
/// Pages from here on have no statements for the short path.
pub(super) const FAR: u32 = 1 << 30;

/// All that the recorder keeps outside of the ring.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Writer {
    /// Where the next statement goes; from `limit` on, it takes the long way.
    cursor: *mut u8,
    limit: *mut u8,
    /// What the short path may add here, see [`key()`]; nothing while a draft is under way, whose mark it is then.
    pub(super) key: u32,
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
    pub(super) is_muted: bool,
}

struct Slot(UnsafeCell<Writer>);

// SAFETY: only touched while interrupts are masked.
unsafe impl Sync for Slot {}

static WRITER: Slot = Slot(UnsafeCell::new(Writer::NEW));

/// Does something to the writer, whose ring is laid out, with interrupts masked; `act` must not come back here. Drafts that are
/// under way begin anew, and the next statement takes the long way.
pub(super) fn with<R>(act: impl FnOnce(&mut Writer) -> R) -> R {
    with_any(|writer| {
        writer.key = NONE;
        act(writer)
    })
}

/// The same for who does not change it, or sees to drafts.
#[inline(always)]
pub(super) fn with_any<R>(act: impl FnOnce(&mut Writer) -> R) -> R {
    memory::lay_out();
    with_laid_out(act)
}

/// The same where the ring is known to be laid out.
#[inline(always)]
pub(super) fn with_laid_out<R>(act: impl FnOnce(&mut Writer) -> R) -> R {
    // SAFETY: nobody else comes here while interrupts are masked.
    masked(|| act(unsafe { &mut *WRITER.0.get() }))
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
    if page < FAR { marked(page) + 0x80 } else { NONE }
}

/// With the interrupt at hand in the upper half.
#[inline(always)]
fn marked(word: u32) -> u32 {
    word | u32::from(interrupt::at_hand()) << 16
}

/// Records that this statement is about to run.
#[inline(always)]
pub(crate) fn record<const FILE: u16, const LINE: u16, const NUMBER: u32>() {
    match const { near(Statement { file: FILE, line: LINE }) } {
        Some(word) => record_near(word),
        None => record_far(const { Statement { file: FILE, line: LINE }.to_word() }),
    }
}

/// As [`record`], for a statement that is known at run time only.
#[inline(always)]
pub(crate) fn record_at(site: Statement) {
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

/// Interrupts come in nearly everywhere, and what a handler records stands before this statement. They are kept out only when they
/// come so fast that it would never be its turn.
#[cold]
#[inline(never)]
extern "C" fn record_slowly(page: u32, code: u8) {
    let mut draft = Draft::EMPTY;
    for _ in 0..TRIES {
        draft.begin();
        if draft.writer.is_muted {
            return;
        }
        let is_last = draft.advance(page, code);
        if draft.commit() && is_last {
            return;
        }
    }
    masked(|| record_slowly(page, code));
}

/// Statements are filtered out, or no longer; recording was stopped or started. Looked at while no handler may change it.
pub(crate) fn heed_filters() {
    with(|writer| writer.is_muted = crate::qs::is_frozen() || !crate::qs::wants_statements());
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

    /// Bytes of data in the open frame.
    pub(super) fn len(&self) -> usize {
        memory::index(self.cursor).wrapping_sub(self.data) as usize & MASK
    }

    /// Brings sum and comparison up to date with what the short path has written.
    pub(super) fn catch_up(&mut self, len: usize) {
        let ring = memory::bytes();
        for at in self.summed..len as u8 {
            let byte = ring.get(self.data.wrapping_add(at.into()));
            self.sum = self.sum.wrapping_add(byte);
            if at >= self.last_len || byte != ring.get(self.last.wrapping_add(at.into())) {
                self.last_len = 0;
            }
        }
        self.summed = len as u8;
    }

    /// The frame has its first statement: it is on its first page, knows no other, and nothing of it is summed up. How long its
    /// data is.
    fn start(&mut self) -> usize {
        let first = self.pages[0];
        self.pages = [NONE; PAGES];
        self.pages[0] = first;
        (self.place, self.turn, self.interrupt) = (0, 0, self.first_interrupt);
        (self.sum, self.summed) = (self.head_sum, 0);
        usize::from(self.lead) + 1
    }

    /// So many bytes of data are there.
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

    /// No frame is open.
    pub(super) fn stand(&mut self) {
        (self.cursor, self.limit) = (core::ptr::null_mut(), core::ptr::null_mut());
    }

    /// Whatever comes next, it does not stand behind the newest frame.
    pub(super) fn forget(&mut self) {
        self.last_len = 0;
    }
}

impl Draft {
    /// Lists a statement, or the end of the frame where it has no room; whether the statement is done with.
    fn advance(&mut self, page: u32, code: u8) -> bool {
        let interrupt = interrupt::number();
        let added = if self.writer.is_open() {
            let len = self.writer.len();
            self.writer.catch_up(len);
            let writer = &self.writer;
            let is_head = page == writer.pages[0]
                && interrupt == writer.first_interrupt
                && code == memory::get(writer.data.wrapping_add(writer.lead.into()));
            if is_head && len == usize::from(writer.last_len) {
                self.fold();
                None
            } else {
                let is_end = is_head && len >= ROOM - LOOK;
                let added = if is_end { None } else { self.add(len, page, code, interrupt) };
                if added.is_none() {
                    self.close(len);
                    (self.writer.last, self.writer.last_len) = (self.writer.data, len as u8);
                    return false;
                }
                added
            }
        } else {
            self.open(page, code, interrupt);
            None
        };
        let len = added.unwrap_or_else(|| self.writer.start());
        self.writer.go_to(page, len);
        true
    }

    /// Counts the open frame, which is the one before once more, and starts it anew with its first statement.
    fn fold(&mut self) {
        let writer = &mut self.writer;
        writer.folded = writer.folded.wrapping_add(1);
        self.folded = Some(Folded::new(self.state.head(), self.writer.folded.into()));
        self.write_at(self.writer.data.wrapping_add(u32::from(self.writer.lead) + 1));
        self.push(step::FREE);
    }

    /// Adds a statement to the open frame; how long its data is then, when there is room.
    fn add(&mut self, len: usize, page: u32, code: u8, interrupt: u16) -> Option<usize> {
        // Until the first byte is there, readers stop at the zero in its place.
        self.write_at(self.writer.data.wrapping_add(len as u32));
        if interrupt != self.writer.interrupt {
            self.tell_interrupt(interrupt);
        }
        let place = match self.writer.pages.iter().position(|known| *known == page) {
            Some(place) => {
                if place != usize::from(self.writer.place) {
                    self.push(step::RECENT + place as u8);
                }
                place
            }
            None => {
                let turn = usize::from(self.writer.turn);
                let place = if turn + 1 < PAGES { turn + 1 } else { 1 };
                self.writer.turn = place as u8;
                self.tell_page(page, place as u8);
                place
            }
        };
        self.push(code);
        let len = len + self.len;
        if len > ROOM {
            return None;
        }
        self.push(step::FREE);
        if let Some(known) = self.writer.pages.get_mut(place) {
            *known = page;
        }
        (self.writer.place, self.writer.interrupt) = (place as u8, interrupt);
        Some(len)
    }

    /// Opens a frame with this statement.
    fn open(&mut self, page_number: u32, code: u8, interrupt: u16) {
        if page_number != self.writer.pages[0] {
            self.writer.last_len = 0;
        }
        let writer = &mut self.writer;
        (writer.pages[0], writer.first_interrupt, writer.folded) = (page_number, interrupt, 0);
        self.head(page(page_number));
        let head_len = self.len;
        if interrupt != 0 {
            self.tell_interrupt(interrupt);
        }
        self.writer.lead = (self.len - head_len) as u8;
        self.push(code);
        self.push(step::FREE);
    }

    /// The step to an interrupt.
    fn tell_interrupt(&mut self, number: u16) {
        self.push(step::INTERRUPT);
        self.digits(number.into());
    }

    /// The step to a page that the frame does not keep.
    fn tell_page(&mut self, number: u32, place: u8) {
        let page = page(number);
        self.push(step::PAGE);
        self.digits(place.into());
        self.digits(page.file.into());
        self.digits(page.base.into());
    }
}

/// The bytes of a number behind a step, as [`packed::digits`] of 64 bits.
pub(super) fn digits(mut value: u32, mut push: impl FnMut(u8)) {
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
            digits(value, |byte| ours.push(byte));
            packed::digits(value.into(), |byte| theirs.push(byte));
            prop_assert_eq!(ours, theirs);
        }
    }
}
