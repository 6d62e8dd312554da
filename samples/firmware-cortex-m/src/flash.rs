//! Takes the place of a flash memory and its driver: QEMU's board cannot write its own. It keeps the history of the run before.
// xhist instrument FALSE
#![cfg_attr(not(feature = "embassy-boot"), allow(dead_code, reason = "not every boot loader has all partitions"))]

use core::cell::UnsafeCell;
use core::ops::Range;

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

use crate::uart;

/// The map: what an image runs from, where an update comes to, what the boot loader keeps, and the history. Only the last one is
/// no business of the boot loader.
pub const ACTIVE: Range<u32> = 0x0000..0x0400;
pub const UPDATE: Range<u32> = 0x0400..0x0A00;
pub const STATE: Range<u32> = 0x0A00..0x0C00;
pub const HISTORY: Range<u32> = 0x0C00..0x1E00;

#[repr(transparent)]
pub struct Memory(UnsafeCell<[u8; HISTORY.end as usize]>);

// SAFETY: only the start-up of the program touches it, before interrupts are enabled.
unsafe impl Sync for Memory {}

#[unsafe(no_mangle)]
#[unsafe(link_section = ".uninit.flash")]
static FLASH: Memory = Memory(UnsafeCell::new([0; HISTORY.end as usize]));

/// A partition.
pub struct Partition(pub Range<u32>);

impl Partition {
    /// The address of a byte, if this number of bytes is inside.
    fn at(&self, offset: u32, len: usize) -> Result<*mut u8, NorFlashErrorKind> {
        match offset as usize + len <= self.capacity() {
            true => Ok(FLASH.0.get().cast::<u8>().wrapping_add((self.0.start + offset) as usize)),
            false => Err(NorFlashErrorKind::OutOfBounds),
        }
    }
}

impl ErrorType for Partition {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Partition {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        let from = self.at(offset, bytes.len())?;
        // SAFETY: inside the memory, and nothing else uses it.
        bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = unsafe { from.add(at).read_volatile() });
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.len()
    }
}

impl NorFlash for Partition {
    const WRITE_SIZE: usize = 8;
    const ERASE_SIZE: usize = 512;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        let len = (to - from) as usize;
        let start = self.at(from, len)?;
        // SAFETY: inside the memory, and nothing else uses it.
        (0..len).for_each(|at| unsafe { start.add(at).write_volatile(0xFF) });
        Ok(())
    }

    /// Only clears bits, as flash does.
    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        let start = self.at(offset, bytes.len())?;
        for (at, byte) in bytes.iter().enumerate() {
            // SAFETY: inside the memory, and nothing else uses it.
            unsafe { start.add(at).write_volatile(start.add(at).read_volatile() & byte) };
        }
        Ok(())
    }
}

/// Erases all of it once: at first QEMU's memory is zero. True at that time.
pub fn is_new() -> bool {
    let mut all = Partition(0..HISTORY.end);
    let mut last = [0; 8];
    // Nothing is written there.
    let is_new = all.read(HISTORY.end - 8, &mut last).is_ok() && last == [0; 8];
    is_new && all.erase(0, HISTORY.end).is_ok()
}

/// What flash writes at a time, or a multiple of it.
const WORD: usize = 8;

/// Collects bytes of any length into words of flash. The number of all bytes is a multiple of [`WORD`].
pub struct PageWriter<'a, F> {
    flash: &'a mut F,
    at: u32,
    word: [u8; WORD],
    len: usize,
}

impl<'a, F: NorFlash> PageWriter<'a, F> {
    /// From the beginning of this area, if nothing is there yet.
    pub fn of_empty(flash: &'a mut F) -> Option<PageWriter<'a, F>> {
        let mut first = [0; WORD];
        let is_empty = flash.read(0, &mut first).is_ok() && first == [0xFF; WORD];
        is_empty.then_some(PageWriter { flash, at: 0, word: first, len: 0 })
    }

    pub fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.word[self.len] = *byte;
            self.len += 1;
            if self.len == WORD {
                // What does not fit is missing in the report.
                let _ = self.flash.write(self.at, &self.word);
                (self.at, self.len) = (self.at + WORD as u32, 0);
            }
        }
    }
}

/// Keeps the history of the run before in this area of flash. The first one is kept until the area is fetched and erased.
pub fn keep_earlier_run(flash: &mut impl NorFlash) {
    let Some(mut page) = PageWriter::of_empty(flash) else { return };
    xhist_rt::export_earlier(|piece| {
        page.write(piece);
        let mut rest = piece;
        while !rest.is_empty() {
            rest = &rest[uart::write(rest)..];
        }
    });
}
