//! The spectrum of each thread: the statements that it ever ran, written to a file when the thread ends.
//!
//! Each slot has memory for the executed bitmap of its thread. Roll-overs fill it, so a statement costs nothing more. A
//! spectrum names the thread that started its thread, so the report can count the statements of helper threads for a test.

use core::cell::Cell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};

use qs_core::ring::Status;
use qs_core::ring::executed;
use qs_core::ring::spectrum::{HEADER_LEN, SpectrumHeader, header};

use crate::hosted::executed::ExecutedBitmap;
use crate::hosted::setup::config::Config;
use crate::hosted::setup::spectra_file;
use crate::hosted::slots::{self, SLOTS, Slot};
use crate::hosted::system::sys;
use crate::hosted::words::HostedHeader;

/// Number of bitmap slots of a thread: enough for 65,536 numbered statements, or for lines of a program with 400,000.
const BITMAP_SLOTS: u32 = 4096;
/// Offset of the bitmap in the memory. Its header is shorter than that of a spectrum; behind both are the slots. Until the thread
/// ends, the number of its spectrum is in front of the bitmap.
const BITMAP_AT: usize = HEADER_LEN - executed::HEADER_LEN;
/// Bytes of that memory.
const LEN: usize = BITMAP_AT + ExecutedBitmap::len(BITMAP_SLOTS);

const _: () = assert!(BITMAP_AT.is_multiple_of(16) && BITMAP_AT >= size_of::<u32>());

/// Number of threads that got the number of a spectrum so far.
static NUMBERS: AtomicU32 = AtomicU32::new(0);

std::thread_local! {
    // These have no destructors, so they work while a thread starts and ends.
    /// Number of this thread's spectrum, from 1; 0 without one. On Windows it may be gone when the thread ends.
    static NUMBER: Cell<u32> = const { Cell::new(0) };
    /// The number that [`origin`] returned in the thread that started this one.
    static PARENT: Cell<u32> = const { Cell::new(0) };
}

/// The spectrum number of this thread, or of the nearest thread above it that has one; 0 = none.
pub(crate) fn origin() -> u32 {
    match NUMBER.get() {
        0 => PARENT.get(),
        number => number,
    }
}

/// The same for a thread that this one is about to start. The thread of a test may start others before its first statement,
/// as for an async runtime; they are its own, so it takes its number now. The main thread does not: it starts the tests.
pub(crate) fn origin_of_thread() -> u32 {
    if origin() == 0 && !sys::is_main_thread() {
        NUMBER.set(next_number());
    }
    origin()
}

/// A number that no other thread has.
fn next_number() -> u32 {
    NUMBERS.fetch_add(1, Ordering::Relaxed) + 1
}

/// In a forked child: records in the parent's file which thread forked it. The child's thread has no spectrum yet.
pub(crate) fn note_fork() {
    spectra_file::note_start(sys::pid(), origin());
    NUMBER.set(0);
    PARENT.set(0);
}

/// Sets the number of the thread that started the calling one.
pub(crate) fn set_parent(number: u32) {
    PARENT.set(number);
}

/// Begins the spectrum of the calling thread, which has just got this slot. Without memory, the thread has none.
pub(crate) fn begin(slot: &Slot) {
    if !spectra_file::is_open() {
        return;
    }
    let known = slot.spectrum.load(Ordering::Relaxed);
    let memory = match known.is_null() {
        true => sys::map_anonymous(LEN).unwrap_or(null_mut()),
        // SAFETY: the slot's memory has this length, and belongs to the thread that has the slot.
        false => unsafe {
            known.write_bytes(0, LEN);
            known
        },
    };
    slot.spectrum.store(memory, Ordering::Relaxed);
    if memory.is_null() {
        return;
    }
    if NUMBER.get() == 0 {
        NUMBER.set(next_number());
    }
    // SAFETY: the memory is zeroed, has room for the bitmap and a number before it, starts a page and stays mapped.
    let bitmap = unsafe {
        memory.cast::<u32>().write(NUMBER.get());
        ExecutedBitmap::new(memory.add(BITMAP_AT), BITMAP_SLOTS, 0, sys::pid())
    };
    // SAFETY: the slot's track is laid out, and the calling thread, which has the slot, does not use the track yet.
    unsafe { (*slot.track()).writer.set_executed(bitmap) };
}

/// Lets a new lane mark its statements in the bitmap of the slot that it interrupts. Signals are blocked.
pub(crate) fn share(lane: &Slot, interrupted: u16) {
    let memory = SLOTS.get(usize::from(interrupted)).map(|slot| slot.spectrum.load(Ordering::Relaxed));
    let Some(memory) = memory.filter(|memory| !memory.is_null()) else { return };
    // SAFETY: `begin` has laid the bitmap out, and the lane's track is laid out and not used yet.
    unsafe {
        let bitmap = ExecutedBitmap::at(memory.add(BITMAP_AT), BITMAP_SLOTS);
        (*lane.track()).writer.set_executed(bitmap);
    }
}

/// Appends the spectrum of the calling thread, which ends and has this slot, to the file.
pub(crate) fn end(slot: &Slot) {
    let memory = slot.spectrum.load(Ordering::Relaxed);
    // SAFETY: the memory begins with a number, which is 0 behind the end of its thread.
    let number = if memory.is_null() { 0 } else { unsafe { memory.cast::<u32>().read() } };
    let Some(ring) = slot.ring().filter(|_| number != 0) else { return };
    sys::with_signals_blocked(|| {
        // SAFETY: `begin` has laid the bitmap out. Only this thread, which ends, uses it.
        let bitmap = unsafe { ExecutedBitmap::at(memory.add(BITMAP_AT), BITMAP_SLOTS) };
        let (slots, lost) = bitmap.compact();
        let about = SpectrumHeader {
            map_hash: Config::get().map_or(0, |config| slots::map_hash(&config)),
            pid: ring.pid,
            tid: ring.tid,
            number,
            parent: PARENT.get(),
            lost,
            has_panicked: slot.is(Status::Panicked),
            name: ring.name,
        };
        let bytes = header(&about, slots);
        let len = HEADER_LEN + slots as usize * executed::SLOT_LEN;
        // SAFETY: the memory has `LEN` bytes: the header of a spectrum and `BITMAP_SLOTS` slots. Only this thread uses
        // it.
        let spectrum = unsafe {
            memory.copy_from_nonoverlapping(bytes.as_ptr(), HEADER_LEN);
            core::slice::from_raw_parts(memory.cast_const(), len)
        };
        spectra_file::append(spectrum);
        // SAFETY: as above.
        unsafe { memory.cast::<u32>().write(0) };
    });
    NUMBER.set(0);
}

/// [`end`] for the thread that ends the process, which has this ring.
pub(crate) fn end_of_process(own: Option<&HostedHeader>) {
    let is_own = |slot: &&Slot| own.zip(slot.ring()).is_some_and(|(own, ring)| core::ptr::eq(own, ring));
    if let Some(slot) = SLOTS.iter().find(is_own) {
        end(slot);
    }
}
