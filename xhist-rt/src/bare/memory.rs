//! The ring in memory: its bytes, its header, and what of it is there after a reset.
//!
//! All of this but [`lay_out`] and what reads is called while interrupts are masked.

use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use qs_core::ring::{BARE_HEADER_LEN, FLAG_PACKED, Folded, State};

use super::RING_SIZE;
use super::header::Header;
use super::mask::masked_with;

/// What a position and with it is a place in the ring.
pub(super) const MASK: usize = RING_SIZE - 1;

/// A ring.
#[repr(C, align(8))]
pub(crate) struct Ring {
    header: [u8; BARE_HEADER_LEN],
    data: [u8; RING_SIZE],
}

/// Rings that take turns, so that one is there from before a reset.
pub(super) const RINGS: usize = if cfg!(feature = "keep") { 2 } else { 1 };

#[repr(transparent)]
pub(super) struct Memory(UnsafeCell<[Ring; RINGS]>);

// SAFETY: only touched while interrupts are masked.
unsafe impl Sync for Memory {}

/// The ring, for debuggers: `dump binary value dump.bin XHIST_RING`. Zeros until the first statement lays it out, so that
/// it takes no room in flash; with `keep`, two rings that no start-up code clears.
#[unsafe(no_mangle)]
#[cfg_attr(feature = "keep", unsafe(link_section = ".uninit.xhist"))]
static XHIST_RING: Memory =
    Memory(UnsafeCell::new([const { Ring { header: [0; BARE_HEADER_LEN], data: [0; RING_SIZE] } }; RINGS]));

/// The ring that is written, once it is laid out.
static CURRENT: AtomicPtr<Ring> = AtomicPtr::new(core::ptr::null_mut());

/// Lays the ring out, the first time.
#[inline(always)]
pub(super) fn lay_out() {
    if CURRENT.load(Relaxed).is_null() {
        begin();
    }
}

pub(super) fn ring(number: usize) -> *mut Ring {
    XHIST_RING.0.get().cast::<Ring>().wrapping_add(number)
}

/// A handler that comes before the ring is laid out does all of this, and what was found before means nothing.
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
            // SAFETY: the ring is ours, and interrupts are masked.
            unsafe { (*ring.cast::<Header>()).init(BARE_HEADER_LEN, RING_SIZE as u32, 0, FLAG_PACKED, 0) };
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
    // SAFETY: a word of the ring's header.
    State(unsafe { word(Header::STATE_AT).read_volatile() })
}

/// Bytes of closed frames ever written to a ring.
pub(super) fn head_of(ring: *const Ring) -> u64 {
    // SAFETY: as in `state`.
    State(unsafe { ring.cast::<u8>().add(Header::STATE_AT).cast::<u64>().read_volatile() }).head()
}

/// Sets the state word, the half with the head first: a core may be halted in between, and readers know by the sequence
/// number of the newest frame.
#[inline(never)]
pub(super) fn set_state(state: State) {
    let halves = word(Header::STATE_AT).cast::<u32>();
    let low_at = usize::from(cfg!(target_endian = "big"));
    let set = |at: usize, half: u32| {
        // SAFETY: as in `state`.
        unsafe { halves.add(at).write_volatile(half) };
        #[cfg(test)]
        super::tests::written();
    };
    set(low_at, state.0 as u32);
    set(1 - low_at, (state.0 >> 32) as u32);
}

/// Sets the folded word.
pub(super) fn set_folded(folded: Folded) {
    // SAFETY: as in `state`.
    unsafe { word(Header::FOLDED_AT).write_volatile(folded.0) };
    #[cfg(test)]
    super::tests::written();
}

/// A record under way may overwrite so many bytes.
pub(super) fn set_ahead(bytes: usize) {
    // SAFETY: the header is laid out, and interrupts are masked.
    unsafe { (*header()).set_ahead(bytes as u64) };
}

/// Statements are stamped with times of so many bytes.
pub(super) fn set_time_width(width: u8) {
    // SAFETY: the header is laid out, and interrupts are masked.
    unsafe { (*header()).set_time_width(width) };
}

/// Which map this program was instrumented with.
pub(super) fn set_map_hash(hash: u64) {
    // SAFETY: as in `set_time_width`.
    unsafe { (*header()).map_hash.store(hash) };
}

/// This program records only entries of functions.
pub(super) fn set_entries_only() {
    // SAFETY: as in `set_time_width`.
    unsafe { (*header()).set_entries_only() };
}

