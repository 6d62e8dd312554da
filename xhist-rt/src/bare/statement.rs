//! Statements on bare metal: one ring, a short path that masks interrupts for some ten instructions, and a path for all
//! else.
//!
//! The frames are those of `docs/wire-format.md`, made in another way than hosted rings make them. The byte behind the
//! newest statement is always zero, so nothing is cleared ahead. The short path ends every [`SEGMENT`] bytes. The other
//! path then updates the sum and compares the frame with the previous one.
//!
//! A frame ends early if its first statement runs again near its end, or where that is expected by the frame before it. So
//! the frames of a steady loop are equal, and all but the first of them are counted and not kept.

use qs_core::inserted::{StatementNumber, WordWidth};
use qs_core::record::packed::{self, Page, WINDOW, step};
use qs_core::record::{Statement, TaskMark};
use qs_core::ring::Folded;

use super::draft::FrameDraft;
use super::interrupt;
use super::mask::{masked, masked_with};
use super::memory::{self, MASK};
use super::writer::{FAR, NONE, PAGES, ROOM, SLACK, TRIES, WRITERS, Writer, with_any};

/// Length of a frame's end in which its first statement closes it, in bytes.
const LOOK: usize = if ROOM / 4 < 16 { ROOM / 4 } else { 16 };
/// Largest number of bytes that the fast path writes before the sum is updated.
const SEGMENT: usize = 32;

/// The word of a statement for the fast path: its page, and seven bits of its code. `None` if file or line are too high.
///
/// Other crates can inline this and what it calls, so the result is a constant without link-time optimisation, too.
#[inline]
const fn near(site: Statement) -> Option<u32> {
    let page = page_of(site);
    if page < FAR { Some(page | (packed::code(site) & 0x7F) as u32) } else { None }
}

/// The number of a statement's page. Pages of the first 32 files need 16 bits with the code, so the word is a short constant.
/// The higher bits of 1,024 files are above those of the interrupt.
#[inline]
const fn page_of(site: Statement) -> u32 {
    let (file, window) = (site.file as u32, (site.line / WINDOW) as u32);
    if file < 1024 && window < 16 {
        file >> 5 << 25 | (file & 31) << 11 | window << 7
    } else {
        far_page_of(site)
    }
}

#[inline]
const fn far_page_of(site: Statement) -> u32 {
    FAR | (site.file as u32) << 10 | (site.line / WINDOW) as u32
}

/// The page with this number.
pub(super) const fn page(number: u32) -> Page {
    let (file, window) = match number.checked_sub(FAR) {
        None => (number >> 25 << 5 | number >> 11 & 31, number >> 7 & 15),
        Some(number) => (number >> 10, number & 0x3FF),
    };
    Page { file: file as u16, base: (window * WINDOW as u32) as u16 }
}

/// The key of a page. The words of the page's statements are at most 128 below it, so the low byte of the difference is the
/// statement's code.
fn key(page: u32) -> u32 {
    if page < FAR { marked(page) + 0x80 } else { NONE }
}

/// A word with the current interrupt in its upper half.
#[inline(always)]
fn marked(word: u32) -> u32 {
    word | u32::from(interrupt::at_hand()) << 16
}

/// File and line of the newest statement, if the code that calls this ran it: not an interrupt, and no mark of a task.
#[inline(never)]
pub(crate) fn newest() -> Option<(u16, u16)> {
    let interrupt = interrupt::number();
    with_any(|writer| {
        let is_own = writer.is_open() && writer.interrupt == interrupt;
        let byte = memory::get(memory::index(writer.cursor).wrapping_sub(1));
        let number = writer.pages.get(usize::from(writer.place)).filter(|_| is_own)?;
        let statement =
            page(*number).statement(byte).filter(|statement| TaskMark::of(*statement).is_none())?;
        Some((statement.file, statement.line))
    })
}

/// Records a statement that is about to run. Its number is that of a call with a long word, or with a short one.
///
/// Unoptimised code calls this, so there a statement is its number and a call.
#[inline]
pub(crate) fn record<const IS_LONG: bool>(number: u64) {
    let width = if IS_LONG { WordWidth::Long } else { WordWidth::Short };
    record_at(StatementNumber { value: number, width }.statement());
}

