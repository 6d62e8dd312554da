//! Random numbers that are the same for the same seed on every machine (SplitMix64).

/// A source of random numbers.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The numbers of one dump.
    pub fn new(seed: u64, dump: u64) -> Dice {
        let mut dice = Dice(seed ^ dump.wrapping_mul(0xa076_1d64_78bd_642f));
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `from` to `to`, both included.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from + 1)
    }

    /// Whether something that happens so often, in percent, happens now.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.between(0, items.len() as u64 - 1) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn numbers_are_in_range_and_the_same_for_a_seed() {
        let numbers = |seed| {
            let mut dice = Dice::new(seed, 7);
            (0..100).map(|_| dice.between(3, 6)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert!((3..=6).all(|number| numbers(1).contains(&number)));
        assert!(numbers(1).iter().all(|number| (3..=6).contains(number)));
    }
}
