//! Layouts from debug information. Whatever does not fit in its type makes the type opaque.

use std::ops::Range;

use gimli::constants as dw;

use super::dies::{Die, Dies};
use super::layout::{Collection, Field, Fields, Tag, TargetSpan, TypeLayout, TypeShape, Variant};
use super::type_names;

/// Types in types.
const DEPTH: u32 = 12;

/// Types that one layout is made of.
const PARTS: u32 = 512;

/// Entries that are read for one layout.
const READS: u32 = 4 * PARTS;

/// Makes layouts.
pub struct Layouts<'d, 'a> {
    /// The entries.
    dies: &'d Dies<'a>,
    /// Offsets of the standard library, in their order.
    standard: &'d [Range<usize>],
    /// Bytes of an address.
    pub word: u8,
    /// Types that this layout may still have.
    left: u32,
    /// Entries that may still be read for it.
    reads: u32,
}

impl<'d, 'a> Layouts<'d, 'a> {
    /// For programs with addresses of `word` bytes.
    pub fn new(dies: &'d Dies<'a>, standard: &'d [Range<usize>], word: u8) -> Layouts<'d, 'a> {
        Layouts { dies, standard, word, left: 0, reads: 0 }
    }

    /// The layout of the type at an offset, and its name.
    pub fn layout(&mut self, at: usize) -> Option<(TypeLayout, String)> {
        (self.left, self.reads) = (PARTS, READS);
        let die = self.read(at)?;
        let name = die.name.clone();
        Some((self.shape(&die, 0), name))
    }

    /// The layout of the type that values of the one at an offset point to.
    pub fn pointee(&mut self, at: usize) -> Option<TypeLayout> {
        (self.left, self.reads) = (PARTS, READS);
        let pointer = self.read(at).filter(is_pointer)?;
        self.layout(pointer.of?).map(|(layout, _)| layout)
    }

    /// The entry at an offset.
    pub fn read(&mut self, at: usize) -> Option<Die> {
        self.reads = self.reads.checked_sub(1)?;
        self.dies.die(at)
    }

    /// The layout of the type of a part.
    pub fn of(&mut self, at: Option<usize>, depth: u32) -> TypeLayout {
        // The type has no end, or too many parts.
        if depth > DEPTH || self.left == 0 {
            let size = at.and_then(|at| self.read(at)).and_then(|die| die.size).unwrap_or(0);
            return TypeLayout { size, shape: TypeShape::Deep };
        }
        match at.and_then(|at| self.read(at)) {
            Some(die) => self.shape(&die, depth),
            None => TypeLayout::opaque(0),
        }
    }

    fn shape(&mut self, die: &Die, depth: u32) -> TypeLayout {
        self.left = self.left.saturating_sub(1);
        let size = die.size.unwrap_or(0);
        let layout = match die.tag.0 {
            dw::DW_TAG_base_type => base(die, size),
            _ if is_pointer(die) => return self.pointer(die),
            dw::DW_TAG_subroutine_type => TypeLayout { size: 0, shape: TypeShape::Opaque },
            dw::DW_TAG_enumeration_type => {
                let named = die.below.iter().filter(|one| one.tag.0 == dw::DW_TAG_enumerator);
                let codes = named.filter_map(|one| Some((masked(one.value?, size), one.name.clone())));
                TypeLayout { size, shape: TypeShape::Codes(codes.collect()) }
            }
            dw::DW_TAG_array_type => self.array(die, depth),
            dw::DW_TAG_structure_type | dw::DW_TAG_union_type | dw::DW_TAG_class_type => {
                self.structure(die, size, depth)
            }
            dw::DW_TAG_typedef | dw::DW_TAG_const_type | dw::DW_TAG_volatile_type => {
                self.of(die.of, depth + 1)
            }
            _ => TypeLayout::opaque(size),
        };
        match is_sound(&layout) {
            true => layout,
            false => TypeLayout::opaque(size),
        }
    }

    fn pointer(&mut self, die: &Die) -> TypeLayout {
        let to = die.of.and_then(|at| self.read(at));
        let is_function = to.is_some_and(|to| to.tag.0 == dw::DW_TAG_subroutine_type);
        let shape = if is_function { TypeShape::Function } else { TypeShape::Pointer(self.word) };
        TypeLayout { size: die.size.unwrap_or(u64::from(self.word)), shape }
    }

    fn array(&mut self, die: &Die, depth: u32) -> TypeLayout {
        let element = self.of(die.of, depth + 1);
        let range = die.below.iter().find(|one| one.tag.0 == dw::DW_TAG_subrange_type);
        let count = range.and_then(|range| range.count).unwrap_or(0);
        match element.size.checked_mul(count) {
            Some(size) => TypeLayout { size, shape: TypeShape::Array(Box::new(element), count) },
            None => TypeLayout::opaque(die.size.unwrap_or(0)),
        }
    }

