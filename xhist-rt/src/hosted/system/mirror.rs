//! Memory of rings of words: `[header][data][the data again][reserved]`, one range of addresses each.
//!
//! The second mapping of the data, the mirror, lets a writer run past the end of its ring. Behind the mirror there
//! are addresses without memory, the guard. A store there raises a signal, whose handler maps the data once more
//! ([`grow`]), so that the store succeeds.
//!
//! The memory is shared, because private pages cannot be mapped twice. A forked child therefore calls
//! [`Region::unshare`]. All functions are safe to call from a signal handler.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use qs_core::record::value;
use qs_core::record::words::{UNIT, word_len};

use crate::hosted::system::shared_state::Published;
use crate::hosted::system::sys::{page_size, with_signals_blocked};

/// The largest number of regions at the same time: rings, lanes and scratch memory.
const MOST: usize = 1024 + SCRATCHES;
/// Bytes of addresses behind the mirror. A ring gets fewer if the address space is limited.
const ROOM: usize = 64 << 20;
/// Number of unrecorded threads with scratch memory of their own. Further threads share it.
const SCRATCHES: usize = 64;
/// Bytes of a scratch region. Its mirror has the same size.
const SCRATCH: usize = 64 << 10;
/// Bytes that a thread writes in scratch memory before it starts over. They are few, so that they stay in the cache.
const SCRATCH_ROUND: usize = 4 << 10;

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
}

static PLACES: [RegionSlot; MOST] = [const {
    RegionSlot {
        is_taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        header_len: AtomicUsize::new(0),
        size: AtomicUsize::new(0),
        reserved: AtomicUsize::new(0),
        mirrored: AtomicUsize::new(0),
    }
}; MOST];
/// No place from this one on was ever taken.
static END: AtomicUsize = AtomicUsize::new(0);
/// How often a guard was hit and the store succeeded.
#[cfg(test)]
static GROWN: AtomicUsize = AtomicUsize::new(0);

/// Memory of one ring.
#[derive(Clone, Copy)]
pub(crate) struct Region(&'static RegionSlot);

/// Where the pages of a region come from.
#[derive(Clone, Copy)]
enum Pages {
    /// The pages that header and data have now.
    Own,
    /// This file, from this offset on.
    File(c_int, u64),
}

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

fn map_with_room(size: usize, header_len: usize, room: usize) -> Option<Region> {
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
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
    let mut room = room.max(page_size());
    loop {
        let len = least.checked_add(room)?;
        // SAFETY: a new mapping changes no existing memory.
        let start = unsafe { libc::mmap(null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        if start != libc::MAP_FAILED {
            return Some((start.cast(), len));
        }
        if room <= page_size() {
            return None;
        }
        room = (room / 4).next_multiple_of(page_size());
    }
}

/// Maps pages over `len` bytes of a reservation. Without a file the memory is new.
///
/// # Safety
/// The bytes belong to a region, and no code relies on their content.
unsafe fn map_over(at: *mut u8, len: usize, file: Option<(c_int, u64)>) -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let (fd, offset) = file.unwrap_or((-1, 0));
    let flags = libc::MAP_SHARED | libc::MAP_FIXED | if file.is_none() { libc::MAP_ANON } else { 0 };
    // SAFETY: the caller owns the bytes and has given up their content.
    unsafe { libc::mmap(at.cast(), len, access, flags, fd, offset as libc::off_t) != libc::MAP_FAILED }
}

/// Maps `len` bytes that are mapped at `from` once more at `to`. Without a file only Linux can do it.
///
/// # Safety
/// The bytes at `to` belong to a region, and no code relies on their content.
unsafe fn map_again(from: *mut u8, to: *mut u8, len: usize) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: an old size of 0 leaves the bytes at `from` unchanged. The caller owns those at `to` and has given up
    // their content.
    return unsafe {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        libc::mremap(from.cast::<c_void>(), 0, len, flags, to.cast::<c_void>()) != libc::MAP_FAILED
    };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = (from, to, len);
        false
    }
}

