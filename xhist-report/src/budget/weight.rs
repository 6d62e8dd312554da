//! How much an entry matters.

/// How much an entry matters. Of two, the lighter one is left out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(u64);

/// Deeper levels weigh the same.
const LEVELS: u64 = (1 << 15) - 1;
/// Bits for the place of an entry.
const PLACE_BITS: u32 = 47;

impl Weight {
    /// Without it the rest is not understood: a heading, the first and last line of a JSON report.
    pub const FRAME: Weight = Weight(u64::MAX);
    /// Left out before all others.
    pub const LEAST: Weight = Weight(0);

    /// The newer the heavier; `place` counts from 0.
    pub fn newer(place: u64) -> Weight {
        Weight(1 + place.min((1 << PLACE_BITS) - 2))
    }

    /// The earlier the heavier, as in a list by rank.
    pub fn earlier(place: u64) -> Weight {
        let most = 1 << PLACE_BITS;
        Weight(most - place.min(most - 1))
    }

    /// In a tree: first the level, then the newer.
    pub fn level(level: usize, place: u64) -> Weight {
        let level = LEVELS - (level as u64).min(LEVELS);
        Weight((level << PLACE_BITS) + Weight::newer(place).0)
    }

    /// Heavier than what is no part of the way to the end: an open call, a panic.
    pub fn on_the_way(place: u64) -> Weight {
        Weight((1 << 63) + Weight::newer(place).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_weights_is_that_of_the_rule() {
        assert!(Weight::newer(1) > Weight::newer(0) && Weight::newer(0) > Weight::LEAST);
        assert!(Weight::earlier(0) > Weight::earlier(1) && Weight::earlier(u64::MAX) > Weight::LEAST);
        assert!(Weight::level(0, 0) > Weight::level(1, u64::MAX));
        assert!(Weight::level(3, 8) > Weight::level(3, 7));
        assert!(Weight::on_the_way(0) > Weight::level(0, u64::MAX));
        assert!(Weight::FRAME > Weight::on_the_way(u64::MAX));
    }
}
