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
