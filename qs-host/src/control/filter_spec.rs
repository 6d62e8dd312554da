//! Parses filters as the user types them: `all`, `sm,ao,-31`, `QS_QF_TICK,100`, `32..35`.

use std::fmt;

use qs_core::filter::{Filter, GROUPS, LAST_OBJECT, LAST_RECORD, Objects, Records};
use qs_core::record::trace::Opcodes;
use qs_core::record::{RECORD_BASE, RECORDS, ids};

/// What a global filter may name besides records and groups.
const ALL: &str = "all";
/// What a local filter may name besides numbers.
const OBJECTS: [(&str, Objects); 5] = [
    ("all", Objects::All),
    ("ao", Objects::Active),
    ("ep", Objects::Pools),
    ("eq", Objects::Queues),
    ("ap", Objects::Application),
];

/// What a filter is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Records and groups of them.
    Record,
    /// Objects and kinds of them.
    Object,
    /// Opcodes of profile events.
    Opcode,
}

/// A word of a filter that names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    /// The word.
    pub word: String,
    /// What it should name.
    pub expected: Expected,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: expected ", self.word)?;
        match self.expected {
            Expected::Record => {
                let names: Vec<String> = GROUPS.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
                let names = names.join(", ");
                write!(f, "a record such as QS_QF_TICK, a number up to {LAST_RECORD}, none, {ALL}, {names}")
            }
            Expected::Object => {
                let names: Vec<&str> = OBJECTS.iter().map(|(name, _)| *name).collect();
                write!(f, "an object number up to {LAST_OBJECT}, none, {}", names.join(", "))
            }
            Expected::Opcode => {
                write!(f, "an opcode up to 255, a range such as 32..35, none, {ALL}")
            }
        }
    }
}

impl std::error::Error for FilterError {}

/// Parses a global filter: each word changes it. It starts empty, or full if the first word removes something.
///
/// # Errors
/// The first word that names nothing.
pub fn global(spec: &str) -> Result<[u8; 16], FilterError> {
    let all = Filter::NONE.on(Records::All);
    changed(spec, Filter::ALWAYS, all, |filter, word, on| {
        let records = match Records::named(word.as_bytes()) {
            _ if word == ALL => Records::All,
            Some(group) => group,
            None => Records::Id(record(word)?),
        };
        Some(if on { filter.on(records) } else { filter.off(records) })
    })
    .map(Filter::to_bytes)
    .map_err(|word| FilterError { word: word.to_owned(), expected: Expected::Record })
}

/// Whether a global filter removes the statements of a target of xhist although no word says so. Statements are records like
/// others, and a filter replaces the previous one.
pub fn silences_statements(spec: &str) -> bool {
    let lets_through = |spec: &str| {
        const PACKED: u8 = RECORD_BASE + ids::PACKED;
        global(spec).is_ok_and(|filter| filter[usize::from(PACKED / 8)] >> (PACKED % 8) & 1 == 1)
    };
    let taken_away: Vec<&str> = spec.split(',').filter(|word| word.starts_with('-')).collect();
    let is_meant = !taken_away.is_empty() && !lets_through(&taken_away.join(","));
    !lets_through(spec) && !is_meant
}

/// Parses a local filter in the same way.
///
/// # Errors
/// The first word that names nothing.
pub fn local(spec: &str) -> Result<[u8; 16], FilterError> {
    changed(spec, Filter::NONE.object_off(Objects::All), Filter::EVERY_OBJECT, |filter, word, on| {
        let objects = match OBJECTS.iter().find(|(name, _)| *name == word) {
            Some((_, objects)) => *objects,
            None => Objects::Id(word.parse().ok().filter(|id| *id <= LAST_OBJECT)?),
        };
        Some(if on { filter.object_on(objects) } else { filter.object_off(objects) })
    })
    .map(Filter::to_bytes)
    .map_err(|word| FilterError { word: word.to_owned(), expected: Expected::Object })
}

