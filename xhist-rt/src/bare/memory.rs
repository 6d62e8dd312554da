//! The ring in memory: its bytes, its header, and the ring that survives a reset.
//!
//! Interrupts are masked in calls of all functions that write, except for [`lay_out`].

use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use qs_core::ring::{BARE_HEADER_LEN, Flags, Folded, State};

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

/// Number of rings. With `keep`, two take turns, so one survives a reset.
pub(super) const RINGS: usize = if cfg!(feature = "keep") { 2 } else { 1 };

#[repr(transparent)]
pub(super) struct Memory(UnsafeCell<[Ring; RINGS]>);

// SAFETY: the functions of this module write the rings only while interrupts are masked.
unsafe impl Sync for Memory {}

/// The ring, for debuggers: `dump binary value dump.bin XHIST_RING`. It is zero until the first statement initialises it, so
/// it takes no space in flash. With `keep`, two rings that start-up code must not clear.
#[unsafe(no_mangle)]
#[cfg_attr(feature = "keep", unsafe(link_section = ".uninit.xhist"))]
static XHIST_RING: Memory =
    Memory(UnsafeCell::new([const { Ring { header: [0; BARE_HEADER_LEN], data: [0; RING_SIZE] } }; RINGS]));

/// The ring that is written. Null until it is initialised.
static CURRENT: AtomicPtr<Ring> = AtomicPtr::new(core::ptr::null_mut());

/// Initialises the ring at the first call. Returns whether this was the first one.
#[inline(always)]
pub(super) fn lay_out() -> bool {
    let is_first = CURRENT.load(Relaxed).is_null();
    if is_first {
        begin();
    }
    is_first
}

pub(super) fn ring(number: usize) -> *mut Ring {
    XHIST_RING.0.get().cast::<Ring>().wrapping_add(number)
}

/// A handler may interrupt this and initialise the ring first. Then the ring chosen here is not used.
#[cold]
#[inline(never)]
fn begin() {
    #[cfg(not(feature = "keep"))]
    let (ring, mark) = (ring(0), || ());
    #[cfg(feature = "keep")]
    let (ring, mark) = kept::choose();
    masked_with([ring.addr(), 0], |_| {
        if CURRENT.load(Relaxed).is_null() {
            mark();
            // SAFETY: `ring` points into `XHIST_RING`, and interrupts are masked, so there is no other access.
            unsafe {
                (*ring.cast::<Header>()).init(BARE_HEADER_LEN, RING_SIZE as u32, 0, Flags::PACKED.0, 0)
            };
            CURRENT.store(ring, Relaxed);
        }
    });
}

/// The header.
pub(super) fn header() -> *mut Header {
    CURRENT.load(Relaxed).cast()
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

/// Sets the width of statements' time stamps in bytes.
pub(super) fn set_time_width(width: u8) {
    // SAFETY: `lay_out` was called, and interrupts are masked, so there is no other access to the header.
    unsafe { (*header()).set_time_width(width) };
}

/// Sets the hash of the map that the program was instrumented with.
pub(super) fn set_map_hash(hash: u64) {
    // SAFETY: `lay_out` was called, and interrupts are masked, so there is no other access to the header.
    unsafe { (*header()).map_hash.store(hash) };
}

/// Sets the flag of a program that records only function entries.
pub(super) fn set_entries_only() {
    // SAFETY: `lay_out` was called, and interrupts are masked, so there is no other access to the header.
    unsafe { (*header()).set_entries_only() };
}

pub(super) fn set_values() {
    // SAFETY: `lay_out` was called, and interrupts are masked, so there is no other access to the header.
    unsafe { (*header()).set_values() };
}

/// Position from which on no byte is overwritten.
pub(super) fn kept() -> u64 {
    // SAFETY: `lay_out` was called, and interrupts are masked, so there is no other access to the header.
    unsafe { (*header()).kept() }
}

/// The ring that is written.
pub(super) fn current() -> *const Ring {
    CURRENT.load(Relaxed)
}

/// The bytes of the current ring, header first. Use them only while interrupts are masked.
pub(super) fn image<'a>() -> &'a [u8] {
    // SAFETY: `lay_out` was called, and interrupts are masked for as long as the caller uses the bytes, so nothing writes them.
    unsafe { core::slice::from_raw_parts(current().cast(), size_of::<Ring>()) }
}

/// Pointer to the byte at an index of the ring.
pub(super) fn at(index: usize) -> *mut u8 {
    CURRENT.load(Relaxed).cast::<u8>().wrapping_add(offset_of!(Ring, data) + index)
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

/// Copies a piece of a ring, header first.
pub(super) fn copy(ring: *const Ring, start: usize, piece: &mut [u8]) {
    let ring = ring.cast::<u8>();
    for (index, byte) in
        piece.iter_mut().enumerate().take_while(|(index, _)| start + index < size_of::<Ring>())
    {
        // SAFETY: `take_while` has checked that the index is inside the ring.
        *byte = unsafe { ring.add(start + index).read_volatile() };
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
        let newest_marked = newest.map(|number| {
            let header = ring(number).cast::<Header>();
            // SAFETY: the pointer is into `XHIST_RING`, and any bytes are a valid `Header`.
            (header, unsafe { (*header).earlier() })
        });
        let mark = move || {
            if let Some((header, earlier)) = newest_marked {
                // SAFETY: the pointer is into `XHIST_RING`, and interrupts are masked.
                unsafe { (*header).mark_earlier(earlier) };
            }
        };
        (ring(newest.map_or(0, |number| 1 - number)), mark)
    }

    /// The ring of the previous run, if there is one.
    pub(crate) fn earlier() -> Option<*const Ring> {
        let number = find(true)?;
        Some(ring(number))
    }

    /// A ring that survived, and that is marked as earlier or not. After a cold start the check word does not match.
    fn find(is_earlier: bool) -> Option<usize> {
        (0..RINGS).find(|number| {
            // SAFETY: the pointer is into `XHIST_RING`, and any bytes are a valid `Header`.
            let header = unsafe { &*ring(*number).cast::<Header>() };
            header.is_whole(BARE_HEADER_LEN, RING_SIZE as u32) && header.is_earlier() == is_earlier
        })
    }
}

#[cfg(test)]
pub(super) fn forget() {
    CURRENT.store(core::ptr::null_mut(), Relaxed);
}
