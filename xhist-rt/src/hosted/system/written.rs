//! What the program writes to standard output and standard error past the macros, where a system shows it.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Crates of the program whose output is recorded, and what is known of its `main`.
static CRATES: AtomicU8 = AtomicU8::new(0);
/// In [`CRATES`]: there is one.
const THERE: u8 = 1;
/// In [`CRATES`]: one was compiled for the test harness, whose own lines come from the main thread.
const TESTS: u8 = 2;
/// In [`CRATES`]: the program's own `main` has begun, so there is no harness.
const MAIN: u8 = 4;

/// The program has a crate whose output is recorded. `is_test`: it is compiled for tests.
pub(crate) fn note_crate(is_test: bool) {
    CRATES.fetch_or(THERE | if is_test { TESTS } else { 0 }, Relaxed);
}

/// The program's own `main` begins.
pub(crate) fn note_main() {
    CRATES.fetch_or(MAIN, Relaxed);
}

/// Whether what this thread writes is the program's output. Only a test harness asks whether it is the main thread.
#[allow(dead_code, reason = "only where `write` is hooked")]
pub(crate) fn is_output(is_main_thread: fn() -> bool) -> bool {
    let crates = CRATES.load(Relaxed);
    crates & THERE != 0 && (crates & (TESTS | MAIN) != TESTS || !is_main_thread())
}

/// Linux maps no memory of a program below this address.
const LOWEST: usize = 64 << 10;

/// A piece of memory, laid out as the system's `iovec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct WrittenPiece {
    pub(crate) start: *const u8,
    pub(crate) len: usize,
}

/// Bytes that the system has just written.
pub(crate) struct Written<'p> {
    /// To standard error.
    pub(crate) is_err: bool,
    /// Number of bytes.
    pub(crate) len: usize,
    pieces: *const WrittenPiece,
    memory: PhantomData<&'p WrittenPiece>,
}

impl<'p> Written<'p> {
    /// The first `len` bytes of these pieces.
    ///
    /// # Safety
    /// The pieces are readable for `'p`, and `len` bytes of what they name, unless it is at a small address. Other threads may
    /// write there.
    #[allow(dead_code, reason = "only where `write` is hooked")]
    pub(crate) unsafe fn new(is_err: bool, pieces: *const WrittenPiece, len: usize) -> Written<'p> {
        Written { is_err, len, pieces, memory: PhantomData }
    }

    /// The bytes. Each is read once. A device such as /dev/null takes pointers that point nowhere: they have no bytes.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> {
        let (mut piece, mut at) = (self.pieces, 0);
        (0..self.len).map_while(move |_| {
            // SAFETY: `new` got pieces with `len` bytes, and this passes over one of them in each step. A volatile read
            // accepts that another thread writes the byte.
            unsafe {
                while at == (*piece).len {
                    (piece, at) = (piece.add(1), 0);
                }
                at += 1;
                let start = (*piece).start;
                (start.addr() >= LOWEST).then(|| start.add(at - 1).read_volatile())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_from_all_pieces() {
        let piece = |text: &'static str| WrittenPiece { start: text.as_ptr(), len: text.len() };
        let pieces = [piece("ab"), piece(""), piece("cd"), piece("ef")];
        for (len, text) in [(0, ""), (1, "a"), (2, "ab"), (3, "abc"), (6, "abcdef")] {
            // SAFETY: the pieces have this number of bytes.
            let written = unsafe { Written::new(false, pieces.as_ptr(), len) };
            assert_eq!(written.bytes().collect::<Vec<_>>(), text.as_bytes());
        }
        let nowhere = WrittenPiece { start: core::ptr::without_provenance(8), len: 7 };
        // SAFETY: no byte is read there.
        assert_eq!(unsafe { Written::new(false, &raw const nowhere, 7) }.bytes().next(), None);
    }
}