/// Position from which on nothing is overwritten.
pub(super) fn kept() -> u64 {
    // SAFETY: as in `set_time_width`.
    unsafe { (*header()).kept() }
}

/// The ring that is written.
pub(super) fn current() -> *const Ring {
    CURRENT.load(Relaxed)
}

/// The ring that is written, header first; not to be kept.
pub(super) fn image<'a>() -> &'a [u8] {
    // SAFETY: the ring is laid out, and nobody writes it while interrupts are masked.
    unsafe { core::slice::from_raw_parts(current().cast(), size_of::<Ring>()) }
}

/// The byte at a place in the ring.
pub(super) fn at(index: usize) -> *mut u8 {
    CURRENT.load(Relaxed).cast::<u8>().wrapping_add(offset_of!(Ring, data) + index)
}

/// The place of a byte of the ring.
pub(super) fn index(byte: *mut u8) -> u32 {
    byte.addr().wrapping_sub(at(0).addr()) as u32
}

/// Writes the byte at a position.
pub(super) fn put(position: u32, byte: u8) {
    // SAFETY: a masked position lies in the ring.
    unsafe { at(position as usize & MASK).write_volatile(byte) };
    #[cfg(test)]
    super::tests::written();
}

/// Writes bytes from a position on.
#[inline(always)]
pub(super) fn put_all(position: u32, bytes: &[u8]) {
    let ring = at(0);
    for (byte, at) in bytes.iter().zip(position as usize..) {
        // SAFETY: as in `put`.
        unsafe { ring.add(at & MASK).write_volatile(*byte) };
        #[cfg(test)]
        super::tests::written();
    }
}

/// The byte at a position.
pub(super) fn get(position: u32) -> u8 {
    bytes().get(position)
}

/// The bytes of the ring, for who reads several.
#[derive(Clone, Copy)]
pub(super) struct Bytes(*const u8);

/// See [`Bytes`].
#[inline(always)]
pub(super) fn bytes() -> Bytes {
    Bytes(at(0))
}

impl Bytes {
    /// The byte at a position.
    #[inline(always)]
    pub(super) fn get(self, position: u32) -> u8 {
        // SAFETY: a masked position lies in the ring.
        unsafe { self.0.add(position as usize & MASK).read_volatile() }
    }
}

/// Copies a piece of a ring, header first.
pub(super) fn copy(ring: *const Ring, start: usize, piece: &mut [u8]) {
    let ring = ring.cast::<u8>();
    for (index, byte) in
        piece.iter_mut().enumerate().take_while(|(index, _)| start + index < size_of::<Ring>())
    {
        // SAFETY: inside the ring, as was just looked at.
        *byte = unsafe { ring.add(start + index).read_volatile() };
    }
}

#[cfg(feature = "keep")]
pub(super) use kept::earlier;

#[cfg(feature = "keep")]
mod kept {
    //! What an earlier run has left.

    use super::*;

    /// Chooses the ring to write: not the one that was written last, which stays; and what marks that.
    pub(super) fn choose() -> (*mut Ring, impl FnOnce()) {
        let newest = find(false).or_else(|| find(true));
        // Worked out here, while interrupts come in.
        let newest_marked = newest.map(|number| {
            let header = ring(number).cast::<Header>();
            // SAFETY: any bytes are a header.
            (header, unsafe { (*header).earlier() })
        });
        let mark = move || {
            if let Some((header, earlier)) = newest_marked {
                // SAFETY: the rings are ours, and interrupts are masked.
                unsafe { (*header).mark_earlier(earlier) };
            }
        };
        (ring(newest.map_or(0, |number| 1 - number)), mark)
    }

    /// The ring of the run before, when there is one.
    pub(crate) fn earlier() -> Option<*const Ring> {
        let number = find(true)?;
        Some(ring(number))
    }

    /// A ring that survived, and is marked or not. What a cold start left is none: its check word does not fit.
    fn find(is_earlier: bool) -> Option<usize> {
        (0..RINGS).find(|number| {
            // SAFETY: any bytes are a header.
            let header = unsafe { &*ring(*number).cast::<Header>() };
            header.is_whole(BARE_HEADER_LEN, RING_SIZE as u32) && header.is_earlier() == is_earlier
        })
    }
}

#[cfg(test)]
pub(super) fn forget() {
    CURRENT.store(core::ptr::null_mut(), Relaxed);
}
