//! One part of the history being written: closed frames, and the open packed frame behind them.
//!
//! The open frame lies in the ring from the first statement on. Its free bytes are zero, its last is not, so that
//! the hot path needs no other limit; a statement is there once its first byte is. Closing writes the rest of the
//! frame behind the data, opens the next one behind that, and then commits both by one store of the state word.
//! Everything here stays within what [`Run::reserve`] told before, so that a signal handler which comes in between
//! can write behind it.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, FrameWriter, needs_escape};
#[cfg(feature = "std")]
use qs_core::record::Statement;
use qs_core::record::packed::{self, MAX_HEADER, PAGES, TRAILER, step};
use qs_core::record::{EventKind, RECORD_BASE, ids};
use qs_core::ring::{Folded, State, data_room};

#[cfg(feature = "std")]
use super::Ever;
use super::Header;
use crate::site::Site;
use crate::sync::{Word, fence};

/// No byte has to be kept.
pub(crate) const NO_GUARD: u64 = u64::MAX;
/// Frames end at least so far before a byte that has to be kept.
const GUARD_ROOM: u64 = 64;
/// Ticks that pass before a frame tells the time again.
const MARK: u64 = 1 << 12;
/// Bytes that pass before it looks again whether they have.
const MARK_BYTES: usize = 16;
/// Bytes of a full frame that are searched for the start of a round.
const LOOK_BACK: usize = 64;
/// Longest wait, in frames, before looking for a loop again where none folded.
const MAX_PATIENCE: u8 = 64;

/// Where the bytes of a ring are.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    data: *mut u8,
    size: usize,
}

impl Memory {
    /// The bytes of a ring.
    ///
    /// # Safety
    /// `size` bytes at `data`, a power of two, are valid for as long as the value and its copies are used.
    pub(crate) const unsafe fn new(data: *mut u8, size: usize) -> Memory {
        Memory { data, size }
    }

    fn index(self, position: u64) -> usize {
        position as usize & (self.size - 1)
    }

    fn at(self, position: u64) -> *mut u8 {
        // SAFETY: a masked index lies inside the ring.
        unsafe { self.data.add(self.index(position)) }
    }

    fn put(self, position: u64, byte: u8) {
        // SAFETY: `at` is inside the ring.
        unsafe { self.at(position).write_volatile(byte) };
    }

    fn put_all(self, position: u64, bytes: &[u8]) {
        if self.index(position) + bytes.len() <= self.size {
            // SAFETY: they fit before the ring's end.
            return unsafe { self.at(position).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        for (index, byte) in bytes.iter().enumerate() {
            self.put(position + index as u64, *byte);
        }
    }
}

/// Where a run may be continued by a signal handler that interrupts it, as one word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reserve {
    pub(crate) head: u64,
    pub(crate) seq: u8,
}

impl Reserve {
    /// As a state word: no frame is open there.
    pub(crate) const fn word(self) -> u64 {
        State::closed(self.head, self.seq).0
    }
}

/// What makes a run give up an append: a handler has written behind what was reserved, or the reserve had to be
/// moved. The caller tries again.
pub(crate) struct Again;

/// How a run reads the clock.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) now: fn() -> u64,
    /// Frames tell the time again where a page is turned after a while.
    pub(crate) marks: &'static AtomicBool,
}

/// What an append works on beside the run itself.
pub(crate) struct Around<'a> {
    pub(crate) header: &'a Header,
    /// The state word of this run.
    pub(crate) state: &'a Word,
    /// The newest time.
    pub(crate) last_time: Option<&'a Word>,
    pub(crate) clock: Option<Clock>,
    /// The reserve of the run behind which a handler has begun to write.
    pub(crate) overtaken: &'a dyn Fn() -> Option<u64>,
    /// Equal frames become one.
    pub(crate) folds: bool,
    /// Position of a byte that an interrupted statement may yet write, or [`NO_GUARD`].
    pub(crate) guard: &'a Word,
    /// Where closed frames are noted.
    #[cfg(feature = "std")]
    pub(crate) ever: Option<&'a Ever>,
}

