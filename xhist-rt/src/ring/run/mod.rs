//! One part of the history being written: closed frames, and the open packed frame behind them.
//!
//! The open frame lies in the ring from the first statement on. Its free bytes are zero, its last is not, so that
//! the hot path needs no other limit; a statement is there once its first byte is. Closing writes the rest of the
//! frame behind the data, opens the next one behind that, and then commits both by one store of the state word.
//! Everything here stays within what [`Run::reserve`] told before, so that a signal handler which comes in between
//! can write behind it.

mod fold;
mod frame;
mod hosted;
mod memory;
mod next;
mod openings;
mod record;

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use qs_core::frame::FrameWriter;
use qs_core::record::packed::{self, PAGES, step};
use qs_core::record::{EventKind, RECORD_BASE, ids};
use qs_core::ring::{State, Touched, frame_room};

use super::Ever;
use super::Header;
use crate::site::{Site, place_of};
use crate::sync::{Word, fence};

use fold::Search;
use frame::Frame;
pub(crate) use hosted::{AT, Place};
pub(crate) use memory::Memory;
use memory::{Reserve, bytes, first};
use openings::Openings;

/// No byte has to be kept.
pub(crate) const NO_GUARD: u64 = u64::MAX;
/// Frames end at least so far before a byte that has to be kept.
const GUARD_ROOM: u64 = 64;
/// Ticks that pass before a frame tells the time again.
const MARK: u64 = 1 << 12;
/// Bytes that pass before it looks again whether they have.
const MARK_BYTES: usize = 16;

/// What makes a run give up an append: a handler has written behind what was reserved, or the reserve had to be
/// moved. The caller tries again.
pub(crate) struct Again;

/// How a run reads the clock.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) now: fn() -> Ticks,
    /// Frames tell the time again where a page is turned after a while.
    pub(crate) marks: &'static AtomicBool,
}

/// What a clock tells.
pub(crate) enum Ticks {
    /// All of it.
    Whole(u64),
    /// A clock of 32 bits, which goes round, or back to 0 at the program's will.
    Low(u32),
}

/// What an append works on beside the run itself.
pub(crate) struct Around<'a> {
    pub(crate) header: &'a Header,
    /// The state word of this run.
    pub(crate) state: &'a Word,
    /// The newest time.
    pub(crate) last_time: Option<&'a Word>,
    pub(crate) clock: Option<Clock>,
    /// Which levels have a part, see `writer`; the level of this run, and the run above.
    pub(crate) top: &'a AtomicU32,
    pub(crate) level: usize,
    pub(crate) above: *const Run,
    /// Position of a byte that an interrupted statement may yet write, or [`NO_GUARD`].
    pub(crate) guard: &'a Word,
    /// Where closed frames are noted.
    pub(crate) ever: Option<&'a Ever>,
}

impl Around<'_> {
    /// Equal frames become one.
    const fn folds(&self) -> bool {
        self.level == 0
    }

    /// The reserve behind which a handler has begun to write.
    #[inline(always)]
    fn overtaken(&self) -> Option<u64> {
        let is_overtaken = (self.top.load(Relaxed) & 0xFF) as usize > self.level;
        // SAFETY: the run above is there, and its owner has run to its end.
        is_overtaken.then(|| unsafe { (*self.above).origin })
    }
}

/// See the module.
pub(crate) struct Run {
    // The open frame. Here is what turning a page looks at.
    pages: [u32; PAGES],
    openings: Openings,
    /// From here on, turning a page looks at the clock.
    mark_at: *mut u8,
    cursor: *mut u8,
    /// The first byte from `cursor` on that is not free; at most `end`. Null when no frame is open.
    limit: *mut u8,
    /// What steps without a page mean at `cursor`; [`Site::NONE`] when that is not known.
    page: u32,
    first_page: u32,
    end: *mut u8,
    base: *mut u8,
    /// Position of the first byte of data; so many bytes of it lie before `base`.
    data: u64,
    skipped: usize,
    sum: u8,
    is_open: bool,
    /// The clock when it was told last.
    stamp: u64,

