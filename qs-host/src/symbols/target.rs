//! The target: the version of its records, the sizes of fields, the time of its build.

use qs_core::record::{BuildTime, Sizes, TargetInfo};

/// Version that QSPY assumes without a target info: its own 7.0.
const DEFAULT_VERSION: u16 = 700;
/// From this version on, application records start at 100.
const USER_BASE_FROM: u16 = 660;
/// Before, they started here.
const OLD_USER_BASE: u8 = 70;

/// A target, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetDescription {
    /// Version of its records: 734 is 7.3.4.
    pub version: u16,
    /// Its CPU is big-endian.
    pub big_endian: bool,
    /// Sizes of fields.
    pub sizes: Sizes,
    /// When it was built; all zero while unknown.
    pub build: BuildTime,
    /// Id of the first application record. The version in a dictionary file does not change it.
    user_base: u8,
}

impl Default for TargetDescription {
    fn default() -> TargetDescription {
        TargetDescription {
            version: DEFAULT_VERSION,
            big_endian: false,
            sizes: Sizes::DEFAULT,
            build: BuildTime::default(),
            user_base: qs_core::record::USER_BASE,
        }
    }
}

impl TargetDescription {
    /// Sets the version.
    pub fn set_version(&mut self, version: u16) {
        self.version = version;
        self.user_base = user_base(version);
    }

    /// Whether a target info or a dictionary file named the build.
    pub fn is_known(&self) -> bool {
        self.build.is_known()
    }

    /// Id of the first application record.
    pub fn user_base(&self) -> u8 {
        self.user_base
    }

    /// Applies a target-info record. Impossible sizes stay as they were. Returns whether anything changed, and whether all sizes
    /// were possible.
    pub fn update(&mut self, info: &TargetInfo) -> (bool, bool) {
        let (before, mut sizes) = (*self, info.sizes);
        let mut believed = true;
        for letter in LETTERS {
            let was = before.sizes.clone().by_letter(letter).map_or(0, |size| *size);
            if let Some(size) = sizes.by_letter(letter)
                && !Sizes::is_possible(letter, *size)
            {
                (*size, believed) = (was, false);
            }
        }
        *self = TargetDescription {
            version: info.version,
            big_endian: info.big_endian,
            sizes,
            build: info.build,
            user_base: user_base(info.version),
        };
        let is_new = TargetDescription { user_base: before.user_base, ..*self } != before;
        (is_new, believed)
    }

    /// `230714_092653`.
    pub fn build_text(&self) -> String {
        build_text(&self.build)
    }
}

fn user_base(version: u16) -> u8 {
    if version < USER_BASE_FROM { OLD_USER_BASE } else { qs_core::record::USER_BASE }
}

/// QSPY's letters of sizes, in the order of its dictionary files.
pub const LETTERS: [u8; 9] = *b"TOFSEQPBC";

/// `230714_092653`; numbers that are no date have three digits.
pub fn build_text(build: &BuildTime) -> String {
    let BuildTime { second, minute, hour, day, month, year } = build;
    format!("{year:02}{month:02}{day:02}_{hour:02}{minute:02}{second:02}")
}