/// [`record`] for a statement by file and line.
#[inline]
pub(crate) fn record_at(site: Statement) {
    match near(site) {
        Some(word) => record_near(word),
        None => record_far(site.to_word()),
    }
}

/// At most call sites, this is a constant of 16 bits and a call: eight bytes of code. Behind 32 files it is a constant of 32
/// bits, and twelve bytes.
#[inline(never)]
extern "C" fn record_near(word: u32) {
    let values = [marked(word) as usize, WRITERS.address()];
    let is_done = masked_with(values, |[word, _]| {
        let Some(writer) = WRITERS.own() else { return false };
        // SAFETY: interrupts are masked, so there is no other access. Below the limit there are two bytes of the open frame.
        unsafe {
            let code = (word as u32).wrapping_sub((*writer).key);
            let cursor = (*writer).cursor;
            let is_short = code >= 0x80u32.wrapping_neg() && cursor < (*writer).limit;
            if is_short {
                // The zero first, because readers stop there.
                cursor.add(1).write_volatile(step::FREE);
                cursor.write_volatile(code as u8);
                (*writer).cursor = cursor.add(1);
            }
            is_short
        }
    });
    if !is_done {
        record_slow(word & !0x7F, word as u8 | 0x80);
    }
}

#[inline(never)]
extern "C" fn record_far(word: u32) {
    let site = Statement::from_word(word);
    record_slow(far_page_of(site), packed::code(site));
}

/// The slow path. Interrupts stay enabled nearly everywhere; statements of a handler come before this one. Interrupts are
/// masked for the whole operation only after several interrupted attempts.
#[cold]
#[inline(never)]
extern "C" fn record_slow(page: u32, code: u8) {
    let mut draft = FrameDraft::new();
    for _ in 0..TRIES {
        draft.begin();
        if draft.writer.is_muted {
            #[cfg(feature = "multi-core")]
            memory::count_if_of_no_ring();
            return;
        }
        let is_last = draft.advance(page, code);
        if draft.commit() && is_last {
            return;
        }
    }
    masked(|| record_slow(page, code));
}

impl Writer {
    /// Resets the frame to its first statement: one page, and no data in the sum. Returns the length of its data.
    pub(super) fn start(&mut self) -> usize {
        let first = self.pages[0];
        self.pages = [NONE; PAGES];
        self.pages[0] = first;
        (self.place, self.interrupt) = (0, self.first_interrupt);
        (self.sum, self.summed, self.again) = (self.head_sum, 0, 0);
        self.lead() + 1
    }

    /// The first statement of the next frame is expected again after this number of bytes. In a steady loop it comes again in
    /// the second half of a frame.
    fn expect(&mut self, again: usize) {
        let look = if again + SLACK > ROOM / 2 { again - SLACK } else { ROOM };
        self.look = look.min(ROOM - LOOK) as u8;
    }

    /// Length from which the frame ends when its first statement comes again. It has `len` bytes of data.
    fn look(&self, len: usize) -> usize {
        let last_len = usize::from(self.last_len);
        // Like the previous frame until here, or only as long as it.
        if last_len > 0 && len <= last_len { last_len } else { usize::from(self.look) }
    }

    /// Sets cursor, limit and key for a frame with `len` bytes of data.
    pub(super) fn go_to(&mut self, page: u32, len: usize) {
        let look = self.look(len);
        let most = (len / SEGMENT + 1) * SEGMENT;
        let end = match len {
            _ if cfg!(feature = "each") => len,
            _ if len < look => most.min(look),
            _ if len < look + 2 * SLACK || len >= ROOM - LOOK => len,
            _ => most,
        };
        let index = (self.data as usize + len) & MASK;
        // The zero behind a statement must not be separated from it by the ring's end.
        let count = (end - len).min(MASK - index);
        self.key = key(page);
        self.cursor = memory::at(index);
        self.limit = self.cursor.wrapping_add(count);
    }
}

