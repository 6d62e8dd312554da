//! In the field there is no debug probe. The start after a reset has the history of the run before: here it leaves through the
//! UART, and stays in a page of storage, where a boot loader, an update or a crash report finds it.
// xhist instrument FALSE

use core::cell::UnsafeCell;

use crate::uart;

/// Bytes of a ring and of its header.
const LEN: usize = 64 + xhist_rt::RING_SIZE;
/// What storage writes at a time, as many flash memories do.
const WORD: usize = 8;
/// Erased storage. That of flash has all bits set.
const ERASED: [u8; WORD] = [0; WORD];

/// Takes the place of a page of flash, which QEMU's board cannot write.
#[repr(transparent)]
pub struct Storage(UnsafeCell<[u8; LEN]>);

// SAFETY: only `keep_earlier_run` touches it, once, before interrupts are enabled.
unsafe impl Sync for Storage {}

#[unsafe(no_mangle)]
#[unsafe(link_section = ".uninit.page")]
static EARLIER_RUN: Storage = Storage(UnsafeCell::new([0; LEN]));

/// Collects bytes of any length into words of the storage.
struct PageWriter {
    at: usize,
    word: [u8; WORD],
    len: usize,
}

impl PageWriter {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.word[self.len] = *byte;
            self.len += 1;
            if self.len == WORD {
                program(self.at, self.word);
                (self.at, self.len) = (self.at + WORD, 0);
            }
        }
    }
}

/// Writes a word, as a driver of flash does.
fn program(at: usize, word: [u8; WORD]) {
    if at + WORD <= LEN {
        // SAFETY: inside the page, and nothing else uses it.
        unsafe { EARLIER_RUN.0.get().cast::<u8>().add(at).cast::<[u8; WORD]>().write_volatile(word) };
    }
}

/// Whether the page has a history that was not fetched yet: the first one is kept.
fn is_used() -> bool {
    // SAFETY: inside the page.
    unsafe { EARLIER_RUN.0.get().cast::<[u8; WORD]>().read_volatile() != ERASED }
}

pub fn keep_earlier_run() {
    if is_used() {
        return;
    }
    let mut page = PageWriter { at: 0, word: [0; WORD], len: 0 };
    xhist_rt::export_earlier(|piece| {
        page.write(piece);
        let mut rest = piece;
        while !rest.is_empty() {
            rest = &rest[uart::write(rest)..];
        }
    });
}
