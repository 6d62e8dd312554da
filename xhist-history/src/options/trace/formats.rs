//! Names and texts of codes: the table that describes trace events.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::OnceLock;

use super::file::{self, Definition};
use super::text::{TextTemplate, push_list};
use crate::model::{Code, DescribedTrace, Severity, Trace, TraceClass};

/// The formats of xhist's own events.
const OURS: &str = include_str!("xhist.fmt");

/// Names and texts of codes. Those of xhist alone are read when the first event is described.
#[derive(Clone, Debug, Default)]
pub struct Formats {
    table: OnceLock<FormatTable>,
}

#[derive(Clone, Debug, Default)]
struct FormatTable {
    owners: BTreeMap<u32, NamedFormat>,
    codes: BTreeMap<(Code, Option<Severity>), NamedFormat>,
    opcodes: BTreeMap<u8, NamedFormat>,
}

/// A name, its text, and where it is defined.
#[derive(Clone, Debug)]
struct NamedFormat {
    name: String,
    text: Option<TextTemplate>,
    place: String,
}

/// A definition that differs from an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionConflict {
    /// What is defined.
    pub subject: String,
    /// Where.
    pub place: String,
    /// Where the earlier definition is.
    pub first: String,
}

impl fmt::Display for DefinitionConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DefinitionConflict { subject, place, first } = self;
        write!(f, "{place}: {subject} is something else in {first}, which is used")
    }
}

impl std::error::Error for DefinitionConflict {}

impl Formats {
    /// An empty table.
    pub fn none() -> Formats {
        Formats { table: OnceLock::from(FormatTable::default()) }
    }

    fn table(&self) -> &FormatTable {
        self.table.get_or_init(|| {
            let mut table = FormatTable::default();
            table.add_ours();
            table
        })
    }

    /// Adds the formats of xhist's own events. Those defined otherwise stay; returns those conflicts.
    pub fn add_ours(&mut self) -> Vec<DefinitionConflict> {
        self.table();
        self.table.get_mut().map(FormatTable::add_ours).unwrap_or_default()
    }

    /// Adds a definition.
    ///
    /// # Errors
    /// An earlier definition differs. The earlier one stays.
    pub fn add(&mut self, definition: Definition, place: String) -> Result<(), DefinitionConflict> {
        self.table();
        self.table.get_mut().map_or(Ok(()), |table| table.add(definition, place))
    }

    /// Major codes of owners with this name.
    pub fn majors(&self, name: &str) -> Vec<u32> {
        self.table().owners.iter().filter(|(_, row)| row.name == name).map(|(major, _)| *major).collect()
    }

    /// Codes with this name.
    pub fn codes(&self, name: &str) -> Vec<Code> {
        self.table().codes.iter().filter(|(_, row)| row.name == name).map(|((code, _), _)| *code).collect()
    }

    /// Opcodes with this name.
    pub fn opcodes(&self, name: &str) -> Vec<u8> {
        self.table().opcodes.iter().filter(|(_, row)| row.name == name).map(|(opcode, _)| *opcode).collect()
    }

    /// Describes an event by its names and its text.
    pub fn describe(&self, event: &Trace) -> DescribedTrace {
        let table = self.table();
        let row = match event.class {
            TraceClass::Exception { severity, code } => {
                table.codes.get(&(code, Some(severity))).or_else(|| table.codes.get(&(code, None)))
            }
            TraceClass::Profile { opcode, .. } => table.opcodes.get(&opcode),
        };
        let mut text = match row.and_then(|row| row.text.as_ref()) {
            Some(text) => text.of(event),
            None => {
                let mut text = String::new();
                push_list(&event.args, event.buffer.as_deref(), &mut text);
                text
            }
        };
        if event.is_cut {
            text.push_str(if text.is_empty() { "(cut)" } else { " (cut)" });
        }
        let name = row.map(|row| row.name.clone());
        let mut described = DescribedTrace { name, text, ..DescribedTrace::default() };
        let head = match event.class {
            TraceClass::Exception { severity, code } => {
                (described.class, described.meaning) = (severity.name(), Some(severity.meaning()));
                described.owner = table.owners.get(&code.major()).map(|row| row.name.clone());
                head_of_code(code, &mut described)
            }
            TraceClass::Profile { opcode, data } => {
                described.class = "profile";
                described.name = described.name.or_else(|| event.opcode_name.clone());
                let opcode = named(described.name.as_deref(), opcode.to_string());
                let is_shown = row.and_then(|row| row.text.as_ref()).is_some_and(TextTemplate::has_data);
                match data {
                    0 => format!("{opcode}:"),
                    _ if is_shown => format!("{opcode}:"),
                    data => format!("{opcode} data {data}:"),
                }
            }
        };
        described.subject = match described.text.is_empty() {
            true => head.trim_end_matches(':').to_owned(),
            false => format!("{head} {}", described.text),
        };
        described
    }
}

