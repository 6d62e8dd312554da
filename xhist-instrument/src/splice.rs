//! Writes the sites of an analysis into the text.

use crate::options::{MainHash, Options};
use crate::refusal::Refusal;
use crate::shape::{Writer, ids_needed};
use crate::site::{Analysis, Shape};

/// One insertion: a place, and what goes there.
struct Edit<'a> {
    at: usize,
    order: Order,
    what: What<'a>,
}

/// Order of insertions at one offset: closings before openings, closings inner first, openings outer first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Close(std::cmp::Reverse<usize>),
    Hash,
    Open(usize),
}

enum What<'a> {
    Hash(MainHash),
    Call { line: u32, attributes: Option<&'a str> },
    Open { line: u32, parens: bool },
    Close { parens: bool },
}

/// The instrumented text, not yet proved.
pub(crate) fn splice(
    text: &[u8],
    analysis: &Analysis,
    ids: &[u16],
    options: &Options,
) -> Result<Vec<u8>, Refusal> {
    let needed = ids_needed(analysis.lines);
    if ids.len() < needed {
        let reason = format!("a file of {} lines needs {needed} file ids, got {}", analysis.lines, ids.len());
        return Err(Refusal::of_file(reason));
    }
    let mut edits = edits(analysis, options);
    edits.sort_by_key(|edit| (edit.at, edit.order));
    let mut writer = Writer::new(options.edition2015, ids, text.len() + edits.len() * 24);
    let mut copied = 0;
    for edit in edits {
        let Some(kept) = text.get(copied..edit.at) else {
            return Err(Refusal::of_file("the analysis belongs to another text"));
        };
        writer.out.extend_from_slice(kept);
        copied = edit.at;
        match edit.what {
            What::Hash(hash) => writer.main_hash(hash),
            What::Call { line, attributes } => writer.statement(line, attributes),
            What::Open { line, parens } => writer.open(line, parens),
            What::Close { parens } => writer.close(parens),
        }
    }
    writer.out.extend_from_slice(&text[copied..]);
    Ok(writer.out)
}

fn edits<'a>(analysis: &'a Analysis, options: &Options) -> Vec<Edit<'a>> {
    let mut edits = Vec::with_capacity(analysis.sites.len() + 1);
    let mut push = |at, order, what| edits.push(Edit { at, order, what });
    if let (Some(at), true) = (analysis.main_at, options.main_hash != MainHash::None) {
        push(at, Order::Hash, What::Hash(options.main_hash));
    }
    for (index, site) in analysis.sites.iter().enumerate() {
        let line = site.line;
        match &site.shape {
            Shape::Call { at, attributes } => {
                let attributes = attributes.as_deref();
                push(*at, Order::Open(index), What::Call { line, attributes });
            }
            &Shape::Wrap { ref range, parens } => {
                push(range.start, Order::Open(index), What::Open { line, parens });
                let close = Order::Close(std::cmp::Reverse(index));
                push(range.end, close, What::Close { parens });
            }
        }
    }
    edits
}
