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
//! | 48 | folded | u64, [`Folded`]: how often the newest closed frames came again |
//! | 56 | dropped | u32: statements that could not be kept |
//! | 60 | touched | u32, [`Touched`]: a byte that an interrupted statement may be changing for a moment |
//!
//! A hosted ring's header goes on (320 bytes):
//!
//! | offset | field | |
//! |---|---|---|
//! | 64 | last time | u64: the clock in full at the last time stamp |
//! | 72 | nested | 3 x (start u64, state u64): what signal handlers wrote that interrupted the recorder; the start is one more than the position, 0 = none |
//! | 120 | process id, thread id | 2 x u32 |
//! | 128 | status | u32, [`Status`] |
//! | 132 | number, rings | 2 x u16: which ring of its process it is, from 0; in ring 0 how many rings its process has made, 0 = not known |
//! | 136 | earlier | u64: bytes that threads wrote into this ring before its thread got it |
//! | 144 | reserved | 3 x u64 |
//! | 168 | start time | u64: the clock in full when the thread got its ring |
//! | 176 | cleared | 2 x u64, [`Shown`]: what is not to be shown again, with a check of its own; the recorder never looks at it |
//! | 192 | thread name | 128 bytes, UTF-8, zero-filled |
//!
//! In version 2 a hosted header ended at 192, with 32 bytes of thread name at 136.
//!
//! Version 4 is that of words rings ([`FLAG_WORDS`]), which are hosted. `ahead`, `folded` and `touched` are 0 there. The header
//! is a page long (a length of 0 means 65,536), the data start a page, and 72..120 is:
//!
//! | offset | field | |
//! |---|---|---|
//! | 72 | zeroed | u64: position behind the last byte that was zeroed for words to come |
//! | 80 | trim | u64, [`Trim`]: the open chunk is being split |
//! | 88 | trim again | u64: the 8 bytes of that split's [`Again`](crate::record::words::Again) |
//! | 96 | lane, level | 2 x u16: one more than the number of the ring whose code this ring's signal handlers interrupted, 0 in a thread's own ring; how many handlers deep |
//! | 100 | reserved | u32 |
//! | 104 | open time | u64: the clock in full when the open chunk was opened |
//! | 112 | foreign handlers | u64: signals whose handlers were installed behind the C library's back |

use core::fmt;

use super::raw::{Order, Raw, array, check_word};
use super::state::{Folded, MOVED_UNITS, PAUSES, Pause, Shown, State, Touched, Trim, WordsPart};
use crate::record::packed;
use crate::record::words::Again;