/// See the module.
pub(crate) struct Run {
    // The open frame. Here is what turning a page looks at.
    cursor: *mut u8,
    /// The first byte from `cursor` on that is not free; at most `end`. Null when no frame is open.
    limit: *mut u8,
    /// From here on, turning a page looks at the clock.
    mark_at: *mut u8,
    page: u32,
    first_page: u32,
    pages: [u32; PAGES],

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

/// How far the search for a loop is.
#[derive(Clone, Copy, Default)]
struct Search {
    stage: Stage,
    /// The statement that begins each round.
    anchor: u32,
    /// Bytes of whole rounds that a frame holds.
    len: usize,
    /// Bytes to go before giving up.
    left: usize,
    /// Frames to let pass before the next search, now and after the next failure.
    wait: u8,
    patience: u8,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    None,
    /// Looking for the statement that begins a round.
    Seeking,
    /// A frame that began with it is to end before it.
    Aligned,
}

impl Run {
    pub(crate) const fn new(memory: Memory) -> Run {
        let nowhere = core::ptr::null_mut();
        Run {
            cursor: nowhere,
            limit: nowhere,
            mark_at: nowhere,
            page: Site::NONE,
            first_page: 0,
            pages: [0; PAGES],
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
            search: Search { stage: Stage::None, anchor: 0, len: 0, left: 0, wait: 0, patience: 1 },
        }
    }

    /// The reserve of the run below that this one was begun behind.
    pub(crate) const fn origin(&self) -> u64 {
        self.origin
    }

    /// Where a handler that interrupts this run may write.
    pub(crate) fn reserve(&self) -> Reserve {
        let word = self.reserve.load();
        Reserve { head: word & ((1 << 48) - 1), seq: (word >> 56) as u8 }
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
            if self.add(site, mark) || self.turn(site, around) {
                return Ok(());
            }
        }
        let now = match around.clock {
            Some(clock) => self.tell_time((clock.now)(), around)?,
            None => 0,
        };
        let close = self.plan_close(None);
        let frame = Frame::plan(self, site, now, close.total);
        self.claim(frame.reserve, around)?;
        // Where an interrupted statement may yet touch the end, it cannot be moved: no guesses then, or each frame
        // would end at a guess that nothing corrects.
        let may_guess = around.guard.load() == NO_GUARD;
        let seeking = may_guess && around.folds && self.is_open && self.seek_loop();
        self.note_ever(around);
        self.write_close(&close);
        self.remember();
        frame.write(self, site);
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
        let close = self.plan_close(None);
        let start = self.head + close.total as u64;
        let seq = self.next_seq();
        let mut len = 0;
        build(seq, &mut |_| len += 1);
        self.claim(Reserve { head: start + len, seq }, around)?;
        self.note_ever(around);
        self.write_close(&close);
        let mut at = start;
        build(seq, &mut |byte| {
            self.memory.put(at, byte);
            at += 1;
        });
        self.end_frame(at, seq, around);
        Ok(())
    }

