#![doc = include_str!("../README.md")]
//!
//! ## Inside
//!
//! The core is two pure functions over bytes: [`analyze`] finds the statements to record and the reasons to skip
//! others. [`instrument`] inserts the calls on the same lines and proves that [`strip()`] restores the original. Both
//! accept any bytes: a text that they cannot handle is a [`Refusal`] with a place, never a panic.

#![forbid(unsafe_code)]

pub mod cli;
pub mod files;
mod insert;
mod macros;
pub mod map;
mod options;
pub mod origin;
pub mod pipeline;
mod refusal;
pub mod select;
pub mod shell;
mod site;
mod strip;
mod syntax;
mod text;

pub use insert::shape::{LINES_PER_ID, Numbers, ids_needed};
pub use macros::Macros;
pub use options::{Detail, MainHash, Options, PrintedOutput, Settings, Tasks, ValueBytes, Values, When};
pub use refusal::{Obstacle, ProofFailure, Refusal, RefusalReason};
pub use select::trigger::{RequestProblem, TriggerError, UnknownValue};
pub use site::analysis::Analysis;
pub use site::constness::{Constness, Removable, removable};
pub use site::value_site::{ValueKind, ValueReason, ValueSite, ValueSkip, ValueWatch};
pub use site::{
    Action, Include, IncludeKind, InlineMod, Insertion, ModDecl, Reason, Site, SiteKind, Skip, Trigger,
};
pub use strip::{Stripped, strip, try_strip};
pub use text::stack::in_parallel;

use site::constness;
use std::collections::HashSet;
use syntax::Code;
use text::{BadPrefix, LineIndex};

/// Finds the statements of one source file.
///
/// # Errors
/// The text is not UTF-8, does not parse, is nested too deeply, or holds calls already.
pub fn analyze(text: &[u8], options: &Options) -> Result<Analysis, Refusal> {
    analyze_among(text, options, &Macros::default())
}

/// Like [`analyze`], for a file of a program with these macros in other files.
///
/// # Errors
/// The errors of [`analyze`].
pub fn analyze_among(text: &[u8], options: &Options, macros: &Macros) -> Result<Analysis, Refusal> {
    analyze_with(text, options, macros, None)
}

fn analyze_with(
    text: &[u8],
    options: &Options,
    macros: &Macros,
    kept_macros: Option<&HashSet<String>>,
) -> Result<Analysis, Refusal> {
    with_code(text, text::stack::MAX_NESTING, (macros, kept_macros), |code| {
        if let Some(at) = strip::find_inserted(text) {
            return Err(Refusal::new(code.lines.position(at), RefusalReason::AlreadyInstrumented));
        }
        syntax::analyze(code, options)
    })
}

/// Like [`analyze_among`], for a text whose functions lose the keyword `const` at these offsets, and whose macros have calls in
/// their rules, except `kept_macros`: these statements are recorded like others. [`removable`] names offsets and macros.
///
/// # Errors
/// The errors of [`analyze`]. There is another word at one of the offsets.
pub fn analyze_freed(
    text: &[u8],
    keywords: &[usize],
    kept_macros: &HashSet<String>,
    options: &Options,
    macros: &Macros,
) -> Result<Analysis, Refusal> {
    let shown = constness::without(text, keywords).ok_or_else(foreign)?;
    let analysis = analyze_with(&shown, options, macros, Some(kept_macros))?;
    Ok(Analysis { without_const: keywords.to_vec(), ..analysis })
}

fn foreign() -> Refusal {
    Refusal::of_file(RefusalReason::ForeignAnalysis)
}

/// Writes the statements of an analysis into its text.
///
/// # Errors
/// The proof failed: without the calls, the bytes or tokens differ from the original, or a line moved.
pub fn instrument(
    text: &[u8],
    analysis: &Analysis,
    numbers: &Numbers,
    options: &Options,
) -> Result<Vec<u8>, Refusal> {
    let has_items = analysis.gives_recorder || analysis.records_output;
    if analysis.sites.is_empty() && analysis.main_at.is_empty() && !has_items {
        return Ok(text.to_vec());
    }
    let text = constness::without(text, &analysis.without_const).ok_or_else(foreign)?;
    let result = insert::splice::splice(&text, analysis, numbers, options)?;
    strip::proof::prove(&text, analysis.tokens, &result)?;
    Ok(result)
}

/// Reformats a text to one statement per line, for `--reflow`. Records then name lines of the new text.
///
/// # Errors
/// The errors of [`analyze`]. The text has directives in comments, which a reflow drops. The new text has other
/// statements.
pub fn reflow(text: &[u8]) -> Result<Vec<u8>, Refusal> {
    let options = Options::default();
    let before = analyze(text, &options)?;
    if before.is_off {
        return Ok(text.to_vec());
    }
    let new = with_code(text, text::stack::MAX_NESTING, (&Macros::default(), None), syntax::reflow)?;
    let after = analyze(&new, &options)?;
    if before.sites.len() != after.sites.len() {
        return Err(Refusal::of_file(RefusalReason::ReflowChangesStatements));
    }
    Ok(new)
}

/// Checks that a text parses as Rust, instrumented or not. For tests and fuzzers: [`instrument`] proves its result
/// without parsing it.
///
/// # Errors
/// The text is not UTF-8, does not parse, or is nested too deeply.
#[doc(hidden)]
pub fn parses(text: &[u8]) -> Result<(), Refusal> {
    // Wrapped expressions are nested deeper than the original.
    with_code(text, 3 * text::stack::MAX_NESTING, (&Macros::default(), None), syntax::check)
}

/// Runs `work` on the code of a text, on a stack of sufficient size.
fn with_code<T: Send>(
    text: &[u8],
    limit: usize,
    (macros, kept_macros): (&Macros, Option<&HashSet<String>>),
    work: impl FnOnce(&Code<'_>) -> Result<T, Refusal> + Send,
) -> Result<T, Refusal> {
    let text = str::from_utf8(text).map_err(|error| {
        let place = LineIndex::new(text, 0).position(error.valid_up_to());
        Refusal::new(place, RefusalReason::NotUtf8)
    })?;
    let lines = LineIndex::new(text.as_bytes(), text::bom_len(text));
    let start = text::code_start(text).map_err(|bad| {
        let reason = match bad {
            BadPrefix::SecondByteOrderMark(_) => RefusalReason::SecondByteOrderMark,
            BadPrefix::Frontmatter(_) => RefusalReason::Frontmatter,
        };
        Refusal::new(lines.position(bad.at()), reason)
    })?;
    let text::Survey { nesting, directives, tokens } = text::survey(text, start, &lines);
    if nesting > limit {
        return Err(Refusal::of_file(RefusalReason::TooDeep { nesting, limit }));
    }
    let code = Code { text, macros, kept_macros, start, lines, directives, tokens };
    text::stack::with_sufficient_stack(nesting, || work(&code))?
}