/// A file without a name, of this length.
fn nameless_file(len: usize) -> Option<c_int> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::syscall(libc::SYS_memfd_create, c"xhist".as_ptr(), libc::MFD_CLOEXEC) as c_int };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let fd = {
        // A name that no other process uses, from the process id and the time.
        let mut name = *b"/xhist-00000000\0";
        let mut key =
            crate::hosted::system::sys::pid() ^ (crate::hosted::system::sys::nanos() as u32).rotate_left(16);
        for byte in &mut name[7..15] {
            *byte = b"0123456789abcdef"[(key & 15) as usize];
            key >>= 4;
        }
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        // SAFETY: the name ends with a zero byte.
        unsafe {
            let fd = libc::shm_open(name.as_ptr().cast(), flags, 0o600 as core::ffi::c_uint);
            libc::shm_unlink(name.as_ptr().cast());
            fd
        }
    };
    if fd < 0 {
        return None;
    }
    // SAFETY: this function owns the descriptor.
    if unsafe { libc::ftruncate(fd, len as libc::off_t) } != 0 {
        // SAFETY: this function owns the descriptor, and returns no copy of it.
        unsafe { libc::close(fd) };
        return None;
    }
    Some(fd)
}

/// Keeps the mirror out of dumps, because it only repeats the data.
fn leave_out_of_dumps(start: *mut u8, len: usize) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the advice only concerns dumps.
    unsafe {
        libc::madvise(start.cast(), len, libc::MADV_DONTDUMP);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (start, len);
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
            unsafe { libc::munmap(start.cast(), reserved) };
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
        let mirror = start.wrapping_add(header_len + size);
        // SAFETY: the caller owns the region and has given up its content. The reservation has room for the mirror.
        let is_mapped = unsafe {
            map_over(start, header_len + size, None)
                && (map_again(start.wrapping_add(header_len), mirror, size)
                    || map_new_file(start, header_len, size))
        };
        if is_mapped {
            self.0.mirrored.fetch_max(size, Ordering::Relaxed);
            leave_out_of_dumps(mirror, size);
        }
        is_mapped
    }

    /// Maps the data behind themselves again, up to `end` bytes of mirrors. Returns false if it could not map all.
    fn map_mirrors(self, pages: Pages, end: usize) -> bool {
        let (data, size) = (self.data(), self.size());
        let mut done = 0;
        while done < end {
            let (at, len) = (data.wrapping_add(size + done), size.min(end - done));
            // SAFETY: the bytes are reserved for mirrors, which only repeat the data.
            let is_mapped = unsafe {
                match pages {
                    Pages::Own => map_again(data, at, len),
                    Pages::File(fd, offset) => {
                        map_over(at, len, Some((fd, offset + self.header_len() as u64)))
                            || map_again(data, at, len)
                    }
                }
            };
            if !is_mapped {
                self.0.mirrored.store(done, Ordering::Relaxed);
                return false;
            }
            leave_out_of_dumps(at, len);
            done += len;
        }
        self.0.mirrored.fetch_max(end, Ordering::Relaxed);
        true
    }

    /// Replaces the memory with `len()` bytes of a file, from `offset` on, mirrors included.
    ///
    /// Only this thread may use the region, and its signals are blocked. The file has these bytes.
    pub(crate) fn put_file(self, fd: c_int, offset: u64) -> bool {
        let mirrored = self.0.mirrored.load(Ordering::Relaxed);
        // SAFETY: the caller has written the content that it needs to the file.
        let is_put = unsafe { map_over(self.start(), self.len(), Some((fd, offset))) };
        // If the mirror fails, the guard begins earlier, and the next store there tries again.
        if is_put && !self.map_mirrors(Pages::File(fd, offset), mirrored) {
            self.guard_from(self.0.mirrored.load(Ordering::Relaxed));
        }
        forget_replaced(self.start().addr(), self.0.reserved.load(Ordering::Relaxed));
        is_put
    }

    /// Unmaps the mirrors behind this number of bytes.
    fn guard_from(self, mirrored: usize) {
        let at = self.data().wrapping_add(self.size() + mirrored);
        let len = self.start().addr() + self.0.reserved.load(Ordering::Relaxed) - at.addr();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE | libc::MAP_FIXED;
        // SAFETY: the bytes are reserved for mirrors, which only repeat the data.
        unsafe { libc::mmap(at.cast(), len, libc::PROT_NONE, flags, -1, 0) };
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
                if mirrored > self.size() && !self.map_mirrors(Pages::Own, mirrored) {
                    self.guard_from(self.0.mirrored.load(Ordering::Relaxed));
                }
            }
        });
        forget_replaced(self.start().addr(), self.0.reserved.load(Ordering::Relaxed));
        // A thread that replaced a page when the process forked does not exist in the child.
        IS_REPLACING.store(false, Ordering::Release);
    }
}

