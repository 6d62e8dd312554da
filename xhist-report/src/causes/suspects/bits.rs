//! Sets of sites as bits.

/// A set of sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SiteSet(Vec<u64>);

impl SiteSet {
    /// Adds a site.
    pub fn insert(&mut self, site: u32) {
        let word = site as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (site % 64);
    }

    /// Whether the site is in the set.
    pub fn contains(&self, site: u32) -> bool {
        self.0.get(site as usize / 64).is_some_and(|word| word >> (site % 64) & 1 == 1)
    }

    /// Adds all sites of another set.
    pub fn extend(&mut self, other: &SiteSet) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    /// The sites of the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word as u32 * 64 + bit)
        })
    }

    /// Whether no site is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The similarity of two sets after Jaccard: sites of both, divided by the sites of either.
    pub fn similarity(&self, other: &SiteSet) -> f64 {
        let (mut both, mut either) = (0, 0);
        for at in 0..self.0.len().max(other.0.len()) {
            let [one, other] = [self, other].map(|set| set.0.get(at).copied().unwrap_or(0));
            both += (one & other).count_ones();
            either += (one | other).count_ones();
        }
        if either == 0 { 0.0 } else { f64::from(both) / f64::from(either) }
    }

    /// The sites of both, divided by those of the smaller set.
    pub fn overlap(&self, other: &SiteSet) -> f64 {
        let len = |set: &SiteSet| set.0.iter().map(|word| word.count_ones()).sum::<u32>();
        let both: u32 = self.0.iter().zip(&other.0).map(|(one, other)| (one & other).count_ones()).sum();
        let smaller = len(self).min(len(other));
        if smaller == 0 { 0.0 } else { f64::from(both) / f64::from(smaller) }
    }
}

impl FromIterator<u32> for SiteSet {
    fn from_iter<I: IntoIterator<Item = u32>>(sites: I) -> SiteSet {
        let mut set = SiteSet::default();
        sites.into_iter().for_each(|site| set.insert(site));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_inserted() {
        let set: SiteSet = [3, 64, 200].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 200]);
        assert!(set.contains(64) && !set.contains(65) && !set.contains(9999));
        let other: SiteSet = [3, 4].into_iter().collect();
        assert!((set.similarity(&other) - 0.25).abs() < 1e-12);
        assert!((set.overlap(&other) - 0.5).abs() < 1e-12);
        assert_eq!(set.overlap(&SiteSet::default()), 0.0);
    }
}
