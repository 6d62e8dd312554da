//! In the field there is no debug probe. The start after a reset has the history of the run before: here it leaves through the
//! UART, and stays in flash, where an update or a crash report finds it.
// xhist instrument FALSE

use embedded_storage::nor_flash::NorFlash;

use crate::flash::{self, Partition};
use crate::uart;

/// What flash writes at a time, or a multiple of it.
const WORD: usize = 8;

/// Collects bytes of any length into words of flash.
struct PageWriter<'a, F> {
    flash: &'a mut F,
    at: u32,
    word: [u8; WORD],
    len: usize,
}

impl<F: NorFlash> PageWriter<'_, F> {
    fn write(&mut self, bytes: &[u8]) {
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

pub fn start() {
    let is_new = flash::is_new();
    let mut history = Partition(flash::HISTORY);
    #[cfg(feature = "embassy-boot")]
    crate::boot_embassy::start(is_new, &mut history);
    #[cfg(feature = "mcuboot")]
    crate::boot_mcuboot::start(is_new, &mut history);
    #[cfg(not(any(feature = "embassy-boot", feature = "mcuboot")))]
    if !is_new {
        keep_earlier_run(&mut history);
    }
}

/// Keeps the history of the run before in this area of flash. The first one is kept until the area is fetched and erased.
pub fn keep_earlier_run(flash: &mut impl NorFlash) {
    let mut first = [0; WORD];
    if flash.read(0, &mut first).is_err() || first != [0xFF; WORD] {
        return;
    }
    let mut page = PageWriter { flash, at: 0, word: first, len: 0 };
    xhist_rt::export_earlier(|piece| {
        page.write(piece);
        let mut rest = piece;
        while !rest.is_empty() {
            rest = &rest[uart::write(rest)..];
        }
    });
}
