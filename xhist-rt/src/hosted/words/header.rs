//! The header of a words ring, layout version 4.

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering::Relaxed};

use qs_core::record::RECORD_BASE;
use qs_core::ring::{self as layout, MOVED_UNITS, NAME_LEN, PAUSES, Status};

use crate::sync::{Word, fence};

/// Version of this layout.
const VERSION: u8 = 4;
/// Flag: statements are words.
const FLAG_WORDS: u8 = layout::Flags::WORDS.0;
/// Bytes of a header that are in use, without the prologue.
pub(crate) const USED: usize = layout::WORDS_HEADER_LEN;

/// The layout of a words ring's header, field for field.
#[repr(C, align(8))]
pub(crate) struct HostedHeader {
    magic: Word,
    mark: AtomicU32,
    facts: [u8; 3],
    flags: AtomicU8,
    /// 0 = 65,536.
    header_len: u16,
    ahead: u16,
    size: u32,
    map_hash: Word,
    clock_hz: AtomicU32,
    check: u32,
    /// [`layout::State`].
    pub(super) state: Word,
    /// Nanoseconds since 1970 at the start time, 0 = not known.
    pub(crate) start_wall: u64,
    pub(super) dropped: AtomicU32,
    reserved: u32,
    /// The full clock at the last stamp.
    pub(super) last_time: Word,
    /// Position behind the last byte that was cleared for future words.
    pub(super) cleared: Word,
    /// See [`super::restructure`].
    pub(super) trim: Word,
    /// The bytes of the `Again` that belongs to it.
    pub(super) trim_repetition: Word,
    /// 0 in a thread's own ring, otherwise one more than the number of the ring whose handlers use this one.
    pub(crate) lane: AtomicU16,
    /// Nesting level of the handlers, from 1.
    pub(crate) level: AtomicU16,
    /// Why statements are not here, and in the first ring why other rings are not; see [`layout::Causes`].
    causes: AtomicU32,
    /// The full clock when the open chunk was opened or folded last; 0 = not known.
    pub(super) open_time: Word,
    /// Signals whose handlers were installed without the recorder: bit n - 1 for signal n.
    pub(crate) foreign_handlers: Word,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    status: AtomicU32,
    pub(crate) number: u16,
    /// In the first ring: number of rings that the process has made.
    rings: AtomicU16,
    /// Number of bytes that earlier threads wrote into this ring.
    earlier: Word,
    /// Async tasks that began and that ended in this ring, under all of its owners.
    tasks: [AtomicU32; 2],
    /// Address of [`crate::value::types::anchor`] in the process, 0 = not known.
    anchor: Word,
    /// [`layout::CheckedPosition`]: where the history begins if the ring file was emptied while the program ran.
    pub(super) begin: Word,
    pub(crate) start_time: u64,
    /// Readers write these two; see [`layout::Shown`].
    shown: [Word; 2],
    pub(crate) name: [u8; NAME_LEN],
    /// Pauses of the thread that the ticker has seen, see [`layout::Pause`].
    pub(super) pauses: [[Word; 4]; PAUSES],
    /// A copy of words that are moving, see [`super::pause`].
    pub(super) moved: [Word; MOVED_UNITS / 4],
    /// [`layout::CheckedPosition`]: where the prologue ends, see [`super::prologue`]; 0 = no prologue.
    pub(super) prologue: Word,
}

const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<HostedHeader>() == USED);
    assert!(offset_of!(HostedHeader, header_len) == 16);
    assert!(offset_of!(HostedHeader, size) == 20);
    assert!(offset_of!(HostedHeader, map_hash) == 24);
    assert!(offset_of!(HostedHeader, check) == 36);
    assert!(offset_of!(HostedHeader, state) == 40);
    assert!(offset_of!(HostedHeader, start_wall) == layout::START_WALL_OFFSET);
    assert!(offset_of!(HostedHeader, dropped) == 56);
    assert!(offset_of!(HostedHeader, last_time) == 64);
    assert!(offset_of!(HostedHeader, cleared) == 72);
    assert!(offset_of!(HostedHeader, trim) == 80);
    assert!(offset_of!(HostedHeader, trim_repetition) == 88);
    assert!(offset_of!(HostedHeader, lane) == 96);
    assert!(offset_of!(HostedHeader, level) == 98);
    assert!(offset_of!(HostedHeader, causes) == 100);
    assert!(offset_of!(HostedHeader, open_time) == 104);
    assert!(offset_of!(HostedHeader, foreign_handlers) == 112);
    assert!(offset_of!(HostedHeader, pid) == layout::PID_OFFSET);
    assert!(offset_of!(HostedHeader, status) == 128);
    assert!(offset_of!(HostedHeader, number) == 132);
    assert!(offset_of!(HostedHeader, rings) == 134);
    assert!(offset_of!(HostedHeader, earlier) == 136);
    assert!(offset_of!(HostedHeader, tasks) == 144);
    assert!(offset_of!(HostedHeader, anchor) == 152);
    assert!(offset_of!(HostedHeader, begin) == 160);
    assert!(offset_of!(HostedHeader, start_time) == 168);
    assert!(offset_of!(HostedHeader, shown) == layout::CLEARED_OFFSET);
    assert!(offset_of!(HostedHeader, name) == 192);
    assert!(offset_of!(HostedHeader, pauses) == layout::PAUSES_OFFSET);
    assert!(offset_of!(HostedHeader, moved) == layout::MOVED_OFFSET);
    assert!(offset_of!(HostedHeader, prologue) == layout::PROLOGUE_OFFSET);
    assert!(USED <= layout::PROLOGUE_AT);
};

