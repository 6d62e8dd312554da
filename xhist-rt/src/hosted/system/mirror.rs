//! Memory of rings of words: `[header][data][the data again][reserved]`, one range of addresses each.
//!
//! The second mapping of the data, the mirror, lets a writer run past the end of its ring. Behind the mirror there
//! are addresses without memory, the guard. A store there raises a signal, whose handler maps the data once more
//! ([`grow`]), so that the store succeeds.
//!
//! The memory is shared, because private pages cannot be mapped twice. A forked child therefore calls
//! [`Region::unshare`]. All functions are safe to call from a signal handler.

use core::ffi::c_int;
use core::ptr::without_provenance_mut;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::hosted::system::sys::memory::page_size;
use crate::hosted::system::sys::pages::{self, FileNumber, KeptPages, Pages};
use crate::hosted::system::sys::{with_signals_blocked, write_to_stderr};

/// The largest number of regions at the same time: rings, lanes and scratch memory.
const MOST: usize = 1024 + SCRATCHES;
/// Bytes of addresses behind the mirror. A ring gets fewer if the address space is limited.
pub(super) const ROOM: usize = 64 << 20;
/// Regions of scratch memory, see [`super::scratch`].
pub(super) const SCRATCHES: usize = 64;

/// One region, or a free place for one.
struct RegionSlot {
    is_taken: AtomicBool,
    /// Address of the header; 0 while there is no memory.
    start: AtomicUsize,
    header_len: AtomicUsize,
    size: AtomicUsize,
    /// Bytes of addresses from `start` on.
    reserved: AtomicUsize,
    /// Bytes behind the data in which the data are mapped again.
    mirrored: AtomicUsize,
    /// Where its pages come from.
    pages: KeptPages,
    /// Another process has cut the file, and left a part of this region.
    is_cut: AtomicBool,
}

static PLACES: [RegionSlot; MOST] = [const {
    RegionSlot {
        is_taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        header_len: AtomicUsize::new(0),
        size: AtomicUsize::new(0),
        reserved: AtomicUsize::new(0),
        mirrored: AtomicUsize::new(0),
        pages: KeptPages::new(),
        is_cut: AtomicBool::new(false),
    }
}; MOST];
/// How often [`cut_in_two`] found a region.
static CUTS: AtomicUsize = AtomicUsize::new(0);
/// No place from this one on was ever taken.
static END: AtomicUsize = AtomicUsize::new(0);
/// How often a guard was hit and the store succeeded.
#[cfg(test)]
static GROWN: AtomicUsize = AtomicUsize::new(0);

/// Memory of one ring.
#[derive(Clone, Copy)]
pub(crate) struct Region(&'static RegionSlot);

/// What to do about a store that the system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// The address belongs to no region.
    Elsewhere,
    /// There is memory now.
    Grown,
    /// The reserved addresses are used up, or the system has no more memory.
    Beyond,
}

/// Maps zeroed memory for a header and for `size` bytes of data, both multiples of the page size. It stays until the
/// process ends.
pub(crate) fn map(size: usize, header_len: usize) -> Option<Region> {
    map_with_room(size, header_len, ROOM)
}

pub(super) fn map_with_room(size: usize, header_len: usize, room: usize) -> Option<Region> {
    let place = take_place()?;
    let region = place.set_up(size, header_len, room);
    if region.is_none() {
        place.is_taken.store(false, Ordering::Release);
    }
    region
}

fn take_place() -> Option<&'static RegionSlot> {
    let number = PLACES.iter().position(|place| !place.is_taken.swap(true, Ordering::Acquire))?;
    END.fetch_max(number + 1, Ordering::Release);
    Some(&PLACES[number])
}

/// The size in bytes of the largest reservation that the system grants, and its address.
fn reserve(least: usize, room: usize) -> Option<(*mut u8, usize)> {
    let mut room = room.max(page_size());
    loop {
        let len = least.checked_add(room)?;
        if let Some(start) = pages::reserve_addresses(len) {
            return Some((start, len));
        }
        if room <= page_size() {
            return None;
        }
        room = (room / 4).next_multiple_of(page_size());
    }
}

