//! Layout of the ring header. All numbers are in the byte order of the target.
//!
//! | offset | field | |
//! |---|---|---|
//! | 0 | magic | 8 bytes, [`MAGIC`] |
//! | 8 | byte-order mark | u32, [`BYTE_ORDER_MARK`] |
//! | 12 | version, time width, record base, flags | 4 x u8 |
//! | 16 | header length, reserved | 2 x u16 |
//! | 20 | size | u32, bytes of ring behind the header, a power of two |
//! | 24 | map hash | u64, 0 = not known |
//! | 32 | clock rate | u32, ticks a second, 0 = not known |
//! | 36 | check | u32, [`check_word`] of bytes 8..24 as u32 words in native order, where reserved bytes and [`Flags::AT_RUN_TIME`] count as 0 |
//! | 40 | state | u64, [`State`]: frames closed so far, and where the open frame's data starts |
//! | 48 | folded | u64, [`Folded`]: repetitions of the newest closed frame |
//! | 56 | dropped | u32: number of statements that could not be recorded |
//! | 60 | core, cores, reserved | 2 x u8, u16: number of the core that writes the ring, and of all cores that have one; 0 cores = one ring for all |
//!
//! That is all of a bare-metal ring's header, version 3. Version 4 is the layout of a hosted ring, whose statements are words
//! ([`Flags::WORDS`]). Its header is one or more whole pages long (a length of 0 means 65,536), and the data starts at a page.
//! `ahead` is 0, and it has:
//!
//! | offset | field | |
//! |---|---|---|
//! | 48 | start by the calendar | u64: nanoseconds since 1970 at the start time, some milliseconds early at most; 0 = not known |
//! | 64 | last time | u64: the clock in full at the last time stamp |
//! | 72 | zeroed | u64: position behind the last byte that was zeroed for future words |
//! | 80 | trim | u64, [`Trim`]: the open chunk is being split |
//! | 88 | trim repetition | u64: the 8 bytes of that split's [`UnitRepetition`](crate::record::words::UnitRepetition) |
//! | 96 | lane, level | 2 x u16: 1 + number of the ring whose code this ring's signal handlers interrupted, 0 in a thread's own ring; nesting depth of the handlers |
//! | 100 | causes | u32, [`Causes`]: why statements or rings of this process are not here |
//! | 104 | open time | u64: the clock in full when the open chunk was opened |
//! | 112 | foreign handlers | u64: signals whose handlers were not installed through the C library |
//! | 120 | process id, thread id | 2 x u32 |
//! | 128 | status | u32, [`Status`] |
//! | 132 | number, rings | 2 x u16: number of the ring in its process, from 0; in ring 0 the number of rings of the process, 0 = not known |
//! | 136 | earlier | u64: bytes that earlier threads wrote into this ring |
//! | 144 | tasks | 2 x u32: async tasks that began and that ended in this ring, under all of its owners |
//! | 152 | anchor | u64: run-time address of the recorder's anchor function, 0 = not known |
//! | 160 | begin | u64, [`CheckedPosition`]: where the history begins, because the ring file was emptied while the program ran; 0 = it was not |
//! | 168 | start time | u64: the clock in full when the thread got its ring |
//! | 176 | cleared | 2 x u64, [`Shown`]: what readers must not show again, with its own check; the recorder never reads it |
//! | 192 | thread name | 128 bytes, UTF-8, zero-filled |
//! | 320 | pauses | 8 x [`Pause`] |
//! | 576 | moved | 128 bytes: words, see [`Trim::MOVED`] |
//! | 704 | prologue | u64, [`CheckedPosition`]: where the prologue ends; 0 = no prologue |
//! | 1024 | | the bytes of the prologue: the first frames of the history, up to the end of the header at most |

use core::fmt;
use core::ops::Range;

use super::flags::Flags;
use super::raw::{Order, Raw, array, check_word};
use super::state::{
    Causes, CheckedPosition, Folded, MOVED_UNITS, PAUSES, Pause, Shown, State, Trim, WordsPart,
};
use crate::record::packed;
use crate::record::words::UnitRepetition;

