//! Reads values from the arguments of the compiler.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

use tempfile::NamedTempFile;

use crate::system::LONGEST_COMMAND;

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

/// Gives arguments to a compiler. What is too long for a command line of this system is in a file in `directory`, which the
/// caller keeps until the compiler has ended.
pub(crate) fn pass(
    command: &mut Command,
    args: &[OsString],
    directory: &Path,
) -> io::Result<Option<NamedTempFile>> {
    let len: usize = args.iter().map(|arg| arg.len() + 3).sum();
    if LONGEST_COMMAND.is_none_or(|longest| len <= longest) {
        command.args(args);
        return Ok(None);
    }
    let mut file = tempfile::Builder::new().prefix("args-").tempfile_in(directory)?;
    file.write_all(lines(args)?.as_bytes())?;
    command.arg(with_path("@", file.path()));
    Ok(Some(file))
}

/// A line for each argument, as the compiler reads them from a file.
fn lines(args: &[OsString]) -> io::Result<String> {
    let line = |arg: &OsString| arg.to_str().filter(|arg| !arg.contains('\n')).map(|arg| format!("{arg}\n"));
    let lines: Option<String> = args.iter().map(line).collect();
    lines.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "an argument is no line of text"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_line_for_each_argument() {
        let args = ["--cfg", "feature=\"a b\"", "@x"].map(OsString::from);
        assert_eq!(lines(&args).ok().as_deref(), Some("--cfg\nfeature=\"a b\"\n@x\n"));
        assert!(lines(&["a\nb".into()]).is_err());
    }
}
