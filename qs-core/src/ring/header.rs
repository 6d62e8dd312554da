//! Layout of the ring header, versions 2 to 4. All numbers are in the byte order of the target.
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
//! | 36 | check | u32, FNV-1a of bytes 8..24 as u32 words in native order |
//! | 40 | state | u64, [`State`]: frames closed so far, and where the open frame's data starts |
//! | 48 | folded | u64, [`Folded`]: repetitions of the newest closed frame |
//! | 56 | dropped | u32: number of statements that could not be recorded |
//! | 60 | touched | u32, [`Touched`]: a byte that an interrupted statement is changing |
//!
//! The header of a hosted ring has 320 bytes:
//!
//! | offset | field | |
//! |---|---|---|
//! | 64 | last time | u64: the clock in full at the last time stamp |
//! | 72 | nested | 3 x (start u64, state u64): parts written by signal handlers that interrupted the recorder; start is 1 + position, 0 = no part |
//! | 120 | process id, thread id | 2 x u32 |
//! | 128 | status | u32, [`Status`] |
//! | 132 | number, rings | 2 x u16: number of the ring in its process, from 0; in ring 0 the number of rings of the process, 0 = not known |
//! | 136 | earlier | u64: bytes that earlier threads wrote into this ring |
//! | 144 | reserved | u64 |
//! | 152 | anchor | u64: run-time address of the recorder's anchor function, 0 = not known |
//! | 168 | start time | u64: the clock in full when the thread got its ring |
//! | 176 | cleared | 2 x u64, [`Shown`]: what readers must not show again, with its own check; the recorder never reads it |
//! | 192 | thread name | 128 bytes, UTF-8, zero-filled |
//!
//! In version 2 a hosted header ended at 192, with 32 bytes of thread name at 136.
//!
//! Version 4 is the layout of words rings ([`Flags::WORDS`]), which are hosted. `ahead` and `touched` are 0. The
//! header is one page long (a length of 0 means 65,536), the data starts at a page, and 72..120 is:
//!
//! | offset | field | |
//! |---|---|---|
//! | 72 | zeroed | u64: position behind the last byte that was zeroed for future words |
//! | 80 | trim | u64, [`Trim`]: the open chunk is being split |
//! | 88 | trim repetition | u64: the 8 bytes of that split's [`UnitRepetition`](crate::record::words::UnitRepetition) |
//! | 96 | lane, level | 2 x u16: 1 + number of the ring whose code this ring's signal handlers interrupted, 0 in a thread's own ring; nesting depth of the handlers |
//! | 100 | causes | u32, [`Causes`]: why rings of this process are not here |
//! | 104 | open time | u64: the clock in full when the open chunk was opened |
//! | 112 | foreign handlers | u64: signals whose handlers were not installed through the C library |
//! | 48 | start by the calendar | u64: nanoseconds since 1970 at the start time, some milliseconds early at most; 0 = not known |
//! | 160 | begin | u64, [`Begin`]: where the history begins, because the ring file was emptied while the program ran; 0 = it was not |
//! | 144 | tasks | 2 x u32: async tasks that began and that ended in this ring, under all of its owners |

use core::fmt;

use super::flags::Flags;
use super::raw::{Order, Raw, array, check_word};
use super::state::{
    Begin, Causes, Folded, MOVED_UNITS, PAUSES, Pause, Shown, State, Touched, Trim, WordsPart,
};
use crate::record::packed;
use crate::record::words::UnitRepetition;