/// First bytes of every ring. Not text, so that no string of a program looks like it.
pub const MAGIC: [u8; 8] = [0x7E, b'x', b'H', b'i', b's', b't', 0xA7, 0x1D];
/// Tells the byte order of a ring.
pub const BYTE_ORDER_MARK: u32 = 0x0A0B_0C0D;
/// Version of the layout of rings without words.
pub const LAYOUT_VERSION: u8 = 3;
/// Version of the layout of words rings.
pub const WORDS_VERSION: u8 = 4;
/// The oldest version that is still read.
pub const OLDEST_VERSION: u8 = 2;
/// The newest version that is read.
pub const NEWEST_VERSION: u8 = WORDS_VERSION;
/// Length of the header of a bare-metal ring.
pub const BARE_HEADER_LEN: usize = 64;
/// Length of the header of a hosted ring; that of a words ring is longer, see [`WORDS_HEADER_LEN`].
pub const HOSTED_HEADER_LEN: usize = 320;
/// Offset of the pauses in the header of a words ring.
pub const PAUSES_OFFSET: usize = 320;
/// Offset of the words that are being moved.
pub const MOVED_OFFSET: usize = PAUSES_OFFSET + PAUSES * size_of::<[u64; 4]>();
/// Bytes of the header of a words ring that have a meaning.
pub const WORDS_HEADER_LEN: usize = MOVED_OFFSET + 2 * MOVED_UNITS;
/// Shortest and longest page, and so header of a words ring.
pub const PAGES_OF_WORDS: core::ops::RangeInclusive<usize> = 4096..=65536;
/// The same in version 2.
const HOSTED_HEADER_LEN_2: usize = 192;
/// Offset of the position behind the last zeroed byte in the header of a words ring.
pub const ZEROED_OFFSET: usize = 72;
/// Offset of the trim word, see [`Trim`].
pub const TRIM_OFFSET: usize = 80;
/// Offset of the trim's repetition.
pub const TRIM_AGAIN_OFFSET: usize = 88;
/// Offset of the lane and, behind it, of the level.
pub const LANE_OFFSET: usize = 96;
/// Offset of the time at which the open chunk was opened.
pub const OPEN_TIME_OFFSET: usize = 104;
/// Offset of the mask of foreign handlers.
pub const FOREIGN_HANDLERS_OFFSET: usize = 112;
/// Where the process id stands in a hosted header.
pub const PID_OFFSET: usize = 120;
/// Where the cleared words stand in a hosted header. Readers write them, when they are asked to, and nothing else.
pub const CLEARED_OFFSET: usize = 176;
/// Bytes of the thread name in a hosted header.
pub const NAME_LEN: usize = 128;
/// Where the thread name stands, and its length, in versions 2 and 3.
const NAME_2: (usize, usize) = (136, 32);
const NAME_3: (usize, usize) = (192, NAME_LEN);
/// Number of a ring without frames, which counts what is lost while no ring can be made.
pub const SPARE_NUMBER: u16 = u16::MAX;
/// Smallest ring.
pub const MIN_SIZE: u32 = 64;
/// Largest ring.
pub const MAX_SIZE: u32 = 1 << 31;
/// Signal handlers that may be inside each other's appends; the innermost of more drops its statements.
pub const NESTED: usize = 3;
/// Most bytes of a frame that is not packed: an event with every byte escaped is shorter.
const SINGLE_ROOM: u64 = 40;
/// Flag: statements need not carry time stamps, be it before there was a second thread or between two stamps.
pub const FLAG_TIME_AUTO: u8 = 1;
/// Flag: there may be packed frames, and behind the newest frame a recorder may be preparing the next.
pub const FLAG_PACKED: u8 = 2;
/// Flag: time stamps are tickets of one counter that all threads of the process share, so their order is exact; they
/// are no times.
pub const FLAG_EXACT: u8 = 4;
/// Flag: a ring of bare metal that an earlier run wrote, before a reset.
pub const FLAG_EARLIER: u8 = 8;
/// Flag: the clock is the system's monotonic clock, because the processor's counter cannot be trusted.
pub const FLAG_MONOTONIC: u8 = 16;

/// Flag: statements are words in chunks, see [`words`](crate::record::words); the layout is version 4.
pub const FLAG_WORDS: u8 = 32;

/// Flag: only entries of functions are recorded. The recorder sets it when the program says so, so the check word leaves it out.
pub const FLAG_ENTRIES: u8 = 64;

/// Unit of the header's word about long records.
pub const AHEAD: u64 = 16;

/// Most bytes from the start of an open packed frame to where the next frame may begin, in a ring of this size.
pub const fn frame_room(size: usize) -> usize {
    packed::MAX_HEADER + data_room(size) + 1 + packed::TRAILER
}

/// Most bytes of data in a packed frame of a ring of this size. A frame is prepared ahead, so a small ring has
/// small frames.
pub const fn data_room(size: usize) -> usize {
    let share = size / 8;
    if share < packed::MAX_DATA { share } else { packed::MAX_DATA }
}

/// Where the owner of a hosted ring stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Status {
    /// The thread runs, or its process died without a word.
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

