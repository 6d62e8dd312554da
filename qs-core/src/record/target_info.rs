//! The target-info record, 64: widths of the fields, and which build runs.

use byteorder::{ByteOrder as _, LittleEndian};

use super::emit::Record;
use super::field::{Fields, Sizes};

/// Build time of a target. All zero if not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BuildTime {
    /// Second.
    pub second: u8,
    /// Minute.
    pub minute: u8,
    /// Hour.
    pub hour: u8,
    /// Day of the month.
    pub day: u8,
    /// Month.
    pub month: u8,
    /// The year's last two digits.
    pub year: u8,
}

impl BuildTime {
    /// Whether it is a time.
    pub const fn is_known(&self) -> bool {
        self.year != 0
    }

    /// Reads the form of QSPY's file names: `230714_092653`.
    pub const fn parse(text: &str) -> Option<BuildTime> {
        let &[y0, y1, m0, m1, d0, d1, b'_', h0, h1, n0, n1, s0, s1] = text.as_bytes() else { return None };
        let digits = [(y0, y1), (m0, m1), (d0, d1), (h0, h1), (n0, n1), (s0, s1)];
        let (mut numbers, mut at) = ([0; 6], 0);
        while at < digits.len() {
            let (tens, ones) = digits[at];
            if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
                return None;
            }
            numbers[at] = 10 * (tens - b'0') + (ones - b'0');
            at += 1;
        }
        let [year, month, day, hour, minute, second] = numbers;
        Some(BuildTime { second, minute, hour, day, month, year })
    }
}

/// The contents of record 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetInfo {
    /// 0 in the answer to a request. Any other value means that the target has just started; targets send 0xFF.
    pub reset: u8,
    /// Version of QP whose records the target sends: 734 is 7.3.4.
    pub version: u16,
    /// The target's CPU is big-endian. The stream is always little-endian.
    pub big_endian: bool,
    /// Widths of the fields.
    pub sizes: Sizes,
    /// Maximum number of active objects.
    pub max_active: u8,
    /// Maximum number of event pools, up to 15.
    pub max_pools: u8,
    /// Maximum number of tick rates, up to 15.
    pub max_rates: u8,
    /// Build time.
    pub build: BuildTime,
}

impl TargetInfo {
    /// Length of the payload in bytes.
    pub const LEN: usize = 16;
    /// The value of [`TargetInfo::reset`] at start.
    pub const RESET: u8 = 0xFF;

    /// Reads the payload. `None` if its length is wrong. Sizes are not checked.
    pub fn parse(payload: &[u8]) -> Option<TargetInfo> {
        let &[reset, low, high, s_e, q_c, b_p, o_f, time, max_active, pools, ref build @ ..] = payload else {
            return None;
        };
        let &[second, minute, hour, day, month, year] = build else { return None };
        let version = LittleEndian::read_u16(&[low, high]);
        Some(TargetInfo {
            reset,
            version: version & 0x7FFF,
            big_endian: version & 0x8000 != 0,
            sizes: Sizes {
                time: time & 15,
                obj: o_f & 15,
                fun: o_f >> 4,
                sig: s_e & 15,
                evt_size: s_e >> 4,
                queue_ctr: q_c & 15,
                pool_ctr: b_p >> 4,
                pool_blk: b_p & 15,
                time_ctr: q_c >> 4,
            },
            max_active,
            max_pools: pools & 15,
            max_rates: pools >> 4,
            build: BuildTime { second, minute, hour, day, month, year },
        })
    }
}

impl Record for TargetInfo {
    const ID: u8 = 64;
    const TIMED: bool = false;

    fn put(&self, to: &mut impl Fields) {
        let pair = |low: u8, high: u8| low & 15 | high << 4;
        let [low, high] = (self.version & 0x7FFF | u16::from(self.big_endian) << 15).to_le_bytes();
        let (sizes, build) = (self.sizes, self.build);
        to.bytes(&[
            self.reset,
            low,
            high,
            pair(sizes.sig, sizes.evt_size),
            pair(sizes.queue_ctr, sizes.time_ctr),
            pair(sizes.pool_blk, sizes.pool_ctr),
            pair(sizes.obj, sizes.fun),
            sizes.time,
            self.max_active,
            pair(self.max_pools, self.max_rates),
            build.second,
            build.minute,
            build.hour,
            build.day,
            build.month,
            build.year,
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_time_has_the_form_of_file_names() {
        let build = BuildTime { second: 53, minute: 26, hour: 9, day: 14, month: 7, year: 23 };
        assert_eq!(BuildTime::parse("230714_092653"), Some(build));
        for text in ["", "230714092653", "230714_09265", "230714_0926533", "2307l4_092653"] {
            assert_eq!(BuildTime::parse(text), None, "{text}");
        }
    }
}
