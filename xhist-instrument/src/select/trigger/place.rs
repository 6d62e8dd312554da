//! Resolves each trigger request to a file and a statement.

use super::error::{RequestProblem, TriggerError, UnknownValue};
use super::request::Request;
use crate::site::analysis::Analysis;
use crate::site::value_site::{ValueSite, ValueWatch};
use crate::site::{Action, Trigger};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// Triggers that a program may have: the recorder has one counter for each.
const MAX_TRIGGERS: usize = 64;

/// A trigger at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed {
    /// At a statement.
    Statement(Trigger),
    /// At a value.
    Value(ValueWatch),
}

/// Names that an error lists.
const NEAREST: usize = 4;

/// Finds the file and the statement or binding of each trigger. `analysis_of` returns the analysis of a file, by its index.
/// `note` receives a message for each trigger in a file outside this run.
///
/// # Errors
/// There are too many triggers, or one of them has no file, statement or binding.
pub fn place<E: Display>(
    requests: &[Request],
    files: &[&Path],
    analysis_of: impl Fn(usize) -> Result<Arc<Analysis>, E>,
    note: impl Fn(&str),
) -> Result<Vec<(usize, Placed)>, TriggerError> {
    if requests.len() > MAX_TRIGGERS {
        return Err(TriggerError::TooMany { requested: requests.len(), limit: MAX_TRIGGERS });
    }
    let mut placed = Vec::new();
    // A trigger keeps its number when other files are instrumented in another run.
    for (number, request) in (0..).zip(requests) {
        let wrong = |problem| TriggerError::Request { request: request.label.clone(), problem };
        let Some(file) = request.file(files).map_err(wrong)? else {
            note(&format!("{}: not among the sources instrumented here", request.label));
            continue;
        };
        let analysis =
            analysis_of(file).map_err(|why| wrong(RequestProblem::NotAnalyzed(why.to_string())))?;
        let trigger = match &request.watched {
            Some(watched) => {
                let value = value_at(&analysis, &watched.name, request.line).map_err(wrong)?;
                let expected = watched.expected.as_deref().map(Box::from);
                let after = if let Action::Stop { after } = request.action { after } else { 0 };
                Placed::Value(ValueWatch { value, number, after, expected })
            }
            None => {
                let site = statement_at(&analysis, request.line).map_err(wrong)?;
                Placed::Statement(Trigger { site, number, hit: request.hit, action: request.action })
            }
        };
        placed.push((file, trigger));
    }
    Ok(placed)
}

/// The first statement that starts in this line, or else the innermost one that spans it.
fn statement_at(analysis: &Analysis, line: u32) -> Result<usize, RequestProblem> {
    let sites = &analysis.sites;
    let covers = |&index: &usize| (sites[index].line..=sites[index].end_line).contains(&line);
    let first = sites.iter().position(|site| site.line == line);
    // Of the statements that span a line, the innermost starts last.
    let innermost = || (0..sites.len()).rev().find(covers);
    first.or_else(innermost).ok_or_else(|| {
        let reason = analysis.skips.iter().find(|skip| skip.line == line).map(|skip| skip.reason);
        let above = sites.iter().map(|site| site.line).filter(|other| *other < line).max();
        let below = sites.iter().map(|site| site.line).filter(|other| *other > line).min();
        RequestProblem::NoStatement { line, reason, above, below }
    })
}

/// The first binding of this name in this line.
fn value_at(analysis: &Analysis, name: &str, line: u32) -> Result<usize, RequestProblem> {
    let values = &analysis.values;
    let is_it = |value: &ValueSite| value.line == line && *value.name == *name;
    values.iter().position(is_it).ok_or_else(|| {
        let mut skips = analysis.value_skips.iter();
        let reason = skips.find(|skip| skip.line == line && *skip.name == *name).map(|skip| skip.reason);
        let mut nearest: Vec<&ValueSite> = values.iter().collect();
        // Of other lines, a binding of the same name is the likelier one.
        nearest.sort_by_key(|value| (value.line != line, *value.name != *name, value.line.abs_diff(line)));
        let nearest =
            nearest.iter().take(NEAREST).map(|value| (value.name.to_string(), value.line)).collect();
        RequestProblem::NoValue(Box::new(UnknownValue { name: name.to_owned(), line, reason, nearest }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyze};
    use std::convert::Infallible;

    #[test]
    fn the_statement_starts_in_the_line_or_is_the_innermost_that_spans_it() {
        let text =
            "fn f() {\n  a(); b();\n  if c {\n    d(\n      1,\n    );\n  }\n}\nconst E: u8 = {\n  1\n};\n";
        let analysis = analyze(text.as_bytes(), &Options::default()).unwrap();
        let at = |line| statement_at(&analysis, line).map(|site| analysis.sites[site].range.start);
        let start = |of: &str| Ok(text.find(of).unwrap());
        assert_eq!(at(2), start("a();"));
        assert_eq!(at(5), start("d("));
        assert_eq!(at(7), start("if c"));
        let first = at(1).unwrap_err().to_string();
        assert_eq!(first, "no statement of line 1 is recorded; the nearest is in line 2");
        let constant = at(10).unwrap_err().to_string();
        assert!(
            constant.ends_with(
                "is recorded (evaluated by the compiler (const context)); the nearest is in line 4"
            )
        );
    }

    #[test]
    fn a_watch_is_at_a_binding_of_its_line() {
        let text = "fn f(a: u8) {\n  let b = a;\n  let c; c = b;\n  g(c)\n}\n";
        let options = Options { watches: true, ..Options::default() };
        let analysis = analyze(text.as_bytes(), &options).unwrap();
        let at = |name, line| {
            let value = value_at(&analysis, name, line).map_err(|problem| problem.to_string())?;
            Ok(analysis.values[value].column)
        };
        assert_eq!((at("a", 1), at("b", 2), at("c", 3)), (Ok(6), Ok(7), Ok(10)));
        let problem = "`b` gets no value in line 4 that can be recorded; \
                       the nearest are `b` in line 2, `c` in line 3, `a` in line 1";
        assert_eq!(at("b", 4), Err(problem.to_owned()));
        assert!(at("c", 2).unwrap_err().contains("; the nearest are `b` in line 2, `c` in line 3"));
    }

    #[test]
    fn more_than_64_triggers_are_refused() {
        let request = Request::read("/a.rs:1", Action::Start).unwrap();
        let analysis = Arc::new(analyze(b"fn f() { x() }", &Options::default()).unwrap());
        let place = |count| {
            let look = |_| Ok::<_, Infallible>(Arc::clone(&analysis));
            place(&vec![request.clone(); count], &[Path::new("/a.rs")], look, |_| ())
        };
        let placed = place(64).unwrap();
        assert!(placed.iter().enumerate().all(|(index, (_, placed))| {
            matches!(placed, Placed::Statement(trigger) if usize::from(trigger.number) == index)
        }));
        assert!(place(65).is_err());
    }
}
