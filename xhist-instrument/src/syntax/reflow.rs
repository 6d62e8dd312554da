//! Reformats generated and minified sources, where line numbers are useless, to one statement per line, by
//! prettyplease.
//! Comments are dropped.

use super::{Code, parse};
use crate::refusal::{Refusal, RefusalReason};

/// The reformatted text.
pub(crate) fn reflow(code: &Code<'_>) -> Result<Vec<u8>, Refusal> {
    if !code.directives.off.is_empty() {
        return Err(code.refusal(0, RefusalReason::ReflowDropsDirectives));
    }
    let result = parse(code).map(|file| prettyplease::unparse(&file));
    proc_macro2::extra::invalidate_current_thread_spans();
    let mut text = code.text[..code.start].to_owned();
    if !text.trim_start_matches('\u{feff}').is_empty() {
        text.push('\n');
    }
    Ok((text + &result?).into_bytes())
}