    /// A frame that is not packed was written up to here.
    fn end_frame(&mut self, at: u64, seq: u8, around: &Around<'_>) {
        (self.head, self.seq, self.is_open) = (at, seq, false);
        self.limit = core::ptr::null_mut();
        self.last_len = 0;
        fence();
        around.state.store(State::closed(self.head, self.seq).0);
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
    #[cfg(feature = "std")]
    #[inline]
    fn note_ever(&self, around: &Around<'_>) {
        if let Some(ever) = around.ever.filter(|_| self.is_open) {
            self.note_in(ever);
        }
    }

    #[cfg(feature = "std")]
    fn note_in(&self, ever: &Ever) {
        // SAFETY: the data of the open frame lies in the ring.
        let data = unsafe { bytes(self.base, self.len() - self.skipped) };
        ever.note(Site::at(self.first_page, step::STATEMENT).packed_page(), data);
    }

    #[cfg(not(feature = "std"))]
    fn note_ever(&self, _around: &Around<'_>) {}

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
        let before = self.reserve();
        self.tell_reserve(reserve);
        match (around.overtaken)() {
            // It came before this was told.
            Some(origin) if origin != reserve.word() => {
                self.tell_reserve(before);
                Err(Again)
            }
            _ => Ok(()),
        }
    }

    /// Ticks to tell before the next statement; 0 for none.
    fn mark(&mut self, clock: Option<Clock>) -> u64 {
        let Some(clock) = clock.filter(|clock| clock.marks.load(Relaxed)) else {
            self.mark_at = self.end;
            return 0;
        };
        self.mark_at = self.cursor.wrapping_add(MARK_BYTES);
        let passed = (clock.now)().saturating_sub(self.stamp);
        if passed < MARK || passed > u64::from(u32::MAX) { 0 } else { passed }
    }

    /// The number that the open frame keeps a page under, until another page needs it.
    fn number_of(&self, page: u32) -> usize {
        if page == self.first_page { 0 } else { (page.wrapping_mul(0x9E37_79B1) >> 28) as usize }
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
            steps[len] = byte;
            len += 1;
        };
        if mark > 0 {
            push(step::TIME);
            packed::digits(mark, &mut push);
        }
        let page = site.page();
        let number = self.number_of(page);
        let is_new = page != self.page && self.pages[number] != page;
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
            for index in (0..len).rev() {
                if index == 0 {
                    // With the first byte the statement is there.
                    fence();
                }
                self.cursor.add(index).write_volatile(steps[index]);
            }
            self.cursor = self.cursor.add(len);
        }
        if is_new {
            self.pages[number] = page;
        }
        self.page = page;
        self.stamp += mark;
        true
    }

    /// The limit is reached. Folds the frame, or moves a limit that was a guess; false when the frame is full.
    fn turn(&mut self, site: Site, around: &Around<'_>) -> bool {
        if around.guard.load() != NO_GUARD {
            return false;
        }
        if around.folds && self.fold(site, around.header) {
            return true;
        }
        while self.limit < self.end {
            let is_anchor = site.word() == self.search.anchor;
            match self.search.stage {
                Stage::Seeking | Stage::Aligned if is_anchor => return false,
                Stage::Seeking if self.search.left > 0 => {
                    self.search.left -= 1;
                    self.move_limit(self.limit.wrapping_add(1));
                }
                _ => {
                    self.search.stage = Stage::None;
                    self.move_limit(self.end);
                }
            }
            if self.add(site, 0) {
                return true;
            }
        }
        false
    }

    /// Moves the limit up; the bytes in between are free.
    fn move_limit(&mut self, limit: *mut u8) {
        let old = core::mem::replace(&mut self.limit, limit);
        // SAFETY: limits lie inside the open frame.
        unsafe {
            limit.write_volatile(step::END);
            fence();
            old.write_volatile(step::FREE);
        }
    }

    /// Counts the open frame instead of closing it, when it is the frame before it once more.
    fn fold(&mut self, site: Site, header: &Header) -> bool {
        let len = self.len();
        let same = self.skipped == 0
            && len == self.last_len
            && self.first_page == self.last_page
            && site.page() == self.first_page
            && self.cursor == self.limit
            // SAFETY: both frames lie in one piece in the ring.
            && unsafe { bytes(self.last, len) == bytes(self.base, len) };
        if !same {
            return false;
        }
        self.folded += 1;
        let folded = Folded::new(self.head, self.folded);
        header.folded.store(folded.counted().0);
        fence();
        // SAFETY: the bytes belong to the open frame.
        unsafe {
            self.base.write_bytes(step::FREE, len);
            fence();
            self.base.write_volatile(site.code());
            self.cursor = self.base.add(1);
        }
        fence();
        header.folded.store(folded.0);
        self.forget_pages();
        self.search.stage = Stage::None;
        (self.search.patience, self.search.wait) = (1, 0);
        true
    }

    /// Whether the frame, which is full, ends within a loop that it began with. Then the next frame shall end
    /// where a round does, so that those after it can be alike.
    fn seek_loop(&mut self) -> bool {
        let was = core::mem::take(&mut self.search.stage);
        if was == Stage::Seeking || was == Stage::Aligned && self.cursor < self.end {
            return false;
        }
        if self.search.wait > 0 {
            self.search.wait -= 1;
            return false;
        }
        if self.skipped > 0 || self.folded > 0 {
            return false;
        }
        self.search.wait = self.search.patience;
        self.search.patience = (self.search.patience * 2).min(MAX_PATIENCE);
        // SAFETY: the data lies in one piece.
        let data = unsafe { bytes(self.base, self.len()) };
        let Some((first, rest)) = data.split_first() else { return false };
        // Looking further back is not worth it: a longer loop is found when a frame ends early in its round.
        let from = rest.len().saturating_sub(LOOK_BACK);
        let Some(last) = rest[from..].iter().rposition(|byte| byte == first).map(|at| from + at + 1) else {
            return false;
        };
        let before = data[..last].iter().rposition(|byte| byte == first).unwrap_or(0);
        let (round, tail) = (last - before, data.len() - last);
        if tail > round || data[last..] != data[before..before + tail] {
            return false;
        }
        let anchor = Site::at(self.first_page, *first).word();
        let left = round - tail + 8;
        self.search = Search { stage: Stage::Seeking, anchor, len: last, left, ..self.search };
        true
    }

    /// Sets the limit of a frame that was just opened where it may turn out to be like another.
    fn expect(&mut self, site: Site, seeking: bool) {
        let len = if seeking {
            1
        } else if core::mem::take(&mut self.search.left) > 0 && site.word() == self.search.anchor {
            self.search.stage = Stage::Aligned;
            self.search.len
        } else if self.last_len > 0 && self.last_page == self.first_page {
            self.last_len
        } else {
            return;
        };
        // SAFETY: `base` and `end` bound the data of the open frame.
        unsafe {
            if len >= 1 && len < self.end.addr() - self.base.addr() {
                self.limit = self.base.add(len);
                self.limit.write_volatile(step::END);
            }
        }
    }

    /// Keeps what the next frame is compared with.
    fn remember(&mut self) {
        let comparable = self.is_open && self.skipped == 0;
        self.last = self.base;
        self.last_len = if comparable { self.len() } else { 0 };
        self.last_page = self.first_page;
        self.folded = 0;
    }

    fn plan_close(&self, exactly: Option<u64>) -> Close {
        let mut close =
            Close { bytes: [0; TRAILER], pads: 0, len: 0, tail: [0; 3], tail_len: 0, head: 0, total: 0 };
        if !self.is_open {
            return close;
        }
        let mut push = |byte| {
            close.bytes[close.head] = byte;
            close.head += 1;
        };
        push(step::END);
        if self.folded > 0 {
            push(step::REPEAT);
            packed::digits(1, &mut push);
            packed::digits(self.folded, &mut push);
        }
        let before = self.len() + close.head;
        close.pads = match exactly {
            // Behind the pads come checksum and flag.
            Some(end) => (end - self.data) as usize - before - 2,
            // Its length stands escaped, whatever it is; these two would turn into flag and escape.
            None if needs_escape(before as u8 ^ ESCAPE_XOR) => 0x5F - before,
            None => 0,
        };
        // SAFETY: the data of the open frame lies in the ring.
        let data = unsafe { bytes(self.base, self.len() - self.skipped) };
        let fixed = sum(data)
            .wrapping_add((self.skipped as u8).wrapping_mul(step::SKIP))
            .wrapping_add(sum(&close.bytes[..close.head]))
            .wrapping_add(self.sum);
        let check = |pads: usize| {
            let len = (before + pads) as u8;
            !fixed.wrapping_add(len).wrapping_add((pads as u8).wrapping_mul(step::END))
        };
        let mut last = check(close.pads);
        if needs_escape(last) {
            if exactly.is_some() {
                // One pad less makes room for the escape, and needs it no longer; any byte may be escaped.
                close.pads -= 1;
                last = check(close.pads);
            }
            close.tail = [ESCAPE, last ^ ESCAPE_XOR, FLAG];
            close.tail_len = 3;
        } else {
            close.tail = [last, FLAG, 0];
            close.tail_len = 2;
        }
        close.len = (before + close.pads) as u8;
        close.total = (self.data - self.head) as usize + before + close.pads + close.tail_len;
        close
    }

    /// Writes what stands behind the data, the byte that readers of the open frame stop at last.
    fn write_close(&mut self, close: &Close) {
        if !self.is_open {
            return;
        }
        let at = self.position(self.cursor);
        self.memory.put_all(at + 1, &close.bytes[1..close.head]);
        let pads = at + close.head as u64;
        for pad in 0..close.pads {
            self.memory.put(pads + pad as u64, step::END);
        }
        self.memory.put_all(pads + close.pads as u64, &close.tail[..close.tail_len]);
        self.memory.put_all(self.data - 2, &[ESCAPE, close.len ^ ESCAPE_XOR]);
        fence();
        // At the limit it stands there already, and an interrupted statement may be about to undo what it did to it.
        if self.cursor != self.limit {
            self.memory.put(at, step::END);
        }
        fence();
        self.head += close.total as u64;
        self.seq = self.seq.wrapping_add(1);
    }

    /// An interrupted statement may yet try to write the byte at the guard. The ring has come round to it, so it is
    /// put among bytes of a frame that tell nothing, and that it will leave as they are.
    fn pad_over(&mut self, guard: u64, around: &Around<'_>) -> Result<(), Again> {
        around.guard.store(NO_GUARD);
        while self.head < guard + 2 {
            let start = self.head + self.plan_close(None).total as u64;
            let pads = (guard + 2).saturating_sub(start);
            // A frame that ended shortly before the guard would be no help.
            let pads = if pads > 200 { 100 } else { pads as u8 };
            let build = |seq: u8, sink: &mut dyn FnMut(u8)| {
                let payload = packed::payload_head(0, packed::Page::default(), pads);
                let frame = FrameWriter::new(seq, RECORD_BASE + ids::PACKED, sink).bytes(&payload);
                (0..pads).fold(frame, |frame, _| frame.u8(step::SKIP)).finish();
            };
            self.append_frame(build, around)?;
        }
        around.guard.store(guard);
        Ok(())
    }
}

