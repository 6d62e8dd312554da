//! Reads values from the arguments of the compiler.

use std::ffi::OsString;
use std::path::Path;

/// The values of an option: `--option value`, `--option=value` and `-Cvalue`.
pub(crate) fn values_of<'a>(args: &'a [OsString], option: &'a str) -> impl Iterator<Item = OsString> + 'a {
    args.iter().enumerate().filter_map(move |(index, arg)| {
        if arg == option {
            return args.get(index + 1).cloned();
        }
        let rest = arg.to_str()?.strip_prefix(option)?;
        let value = if option.starts_with("--") { rest.strip_prefix('=')? } else { rest };
        Some(value.into())
    })
}

/// Arguments without those that say what is written and where.
pub(crate) fn without_output(args: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if text == "--emit" || text == "--out-dir" {
            words.next();
        } else if matches!(text.as_ref(), "-C" | "--codegen") {
            let value = words.next();
            if !value.is_some_and(|value| value.to_string_lossy().starts_with("incremental=")) {
                kept.extend([word.clone()].into_iter().chain(value.cloned()));
            }
        } else if !text.starts_with("--emit=") && !text.starts_with("-Cincremental=") {
            kept.push(word.clone());
        }
    }
    kept
}

/// An option with this path as its value: `--emit=metadata=` and a path.
pub(crate) fn with_path(option: &str, path: &Path) -> OsString {
    let mut option = OsString::from(option);
    option.push(path);
    option
}

/// The first value of an option.
pub(crate) fn value_of(args: &[OsString], option: &str) -> Option<OsString> {
    values_of(args, option).next()
}