/// Header, data and mirror in a file without a name, where memory cannot be mapped twice by itself.
///
/// # Safety
/// `start` is that of a region, and no code relies on the content of the memory.
unsafe fn map_new_file(start: *mut u8, header_len: usize, size: usize) -> bool {
    let Some(fd) = nameless_file(header_len + size) else { return false };
    // SAFETY: the caller owns the memory at `start` and has given up its content. This function owns the descriptor.
    unsafe {
        let is_mapped = map_over(start, header_len + size, Some((fd, 0)))
            && map_over(start.wrapping_add(header_len + size), size, Some((fd, header_len as u64)));
        libc::close(fd);
        is_mapped
    }
}

/// The region that contains this address, guard included.
fn find(address: usize) -> Option<Region> {
    PLACES.iter().take(END.load(Ordering::Acquire)).find(|place| place.has(address)).map(Region)
}

/// Whether an address is in a region, its guard included.
pub(crate) fn has(address: usize) -> bool {
    find(address).is_some()
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
    if mirrored > offset || !region.map_mirrors(Pages::Own, copies.min(most)) {
        return if mirrored > offset { Growth::Grown } else { Growth::Beyond };
    }
    #[cfg(test)]
    GROWN.fetch_add(1, Ordering::Relaxed);
    Growth::Grown
}