impl RegionSlot {
    fn set_up(&'static self, size: usize, header_len: usize, room: usize) -> Option<Region> {
        let len = header_len.checked_add(size)?;
        let (start, reserved) = reserve(len.checked_add(size)?, room)?;
        self.header_len.store(header_len, Ordering::Relaxed);
        self.size.store(size, Ordering::Relaxed);
        self.reserved.store(reserved, Ordering::Relaxed);
        self.mirrored.store(0, Ordering::Relaxed);
        let region = Region(self);
        // SAFETY: this function owns the reservation, which is unused.
        let is_mapped = unsafe { region.map_new(start) };
        if !is_mapped {
            // SAFETY: this function owns the reservation, which is unused, and gives it back.
            unsafe { pages::release_addresses(start, reserved) };
            return None;
        }
        self.start.store(start.addr(), Ordering::Release);
        Some(region)
    }

    /// The region at this place if the address is in it, guard included.
    fn has(&self, address: usize) -> bool {
        let start = self.start.load(Ordering::Acquire);
        start > 0 && (start..start + self.reserved.load(Ordering::Relaxed)).contains(&address)
    }
}

impl Region {
    /// The region that contains this address.
    pub(crate) fn of(address: *mut u8) -> Option<Region> {
        find(address.addr())
    }

    fn start(self) -> *mut u8 {
        without_provenance_mut(self.0.start.load(Ordering::Relaxed))
    }

    fn header_len(self) -> usize {
        self.0.header_len.load(Ordering::Relaxed)
    }

    /// The first byte of the header.
    pub(crate) fn header(self) -> *mut u8 {
        self.start()
    }

    /// The first byte of the data.
    pub(crate) fn data(self) -> *mut u8 {
        self.start().wrapping_add(self.header_len())
    }

    /// Addresses of data, mirrors and guard.
    pub(crate) fn addresses(self) -> core::ops::Range<usize> {
        self.data().addr()..self.start().addr() + self.0.reserved.load(Ordering::Relaxed)
    }

    /// Whether the region was cut since the last call.
    pub(crate) fn take_cut(self) -> bool {
        self.0.is_cut.swap(false, Ordering::Acquire)
    }

    /// Bytes of data, without the mirror.
    pub(crate) fn size(self) -> usize {
        self.0.size.load(Ordering::Relaxed)
    }

    /// Bytes of header and data.
    pub(crate) fn len(self) -> usize {
        self.header_len() + self.size()
    }

    /// Gives header and data new memory at `start`, and maps the mirror.
    ///
    /// # Safety
    /// `start` is that of the region, and no code relies on the content of the memory.
    unsafe fn map_new(self, start: *mut u8) -> bool {
        let (header_len, size) = (self.header_len(), self.size());
        // SAFETY: the caller owns the region and has given up its content. The reservation has room for the mirror.
        let Some(pages) = (unsafe { pages::map_new(start, header_len, size) }) else { return false };
        self.0.pages.set(pages);
        self.0.mirrored.fetch_max(size, Ordering::Relaxed);
        true
    }

    /// Maps the data behind themselves again, up to `end` bytes of mirrors. Returns false if it could not map all.
    fn map_mirrors(self, pages: Pages, end: usize) -> bool {
        let (data, size) = (self.data(), self.size());
        let mut done = 0;
        while done < end {
            let (at, len) = (data.wrapping_add(size + done), size.min(end - done));
            // SAFETY: the bytes are reserved for mirrors, which only repeat the data.
            let is_mapped = unsafe { pages::map_copy(pages, self.header_len(), data, at, len) };
            if !is_mapped {
                self.0.mirrored.store(done, Ordering::Relaxed);
                return false;
            }
            done += len;
        }
        self.0.mirrored.fetch_max(end, Ordering::Relaxed);
        true
    }