/// First bytes of every ring. Not text, so no string of a program equals them.
pub const MAGIC: [u8; 8] = [0x7E, b'x', b'H', b'i', b's', b't', 0xA7, 0x1D];
/// The byte-order mark. Its bytes show the byte order of a ring.
pub const BYTE_ORDER_MARK: u32 = 0x0A0B_0C0D;
/// Version of the layout of bare-metal rings.
pub const LAYOUT_VERSION: u8 = 3;
/// Version of the layout of hosted rings, which have words.
const WORDS_VERSION: u8 = 4;
/// Oldest version that this crate reads.
pub const OLDEST_VERSION: u8 = LAYOUT_VERSION;
/// Newest version that this crate reads.
pub const NEWEST_VERSION: u8 = WORDS_VERSION;
/// Length of the header of a bare-metal ring.
pub const BARE_HEADER_LEN: usize = 64;
/// Length of the part of a hosted header that every ring uses. [`WORDS_HEADER_LEN`] has the pauses and moved words too.
pub const HOSTED_HEADER_LEN: usize = 320;
/// Offset of the pauses in the header of a words ring.
pub const PAUSES_OFFSET: usize = 320;
/// Offset of the moved words, see [`Trim::MOVED`].
pub const MOVED_OFFSET: usize = PAUSES_OFFSET + PAUSES * size_of::<[u64; 4]>();
/// Offset of the prologue word, which says where the prologue ends.
pub const PROLOGUE_OFFSET: usize = MOVED_OFFSET + 2 * MOVED_UNITS;
/// Number of used bytes in the header of a words ring, without its prologue.
pub const WORDS_HEADER_LEN: usize = PROLOGUE_OFFSET + 8;
/// Offset of the bytes of the prologue in the header of a words ring. They go up to the end of the header at most.
pub const PROLOGUE_AT: usize = 1024;
/// Page sizes, and header lengths, of words rings.
pub const PAGES_OF_WORDS: core::ops::RangeInclusive<usize> = 4096..=65536;
/// Offset of the position behind the last zeroed byte in the header of a words ring.
const ZEROED_OFFSET: usize = 72;
/// Offset of the trim word, see [`Trim`].
const TRIM_OFFSET: usize = 80;
/// Offset of the trim's repetition.
const TRIM_REPETITION_OFFSET: usize = 88;
/// Offset of the lane. The level follows.
const LANE_OFFSET: usize = 96;
/// Offset of the causes of losses. It follows the level.
const CAUSES_OFFSET: usize = 100;
/// Offset of the position where the history begins.
const BEGIN_OFFSET: usize = 160;
/// Offset of the number of the core in a bare-metal header. The number of cores follows.
const CORE_OFFSET: usize = 60;
/// Offset of the start by the calendar. A bare-metal header has its folded word there.
pub const START_WALL_OFFSET: usize = 48;
/// Offset of the open chunk's time.
const OPEN_TIME_OFFSET: usize = 104;
/// Offset of the mask of foreign handlers.
const FOREIGN_HANDLERS_OFFSET: usize = 112;
/// Offset of the anchor in a hosted header.
const ANCHOR_OFFSET: usize = 152;
/// Offset of the counts of async tasks.
const TASKS_OFFSET: usize = 144;
/// Offset of the process id in a hosted header.
pub const PID_OFFSET: usize = 120;
/// Offset of the cleared words in a hosted header. Readers write these words on request, and no other bytes.
pub const CLEARED_OFFSET: usize = 176;
/// Length of the thread name in a hosted header, in bytes.
pub const NAME_LEN: usize = 128;
/// Offset of the thread name in a hosted header.
const NAME_OFFSET: usize = 192;
/// Number of a ring without frames. It counts losses while no ring can be created.
pub const SPARE_NUMBER: u16 = u16::MAX;
/// Smallest ring in bytes.
pub const MIN_SIZE: u32 = 64;
/// Largest ring in bytes.
pub const MAX_SIZE: u32 = 1 << 31;

/// Unit of the header's `ahead` field, in bytes.
pub const AHEAD: u64 = 16;

/// Largest distance from the start of an open packed frame to the next frame, in a ring with this size in bytes.
pub const fn frame_room(size: usize) -> usize {
    packed::MAX_HEADER + data_room(size) + 1 + packed::TRAILER
}

/// Largest number of bytes of data in a packed frame, in a ring with this size in bytes. Frames are prepared ahead, so a
/// small ring has small frames.
pub const fn data_room(size: usize) -> usize {
    let share = size / 8;
    if share < packed::MAX_DATA { share } else { packed::MAX_DATA }
}

/// State of a hosted ring's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Status {
    /// The thread runs, or its process was killed without notice.
    #[default]
    Live,
    /// The thread ended.
    Ended,
    /// The process ended through `exit` or by returning from `main`.
    Exited,
    /// The thread panicked.
    Panicked,
    /// A fatal signal ended the process in this thread.
    Killed,
}