impl FormatTable {
    fn add_ours(&mut self) -> Vec<DefinitionConflict> {
        let mut others = Vec::new();
        file::read(OURS.as_bytes(), &mut |line, said| {
            let place = format!("the formats of xhist, line {line}");
            others.extend(said.ok().and_then(|definition| self.add(definition, place).err()));
        });
        others
    }

    fn add(&mut self, definition: Definition, place: String) -> Result<(), DefinitionConflict> {
        match definition {
            Definition::Owner(major, name) => {
                let row = NamedFormat { name, text: None, place };
                add(&mut self.owners, major, row, format!("owner 0x{major:06x}"))
            }
            Definition::Code(code, severity, name, text) => {
                let subject = format!("0x{:06x}:0x{:02x}", code.major(), code.minor());
                add(&mut self.codes, (code, severity), NamedFormat { name, text, place }, subject)
            }
            Definition::Profile(opcode, name, text) => {
                add(&mut self.opcodes, opcode, NamedFormat { name, text, place }, format!("profile {opcode}"))
            }
        }
    }
}

/// `uart(0x800123) parity_error(0x05):`, or `0x800123:0x05` for an unknown code.
fn head_of_code(code: Code, described: &mut DescribedTrace) -> String {
    let (major, minor) = (format!("0x{:06x}", code.major()), format!("0x{:02x}", code.minor()));
    match (&described.owner, &described.name) {
        (None, None) => format!("{major}:{minor}"),
        (owner, name) => format!("{} {}:", named(owner.as_deref(), major), named(name.as_deref(), minor)),
    }
}

fn named(name: Option<&str>, number: String) -> String {
    name.map_or_else(|| number.clone(), |name| format!("{name}({number})"))
}

