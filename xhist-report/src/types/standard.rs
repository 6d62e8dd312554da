//! Types of the standard library that are shown as their users see them.

use gimli::constants as dw;

use super::dies::Die;
use super::dwarf::Layouts;
use super::layout::{Field, TargetSpan, TypeLayout, TypeShape};

/// Names before generic arguments: `Data` of `Data<u8>`, nothing of a tuple.
pub fn short(name: &str) -> String {
    match name.as_bytes().first() {
        Some(b'(') => String::new(),
        // All closures and futures of a function have names of the compiler.
        Some(b'{') if name.starts_with("{closure") => "{closure}".to_owned(),
        _ => name.split('<').next().unwrap_or_default().to_owned(),
    }
}

/// Whether a wide pointer is one to text, by the name of its type.
pub fn is_text(name: &str) -> bool {
    let to = name.trim_start_matches("&mut ").trim_start_matches('&');
    let to = to.trim_start_matches("*const ").trim_start_matches("*mut ");
    let inner = to.split_once('<').map_or(to, |(_, inner)| inner);
    ["str", "std::path::Path", "std::ffi::os_str::OsStr"].iter().any(|text| {
        inner.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with([',', '>']))
    })
}

/// The layout of a type with a meaning of its own.
pub fn known(layouts: &mut Layouts<'_, '_>, die: &Die, size: u64, depth: u32) -> Option<TypeLayout> {
    let name = short(&die.name);
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
        _ => return None,
    };
    let layout = TypeLayout { size, shape };
    Some(layout)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_pointers_to_text_are_known_by_name() {
        for name in
            ["&str", "&mut str", "*const str", "alloc::boxed::Box<str, alloc::alloc::Global>", "Rc<str>"]
        {
            assert!(is_text(name), "{name}");
        }
        for name in ["&[u8]", "&dyn a::str", "&strange", "&[str; 3]"] {
            assert!(!is_text(name), "{name}");
        }
    }

    #[test]
    fn names_are_without_arguments() {
        assert_eq!(short("Data<u8, b::C<d>>"), "Data");
        assert_eq!(short("(u8, b::C<d>)"), "");
        assert_eq!(short("{closure_env#3}<u8>"), "{closure}");
    }
}
