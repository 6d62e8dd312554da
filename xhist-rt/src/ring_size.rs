//! Ring size at compile time: `XHIST_RING_SIZE=bytes` in the environment of the compiler.

use qs_core::ring::MAX_SIZE;

/// Smallest ring in bytes: it has room for a frame and the next one.
pub(crate) const MIN_SIZE: u32 = 256;

/// The ring size that was requested when this crate was compiled, rounded up to a power of two.
pub(crate) const fn compiled(default: u32) -> u32 {
    let Some(text) = option_env!("XHIST_RING_SIZE") else { return default };
    let text = text.as_bytes();
    let (mut size, mut at) = (0u64, 0);
    while at < text.len() {
        assert!(text[at].is_ascii_digit(), "XHIST_RING_SIZE must be a number of bytes");
        size = size * 10 + (text[at] - b'0') as u64;
        assert!(size <= MAX_SIZE as u64, "XHIST_RING_SIZE must be at most 2 GiB");
        at += 1;
    }
    assert!(size >= MIN_SIZE as u64, "XHIST_RING_SIZE must be at least 256 bytes");
    (size as u32).next_power_of_two()
}
