//! Selects the trace events of a report. An option selects events that have its property and drops all others: with `--opcode` alone,
//! no exception event is shown.

use std::fmt;
use std::ops::RangeInclusive;

use super::file::number;
use super::formats::Formats;
use crate::model::{Code, Trace, TraceClass};

/// The values of each option; none if it was not given.
#[derive(Clone, Debug, Default)]
pub struct TraceSelection {
    /// `HW3`, `sw`, `2..`, `hw1..2`.
    pub severities: Vec<String>,
    /// Numbers, ranges and names.
    pub majors: Vec<String>,
    /// Numbers, ranges and names.
    pub minors: Vec<String>,
    /// Numbers, ranges and names.
    pub opcodes: Vec<String>,
}

/// A value of a selection that selects nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectionError {
    /// It is not a severity.
    Severity(String),
    /// It is neither a number of the option's range nor a name.
    Number {
        /// The option.
        option: &'static str,
        /// What the user wrote.
        text: String,
        /// The largest number.
        most: u32,
    },
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelectionError::Severity(text) => {
                write!(
                    f,
                    "--severity {text}: expected HW3, sw, a level from 0 to 3 or a range such as 2.. or hw1..2"
                )
            }
            SelectionError::Number { option, text, most } => write!(
                f,
                "{option} {text}: expected a number up to {most}, a range such as 0x10..0x20, or a name from a .fmt file"
            ),
        }
    }
}

impl std::error::Error for SelectionError {}

/// A filter of trace events; by default all pass.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    severities: Option<[bool; 8]>,
    majors: Option<Numbers>,
    minors: Option<(Numbers, Vec<Code>)>,
    opcodes: Option<Numbers>,
}

/// Ranges with both ends.
type Numbers = Vec<RangeInclusive<u32>>;

impl Filter {
    /// Compiles a selection; names are those of the formats.
    ///
    /// # Errors
    /// The first wrong value.
    pub fn new(wanted: &TraceSelection, formats: &Formats) -> Result<Filter, SelectionError> {
        let mut codes = Vec::new();
        let minors = numbers("--minor", &wanted.minors, 255, |name| {
            let known = formats.codes(name);
            codes.extend(&known);
            // The name means the whole code, not every code with the same minor.
            (!known.is_empty()).then(Vec::new)
        })?;
        Ok(Filter {
            severities: severities(&wanted.severities)?,
            majors: numbers("--major", &wanted.majors, 0xFF_FFFF, |name| some(formats.majors(name)))?,
            minors: minors.map(|minors| (minors, codes)),
            opcodes: numbers("--opcode", &wanted.opcodes, 255, |name| {
                some(formats.opcodes(name).into_iter().map(u32::from).collect())
            })?,
        })
    }

    /// Whether all events pass.
    pub fn is_all(&self) -> bool {
        !self.is_about_codes() && self.opcodes.is_none()
    }

    fn is_about_codes(&self) -> bool {
        self.severities.is_some() || self.majors.is_some() || self.minors.is_some()
    }

    /// Whether an event passes.
    pub fn takes(&self, event: &Trace) -> bool {
        if self.is_all() {
            return true;
        }
        match event.class {
            TraceClass::Exception { severity, code } => {
                let minor = u32::from(code.minor());
                self.is_about_codes()
                    && self.severities.is_none_or(|severities| severities[severity as usize])
                    && self.majors.as_ref().is_none_or(|majors| has(majors, code.major()))
                    && self
                        .minors
                        .as_ref()
                        .is_none_or(|(minors, codes)| has(minors, minor) || codes.contains(&code))
            }
            TraceClass::Profile { opcode, .. } => {
                self.opcodes.as_ref().is_some_and(|opcodes| has(opcodes, opcode.into()))
            }
        }
    }
}

fn has(numbers: &Numbers, number: u32) -> bool {
    numbers.iter().any(|range| range.contains(&number))
}

fn some(numbers: Vec<u32>) -> Option<Numbers> {
    (!numbers.is_empty()).then(|| numbers.into_iter().map(|number| number..=number).collect())
}

fn severities(typed: &[String]) -> Result<Option<[bool; 8]>, SelectionError> {
    let mut chosen = [false; 8];
    for text in typed {
        let upper = text.to_ascii_uppercase();
        let (kinds, levels) = match (upper.strip_prefix("HW"), upper.strip_prefix("SW")) {
            (Some(levels), _) => (0..1, levels),
            (_, Some(levels)) => (1..2, levels),
            _ => (0..2, upper.as_str()),
        };
        let is_kind = levels.is_empty() && kinds.len() == 1;
        let levels = if is_kind { Some(0..=3) } else { range(levels, 3) };
        let levels = levels.ok_or_else(|| SelectionError::Severity(text.clone()))?;
        for kind in kinds {
            levels.clone().for_each(|level| chosen[kind * 4 + level as usize] = true);
        }
    }
    Ok((!typed.is_empty()).then_some(chosen))
}