/// What only hosted rings need: the hot path apart from the run, handlers inside appends, and other frames.
#[cfg(feature = "std")]
impl Run {
    /// The hot path has written up to here.
    pub(crate) fn set_cursor(&mut self, cursor: *mut u8) {
        if self.is_open {
            self.cursor = cursor;
        }
    }

    /// Goes on behind a statement of the hot path that was interrupted at `cursor`: it may have been written or
    /// not, and may be written at any later time, if the byte is still free then. Returns the byte's position.
    pub(crate) fn take_over(&mut self, cursor: *mut u8) -> u64 {
        if !self.is_open {
            return NO_GUARD;
        }
        self.cursor = cursor;
        if cursor < self.limit {
            // SAFETY: below the limit lies a byte of the open frame.
            unsafe {
                if cursor.read_volatile() == step::FREE {
                    cursor.write_volatile(step::SKIP);
                }
                self.cursor = cursor.add(1);
            }
        }
        self.position(cursor)
    }

    /// Adds a statement on a page that the open frame knows, where the hot path has come to `cursor`, and returns where
    /// that goes on; `None` when there is more to do than that.
    #[inline(always)]
    pub(crate) fn turn_page(&mut self, page: u32, code: u8, cursor: *mut u8) -> Option<*mut u8> {
        let number = self.number_of(page);
        if self.pages[number] != page {
            return None;
        }
        if cursor >= self.mark_at || cursor.addr() + 2 > self.limit.addr() {
            return None;
        }
        // SAFETY: both bytes are below the limit, so they are free bytes of the open frame.
        unsafe {
            cursor.add(1).write_volatile(code);
            fence();
            cursor.write_volatile(step::RECENT + number as u8);
            self.cursor = cursor.add(2);
        }
        self.page = page;
        Some(self.cursor)
    }

