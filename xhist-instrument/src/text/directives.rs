//! `// xhist instrument FALSE` .. `TRUE`, `// xhist values FALSE` .. `TRUE` and `// xhist debug TRUE` .. `FALSE`, alone on their lines.

use std::ops::Range;

/// The lines that the directives of a file switch.
#[derive(Default)]
pub(crate) struct Directives {
    /// Line ranges whose statements are skipped, in order.
    pub off: Vec<Range<u32>>,
    /// Line ranges whose values are not recorded, in order.
    pub without_values: Vec<Range<u32>>,
    /// Line ranges with debug notes, in order.
    pub debug: Vec<Range<u32>>,
    /// Instrumentation is off from before the first code to the end of the file.
    pub whole_file: bool,
}

/// One directive: a switch and its new value.
pub(crate) struct Directive {
    line: u32,
    switch: DirectiveSwitch,
    on: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum DirectiveSwitch {
    Instrument,
    Values,
    Debug,
}

impl Directives {
    /// Evaluates directives, sorted by line, of a file whose first code is on line `code`.
    pub fn new(found: &[Directive], code: u32) -> Self {
        let off = ranges(found, DirectiveSwitch::Instrument, false);
        let whole_file = matches!(off.as_slice(), [all] if all.start < code && all.end == u32::MAX);
        let without_values = ranges(found, DirectiveSwitch::Values, false);
        Self { off, without_values, debug: ranges(found, DirectiveSwitch::Debug, true), whole_file }
    }

    /// Whether the value of a name on this line is left alone.
    pub fn is_without_values(&self, line: u32) -> bool {
        contains(&self.without_values, line)
    }

    /// Whether the statement on this line is skipped.
    pub fn is_off(&self, line: u32) -> bool {
        contains(&self.off, line)
    }
}

/// Whether one of these sorted ranges contains the line.
pub(crate) fn contains(ranges: &[Range<u32>], line: u32) -> bool {
    let index = ranges.partition_point(|range| range.end <= line);
    ranges.get(index).is_some_and(|range| range.contains(&line))
}

impl Directive {
    /// Parses a comment that is alone on its line.
    pub fn parse(comment: &str, line: u32) -> Option<Self> {
        let (switch, on) = parse(comment)?;
        Some(Self { line, switch, on })
    }
}

fn parse(comment: &str) -> Option<(DirectiveSwitch, bool)> {
    let comment = match comment.strip_prefix("//") {
        Some(comment) => comment,
        None => comment.strip_prefix("/*")?.strip_suffix("*/")?,
    };
    let mut words = comment.split_whitespace();
    let (name, switch, value) = (words.next()?, words.next()?, words.next()?);
    if name != "xhist" || words.next().is_some() {
        return None;
    }
    let switch = match switch {
        "instrument" => DirectiveSwitch::Instrument,
        "values" => DirectiveSwitch::Values,
        "debug" => DirectiveSwitch::Debug,
        _ => return None,
    };
    let on = value.eq_ignore_ascii_case("true");
    (on || value.eq_ignore_ascii_case("false")).then_some((switch, on))
}

/// Ranges from each directive that sets the switch to `value` to the next one that does not.
fn ranges(found: &[Directive], switch: DirectiveSwitch, value: bool) -> Vec<Range<u32>> {
    let mut ranges = Vec::new();
    let mut since = None;
    for directive in found.iter().filter(|directive| directive.switch == switch) {
        match (since, directive.on == value) {
            (None, true) => since = Some(directive.line),
            (Some(start), false) => {
                ranges.push(start..directive.line);
                since = None;
            }
            _ => {}
        }
    }
    ranges.extend(since.map(|start| start..u32::MAX));
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Directives {
        super::super::survey(text, 0, &super::super::LineIndex::new(text.as_bytes(), 0)).directives
    }

    #[test]
    fn lines_are_off_until_switched_on_again() {
        let found = scan(
            "a\n  // xhist instrument FALSE\nb\n/* xhist instrument TRUE */\nc\n// xhist instrument false",
        );
        assert_eq!(found.off, [2..4, 6..u32::MAX]);
        assert!(found.is_off(3) && !found.is_off(5) && found.is_off(7));
        let found = scan("// xhist values FALSE\na\n// xhist values TRUE\nb");
        assert!(found.is_without_values(2) && !found.is_without_values(4) && !found.is_off(2));
    }

    #[test]
    fn a_file_that_starts_off_and_stays_off_is_off_completely() {
        assert!(scan("// (c)\n// xhist instrument FALSE\n#![a]\nfn f() {}").whole_file);
        assert!(scan("// xhist instrument FALSE\n").whole_file);
        assert!(!scan("#![a]\n// xhist instrument FALSE\nfn f() {}").whole_file);
        assert!(!scan("// xhist instrument FALSE\nfn f() {}\n// xhist instrument TRUE\n").whole_file);
    }

    #[test]
    fn strings_and_trailing_comments_are_not_directives() {
        assert!(scan("x = \"\n// xhist instrument FALSE\n\";").off.is_empty());
        assert!(scan("x(); // xhist instrument FALSE").off.is_empty());
        assert!(scan("/// xhist instrument FALSE\nfn f() {}").off.is_empty());
        assert_eq!(scan("// xhist debug TRUE\n").debug.first(), Some(&(1..u32::MAX)));
    }
}
