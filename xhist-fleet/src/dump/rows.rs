//! Makes the rows of a dump.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use xhist_history::Dump;
use xhist_history::model::FieldValue;
use xhist_history::recording::{MoreRuns, RecordedEvent, RecordedStep, Recording, SiteId, StepId};

use super::cells::{Cell, DumpRows};
use super::ending::Ending;
use super::identity::statement;
use super::signature::Signature;
use crate::partition::{day, partition_value};
use crate::schema::Table;

/// What is known of a dump besides its bytes.
#[derive(Clone, Debug)]
pub struct DumpFacts {
    /// Identity of its bytes.
    pub id: u128,
    /// Path or URL.
    pub source: String,
    /// When it was last written.
    pub written: SystemTime,
    /// Its size in bytes.
    pub bytes: u64,
    /// Labels of the user.
    pub labels: Arc<BTreeMap<String, String>>,
}

/// A statement as rows have it.
struct SiteCells {
    file: Arc<str>,
    line: u32,
    function: Arc<str>,
    id: i64,
}

/// The rows of a dump.
pub fn rows(dump: &Dump, facts: &DumpFacts) -> DumpRows {
    let recording = &dump.recording;
    let ring: Arc<str> = format!("{:032x}", facts.id).into();
    let map = dump
        .rings
        .iter()
        .map(|ring| ring.map_hash)
        .find(|hash| *hash != 0)
        .map(|hash| format!("{hash:016x}"));
    let label = |name: &str| facts.labels.get(name).cloned();
    let build = label("build").or_else(|| map.clone()).unwrap_or_else(|| "unknown".to_owned());
    let micros = facts.written.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
    let micros = i64::try_from(micros).unwrap_or(i64::MAX);
    let mut rows = DumpRows::new(partition_value(&build), day(micros));
    let losses = add_losses(&mut rows, &ring, facts, dump);
    if dump.rings.is_empty() && recording.is_empty() {
        return rows;
    }
    for (name, value) in facts.labels.iter() {
        rows.push(Table::Labels, [(&ring).into(), name.as_str().into(), value.as_str().into()]);
    }
    let sites = sites(recording);
    let threads: Vec<Arc<str>> = recording.lanes.iter().map(|lane| lane.name.as_str().into()).collect();
    let unnamed: Arc<str> = "".into();
    let thread = |step: StepId| threads.get(recording.lane_of(step).0 as usize).unwrap_or(&unnamed);
    add_steps(&mut rows, &ring, recording, &sites, &thread);
    add_spectra(&mut rows, &ring, dump, &sites);
    let ending = Ending::of(recording, &dump.rings);
    let outcome = label("outcome").unwrap_or_else(|| match ending.has_failed {
        Some(true) => "bad".to_owned(),
        Some(false) => "good".to_owned(),
        None => "unknown".to_owned(),
    });
    let failure = Signature::of(recording, &ending);
    let site = failure.as_ref().and_then(|failure| sites.get(failure.site?.0 as usize));
    let lane = failure.as_ref().and_then(|failure| threads.get(failure.lane?.0 as usize));
    rows.push(
        Table::Rings,
        [
            (&ring).into(),
            facts.source.as_str().into(),
            micros.into(),
            label("device").into(),
            map.into(),
            outcome.into(),
            ending.text.into(),
            failure.as_ref().map(|failure| format!("{:016x}", failure.hash)).into(),
            failure.as_ref().map(|failure| failure.title.as_str()).into(),
            failure.as_ref().map(|failure| failure.stack.as_str()).into(),
            lane.into(),
            site.map(|site| &site.file).into(),
            site.map(|site| site.line).into(),
            site.map(|site| &site.function).into(),
            dump.rings.len().max(recording.lanes.len()).into(),
            recording.len().into(),
            recording.left_out.into(),
            losses.into(),
            facts.bytes.into(),
        ],
    );
    rows
}

/// Adds what is missing. Returns how much that is.
fn add_losses(rows: &mut DumpRows, ring: &Arc<str>, facts: &DumpFacts, dump: &Dump) -> usize {
    let is_loss = |note: &&String| note.starts_with("lost: ") || note.starts_with("error: ");
    let mut texts: Vec<&str> = dump.notes.iter().filter(is_loss).map(String::as_str).collect();
    if texts.is_empty() && dump.rings.is_empty() && dump.recording.is_empty() {
        texts.extend(dump.notes.iter().map(String::as_str).take(1));
        if texts.is_empty() {
            texts.push("no ring and no QS stream found");
        }
    }
    for text in &texts {
        let text = text.split_once(": ").filter(|(kind, _)| matches!(*kind, "lost" | "error" | "note"));
        let text = text.map_or("no ring and no QS stream found", |(_, text)| text);
        rows.push(Table::Losses, [ring.into(), facts.source.as_str().into(), text.into()]);
    }
    texts.len()
}

