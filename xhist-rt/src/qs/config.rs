//! Compile-time configuration: widths of fields, and records that are compiled out.

use qs_core::filter::{Filter, LAST_RECORD, Records};
use qs_core::record::{BuildTime, Sizes};

/// Widths of the fields in this target's records, in bytes. `XHIST_QS_SIZES="T4 O4 F4 S2 E2 Q1 P2 B2 C4"` in the environment
/// of the compiler changes some or all of them. By default, addresses have the width of this machine.
pub const SIZES: Sizes = match option_env!("XHIST_QS_SIZES") {
    Some(text) => Sizes::NATIVE.with(text),
    None => Sizes::NATIVE,
};

/// The build time of the program, if it does not name its own: `XHIST_QS_BUILD=230714_092653` in the environment of the
/// compiler, in the form of QSPY's file names.
pub(super) const BUILD: BuildTime = match option_env!("XHIST_QS_BUILD") {
    Some(text) => match BuildTime::parse(text) {
        Some(build) => build,
        None => panic!("XHIST_QS_BUILD is YYMMDD_hhmmss"),
    },
    None => BuildTime { second: 0, minute: 0, hour: 0, day: 0, month: 0, year: 0 },
};

/// Records that are compiled out: `XHIST_QS_OFF="QF TE U4 31"` in the environment of the compiler lists groups by their QS
/// names, and records by number.
pub(super) const LEFT_OUT: Filter = match option_env!("XHIST_QS_OFF") {
    Some(text) => records(text.as_bytes()),
    None => Filter::NONE,
};

const fn records(text: &[u8]) -> Filter {
    let (mut filter, mut at) = (Filter::NONE, 0);
    while at < text.len() {
        let start = at;
        while at < text.len() && text[at] != b' ' {
            at += 1;
        }
        if at > start {
            filter = filter.or(named(text.split_at(at).0.split_at(start).1).mask());
        }
        at += 1;
    }
    filter
}

const fn named(name: &[u8]) -> Records {
    match Records::named(name) {
        Some(group) => group,
        None => Records::Id(number(name)),
    }
}

const fn number(digits: &[u8]) -> u8 {
    let (mut number, mut at) = (0u32, 0);
    while at < digits.len() {
        assert!(
            digits[at].is_ascii_digit(),
            "XHIST_QS_OFF names groups (SM AO EQ MP TE QF SC SEM MTX U0..U4 UA) and numbers of records"
        );
        number = number * 10 + (digits[at] - b'0') as u32;
        assert!(number <= LAST_RECORD as u32, "records have numbers up to 124");
        at += 1;
    }
    number as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_groups_and_numbers() {
        let filter = records(b"TE  U4 31");
        assert!(filter.has(32) && filter.has(120) && filter.has(31) && !filter.has(30) && !filter.has(0));
    }
}
