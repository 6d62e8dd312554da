//! Test probes: what a host wants the next use of a function to find.

use super::execute::Port;
use crate::record::{Fun, TestProbeGet};

/// Up to `LEN` test probes; QP keeps 16.
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
    /// None.
    pub const fn new() -> Probes<LEN> {
        Probes { probes: [(Fun::NULL, 0); LEN], len: 0 }
    }

    /// Keeps one; false where there is no room.
    pub fn add(&mut self, fun: Fun, data: u32) -> bool {
        let Some(place) = self.probes.get_mut(self.len) else { return false };
        *place = (fun, data);
        self.len += 1;
        true
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Takes the first one for this function.
    pub fn take(&mut self, fun: Fun) -> Option<u32> {
        let kept = self.probes.get_mut(..self.len)?;
        let found = kept.iter().position(|(of, _)| *of == fun)?;
        let (_, data) = kept[found];
        kept[found..].rotate_left(1);
        self.len -= 1;
        Some(data)
    }

    /// What the test probe of a function finds, which is told to the host; 0 for nothing.
    pub fn use_one(&mut self, fun: Fun, port: &mut impl Port) -> u32 {
        let Some(data) = self.take(fun) else { return 0 };
        port.send(&TestProbeGet { fun, data });
        data
    }
}
