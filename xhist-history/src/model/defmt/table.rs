//! The interned strings of a program: symbols in the section `.defmt`, whose addresses are the numbers on the wire.

use std::collections::BTreeMap;
use std::sync::Arc;

use object::{File, Object as _, ObjectSection as _, ObjectSymbol as _};
use serde::Deserialize;

const SECTION: &str = ".defmt";
/// A symbol with the version of the encoding.
const VERSION: &str = "_defmt_version_ = ";
/// Those that are read.
const VERSIONS: [&str; 2] = ["3", "4"];
/// Flags that are kept: there are as many numbers of strings.
const MAX_FLAGS: usize = 1 << 16;

/// Bytes of a string that is kept: one with many variants is long.
const MAX_LEN: usize = 64 << 10;

/// How serious a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefmtLevel {
    /// `error!`, `panic!`, `unwrap!`.
    Error,
    /// `warn!`.
    Warn,
    /// `info!`.
    Info,
    /// `debug!`.
    Debug,
    /// `trace!`.
    Trace,
}

/// The interned strings of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefmtTable(Arc<InternedStrings>);

#[derive(Debug, Default, PartialEq, Eq)]
struct InternedStrings {
    entries: BTreeMap<u16, Entry>,
    /// The format of the time of each line.
    time: Option<String>,
    /// Programs of one build have different strings.
    is_disputed: bool,
    flags: Vec<Flag>,
}

/// An interned string.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) use_: Use,
    /// How serious it is as a line.
    pub(super) level: Option<DefmtLevel>,
    pub(super) crate_name: String,
    pub(super) text: String,
}

/// What a string is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// The format of a line.
    Line,
    /// The format of a value whose variants are separated by `|`.
    Variants,
    /// The format of a value.
    Format,
    /// A text.
    Text,
}

/// A flag of `bitflags!`.
#[derive(Debug, PartialEq, Eq)]
struct Flag {
    /// Its set: name, disambiguator and crate.
    set: [String; 3],
    /// Its place in the set.
    index: u128,
    name: String,
    bits: u128,
}

/// The name of a symbol.
#[derive(Deserialize)]
struct SymbolName {
    tag: String,
    data: String,
    #[serde(default)]
    disambiguator: String,
    #[serde(default)]
    package: String,
    crate_name: Option<String>,
}

impl DefmtTable {
    /// The strings of a program; `None` if it has none, or in another version.
    pub fn of_program(elf: &File<'_>) -> Option<DefmtTable> {
        let section = elf.section_by_name(SECTION)?;
        let names = elf.symbols().filter_map(|symbol| Some((symbol.name().ok()?, symbol.address())));
        DefmtTable::of_symbols(names, section.address(), section.data().unwrap_or_default())
    }

    /// The same from symbols with their addresses, and the section with its address.
    pub fn of_symbols<'s>(
        symbols: impl Iterator<Item = (&'s str, u64)>,
        start: u64,
        section: &[u8],
    ) -> Option<DefmtTable> {
        let mut is_known = false;
        let mut strings = InternedStrings::default();
        for (name, address) in symbols {
            let version = name.trim_matches('"').strip_prefix(VERSION);
            is_known |= version.is_some_and(|version| VERSIONS.contains(&version));
            if let Some(name) = name.starts_with('{').then(|| serde_json::from_str(name).ok()).flatten() {
                let at = usize::try_from(address.wrapping_sub(start)).unwrap_or(usize::MAX);
                strings.add(name, address, section.get(at..).unwrap_or_default());
            }
        }
        (is_known && !strings.entries.is_empty()).then(|| DefmtTable(Arc::new(strings)))
    }

    /// With the strings of another program of the same build. A line does not name its program, so strings that differ are
    /// left out.
    #[must_use]
    pub fn agreed(self, other: DefmtTable) -> DefmtTable {
        match DefmtTable::default() {
            none if other == none || self == other => self,
            none if self == none => other,
            _ => DefmtTable(Arc::new(InternedStrings { is_disputed: true, ..InternedStrings::default() })),
        }
    }

    /// Whether it has nothing.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    pub(super) fn entry(&self, number: u16) -> Option<&Entry> {
        self.0.entries.get(&number)
    }

    pub(super) fn time(&self) -> Option<&str> {
        self.0.time.as_deref()
    }

    /// The flags of a set with their bits, in the order of the source: `NAME@PACKAGE@DISAMBIGUATOR@CRATE`.
    pub(super) fn flags(&self, set: &str) -> impl Iterator<Item = (&str, u128)> {
        let mut parts = set.split('@').map(str::to_owned);
        let [name, _, number, of_crate] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        let set = [name, number, of_crate];
        let mut flags: Vec<&Flag> = self.0.flags.iter().filter(|flag| flag.set == set).collect();
        flags.sort_by_key(|flag| flag.index);
        flags.into_iter().map(|flag| (flag.name.as_str(), flag.bits))
    }
}

impl InternedStrings {
    /// Adds a symbol. `value`: the bytes at its address.
    fn add(&mut self, name: SymbolName, address: u64, value: &[u8]) {
        let SymbolName { tag, data, disambiguator, package, crate_name } = name;
        let crate_name = crate_name.unwrap_or_else(|| package.replace('-', "_"));
        let Some(kind) = tag.strip_prefix("defmt_").filter(|_| data.len() <= MAX_LEN) else { return };
        let (use_, level) = match kind {
            "error" => (Use::Line, Some(DefmtLevel::Error)),
            "warn" => (Use::Line, Some(DefmtLevel::Warn)),
            "info" => (Use::Line, Some(DefmtLevel::Info)),
            "debug" => (Use::Line, Some(DefmtLevel::Debug)),
            "trace" => (Use::Line, Some(DefmtLevel::Trace)),
            "println" => (Use::Line, None),
            "prim" | "derived" => (Use::Variants, None),
            "write" | "fmt" | "bitflags" => (Use::Format, None),
            "str" => (Use::Text, None),
            "timestamp" => {
                self.time = Some(data);
                return;
            }
            "bitflags_value" => {
                let mut parts = data.split("::");
                let parts = (parts.next(), parts.next(), parts.next(), value.first_chunk());
                if let (Some(set), Some(index), Some(name), Some(bits)) = parts
                    && let Ok(index) = index.parse()
                    && self.flags.len() < MAX_FLAGS
                {
                    let set = [set.to_owned(), disambiguator, crate_name];
                    let (name, bits) = (name.to_owned(), u128::from_le_bytes(*bits));
                    self.flags.push(Flag { set, index, name, bits });
                }
                return;
            }
            _ => return,
        };
        // The number is the lower half of an address.
        self.entries.insert(address as u16, Entry { use_, level, crate_name, text: data });
    }
}

#[cfg(test)]
impl DefmtTable {
    /// A table of symbols: number, tag and text.
    pub(super) fn of(symbols: &[(u16, &str, &str)]) -> DefmtTable {
        let mut strings = InternedStrings::default();
        for (number, tag, data) in symbols {
            let (tag, data) = (format!("defmt_{tag}"), (*data).to_owned());
            let name = SymbolName {
                tag,
                data,
                disambiguator: "1".into(),
                package: "an-app".into(),
                crate_name: None,
            };
            strings.add(name, (*number).into(), &u128::from(*number).to_le_bytes());
        }
        DefmtTable(Arc::new(strings))
    }
}
