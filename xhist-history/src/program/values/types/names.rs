//! Types by the names in symbols, for programs without debug information.

use super::layout::{TargetLayout, TargetSpan, TypeLayout, TypeShape};

/// Most parts of an array or a tuple that a name is read for.
const NESTED: u32 = 8;

/// Longest symbol that is read.
const LONGEST: usize = 4096;

/// The type in the symbol of `of_type::<T>`, in Rust's spelling. The legacy mangling has none.
pub fn type_of_symbol(symbol: &str) -> Option<String> {
    if symbol.len() > LONGEST {
        return None;
    }
    // Compilers for some systems put an underscore before each symbol.
    let name = rustc_demangle::try_demangle(symbol).ok()?;
    let name = format!("{name:#}");
    let (_, arguments) = name.split_once("of_type::<")?;
    arguments.strip_suffix('>').map(str::to_owned)
}

/// A function or a type, in Rust's spelling.
pub fn demangled(symbol: &str) -> String {
    match symbol.len() <= LONGEST {
        true => format!("{:#}", rustc_demangle::demangle(symbol)),
        false => symbol.to_owned(),
    }
}

/// The layout of a type that its name alone describes: primitives, text, slices, arrays of them and pointers.
pub fn layout(name: &str, size: u64, word: u8) -> Option<TypeLayout> {
    let layout = named(name, word, NESTED)?;
    (layout.size == size).then_some(layout)
}

/// What the recorder keeps of values of a type instead of their own bytes, by its name: it knows the same types.
pub fn target(name: &str, word: u8) -> Option<TargetLayout> {
    if let Some(inner) = argument(name, "core::option::Option<") {
        return target(inner, word).map(|inner| TargetLayout::Some(Box::new(inner)));
    }
    if let "&&str" | "alloc::borrow::Cow<str>" = name {
        return Some(TargetLayout::Text);
    }
    let pointers = ["alloc::boxed::Box<", "alloc::rc::Rc<", "alloc::sync::Arc<"];
    let to = name.strip_prefix('&').map(|to| to.strip_prefix("mut ").unwrap_or(to));
    let to = to.or_else(|| pointers.iter().find_map(|pointer| argument(name, pointer)));
    owned(to.unwrap_or(name), word).or_else(|| content(to?, word))
}

/// What owners have in memory of their own.
fn owned(name: &str, word: u8) -> Option<TargetLayout> {
    match name {
        "alloc::string::String" | "std::path::PathBuf" | "std::ffi::os_str::OsString" => {
            Some(TargetLayout::Text)
        }
        _ => scalar(argument(name, "alloc::vec::Vec<")?, word).map(TargetLayout::Elements),
    }
}

/// What only pointers lead to.
fn content(name: &str, word: u8) -> Option<TargetLayout> {
    match name {
        "str" | "std::path::Path" | "std::ffi::os_str::OsStr" => Some(TargetLayout::Text),
        _ => match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(element) => scalar(element, word).map(TargetLayout::Elements),
            None => scalar(name, word).map(TargetLayout::Value),
        },
    }
}

/// The first argument of a generic type, without the allocator behind it.
fn argument<'a>(name: &'a str, start: &str) -> Option<&'a str> {
    let arguments = name.strip_prefix(start)?.strip_suffix('>')?;
    let arguments = arguments.strip_suffix(", alloc::alloc::Global").unwrap_or(arguments);
    Some(arguments.trim_end_matches(", _"))
}

/// A number, a `bool` or a `char`.
fn scalar(name: &str, word: u8) -> Option<TypeLayout> {
    let is_scalar = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_scalar { named(name, word, NESTED) } else { None }
}

