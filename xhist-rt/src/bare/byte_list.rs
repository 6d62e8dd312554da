//! The bytes that a draft lists. They are not cleared first: that took some 220 instructions on a Cortex-M3.

use core::mem::MaybeUninit;

/// At most `MOST` bytes.
pub(super) struct ByteList<const MOST: usize> {
    /// The first `len` are initialised.
    bytes: [MaybeUninit<u8>; MOST],
    len: usize,
}

impl<const MOST: usize> ByteList<MOST> {
    #[inline(always)]
    pub(super) fn new() -> ByteList<MOST> {
        ByteList { bytes: [MaybeUninit::uninit(); MOST], len: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a byte, if there is room.
    pub(super) fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = MaybeUninit::new(byte);
            self.len += 1;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are initialised, and `len` is at most the array's length.
        unsafe { core::slice::from_raw_parts(self.bytes.as_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_beyond_the_room_are_ignored() {
        let mut list = ByteList::<2>::new();
        assert_eq!(list.bytes(), []);
        (1..=3).for_each(|byte| list.push(byte));
        assert_eq!((list.bytes(), list.len()), (&[1, 2][..], 2));
        list.clear();
        assert_eq!(list.bytes(), []);
        list.push(4);
        assert_eq!(list.bytes(), [4]);
    }
}
