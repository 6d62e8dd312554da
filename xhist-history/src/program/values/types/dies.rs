//! Entries of debug information, read one at a time, by their offset in the file.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use gimli::{
    Abbreviations, Attribute, AttributeValue, DebugAbbrev, DebugAbbrevOffset, DebugInfo, DebugLineStr,
    DebugStr, DebugStrOffsets, DebugStrOffsetsBase, DwAt, DwTag, EndianSlice, RunTimeEndian, UnitHeader,
    UnitOffset, constants as dw,
};
use object::Object;

use super::sections::plain_section;

type DieBytes<'a> = EndianSlice<'a, RunTimeEndian>;

/// Entries below one entry that are read, at most.
const BELOW: usize = 1 << 12;

/// The sections that types are in.
pub struct Sections<'a> {
    info: DebugInfo<DieBytes<'a>>,
    abbrev: DebugAbbrev<DieBytes<'a>>,
    text: DebugStr<DieBytes<'a>>,
    line_text: DebugLineStr<DieBytes<'a>>,
    text_offsets: DebugStrOffsets<DieBytes<'a>>,
}

/// A unit of debug information.
struct Unit<'a> {
    header: UnitHeader<DieBytes<'a>>,
    /// Where it begins in the section.
    at: usize,
    end: usize,
    /// Read when the first entry is; `None` if that cannot be read.
    opened: OnceCell<Option<OpenUnit>>,
}

/// What the entries of a unit need.
struct OpenUnit {
    abbreviations: Rc<Abbreviations>,
    /// Where its numbered texts begin.
    base: DebugStrOffsetsBase<usize>,
}

/// Abbreviations by their place, which units share.
type Tables = HashMap<DebugAbbrevOffset, Option<Rc<Abbreviations>>>;

/// Debug information with its units.
pub struct Dies<'a> {
    sections: Sections<'a>,
    units: Vec<Unit<'a>>,
    tables: RefCell<Tables>,
}

/// An entry, and those below it that describe types.
#[derive(Clone, Debug, Default)]
pub struct Die {
    /// Its offset.
    pub at: usize,
    /// What it is.
    pub tag: DwTagOf,
    /// Its name; may be empty.
    pub name: String,
    /// Bytes of a value.
    pub size: Option<u64>,
    /// The offset of its type.
    pub of: Option<usize>,
    /// How a number is encoded.
    pub encoding: u64,
    /// Where a part is.
    pub location: u64,
    /// The number of an enumerator or of a variant.
    pub value: Option<u128>,
    /// A value with more than one number.
    pub has_list: bool,
    /// The offset of the tag's entry.
    pub tag_at: Option<usize>,
    /// Elements of an array.
    pub count: Option<u64>,
    /// Entries below it.
    pub below: Vec<Die>,
}

/// A tag; 0 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DwTagOf(pub DwTag);

impl Default for DwTagOf {
    fn default() -> DwTagOf {
        DwTagOf(dw::DW_TAG_null)
    }
}

/// Entries that describe types.
const WANTED: [DwTag; 6] = [
    dw::DW_TAG_member,
    dw::DW_TAG_variant_part,
    dw::DW_TAG_variant,
    dw::DW_TAG_enumerator,
    dw::DW_TAG_subrange_type,
    dw::DW_TAG_template_type_parameter,
];

/// What the one walk over all units finds.
#[derive(Debug, Default)]
pub struct FoundTypes {
    /// The offset of the type that each function of a row has as its parameter, by the number of its symbol.
    pub types: HashMap<usize, usize>,
    /// Offsets of entries in the namespaces of the standard library.
    pub standard: Vec<Range<usize>>,
}

