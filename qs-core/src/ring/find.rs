//! Scans an image of memory for ring headers.

use super::header::{Header, HeaderError, MAGIC};

/// A place in the image that starts with the magic of a ring.
#[derive(Clone, Copy, Debug)]
pub struct FoundHeader {
    /// Offset of the header's first byte in the image.
    pub offset: usize,
    /// The header, or why the bytes are not a header.
    pub header: Result<Header, HeaderError>,
}

/// Every place in `image` that starts with [`MAGIC`], in order, valid or not.
///
/// Code and data of programs contain the magic too. There the header's check fails.
pub fn find(image: &[u8]) -> impl Iterator<Item = FoundHeader> + '_ {
    offsets(image, &MAGIC).map(|offset| FoundHeader { offset, header: Header::parse(&image[offset..]) })
}

/// The offsets of these bytes in the image.
pub(super) fn offsets<'a>(image: &'a [u8], magic: &'static [u8; 8]) -> impl Iterator<Item = usize> + use<'a> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let offset = at + next(&image[at..], magic)?;
        at = offset + 1;
        Some(offset)
    })
}

/// Skips blocks without the magic's first byte by `contains`, which searches whole words.
fn next(image: &[u8], magic: &[u8; 8]) -> Option<usize> {
    const BLOCK: usize = 512;
    let last = image.len().checked_sub(magic.len())?;
    let mut at = 0;
    while at <= last {
        let end = (at + BLOCK).min(last + 1);
        if image[at..end].contains(&magic[0]) {
            for offset in at..end {
                if image[offset] == magic[0] && image[offset..].starts_with(magic) {
                    return Some(offset);
                }
            }
        }
        at = end;
    }
    None
}
