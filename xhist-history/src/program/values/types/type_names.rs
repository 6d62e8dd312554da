//! Names of types in debug information.

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