fn named(name: &str, word: u8, depth: u32) -> Option<TypeLayout> {
    let depth = depth.checked_sub(1)?;
    let wide = u64::from(word);
    let number = |size, shape| Some(TypeLayout { size, shape });
    let span = |pointer, length, owner, element: Option<TypeLayout>| {
        let (size, element) = (length + wide, element.map(Box::new));
        Some(TypeLayout {
            size,
            shape: TypeShape::Span(TargetSpan { pointer, length, word, owner, element }),
        })
    };
    match name {
        "u8" => return number(1, TypeShape::Unsigned),
        "u16" => return number(2, TypeShape::Unsigned),
        "u32" => return number(4, TypeShape::Unsigned),
        "u64" => return number(8, TypeShape::Unsigned),
        "u128" => return number(16, TypeShape::Unsigned),
        "usize" => return number(wide, TypeShape::Unsigned),
        "i8" => return number(1, TypeShape::Signed),
        "i16" => return number(2, TypeShape::Signed),
        "i32" => return number(4, TypeShape::Signed),
        "i64" => return number(8, TypeShape::Signed),
        "i128" => return number(16, TypeShape::Signed),
        "isize" => return number(wide, TypeShape::Signed),
        "f32" => return number(4, TypeShape::Float),
        "f64" => return number(8, TypeShape::Float),
        "bool" => return number(1, TypeShape::Bool),
        "char" => return number(4, TypeShape::Char),
        "()" => return Some(TypeLayout::named("()")),
        "&str" | "&mut str" => return span(0, wide, "", None),
        _ => {}
    }
    if let Some(to) = name.strip_prefix('&') {
        let to = to.strip_prefix("mut ").unwrap_or(to);
        return match to.strip_prefix('[').and_then(|to| to.strip_suffix(']')) {
            Some(element) if !element.contains(';') => span(0, wide, "", named(element, word, depth)),
            _ => number(wide, TypeShape::Pointer(word)).filter(|_| is_thin(to)),
        };
    }
    let raw = name.strip_prefix("*const ").or_else(|| name.strip_prefix("*mut "));
    if raw.is_some_and(is_thin) {
        return number(wide, TypeShape::Pointer(word));
    }
    let (element, count) = name.strip_prefix('[')?.strip_suffix(']')?.rsplit_once("; ")?;
    let (element, count) = (named(element, word, depth)?, count.parse().ok()?);
    let size = element.size.checked_mul(count)?;
    Some(TypeLayout { size, shape: TypeShape::Array(Box::new(element), count) })
}

/// Whether a pointer to this type has no second word, as far as the name says.
fn is_thin(to: &str) -> bool {
    let is_slice = to.starts_with('[') && !to.contains(';');
    !is_slice && !to.starts_with("dyn ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_name_types() {
        let symbol = "_RINvNtNtNtCs7D66P91j4pS_5kinds8xhist_rt5value5types7of_typeThTcbEEEB8_";
        assert_eq!(type_of_symbol(symbol).as_deref(), Some("(u8, (char, bool))"));
        assert_eq!(type_of_symbol("_ZN5kinds7of_type17h0123456789abcdefE"), None);
        assert_eq!(type_of_symbol("nonsense"), None);
    }

    #[test]
    fn names_say_what_is_recorded_behind_a_value() {
        let of = |name| target(name, 8);
        for name in [
            "&str",
            "&mut str",
            "&&str",
            "alloc::string::String",
            "&mut alloc::string::String",
            "alloc::rc::Rc<str>",
            "alloc::boxed::Box<alloc::string::String>",
            "alloc::borrow::Cow<str>",
            "&std::path::PathBuf",
            "alloc::boxed::Box<str, alloc::alloc::Global>",
        ] {
            assert_eq!(of(name), Some(TargetLayout::Text), "{name}");
        }
        let number = |name| named(name, 8, 1).unwrap();
        for name in
            ["&[u16]", "alloc::vec::Vec<u16>", "&mut alloc::vec::Vec<u16, _>", "alloc::sync::Arc<[u16]>"]
        {
            assert_eq!(of(name), Some(TargetLayout::Elements(number("u16"))), "{name}");
        }
        for name in ["&f64", "alloc::boxed::Box<f64>"] {
            assert_eq!(of(name), Some(TargetLayout::Value(number("f64"))), "{name}");
        }
        let some = |target| Some(TargetLayout::Some(Box::new(target)));
        assert_eq!(of("core::option::Option<&str>"), some(TargetLayout::Text));
        for name in [
            "u8",
            "str",
            "[u8]",
            "&()",
            "&[u8; 3]",
            "&a::String",
            "a::String",
            "alloc::vec::Vec<a::B>",
            "&",
            "",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }

    #[test]
    fn names_of_primitives_have_layouts() {
        for (name, size) in
            [("u8", 1), ("[u16; 5]", 10), ("&str", 16), ("&[u8]", 16), ("*const u8", 8), ("()", 0)]
        {
            assert!(layout(name, size, 8).is_some(), "{name}");
            assert_eq!(layout(name, size + 1, 8), None, "{name}");
        }
        assert_eq!(layout("&dyn a::B", 16, 8), None);
        assert_eq!(layout(&format!("{}u8{}", "[".repeat(99), "; 1]".repeat(99)), 1, 8), None);
    }
}