    /// Folds the frame that the hot path has filled up to `cursor`, and returns where that goes on; `None` when there is
    /// more to do than that.
    #[inline(always)]
    pub(crate) fn fold_at(&mut self, site: Site, cursor: *mut u8, header: &Header) -> Option<*mut u8> {
        // Where the frame is not like the one before, there is no need to compare all of it.
        if cursor != self.limit || self.last_len == 0 {
            return None;
        }
        self.cursor = cursor;
        self.fold(site, header).then_some(self.cursor)
    }

    /// Starts anew at this place.
    pub(crate) fn restart(&mut self, from: &Run) {
        let (memory, stamp, from) = (self.memory, from.stamp, from.reserve());
        *self = Run::new(memory);
        (self.head, self.seq, self.stamp, self.origin) = (from.head, from.seq, stamp, from.word());
        self.tell_reserve(from);
    }

    /// Keeps where it began, though it goes on where another does.
    pub(crate) fn set_origin(&mut self, origin: u64) {
        self.origin = origin;
    }

    /// Ends exactly where it reserved, because handlers wrote behind that.
    pub(crate) fn finish(&mut self, ever: Option<&Ever>) {
        let Reserve { head, seq } = self.reserve();
        if self.is_open {
            if let Some(ever) = ever {
                self.note_in(ever);
            }
            let close = self.plan_close(Some(head));
            self.write_close(&close);
        }
        (self.head, self.seq, self.is_open) = (head, seq, false);
        self.limit = core::ptr::null_mut();
    }

