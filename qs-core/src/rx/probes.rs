//! Test probes: values that the host of a unit test sets for the next call of a function.

use super::execute::Port;
use crate::record::{Fun, TestProbeGet};

/// Up to `LEN` test probes. QP keeps 16.
#[derive(Clone, Debug)]
pub struct Probes<const LEN: usize> {
    probes: [(Fun, u32); LEN],
    len: usize,
}

impl<const LEN: usize> Default for Probes<LEN> {
    fn default() -> Self {
        Probes::new()
    }
}

impl<const LEN: usize> Probes<LEN> {
    /// No probes.
    pub const fn new() -> Probes<LEN> {
        Probes { probes: [(Fun::NULL, 0); LEN], len: 0 }
    }

    /// Adds a probe. False if there is no room.
    pub fn add(&mut self, fun: Fun, data: u32) -> bool {
        let Some(place) = self.probes.get_mut(self.len) else { return false };
        *place = (fun, data);
        self.len += 1;
        true
    }

    /// Removes all probes.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Removes the first probe of this function and returns its value.
    pub fn take(&mut self, fun: Fun) -> Option<u32> {
        let kept = self.probes.get_mut(..self.len)?;
        let found = kept.iter().position(|(of, _)| *of == fun)?;
        let (_, data) = kept[found];
        kept[found..].rotate_left(1);
        self.len -= 1;
        Some(data)
    }

    /// The value of a function's test probe, 0 without one. The host gets a record of it.
    pub fn use_one(&mut self, fun: Fun, port: &mut impl Port) -> u32 {
        let Some(data) = self.take(fun) else { return 0 };
        port.send(&TestProbeGet { fun, data });
        data
    }
}
