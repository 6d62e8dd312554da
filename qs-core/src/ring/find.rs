//! Scans an image of memory for ring headers.

use super::header::{Header, HeaderError, MAGIC};

/// A place in the image that starts like a ring.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Offset in the image of the header's first byte.
    pub offset: usize,
    /// The header, or why it is none.
    pub header: Result<Header, HeaderError>,
}

/// Every place in `image` that starts with [`MAGIC`], in order, good or not.
///
/// Program text and data hold the magic too; those places fail the header's check.
pub fn find(image: &[u8]) -> impl Iterator<Item = Found> + '_ {
    offsets(image, &MAGIC).map(|offset| Found { offset, header: Header::parse(&image[offset..]) })
}

/// Where these bytes stand.
pub(super) fn offsets<'a>(image: &'a [u8], magic: &'static [u8; 8]) -> impl Iterator<Item = usize> + use<'a> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let offset = at + next(&image[at..], magic)?;
        at = offset + 1;
        Some(offset)
    })
}

/// Blocks without the magic's first byte are passed over at the speed of `contains`,
/// which searches words at a time.
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
