//! Writes the sites of an analysis into the text.

use crate::options::{Detail, MainHash, Options};
use crate::refusal::Refusal;
use crate::shape::{Numbers, Recorded, Writer, ids_needed};
use crate::site::{Analysis, Shape, Site};
use crate::trigger::{Action, Trigger};
use std::ops::Range;

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
    Hash(MainHash, Detail),
    Call { recorded: Recorded, attributes: Option<&'a str>, triggers: &'a [Trigger] },
    Open { recorded: Recorded, parens: bool, triggers: &'a [Trigger] },
    Close { parens: bool },
}

/// The instrumented text, not yet proved.
pub(crate) fn splice(
    text: &[u8],
    analysis: &Analysis,
    numbers: &Numbers,
    options: &Options,
) -> Result<Vec<u8>, Refusal> {
    let needed = ids_needed(analysis.lines);
    if numbers.ids.len() < needed {
        let reason =
            format!("a file of {} lines needs {needed} file ids, got {}", analysis.lines, numbers.ids.len());
        return Err(Refusal::of_file(reason));
    }
    let writer = Writer::new(options.edition2015, numbers, text.len() + analysis.sites.len() * 32);
    write(text, 0..text.len(), edits(analysis, options), writer)
        .ok_or_else(|| Refusal::of_file("the analysis belongs to another text"))
}

/// The text in this range, with the edits in it; nothing when one of them lies elsewhere.
fn write(
    text: &[u8],
    range: Range<usize>,
    mut edits: Vec<Edit<'_>>,
    mut writer: Writer<'_>,
) -> Option<Vec<u8>> {
    edits.sort_by_key(|edit| (edit.at, edit.order));
    let mut copied = range.start;
    for edit in edits {
        writer.out.extend_from_slice(text.get(copied..edit.at)?);
        copied = edit.at;
        match edit.what {
            What::Hash(hash, detail) => writer.main_hash(hash, detail),
            What::Call { recorded, attributes, triggers } => writer.statement(recorded, attributes, triggers),
            What::Open { recorded, parens, triggers } => writer.open(recorded, parens, triggers),
            What::Close { parens } => writer.close(parens),
        }
    }
    writer.out.extend_from_slice(text.get(copied..range.end)?);
    Some(writer.out)
}

/// One of each, to see whether a macro takes them.
const TRIGGERS: [Trigger; 2] = [
    Trigger { site: 0, number: 0, hit: 1, action: Action::Start },
    Trigger { site: 0, number: 1, hit: 1, action: Action::Stop { after: 0 } },
];

/// Part of a text with these sites in it: what a macro would get as its arguments. With triggers, each site has some.
pub(crate) fn part(text: &str, range: Range<usize>, sites: &[Site], triggers: bool) -> Option<String> {
    let lines = sites.iter().map(|site| site.line).max().unwrap_or(1);
    let numbers = Numbers { ids: vec![0; ids_needed(lines)], first: 1 };
    let mut edits = Vec::new();
    // A macro that takes all calls takes some of them.
    of_sites(sites, |_| true, |_| if triggers { &TRIGGERS } else { &[] }, &mut edits);
    write(text.as_bytes(), range, edits, Writer::new(false, &numbers, 0))
        .and_then(|text| String::from_utf8(text).ok())
}

fn edits<'a>(analysis: &'a Analysis, options: &Options) -> Vec<Edit<'a>> {
    let mut edits = Vec::with_capacity(analysis.sites.len() + 1);
    if options.main_hash != MainHash::None {
        let what = || What::Hash(options.main_hash, options.detail);
        let hash = |&at| Edit { at, order: Order::Hash, what: what() };
        edits.extend(analysis.main_at.iter().map(hash));
    }
    let recorded = |site: &Site| site.recorded;
    of_sites(&analysis.sites, recorded, |site| analysis.triggers_at(site), &mut edits);
    edits
}

fn of_sites<'a>(
    sites: &'a [Site],
    is_meant: impl Fn(&Site) -> bool,
    triggers_at: impl Fn(usize) -> &'a [Trigger],
    edits: &mut Vec<Edit<'a>>,
) {
    let mut push = |at, order, what| edits.push(Edit { at, order, what });
    for (index, site) in sites.iter().enumerate().filter(|(_, site)| is_meant(site)) {
        let recorded = Recorded { line: site.line, ordinal: index, checks: site.checks };
        let triggers = triggers_at(index);
        match &site.shape {
            Shape::Call { at, attributes } => {
                let attributes = attributes.as_deref();
                push(*at, Order::Open(index), What::Call { recorded, attributes, triggers });
            }
            &Shape::Wrap { ref range, parens } => {
                push(range.start, Order::Open(index), What::Open { recorded, parens, triggers });
                let close = Order::Close(std::cmp::Reverse(index));
                push(range.end, close, What::Close { parens });
            }
        }
    }
}