fn numbers(
    option: &'static str,
    typed: &[String],
    most: u32,
    mut named: impl FnMut(&str) -> Option<Numbers>,
) -> Result<Option<Numbers>, SelectionError> {
    let mut all = Numbers::new();
    for text in typed {
        let wrong = || SelectionError::Number { option, text: text.clone(), most };
        match range(text, most) {
            Some(range) => all.push(range),
            None => all.extend(named(text).ok_or_else(wrong)?),
        }
    }
    Ok((!typed.is_empty()).then_some(all))
}

/// `5`, `0x10..0x20` with both ends, `2..`, `..7`.
fn range(text: &str, most: u32) -> Option<RangeInclusive<u32>> {
    let number = |text: &str, none: u32| if text.is_empty() { Some(none) } else { number(text) };
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (number(first, 0)?, number(last.trim_start_matches('='), most)?),
        None if text.is_empty() => return None,
        None => (number(text, 0)?, number(text, 0)?),
    };
    (first <= last && last <= most).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Severity;
    use crate::options::trace::read_formats;

    fn formats() -> Formats {
        let mut formats = Formats::default();
        let text = b"owner 5 uart\n5:1 parity *\n6:1 other *\nprofile 33 fired\n";
        read_formats(text, &mut |line, said| formats.add(said.unwrap(), line.to_string()).unwrap());
        formats
    }

    fn exception(severity: u8, major: u32, minor: u8) -> Trace {
        let (severity, code) = (Severity::from_number(severity).unwrap(), Code::new(major, minor));
        Trace::of(TraceClass::Exception { severity, code })
    }

    fn profile(opcode: u8) -> Trace {
        Trace::of(TraceClass::Profile { opcode, data: 0 })
    }

    fn filter(options: [&str; 4]) -> Result<Filter, SelectionError> {
        let [severities, majors, minors, opcodes] = options
            .map(|list| list.split(',').filter(|value| !value.is_empty()).map(str::to_owned).collect());
        Filter::new(&TraceSelection { severities, majors, minors, opcodes }, &formats())
    }

    #[test]
    fn severities_are_chosen_by_kind_and_level() {
        for (list, expected) in [
            ("HW3,SW2", [3, 6].as_slice()),
            ("hw", &[0, 1, 2, 3]),
            ("2..", &[2, 3, 6, 7]),
            ("sw..1", &[4, 5]),
            ("0", &[0, 4]),
            ("hw1..2,sw3", &[1, 2, 7]),
        ] {
            let filter = filter([list, "", "", ""]).unwrap();
            let taken: Vec<u8> =
                (0..8).filter(|severity| filter.takes(&exception(*severity, 9, 9))).collect();
            assert_eq!(taken, expected, "{list}");
            assert!(!filter.takes(&profile(33)));
        }
    }

    #[test]
    fn codes_and_opcodes_are_chosen_by_number_range_and_name() {
        let all = filter(["", "", "", ""]).unwrap();
        assert!(all.is_all() && all.takes(&profile(1)) && all.takes(&exception(0, 1, 1)));
        let parity = filter(["", "", "parity", ""]).unwrap();
        assert!(parity.takes(&exception(0, 5, 1)) && !parity.takes(&exception(0, 6, 1)));
        let uart = filter(["1..", "uart,0x10..0x20", "..3", "fired"]).unwrap();
        assert!(
            uart.takes(&exception(1, 5, 3)) && uart.takes(&exception(1, 0x20, 0)) && uart.takes(&profile(33))
        );
        assert!(!uart.takes(&exception(0, 5, 3)) && !uart.takes(&exception(1, 5, 4)));
        assert!(!uart.takes(&exception(1, 0x21, 0)) && !uart.takes(&profile(34)));
    }

    #[test]
    fn wrong_values_are_errors() {
        for (options, message) in [
            (["HW4", "", "", ""], "--severity HW4: "),
            (["", "usb", "", ""], "--major usb: "),
            (["", "0x1000000", "", ""], "a number up to 16777215"),
            (["", "", "3..2", ""], "--minor 3..2: "),
            (["", "", "", "256"], "--opcode 256: "),
        ] {
            let why = filter(options).unwrap_err().to_string();
            assert!(why.contains(message), "{why}");
        }
    }
}