    fn structure(&mut self, die: &Die, size: u64, depth: u32) -> TypeLayout {
        let is_standard = self.is_standard(die.at);
        if let Some(span) = self.span(die, depth) {
            return TypeLayout { size, shape: TypeShape::Span(span) };
        }
        if is_trait_object(die) {
            return TypeLayout { size, shape: TypeShape::Pointer(self.word) };
        }
        if is_standard && let Some(layout) = known(self, die, size, depth) {
            return layout;
        }
        if let Some(part) = die.below.iter().find(|one| one.tag.0 == dw::DW_TAG_variant_part) {
            return TypeLayout { size, shape: self.variants(part, depth).unwrap_or(TypeShape::Opaque) };
        }
        let mut members = self.members(die, depth);
        if is_standard {
            // Markers and allocators say nothing.
            members.retain(|member| member.layout.size > 0);
            if let [member] = &members[..]
                && member.at == 0
                && member.layout.size == size
            {
                return members.remove(0).layout;
            }
        }
        let name = type_names::short(&die.name);
        TypeLayout { size, shape: TypeShape::Fields(Fields { name, fields: members }) }
    }

    /// The parts of a structure.
    pub fn members(&mut self, die: &Die, depth: u32) -> Vec<Field> {
        let members = die.below.iter().filter(|one| one.tag.0 == dw::DW_TAG_member);
        let member = |member: &Die| {
            let name = member.name.strip_prefix("_ref__").unwrap_or(&member.name).to_owned();
            Field { name, at: member.location, layout: self.of(member.of, depth + 1) }
        };
        members.map(member).collect()
    }

    /// Wide pointers to text and to slices.
    fn span(&mut self, die: &Die, depth: u32) -> Option<TargetSpan> {
        let member =
            |name: &str| die.below.iter().find(|one| one.tag.0 == dw::DW_TAG_member && one.name == name);
        let (pointer, length) = (member("data_ptr")?, member("length")?);
        let is_text = type_names::is_text(&die.name);
        let element = match is_text {
            true => None,
            false => {
                let to = pointer.of.and_then(|at| self.read(at))?.of;
                Some(Box::new(self.of(to, depth + 1)))
            }
        };
        let (word, owner) = (self.word, "");
        Some(TargetSpan { pointer: pointer.location, length: length.location, word, owner, element })
    }

    fn variants(&mut self, part: &Die, depth: u32) -> Option<TypeShape> {
        let tag = match part.tag_at {
            None => None,
            Some(at) => {
                let tag = self.read(at)?;
                let size = self.of(tag.of, depth + 1).size;
                (1..=16).contains(&size).then_some(Tag { at: tag.location, size }).map(Some)?
            }
        };
        let mut variants = Vec::new();
        for variant in part.below.iter().filter(|one| one.tag.0 == dw::DW_TAG_variant) {
            let member = variant.below.iter().find(|one| one.tag.0 == dw::DW_TAG_member)?;
            if variant.has_list {
                return None;
            }
            let of = self.read(member.of?)?;
            // The standard library's own variants are plain structures, too.
            let fields = Fields { name: of.name.clone(), fields: self.members(&of, depth) };
            let layout = TypeLayout { size: of.size.unwrap_or(0), shape: TypeShape::Fields(fields) };
            let layout = if is_sound(&layout) { layout } else { TypeLayout::opaque(layout.size) };
            let value = tag.and_then(|tag| variant.value.map(|value| masked(value, tag.size)));
            variants.push(Variant { tag: value, at: member.location, layout });
        }
        if tag.is_none() {
            // Of several variants without a tag, all but one have no values.
            variants.retain(|variant| !is_empty(&variant.layout));
        }
        Some(TypeShape::Variants(tag, variants))
    }

    /// Whether the standard library declares it.
    fn is_standard(&self, at: usize) -> bool {
        let index = self.standard.partition_point(|range| range.start <= at);
        index.checked_sub(1).is_some_and(|index| self.standard[index].contains(&at))
    }
}

fn is_pointer(die: &Die) -> bool {
    matches!(die.tag.0, dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type)
}

/// Whether it is a pointer to a trait object, which has nothing but its two pointers.
fn is_trait_object(die: &Die) -> bool {
    let members = die.below.iter().filter(|one| one.tag.0 == dw::DW_TAG_member);
    members
        .map(|one| (one.name.as_str(), one.location))
        .eq([("pointer", 0), ("vtable", die.size.unwrap_or(0) / 2)])
}

/// Whether a type has no values.
fn is_empty(layout: &TypeLayout) -> bool {
    match &layout.shape {
        TypeShape::Variants(_, variants) => variants.is_empty(),
        TypeShape::Fields(fields) => fields.fields.iter().any(|field| is_empty(&field.layout)),
        _ => false,
    }
}

/// The low bytes of a number.
fn masked(value: u128, size: u64) -> u128 {
    match size {
        0..16 => value & ((1 << (8 * size)) - 1),
        _ => value,
    }
}

