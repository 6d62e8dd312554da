//! Rules in comments of a source: `// xhist exclusive TRUE` .. `FALSE`, and `// xhist expect A..B`, alone on their lines.

use super::rule::{Rule, RuleError};

/// What the comments of a source say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// Sections that must not be entered again before they are left: the lines of the comments around each.
    pub exclusive: Vec<(u32, u32)>,
    /// Other rules, each with its line.
    pub rules: Vec<(u32, Rule)>,
    /// Comments that cannot be read.
    pub errors: Vec<(u32, RuleError)>,
}

impl Directives {
    /// Reads the lines of a source, trimmed.
    pub fn read<'l>(lines: impl Iterator<Item = &'l str>) -> Directives {
        let mut found = Directives::default();
        let mut since = None;
        let mut last = 0;
        for (number, line) in (1u32..).zip(lines) {
            last = number;
            let Some(text) = directive(line) else { continue };
            match text.split_once(char::is_whitespace).map(|(word, rest)| (word, rest.trim())) {
                Some(("exclusive", value)) if value.eq_ignore_ascii_case("true") => {
                    since.get_or_insert(number);
                }
                Some(("exclusive", value)) if value.eq_ignore_ascii_case("false") => {
                    found.exclusive.extend(since.take().map(|start| (start, number)));
                }
                Some(("expect", pair)) => match Rule::expect(pair) {
                    Ok(rule) => found.rules.push((number, rule)),
                    Err(error) => found.errors.push((number, error)),
                },
                Some(("exclusive", value)) => {
                    found.errors.push((number, RuleError::Word(format!("exclusive {value}"))));
                }
                _ => {}
            }
        }
        found.exclusive.extend(since.map(|start| (start, last + 1)));
        found
    }
}

/// The words behind `xhist` in a comment.
fn directive(line: &str) -> Option<&str> {
    let line = line.trim();
    let comment = match line.strip_prefix("//") {
        Some(comment) => comment,
        None => line.strip_prefix("/*")?.strip_suffix("*/")?,
    };
    let rest = comment.trim().strip_prefix("xhist")?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Directives {
        Directives::read(text.lines())
    }

    #[test]
    fn sections_and_rules_are_read_from_comments() {
        let found = read(
            "// xhist exclusive TRUE\nfn f() {}\n  /* xhist exclusive false */\n// xhist expect a.rs:1..a.rs:2\n\
             // xhist exclusive TRUE\n// xhist instrument FALSE\nx(); // xhist exclusive FALSE\n//xhistexclusive FALSE",
        );
        assert_eq!(found.exclusive, [(1, 3), (5, 9)]);
        assert_eq!(
            found.rules.iter().map(|(line, rule)| (*line, rule.to_string())).collect::<Vec<_>>(),
            [(4, "expect a.rs:1..a.rs:2".to_owned())]
        );
        assert!(found.errors.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_kept_with_its_line() {
        let found = read("\n// xhist expect a\n// xhist exclusive maybe");
        assert_eq!(found.errors.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3]);
    }
}
