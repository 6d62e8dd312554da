//! The state of a thread, its track and its signal handlers, as memory.

use core::cell::UnsafeCell;
use core::ops::Range;
use core::ptr::without_provenance_mut;
use core::sync::atomic::{AtomicU64, AtomicUsize};

use crate::hosted::system::lanes::{LANES, Lanes};
use crate::hosted::system::mirror::{self, Region};
use crate::hosted::words::{Place, WordsWriter};

/// What a thread knows of its ring. In the program's image `cursor` is [`SCRATCH`] and all else is zero.
#[repr(C)]
pub(crate) struct ThreadState {
    /// Where the next word goes.
    pub(crate) cursor: *mut u8,
    /// A check that finds the cursor here or behind calls the slow path; 0 = every check does. Other threads may
    /// store 0.
    pub(crate) limit: AtomicUsize,
    /// Null at first; [`OFF`] for a thread that is not recorded. Only the slow path uses it.
    pub(crate) track: *mut Track,
    /// Null until the first signal handler of the thread runs.
    pub(crate) handlers: *mut Handlers,
}

/// In [`ThreadState::track`]: this thread is not recorded.
pub(super) const OFF: *mut Track = without_provenance_mut(1);

/// Bytes of [`SCRATCH`]: more than a thread writes before its first check.
const SCRATCH_LEN: usize = 64 * 1024;

/// Where a thread writes words before its first check. Nothing reads them.
#[repr(align(64))]
pub(crate) struct Scratch(UnsafeCell<[u8; SCRATCH_LEN]>);

// SAFETY: threads only write the bytes, and no code reads them.
unsafe impl Sync for Scratch {}

impl Scratch {
    pub(crate) const fn start(&'static self) -> *mut u8 {
        self.0.get().cast()
    }
}

pub(crate) static SCRATCH: Scratch = Scratch(UnsafeCell::new([0; SCRATCH_LEN]));

/// One ring, and where its thread continues in it.
pub(crate) struct Track {
    pub(crate) writer: WordsWriter,
    /// Where the next word goes. While the thread writes words, the cursor in its [`ThreadState`] is ahead of this one.
    pub(crate) place: Place,
    /// Number of its slot among the rings of the process.
    pub(crate) slot: u16,
    /// Addresses that a cursor of this ring may have.
    pub(crate) addresses: Range<usize>,
    /// [`mirror::cuts`] when its header was looked at last.
    pub(crate) cuts: usize,
    /// A trigger has stopped recording, so the thread writes its words to scratch memory.
    pub(crate) is_parked: bool,
    /// Signal handlers write this ring.
    pub(crate) is_lane: bool,
    /// The slow path is changing this track. A signal handler that comes now must not use the writer.
    pub(super) is_busy: bool,
    /// While `is_busy`: the position where the words ended when the slow path began.
    pub(super) busy_at: u64,
    /// While `is_busy`: the position where words continue after the slow path has moved them, 0 before; and
    /// [`TAKEN`]. A handler and the slow path agree on it with one atomic instruction.
    pub(crate) moved: AtomicU64,
    /// No handler has come since the chunk was opened, so no position in the chunk has to stay.
    pub(crate) may_fold: bool,
    /// Number of roll-overs, modulo 256.
    pub(crate) roll_overs: u8,
    pub(crate) pending: Pending,
    pub(crate) printing: Printing,
}

/// What the thread of a track is printing through the recorder.
#[derive(Clone, Copy)]
pub(crate) enum Printing {
    /// Nothing: what it writes is not recorded yet.
    Nothing,
    /// A macro gives a text to its stream, and this much of it is not written yet.
    Text { rest: *const [u8], is_err: bool },
    /// What is not the program's output, such as the message of a panic.
    Muted,
}

/// What the thread of a track catches up on at its next check.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pending {
    pub(crate) panic: Option<Panic>,
    /// A handler made the ring, perhaps before the thread was named.
    pub(crate) name: bool,
}

/// A panic that may have been caught.
#[derive(Clone, Copy)]
pub(crate) struct Panic {
    /// The thread had a signal stack. The standard library takes it down when the thread's function has ended.
    pub(crate) has_signal_stack: bool,
    /// Destructors or a panic hook have recorded since.
    pub(crate) has_recorded: bool,
}

/// In [`Track::moved`]: a handler has taken the position for its own event, so words must not move any more.
pub(crate) const TAKEN: u64 = 1 << 63;

impl Track {
    /// A track that continues at this place of its ring.
    pub(crate) fn new(writer: WordsWriter, place: Place, addresses: Range<usize>, slot: u16) -> Track {
        Track {
            writer,
            place,
            slot,
            addresses,
            cuts: mirror::cuts(),
            is_parked: false,
            is_lane: false,
            is_busy: false,
            busy_at: 0,
            moved: AtomicU64::new(0),
            may_fold: true,
            roll_overs: 0,
            pending: Pending::default(),
            printing: Printing::Nothing,
        }
    }

    /// Whether the header is there. Another process may have emptied the ring file, or cut it.
    #[inline(always)]
    pub(crate) fn has_header(&self) -> bool {
        self.writer.header().is_there() && self.cuts == mirror::cuts()
    }

    /// The same, if this ring was not the one that was cut.
    #[cold]
    pub(crate) fn has_header_still(&mut self) -> bool {
        // The number comes first: a cut that comes meanwhile changes it again.
        self.cuts = mirror::cuts();
        let is_cut = Region::of(without_provenance_mut(self.addresses.start)).is_some_and(Region::take_cut);
        self.writer.header().is_there() && !is_cut
    }

    /// Whether a cursor points into the ring's memory.
    #[inline(always)]
    pub(crate) fn has(&self, cursor: *mut u8) -> bool {
        self.addresses.contains(&cursor.addr())
    }
}

/// The signal handlers of one thread. All zeros at first.
#[repr(C)]
pub(crate) struct Handlers {
    pub(crate) lanes: Lanes,
    /// The thread's own track.
    pub(crate) own: *mut Track,
    /// The track of each level that a handler has used.
    pub(crate) tracks: [*mut Track; LANES],
    /// The track that the thread had when the handler of each level came. A handler may come while a handler that has
    /// returned is leaving its lane.
    pub(crate) previous: [*mut Track; LANES],
    /// Number of running handlers without a lane, and the track that the first of them has interrupted.
    pub(crate) without_lane: usize,
    pub(crate) interrupted: *mut Track,
    /// The thread got another track while its handlers ran.
    pub(crate) is_moved: bool,
}
