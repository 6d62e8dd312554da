//! A statement as the hot path sees it: a page and a byte, both known when the program is compiled.

use qs_core::record::Statement;
use qs_core::record::packed::{self, Page, WINDOW};

/// Lowest number of a page.
pub(crate) const PAGES_FROM: u32 = 1 << 30;

/// The top bits of a page times this differ for pages that differ.
pub(crate) const HASH: u32 = 0x9E37_79B1;

/// A statement of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Site(Statement);

impl Site {
    /// No page. Numbers of pages are multiples of four from [`PAGES_FROM`] on, and below twice that; this is neither.
    pub(crate) const NONE: u32 = PAGES_FROM + 2;

    #[inline(always)]
    pub(crate) const fn new(file: u16, line: u16) -> Site {
        Site(Statement { file, line })
    }

    /// The statement that this byte stands for on this page.
    pub(crate) const fn at(page: u32, code: u8) -> Site {
        let (file, window) = ((page >> 12) as u16, (page >> 2 & 0x3FF) as u16);
        let line = (window * WINDOW).wrapping_add(code.wrapping_sub(packed::step::STATEMENT) as u16);
        Site::new(file, line)
    }

    /// Number of its page.
    #[inline(always)]
    pub(crate) const fn page(self) -> u32 {
        PAGES_FROM + ((self.0.file as u32) << 12) + ((self.0.line / WINDOW) as u32) * 4
    }

    /// Its byte on the page.
    #[inline(always)]
    pub(crate) const fn code(self) -> u8 {
        packed::code(self.0)
    }

    /// Two bytes: the step to its page, where a frame keeps that in its first place, and its byte there.
    #[inline(always)]
    pub(crate) const fn turn(self) -> u32 {
        packed::step::RECENT as u32 + place_of(self.page()) as u32 + ((self.code() as u32) << 8)
    }

    /// Its page, as a frame tells it.
    pub(crate) const fn packed_page(self) -> Page {
        Page::of(self.0)
    }

    /// File and line in one word.
    pub(crate) const fn word(self) -> u32 {
        self.0.to_word()
    }
}

/// The first of the two places where a frame keeps a page; the other is its neighbour, one bit apart. The frame's first
/// page stands at 0 besides.
#[inline(always)]
pub(crate) const fn place_of(page: u32) -> usize {
    (page.wrapping_mul(HASH) >> 28) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_page_and_a_byte_are_the_statement(file: u16, line: u16) {
            let site = Site::new(file, line);
            prop_assert!(Site::at(site.page(), site.code()) == site);
            prop_assert!(site.page().is_multiple_of(4) && site.page() >= PAGES_FROM && site.page() < 2 * PAGES_FROM);
            prop_assert_eq!(site.packed_page().statement(site.code()), Some(Statement { file, line }));
        }
    }
}
