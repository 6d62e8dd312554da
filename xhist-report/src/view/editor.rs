//! The editor of the user: `$VISUAL`, else `$EDITOR`, else `vi`, or `notepad` on Windows.

use std::ffi::OsString;
use std::path::Path;

/// Editors that want `FILE:LINE`, and the option before it. Others understand `+LINE FILE`.
const WITH_COLON: &[(&str, Option<&str>)] = &[
    ("code", Some("--goto")),
    ("code-insiders", Some("--goto")),
    ("codium", Some("--goto")),
    ("hx", None),
    ("helix", None),
    ("subl", None),
    ("zed", None),
];

/// The words of the command that opens a file at a line.
pub fn command(variable: &dyn Fn(&str) -> Option<OsString>, file: &Path, line: u32) -> Vec<OsString> {
    let is_set = |value: &OsString| !value.to_string_lossy().trim().is_empty();
    let chosen = ["VISUAL", "EDITOR"].iter().find_map(|name| variable(name).filter(is_set));
    let default = if cfg!(windows) { "notepad" } else { "vi" };
    let chosen = chosen.unwrap_or_else(|| default.into()).to_string_lossy().into_owned();
    let mut words: Vec<OsString> = chosen.split_whitespace().map(OsString::from).collect();
    // Windows has `.exe` or `.cmd` behind it.
    let program = Path::new(&words[0]).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match WITH_COLON.iter().find(|(name, _)| *name == program) {
        Some((_, option)) => {
            words.extend(option.map(OsString::from));
            let mut place = file.as_os_str().to_owned();
            place.push(format!(":{line}"));
            words.push(place);
        }
        // It opens no line.
        None if program == "notepad" => words.push(file.as_os_str().to_owned()),
        None => words.extend([OsString::from(format!("+{line}")), file.as_os_str().to_owned()]),
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_open_at_the_line() {
        let with = |visual: &str, editor: &str| {
            let variable = |name: &str| Some(OsString::from(if name == "VISUAL" { visual } else { editor }));
            let words = command(&variable, Path::new("/a b.rs"), 7);
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join("|")
        };
        assert_eq!(with("", "nano -w"), "nano|-w|+7|/a b.rs");
        assert_eq!(with("/usr/bin/code --wait", "vi"), "/usr/bin/code|--wait|--goto|/a b.rs:7");
        assert_eq!(with("hx", ""), "hx|/a b.rs:7");
        assert_eq!(with(" ", ""), "vi|+7|/a b.rs");
    }
}
