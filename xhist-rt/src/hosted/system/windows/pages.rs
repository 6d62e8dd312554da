//! The pages of rings: addresses that are reserved, and views of a section there, one behind the other.
//!
//! Windows 10 has placeholders: reserved addresses that a view replaces in one step. Where a first trial fails, as in wine 8,
//! addresses are given back before the view is mapped there. Another thread might get them meanwhile. So they are in
//! a part of the address space that the system gives only to those who ask for it.

use core::ffi::c_void;
use core::ops::Range;
use core::ptr::{null, null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, MEM_FREE, MEM_MAPPED, MEM_PRESERVE_PLACEHOLDER,
    MEM_RELEASE, MEM_REPLACE_PLACEHOLDER, MEM_RESERVE, MEM_RESERVE_PLACEHOLDER, MEMORY_BASIC_INFORMATION,
    MapViewOfFileEx, PAGE_NOACCESS, PAGE_READWRITE, UnmapViewOfFile, VirtualAlloc, VirtualFree, VirtualQuery,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use super::memory::page_size;

/// Addresses for rings, where there are no placeholders: far from where the system puts stacks, heaps and libraries.
const ZONE: Range<usize> = if usize::BITS == 64 { 1 << 45..3 << 44 } else { 1 << 30..3 << 29 };

/// How the system names an open file: the number of its handle.
pub(crate) type FileNumber = usize;

/// Where the pages of a region come from, for one more copy of them: a section, and the offset of the header in it.
#[derive(Clone, Copy)]
pub(crate) struct Pages {
    section: usize,
    offset: usize,
}

/// The pages of a region, for later copies.
pub(crate) struct KeptPages {
    section: AtomicUsize,
    offset: AtomicUsize,
}

impl KeptPages {
    pub(crate) const fn new() -> KeptPages {
        KeptPages { section: AtomicUsize::new(0), offset: AtomicUsize::new(0) }
    }

    pub(crate) fn get(&self) -> Pages {
        Pages { section: self.section.load(Ordering::Relaxed), offset: self.offset.load(Ordering::Relaxed) }
    }

    /// Only the thread that has the region calls this. The views of the previous pages keep their section.
    pub(crate) fn set(&self, pages: Pages) {
        self.offset.store(pages.offset, Ordering::Relaxed);
        let previous = self.section.swap(pages.section, Ordering::Relaxed);
        if previous != 0 {
            // SAFETY: the section is the region's, and no copy of its pages will be made.
            unsafe { CloseHandle(core::ptr::without_provenance_mut(previous)) };
        }
    }
}

type Allocate =
    unsafe extern "system" fn(HANDLE, *const c_void, usize, u32, u32, *const c_void, u32) -> *mut c_void;
type MapView = unsafe extern "system" fn(
    HANDLE,
    HANDLE,
    *const c_void,
    u64,
    usize,
    u32,
    u32,
    *const c_void,
    u32,
) -> *mut c_void;
type UnmapView = unsafe extern "system" fn(HANDLE, *const c_void, u32) -> i32;

/// The functions of placeholders.
#[derive(Clone, Copy)]
struct Placeholders {
    allocate: Allocate,
    map: MapView,
    unmap: UnmapView,
}

impl Placeholders {
    /// `None` where a first trial fails.
    fn get() -> Option<Placeholders> {
        const UNKNOWN: u8 = 0;
        const YES: u8 = 1;
        const NO: u8 = 2;
        static HAS: AtomicU8 = AtomicU8::new(UNKNOWN);
        match HAS.load(Ordering::Relaxed) {
            NO => None,
            YES => Placeholders::find(),
            _ => {
                let found = Placeholders::find().filter(|found| found.work());
                HAS.store(if found.is_some() { YES } else { NO }, Ordering::Relaxed);
                found
            }
        }
    }

    fn find() -> Option<Placeholders> {
        // SAFETY: the library is part of every process, the names end with a zero, and functions of these names have
        // these types.
        unsafe {
            let library = GetModuleHandleA(c"kernelbase.dll".as_ptr().cast());
            let find = |name: &core::ffi::CStr| GetProcAddress(library, name.as_ptr().cast());
            Some(Placeholders {
                allocate: core::mem::transmute::<unsafe extern "system" fn() -> isize, Allocate>(find(
                    c"VirtualAlloc2",
                )?),
                map: core::mem::transmute::<unsafe extern "system" fn() -> isize, MapView>(find(
                    c"MapViewOfFile3",
                )?),
                unmap: core::mem::transmute::<unsafe extern "system" fn() -> isize, UnmapView>(find(
                    c"UnmapViewOfFile2",
                )?),
            })
        }
    }

    /// Whether two views behind each other are the same memory.
    fn work(self) -> bool {
        let page = page_size();
        let Some((start, section)) = self.reserve(2 * page).zip(section(INVALID_HANDLE_VALUE, page as u64))
        else {
            return false;
        };
        // SAFETY: the addresses are reserved, and both views are writable.
        let is_mirror = unsafe {
            let second = start.wrapping_add(page);
            self.map(section, 0, start, page) && self.map(section, 0, second, page) && {
                start.write_volatile(1);
                second.read_volatile() == 1
            }
        };
        // SAFETY: the section is this function's. The two pages of addresses stay.
        unsafe {
            (self.unmap)(GetCurrentProcess(), start.cast(), MEM_PRESERVE_PLACEHOLDER);
            (self.unmap)(GetCurrentProcess(), start.wrapping_add(page).cast(), MEM_PRESERVE_PLACEHOLDER);
            CloseHandle(section);
        }
        is_mirror
    }

    fn reserve(self, len: usize) -> Option<*mut u8> {
        // SAFETY: new addresses change no existing memory.
        let start = unsafe {
            let kind = MEM_RESERVE | MEM_RESERVE_PLACEHOLDER;
            (self.allocate)(null_mut(), null(), len, kind, PAGE_NOACCESS, null(), 0)
        };
        (!start.is_null()).then_some(start.cast())
    }

    /// Maps a view over a part of a placeholder.
    ///
    /// # Safety
    /// The addresses are the caller's.
    unsafe fn map(self, section: HANDLE, offset: u64, at: *mut u8, len: usize) -> bool {
        // SAFETY: the caller owns the addresses. The first call fails if the placeholder has this length already.
        unsafe {
            VirtualFree(at.cast(), len, MEM_RELEASE | MEM_PRESERVE_PLACEHOLDER);
            let kind = MEM_REPLACE_PLACEHOLDER;
            !(self.map)(section, GetCurrentProcess(), at.cast(), offset, len, kind, PAGE_READWRITE, null(), 0)
                .is_null()
        }
    }
}

/// Reserves this number of addresses, without memory.
pub(crate) fn reserve_addresses(len: usize) -> Option<*mut u8> {
    match Placeholders::get() {
        Some(placeholders) => placeholders.reserve(len),
        None => {
            static NEXT: AtomicUsize = AtomicUsize::new(ZONE.start);
            let start = NEXT.fetch_add(len.next_multiple_of(1 << 20), Ordering::Relaxed);
            ZONE.contains(&(start + len))
                .then(|| reserve_at(core::ptr::without_provenance_mut(start), len))
                .flatten()
        }
    }
}

fn reserve_at(at: *mut u8, len: usize) -> Option<*mut u8> {
    // SAFETY: new addresses change no existing memory.
    let start = unsafe { VirtualAlloc(at.cast(), len, MEM_RESERVE, PAGE_NOACCESS) };
    (!start.is_null()).then_some(start.cast())
}

/// Gives addresses of [`reserve_addresses`] back.
///
/// # Safety
/// No code uses memory there.
pub(crate) unsafe fn release_addresses(start: *mut u8, len: usize) {
    let mut at = start;
    while at < start.wrapping_add(len) {
        let found = look(at);
        if found.Type == MEM_MAPPED {
            // SAFETY: the caller has given the memory up.
            unsafe { UnmapViewOfFile(view(found.AllocationBase)) };
        } else if found.State != MEM_FREE {
            // SAFETY: the caller owns the addresses.
            unsafe { VirtualFree(found.AllocationBase, 0, MEM_RELEASE) };
        }
        at = found.BaseAddress.cast::<u8>().wrapping_add(found.RegionSize.max(1));
    }
}

fn view(base: *mut c_void) -> windows_sys::Win32::System::Memory::MEMORY_MAPPED_VIEW_ADDRESS {
    windows_sys::Win32::System::Memory::MEMORY_MAPPED_VIEW_ADDRESS { Value: base }
}

/// What is at an address.
fn look(at: *const u8) -> MEMORY_BASIC_INFORMATION {
    let mut found = core::mem::MaybeUninit::<MEMORY_BASIC_INFORMATION>::zeroed();
    // SAFETY: there is a place for the answer, for which all zeros are valid.
    unsafe {
        VirtualQuery(at.cast(), found.as_mut_ptr(), size_of::<MEMORY_BASIC_INFORMATION>());
        found.assume_init()
    }
}

/// Gives header and data new, zeroed memory at `start`, and maps the data again behind it.
///
/// # Safety
/// The addresses are reserved, also those for the mirror, and no code relies on what is there.
pub(crate) unsafe fn map_new(start: *mut u8, header_len: usize, size: usize) -> Option<Pages> {
    let len = header_len + size;
    let section = section(INVALID_HANDLE_VALUE, len as u64)?;
    let pages = Pages { section: section.addr(), offset: 0 };
    // SAFETY: the caller owns the addresses and has given up their content.
    let is_mapped = unsafe {
        map(section, 0, start, len) && map(section, header_len as u64, start.wrapping_add(len), size)
    };
    is_mapped.then_some(pages)
}

/// Replaces header and data by `len` bytes of a file, from `offset` on.
///
/// # Safety
/// As for [`map_new`]. The file has these bytes.
pub(crate) unsafe fn map_file(start: *mut u8, len: usize, file: FileNumber, offset: u64) -> Option<Pages> {
    let section = section(without_provenance_mut(file), offset + len as u64)?;
    // SAFETY: the caller owns the addresses and has given up their content.
    let is_mapped = unsafe { map(section, offset, start, len) };
    is_mapped.then_some(Pages { section: section.addr(), offset: usize::try_from(offset).ok()? })
}

/// Maps `len` bytes of the data, which are behind `header_len` bytes, once more.
///
/// # Safety
/// As for [`map_new`]. Header and data have these pages.
pub(crate) unsafe fn map_copy(pages: Pages, header_len: usize, _: *mut u8, at: *mut u8, len: usize) -> bool {
    let section = core::ptr::without_provenance_mut(pages.section);
    // SAFETY: the caller owns the addresses and has given up their content.
    unsafe { map(section, (pages.offset + header_len) as u64, at, len) }
}

/// Takes the memory away there, and keeps the addresses.
///
/// # Safety
/// No code uses the memory.
pub(crate) unsafe fn unmap(at: *mut u8, len: usize) {
    // SAFETY: the caller has given the memory up.
    unsafe { unmap_views(at, len) };
    if Placeholders::get().is_none() {
        reserve_at(at, len);
    }
}

/// Maps zeroed memory that is a view of its own.
///
/// # Safety
/// As for [`map_new`].
pub(super) unsafe fn map_alone(at: *mut u8, len: usize) -> bool {
    let Some(section) = section(INVALID_HANDLE_VALUE, len as u64) else { return false };
    // SAFETY: the caller owns the addresses. A view keeps its section.
    unsafe {
        let is_mapped = map(section, 0, at, len);
        CloseHandle(section);
        is_mapped
    }
}

/// Replaces a view by bytes of a file.
///
/// # Safety
/// As for [`map_new`]. The file has these bytes.
pub(super) unsafe fn map_file_alone(at: *mut u8, len: usize, file: FileNumber, offset: u64) -> bool {
    let Some(section) = section(without_provenance_mut(file), offset + len as u64) else { return false };
    // SAFETY: the caller owns the addresses. A view keeps its section.
    unsafe {
        let is_mapped = map(section, offset, at, len);
        CloseHandle(section);
        is_mapped
    }
}

/// A section of this length, of a file or of memory.
fn section(file: HANDLE, len: u64) -> Option<HANDLE> {
    // SAFETY: the file is open, or the section is memory.
    let section =
        unsafe { CreateFileMappingW(file, null(), PAGE_READWRITE, (len >> 32) as u32, len as u32, null()) };
    (!section.is_null()).then_some(section)
}

/// Maps a view in place of what is there: reserved addresses, or views that begin and end there.
///
/// # Safety
/// The addresses are the caller's, and no code relies on what is there.
unsafe fn map(section: HANDLE, offset: u64, at: *mut u8, len: usize) -> bool {
    // SAFETY: the caller owns the addresses and has given up their content.
    unsafe {
        unmap_views(at, len);
        if let Some(placeholders) = Placeholders::get() {
            return placeholders.map(section, offset, at, len);
        }
        let access = FILE_MAP_READ | FILE_MAP_WRITE;
        give_back(at, len);
        !MapViewOfFileEx(section, access, (offset >> 32) as u32, offset as u32, len, at.cast())
            .Value
            .is_null()
    }
}

/// Gives the reserved addresses from here on back, and keeps those around them.
///
/// # Safety
/// The addresses are the caller's.
unsafe fn give_back(at: *mut u8, len: usize) {
    let found = look(at);
    if found.State != MEM_RESERVE {
        return;
    }
    // Only the recorder has addresses in the zone.
    let start = found.AllocationBase.cast::<u8>();
    let before = at.addr() - start.addr();
    // The whole reservation has one state, so what is behind `at` reaches its end.
    let behind = found.RegionSize - (at.addr() - found.BaseAddress.addr());
    // SAFETY: the caller owns the reservation.
    unsafe { VirtualFree(start.cast(), 0, MEM_RELEASE) };
    if before > 0 {
        reserve_at(start, before);
    }
    if behind > len {
        reserve_at(at.wrapping_add(len), behind - len);
    }
}

/// Takes away the views there.
///
/// # Safety
/// No code uses the memory.
unsafe fn unmap_views(start: *mut u8, len: usize) {
    let placeholders = Placeholders::get();
    let mut at = start;
    while at < start.wrapping_add(len) {
        let found = look(at);
        if found.Type == MEM_MAPPED {
            // SAFETY: the caller has given the memory up.
            unsafe {
                match placeholders {
                    Some(placeholders) => (placeholders.unmap)(
                        GetCurrentProcess(),
                        found.AllocationBase,
                        MEM_PRESERVE_PLACEHOLDER,
                    ),
                    None => UnmapViewOfFile(view(found.AllocationBase)),
                }
            };
        }
        at = found.BaseAddress.cast::<u8>().wrapping_add(found.RegionSize.max(1));
    }
}

/// Maps zeroed memory that [`RingFile::map_over`](super::ring_file::RingFile::map_over) may replace, and a page behind it whose
/// bytes are not free.
pub(crate) fn map_with_end(len: usize) -> Option<*mut u8> {
    let (page, end) = (page_size(), len.next_multiple_of(page_size()));
    let memory = reserve_addresses(end + page)?;
    // SAFETY: the addresses are reserved and unused.
    unsafe {
        if !map_alone(memory, end) || !map_alone(memory.add(end), page) {
            return None;
        }
        memory.add(end).write_bytes(0xFF, page);
    }
    Some(memory)
}
