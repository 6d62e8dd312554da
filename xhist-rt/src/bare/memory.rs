//! The ring in memory: its bytes, its header, and the ring that survives a reset.
//!
//! Interrupts are masked in calls of all functions that write, except for [`lay_out`].

use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::sync::atomic::{self, AtomicPtr, Ordering};

use qs_core::ring::{BARE_HEADER_LEN, Flags, Folded, State, frame_room};

use super::cores::{self, CORES};
use super::header::Header;
use super::mask::masked_with;

/// Size of the ring in bytes. `XHIST_RING_SIZE` in the environment of the compiler changes it.
pub const RING_SIZE: usize = crate::ring_size::compiled(4096) as usize;

/// Mask that turns a position into an index in the ring.
pub(super) const MASK: usize = RING_SIZE - 1;

/// A ring: header and data.
#[repr(C, align(8))]
pub(crate) struct Ring {
    header: [u8; BARE_HEADER_LEN],
    data: [u8; RING_SIZE],
}

/// Number of rings of a core. With `keep`, two take turns, so one survives a reset.
pub(super) const RINGS: usize = if cfg!(feature = "keep") { 2 } else { 1 };

#[repr(transparent)]
pub(super) struct Memory(UnsafeCell<[[Ring; CORES]; RINGS]>);

// SAFETY: the functions of this module write the rings only while interrupts are masked.
unsafe impl Sync for Memory {}

/// The ring, for debuggers: `dump binary value dump.bin XHIST_RING`. It is zero until the first statement initialises it, so
/// it takes no space in flash. With `keep`, two rings that start-up code must not clear.
#[unsafe(no_mangle)]
#[cfg_attr(feature = "keep", unsafe(link_section = ".uninit.xhist"))]
static XHIST_RING: Memory = Memory(UnsafeCell::new(
    [const { [const { Ring { header: [0; BARE_HEADER_LEN], data: [0; RING_SIZE] } }; CORES] }; RINGS],
));

/// The ring that is written, the first one of several cores. Null until it is initialised.
static CURRENT: AtomicPtr<Ring> = AtomicPtr::new(core::ptr::null_mut());

/// Initialises the ring at the first call. Returns whether this was the first one.
#[inline(always)]
pub(super) fn lay_out() -> bool {
    let is_first = CURRENT.load(SEEN).is_null();
    if is_first {
        begin();
    }
    is_first
}

/// How another core sees the headers behind the pointer.
const SEEN: Ordering = if CORES > 1 { Ordering::Acquire } else { Ordering::Relaxed };

/// The first of the rings that are written in the same run.
pub(super) fn ring(number: usize) -> *mut Ring {
    XHIST_RING.0.get().cast::<Ring>().wrapping_add(number * CORES)
}

/// The ring of this core. One without a ring sees the last one, and never writes it.
#[inline(always)]
fn own() -> *mut Ring {
    CURRENT.load(SEEN).wrapping_add(cores::place())
}

/// The rings that are written.
pub(super) fn rings() -> impl Iterator<Item = *const Ring> {
    let first = CURRENT.load(SEEN);
    (0..CORES).map(move |core| first.wrapping_add(core).cast_const())
}

/// The headers of the rings that are written. The caller is in [`cores::between`].
pub(super) fn headers<'a>() -> impl Iterator<Item = &'a Header> {
    // SAFETY: `lay_out` was called, so each is a header. Others only change its atomic fields meanwhile.
    rings().map(|ring| unsafe { &*ring.cast::<Header>() })
}

/// Counts a statement of a core without a ring, in the first ring.
#[cfg(feature = "multi-core")]
pub(super) fn count_if_of_no_ring() {
    if cores::current() < CORES {
        return;
    }
    // SAFETY: `lay_out` was called, so it is a header. Others only change its atomic fields meanwhile.
    cores::between(|| unsafe { (*CURRENT.load(SEEN).cast::<Header>()).count_dropped() });
}

/// A handler may interrupt this and initialise the ring first. Then the ring chosen here is not used.
#[cold]
#[inline(never)]
fn begin() {
    cores::between(|| {
        #[cfg(not(feature = "keep"))]
        let (ring, mark) = (ring(0), || ());
        #[cfg(feature = "keep")]
        let (ring, mark) = kept::choose();
        masked_with([ring.addr(), 0], |_| {
            if CURRENT.load(SEEN).is_null() {
                mark();
                for core in 0..CORES {
                    let header = ring.wrapping_add(core).cast::<Header>();
                    // SAFETY: it points into `XHIST_RING`, and interrupts are masked, so there is no other access.
                    unsafe { (*header).init(core, BARE_HEADER_LEN, RING_SIZE as u32, Flags::PACKED.0) };
                }
                CURRENT.store(ring, if CORES > 1 { Ordering::Release } else { Ordering::Relaxed });
            }
        });
    });
}