impl HostedHeader {
    /// Lays out an empty ring of `size` bytes that begins `header_len` bytes behind the header's start. The magic
    /// comes last, so that no reader finds a half-made header.
    pub(crate) fn init(&mut self, header_len: usize, size: u32, time_width: u8, flags: u8, map_hash: u64) {
        self.magic.store(0);
        fence();
        let words = [&self.state, &self.last_time, &self.cleared, &self.trim, &self.open_time, &self.begin];
        words.into_iter().chain([&self.prologue, &self.shown[0]]).for_each(|word| word.store(0));
        self.pauses.iter().for_each(|pause| pause[0].store(0));
        self.status.store(Status::Live.code(), Relaxed);
        // The first ring also counts for threads without rings, under each of its owners.
        if self.number > 0 {
            self.dropped.store(0, Relaxed);
            self.causes.store(0, Relaxed);
        }
        let facts = [VERSION, time_width, RECORD_BASE, flags | FLAG_WORDS];
        self.mark.store(layout::BYTE_ORDER_MARK, Relaxed);
        self.facts = [facts[0], facts[1], facts[2]];
        self.flags.store(facts[3], Relaxed);
        (self.header_len, self.ahead, self.size) = (header_len as u16, 0, size);
        (self.start_wall, self.reserved) = (0, 0);
        self.clock_hz.store(0, Relaxed);
        self.map_hash.store(map_hash);
        let [a, b] = self.header_len.to_ne_bytes();
        let words =
            [layout::BYTE_ORDER_MARK, u32::from_ne_bytes(facts), u32::from_ne_bytes([a, b, 0, 0]), size];
        self.check = layout::check_word(words);
        fence();
        self.magic.store(u64::from_ne_bytes(layout::MAGIC));
    }

    /// Whether the header is there. Another process may have emptied the ring file.
    #[inline(always)]
    pub(crate) fn is_there(&self) -> bool {
        self.mark.load(Relaxed) == layout::BYTE_ORDER_MARK
    }

    /// Sets what readers do not show again, and forgets the losses before that.
    pub(crate) fn set_shown(&self, shown: layout::Shown) {
        let [first, second] = shown.words();
        // Until the last store readers show all of it.
        self.shown[0].store(0);
        fence();
        self.shown[1].store(second);
        fence();
        self.shown[0].store(first);
        self.dropped.store(0, Relaxed);
    }

    /// Sets why other rings, or statements of this one, are not here.
    pub(crate) fn add_cause(&self, cause: layout::Causes) {
        self.causes.fetch_or(cause.0, Relaxed);
    }

    /// Makes the ring a lane of handlers that interrupt that ring. Level 0: a thread's own ring.
    pub(crate) fn set_lane(&self, interrupted: u16, level: usize) {
        self.lane.store(if level > 0 { interrupted + 1 } else { 0 }, Relaxed);
        self.level.store(level as u16, Relaxed);
    }

    /// Counts statements that could not be kept. The count stops at its highest number.
    pub(crate) fn count_dropped(&self, statements: u32) {
        let more = |dropped: u32| Some(dropped.saturating_add(statements));
        let _ = self.dropped.fetch_update(Relaxed, Relaxed, more);
    }

    /// Sets that at least this number of statements could not be kept.
    pub(crate) fn raise_dropped(&self, statements: u32) {
        self.dropped.fetch_max(statements, Relaxed);
    }

    /// Writes into the first ring that there are at least `rings` of them.
    pub(crate) fn count_rings(&self, rings: u16) {
        self.rings.fetch_max(rings, Relaxed);
    }

    /// The bytes of the prologue are gone.
    pub(crate) fn forget_prologue(&self) {
        self.prologue.store(0);
    }

    /// Sets the map that the program was instrumented with.
    pub(crate) fn set_map_hash(&self, hash: u64) {
        self.map_hash.store(hash);
    }

    /// Sets that the program records only entries of functions.
    pub(crate) fn set_entries_only(&self) {
        self.flags.fetch_or(layout::Flags::ENTRIES.0, Relaxed);
    }

    /// Sets where the program was loaded.
    pub(crate) fn set_anchor(&self, anchor: usize) {
        self.anchor.store(anchor as u64);
    }

    /// Sets that there may be values among the statements.
    pub(crate) fn set_values(&self) {
        self.flags.fetch_or(layout::Flags::VALUES.0, Relaxed);
    }

    /// The ring gets another owner: adds the bytes that the current owner wrote to the bytes of earlier owners.
    pub(crate) fn count_earlier(&self) {
        let written = layout::State(self.state.load()).head();
        self.earlier.store(self.earlier.load() + written);
        fence();
    }

    /// Number of bytes of closed frames that earlier owners wrote.
    pub(crate) fn earlier(&self) -> u64 {
        self.earlier.load()
    }

    /// Counts an async task that begins or ends. Only the ring's owner counts.
    #[inline(always)]
    pub(crate) fn count_task(&self, ends: bool) {
        let count = &self.tasks[usize::from(ends)];
        count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Publishes the owner's status.
    pub(crate) fn set_status(&self, status: Status) {
        self.status.store(status.code(), Relaxed);
    }

    /// The owner's status, see [`Status::code`].
    pub(crate) fn status_code(&self) -> u32 {
        self.status.load(Relaxed)
    }

    /// Publishes which signals have handlers without a lane: bit n - 1 for signal n.
    pub(crate) fn set_foreign_handlers(&self, signals: u64) {
        self.foreign_handlers.store(signals);
    }

    /// Publishes the ticks of the clock per second.
    pub(crate) fn set_clock_hz(&self, hz: u32) {
        self.clock_hz.store(hz, Relaxed);
    }
}
