//! The lines of a file that run and are not recorded, for the map: readers name them where a panic came from there.

use std::ops::RangeInclusive;

use qs_core::map::SkippedLines;

use crate::site::structure::Body;
use crate::text::{LineIndex, TokenKind, Tokens, bom_len};
use crate::{Analysis, Reason, Skip};

/// The lines of a file, as the field of the map lists them.
pub(super) fn skipped_lines(text: &[u8], analysis: &Analysis) -> String {
    let mut lines = None;
    let mut ranges: Vec<(RangeInclusive<u32>, &str)> = Vec::new();
    for skip in &analysis.skips {
        let Some(what) = what(skip.reason) else { continue };
        let lines = lines.get_or_insert_with(|| Lines::new(text));
        let range = match skip.reason {
            Reason::MacroDefinition | Reason::RefusedMacro | Reason::MacroArguments => {
                lines.of_brackets(skip)
            }
            _ => of_body(skip, analysis),
        };
        let is_known = ranges.last().is_some_and(|(known, _)| known.contains(range.start()));
        if !is_known {
            ranges.push((range, what));
        }
    }
    let ranges = ranges
        .iter()
        .map(|(range, what)| SkippedLines { first: *range.start(), last: *range.end(), what }.to_string());
    ranges.collect::<Vec<_>>().join(SkippedLines::SEPARATOR)
}

/// What a reader calls such code; `None` if it does not run, or if the user chose to record less of it.
fn what(reason: Reason) -> Option<&'static str> {
    match reason {
        Reason::ConstFn => Some("const fn"),
        Reason::MacroDefinition | Reason::RefusedMacro => Some("macro body"),
        Reason::MacroArguments => Some("macro arguments"),
        Reason::Thinned | Reason::Detail => None,
        reason => reason.is_executable().then_some(""),
    }
}

/// The lines of the body around skipped code if nothing in it is recorded, else the line alone: where a statement ends is not
/// known.
fn of_body(skip: &Skip, analysis: &Analysis) -> RangeInclusive<u32> {
    let at = (skip.line, skip.column);
    let contains = |body: &&Body| {
        let [line, column, end_line, end_column] = body.place;
        (line, column) <= at && at < (end_line, end_column)
    };
    let innermost = analysis.structure.bodies.iter().filter(contains).min_by_key(|body| body.range.len());
    let whole =
        innermost.filter(|body| !analysis.sites.iter().any(|site| body.range.contains(&site.range.start)));
    whole.map_or(skip.line..=skip.line, |body| body.place[0]..=body.place[2])
}

/// The tokens of a text, with their lines.
struct Lines<'t> {
    tokens: Tokens<'t>,
    lines: LineIndex,
}

impl<'t> Lines<'t> {
    fn new(text: &'t [u8]) -> Lines<'t> {
        let first = std::str::from_utf8(text).map_or(0, bom_len);
        Lines { tokens: Tokens::new(text, first), lines: LineIndex::new(text, first) }
    }

    /// From a macro to the end of its brackets.
    fn of_brackets(&self, skip: &Skip) -> RangeInclusive<u32> {
        let Lines { tokens, lines } = self;
        let at = |index: usize| lines.position(tokens.list[index].range.start);
        let list = &tokens.list;
        let first =
            list.partition_point(|token| lines.position(token.range.start) < (skip.line, skip.column));
        let is_open = |index: &usize| matches!(list[*index].kind, TokenKind::Open(_));
        let end = (first..tokens.len()).find(is_open).and_then(|open| list[open].pair);
        skip.line..=end.map_or(skip.line, |end| at(end).0.max(skip.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyze};

    fn skipped(text: &str) -> String {
        skipped_lines(text.as_bytes(), &analyze(text.as_bytes(), &Options::default()).unwrap())
    }

    #[test]
    fn bodies_and_macros_have_their_lines_and_what_never_runs_has_none() {
        let text = "macro_rules! m {\n    () => {\n        a();\n    };\n}\n\
                    const fn f() -> u8 {\n    let x = 1;\n    x\n}\n\
                    const X: u8 = { let x = 1; x };\n\
                    fn g() { a(); }\n";
        assert_eq!(skipped(text), "1-5 macro body, 6-9 const fn");
    }

    #[test]
    fn a_statement_among_recorded_ones_has_its_line_alone() {
        let text = "fn f() {\n    a();\n// xhist instrument FALSE\n    b();\n// xhist instrument TRUE\n    c();\n}\n";
        assert_eq!(skipped(text), "4-4");
    }

    #[test]
    fn arguments_of_unknown_macros_end_with_their_bracket() {
        let text = "fn f() {\n    odd! {\n        a => { b(); c(); }\n    }\n    d();\n}\n";
        assert_eq!(skipped(text), "2-4 macro arguments");
    }
}