/// The header.
pub(super) fn header() -> *mut Header {
    own().cast()
}

/// A field of the header.
fn word(offset: usize) -> *mut u64 {
    header().cast::<u8>().wrapping_add(offset).cast()
}

/// The state word.
pub(super) fn state() -> State {
    // SAFETY: `lay_out` was called, so the pointer is into the current ring's header, and the offset is that of a word.
    State(unsafe { word(Header::STATE_AT).read_volatile() })
}

/// Number of bytes of closed frames ever written to a ring.
pub(super) fn head_of(ring: *const Ring) -> u64 {
    // SAFETY: callers pass a pointer of `current` or `earlier`, which is to a whole ring.
    State(unsafe { ring.cast::<u8>().add(Header::STATE_AT).cast::<u64>().read_volatile() }).head()
}

/// Sets the state word, the half with the head first. If the core is halted between the halves, readers detect that by the
/// sequence number of the newest frame.
#[inline(never)]
pub(super) fn set_state(state: State) {
    let halves = word(Header::STATE_AT).cast::<u32>();
    let low_at = usize::from(cfg!(target_endian = "big"));
    let set = |at: usize, half: u32| {
        // SAFETY: `lay_out` was called, so both halves are in the current ring's header. Interrupts are masked.
        unsafe { halves.add(at).write_volatile(half) };
        #[cfg(test)]
        super::tests::written();
    };
    set(low_at, state.0 as u32);
    set(1 - low_at, (state.0 >> 32) as u32);
}

/// Sets the folded word.
pub(super) fn set_folded(folded: Folded) {
    // SAFETY: `lay_out` was called, so the word is in the current ring's header. Interrupts are masked.
    unsafe { word(Header::FOLDED_AT).write_volatile(folded.0) };
    #[cfg(test)]
    super::tests::written();
}

/// Announces a record that may overwrite this number of bytes.
pub(super) fn set_ahead(bytes: usize) {
    // SAFETY: `lay_out` was called, and interrupts are masked, so there is no other access to the header.
    unsafe { (*header()).set_ahead(bytes as u64) };
}

/// Position from which on no byte is overwritten.
pub(super) fn kept() -> u64 {
    // SAFETY: `lay_out` was called, and interrupts are masked, so there is no other access to the header.
    unsafe { (*header()).kept() }
}

/// The ring that is written.
pub(super) fn current() -> *const Ring {
    own()
}

/// The bytes of the current ring, header first. Use them only while interrupts are masked.
pub(super) fn image<'a>() -> &'a [u8] {
    // SAFETY: `lay_out` was called, and interrupts are masked for as long as the caller uses the bytes, so nothing writes them.
    unsafe { core::slice::from_raw_parts(current().cast(), size_of::<Ring>()) }
}

/// Pointer to the byte at an index of the ring.
pub(super) fn at(index: usize) -> *mut u8 {
    own().cast::<u8>().wrapping_add(offset_of!(Ring, data) + index)
}

/// Index of a byte of the ring.
pub(super) fn index(byte: *mut u8) -> u32 {
    byte.addr().wrapping_sub(at(0).addr()) as u32
}

/// Writes the byte at a position.
pub(super) fn put(position: u32, byte: u8) {
    // SAFETY: a masked position is inside the ring, and interrupts are masked.
    unsafe { at(position as usize & MASK).write_volatile(byte) };
    #[cfg(test)]
    super::tests::written();
}

/// Writes bytes from a position on.
#[inline(always)]
pub(super) fn put_all(position: u32, bytes: &[u8]) {
    let ring = at(0);
    for (byte, at) in bytes.iter().zip(position as usize..) {
        // SAFETY: a masked position is inside the ring, and interrupts are masked.
        unsafe { ring.add(at & MASK).write_volatile(*byte) };
        #[cfg(test)]
        super::tests::written();
    }
}

/// The byte at a position.
pub(super) fn get(position: u32) -> u8 {
    bytes().get(position)
}

/// The bytes of the ring, to read several.
#[derive(Clone, Copy)]
pub(super) struct Bytes(*const u8);

/// The bytes of the current ring.
#[inline(always)]
pub(super) fn bytes() -> Bytes {
    Bytes(at(0))
}