    /// Replaces the memory with `len()` bytes of a file, from `offset` on, mirrors included.
    ///
    /// Only this thread may use the region, and its signals are blocked. The file has these bytes.
    pub(crate) fn put_file(self, file: FileNumber, offset: u64) -> bool {
        let mirrored = self.0.mirrored.load(Ordering::Relaxed);
        // SAFETY: the caller has written the content that it needs to the file.
        let pages = unsafe { pages::map_file(self.start(), self.len(), file, offset) };
        pages.inspect(|pages| self.0.pages.set(*pages));
        // If the mirror fails, the guard begins earlier, and the next store there tries again.
        if pages.is_some_and(|pages| !self.map_mirrors(pages, mirrored)) {
            self.guard_from(self.0.mirrored.load(Ordering::Relaxed));
        }
        forget_replaced(self.start().addr(), self.0.reserved.load(Ordering::Relaxed));
        pages.is_some()
    }

    /// Unmaps the mirrors behind this number of bytes.
    fn guard_from(self, mirrored: usize) {
        let at = self.data().wrapping_add(self.size() + mirrored);
        let len = self.start().addr() + self.0.reserved.load(Ordering::Relaxed) - at.addr();
        // SAFETY: the bytes are reserved for mirrors, which only repeat the data.
        unsafe { pages::unmap(at, len) };
    }

    /// In a forked child: replaces the memory that it shares with its parent with new, zeroed memory. The first
    /// `KEPT` bytes stay.
    pub(crate) fn unshare<const KEPT: usize>(self) {
        // SAFETY: the region has at least `KEPT` bytes, signals are blocked, and a child has no other thread.
        with_signals_blocked(|| unsafe {
            let mirrored = self.0.mirrored.load(Ordering::Relaxed);
            // Unoptimised code would copy a value several times, and the stacks of handlers are small.
            let mut kept = core::mem::MaybeUninit::<[u8; KEPT]>::uninit();
            let kept = kept.as_mut_ptr().cast::<u8>();
            kept.copy_from_nonoverlapping(self.start(), KEPT);
            if self.map_new(self.start()) {
                self.start().copy_from_nonoverlapping(kept, KEPT);
                if mirrored > self.size() && !self.map_mirrors(self.0.pages.get(), mirrored) {
                    self.guard_from(self.0.mirrored.load(Ordering::Relaxed));
                }
            }
        });
        forget_replaced(self.start().addr(), self.0.reserved.load(Ordering::Relaxed));
        // A thread that replaced a page when the process forked does not exist in the child.
        IS_REPLACING.store(false, Ordering::Release);
    }
}

/// The region that contains this address, guard included.
fn find(address: usize) -> Option<Region> {
    PLACES.iter().take(END.load(Ordering::Acquire)).find(|place| place.has(address)).map(Region)
}

/// Whether an address is in a region, its guard included.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn has(address: usize) -> bool {
    find(address).is_some()
}

/// Another process has cut this file to `len` bytes. The thread of the ring of which a part is left has to begin again, because
/// the chunk that it writes has lost its beginning. Not a word in the file says so: the thread may have begun again already.
#[cfg(unix)]
pub(crate) fn cut_in_two(file: FileNumber, len: u64) {
    let is_cut = |place: &&'static RegionSlot| {
        let (start, size) = (place.pages.offset_in(file), Region(place).len() as u64);
        start.is_some_and(|start| (start + 1..start + size).contains(&len))
    };
    if let Some(place) = PLACES.iter().take(END.load(Ordering::Acquire)).find(is_cut) {
        place.is_cut.store(true, Ordering::Release);
        CUTS.fetch_add(1, Ordering::Release);
    }
}

/// Changes whenever a region was cut.
#[inline(always)]
pub(crate) fn cuts() -> usize {
    CUTS.load(Ordering::Acquire)
}

