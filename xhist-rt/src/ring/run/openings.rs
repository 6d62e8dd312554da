//! How frames went to pages that they did not know, for frames to come: the hot path in assembly writes the same bytes
//! again.

use crate::site::HASH;

/// The step to a page without the page's number there, in the order of memory, and how many bits it takes.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Opening {
    step: [u8; 8],
    page: u32,
    bits: u32,
}

/// How many are kept.
const OPENINGS: usize = 64;
/// A page has two places, neighbours. The first is told by these bits of its hash.
pub(super) const OPENINGS_SHIFT: u32 = u32::BITS - OPENINGS.ilog2();

/// Those of the pages that came last.
#[repr(align(32))]
pub(super) struct Openings([Opening; OPENINGS]);

impl Openings {
    pub(super) const NONE: Openings = Openings([Opening { step: [0; 8], page: 0, bits: 0 }; OPENINGS]);

    /// Keeps the step to this page, where the statement's byte finds room beside it.
    pub(super) fn keep(&mut self, page: u32, step: &[u8]) {
        if step.len() > 7 {
            return;
        }
        let mut opening = Opening { step: [0; 8], page, bits: 8 * step.len() as u32 };
        opening.step[..step.len()].copy_from_slice(step);
        opening.step[1] = 0;
        let first = (page.wrapping_mul(HASH) >> OPENINGS_SHIFT) as usize;
        // Of two, the older one leaves.
        self.0[first ^ 1] = self.0[first];
        self.0[first] = opening;
    }
}
