//! The rules of order that a user states: on the command line, in a file of rules, in comments of the source.

use std::fmt;

use xhist_history::options::selection::{Pattern, PatternError};

/// A rule about the order of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Each statement that matches the first pattern is followed by one that matches the second, before the next that matches the first.
    Expect(Pattern, Pattern),
    /// A function that matches is not entered again before it is left.
    Exclusive(Pattern),
}

/// Why a rule cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleError {
    /// It is not of the form `A..B`.
    Pair(String),
    /// One of its patterns cannot be read.
    Pattern(PatternError),
    /// A line of a file of rules starts with another word.
    Word(String),
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleError::Pair(text) => write!(f, "`{text}` is not of the form A..B"),
            RuleError::Pattern(error) => error.fmt(f),
            RuleError::Word(text) => write!(f, "`{text}`: a rule starts with `expect` or `exclusive`"),
        }
    }
}

impl std::error::Error for RuleError {}

impl Rule {
    /// Reads `A..B`.
    ///
    /// # Errors
    /// It is not a pair of patterns.
    pub fn expect(text: &str) -> Result<Rule, RuleError> {
        // A dot in front of the two would belong to either side.
        let pair = text.split_once("..").filter(|(first, _)| !first.trim_end().ends_with('.'));
        let (first, then) = pair.ok_or_else(|| RuleError::Pair(text.to_owned()))?;
        let pattern = |text| Pattern::parse(text).map_err(RuleError::Pattern);
        Ok(Rule::Expect(pattern(first)?, pattern(then)?))
    }

    /// Reads a pattern of functions.
    ///
    /// # Errors
    /// It is not a pattern.
    pub fn exclusive(text: &str) -> Result<Rule, RuleError> {
        Pattern::parse(text).map(Rule::Exclusive).map_err(RuleError::Pattern)
    }

    /// Reads `expect A..B` or `exclusive PATTERN`.
    ///
    /// # Errors
    /// It is another text.
    pub fn parse(line: &str) -> Result<Rule, RuleError> {
        match line.trim().split_once(char::is_whitespace) {
            Some(("expect", pair)) => Rule::expect(pair.trim()),
            Some(("exclusive", pattern)) => Rule::exclusive(pattern.trim()),
            _ => Err(RuleError::Word(line.trim().to_owned())),
        }
    }

    /// Reads a file of rules: one a line; `#` starts a comment.
    ///
    /// # Errors
    /// The number of the first line that cannot be read, and why.
    pub fn parse_all(text: &str) -> Result<Vec<Rule>, (usize, RuleError)> {
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let rules = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        rules.map(|(number, line)| Rule::parse(line).map_err(|error| (number, error))).collect()
    }

    /// Its patterns.
    pub fn patterns(&self) -> Vec<&Pattern> {
        match self {
            Rule::Expect(first, then) => vec![first, then],
            Rule::Exclusive(pattern) => vec![pattern],
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Expect(first, then) => write!(f, "expect {}..{}", first.text(), then.text()),
            Rule::Exclusive(pattern) => write!(f, "exclusive {}", pattern.text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in ["expect a.rs:3..a.rs:9", "expect Lock::take..Lock::give", "exclusive crit_section::add"]
        {
            assert_eq!(Rule::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Rule::parse("  expect  a .. b ").unwrap().to_string(), "expect a..b");
        assert_eq!(Rule::parse("exclusive src/a.rs:3-9").unwrap().to_string(), "exclusive src/a.rs:3-9");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_rule_or_an_error(text in "(expect |exclusive |)[a-z:./* \\-0-9]{0,30}|\\PC{0,20}") {
            if let Ok(rule) = Rule::parse(&text) {
                let again = Rule::parse(&rule.to_string());
                proptest::prop_assert_eq!(again, Ok(rule));
            }
            let _ = Rule::parse_all(&text);
        }
    }

    #[test]
    fn a_file_has_a_rule_a_line() {
        let rules = Rule::parse_all("# first\n\nexpect a..b\n  exclusive c\n").unwrap();
        assert_eq!(rules.iter().map(Rule::to_string).collect::<Vec<_>>(), ["expect a..b", "exclusive c"]);
        for (text, line, why) in [
            ("expect a", 1, "`a` is not of the form A..B"),
            ("expect . ..0", 1, "`. ..0` is not of the form A..B"),
            ("\nexpect ..b", 2, "`` is not a pattern: it is empty"),
            ("exclusive a\nallow b", 2, "`allow b`: a rule starts with `expect` or `exclusive`"),
            ("expect", 1, "`expect`: a rule starts with"),
        ] {
            let (at, error) = Rule::parse_all(text).unwrap_err();
            assert_eq!(at, line, "{text}");
            assert!(error.to_string().starts_with(why), "{error}");
        }
    }
}
