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
    let mut at = 0;
    core::iter::from_fn(move || {
        let offset = at + next_magic(&image[at..])?;
        at = offset + 1;
        Some(Found { offset, header: Header::parse(&image[offset..]) })
    })
}

/// Blocks without the magic's first byte are passed over at the speed of `contains`,
/// which searches words at a time.
fn next_magic(image: &[u8]) -> Option<usize> {
    const BLOCK: usize = 512;
    let last = image.len().checked_sub(MAGIC.len())?;
    let mut at = 0;
    while at <= last {
        let end = (at + BLOCK).min(last + 1);
        if image[at..end].contains(&MAGIC[0]) {
            for offset in at..end {
                if image[offset] == MAGIC[0] && image[offset..].starts_with(&MAGIC) {
                    return Some(offset);
                }
            }
        }
        at = end;
    }
    None
}