    memory: Memory,
    head: u64,
    seq: u8,
    reserve: Word,
    /// The reserve of the run below that this one was begun behind.
    origin: u64,

    // The closed frame before it, for folding.
    last: *mut u8,
    last_len: usize,
    last_page: u32,
    folded: u64,
    search: Search,
}

impl Run {
    pub(crate) const fn new(memory: Memory) -> Run {
        let nowhere = core::ptr::null_mut();
        Run {
            pages: [0; PAGES],
            openings: Openings::NONE,
            mark_at: nowhere,
            cursor: nowhere,
            limit: nowhere,
            page: Site::NONE,
            first_page: 0,
            end: nowhere,
            base: nowhere,
            data: 0,
            skipped: 0,
            sum: 0,
            is_open: false,
            stamp: 0,
            memory,
            head: 0,
            seq: 0,
            reserve: Word::new(0),
            origin: 0,
            last: nowhere,
            last_len: 0,
            last_page: 0,
            folded: 0,
            search: Search::NEW,
        }
    }

    /// Where a handler that interrupts this run may write.
    pub(crate) fn reserve(&self) -> Reserve {
        let state = State(self.reserve.load());
        Reserve { head: state.head(), seq: state.seq() }
    }

    fn tell_reserve(&self, reserve: Reserve) {
        self.reserve.store(reserve.word());
        fence();
    }

    /// The page that the next statement may be on without a word, [`Site::NONE`] when no frame is open.
    pub(crate) const fn page(&self) -> u32 {
        if self.is_open { self.page } else { Site::NONE }
    }

    pub(crate) const fn cursor(&self) -> *mut u8 {
        self.cursor
    }

    fn position(&self, slot: *mut u8) -> u64 {
        self.data + (self.skipped + slot.addr() - self.base.addr()) as u64
    }

    /// Bytes of data so far.
    fn len(&self) -> usize {
        self.skipped + self.cursor.addr() - self.base.addr()
    }

    /// Appends a statement.
    pub(crate) fn append(&mut self, site: Site, around: &Around<'_>) -> Result<(), Again> {
        if self.is_open {
            let mark = if self.cursor < self.mark_at { 0 } else { self.mark(around.clock) };
            let header = around.folds().then_some(around.header);
            if self.add(site, mark) || around.guard.load() == NO_GUARD && self.turn(site, header) {
                return Ok(());
            }
        }
        let now = match around.clock {
            Some(clock) => self.tell_time(self.read(clock), around)?,
            None => 0,
        };
        let close = self.plan_close(None);
        let frame = Frame::plan(self, site, now, close.total);
        self.claim(frame.reserve, around)?;
        // Where an interrupted statement may yet touch the end, it cannot be moved: no guesses then, or each frame
        // would end at a guess that nothing corrects.
        let may_guess = around.guard.load() == NO_GUARD;
        let seeking = may_guess && around.folds() && self.is_open && self.seek_loop();
        self.note_ever(around);
        self.write_close(&close);
        self.remember();
        frame.write(self, site, around.clock);
        if may_guess {
            self.expect(site, seeking);
        }
        around.state.store(State::closed(self.head, self.seq).with_open(frame.head_len).0);
        Ok(())
    }

    /// Appends a frame of any kind, which `build` makes for a sequence number.
    pub(crate) fn append_frame(
        &mut self,
        build: impl Fn(u8, &mut dyn FnMut(u8)),
        around: &Around<'_>,
    ) -> Result<(), Again> {
        let seq = self.next_seq();
        let mut len = 0;
        build(seq, &mut |_| len += 1);
        let write = |memory: Memory, mut at| {
            build(seq, &mut |byte| {
                memory.put(at, byte);
                at += 1;
            });
        };
        self.append_bytes(len, write, around)
    }

