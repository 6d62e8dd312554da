//! The return addresses of the calling thread's frames, by the unwinder that the standard library is linked with. Names and lines
//! are the reader's work.

use core::ffi::{c_int, c_void};
use core::ops::Range;

use qs_core::map::Hash;
use qs_core::record::MOST_FRAMES;

/// Return addresses in the program itself, without those in its dynamic libraries.
pub(crate) struct Backtrace {
    /// FNV-1a 64 of the program's headers.
    pub program: u64,
    /// Return addresses less the address that the program was loaded at, innermost first.
    addresses: [u32; MOST_FRAMES],
    len: usize,
}

impl Backtrace {
    /// That of the calling thread. It allocates nothing, and makes no system call.
    pub fn here() -> Backtrace {
        let mut found = Backtrace { program: 0, addresses: [0; MOST_FRAMES], len: 0 };
        if let Some(Program { base, hash, code }) = Program::find() {
            found.program = hash;
            let mut walk = Walk { found: &mut found, base, code };
            // SAFETY: `frame` has the type of a trace function, and gets this pointer, which is valid for the whole call.
            unsafe { _Unwind_Backtrace(frame, (&raw mut walk).cast()) };
        }
        found
    }

    /// The addresses, innermost first.
    pub fn addresses(&self) -> &[u32] {
        self.addresses.get(..self.len).unwrap_or_default()
    }
}

/// The running program in memory.
struct Program {
    /// Where it was loaded, less its address in the file.
    base: usize,
    hash: u64,
    /// Its code.
    code: Range<usize>,
}

impl Program {
    fn find() -> Option<Program> {
        let mut found: Option<Program> = None;
        // SAFETY: `program` has the type of a callback, and gets this pointer, which is valid for the whole call.
        unsafe { libc::dl_iterate_phdr(Some(program), (&raw mut found).cast()) };
        found
    }
}

/// The loader calls this for the program first.
unsafe extern "C" fn program(info: *mut libc::dl_phdr_info, _: usize, to: *mut c_void) -> c_int {
    // SAFETY: the loader passes valid information, and the pointer that `Program::find` gave it.
    let (info, to) = unsafe { (&*info, &mut *to.cast::<Option<Program>>()) };
    // SAFETY: the loader's table of headers has this length, and stays as it is while the program runs.
    let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    // SAFETY: headers are numbers without padding.
    let bytes = unsafe { core::slice::from_raw_parts(headers.as_ptr().cast::<u8>(), size_of_val(headers)) };
    let mut hash = Hash::new();
    hash.update(bytes);
    let base = info.dlpi_addr as usize;
    let code =
        headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0);
    let code = code.map(|header| {
        let start = base.wrapping_add(header.p_vaddr as usize);
        start..start.saturating_add(header.p_memsz as usize)
    });
    if let Some(code) = code.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end)) {
        *to = Some(Program { base, hash: hash.finish(), code });
    }
    1
}

/// A walk through the frames.
struct Walk<'w> {
    found: &'w mut Backtrace,
    base: usize,
    code: Range<usize>,
}

/// The unwinder calls this for each frame, innermost first.
unsafe extern "C" fn frame(context: *mut c_void, walk: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const STOP: c_int = 5;
    // SAFETY: the unwinder passes its context, and the pointer that `Backtrace::here` gave it.
    let (address, walk) = unsafe { (_Unwind_GetIP(context), &mut *walk.cast::<Walk<'_>>()) };
    if !walk.code.contains(&address) {
        return GO_ON;
    }
    let found = &mut *walk.found;
    let Some(place) = found.addresses.get_mut(found.len) else { return STOP };
    // Programs of more than 4 GiB have no frames above.
    let Ok(address) = u32::try_from(address.wrapping_sub(walk.base)) else { return STOP };
    *place = address;
    found.len += 1;
    GO_ON
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        frame: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        walk: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}