    /// Appends a statement in a frame of its own.
    pub(crate) fn append_single(
        &mut self,
        site: Site,
        time: Option<u64>,
        around: &Around<'_>,
    ) -> Result<(), Again> {
        let time = match time {
            Some(time) => Some(self.tell_time(time, around)?),
            None => None,
        };
        let close = self.plan_close(None);
        let seq = self.next_seq();
        let (frame, len) = single(seq, site, time);
        let start = self.head + close.total as u64;
        self.claim(Reserve { head: start + len as u64, seq }, around)?;
        self.note_ever(around);
        self.write_close(&close);
        self.memory.put_all(start, &frame[..len]);
        self.end_frame(start + len as u64, seq, around);
        if let Some(ever) = around.ever {
            ever.note_one(Statement::from_word(site.word()));
        }
        Ok(())
    }

    /// The same where nothing else is to be done; false when there is.
    #[inline(always)]
    pub(crate) fn append_single_shortly(
        &mut self,
        site: Site,
        time: Option<u64>,
        header: &Header,
        overtaken: impl FnOnce() -> bool,
    ) -> bool {
        let stamp = time.map_or(self.stamp, |time| time.max(self.stamp));
        if self.is_open || stamp - self.stamp > u64::from(u32::MAX) {
            return false;
        }
        let seq = self.next_seq();
        let (frame, len) = single(seq, site, time.map(|_| (stamp as u32).max(1)));
        let before = self.reserve();
        let behind = Reserve { head: self.head + len as u64, seq };
        self.tell_reserve(behind);
        if overtaken() {
            // It wrote behind the reserve that it saw; the long way finds out.
            self.tell_reserve(before);
            return false;
        }
        self.memory.put_all(self.head, &frame[..len]);
        (self.head, self.seq, self.stamp) = (behind.head, seq, stamp);
        fence();
        header.state.store(State::closed(self.head, self.seq).0);
        true
    }

    /// Appends an event.
    pub(crate) fn append_event(
        &mut self,
        kind: EventKind,
        value: u64,
        around: &Around<'_>,
    ) -> Result<(), Again> {
        let time = match around.clock {
            Some(clock) => self.tell_time((clock.now)(), around)?,
            None => 0,
        };
        self.append_frame(|seq, sink| kind.emit(seq, RECORD_BASE, time, value, sink), around)
    }
}

/// What closes a frame: `bytes[..head]`, then pads, then the tail.
struct Close {
    bytes: [u8; TRAILER],
    head: usize,
    pads: usize,
    tail: [u8; 3],
    tail_len: usize,
    len: u8,
    /// Bytes of the whole frame.
    total: usize,
}

/// A frame to be opened.
struct Frame {
    head: [u8; STUFFED],
    head_len: usize,
    sum: u8,
    data: u64,
    /// Bytes of data before the ring goes round.
    skipped: usize,
    /// Bytes of data behind those.
    room: usize,
    reserve: Reserve,
}

impl Frame {
    /// A frame behind `close` bytes that close the one before it.
    fn plan(run: &Run, site: Site, time: u32, close: usize) -> Frame {
        /// Fewer bytes before the ring goes round are not worth a frame.
        const FEW: usize = 9;
        let seq = run.next_seq();
        let [t0, t1, t2, t3, f0, fa, fb, f1, ba, bb, f2, len] =
            packed::payload_head(time, site.packed_page(), 0);
        let id = RECORD_BASE + ids::PACKED;
        let fields = [seq, id, t0, t1, t2, t3, f0, fa, fb, f1, ba, bb, f2, 0, 0, 0];
        let (head, head_len) = stuffed(fields, 13);
        let mut frame =
            Frame { head, head_len, sum: sum(&fields), data: 0, skipped: 0, room: 0, reserve: run.reserve() };
        // The length is not known yet; it stands escaped, so that its place is.
        frame.head[head_len..head_len + 2].copy_from_slice(&[ESCAPE, len ^ ESCAPE_XOR]);
        frame.head_len += 2;
        let memory = run.memory;
        frame.data = run.head + (close + frame.head_len) as u64;
        let (to_end, most) = (memory.size - memory.index(frame.data), data_room(memory.size));
        frame.skipped = if to_end < FEW { to_end } else { 0 };
        frame.room = if frame.skipped > 0 { most - to_end } else { most.min(to_end - 1) };
        if (79..=81).contains(&(frame.skipped + frame.room)) {
            // Closed with pads, its length would be one of the two that cannot be escaped.
            frame.room -= 3;
        }
        let end = frame.data + (frame.skipped + frame.room + TRAILER) as u64;
        frame.reserve = Reserve { head: end, seq };
        frame
    }