fn add<K: Ord>(
    rows: &mut BTreeMap<K, NamedFormat>,
    key: K,
    row: NamedFormat,
    subject: String,
) -> Result<(), DefinitionConflict> {
    match rows.entry(key) {
        Entry::Vacant(free) => {
            free.insert(row);
            Ok(())
        }
        Entry::Occupied(first) => {
            let first = first.get();
            let is_same = (&first.name, &first.text) == (&row.name, &row.text);
            if is_same {
                Ok(())
            } else {
                Err(DefinitionConflict { subject, place: row.place, first: first.place.clone() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Arg;
    use proptest::prelude::*;

    fn formats(text: &str) -> Formats {
        let mut formats = Formats::default();
        file::read(text.as_bytes(), &mut |line, said| {
            formats.add(said.unwrap(), format!("a.fmt:{line}")).unwrap();
        });
        formats
    }

    fn exception(code: Code, args: &[Arg], buffer: Option<&[u8]>) -> Trace {
        Trace {
            args: args.to_vec(),
            buffer: buffer.map(<[u8]>::to_vec),
            ..Trace::of(TraceClass::Exception { severity: Severity::Hw1, code })
        }
    }

    fn shown(text: &str, args: &[Arg], buffer: Option<&[u8]>) -> String {
        let formats = formats(&format!("5:5 x * \"{text}\"\n"));
        formats.describe(&exception(Code::new(5, 5), args, buffer)).text
    }

    #[test]
    fn conversions_are_those_of_c() {
        let (five, minus, wide) = (Arg::from(5u32), Arg::from(-5i32), Arg::from(u64::MAX));
        for (text, arg, expected) in [
            ("%d %% %5d|", minus, "-5 % ?|"),
            ("%05d", minus, "-0005"),
            ("%-5d|", minus, "-5   |"),
            ("%+d", five, "+5"),
            ("% d", five, " 5"),
            ("%u", minus, "4294967291"),
            ("%x", minus, "fffffffb"),
            ("%#06X", Arg::from(0xABu32), "0X00AB"),
            ("%#06x", Arg::from(0u32), "000000"),
            ("%#o", Arg::from(8u32), "010"),
            ("%d", wide, "-1"),
            ("%u", wide, "18446744073709551615"),
            ("%p", Arg::from(0x2000_0000u32), "0x20000000"),
            ("%c%c", Arg::from('ä'), "ä?"),
            ("%c", Arg::from(10u32), "\\n"),
        ] {
            let spaced = if text.contains("5d|") && text.contains("%%") { "-5 %     ?|" } else { expected };
            assert_eq!(shown(text, &[arg], None), spaced, "{text}");
        }
    }

    #[test]
    fn nothing_is_left_out() {
        let args = [Arg::from(1u32), Arg::from(-2i32)];
        assert_eq!(shown("a %u", &args, Some(b"ab")), "a 1 -2 buffer 61 62");
        assert_eq!(shown("%s|%h|%6s|", &args, Some(b"a\n\0")), "a\\n|61 0a 00|   a\\n| 1 -2");
        assert_eq!(shown("%s", &[], None), "?");
        assert_eq!(shown("", &[], Some(b"")), "buffer");
    }

    #[test]
    fn heads_have_the_names_that_are_known() {
        let formats = formats(
            "owner 0x800123 uart\n0x800123:5 parity_error HW1 \"port %u\"\n7:7 alone *\nprofile 33 fired \"%u\"\nprofile 34 data \"%D\"\n",
        );
        let line = |event: &Trace| {
            let described = formats.describe(event);
            format!("{} {}", described.class, described.subject)
        };
        let code = |major, minor| exception(Code::new(major, minor), &[Arg::from(3u32)], None);
        assert_eq!(line(&code(0x80_0123, 5)), "HW1 uart(0x800123) parity_error(0x05): port 3");
        assert_eq!(line(&code(0x80_0123, 6)), "HW1 uart(0x800123) 0x06: 3");
        assert_eq!(line(&code(7, 7)), "HW1 0x000007 alone(0x07): 3");
        assert_eq!(line(&code(8, 8)), "HW1 0x000008:0x08 3");
        assert_eq!(line(&Trace { is_cut: true, ..code(8, 8) }), "HW1 0x000008:0x08 3 (cut)");
        // A definition for one severity does not apply to another.
        let class = TraceClass::Exception { severity: Severity::Sw3, code: Code::new(0x80_0123, 5) };
        assert_eq!(line(&Trace { class, ..code(1, 1) }), "SW3 uart(0x800123) 0x05: 3");
        let profile = |opcode, data| Trace { class: TraceClass::Profile { opcode, data }, ..code(1, 1) };
        assert_eq!(line(&profile(33, 7)), "profile fired(33) data 7: 3");
        assert_eq!(line(&profile(33, 0)), "profile fired(33): 3");
        assert_eq!(line(&profile(34, 7)), "profile data(34): 7 3");
        assert_eq!(line(&Trace { args: vec![], ..profile(35, 7) }), "profile 35 data 7");
        let named = Trace { opcode_name: Some("irq".to_owned()), ..profile(36, 0) };
        assert_eq!(line(&named), "profile irq(36): 3");
    }

    #[test]
    fn our_own_codes_have_names() {
        let formats = Formats::default();
        for (code, name) in [
            (Code::RING_OVERRUN, "ring_overrun"),
            (Code::ALLOCATION_FAILED, "allocation_failed"),
            (Code::LINK_LOST, "link_lost"),
            (Code::LOG_ERROR, "log_error"),
            (Code::LOG_WARN, "log_warn"),
            (Code::LOG_INFO, "log_info"),
            (Code::LOG_DEBUG, "log_debug"),
            (Code::LOG_TRACE, "log_trace"),
            (Code::STDOUT, "stdout"),
            (Code::STDERR, "stderr"),
            (Code::DEFMT, "defmt"),
        ] {
            assert_eq!(formats.codes(name), [code]);
        }
        assert_eq!(formats.majors("xhist"), [qs_core::record::trace::XHIST]);
        let mut lines = 0;
        file::read(OURS.as_bytes(), &mut |_, said| {
            lines += u32::from(said.is_ok()) + 10 * u32::from(said.is_err())
        });
        assert_eq!(lines, 12);
    }

    #[test]
    fn the_first_definition_wins() {
        let mut formats = Formats::none();
        let owner = |name: &str| Definition::Owner(5, name.to_owned());
        assert_eq!(formats.add(owner("a"), "a.fmt:1".to_owned()), Ok(()));
        assert_eq!(formats.add(owner("a"), "b.fmt:1".to_owned()), Ok(()));
        let why = formats.add(owner("b"), "b.fmt:2".to_owned()).unwrap_err();
        assert_eq!(why.to_string(), "b.fmt:2: owner 0x000005 is something else in a.fmt:1, which is used");
        assert_eq!(formats.majors("a"), [5]);
    }

    proptest! {
        #[test]
        fn any_text_shows_any_event(
            text in "(%[-+ #0]{0,3}[0-9]{0,2}[diuxXocpshD]|[a-z ]){0,12}",
            args in proptest::collection::vec(any::<i64>().prop_map(Arg::from), 0..8),
            buffer in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40)),
            data in any::<u32>(),
        ) {
            let formats = formats(&format!("profile 1 x \"{text}\"\n"));
            let class = TraceClass::Profile { opcode: 1, data };
            let event = Trace { class, ..exception(Code(0), &args, buffer.as_deref()) };
            let described = formats.describe(&event);
            prop_assert!(!described.subject.contains(char::is_control));
            prop_assert!(described.subject.len() < 4000);
        }
    }
}
