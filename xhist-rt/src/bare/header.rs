//! The ring header on bare metal. Hosted rings have another one, see `crate::hosted::words`.

use core::cell::Cell;
use core::sync::atomic::{AtomicU16, AtomicU32, Ordering::Relaxed};

use qs_core::ring as layout;

use super::cores::CORES;
use crate::sync::{Word, fence};

/// The layout of `qs_core::ring`, field for field. Its core writes the atomic fields, also while another one changes the cells.
#[repr(C, align(8))]
pub(super) struct Header {
    magic: Word,
    mark: u32,
    facts: Cell<[u8; 4]>,
    header_len: u16,
    /// In units of [`layout::AHEAD`].
    ahead: AtomicU16,
    pub(super) size: u32,
    pub(super) map_hash: Word,
    pub(super) clock_hz: u32,
    check: Cell<u32>,
    state: Word,
    folded: Word,
    dropped: AtomicU32,
    /// Its core, the number of cores, and two reserved bytes.
    core: [u8; 4],
}

const _: () = {
    assert!(size_of::<Header>() == layout::BARE_HEADER_LEN);
    assert!(core::mem::offset_of!(Header, size) == 20);
    assert!(core::mem::offset_of!(Header, check) == 36);
    assert!(core::mem::offset_of!(Header, dropped) == 56);
};

impl Header {
    /// Offsets of the words with these names.
    pub(super) const STATE_AT: usize = core::mem::offset_of!(Header, state);
    pub(super) const FOLDED_AT: usize = core::mem::offset_of!(Header, folded);

    /// Initialises an empty ring. The magic comes last, so an unfinished header is not found.
    pub(super) fn init(&mut self, core: usize, header_len: usize, size: u32, flags: u8) {
        self.magic.store(0);
        fence();
        self.mark = layout::BYTE_ORDER_MARK;
        let facts = [layout::LAYOUT_VERSION, 0, qs_core::record::RECORD_BASE, flags];
        self.facts.set(facts);
        self.header_len = header_len as u16;
        self.ahead.store(0, Relaxed);
        self.size = size;
        self.map_hash.store(0);
        self.clock_hz = 0;
        self.check.set(check_word(layout::BYTE_ORDER_MARK, facts, header_len as u16, size));
        self.state.store(0);
        self.folded.store(0);
        self.dropped.store(0, Relaxed);
        self.core = if CORES > 1 { [core as u8, CORES as u8, 0, 0] } else { [0; 4] };
        fence();
        self.magic.store(u64::from_ne_bytes(layout::MAGIC));
    }

    /// Sets the width of statements' time stamps in bytes.
    pub(super) fn set_time_width(&self, width: u8) {
        self.magic.store(0);
        fence();
        let [version, _, base, flags] = self.facts.get();
        self.facts.set([version, width, base, flags]);
        self.check.set(self.check_word());
        fence();
        self.magic.store(u64::from_ne_bytes(layout::MAGIC));
    }

    /// Sets the flag of a program that records only function entries.
    pub(super) fn set_entries_only(&self) {
        self.set_flag(layout::Flags::ENTRIES);
    }

    /// Sets the flag of a program that records values.
    pub(super) fn set_values(&self) {
        self.set_flag(layout::Flags::VALUES);
    }

    /// Sets a flag that the check word leaves out.
    #[inline(always)]
    fn set_flag(&self, flag: layout::Flags) {
        let [version, width, base, flags] = self.facts.get();
        self.facts.set([version, width, base, flags | flag.0]);
    }

    /// Counts a statement that could not be recorded.
    #[cfg(feature = "multi-core")]
    pub(super) fn count_dropped(&self) {
        self.dropped.store(self.dropped.load(Relaxed).saturating_add(1), Relaxed);
    }

    /// Position from which on no byte is overwritten.
    pub(super) fn kept(&self) -> u64 {
        let head = layout::State(self.state.load()).head();
        (head + 2 * layout::frame_room(self.size as usize) as u64).saturating_sub(self.size.into())
    }

    /// Whether this is an undamaged header of [`Header::init`].
    #[cfg(feature = "keep")]
    pub(super) fn is_whole(&self, header_len: usize, size: u32) -> bool {
        self.magic.load() == u64::from_ne_bytes(layout::MAGIC)
            && self.check.get() == self.check_word()
            && (usize::from(self.header_len), self.size) == (header_len, size)
    }

    /// Whether the ring has the flag [`layout::Flags::EARLIER`].
    #[cfg(feature = "keep")]
    pub(super) fn is_earlier(&self) -> bool {
        self.facts.get()[3] & layout::Flags::EARLIER.0 != 0
    }

    /// The facts and the check word with the flag of a ring from an earlier run.
    #[cfg(feature = "keep")]
    pub(super) fn earlier(&self) -> ([u8; 4], u32) {
        let mut facts = self.facts.get();
        facts[3] |= layout::Flags::EARLIER.0;
        (facts, check_word(self.mark, facts, self.header_len, self.size))
    }

    /// Sets the flag of a ring from an earlier run.
    #[cfg(feature = "keep")]
    pub(super) fn mark_earlier(&self, (facts, check): ([u8; 4], u32)) {
        self.facts.set(facts);
        self.check.set(check);
    }

    fn check_word(&self) -> u32 {
        check_word(self.mark, self.facts.get(), self.header_len, self.size)
    }

    /// Announces that this number of bytes behind the head will be overwritten, more than readers expect.
    pub(super) fn set_ahead(&self, bytes: u64) {
        self.ahead.store(bytes.div_ceil(layout::AHEAD) as u16, Relaxed);
        fence();
    }
}

/// See [`layout::check_word`].
#[inline(always)]
fn check_word(mark: u32, facts: [u8; 4], header_len: u16, size: u32) -> u32 {
    let [a, b] = header_len.to_ne_bytes();
    let facts = [facts[0], facts[1], facts[2], facts[3] & !layout::Flags::AT_RUN_TIME.0];
    layout::check_word([mark, u32::from_ne_bytes(facts), u32::from_ne_bytes([a, b, 0, 0]), size])
}