impl Status {
    /// The number in the header.
    pub const fn code(self) -> u32 {
        match self {
            Status::Live => 1,
            Status::Ended => 2,
            Status::Exited => 3,
            Status::Panicked => 4,
            Status::Killed => 5,
        }
    }

    const fn from_code(code: u32) -> Status {
        match code {
            2 => Status::Ended,
            3 => Status::Exited,
            4 => Status::Panicked,
            5 => Status::Killed,
            _ => Status::Live,
        }
    }
}

/// Why bytes that start with the magic are not a ring header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Fewer bytes than a header has.
    Cut {
        /// Number of bytes that are there.
        present: usize,
    },
    /// The byte-order mark is wrong in either byte order.
    ByteOrder(u32),
    /// A layout of another version.
    Version(u8),
    /// The check word does not match: stale, overwritten, or never a header.
    Check,
    /// Impossible lengths.
    Size {
        /// Header length found.
        header_len: usize,
        /// Ring size found.
        size: u32,
    },
}

impl fmt::Display for HeaderError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Cut { present } => write!(f, "header cut off after {present} bytes"),
            HeaderError::ByteOrder(mark) => write!(f, "byte-order mark 0x{mark:08X} is neither way round"),
            HeaderError::Version(version) => {
                write!(
                    f,
                    "ring layout version {version} (this tool reads {OLDEST_VERSION} and {NEWEST_VERSION}); "
                )?;
                f.write_str(match *version > NEWEST_VERSION {
                    true => "update xhist",
                    false => "build the program again with this version of xhist",
                })
            }
            HeaderError::Check => f.write_str("header check word does not fit (overwritten or stale)"),
            HeaderError::Size { header_len, size } => {
                write!(f, "absurd sizes (header {header_len} bytes, ring {size} bytes)")
            }
        }
    }
}

impl core::error::Error for HeaderError {}

/// A ring header, read from an image.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Version of the layout.
    pub version: u8,
    /// The image is from a machine with the other byte order.
    pub swapped: bool,
    /// Width of statements' time stamps in bytes: 0 or 4.
    pub time_width: u8,
    /// Id of the first of xhist's records.
    pub record_base: u8,
    /// Flags.
    pub flags: Flags,
    /// Length of the header in bytes.
    pub header_len: usize,
    /// Number of bytes behind the head that a long record is overwriting. 0 without such a record.
    pub ahead: u64,
    /// Size of the ring in bytes, without the header.
    pub size: usize,
    /// Hash of the map of this build; 0 = not known.
    pub map_hash: u64,
    /// Ticks of the clock per second. 0 = not known.
    pub clock_hz: u32,
    /// The state word: closed frames and the open frame.
    pub state: State,
    /// Repetitions of the newest closed frame, in a bare-metal ring.
    pub folded: Folded,
    /// Number of statements that could not be recorded.
    pub dropped: u32,
    /// Number of the core that writes a bare-metal ring. 0 with one ring for all cores.
    pub core: u8,
    /// Number of the cores that have a ring each. 0 with one ring for all cores.
    pub cores: u8,
    /// The part that only words rings have.
    pub words: WordsPart,
    /// The clock in full at the last time stamp. 0 = not known.
    pub last_time: u64,
    /// Process id; 0 = not known.
    pub pid: u32,
    /// Thread id; 0 = not known.
    pub tid: u32,
    /// State of the owner.
    pub status: Status,
    /// Number of the ring in its process, from 0.
    pub number: u16,
    /// In ring 0, number of rings of the process. 0 = not known.
    pub rings: u16,
    /// The clock in full when the thread got its ring. 0 = not known.
    pub start_time: u64,
    /// Nanoseconds since 1970 at the start time; 0 = not known.
    pub start_wall: u64,
    /// What readers must not show again.
    pub cleared: Shown,
    /// The check of the cleared words does not match. Then nothing counts as shown.
    pub is_cleared_damaged: bool,
    /// Number of bytes that earlier threads wrote into this ring.
    pub earlier: u64,
    /// Run-time address of `xhist_rt::value::types::anchor` in the program. Less its address in the program's file, this is
    /// how far the program was moved when it was loaded. 0 = not known.
    pub anchor: u64,
    name: [u8; NAME_LEN],
}

