//! Inserts the sites of an analysis into the text.

use crate::insert::shape::{CallWriter, Numbers, Recorded, ids_needed};
use crate::options::{MainHash, Options};
use crate::refusal::{Refusal, RefusalReason};
use crate::site::analysis::Analysis;
use crate::site::value_site::{ValueSite, ValueWatch};
use crate::site::{Action, Insertion, Site, Trigger};
use qs_core::inserted::{GIVE_RECORDER, RECORD_OUTPUT};
use std::ops::Range;

/// One insertion: its offset and its content.
struct Edit<'a> {
    at: usize,
    order: EditOrder,
    what: EditContent<'a>,
}

/// Order of insertions at the same offset: closings before openings; inner closings first, outer openings first. A value
/// follows the call of its statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EditOrder {
    Close(std::cmp::Reverse<usize>),
    Item(usize),
    Hash,
    Task,
    Open(usize, Part),
}

/// What is inserted at a statement, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Statement,
    Value(usize),
    Paren,
}

enum EditContent<'a> {
    Item(&'static str),
    Hash,
    Task,
    Value { ordinal: usize, site: &'a ValueSite, watches: &'a [ValueWatch] },
    Call { recorded: Recorded, attributes: Option<&'a str>, triggers: &'a [Trigger] },
    Open { recorded: Recorded, parens: bool, triggers: &'a [Trigger] },
    Paren,
    Close { parens: bool },
}

/// The instrumented text, before its proof.
pub(crate) fn splice(
    text: &[u8],
    analysis: &Analysis,
    numbers: &Numbers,
    options: &Options,
) -> Result<Vec<u8>, Refusal> {
    let needed = ids_needed(analysis.lines);
    if numbers.ids.len() < needed {
        let (lines, given) = (analysis.lines, numbers.ids.len());
        return Err(Refusal::of_file(RefusalReason::TooFewIds { lines, needed, given }));
    }
    let writer = CallWriter::new(options.edition2015, numbers, text.len() + analysis.sites.len() * 32);
    write(text, 0..text.len(), edits(analysis, options), writer, options, &analysis.rules)
        .ok_or_else(|| Refusal::of_file(RefusalReason::ForeignAnalysis))
}

/// This range of the text with the edits in it; `None` when an edit lies outside.
fn write(
    text: &[u8],
    range: Range<usize>,
    mut edits: Vec<Edit<'_>>,
    mut writer: CallWriter<'_>,
    options: &Options,
    rules: &[Range<usize>],
) -> Option<Vec<u8>> {
    edits.sort_by_key(|edit| (edit.at, edit.order));
    let mut copied = range.start;
    for edit in edits {
        writer.out.extend_from_slice(text.get(copied..edit.at)?);
        copied = edit.at;
        writer.in_rules(is_in(rules, edit.at));
        match edit.what {
            EditContent::Item(item) => writer.item(item),
            EditContent::Hash => writer.main_hash(options.main_hash, options.detail, options.main_values),
            EditContent::Value { ordinal, site, watches } => {
                writer.value(ordinal, site, options.values, watches);
            }
            EditContent::Task => writer.task(),
            EditContent::Call { recorded, attributes, triggers } => {
                writer.statement(recorded, attributes, triggers)
            }
            EditContent::Open { recorded, parens, triggers } => writer.open(recorded, parens, triggers),
            EditContent::Paren => writer.paren(),
            EditContent::Close { parens } => writer.close(parens),
        }
    }
    writer.out.extend_from_slice(text.get(copied..range.end)?);
    Some(writer.out)
}

/// One trigger of each kind, to test whether a macro accepts them.
const TRIGGERS: [Trigger; 2] = [
    Trigger { site: 0, number: 0, hit: 1, action: Action::Start },
    Trigger { site: 0, number: 1, hit: 1, action: Action::Stop { after: 0 } },
];

/// The arguments of a macro call with these sites in them. With `triggers`, every site has some.
pub(crate) fn splice_part(text: &str, range: Range<usize>, sites: &[Site], triggers: bool) -> Option<String> {
    let lines = sites.iter().map(|site| site.line).max().unwrap_or(1);
    let numbers = Numbers { ids: vec![0; ids_needed(lines)], first: 1, values: 1 };
    let mut edits = Vec::new();
    // A macro that accepts every call also accepts any subset of them.
    let is_meant = |_: &Site| Some(Meant { is_resumed: false });
    of_sites(sites, is_meant, |_| if triggers { &TRIGGERS } else { &[] }, &mut edits);
    write(text.as_bytes(), range, edits, CallWriter::new(false, &numbers, 0), &Options::default(), &[])
        .and_then(|text| String::from_utf8(text).ok())
}

fn edits<'a>(analysis: &'a Analysis, options: &Options) -> Vec<Edit<'a>> {
    let mut edits = Vec::with_capacity(analysis.sites.len() + 1);
    if options.main_hash != MainHash::None {
        let hash = |&at| Edit { at, order: EditOrder::Hash, what: EditContent::Hash };
        edits.extend(analysis.main_at.iter().map(hash));
    }
    let items = [(analysis.gives_recorder, GIVE_RECORDER), (analysis.records_output, RECORD_OUTPUT)];
    for (index, (_, item)) in items.into_iter().enumerate().filter(|(_, (is_meant, _))| *is_meant) {
        let order = EditOrder::Item(index);
        edits.extend(analysis.first_item.map(|at| Edit { at, order, what: EditContent::Item(item) }));
    }
    let mut resumes = Vec::new();
    if options.records_tasks() {
        for task in analysis.tasks.iter().filter(|task| is_recorded(&task.body, &analysis.sites)) {
            edits.push(Edit { at: task.at, order: EditOrder::Task, what: EditContent::Task });
            resumes.extend(&task.resumes);
        }
        resumes.sort_unstable();
    }
    let is_meant = |site: &Site| {
        let is_resumed = || resumes.binary_search(&site.range.start).is_ok();
        site.recorded.then(|| Meant { is_resumed: is_resumed() })
    };
    of_sites(&analysis.sites, is_meant, |site| analysis.triggers_at(site), &mut edits);
    let mut ordinal = 0;
    edits.extend(analysis.values.iter().enumerate().filter_map(|(index, site)| {
        let (watches, number) = (analysis.watches_at(index), ordinal);
        ordinal += usize::from(site.recorded);
        let host = analysis.sites.binary_search_by_key(&site.host, |host| host.range.start).ok()?;
        let at = site.at.unwrap_or(match &analysis.sites[host].insertion {
            Insertion::Call { at, .. } => *at,
            Insertion::Wrap { range, .. } => range.start,
        });
        let order = EditOrder::Open(host, Part::Value(index));
        let what = EditContent::Value { ordinal: number, site, watches };
        (site.recorded || !watches.is_empty()).then_some(Edit { at, order, what })
    }));
    edits
}