/// Why bytes that start with the magic are no ring header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Fewer bytes than a header has.
    Cut {
        /// Bytes there.
        present: usize,
    },
    /// The byte-order mark is neither way round.
    ByteOrder(u32),
    /// A layout of another version.
    Version(u8),
    /// The check word does not fit: stale, overwritten or never a header.
    Check,
    /// Lengths that no recorder writes.
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
    /// The image is of a machine of the other byte order.
    pub swapped: bool,
    /// Bytes of the time stamp of statements: 0 or 4.
    pub time_width: u8,
    /// Id of the first of xhist's records.
    pub record_base: u8,
    /// Flags, see [`FLAG_TIME_AUTO`].
    pub flags: u8,
    /// Bytes of header before the frames.
    pub header_len: usize,
    /// Bytes behind the head that a long record under way may overwrite; 0 when none is.
    pub ahead: u64,
    /// Bytes of ring.
    pub size: usize,
    /// Hash of the map of this build; 0 = not known.
    pub map_hash: u64,
    /// Ticks of the clock a second; 0 = not known.
    pub clock_hz: u32,
    /// Frames closed and open.
    pub state: State,
    /// How often the newest closed frame came again.
    pub folded: Folded,
    /// Statements that could not be kept.
    pub dropped: u32,
    /// A byte that is not what it seems.
    pub touched: Touched,
    /// What signal handlers wrote: one more than where it starts, and its state. Those that start before the state
    /// they interrupted are over.
    pub nested: [(u64, State); NESTED],
    /// What only words rings have.
    pub words: WordsPart,
    /// The clock in full at the last time stamp; 0 = not known.
    pub last_time: u64,
    /// Process id; 0 = not known.
    pub pid: u32,
    /// Thread id; 0 = not known.
    pub tid: u32,
    /// Where the owner stands.
    pub status: Status,
    /// Which ring of its process it is, from 0.
    pub number: u16,
    /// In ring 0, how many rings its process has made; 0 = not known.
    pub rings: u16,
    /// The clock in full when the thread got its ring; 0 = not known.
    pub start_time: u64,
    /// What is not to be shown again.
    pub cleared: Shown,
    /// The check of the cleared words does not match, so nothing counts as shown.
    pub is_cleared_damaged: bool,
    /// Bytes that threads wrote into this ring before its thread got it; 0 in version 2.
    pub earlier: u64,
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
        if !(OLDEST_VERSION..=NEWEST_VERSION).contains(&version) {
            return Err(HeaderError::Version(version));
        }
        // Of the third word only the first half stays as it is.
        let mut lens: [u8; 4] = array(bytes, 16);
        lens[2..].fill(0);
        let lens = raw.order.u32(&lens, 0);
        // The flags are its last byte in the machine's own order.
        let facts = raw.order.u32(&[version, time_width, record_base, flags & !FLAG_ENTRIES], 0);
        if raw.u32(36) != check_word([raw.u32(8), facts, lens, raw.u32(20)]) {
            return Err(HeaderError::Check);
        }
        let size = raw.u32(20);
        let header_len = header_len(raw.u16(16));
        let fits = match flags & FLAG_WORDS {
            0 => [BARE_HEADER_LEN, HOSTED_HEADER_LEN_2, HOSTED_HEADER_LEN].contains(&header_len),
            _ => {
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
            folded: Folded(raw.u64(48)),
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
            cleared: Shown::default(),
            is_cleared_damaged: false,
            earlier: 0,
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
        let cleared = Shown::from_words(raw.u64(CLEARED_OFFSET), raw.u64(CLEARED_OFFSET + 8));
        (self.cleared, self.is_cleared_damaged) = (cleared.unwrap_or_default(), cleared.is_none());
        Ok(())
    }

    /// Whether statements are words in chunks.
    pub const fn has_words(&self) -> bool {
        self.flags & FLAG_WORDS != 0
    }

    /// Whether the program records only entries of functions.
    pub const fn has_entries_only(&self) -> bool {
        self.flags & FLAG_ENTRIES != 0
    }

    /// Whether a recorder without an operating system wrote it.
    pub const fn is_bare(&self) -> bool {
        self.header_len == BARE_HEADER_LEN
    }

    /// Name of the thread, where it has one.
    pub fn thread_name(&self) -> Option<&str> {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(NAME_LEN);
        let name = &self.name[..end];
        let name = match core::str::from_utf8(name) {
            Ok(name) => name,
            // The recorder cuts a long name anywhere, perhaps inside a character.
            Err(error) => core::str::from_utf8(&name[..error.valid_up_to()]).unwrap_or(""),
        };
        (!name.is_empty()).then_some(name)
    }

    /// The parts of the history, oldest first: where each starts (none for the first), and its state. Later
    /// ones were written by signal handlers inside an append to the one before.
    pub fn parts(&self) -> impl Iterator<Item = (Option<u64>, State)> + use<> {
        let (first, nested) = (self.state, self.nested);
        let mut below = first;
        let nested = nested.into_iter().filter_map(move |(start, state)| {
            let start = start.checked_sub(1)?;
            // Once a part was taken over, its state is that of the one below.
            let is_over = start < below.head() || state.head() < start || state == below;
            below = if is_over { below } else { state };
            (!is_over).then_some((Some(start), state))
        });
        core::iter::once((None, first)).chain(nested)
    }

    /// Position from which on nothing is overwritten: the frame under way, and the one after it where frames are
    /// packed, may have begun to overwrite what is older.
    pub fn kept(&self) -> u64 {
        if self.has_words() {
            // A chunk may run beyond what was zeroed; a damaged word must not hide everything.
            let (head, size) = (self.state.head(), self.size as u64);
            return self.words.zeroed.clamp(head, head.saturating_add(size)).saturating_sub(size);
        }
        let ahead = match self.flags & FLAG_PACKED {
            0 => SINGLE_ROOM.min(self.size as u64 / 4),
            _ => 2 * frame_room(self.size) as u64,
        };
        (self.newest().head() + ahead.max(self.ahead)).saturating_sub(self.size as u64)
    }

    /// The state of the newest part.
    pub fn newest(&self) -> State {
        self.parts().last().map_or(self.state, |(_, state)| state)
    }
}