impl Header {
    /// Reads the header at the start of `image`.
    ///
    /// # Errors
    /// [`HeaderError`] says why the bytes are no header.
    pub fn parse(image: &[u8]) -> Result<Header, HeaderError> {
        let bytes = image.get(..BARE_HEADER_LEN).ok_or(HeaderError::Cut { present: image.len() })?;
        let raw = Raw { bytes, order: byte_order(bytes)? };
        let [version, time_width, record_base, flags] = array(bytes, 12);
        let flags = Flags(flags);
        if !(OLDEST_VERSION..=NEWEST_VERSION).contains(&version) {
            return Err(HeaderError::Version(version));
        }
        // Only the first half of the third word is constant.
        let mut lens: [u8; 4] = array(bytes, 16);
        lens[2..].fill(0);
        let lens = raw.order.u32(&lens, 0);
        // The flags are the last byte of this word in memory.
        let facts =
            raw.order.u32(&[version, time_width, record_base, flags.without(Flags::AT_RUN_TIME).0], 0);
        if raw.u32(36) != check_word([raw.u32(8), facts, lens, raw.u32(20)]) {
            return Err(HeaderError::Check);
        }
        let size = raw.u32(20);
        let header_len = header_len(raw.u16(16));
        let fits = match (version, flags.has(Flags::WORDS)) {
            (LAYOUT_VERSION, false) => header_len == BARE_HEADER_LEN,
            (WORDS_VERSION, true) => {
                let is_page = header_len.is_power_of_two() && PAGES_OF_WORDS.contains(&header_len);
                is_page && header_len <= size as usize
            }
            _ => false,
        };
        if !fits || !is_valid_size(size) {
            return Err(HeaderError::Size { header_len, size });
        }
        let mut header = Header {
            version,
            swapped: raw.order.is_swapped(),
            time_width,
            record_base,
            flags,
            header_len,
            ahead: u64::from(raw.u16(18)) * AHEAD,
            size: size as usize,
            map_hash: raw.u64(24),
            clock_hz: raw.u32(32),
            state: State(raw.u64(40)),
            folded: if flags.has(Flags::WORDS) { Folded(0) } else { Folded(raw.u64(48)) },
            dropped: raw.u32(56),
            core: 0,
            cores: 0,
            words: WordsPart::default(),
            last_time: 0,
            pid: 0,
            tid: 0,
            status: Status::Live,
            number: 0,
            rings: 0,
            start_time: 0,
            start_wall: 0,
            cleared: Shown::default(),
            is_cleared_damaged: false,
            earlier: 0,
            anchor: 0,
            name: [0; NAME_LEN],
        };
        if header.has_words() {
            header.read_hosted(image, raw.order)?;
        } else {
            // A number that is not below theirs is damaged.
            let [core, cores] = array(bytes, CORE_OFFSET);
            (header.core, header.cores) = if core < cores { (core, cores) } else { (0, 0) };
        }
        Ok(header)
    }

    fn read_hosted(&mut self, image: &[u8], order: Order) -> Result<(), HeaderError> {
        let bytes = image.get(..HOSTED_HEADER_LEN).ok_or(HeaderError::Cut { present: image.len() })?;
        let raw = Raw { bytes, order };
        self.last_time = raw.u64(64);
        self.words = words_part(&Raw { bytes: image, order });
        self.read_prologue(CheckedPosition(Raw { bytes: image, order }.u64(PROLOGUE_OFFSET)));
        self.pid = raw.u32(PID_OFFSET);
        self.tid = raw.u32(124);
        self.status = Status::from_code(raw.u32(128));
        (self.number, self.rings) = (raw.u16(132), raw.u16(134));
        self.name = array(bytes, NAME_OFFSET);
        self.earlier = raw.u64(136);
        self.start_time = raw.u64(168);
        self.start_wall = raw.u64(START_WALL_OFFSET);
        self.anchor = raw.u64(ANCHOR_OFFSET);
        let cleared = Shown::from_words(raw.u64(CLEARED_OFFSET), raw.u64(CLEARED_OFFSET + 8));
        (self.cleared, self.is_cleared_damaged) = (cleared.unwrap_or_default(), cleared.is_none());
        Ok(())
    }

    fn read_prologue(&mut self, word: CheckedPosition) {
        // Then it is not known which positions the bytes have.
        if self.words.is_begin_damaged {
            return;
        }
        let from = self.prologue().start;
        let room = self.header_len.saturating_sub(PROLOGUE_AT) as u64;
        let is_possible = |end: &u64| (from + 1..=self.state.head()).contains(end) && end - from <= room;
        self.words.prologue = word.position().filter(is_possible);
        self.words.is_prologue_damaged = word != CheckedPosition::NOWHERE && self.words.prologue.is_none();
    }