    /// Writes it behind the closed frames of `run`, with its first statement.
    fn write(&self, run: &mut Run, site: Site) {
        let memory = run.memory;
        memory.put_all(run.head, &self.head[..self.head_len]);
        for index in 0..self.skipped {
            memory.put(self.data + index as u64, step::SKIP);
        }
        let base = memory.at(self.data + self.skipped as u64);
        // SAFETY: `plan` saw to it that `room` bytes and one more lie in one piece.
        unsafe {
            base.write_bytes(step::FREE, self.room);
            run.end = base.add(self.room);
            run.end.write_volatile(step::END);
            base.write_volatile(site.code());
            run.cursor = base.add(1);
        }
        // A statement that finds no room changes the end for a moment: readers stop at the one behind it then.
        memory.put(self.data + (self.skipped + self.room + 1) as u64, step::END);
        (run.base, run.limit) = (base, run.end);
        (run.data, run.skipped, run.sum) = (self.data, self.skipped, self.sum);
        run.first_page = site.page();
        run.forget_pages();
        run.mark_at = base.wrapping_add(MARK_BYTES);
        run.is_open = true;
        fence();
    }
}

/// Most bytes that 16 fields take, with room for the rest of a frame.
const STUFFED: usize = 36;
const _: () = assert!(MAX_HEADER <= STUFFED);

/// The first `len` of these bytes as they stand in a frame, and how many that are.
#[inline]
fn stuffed(fields: [u8; 16], len: usize) -> ([u8; STUFFED], usize) {
    let mut stuffed = [0; STUFFED];
    // One look at all of them: most frames need no escape.
    if !fields.iter().fold(false, |any, byte| any | needs_escape(*byte)) {
        stuffed[..16].copy_from_slice(&fields);
        return (stuffed, len);
    }
    let mut at = 0;
    for byte in &fields[..len] {
        if needs_escape(*byte) {
            stuffed[at] = ESCAPE;
            at += 1;
        }
        stuffed[at] = if needs_escape(*byte) { byte ^ ESCAPE_XOR } else { *byte };
        at += 1;
    }
    (stuffed, at)
}

/// The frame of one statement, which `Statement::emit` of `qs_core` makes byte by byte.
#[cfg(feature = "std")]
fn single(seq: u8, site: Site, time: Option<u32>) -> ([u8; STUFFED], usize) {
    const FORMAT_U16: u8 = 3;
    let [l0, l1, f0, f1] = site.word().to_le_bytes();
    let (mut fields, len) = match time {
        None => ([seq, RECORD_BASE + ids::STATEMENT, l0, l1, f0, f1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 7),
        Some(time) => {
            let [t0, t1, t2, t3] = time.to_le_bytes();
            let id = RECORD_BASE + ids::STATEMENT_TIMED;
            ([seq, id, t0, t1, t2, t3, FORMAT_U16, f0, f1, FORMAT_U16, l0, l1, 0, 0, 0, 0], 13)
        }
    };
    fields[len - 1] = !sum(&fields);
    let (mut frame, len) = stuffed(fields, len);
    frame[len] = FLAG;
    (frame, len + 1)
}

/// Sum of the bytes, modulo 256.
fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// Bytes of the ring.
///
/// # Safety
/// They lie inside the ring, and nothing writes them while the slice is used.
unsafe fn bytes<'a>(start: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: the caller's.
    unsafe { core::slice::from_raw_parts(start, len) }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn the_frame_of_one_statement_is_that_of_qs_core(seq: u8, file: u16, line: u16, time: Option<u32>) {
            let site = Site::new(file, line);
            let (frame, len) = single(seq, site, time);
            let mut expected = Vec::new();
            Statement::from_word(site.word()).emit(seq, RECORD_BASE, time, |byte| expected.push(byte));
            prop_assert_eq!(&frame[..len], &expected[..]);
        }
    }
}