/// For [`signals::catch`](crate::hosted::system::signals::catch): whether a store to this address may be tried again.
pub(crate) fn on_fault(code: c_int, address: usize) -> bool {
    let growth = if code > 0 { grow(address) } else { Growth::Elsewhere };
    match growth {
        Growth::Elsewhere => false,
        Growth::Grown => true,
        Growth::Beyond => {
            crate::hosted::system::sys::write_to_stderr(
                b"xhist: no memory behind a ring: too many statements without a check\n",
            );
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
static NEXT_REPLACED: AtomicUsize = AtomicUsize::new(0);
/// A thread is replacing a page.
static IS_REPLACING: AtomicBool = AtomicBool::new(false);

fn forget_replaced(start: usize, len: usize) {
    for page in REPLACED.iter().filter(|page| (start..start + len).contains(&page.load(Ordering::Relaxed))) {
        page.store(0, Ordering::Relaxed);
    }
}

/// For the handler of SIGBUS: replaces the page of a cut file at this address with zeroed memory, in the data and in
/// all mirrors. Returns `None` if the address belongs to no region.
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
        let mut is_replaced = unsafe { map_over(at, page, None) };
        if is_replaced && offset >= header_len {
            let mut mirror = offset - header_len;
            while mirror < mirrored {
                let to = region.data().wrapping_add(size + mirror);
                // If it fails, words that are written through that mirror are lost.
                // SAFETY: the mirror's page repeats the page of the data, and belongs to the region.
                is_replaced &= unsafe { map_again(at, to, page) || map_over(to, page, None) };
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

/// Memory for words that are only counted: where they are written, and where they start over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScratchRange {
    pub(crate) cursor: *mut u8,
    pub(crate) limit: *mut u8,
}

/// ScratchRange memory before any other exists, and where the system has none. It has no guard.
#[repr(align(4096))]
struct Fallback(UnsafeCell<[u8; 2 * SCRATCH]>);

// SAFETY: threads write words there through raw pointers, and the code that counts them accepts any bytes.
unsafe impl Sync for Fallback {}

static FALLBACK: Fallback = Fallback(UnsafeCell::new([0; 2 * SCRATCH]));

/// ScratchRange regions in use, one bit each.
static TAKEN: AtomicU64 = AtomicU64::new(0);
static SCRATCH_PLACES: [Published<u8>; SCRATCHES] = [const { Published::null() }; SCRATCHES];

impl ScratchRange {
    fn at(start: *mut u8) -> ScratchRange {
        ScratchRange { cursor: start, limit: start.wrapping_add(SCRATCH_ROUND) }
    }

    /// ScratchRange memory that exists before any call, for the first words of a thread.
    pub(crate) fn fallback() -> ScratchRange {
        ScratchRange::at(FALLBACK.0.get().cast())
    }
}

/// ScratchRange memory for the calling thread. It is the thread's own while few threads need some.
pub(crate) fn scratch() -> ScratchRange {
    let taken =
        TAKEN.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |taken| Some(taken | taken.checked_add(1)?));
    let number = match taken {
        Ok(before) => before.trailing_ones() as usize,
        Err(_) => crate::hosted::system::sys::tid() as usize % SCRATCHES,
    };
    let known = SCRATCH_PLACES[number].get();
    if !known.is_null() {
        return ScratchRange::at(known);
    }
    let Some(region) = map_with_room(SCRATCH, 0, ROOM / 4) else {
        give_back_number(number);
        return ScratchRange::fallback();
    };
    first_scratch(number, region)
}

/// Makes this region the scratch memory of that number. If a thread that shares the number was faster, both use its
/// region, because words elsewhere would not be counted.
fn first_scratch(number: usize, region: Region) -> ScratchRange {
    SCRATCH_PLACES[number].publish_after(null_mut(), region.data(), || {});
    ScratchRange::at(SCRATCH_PLACES[number].get())
}

/// The same scratch memory from its beginning; `None` if the cursor is elsewhere.
pub(crate) fn scratch_again(cursor: *mut u8) -> Option<ScratchRange> {
    scratch_number(cursor).map(|number| ScratchRange::at(SCRATCH_PLACES[number].get()))
}

/// Makes the scratch memory free for another thread.
pub(crate) fn give_back_scratch(cursor: *mut u8) {
    if let Some(number) = scratch_number(cursor) {
        give_back_number(number);
    }
}

fn give_back_number(number: usize) {
    TAKEN.fetch_and(!(1 << number), Ordering::AcqRel);
}

/// Number of words other than values that a thread has written in scratch memory, up to its cursor there. Overwritten words count as
/// long ones, so the thread may have written more.
pub(crate) fn words_in_scratch(cursor: *mut u8) -> u32 {
    let start = match scratch_number(cursor) {
        Some(number) => SCRATCH_PLACES[number].get().addr(),
        None if is_in_fallback(cursor) => FALLBACK.0.get().addr(),
        None => return 0,
    };
    let len = cursor.addr() - start;
    let left = len.min(SCRATCH);
    let (mut words, mut at) = ((len - left) / (2 * UNIT), 0);
    while at < left {
        // SAFETY: the thread has written these bytes. Another thread may write them now, which a volatile read
        // allows.
        let byte = |index: usize| unsafe { cursor.wrapping_sub(left - at - index).read_volatile() };
        let is_value = value::is_mark(byte(0));
        let known = if is_value { left - at } else { 1 };
        let start: [u8; 6] = core::array::from_fn(|index| if index < known { byte(index) } else { 0 });
        at += word_len(&start).unwrap_or(UNIT);
        words += usize::from(!is_value);
    }
    words as u32
}

fn is_in_fallback(cursor: *mut u8) -> bool {
    let start = FALLBACK.0.get().addr();
    (start..start + 2 * SCRATCH).contains(&cursor.addr())
}

fn scratch_number(cursor: *mut u8) -> Option<usize> {
    let place = find(cursor.addr())?.data();
    SCRATCH_PLACES.iter().position(|known| known.get() == place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(at: *mut u8, byte: u8) {
        // SAFETY: tests pass addresses in regions.
        unsafe { at.write_volatile(byte) };
    }

    fn read(at: *mut u8) -> u8 {
        // SAFETY: tests pass addresses in regions.
        unsafe { at.read_volatile() }
    }

    const SIZE: usize = 64 << 10;

    /// More threads are not recorded than there is scratch memory, and two of them come at once.
    #[test]
    fn threads_that_share_a_number_share_its_memory() {
        let last = SCRATCHES - 1;
        let [first, second] =
            [(); 2].map(|()| first_scratch(last, map_with_room(SCRATCH, 0, ROOM / 4).expect("memory")));
        assert_eq!(first, second);
        assert_eq!(scratch_again(first.cursor), Some(first), "its words are counted");
    }

    #[test]
    fn the_data_appear_twice() {
        let region = map(SIZE, page_size()).expect("memory");
        assert_eq!(region.data().addr() - region.header().addr(), page_size());
        assert_eq!(region.len(), SIZE + page_size());
        for (at, byte) in [(0, 0x55), (1, 0x56), (SIZE - 1, 0x57)] {
            write(region.data().wrapping_add(SIZE + at), byte);
            assert_eq!(read(region.data().wrapping_add(at)), byte);
        }
        write(region.header(), 7);
        assert_eq!(read(region.data().wrapping_add(SIZE)), 0x55, "the header is not part of the mirror");
    }

    #[test]
    fn a_guard_grows_to_its_end() {
        let region = map_with_room(SIZE, 0, 3 * SIZE + page_size()).expect("memory");
        let data = region.data().addr();
        write(region.data().wrapping_add(9), 0x99);
        assert_eq!(grow(data + 2 * SIZE), Growth::Grown);
        assert_eq!(read(region.data().wrapping_add(2 * SIZE + 9)), 0x99);
        // This is the copy behind the next one.
        assert_eq!(grow(data + 4 * SIZE + 17), Growth::Grown);
        assert_eq!(read(region.data().wrapping_add(3 * SIZE + 9)), 0x99);
        assert_eq!(read(region.data().wrapping_add(4 * SIZE + 9)), 0x99);
        assert_eq!(grow(data + 5 * SIZE), Growth::Beyond);
        assert_eq!(grow((&raw const GROWN).addr()), Growth::Elsewhere);
        assert!(times_grown() >= 2);
    }

    #[test]
    fn a_file_without_a_name_works_as_well() {
        let (start, _) = reserve(3 * SIZE, 0).expect("addresses");
        // SAFETY: the test has mapped the addresses.
        assert!(unsafe { map_new_file(start, SIZE, SIZE) });
        write(start.wrapping_add(2 * SIZE + 3), 0x33);
        assert_eq!(read(start.wrapping_add(SIZE + 3)), 0x33);
    }

    fn temporary_file(len: usize) -> c_int {
        let path = std::env::temp_dir().join(format!("xhist-mirror-{}-{len}", std::process::id()));
        let file =
            std::fs::File::options().read(true).write(true).create_new(true).open(&path).expect("a file");
        std::fs::remove_file(path).expect("its name goes");
        file.set_len(len as u64).expect("room");
        std::os::fd::IntoRawFd::into_raw_fd(file)
    }

    #[test]
    fn a_ring_that_has_moved_to_a_file_survives_a_cut_of_the_file() {
        let page = page_size();
        let region = map_with_room(SIZE, page, 3 * SIZE).expect("memory");
        assert_eq!(grow(region.data().addr() + 2 * SIZE), Growth::Grown);
        let fd = temporary_file(region.len() + page);
        let file = crate::hosted::system::ring_file::RingFile::of_descriptor(fd);
        write(region.header(), 1);
        write(region.data().wrapping_add(SIZE - 1), 2);
        assert!(file.move_region(page as u64, region, true));
        assert_eq!((read(region.header()), read(region.data().wrapping_add(SIZE - 1))), (1, 2), "kept");
        let in_file = |at: usize| {
            let mut byte = [0u8];
            // SAFETY: the file has room for one byte.
            unsafe { libc::pread(fd, byte.as_mut_ptr().cast(), 1, at as libc::off_t) };
            byte[0]
        };
        for copy in 1..3 {
            write(region.data().wrapping_add(copy * SIZE + 5 * page), 0x60 + copy as u8);
            assert_eq!(in_file(7 * page), 0x60 + copy as u8, "every mirror is the file's");
        }
        // The first half stays.
        // SAFETY: the descriptor is the test's.
        assert_eq!(unsafe { libc::ftruncate(fd, (page * 2 + SIZE / 2) as libc::off_t) }, 0);
        let lost = region.data().wrapping_add(SIZE - page);
        write(lost.wrapping_add(SIZE + 3), 0x44);
        assert_eq!([0, 1, 2].map(|copy| read(lost.wrapping_add(copy * SIZE + 3))), [0x44; 3]);
        assert_eq!(read(lost.wrapping_add(page - 1)), 0, "what the page held is lost");
        write(region.data(), 0x21);
        assert_eq!((in_file(2 * page), read(region.data().wrapping_add(SIZE))), (0x21, 0x21));
    }

    #[test]
    fn a_child_has_memory_of_its_own() {
        let region = map_with_room(SIZE, page_size(), 4 * SIZE).expect("memory");
        grow(region.data().addr() + 2 * SIZE);
        write(region.header(), 5);
        write(region.data(), 6);
        // SAFETY: the child only makes calls that are allowed in a signal handler.
        let status = unsafe {
            let child = libc::fork();
            if child == 0 {
                region.unshare::<64>();
                let kept = read(region.header()) == 5 && read(region.data()) == 0;
                write(region.data().wrapping_add(SIZE), 0x77);
                let is_twin =
                    read(region.data()) == 0x77 && read(region.data().wrapping_add(2 * SIZE)) == 0x77;
                libc::_exit(c_int::from(kept && is_twin));
            }
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
            status
        };
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 1, "{status:x}");
        assert_eq!((read(region.header()), read(region.data())), (5, 6), "the parent's");
    }

    #[test]
    fn little_address_space_means_little_room() {
        // SAFETY: the child only makes calls that are allowed in a signal handler.
        let status = unsafe {
            let child = libc::fork();
            if child == 0 {
                let mut pages = [0u8; 64];
                let fd = libc::open(c"/proc/self/statm".as_ptr(), libc::O_RDONLY);
                let len = libc::read(fd, pages.as_mut_ptr().cast(), 64) as usize;
                let used = pages[..len].iter().take_while(|byte| byte.is_ascii_digit());
                let used = used.fold(0, |sum, byte| sum * 10 + usize::from(byte - b'0')) * page_size();
                let limit = (used + 3 * SIZE) as libc::rlim_t;
                libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_cur: limit, rlim_max: limit });
                let (small, large) = (map(SIZE, 0), map(64 * SIZE, 0));
                libc::_exit(c_int::from(small.is_some() && large.is_none()));
            }
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
            status
        };
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 1, "{status:x}");
    }

    #[test]
    fn threads_without_a_ring_share_no_scratch_memory() {
        let (one, two) = (scratch(), scratch());
        assert_ne!(one.cursor, two.cursor);
        let far = one.cursor.wrapping_add(SCRATCH + 5);
        write(far, 1);
        assert_eq!(scratch_again(far), Some(one));
        // The process may have some regions already.
        assert_eq!(scratch_again(ScratchRange::fallback().limit), None);
        assert_eq!(scratch_again((&raw const TAKEN).cast_mut().cast()), None);
        give_back_scratch(far);
        give_back_scratch(two.cursor);
    }

    #[test]
    fn words_in_scratch_memory_are_counted() {
        let ScratchRange { cursor, .. } = scratch();
        assert_eq!((words_in_scratch(cursor), words_in_scratch(null_mut())), (0, 0));
        // Three short words, a long one, a short one.
        let bytes = [1, 2, 3, 4, 5, 6, 250, 1, 255, 255, 1, 1];
        bytes.iter().enumerate().for_each(|(at, byte)| write(cursor.wrapping_add(at), *byte));
        assert_eq!(words_in_scratch(cursor.wrapping_add(bytes.len())), 5);
        // After a lap around the whole memory, only the room of the first hundred words is known.
        (0..SCRATCH).for_each(|at| write(cursor.wrapping_add(at), 250));
        (SCRATCH..SCRATCH + 400).for_each(|at| write(cursor.wrapping_add(at), 5));
        let left = (SCRATCH as u32 - 400) / 4 + 200;
        assert_eq!(words_in_scratch(cursor.wrapping_add(SCRATCH + 400)), 100 + left);
        give_back_scratch(cursor);
    }
}