    /// Appends a frame that is not packed, of so many bytes, which `write` puts behind what is there.
    fn append_bytes(
        &mut self,
        len: usize,
        write: impl FnOnce(Memory, u64),
        around: &Around<'_>,
    ) -> Result<(), Again> {
        let close = self.plan_close(None);
        let start = self.head + close.total as u64;
        let reserve = Reserve { head: start + len as u64, seq: self.next_seq() };
        self.claim(reserve, around)?;
        let is_far = reserve.head - self.head > 2 * frame_room(self.memory.size) as u64;
        if is_far {
            around.header.set_ahead(reserve.head - self.head);
        }
        self.note_ever(around);
        self.write_close(&close);
        write(self.memory, start);
        self.stand_at(reserve);
        self.last_len = 0;
        fence();
        around.state.store(reserve.word());
        if is_far {
            around.header.set_ahead(0);
        }
        Ok(())
    }

    /// No frame is open here.
    fn stand_at(&mut self, Reserve { head, seq }: Reserve) {
        (self.head, self.seq, self.is_open) = (head, seq, false);
        self.limit = core::ptr::null_mut();
    }

    /// The time in full.
    fn read(&self, clock: Clock) -> u64 {
        match (clock.now)() {
            Ticks::Whole(now) => now,
            Ticks::Low(now) => self.stamp + u64::from(now.wrapping_sub(self.stamp as u32)),
        }
    }

    /// The low half of the time, which never runs backwards in a run: clocks of two cores may differ by a few ticks.
    /// Where it went round since it was told last, an event tells all of it.
    pub(crate) fn tell_time(&mut self, now: u64, around: &Around<'_>) -> Result<u32, Again> {
        let before = self.stamp;
        self.stamp = now.max(before);
        let now = self.stamp;
        if let Some(last_time) = around.last_time {
            last_time.store(now);
        }
        if before > 0 && now - before > u64::from(u32::MAX) {
            self.append_frame(
                |seq, sink| EventKind::Time.emit(seq, RECORD_BASE, now as u32, now, sink),
                around,
            )?;
        }
        // 0 stands for no time.
        Ok((now as u32).max(1))
    }

    /// Notes the statements of the open frame, which is about to be closed.
    #[inline]
    fn note_ever(&self, around: &Around<'_>) {
        if let Some(ever) = around.ever.filter(|_| self.is_open) {
            self.note_in(ever);
        }
    }

    fn note_in(&self, ever: &Ever) {
        // SAFETY: the data of the open frame lies in the ring.
        let data = unsafe { bytes(self.base, self.len() - self.skipped) };
        ever.note(Site::at(self.first_page, step::STATEMENT).packed_page(), data);
    }

    /// Sequence number of the frame behind the open one.
    const fn next_seq(&self) -> u8 {
        self.seq.wrapping_add(1 + self.is_open as u8)
    }

    /// Tells how far this append may write.
    fn claim(&mut self, reserve: Reserve, around: &Around<'_>) -> Result<(), Again> {
        let guard = around.guard.load();
        if guard != NO_GUARD && reserve.head + GUARD_ROOM > guard + self.memory.size as u64 {
            self.pad_over(guard + self.memory.size as u64, around)?;
            return Err(Again);
        }
        if self.reserve_up_to(reserve, around) { Ok(()) } else { Err(Again) }
    }

    /// Tells how far this append may write; false when a handler has begun to write before that.
    #[inline(always)]
    fn reserve_up_to(&self, reserve: Reserve, around: &Around<'_>) -> bool {
        let before = self.reserve();
        self.tell_reserve(reserve);
        // A handler that came after this was told is right behind it.
        let is_ours = around.overtaken().is_none_or(|origin| origin == reserve.word());
        if !is_ours {
            self.tell_reserve(before);
        }
        is_ours
    }

