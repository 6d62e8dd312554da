//! Generated and minified sources, where a line number says nothing: one statement a line, through prettyplease.
//! Comments are lost, so the result is a text of its own.

use super::{Code, parse};
use crate::refusal::Refusal;

/// The code with new lines.
pub(crate) fn reflow(code: &Code<'_>) -> Result<Vec<u8>, Refusal> {
    if !code.directives.off.is_empty() {
        return Err(code.refusal(0, "has directives in comments, which --reflow would lose; left alone"));
    }
    let result = parse(code).map(|file| prettyplease::unparse(&file));
    proc_macro2::extra::invalidate_current_thread_spans();
    let mut text = code.text[..code.start].to_owned();
    if !text.trim_start_matches('\u{feff}').is_empty() {
        text.push('\n');
    }
    Ok((text + &result?).into_bytes())
}
