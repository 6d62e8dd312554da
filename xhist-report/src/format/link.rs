//! Hyperlinks of terminals (OSC 8): whether the terminal takes them, and how a place becomes one.

use std::fmt::Write as _;
use std::path::Path;

/// Whether places are links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links(bool);

impl Links {
    /// Links for the terminal that these variables describe. Other terminals would show the sequence as text.
    pub fn of_terminal(variable: &dyn Fn(&str) -> Option<String>) -> Links {
        let is_one =
            |name: &str, known: &[&str]| variable(name).is_some_and(|value| known.contains(&value.as_str()));
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        if let Some(forced) = variable("FORCE_HYPERLINK") {
            return Links(forced.trim() != "0");
        }
        let version = variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
        let programs = ["Hyper", "iTerm.app", "terminology", "WezTerm", "vscode", "ghostty", "zed", "tabby"];
        let terminals = ["xterm-kitty", "xterm-ghostty", "alacritty", "alacritty-direct", "foot", "wezterm"];
        let takes = version.is_some_and(|version| version >= 5000)
            || is_one("TERM_PROGRAM", &programs)
            || is_one("TERM", &terminals)
            || is_one("COLORTERM", &["xfce4-terminal"])
            || ["DOMTERM", "WT_SESSION", "KONSOLE_VERSION"].into_iter().any(is_set);
        Links(takes && !is_one("TERM", &["dumb"]))
    }

    /// The text as a link to a line of a file.
    pub fn linked(self, text: &str, file: Option<&Path>, line: u32) -> String {
        match file.filter(|_| self.0) {
            Some(file) => format!("\u{1b}]8;;{}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\", url(file, line)),
            None => text.to_owned(),
        }
    }
}

/// `file:///home/a/src/main.rs#12`. Any byte that means something in a URL or to a terminal is escaped.
fn url(file: &Path, line: u32) -> String {
    let mut url = "file://".to_owned();
    for byte in file.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'+' => {
                url.push(char::from(*byte));
            }
            _ => _ = write!(url, "%{byte:02X}"),
        }
    }
    let _ = write!(url, "#{line}");
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(variables: &[(&str, &str)]) -> bool {
        let value = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Links::of_terminal(&value).0
    }

    #[test]
    fn only_known_terminals_get_links() {
        assert!(links(&[("VTE_VERSION", "7200")]) && links(&[("TERM", "xterm-kitty")]));
        assert!(links(&[("TERM_PROGRAM", "WezTerm")]) && links(&[("FORCE_HYPERLINK", "1")]));
        assert!(!links(&[]) && !links(&[("TERM", "xterm-256color")]) && !links(&[("VTE_VERSION", "4600")]));
        assert!(!links(&[("VTE_VERSION", "7200"), ("FORCE_HYPERLINK", "0")]));
        assert!(!links(&[("VTE_VERSION", "7200"), ("TERM", "dumb")]));
    }

    #[test]
    fn nothing_in_a_path_reaches_the_terminal() {
        let path = Path::new("/a b/\u{1b}]8;;x\u{7}/ü.rs");
        let link = Links(true).linked("ü.rs:3", Some(path), 3);
        assert_eq!(
            link,
            "\u{1b}]8;;file:///a%20b/%1B%5D8%3B%3Bx%07/%C3%BC.rs#3\u{1b}\\ü.rs:3\u{1b}]8;;\u{1b}\\"
        );
        assert_eq!(Links(true).linked("a", None, 1), "a");
        assert_eq!(Links(false).linked("a", Some(path), 1), "a");
    }
}