/// The statements of a recording, by their numbers.
fn sites(recording: &Recording) -> Vec<SiteCells> {
    let paths: Vec<Arc<str>> = recording.files.iter().map(|file| file.path.as_str().into()).collect();
    let functions: Vec<Arc<str>> =
        recording.functions.iter().map(|function| function.name.as_str().into()).collect();
    let unknown: Arc<str> = "".into();
    let site = |site: &xhist_history::recording::RecordedSite| {
        let file = paths.get(site.file as usize).unwrap_or(&unknown);
        let function = functions.get(site.function.0 as usize).unwrap_or(&unknown);
        let id = statement(file, function, site.text, site.line);
        SiteCells { file: Arc::clone(file), line: site.line, function: Arc::clone(function), id }
    };
    recording.sites.iter().map(site).collect()
}

/// Adds statements, records and values.
fn add_steps<'t>(
    rows: &mut DumpRows,
    ring: &Arc<str>,
    recording: &Recording,
    sites: &[SiteCells],
    thread: &dyn Fn(StepId) -> &'t Arc<str>,
) {
    let runs = MoreRuns::of(recording);
    let mut times = recording.times.iter().peekable();
    let mut time = None;
    for (index, step) in recording.steps().enumerate() {
        let id = StepId(index as u32);
        while let Some((_, ns)) = times.next_if(|(at, _)| *at <= id) {
            time = Some(*ns);
        }
        let position = recording.number(id);
        match step {
            RecordedStep::Statement(SiteId(site)) => {
                let Some(site) = sites.get(site as usize) else { continue };
                rows.push(
                    Table::Statements,
                    [
                        ring.into(),
                        thread(id).into(),
                        position.into(),
                        (&site.file).into(),
                        site.line.into(),
                        (&site.function).into(),
                        site.id.into(),
                        runs.runs(id).into(),
                    ],
                );
            }
            RecordedStep::Event(event) => {
                let Some(event) = recording.events.get(event as usize) else { continue };
                rows.push(
                    Table::Records,
                    [
                        ring.into(),
                        thread(id).into(),
                        position.into(),
                        event.kind.name().into(),
                        recording.strings.get(event.name).into(),
                        recording.strings.get(event.text).into(),
                        fields(recording, event).into(),
                        time.into(),
                    ],
                );
            }
        }
    }
    for value in &recording.values {
        let site = recording.site_at(value.step).and_then(|site| sites.get(site.0 as usize));
        let text = |id| Cell::from(recording.strings.get(id));
        rows.push(
            Table::Values,
            [
                ring.into(),
                thread(value.step).into(),
                recording.number(value.step).into(),
                site.map_or_else(|| "".into(), |site| (&site.file).into()),
                site.map_or(value.line, |site| site.line).into(),
                site.map_or_else(|| "".into(), |site| (&site.function).into()),
                text(value.name),
                text(value.type_name),
                text(value.text),
            ],
        );
    }
}

/// The fields of a record as a JSON object; `None` if it has none.
fn fields(recording: &Recording, event: &RecordedEvent) -> Option<String> {
    let fields = event.fields.iter().map(|(name, value)| {
        let value = match value {
            FieldValue::Uint(number) => Value::from(*number),
            FieldValue::Int(number) => Value::from(*number),
            FieldValue::Float(number) => Value::from(*number),
            FieldValue::Text(text) => Value::from(text.as_str()),
            FieldValue::Bytes(bytes) => {
                Value::from(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
            }
        };
        (recording.strings.get(*name).to_owned(), value)
    });
    let fields: Map<String, Value> = fields.collect();
    (!fields.is_empty()).then(|| Value::Object(fields).to_string())
}

/// Adds each statement that ever ran, once.
fn add_spectra(rows: &mut DumpRows, ring: &Arc<str>, dump: &Dump, sites: &[SiteCells]) {
    let mut seen = HashSet::new();
    let mut add = |id: i64, file: &Arc<str>, line: u32, function: &Arc<str>| {
        if seen.insert(id) {
            rows.push(Table::Spectra, [ring.into(), id.into(), file.into(), line.into(), function.into()]);
        }
    };
    // Sites that only enter a call, and have no step of their own, ran as well.
    sites.iter().for_each(|site| add(site.id, &site.file, site.line, &site.function));
    for ran in &dump.ever_ran {
        let id = statement(&ran.path, &ran.function, ran.text, ran.line);
        add(id, &ran.path, ran.line, &ran.function);
    }
}