impl<'a> Dies<'a> {
    /// The debug information of a program; `None` if it has none that can be read.
    pub fn of(file: &object::File<'a>) -> Option<Dies<'a>> {
        let endian = match file.is_little_endian() {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        let section = |name: &str| EndianSlice::new(plain_section(file, name), endian);
        let sections = Sections {
            info: section(".debug_info").into(),
            abbrev: section(".debug_abbrev").into(),
            text: section(".debug_str").into(),
            line_text: section(".debug_line_str").into(),
            text_offsets: section(".debug_str_offsets").into(),
        };
        let dies = Dies::with(sections);
        (!dies.units.is_empty()).then_some(dies)
    }

    fn with(sections: Sections<'a>) -> Dies<'a> {
        let mut units = Vec::new();
        let mut headers = sections.info.units();
        while let Ok(Some(header)) = headers.next() {
            let Some(at) = header.debug_info_offset().map(|offset| offset.0) else { continue };
            let end = at.saturating_add(header.length_including_self());
            units.push(Unit { header, at, end, opened: OnceCell::new() });
        }
        Dies { sections, units, tables: RefCell::default() }
    }

    fn open<'u>(&self, unit: &'u Unit<'a>) -> Option<&'u OpenUnit> {
        let open = || {
            let mut tables = self.tables.borrow_mut();
            let table = tables.entry(unit.header.debug_abbrev_offset());
            let read = || unit.header.abbreviations(&self.sections.abbrev).ok().map(Rc::new);
            let abbreviations = table.or_insert_with(read).clone()?;
            let base = unit.text_base(&abbreviations).unwrap_or(DebugStrOffsetsBase(0));
            Some(OpenUnit { abbreviations, base })
        };
        unit.opened.get_or_init(open).as_ref()
    }

    fn unit(&self, at: usize) -> Option<&Unit<'a>> {
        let index = self.units.partition_point(|unit| unit.at <= at).checked_sub(1)?;
        Some(&self.units[index]).filter(|unit| at < unit.end)
    }

    /// The text of an attribute.
    fn text(&self, unit: &Unit<'a>, value: &AttributeValue<DieBytes<'a>>) -> Option<&'a [u8]> {
        let text = match *value {
            AttributeValue::String(text) => Some(text),
            AttributeValue::DebugStrRef(at) => self.sections.text.get_str(at).ok(),
            AttributeValue::DebugLineStrRef(at) => self.sections.line_text.get_str(at).ok(),
            AttributeValue::DebugStrOffsetsIndex(index) => {
                let format = unit.header.format();
                let base = self.open(unit)?.base;
                let at = self.sections.text_offsets.get_str_offset(format, base, index).ok()?;
                self.sections.text.get_str(at).ok()
            }
            _ => None,
        };
        text.map(|text| text.slice())
    }

    /// The entry at an offset.
    pub fn die(&self, at: usize) -> Option<Die> {
        let unit = self.unit(at)?;
        let abbreviations = &self.open(unit)?.abbreviations;
        let mut entries = unit.header.entries_raw(abbreviations, Some(UnitOffset(at - unit.at))).ok()?;
        let mut attributes = Vec::new();
        // The entry, and those above the next one.
        let mut open: Vec<(isize, Die)> = Vec::new();
        for _ in 0..BELOW {
            let (offset, depth) = (unit.at + entries.next_offset().0, entries.next_depth());
            while open.len() > 1 && open.last().is_some_and(|(above, _)| *above >= depth) {
                let (_, die) = open.pop()?;
                open.last_mut()?.1.below.push(die);
            }
            if !open.is_empty() && depth <= 0 || entries.is_empty() {
                break;
            }
            let Some(abbreviation) = entries.read_abbreviation().ok()? else { continue };
            let is_wanted = open.is_empty()
                || WANTED.contains(&abbreviation.tag())
                    && open.last().is_some_and(|(above, _)| above + 1 == depth);
            if !is_wanted {
                entries.skip_attributes(abbreviation.attributes()).ok()?;
                continue;
            }
            entries.read_attributes(abbreviation.attributes(), &mut attributes).ok()?;
            let mut die = Die { at: offset, tag: DwTagOf(abbreviation.tag()), ..Die::default() };
            attributes.iter().for_each(|attribute| self.attribute(unit, attribute, &mut die));
            open.push((depth, die));
            if depth == 0 && !abbreviation.has_children() {
                break;
            }
        }
        while open.len() > 1 {
            let (_, die) = open.pop()?;
            open.last_mut()?.1.below.push(die);
        }
        open.pop().map(|(_, die)| die)
    }

    fn attribute(&self, unit: &Unit<'a>, attribute: &Attribute<DieBytes<'a>>, die: &mut Die) {
        let value = attribute.value();
        match attribute.name() {
            dw::DW_AT_name => {
                let text = self.text(unit, &value).unwrap_or_default();
                die.name = String::from_utf8_lossy(text).into_owned();
            }
            dw::DW_AT_byte_size => die.size = attribute.udata_value(),
            dw::DW_AT_type => die.of = unit.reference(&value),
            dw::DW_AT_encoding => die.encoding = encoding(&value),
            dw::DW_AT_data_member_location => {
                // A place that is not a plain number fits nowhere.
                die.location = attribute.udata_value().unwrap_or(u64::MAX);
            }
            dw::DW_AT_const_value | dw::DW_AT_discr_value => die.value = number(attribute),
            dw::DW_AT_discr_list => die.has_list = true,
            dw::DW_AT_discr => die.tag_at = unit.reference(&value),
            dw::DW_AT_count => die.count = attribute.udata_value(),
            dw::DW_AT_upper_bound if die.count.is_none() => {
                die.count = attribute.udata_value().and_then(|last| last.checked_add(1));
            }
            _ => {}
        }
    }

    /// Walks over all units once: the types of these functions, which are sorted by their symbols.
    pub fn find(&self, symbols: &[&str]) -> FoundTypes {
        let mut found = FoundTypes::default();
        self.units.iter().for_each(|unit| {
            // What was read until an error is good.
            let _ = self.find_in(unit, symbols, &mut found);
        });
        found
    }

    fn find_in(&self, unit: &Unit<'a>, symbols: &[&str], found: &mut FoundTypes) -> gimli::Result<()> {
        let Some(open) = self.open(unit) else { return Ok(()) };
        let mut entries = unit.header.entries_raw(&open.abbreviations, None)?;
        let (mut function, mut space) = (None, None);
        let mut attributes = Vec::new();
        let result = loop {
            if entries.is_empty() {
                break Ok(());
            }
            let (offset, depth) = (unit.at + entries.next_offset().0, entries.next_depth());
            let abbreviation = match entries.read_abbreviation() {
                Ok(Some(abbreviation)) => abbreviation,
                Ok(None) => continue,
                Err(error) => break Err(error),
            };
            if depth <= 1
                && let Some(start) = space.take()
            {
                found.standard.push(start..offset);
            }
            if function.is_some_and(|(above, _)| depth <= above) {
                function = None;
            }
            let read = match abbreviation.tag() {
                dw::DW_TAG_subprogram => true,
                dw::DW_TAG_namespace => depth == 1,
                dw::DW_TAG_template_type_parameter => function.is_some(),
                _ => false,
            };
            let result = match read {
                true => entries.read_attributes(abbreviation.attributes(), &mut attributes),
                false => entries.skip_attributes(abbreviation.attributes()),
            };
            if let Err(error) = result {
                break Err(error);
            }
            if !read {
                continue;
            }
            let text = |name| self.text(unit, &value_of(&attributes, name)?);
            match abbreviation.tag() {
                dw::DW_TAG_namespace => {
                    let is_standard = matches!(text(dw::DW_AT_name), Some(b"core" | b"alloc" | b"std"));
                    space = is_standard.then_some(offset);
                }
                dw::DW_TAG_subprogram => {
                    let is_ours = text(dw::DW_AT_name).is_some_and(|name| name.starts_with(b"of_type<"));
                    let symbol = if is_ours { text(dw::DW_AT_linkage_name) } else { None };
                    let index = symbol
                        .and_then(|symbol| symbols.binary_search_by(|one| one.as_bytes().cmp(symbol)).ok());
                    function = index.map(|index| (depth, index));
                }
                _ => {
                    let of = value_of(&attributes, dw::DW_AT_type).and_then(|value| unit.reference(&value));
                    if let (Some((_, index)), Some(of)) = (function, of) {
                        found.types.entry(index).or_insert(of);
                    }
                }
            }
        };
        found.standard.extend(space.map(|start| start..unit.end));
        result
    }
}

impl<'a> Unit<'a> {
    /// The offset in the section that an attribute refers to.
    fn reference(&self, value: &AttributeValue<DieBytes<'a>>) -> Option<usize> {
        match *value {
            AttributeValue::UnitRef(UnitOffset(offset)) => self.at.checked_add(offset),
            AttributeValue::DebugInfoRef(offset) => Some(offset.0),
            _ => None,
        }
    }

