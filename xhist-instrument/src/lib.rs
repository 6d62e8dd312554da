//! Rewrites Rust sources so that every statement records its file and line.
//!
//! The core is two pure functions over bytes: [`analyze`] finds what to record and why the rest is left alone,
//! [`instrument`] inserts the calls, on the same lines, and proves that [`strip`] gives back the original.
//! Both take any bytes: what cannot be handled is a [`Refusal`] with a place, never a panic.
//! Only `cli`, `cargo`, `map`, `kept_maps`, `origin` and `atomic` open files.

pub mod atomic;
#[cfg(unix)]
pub mod cargo;
pub mod cli;
pub mod kept_maps;
mod macros;
pub mod map;
mod normal;
mod options;
pub mod origin;
mod packed;
mod proof;
mod refusal;
pub mod select;
mod shape;
mod shell;
mod site;
mod splice;
mod stack;
mod strip;
mod syntax;
mod text;
pub mod trigger;

pub use macros::Macros;
pub use options::{Detail, MainHash, Options, When};
pub use packed::Packed;
pub use refusal::Refusal;
pub use shape::{LINES_PER_ID, Numbers, ids_needed};
pub use site::{Analysis, Include, IncludeKind, InlineMod, ModDecl, Reason, Shape, Site, SiteKind, Skip};
pub use stack::in_parallel;
pub use strip::{Stripped, strip, try_strip};
pub use trigger::{Action, Trigger};

use syntax::Code;
use text::LineIndex;

/// Finds the statements of one source file.
///
/// # Errors
/// The text is not UTF-8, does not parse, is nested too deeply, or is instrumented already.
pub fn analyze(text: &[u8], options: &Options) -> Result<Analysis, Refusal> {
    analyze_among(text, options, &Macros::default())
}

/// Like [`analyze`], for a file of a program that has these macros besides the file's own.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_among(text: &[u8], options: &Options, macros: &Macros) -> Result<Analysis, Refusal> {
    with_code(text, stack::MAX_NESTING, macros, |code| {
        if let Some(at) = strip::find_inserted(text) {
            let reason = "already instrumented, or text that looks like it; --strip first";
            return Err(Refusal::new(code.lines.position(at), reason));
        }
        syntax::analyze(code, options)
    })
}

/// Writes the statements of an analysis into the text it belongs to.
///
/// # Errors
/// The result could not be proved: without the calls it is not the original, byte for byte and token for token, or a
/// line moved.
pub fn instrument(
    text: &[u8],
    analysis: &Analysis,
    numbers: &Numbers,
    options: &Options,
) -> Result<Vec<u8>, Refusal> {
    if analysis.sites.is_empty() && analysis.main_at.is_empty() {
        return Ok(text.to_vec());
    }
    let result = splice::splice(text, analysis, numbers, options)?;
    proof::prove(text, analysis.tokens, &result)?;
    Ok(result)
}

/// A source text with one statement a line, for `--reflow`: what it records are the lines of the new text.
///
/// # Errors
/// As [`analyze`]; the text has directives in its comments, which would be lost; or the new text has other statements.
pub fn reflow(text: &[u8]) -> Result<Vec<u8>, Refusal> {
    let options = Options::default();
    let before = analyze(text, &options)?;
    if before.is_off {
        return Ok(text.to_vec());
    }
    let new = with_code(text, stack::MAX_NESTING, &Macros::default(), syntax::reflow)?;
    let after = analyze(&new, &options)?;
    if before.sites.len() != after.sites.len() {
        return Err(Refusal::of_file("could not be reflowed without changing its statements; left alone"));
    }
    Ok(new)
}

/// Whether a text is Rust, instrumented or not. [`instrument`] does not ask: a call stands where a statement may
/// stand, so the tests and the fuzzer do, for every source they can find.
///
/// # Errors
/// The text is not UTF-8, does not parse, or is nested too deeply.
pub fn parses(text: &[u8]) -> Result<(), Refusal> {
    // Wrapped expressions are nested deeper than the original.
    with_code(text, 3 * stack::MAX_NESTING, &Macros::default(), syntax::check)
}

/// Runs `work` on the code of a text, with enough stack for it.
fn with_code<T: Send>(
    text: &[u8],
    limit: usize,
    macros: &Macros,
    work: impl FnOnce(&Code<'_>) -> Result<T, Refusal> + Send,
) -> Result<T, Refusal> {
    let text = str::from_utf8(text).map_err(|error| {
        let place = LineIndex::new(text, 0).position(error.valid_up_to());
        Refusal::new(place, "not UTF-8; the compiler refuses it too")
    })?;
    let lines = LineIndex::new(text.as_bytes(), text::bom_len(text));
    let start = text::code_start(text).map_err(|bad| Refusal::new(lines.position(bad.at), bad.reason))?;
    let text::Survey { nesting, directives, tokens } = text::survey(text, start, &lines);
    if nesting > limit {
        return Err(Refusal::of_file(format!("nested {nesting} levels deep, more than {limit}; left alone")));
    }
    let code = Code { text, macros, start, lines, directives, tokens };
    stack::with_room(nesting, || work(&code))?
}