/// For the handler of a fault: provides memory for a store to this address if it is in a guard.
pub(crate) fn grow(address: usize) -> Growth {
    let Some(region) = find(address) else { return Growth::Elsewhere };
    let data_end = region.data().addr() + region.size();
    let end = region.start().addr() + region.0.reserved.load(Ordering::Relaxed);
    // A page at the end stays without memory, so that no store leaves the region unnoticed.
    let most = (end - page_size()).saturating_sub(data_end);
    let Some(offset) = address.checked_sub(data_end).filter(|offset| *offset < most) else {
        return Growth::Beyond;
    };
    let mirrored = region.0.mirrored.load(Ordering::Relaxed);
    let copies = (offset / region.size() + 1) * region.size();
    // This maps mapped pages again, which changes nothing: another handler may have done so meanwhile.
    if mirrored > offset || !region.map_mirrors(region.0.pages.get(), copies.min(most)) {
        return if mirrored > offset { Growth::Grown } else { Growth::Beyond };
    }
    #[cfg(test)]
    GROWN.fetch_add(1, Ordering::Relaxed);
    Growth::Grown
}

/// For [`catch_faults`](crate::hosted::system::sys::catch_faults): whether a store to this address may be tried again.
pub(crate) fn on_fault(code: c_int, address: usize) -> bool {
    let growth = if code > 0 { grow(address) } else { Growth::Elsewhere };
    match growth {
        Growth::Elsewhere => false,
        Growth::Grown => true,
        Growth::Beyond => {
            write_to_stderr(b"xhist: no memory behind a ring: too many statements without a check\n");
            false
        }
    }
}

/// How often a guard was hit and the store succeeded.
#[cfg(test)]
pub(crate) fn times_grown() -> usize {
    GROWN.load(Ordering::Relaxed)
}

/// The newest pages that [`replace_page`] has replaced. If two threads find the same page gone, the second one must
/// not replace the new page of the first one.
static REPLACED: [AtomicUsize; 32] = [const { AtomicUsize::new(0) }; 32];
#[cfg(any(target_os = "linux", target_os = "android"))]
static NEXT_REPLACED: AtomicUsize = AtomicUsize::new(0);
/// A thread is replacing a page.
static IS_REPLACING: AtomicBool = AtomicBool::new(false);

fn forget_replaced(start: usize, len: usize) {
    for page in REPLACED.iter().filter(|page| (start..start + len).contains(&page.load(Ordering::Relaxed))) {
        page.store(0, Ordering::Relaxed);
    }
}

/// For a system whose mapped files can be cut: replaces the page of a cut file at this address with zeroed memory, in the data and in
/// all mirrors. Returns `None` if the address belongs to no region.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn replace_page(address: usize) -> Option<bool> {
    let region = find(address)?;
    let page = page_size();
    let (header_len, size) = (region.header_len(), region.size());
    let offset = (address & !(page - 1)) - region.start().addr();
    let offset = if offset < header_len { offset } else { header_len + (offset - header_len) % size };
    let at = region.start().wrapping_add(offset);
    // The other thread is in this function, where no handler interrupts it. The store is tried again after it.
    if IS_REPLACING.swap(true, Ordering::Acquire) {
        return Some(true);
    }
    let is_replaced = with_signals_blocked(|| {
        if REPLACED.iter().any(|known| known.load(Ordering::Relaxed) == at.addr()) {
            return true;
        }
        let mirrored = region.0.mirrored.load(Ordering::Relaxed);
        // SAFETY: the content of these pages is lost already. The region is mapped, and the page is part of it.
        let mut is_replaced = unsafe { pages::replace(at) };
        if is_replaced && offset >= header_len {
            let mut mirror = offset - header_len;
            while mirror < mirrored {
                let to = region.data().wrapping_add(size + mirror);
                // If it fails, words that are written through that mirror are lost.
                // SAFETY: the mirror's page repeats the page of the data, and belongs to the region.
                is_replaced &= unsafe { pages::map_again(at, to, page) || pages::replace(to) };
                mirror += size;
            }
        }
        if is_replaced {
            let slot = NEXT_REPLACED.fetch_add(1, Ordering::Relaxed) % REPLACED.len();
            REPLACED[slot].store(at.addr(), Ordering::Relaxed);
        }
        is_replaced
    });
    IS_REPLACING.store(false, Ordering::Release);
    Some(is_replaced)
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
