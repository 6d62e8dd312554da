//! A record on its way to the ring: its bytes before sequence number, time, checksum and escapes are known.

use qs_core::record::element::Data;
use qs_core::record::{Fields, Kind, up_to_zero};

use super::config::SIZES;

/// What shows that a record was cut.
const CUT: &[u8] = &[Data::Text.format(0), b'.', b'.', b'.', 0];

/// What a record is put into, see [`Fields`].
pub struct Draft<'a> {
    bytes: &'a mut [u8],
    /// Bytes that were put, whether they fit or not.
    len: usize,
    /// Where the element begins that is put.
    element: usize,
    /// Where the first element begins that does not fit.
    cut: Option<usize>,
    /// Bytes that texts leave free behind them. Without it, they are not cut.
    spare: Option<usize>,
}

impl<'a> Draft<'a> {
    /// A record with this id, in `bytes` that are zero.
    #[inline(always)]
    pub(super) fn new(bytes: &'a mut [u8], id: u8, timed: bool) -> Draft<'a> {
        if let Some(place) = bytes.get_mut(1) {
            *place = id;
        }
        let len = 2 + if timed { SIZES.time as usize } else { 0 };
        Draft { bytes, len, element: len, cut: None, spare: None }
    }

    /// The record's length, when it fits.
    #[inline(always)]
    pub(super) fn len(&self) -> Option<usize> {
        (self.len <= self.bytes.len()).then_some(self.len)
    }
}

/// Puts as much of a record as fits in `bytes` that are zero, and tells its length.
pub(super) fn put_what_fits(bytes: &mut [u8], id: u8, timed: bool, put: &dyn Fn(&mut Draft<'_>)) -> usize {
    let mut draft = Draft { spare: Some(CUT.len()), ..Draft::new(bytes, id, timed) };
    put(&mut draft);
    if let Some(len) = draft.len() {
        return len;
    }
    // Once more, up to where there is room for what shows the cut.
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

    /// A text that does not fit is cut where that shows.
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
