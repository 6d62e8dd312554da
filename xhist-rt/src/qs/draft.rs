//! A record before it is in the ring: its bytes without sequence number, time, checksum and escapes.

use qs_core::record::element::Data;
use qs_core::record::{Fields, Kind, up_to_zero};

use super::config::SIZES;

/// The mark of a record that was cut.
pub(crate) const CUT: &[u8; 5] = &[Data::Text.format(0), b'.', b'.', b'.', 0];

/// A destination for a record's fields, see [`Fields`].
pub struct Draft<'a> {
    bytes: &'a mut [u8],
    /// Number of bytes that were written, including those that did not fit.
    len: usize,
    /// Start of the current element.
    element: usize,
    /// Start of the first element that does not fit.
    cut: Option<usize>,
    /// Number of bytes that texts leave free behind them. `None`: texts are not cut.
    spare: Option<usize>,
}

impl<'a> Draft<'a> {
    /// A new record with this id. `bytes` are zero.
    #[inline(always)]
    pub(super) fn new(bytes: &'a mut [u8], id: u8, timed: bool) -> Draft<'a> {
        if let Some(place) = bytes.get_mut(1) {
            *place = id;
        }
        let len = 2 + if timed { SIZES.time as usize } else { 0 };
        Draft { bytes, len, element: len, cut: None, spare: None }
    }

    /// Length of the record in bytes. `None` if it does not fit.
    #[inline(always)]
    pub(super) fn len(&self) -> Option<usize> {
        (self.len <= self.bytes.len()).then_some(self.len)
    }
}

/// Writes as much of a record as fits into `bytes`, which are zero. Returns its length.
pub(super) fn put_what_fits(bytes: &mut [u8], id: u8, timed: bool, put: &dyn Fn(&mut Draft<'_>)) -> usize {
    let mut draft = Draft { spare: Some(CUT.len()), ..Draft::new(bytes, id, timed) };
    put(&mut draft);
    if let Some(len) = draft.len() {
        return len;
    }
    // Again, with room for the mark of the cut.
    bytes.fill(0);
    let end = bytes.len().saturating_sub(CUT.len());
    let mut draft =
        Draft { spare: Some(0), ..Draft::new(bytes.get_mut(..end).unwrap_or_default(), id, timed) };
    put(&mut draft);
    let cut = draft.cut.unwrap_or(draft.len);
    if let Some((place, behind)) = bytes.get_mut(cut..).and_then(|rest| rest.split_at_mut_checked(CUT.len()))
    {
        place.copy_from_slice(CUT);
        behind.fill(0);
    }
    cut + CUT.len()
}

impl Draft<'_> {
    fn last_text(&mut self, text: &[u8]) {
        let room = self.room();
        let mut end = room.saturating_sub(3);
        // Not within a character.
        while text.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end -= 1;
        }
        match text.get(..end) {
            Some(start) if text.len() > room => {
                self.bytes(start);
                self.bytes(b"...");
            }
            _ => self.bytes(text),
        }
        self.bytes(&[0]);
    }
}

impl Fields for Draft<'_> {
    #[inline(always)]
    fn number(&mut self, kind: Kind, value: u64) {
        let size = SIZES.of(kind).unwrap_or(0);
        self.bytes(&value.to_le_bytes()[..size as usize]);
    }

    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        let start = self.len;
        self.len += bytes.len();
        match self.bytes.get_mut(start..self.len) {
            Some(place) => place.copy_from_slice(bytes),
            None => self.cut = self.cut.or(Some(self.element)),
        }
    }

    /// A text that does not fit is cut, with a mark.
    #[inline(always)]
    fn text(&mut self, text: &str) {
        let text = up_to_zero(text);
        if self.spare.is_some() {
            return self.last_text(text);
        }
        self.bytes(text);
        self.bytes(&[0]);
    }

    #[inline(always)]
    fn room(&self) -> usize {
        self.spare.map_or(usize::MAX, |spare| self.bytes.len().saturating_sub(self.len + 1 + spare))
    }

    #[inline(always)]
    fn element(&mut self, format: u8) {
        self.whole_element(&[format]);
    }

    #[inline(always)]
    fn whole_element(&mut self, element: &[u8]) {
        self.element = self.len;
        self.bytes(element);
    }
}