fn base(die: &Die, size: u64) -> TypeLayout {
    let shape = match (gimli::DwAte(die.encoding as u8), size) {
        (_, 0) if die.name == "!" => TypeShape::Variants(None, Vec::new()),
        (_, 0) => return TypeLayout::named(&die.name),
        (dw::DW_ATE_boolean, 1) => TypeShape::Bool,
        (dw::DW_ATE_UTF, 4) => TypeShape::Char,
        (dw::DW_ATE_float, 4 | 8) => TypeShape::Float,
        (dw::DW_ATE_signed | dw::DW_ATE_signed_char, 1..=16) => TypeShape::Signed,
        (dw::DW_ATE_unsigned | dw::DW_ATE_unsigned_char, 1..=16) => TypeShape::Unsigned,
        _ => TypeShape::Opaque,
    };
    TypeLayout { size, shape }
}

/// Whether all parts are in the type.
fn is_sound(layout: &TypeLayout) -> bool {
    let size = layout.size;
    let word = |at: u64, bytes: u64| at.checked_add(bytes).is_some_and(|end| end <= size);
    match &layout.shape {
        TypeShape::Fields(fields) => fields.fields.iter().all(|field| field.layout.fits(field.at, size)),
        TypeShape::Range(ends) => ends.iter().all(|end| end.layout.fits(end.at, size)),
        TypeShape::Variants(tag, variants) => {
            tag.is_none_or(|tag| word(tag.at, tag.size))
                && (tag.is_some() || variants.len() <= 1)
                && variants.iter().all(|variant| variant.layout.fits(variant.at, size))
        }
        TypeShape::Span(span) => [span.pointer, span.length].iter().all(|at| word(*at, u64::from(span.word))),
        TypeShape::Duration => size >= 12,
        TypeShape::Collection(of) => word(of.length, u64::from(of.word)),
        _ => true,
    }
}

/// The layout of a type of the standard library that is shown as its users see it.
fn known(layouts: &mut Layouts<'_, '_>, die: &Die, size: u64, depth: u32) -> Option<TypeLayout> {
    let name = type_names::short(&die.name);
    let shape = match &*name {
        "Duration" if size == 16 && is_duration(die) => TypeShape::Duration,
        "Range" => TypeShape::Range(Box::new(ends(layouts, die, depth)?)),
        "Vec" => TypeShape::Span(vector(layouts, die, depth)?),
        "String" => {
            let vector = layouts.read(member(die, "vec")?.of?)?;
            let pointer = place(layouts, &vector, &["buf", "inner", "ptr"])?;
            let (length, word) = (place(layouts, &vector, &["len"])?, layouts.word);
            TypeShape::Span(TargetSpan { pointer, length, word, owner: "String", element: None })
        }
        _ => {
            let (name, path) = COLLECTIONS.iter().find(|(known, _)| *known == name)?;
            let (length, word) = (place(layouts, die, path)?, layouts.word);
            TypeShape::Collection(Collection { name, length, word })
        }
    };
    let layout = TypeLayout { size, shape };
    Some(layout)
}

/// Collections, and the member with the number of their elements.
const COLLECTIONS: [(&str, &[&str]); 6] = [
    ("HashMap", &["base", "table", "table", "items"]),
    ("HashSet", &["base", "map", "table", "table", "items"]),
    ("BTreeMap", &["length"]),
    ("BTreeSet", &["map", "length"]),
    ("VecDeque", &["len"]),
    ("LinkedList", &["len"]),
];

fn member<'d>(die: &'d Die, name: &str) -> Option<&'d Die> {
    die.below.iter().find(|one| one.tag.0 == dw::DW_TAG_member && one.name == name)
}

/// Seconds first, then nanoseconds.
fn is_duration(die: &Die) -> bool {
    let at = |name| member(die, name).map(|member| member.location);
    at("secs") == Some(0) && at("nanos") == Some(8)
}

fn ends(layouts: &mut Layouts<'_, '_>, die: &Die, depth: u32) -> Option<[Field; 2]> {
    let fields = layouts.members(die, depth);
    let ends: [Field; 2] = fields.try_into().ok()?;
    (ends[0].name == "start" && ends[1].name == "end").then_some(ends)
}

/// Where a member of a member is.
fn place(layouts: &mut Layouts<'_, '_>, die: &Die, path: &[&str]) -> Option<u64> {
    let (first, rest) = path.split_first()?;
    let member = member(die, first)?;
    match rest {
        [] => Some(member.location),
        rest => {
            let below = layouts.read(member.of?)?;
            let inner = place(layouts, &below, rest)?;
            member.location.checked_add(inner)
        }
    }
}

fn vector(layouts: &mut Layouts<'_, '_>, die: &Die, depth: u32) -> Option<TargetSpan> {
    let pointer = place(layouts, die, &["buf", "inner", "ptr"])?;
    let length = place(layouts, die, &["len"])?;
    let parameter = die.below.iter().find(|one| one.tag.0 == dw::DW_TAG_template_type_parameter)?;
    let element = Some(Box::new(layouts.of(parameter.of, depth + 1)));
    Some(TargetSpan { pointer, length, word: layouts.word, owner: "Vec", element })
}
