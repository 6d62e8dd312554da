//! Reads values from the arguments of the compiler.

use std::ffi::OsString;

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

/// The first value of an option.
pub(crate) fn value_of(args: &[OsString], option: &str) -> Option<OsString> {
    values_of(args, option).next()
}
