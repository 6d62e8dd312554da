//! How many of the bindings that the user selected are recorded.

use super::Analyzed;
use crate::site::value_site::ValueReason;
use qs_core::listing::Thousands;
use std::collections::BTreeMap;

/// Counts of bindings.
#[derive(Default)]
pub struct ValueCounts {
    recorded: u64,
    losses: BTreeMap<ValueReason, u64>,
}

impl ValueCounts {
    /// Adds those of a source.
    pub fn add(&mut self, analyzed: &Analyzed) {
        self.recorded += analyzed.analysis.value_count() as u64;
        for skip in analyzed.analysis.value_skips.iter().filter(|skip| skip.reason.is_loss()) {
            *self.losses.entry(skip.reason).or_default() += 1;
        }
    }

    /// The share that is recorded; `None` if nothing is selected.
    pub fn share(&self) -> Option<String> {
        let all = self.recorded + self.losses.values().sum::<u64>();
        let (recorded, all) = (Thousands(self.recorded), (all > 0).then_some(Thousands(all))?);
        Some(format!("values: {recorded} of {all} bindings recorded"))
    }

    /// How many are left alone, for each reason.
    pub fn losses(&self) -> BTreeMap<ValueReason, u64> {
        self.losses.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let grouped = [0, 999, 1_034, 1_234_567].map(|number| Thousands(number).to_string());
        assert_eq!(grouped, ["0", "999", "1,034", "1,234,567"]);
    }
}