/// Whether an offset is in one of these ranges, which are in the order of the text.
fn is_in(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.start <= at);
    next.checked_sub(1).is_some_and(|index| at <= ranges[index].end)
}

/// Whether a statement of this body is recorded.
fn is_recorded(body: &Range<usize>, sites: &[Site]) -> bool {
    let first = sites.partition_point(|site| site.range.start < body.start);
    let inside = sites[first..].iter().take_while(|site| site.range.start < body.end);
    inside.into_iter().any(|site| site.recorded)
}

/// How a site is recorded.
struct Meant {
    is_resumed: bool,
}

fn of_sites<'a>(
    sites: &'a [Site],
    is_meant: impl Fn(&Site) -> Option<Meant>,
    triggers_at: impl Fn(usize) -> &'a [Trigger],
    edits: &mut Vec<Edit<'a>>,
) {
    let mut push = |at, order, what| edits.push(Edit { at, order, what });
    for (index, site) in sites.iter().enumerate() {
        let Some(Meant { is_resumed }) = is_meant(site) else { continue };
        let recorded = Recorded { line: site.line, ordinal: index, checks: site.checks, is_resumed };
        let triggers = triggers_at(index);
        match &site.insertion {
            Insertion::Call { at, attributes } => {
                let attributes = attributes.as_deref();
                push(
                    *at,
                    EditOrder::Open(index, Part::Statement),
                    EditContent::Call { recorded, attributes, triggers },
                );
            }
            &Insertion::Wrap { ref range, parens } => {
                push(
                    range.start,
                    EditOrder::Open(index, Part::Statement),
                    EditContent::Open { recorded, parens, triggers },
                );
                if parens {
                    push(range.start, EditOrder::Open(index, Part::Paren), EditContent::Paren);
                }
                let close = EditOrder::Close(std::cmp::Reverse(index));
                push(range.end, close, EditContent::Close { parens });
            }
        }
    }
}
