//! What the compiler has to keep so that a report can show values: debug information, and names of symbols that hold types.

use std::ffi::OsString;

use crate::wrapper::rustc_args::values_of;

/// Options for a crate that is compiled with these arguments, where those keep less than is needed. The last option of a
/// name wins.
pub(crate) fn options(args: &[OsString]) -> Vec<&'static str> {
    let chosen = |name: &str| {
        let values = values_of(args, "-C").chain(values_of(args, "--codegen"));
        let of_name = values.filter_map(|value| {
            let value = value.into_string().ok()?;
            Some(value.strip_prefix(name)?.strip_prefix('=')?.to_owned())
        });
        of_name.last().unwrap_or_default()
    };
    let is_full = matches!(chosen("debuginfo").as_str(), "2" | "full") || args.iter().any(|arg| arg == "-g");
    let mut options = Vec::new();
    let mut add = |is_needed: bool, option: &'static str| {
        if is_needed {
            options.extend(["-C", option]);
        }
    };
    add(!is_full, "debuginfo=2");
    add(!matches!(chosen("strip").as_str(), "" | "none"), "strip=none");
    add(!matches!(chosen("split-debuginfo").as_str(), "" | "off"), "split-debuginfo=off");
    add(chosen("symbol-mangling-version") != "v0", "symbol-mangling-version=v0");
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_asked_for() {
        let of = |line: &str| options(&line.split(' ').map(OsString::from).collect::<Vec<_>>()).join(" ");
        let v0 = "-C symbol-mangling-version=v0";
        assert_eq!(of("--crate-name a -C debuginfo=2"), v0);
        assert_eq!(of("--crate-name a -g -Csymbol-mangling-version=v0"), "");
        assert_eq!(of("-C opt-level=3 -C strip=debuginfo"), format!("-C debuginfo=2 -C strip=none {v0}"));
        assert_eq!(of("-Cdebuginfo=2 -C debuginfo=1"), format!("-C debuginfo=2 {v0}"));
        assert_eq!(
            of("-Cdebuginfo=full --codegen split-debuginfo=packed"),
            format!("-C split-debuginfo=off {v0}")
        );
    }
}
