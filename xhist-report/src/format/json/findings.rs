//! The JSON of a broken rule of order: the pieces of history that prove it.

use serde::Serialize;

use crate::format::entries::Evidence;

/// A piece of the history of a thread.
#[derive(Serialize)]
pub(super) struct JsonEvidence<'a> {
    thread: &'a str,
    statements: Vec<JsonEvidenceLine<'a>>,
}

#[derive(Serialize)]
struct JsonEvidenceLine<'a> {
    n: u64,
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
    file: &'a str,
    line: u32,
    function: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl<'a> JsonEvidence<'a> {
    pub(super) fn new(Evidence { thread, lines }: &'a Evidence) -> JsonEvidence<'a> {
        let statements = lines.iter().map(|known| JsonEvidenceLine {
            n: known.number,
            left_out: known.left_out,
            file: &known.file,
            line: known.line,
            function: &known.function,
            source: known.source.as_deref(),
        });
        JsonEvidence { thread, statements: statements.collect() }
    }
}
