//! Records carry the low 32 bits of a clock; this file counts the high bits.

/// The recorder never lets time run backwards within a ring. But a clock that was read just before a handler interrupted may
/// be recorded behind the handler. A step back of up to this number of ticks is one; any other step is a step forward.
const MAX_STEP_BACK: u32 = 1 << 20;

/// A clock followed from stamp to stamp.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    now: Option<u64>,
}

impl Clock {
    /// A clock at a known time, or at an unknown one.
    pub fn starting_at(now: Option<u64>) -> Clock {
        Clock { now }
    }

    /// Takes the low 32 bits of a time and returns it in full.
    pub fn stamp(&mut self, low: u32) -> u64 {
        let time = match self.now {
            None => u64::from(low),
            Some(now) => {
                let forward = low.wrapping_sub(now as u32);
                let back = forward.wrapping_neg();
                if back <= MAX_STEP_BACK && u64::from(back) <= now {
                    now - u64::from(back)
                } else {
                    now.wrapping_add(u64::from(forward))
                }
            }
        };
        self.now = Some(time);
        time
    }

    /// Takes a time in full.
    pub fn set(&mut self, now: u64) {
        self.now = Some(now);
    }

    /// The newest time.
    pub fn now(&self) -> Option<u64> {
        self.now
    }
}

/// Finds out the full time of a ring's first stamp, from full times that come after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anchor {
    clock: Clock,
    first: Option<u64>,
    fixed: bool,
}

impl Anchor {
    /// Takes the low 32 bits of a time.
    pub fn stamp(&mut self, low: u32) {
        let time = self.clock.stamp(low);
        self.first.get_or_insert(time);
    }

    /// Takes a time in full, recorded because the low 32 bits wrapped since the stamp before.
    pub fn full(&mut self, time: u64) {
        if let (false, Some(first), Some(now)) = (self.fixed, self.first, self.clock.now()) {
            let passed = time.saturating_sub(now);
            let wraps = passed.checked_sub(1 << 32).unwrap_or(passed) >> 32;
            self.first = Some(first.wrapping_add(wraps << 32));
        }
        self.fixed = true;
        self.clock.set(time);
    }

    /// Takes the time in full of the newest stamp.
    pub fn fix(&mut self, time: u64) {
        if let (false, Some(first), Some(now)) = (self.fixed, self.first, self.clock.now()) {
            self.first = Some(first.wrapping_add(time.wrapping_sub(now)));
        }
        self.fixed = true;
        self.clock.set(time);
    }

    /// The newest time.
    pub fn last(self) -> Option<u64> {
        self.clock.now()
    }

    /// The first time in full. `last_time` is the clock at the newest stamp, or 0.
    pub fn first(self, last_time: u64) -> Option<u64> {
        let (first, now) = (self.first?, self.clock.now()?);
        if self.fixed || last_time == 0 {
            return Some(first);
        }
        // Both agree in the low 32 bits, up to a stamp that was taken and not recorded.
        let wraps = last_time.wrapping_sub(now).wrapping_add(1 << 31) >> 32;
        Some(first.wrapping_add(wraps << 32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_counts_how_often_32_bits_wrap() {
        let mut clock = Clock::starting_at(Some(0x1_FFFF_FFF0));
        assert_eq!(clock.stamp(0xFFFF_FFF8), 0x1_FFFF_FFF8);
        assert_eq!(clock.stamp(4), 0x2_0000_0004);
        assert_eq!(clock.stamp(2), 0x2_0000_0002);
        assert_eq!(clock.stamp(0xF000_0000), 0x2_F000_0000);
    }

    #[test]
    fn the_last_time_anchors_the_first() {
        let mut anchor = Anchor::default();
        for low in [0xFFFF_0000, 5, 0x8000_0000, 3] {
            anchor.stamp(low);
        }
        assert_eq!(anchor.first(0x9_0000_0003), Some(0x7_FFFF_0000));
        assert_eq!(anchor.first(0x9_0000_0008), Some(0x7_FFFF_0000));
        assert_eq!(anchor.first(0), Some(0xFFFF_0000));
    }

    #[test]
    fn a_full_time_in_the_ring_anchors_the_stamps_before_it() {
        let mut anchor = Anchor::default();
        anchor.stamp(100);
        anchor.full(0x5_0000_0040);
        anchor.stamp(0x50);
        assert_eq!(anchor.first(0x5_0000_0050), Some(0x3_0000_0064));
    }

    #[test]
    fn a_ring_without_stamps_has_no_first_time() {
        assert_eq!(Anchor::default().first(77), None);
    }
}