/// First bytes of every ring. Not text, so no string of a program equals them.
pub const MAGIC: [u8; 8] = [0x7E, b'x', b'H', b'i', b's', b't', 0xA7, 0x1D];
/// The byte-order mark. Its bytes show the byte order of a ring.
pub const BYTE_ORDER_MARK: u32 = 0x0A0B_0C0D;
/// Version of the layout of rings without words.
pub const LAYOUT_VERSION: u8 = 3;
/// Version of the layout of words rings.
const WORDS_VERSION: u8 = 4;
/// Oldest version that this crate reads.
pub const OLDEST_VERSION: u8 = 2;
/// Newest version that this crate reads.
pub const NEWEST_VERSION: u8 = WORDS_VERSION;
/// Length of the header of a bare-metal ring.
pub const BARE_HEADER_LEN: usize = 64;
/// Length of the header of a hosted ring. That of a words ring is longer, see [`WORDS_HEADER_LEN`].
pub const HOSTED_HEADER_LEN: usize = 320;
/// Offset of the pauses in the header of a words ring.
pub const PAUSES_OFFSET: usize = 320;
/// Offset of the moved words, see [`Trim::MOVED`].
pub const MOVED_OFFSET: usize = PAUSES_OFFSET + PAUSES * size_of::<[u64; 4]>();
/// Number of used bytes in the header of a words ring.
pub const WORDS_HEADER_LEN: usize = MOVED_OFFSET + 2 * MOVED_UNITS;
/// Page sizes, and so header lengths, of words rings.
pub const PAGES_OF_WORDS: core::ops::RangeInclusive<usize> = 4096..=65536;
/// Length of the header of a hosted ring in version 2.
const HOSTED_HEADER_LEN_2: usize = 192;
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
/// Offset of the start by the calendar, in rings of words: packed rings have their folded word there.
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
/// Offset and length of the thread name in versions 2 and 3.
const NAME_2: (usize, usize) = (136, 32);
const NAME_3: (usize, usize) = (192, NAME_LEN);
/// Number of a ring without frames. It counts losses while no ring can be created.
pub const SPARE_NUMBER: u16 = u16::MAX;
/// Smallest ring in bytes.
pub const MIN_SIZE: u32 = 64;
/// Largest ring in bytes.
pub const MAX_SIZE: u32 = 1 << 31;
/// Largest number of signal handlers that interrupt each other inside the recorder. A deeper handler drops its statements.
pub const NESTED: usize = 3;
/// Upper bound for a frame that is not packed: an event with every byte escaped is shorter.
const SINGLE_ROOM: u64 = 40;

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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Cut { present } => write!(f, "header cut off after {present} bytes"),
            HeaderError::ByteOrder(mark) => write!(f, "byte-order mark 0x{mark:08X} is neither way round"),
            HeaderError::Version(version) => {
                write!(
                    f,
                    "ring layout version {version} (this tool reads {OLDEST_VERSION} to {NEWEST_VERSION}); update xhist"
                )
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
    /// Repetitions of the newest closed frame.
    pub folded: Folded,
    /// Number of statements that could not be recorded.
    pub dropped: u32,
    /// A byte with a temporary value.
    pub touched: Touched,
    /// Parts that signal handlers wrote: 1 + position of the start, and the state. A part that starts before the state that
    /// it interrupted has ended.
    pub nested: [(u64, State); NESTED],
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
    /// Number of bytes that earlier threads wrote into this ring. 0 in version 2.
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
        let fits = match flags.has(Flags::WORDS) {
            false => [BARE_HEADER_LEN, HOSTED_HEADER_LEN_2, HOSTED_HEADER_LEN].contains(&header_len),
            true => {
                let is_page = header_len.is_power_of_two() && PAGES_OF_WORDS.contains(&header_len);
                is_page && header_len <= size as usize && version >= WORDS_VERSION
            }
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
            touched: Touched(raw.u32(60)),
            nested: [(0, State(0)); NESTED],
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
        if header.header_len > BARE_HEADER_LEN {
            header.read_hosted(image, raw.order)?;
        }
        Ok(header)
    }

    fn read_hosted(&mut self, image: &[u8], order: Order) -> Result<(), HeaderError> {
        let len = self.header_len.min(HOSTED_HEADER_LEN);
        let bytes = image.get(..len).ok_or(HeaderError::Cut { present: image.len() })?;
        let raw = Raw { bytes, order };
        self.last_time = raw.u64(64);
        if self.has_words() {
            self.words = words_part(&Raw { bytes: image, order });
        } else {
            for (index, nested) in self.nested.iter_mut().enumerate() {
                *nested = (raw.u64(72 + 16 * index), State(raw.u64(80 + 16 * index)));
            }
        }
        self.pid = raw.u32(PID_OFFSET);
        self.tid = raw.u32(124);
        self.status = Status::from_code(raw.u32(128));
        (self.number, self.rings) = (raw.u16(132), raw.u16(134));
        let is_long = self.header_len >= HOSTED_HEADER_LEN;
        let (name_at, name_len) = if is_long { NAME_3 } else { NAME_2 };
        if let Some(name) = bytes.get(name_at..name_at + name_len) {
            self.name[..name_len].copy_from_slice(name);
        }
        self.earlier = if is_long { raw.u64(136) } else { 0 };
        self.start_time = raw.u64(168);
        self.start_wall = if self.has_words() { raw.u64(START_WALL_OFFSET) } else { 0 };
        self.anchor = if is_long { raw.u64(ANCHOR_OFFSET) } else { 0 };
        let cleared = Shown::from_words(raw.u64(CLEARED_OFFSET), raw.u64(CLEARED_OFFSET + 8));
        (self.cleared, self.is_cleared_damaged) = (cleared.unwrap_or_default(), cleared.is_none());
        Ok(())
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
        self.header_len == BARE_HEADER_LEN
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

    /// The parts of the history, oldest first: start position (`None` for the first part) and state. Signal handlers wrote the
    /// later parts, each while it interrupted an append to the previous part.
    pub fn parts(&self) -> impl Iterator<Item = (Option<u64>, State)> + use<> {
        let (first, nested) = (self.state, self.nested);
        let mut below = first;
        let nested = nested.into_iter().filter_map(move |(start, state)| {
            let start = start.checked_sub(1)?;
            // A part that was merged has the state of the part below.
            let is_over = start < below.head() || state.head() < start || state == below;
            below = if is_over { below } else { state };
            (!is_over).then_some((Some(start), state))
        });
        core::iter::once((None, first)).chain(nested)
    }

    /// Position from which on no byte is overwritten. Older bytes may be overwritten by the current frame and, if frames are
    /// packed, by the next one.
    pub fn kept(&self) -> u64 {
        if self.has_words() {
            // A chunk may exceed the zeroed bytes. A damaged word must not hide the whole ring.
            let (head, size) = (self.state.head(), self.size as u64);
            let kept = self.words.zeroed.clamp(head, head.saturating_add(size)).saturating_sub(size);
            return kept.max(self.words.begin.min(head));
        }
        let ahead = match self.flags.has(Flags::PACKED) {
            false => SINGLE_ROOM.min(self.size as u64 / 4),
            true => 2 * frame_room(self.size) as u64,
        };
        (self.newest().head() + ahead.max(self.ahead)).saturating_sub(self.size as u64)
    }

    /// The state of the newest part.
    pub fn newest(&self) -> State {
        self.parts().last().map_or(self.state, |(_, state)| state)
    }
}

/// The length of a header from its field.
const fn header_len(found: u16) -> usize {
    if found == 0 { 1 << 16 } else { found as usize }
}

fn words_part(raw: &Raw<'_>) -> WordsPart {
    let begin = Begin(raw.u64(BEGIN_OFFSET)).position();
    WordsPart {
        zeroed: raw.u64(ZEROED_OFFSET),
        trim: Trim(raw.u64(TRIM_OFFSET)),
        // These are bytes, so the byte order does not matter.
        trim_repetition: UnitRepetition::from_bytes(array(raw.bytes, TRIM_REPETITION_OFFSET)),
        parent: raw.u16(LANE_OFFSET).checked_sub(1),
        level: raw.u16(LANE_OFFSET + 2),
        causes: Causes(raw.u32(CAUSES_OFFSET)),
        open_time: raw.u64(OPEN_TIME_OFFSET),
        begin: begin.unwrap_or_default(),
        is_begin_damaged: begin.is_none(),
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