impl Bytes {
    /// The byte at a position.
    #[inline(always)]
    pub(super) fn get(self, position: u32) -> u8 {
        // SAFETY: a masked position is inside the ring.
        unsafe { self.0.add(position as usize & MASK).read_volatile() }
    }
}

/// Copies a piece of a ring, header first. Returns the number of bytes of closed frames ever written to it.
pub(super) fn copy(ring: *const Ring, start: usize, piece: &mut [u8]) -> u64 {
    if CORES > 1 {
        // Another core may write its ring meanwhile. After some looks, what it overwrites is found by the head.
        for _ in 1..LOOKS {
            let before = head_of(ring);
            copy_words(ring.cast(), start, piece);
            atomic::fence(Ordering::Acquire);
            if before == head_of(ring) {
                return before;
            }
        }
    }
    copy_words(ring.cast(), start, piece);
    head_of(ring)
}

/// Where the open frame of this header ends in the ring, in bytes with the header: at its zero. Far behind the ring without one.
pub(super) fn open_end(ring: *const Ring, header: &[u8; BARE_HEADER_LEN]) -> usize {
    let state = header.get(Header::STATE_AT..).and_then(|bytes| bytes.first_chunk());
    let state = State(u64::from_ne_bytes(*state.unwrap_or(&[0; 8])));
    let bytes = Bytes(ring.cast::<u8>().wrapping_add(BARE_HEADER_LEN));
    let end = state.open().and_then(|head_len| {
        let from = (state.head() as u32).wrapping_add(head_len as u32);
        (0..frame_room(RING_SIZE) as u32).map(|at| from.wrapping_add(at)).find(|place| bytes.get(*place) == 0)
    });
    end.map_or(usize::MAX, |place| BARE_HEADER_LEN + (place as usize & MASK))
}

/// Looks at a piece of a ring that another core may write.
const LOOKS: usize = 16;

/// In words, because a half of the state must not be of two moments.
#[inline(always)]
fn copy_words(ring: *const u32, start: usize, piece: &mut [u8]) {
    for (index, word) in (start / 4..size_of::<Ring>() / 4).zip(piece.chunks_exact_mut(4)) {
        // SAFETY: the index is inside the ring.
        word.copy_from_slice(&unsafe { ring.add(index).read_volatile() }.to_ne_bytes());
    }
}

#[cfg(feature = "keep")]
pub(super) use kept::earlier;

#[cfg(feature = "keep")]
mod kept {
    //! The ring of an earlier run.

    use super::*;

    /// Chooses the ring to write, which is not the one written last. Also returns a function that marks the latter.
    pub(super) fn choose() -> (*mut Ring, impl FnOnce()) {
        let newest = find(false).or_else(|| find(true));
        // Computed here, while interrupts are enabled.
        let newest_marked: [_; CORES] = core::array::from_fn(|core| {
            let header = header_of(ring(newest?).wrapping_add(core));
            // `find` has looked at the ring of the first core.
            (core == 0 || is_whole(header)).then(|| (header, header.earlier()))
        });
        let mark = move || {
            newest_marked.into_iter().flatten().for_each(|(header, earlier)| header.mark_earlier(earlier));
        };
        (ring(newest.map_or(0, |number| 1 - number)), mark)
    }

    /// The rings of the previous run.
    pub(crate) fn earlier() -> impl Iterator<Item = *const Ring> {
        let first = find(true).map(ring);
        let rings = first
            .into_iter()
            .flat_map(|first| (0..CORES).map(move |core| first.wrapping_add(core).cast_const()));
        rings.filter(|ring| is_whole(header_of(ring.cast_mut())))
    }

    fn header_of<'a>(ring: *mut Ring) -> &'a Header {
        // SAFETY: callers pass a pointer into `XHIST_RING`, any bytes are a valid `Header`, and only its cells and atomics change.
        unsafe { &*ring.cast::<Header>() }
    }

    fn is_whole(header: &Header) -> bool {
        header.is_whole(BARE_HEADER_LEN, RING_SIZE as u32)
    }

    /// A ring that survived, and that is marked as earlier or not. After a cold start the check word does not match.
    fn find(is_earlier: bool) -> Option<usize> {
        (0..RINGS).find(|number| {
            let header = header_of(ring(*number));
            is_whole(header) && header.is_earlier() == is_earlier
        })
    }
}

#[cfg(test)]
pub(super) fn forget() {
    CURRENT.store(core::ptr::null_mut(), Ordering::Relaxed);
}