/// Parses a mask of profile events in the same way.
///
/// # Errors
/// The first word that names nothing.
pub fn opcodes(spec: &str) -> Result<[u8; 32], FilterError> {
    changed(spec, Opcodes::NONE, Opcodes::ALL, |mask, word, on| {
        let (first, last) = match word.split_once("..") {
            _ if word == ALL => (0, u8::MAX),
            Some((first, last)) => (first.parse().ok()?, last.parse().ok()?),
            None => (word.parse().ok()?, word.parse().ok()?),
        };
        (first <= last).then(|| (first..=last).fold(mask, |mask, opcode| mask.with(opcode, on)))
    })
    .map(Opcodes::to_bytes)
    .map_err(|word| FilterError { word: word.to_owned(), expected: Expected::Opcode })
}

fn changed<F: Copy>(
    spec: &str,
    none: F,
    all: F,
    change: impl Fn(F, &str, bool) -> Option<F>,
) -> Result<F, &str> {
    let mut filter = if spec.starts_with('-') { all } else { none };
    for word in spec.split(',').filter(|word| !word.is_empty()) {
        let lower = word.to_ascii_lowercase();
        filter = match (lower.as_str(), lower.strip_prefix('-')) {
            ("none", _) => Some(none),
            (_, Some(name)) => change(filter, name, false),
            (name, None) => change(filter, name, true),
        }
        .ok_or(word)?;
    }
    Ok(filter)
}

fn record(word: &str) -> Option<u8> {
    let by_number = word.parse().ok().filter(|id| *id <= LAST_RECORD);
    let by_name = || {
        let named = |name: &str| {
            let name = name.to_ascii_lowercase();
            name == word || name.strip_prefix("qs_") == Some(word)
        };
        RECORDS.iter().find(|info| named(info.name)).map(|info| info.id)
    };
    by_number.or_else(by_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(filter: [u8; 16], id: u8) -> bool {
        filter[usize::from(id) / 8] >> (id % 8) & 1 == 1
    }

    #[test]
    fn words_switch_records() {
        let ticks = global("QS_QF_TICK,100").unwrap();
        assert!(has(ticks, 31) && has(ticks, 100) && !has(ticks, 1));
        let most = global("-qf,-100").unwrap();
        assert!(has(most, 1) && !has(most, 31) && !has(most, 100));
        assert!(has(global("all").unwrap(), 124) && !has(global("none").unwrap(), 1));
        let error = global("sm,xx").unwrap_err().to_string();
        assert!(error.contains("`xx`: expected a record") && error.contains("u4"), "{error}");
    }

    #[test]
    fn filters_that_stop_statements_silently_are_found() {
        for silent in ["sm,ao", "none", "u0", "sm,-31", "100,118", "all,none", "u4,none"] {
            assert!(silences_statements(silent), "{silent}");
        }
        for other in ["sm,u4", "all", "ua", "122", "-qf", "all,-u4", "-122", "sm,-u4", "sm,-ua", "-xx"] {
            assert!(!silences_statements(other), "{other}");
        }
    }

    #[test]
    fn words_switch_objects() {
        let some = local("ao,-3,96").unwrap();
        assert!(has(some, 0) && has(some, 1) && !has(some, 3) && has(some, 96) && !has(some, 70));
        assert!(has(local("-5").unwrap(), 127) && !has(local("-5").unwrap(), 5));
        assert!(local("128").is_err());
    }

    #[test]
    fn words_switch_opcodes() {
        let some = Opcodes::from_bytes(opcodes("32..35,255,-33").unwrap());
        let on: Vec<u8> = (0..=255).filter(|opcode| some.has(*opcode)).collect();
        assert_eq!(on, [32, 34, 35, 255]);
        assert_eq!(opcodes("all"), Ok([0xFF; 32]));
        assert_eq!(opcodes("-0"), Ok(Opcodes::ALL.with(0, false).to_bytes()));
        assert!(opcodes("5..3").unwrap_err().to_string().contains("`5..3`: expected an opcode"));
        assert!(opcodes("256").is_err() && opcodes("1..").is_err());
    }
}