impl FrameDraft {
    /// Lists a statement, or the end of a frame without room for it. Returns whether the statement is listed.
    fn advance(&mut self, page: u32, code: u8) -> bool {
        let interrupt = interrupt::number();
        let added = if self.writer.is_open() {
            let len = self.writer.len();
            self.writer.catch_up(len);
            let writer = &self.writer;
            if cfg!(feature = "each") {
                // Each frame has a stamp.
                self.close(len);
                return false;
            }
            let is_head = page == writer.pages[0]
                && interrupt == writer.first_interrupt
                && code == memory::get(writer.data.wrapping_add(writer.lead() as u32));
            if is_head && len == usize::from(writer.last_len) {
                self.fold();
                None
            } else {
                let is_end = is_head && len >= self.writer.look(len);
                let added = if is_end { None } else { self.add(len, page, code, interrupt) };
                if added.is_none() {
                    self.writer.expect(if is_head { len } else { self.writer.again.into() });
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

    /// Counts the open frame as a repetition of the previous one, and resets it to its first statement.
    fn fold(&mut self) {
        let writer = &mut self.writer;
        writer.folded = writer.folded.wrapping_add(1);
        self.folded = Some(Folded::new(self.state.head(), self.writer.folded.into()));
        self.write_at(self.writer.data.wrapping_add(self.writer.lead() as u32 + 1));
        self.push(step::FREE);
    }

    /// Adds a statement to the open frame. Returns the new length of its data. `None` without room.
    fn add(&mut self, len: usize, page: u32, code: u8, interrupt: u16) -> Option<usize> {
        // Readers stop at the zero in place of the first byte until that is written.
        self.write_at(self.writer.data.wrapping_add(len as u32));
        if interrupt != self.writer.interrupt {
            self.push_interrupt(interrupt);
        }
        let place = match self.writer.pages.iter().position(|known| *known == page) {
            Some(place) => {
                if place != usize::from(self.writer.place) {
                    self.push(step::RECENT + place as u8);
                }
                place
            }
            None => {
                // A free one, else that behind the page at the cursor.
                let free = self.writer.pages.iter().position(|known| *known == NONE);
                let next = usize::from(self.writer.place) + 1;
                let place = free.unwrap_or(if next < PAGES { next } else { 1 });
                self.push_page(page, place as u8);
                place
            }
        };
        self.push(code);
        let len = len + self.len();
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
        if interrupt != 0 {
            self.push_interrupt(interrupt);
        }
        self.push(code);
        self.push(step::FREE);
    }

    /// Lists the step to an interrupt.
    pub(super) fn push_interrupt(&mut self, number: u16) {
        self.push(step::INTERRUPT);
        self.digits(number.into());
    }

    /// Lists the step to a page without a number in the frame.
    fn push_page(&mut self, number: u32, place: u8) {
        let page = page(number);
        self.push(step::PAGE);
        self.digits(place.into());
        self.digits(page.file.into());
        self.digits(page.base.into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::draft::digits;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_page_number_gives_its_page(
            file in prop_oneof![0..40_u16, 0..1_100_u16, any::<u16>()],
            line in prop_oneof![0..2_000_u16, any::<u16>()],
        ) {
            let site = Statement { file, line };
            prop_assert_eq!(page(page_of(site)), Page::of(site));
            prop_assert_eq!(near(site).is_some(), file < 1024 && line < 16 * WINDOW);
            if let Some(word) = near(site) {
                // The bits of the interrupt are free, and low files need none above them.
                prop_assert_eq!(word & 0x1FF << 16, 0);
                prop_assert_eq!(word < 1 << 16, file < 32);
                let code = word.wrapping_sub(key(page_of(site)));
                prop_assert_eq!((code >> 7, code as u8), (u32::MAX >> 7, packed::code(site)));
                prop_assert_eq!((word & !0x7F, word as u8 | 0x80), (page_of(site), packed::code(site)));
            }
        }

        #[test]
        fn digits_match_the_wire_format(value: u32) {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            digits(value, |byte| ours.push(byte));
            packed::digits(value.into(), |byte| theirs.push(byte));
            prop_assert_eq!(ours, theirs);
        }
    }
}