    /// Where its numbered texts begin, by its first entry.
    fn text_base(&self, abbreviations: &Abbreviations) -> Option<DebugStrOffsetsBase<usize>> {
        let root = self.header.entry(abbreviations, self.header.root_offset()).ok()?;
        match root.attr_value(dw::DW_AT_str_offsets_base)? {
            AttributeValue::DebugStrOffsetsBase(base) => Some(base),
            _ => None,
        }
    }
}

fn value_of<'a>(attributes: &[Attribute<DieBytes<'a>>], name: DwAt) -> Option<AttributeValue<DieBytes<'a>>> {
    attributes.iter().find(|attribute| attribute.name() == name).map(Attribute::value)
}

fn encoding(value: &AttributeValue<DieBytes<'_>>) -> u64 {
    match value {
        AttributeValue::Encoding(encoding) => u64::from(encoding.0),
        _ => 0,
    }
}

/// A number of any size, as the bits of a value.
fn number(attribute: &Attribute<DieBytes<'_>>) -> Option<u128> {
    match attribute.raw_value() {
        AttributeValue::Block(block) if block.slice().len() <= 16 => {
            let mut bytes = [0; 16];
            bytes[..block.slice().len()].copy_from_slice(block.slice());
            Some(u128::from_le_bytes(bytes))
        }
        AttributeValue::Data16(bits) => Some(bits),
        AttributeValue::Sdata(number) => Some(number as i128 as u128),
        _ => attribute.udata_value().map(u128::from),
    }
}