    /// Positions of the prologue: the first frames of the history, which the header keeps. Empty without one.
    pub fn prologue(&self) -> Range<u64> {
        let from = self.words.begin.unwrap_or(0);
        from..self.words.prologue.unwrap_or(from)
    }

    /// Whether the first frame of the history is there: in the ring, or in the prologue.
    pub fn has_beginning(&self) -> bool {
        self.kept() == 0 || self.prologue().contains(&0)
    }

    /// Whether statements are words in chunks.
    pub const fn has_words(&self) -> bool {
        self.flags.has(Flags::WORDS)
    }

    /// Whether the program records only entries of functions.
    pub const fn has_entries_only(&self) -> bool {
        self.flags.has(Flags::ENTRIES)
    }

    /// Whether there may be values among the statements.
    pub const fn has_values(&self) -> bool {
        self.flags.has(Flags::VALUES)
    }

    /// Whether a bare-metal recorder wrote the ring.
    pub const fn is_bare(&self) -> bool {
        !self.has_words()
    }

    /// Name of the thread, if it has one.
    pub fn thread_name(&self) -> Option<&str> {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(NAME_LEN);
        let name = &self.name[..end];
        let name = match core::str::from_utf8(name) {
            Ok(name) => name,
            // The recorder may cut a long name inside a character.
            Err(error) => core::str::from_utf8(&name[..error.valid_up_to()]).unwrap_or(""),
        };
        (!name.is_empty()).then_some(name)
    }

    /// Position from which on no byte is overwritten. Older bytes may be overwritten by the current frame and, on bare
    /// metal, by the next one.
    pub fn kept(&self) -> u64 {
        if self.has_words() {
            let (head, size) = (self.state.head(), self.size as u64);
            // A chunk may exceed the zeroed bytes. A damaged word must not hide the ring.
            let is_possible = (head..=head.saturating_add(size)).contains(&self.words.zeroed);
            let kept = if is_possible { self.words.zeroed } else { head }.saturating_sub(size);
            return kept.max(self.words.begin.unwrap_or(0).min(head));
        }
        let ahead = (2 * frame_room(self.size) as u64).max(self.ahead);
        (self.state.head() + ahead).saturating_sub(self.size as u64)
    }
}

/// The length of a header from its field.
const fn header_len(found: u16) -> usize {
    if found == 0 { 1 << 16 } else { found as usize }
}

fn words_part(raw: &Raw<'_>) -> WordsPart {
    let begin = CheckedPosition(raw.u64(BEGIN_OFFSET));
    WordsPart {
        zeroed: raw.u64(ZEROED_OFFSET),
        trim: Trim(raw.u64(TRIM_OFFSET)),
        // These are bytes, so the byte order does not matter.
        trim_repetition: UnitRepetition::from_bytes(array(raw.bytes, TRIM_REPETITION_OFFSET)),
        parent: raw.u16(LANE_OFFSET).checked_sub(1),
        level: raw.u16(LANE_OFFSET + 2),
        causes: Causes(raw.u32(CAUSES_OFFSET)),
        open_time: raw.u64(OPEN_TIME_OFFSET),
        begin: begin.position(),
        is_begin_damaged: begin != CheckedPosition::NOWHERE && begin.position().is_none(),
        prologue: None,
        is_prologue_damaged: false,
        foreign_handlers: raw.u64(FOREIGN_HANDLERS_OFFSET),
        tasks: (raw.u32(TASKS_OFFSET), raw.u32(TASKS_OFFSET + 4)),
        pauses: core::array::from_fn(|index| {
            let at = PAUSES_OFFSET + 32 * index;
            Pause::from_words([raw.u64(at), raw.u64(at + 8), raw.u64(at + 16), raw.u64(at + 24)])
        }),
        moved: core::array::from_fn(|index| array(raw.bytes, MOVED_OFFSET + 8 * index)),
    }
}

/// Whether a ring can have this size.
const fn is_valid_size(size: u32) -> bool {
    size.is_power_of_two() && size >= MIN_SIZE && size <= MAX_SIZE
}

/// The byte order of the target that wrote this header.
pub(super) fn byte_order(bytes: &[u8]) -> Result<Order, HeaderError> {
    Order::of(bytes, BYTE_ORDER_MARK).map_err(HeaderError::ByteOrder)
}