    /// Ticks to tell before the next statement; 0 for none.
    fn mark(&mut self, clock: Option<Clock>) -> u64 {
        let Some(clock) = clock.filter(|clock| clock.marks.load(Relaxed)) else {
            self.mark_at = self.end;
            return 0;
        };
        self.mark_at = self.cursor.wrapping_add(MARK_BYTES);
        let passed = self.read(clock).saturating_sub(self.stamp);
        if passed < MARK || passed > u64::from(u32::MAX) { 0 } else { passed }
    }

    /// The number that the open frame keeps a page under: one of two places.
    #[inline(always)]
    fn number_of(&self, page: u32) -> Option<usize> {
        let number = place_of(page);
        if self.pages[number] == page {
            return Some(number);
        }
        (self.pages[number ^ 1] == page).then_some(number ^ 1)
    }

    /// The number that a new page gets: that of no page, or the first.
    fn new_number(&self, page: u32) -> usize {
        let number = place_of(page);
        if self.pages[number ^ 1] == 0 { number ^ 1 } else { number }
    }

    /// As at the start of a frame: on its first page, and knowing no other.
    fn forget_pages(&mut self) {
        self.page = self.first_page;
        self.pages = [0; PAGES];
        self.pages[0] = self.page;
    }

    /// Adds a statement to the open frame; false when it does not fit.
    fn add(&mut self, site: Site, mark: u64) -> bool {
        let mut steps = [0; 24];
        let mut len = 0;
        let mut push = |byte| {
            if let Some(place) = steps.get_mut(len) {
                *place = byte;
                len += 1;
            }
        };
        if mark > 0 {
            push(step::TIME);
            packed::digits(mark, &mut push);
        }
        let page = site.page();
        let known = if page == self.page { None } else { self.number_of(page) };
        let is_new = page != self.page && known.is_none();
        let number = known.unwrap_or_else(|| self.new_number(page));
        if is_new {
            let packed::Page { file, base } = site.packed_page();
            push(step::PAGE);
            packed::digits(number as u64, &mut push);
            packed::digits(u64::from(file), &mut push);
            packed::digits(u64::from(base), &mut push);
        } else if page != self.page {
            push(step::RECENT + number as u8);
        }
        push(site.code());
        if self.limit.addr() - self.cursor.addr() < len {
            return false;
        }
        // SAFETY: `len` bytes from the cursor on are below the limit.
        unsafe {
            for (index, step) in first(&steps, len).iter().enumerate().rev() {
                if index == 0 {
                    // With the first byte the statement is there.
                    fence();
                }
                self.cursor.add(index).write_volatile(*step);
            }
            self.cursor = self.cursor.add(len);
        }
        if let Some(place) = self.pages.get_mut(number).filter(|_| is_new) {
            *place = page;
            if mark == 0 {
                self.openings.keep(page, first(&steps, len - 1));
            }
        }
        self.page = page;
        self.stamp += mark;
        true
    }

    /// An interrupted statement may yet try to write the byte at the guard. The ring has come round to it, so it is
    /// put among bytes of a frame that tell nothing, and that it will leave as they are.
    fn pad_over(&mut self, guard: u64, around: &Around<'_>) -> Result<(), Again> {
        around.guard.store(NO_GUARD);
        let index = self.memory.index(guard);
        around.header.touched.store(Touched::skip(index).0, Relaxed);
        while self.head < guard + 2 {
            let start = self.head + self.plan_close(None).total as u64;
            let pads = (guard + 2).saturating_sub(start);
            // A frame that ended shortly before the guard would be no help.
            let pads = if pads > 200 { 100 } else { pads as u8 };
            let build = |seq: u8, sink: &mut dyn FnMut(u8)| {
                let (payload, len) = packed::payload_head(0, packed::Page::default(), pads);
                let frame =
                    FrameWriter::new(seq, RECORD_BASE + ids::PACKED, sink).bytes(first(&payload, len));
                (0..pads).fold(frame, |frame, _| frame.u8(step::SKIP)).finish();
            };
            self.append_frame(build, around)?;
        }
        around.guard.store(guard);
        Ok(())
    }
}
