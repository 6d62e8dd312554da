//! The first values that differ: of each place the first one that is not the same in both histories.
//!
//! A place's values are compared in their order, the first with the first. That is right as long as control flow is the
//! same, and what comes first is shown first. Addresses differ in every run, so they are not compared.

use std::collections::{HashMap, HashSet};

use qs_core::record::value::RecordedValue;

use super::sides::{Input, SideRings, SideThread};
use xhist_history::model::{Names, ShownValue};
use xhist_history::notes::Notes;
use xhist_history::program::values::ValueReader;

/// Values of a thread that are compared: the first ones.
const MOST: usize = 1 << 18;

/// Values that are made text of, to compare them without their addresses.
const SHOWN: usize = 1 << 14;

/// Places that are shown of a pair of threads.
const PLACES: usize = 3;

/// Largest value that is compared if its type is not known. A larger one may have an address.
const WITHOUT_TYPE: usize = 4;

/// The names of two threads, and the numbers of their rings.
pub type ComparedThreads = ((String, String), (usize, usize));

/// A place where values differ.
#[derive(Debug)]
pub struct ValueDifference {
    /// Names of the threads of GOOD and BAD.
    pub threads: (String, String),
    /// The value of GOOD.
    pub good: ShownValue,
    /// The value of BAD.
    pub bad: ShownValue,
    /// Which of the values of the place, from 1.
    pub count: usize,
}

/// The first values that differ in each pair of threads, both of which have their beginning.
pub fn value_differences(
    (good, bad): (&Input<'_>, &Input<'_>),
    (good_rings, bad_rings): (&SideRings<'_>, &SideRings<'_>),
    pairs: impl Iterator<Item = ComparedThreads>,
    names: &Names,
    notes: &mut Notes<'_>,
) -> Vec<ValueDifference> {
    let mut readers = (ValueReader::default(), ValueReader::default());
    let mut found = Vec::new();
    for (threads, numbers) in pairs {
        let thread = |side: &'_ SideRings<'_>, number| -> Option<SideThread> {
            side.threads.iter().find(|thread| thread.number == number).cloned()
        };
        let Some((one, other)) = thread(good_rings, numbers.0).zip(thread(bad_rings, numbers.1)) else {
            continue;
        };
        let mut of_good: HashMap<u32, Vec<RecordedValue>> = HashMap::new();
        for value in values(good_rings, &one) {
            of_good.entry(value.number).or_default().push(value);
        }
        let (mut counts, mut places) = (HashMap::<u32, usize>::new(), HashSet::new());
        let mut shown = 0;
        for value in values(bad_rings, &other) {
            let count = counts.entry(value.number).or_default();
            *count += 1;
            let known = of_good.get(&value.number).and_then(|values| values.get(*count - 1));
            let Some(known) = known.filter(|known| **known != value && !places.contains(&value.number))
            else {
                continue;
            };
            shown += 1;
            if shown > SHOWN || places.len() == PLACES {
                break;
            }
            let mut show = |reader: &mut ValueReader, thread: &SideThread, input: &Input<'_>, value| {
                reader.show(&thread.ring, (0, names), None, &[value], (input.options, &mut *notes)).pop()
            };
            let good = show(&mut readers.0, &one, good, *known);
            let bad = show(&mut readers.1, &other, bad, value);
            if let Some((good, bad)) = good.zip(bad).filter(|(good, bad)| differ(good, bad)) {
                places.insert(value.number);
                found.push(ValueDifference { threads: threads.clone(), good, bad, count: *count });
            }
        }
    }
    found
}

/// The values of a thread, oldest first.
fn values(side: &SideRings<'_>, thread: &SideThread) -> Vec<RecordedValue> {
    let mut values = Vec::new();
    side.read_items(thread, &mut |_, item| {
        let more = item.map_or(&[][..], |item| &item.values);
        values.extend_from_slice(&more[..more.len().min(MOST - values.len())]);
    });
    values
}

/// Whether two values of a place differ, addresses aside.
fn differ(good: &ShownValue, bad: &ShownValue) -> bool {
    let is_typed = !good.type_name.is_empty() && !bad.type_name.is_empty();
    let is_short = good.bytes.len().max(bad.bytes.len()) <= WITHOUT_TYPE;
    let is_shown = !good.is_redacted && !bad.is_redacted;
    is_shown && (is_typed || is_short) && without_addresses(&good.text) != without_addresses(&bad.text)
}

/// A text with `0x` in place of each address.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|char: char| char.is_ascii_hexdigit()).len();
        // Bytes have two digits.
        let kept = if digits <= 2 { 0 } else { digits };
        out.push_str("0x");
        out.push_str(&part[kept..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_not_compared() {
        let value = |text: &str| ShownValue {
            type_name: "T".into(),
            text: text.into(),
            bytes: vec![0; 8],
            ..ShownValue::default()
        };
        assert!(!differ(&value("S { p: 0x7ffe12, n: 1 }"), &value("S { p: 0x7ffe98ab, n: 1 }")));
        assert!(differ(&value("S { p: 0x7ffe12, n: 1 }"), &value("S { p: 0x7ffe12, n: 2 }")));
        assert!(differ(&value("0x0c (1 byte)"), &value("0x0d (1 byte)")));
        let unknown = ShownValue { type_name: String::new(), ..value("0x01 0x02") };
        assert!(!differ(&unknown, &ShownValue { text: "0x03".into(), ..unknown.clone() }));
    }
}