/// The length in a header.
const fn header_len(found: u16) -> usize {
    if found == 0 { 1 << 16 } else { found as usize }
}

fn words_part(raw: &Raw<'_>) -> WordsPart {
    WordsPart {
        zeroed: raw.u64(ZEROED_OFFSET),
        trim: Trim(raw.u64(TRIM_OFFSET)),
        // They are bytes, so their order is that in memory.
        trim_again: Again::from_bytes(array(raw.bytes, TRIM_AGAIN_OFFSET)),
        parent: raw.u16(LANE_OFFSET).checked_sub(1),
        level: raw.u16(LANE_OFFSET + 2),
        open_time: raw.u64(OPEN_TIME_OFFSET),
        foreign_handlers: raw.u64(FOREIGN_HANDLERS_OFFSET),
        pauses: core::array::from_fn(|index| {
            let at = PAUSES_OFFSET + 32 * index;
            Pause::from_words([raw.u64(at), raw.u64(at + 8), raw.u64(at + 16), raw.u64(at + 24)])
        }),
        moved: core::array::from_fn(|index| array(raw.bytes, MOVED_OFFSET + 8 * index)),
    }
}

/// Whether a recorder may have made a ring of this size.
pub const fn is_valid_size(size: u32) -> bool {
    size.is_power_of_two() && size >= MIN_SIZE && size <= MAX_SIZE
}

/// The byte order of the target that wrote this header.
pub(super) fn byte_order(bytes: &[u8]) -> Result<Order, HeaderError> {
    Order::of(bytes, BYTE_ORDER_MARK).map_err(HeaderError::ByteOrder)
}
