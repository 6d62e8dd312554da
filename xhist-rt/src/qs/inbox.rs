//! Bytes from an interrupt handler to the loop that feeds the receive channel.

use core::sync::atomic::Ordering::{Acquire, Release};
use core::sync::atomic::{AtomicU8, AtomicUsize};

/// A lock-free queue of up to `LEN` bytes, with one interrupt handler that puts and one loop that takes. `LEN` is a power of
/// two, which is checked at compile time.
///
/// ```
/// use xhist_rt::qs::Inbox;
/// static INBOX: Inbox<64> = Inbox::new();
/// // In the handler of the UART:
/// INBOX.put(0x7E);
/// // In the main loop:
/// while let Some(byte) = INBOX.take() {
///     assert_eq!(byte, 0x7E);
/// }
/// ```
#[derive(Debug)]
pub struct Inbox<const LEN: usize> {
    bytes: [AtomicU8; LEN],
    /// Numbers of bytes ever put and ever taken.
    put: AtomicUsize,
    taken: AtomicUsize,
}

impl<const LEN: usize> Default for Inbox<LEN> {
    fn default() -> Self {
        Inbox::new()
    }
}

impl<const LEN: usize> Inbox<LEN> {
    /// An empty queue.
    pub const fn new() -> Inbox<LEN> {
        const { assert!(LEN.is_power_of_two(), "the length must be a power of two") };
        Inbox {
            bytes: [const { AtomicU8::new(0) }; LEN],
            put: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
        }
    }

    /// Puts a byte. Without room, the byte is lost, and the result is false.
    pub fn put(&self, byte: u8) -> bool {
        let put = self.put.load(Acquire);
        if put.wrapping_sub(self.taken.load(Acquire)) >= LEN {
            return false;
        }
        if let Some(place) = self.bytes.get(put % LEN) {
            place.store(byte, Release);
        }
        self.put.store(put.wrapping_add(1), Release);
        true
    }

    /// Takes the oldest byte, if there is one.
    pub fn take(&self) -> Option<u8> {
        let taken = self.taken.load(Acquire);
        if taken == self.put.load(Acquire) {
            return None;
        }
        let byte = self.bytes.get(taken % LEN)?.load(Acquire);
        self.taken.store(taken.wrapping_add(1), Release);
        Some(byte)
    }

    /// Number of bytes for which there is room.
    pub fn free(&self) -> usize {
        LEN - self.put.load(Acquire).wrapping_sub(self.taken.load(Acquire)).min(LEN)
    }
}
