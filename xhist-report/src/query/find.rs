//! `find`: where a line, a function or a value is in a history.

use serde_json::{Value, json};

use super::row::{AskedHistory, QueryRow};
use super::wanted::{NotFound, WantedPlace, is_file, is_function, is_value};
use crate::budget::Weight;
use xhist_history::model::{count, visible};
use xhist_history::recording::{EventKind, MoreRuns, RecordedStep, Recording, SiteId, StepId, ValueAt};

/// A place where it is.
struct Hit<'r> {
    step: StepId,
    /// How often.
    runs: u64,
    /// The value that was looked for.
    value: Option<&'r ValueAt>,
}

/// All hits: how many, in which threads, and the newest `limit` of them. `asked`: for the next command.
///
/// # Errors
/// It is not there; the error says what is.
pub fn find(
    recording: &Recording,
    text: &str,
    limit: usize,
    asked: &AskedHistory,
) -> Result<Vec<QueryRow>, NotFound> {
    let wanted = WantedPlace::parse(text);
    let hits = hits(recording, &wanted);
    let (Some(first), Some(last)) = (hits.first(), hits.last()) else {
        return Err(wanted.not_found(recording, asked));
    };
    let all: u64 = hits.iter().map(|hit| hit.runs).fold(0, u64::saturating_add);
    let (first, last) = (recording.number(first.step), recording.number(last.step));
    let kind = match wanted {
        WantedPlace::Step(_) => "step",
        WantedPlace::Lines(..) => "line",
        WantedPlace::Function(_) => "function",
        WantedPlace::Value(..) => "value",
        WantedPlace::Text(_) => "text",
    };
    let what = if kind == "function" { "call" } else { "hit" };
    let shown = visible(text);
    let times = count(usize::try_from(all).unwrap_or(usize::MAX), what);
    let mut rows = vec![QueryRow {
        weight: Weight::FRAME,
        text: format!("{shown}: {times}, entries {first} to {last}"),
        json: json!({ "kind": "found", "what": kind, "of": text, "count": all, "first": first, "last": last }),
    }];
    threads(recording, &hits, what, &mut rows);
    let before = hits.len().saturating_sub(limit);
    if before > 0 {
        rows.push(QueryRow {
            weight: Weight::FRAME,
            text: format!("  {before} earlier are not listed; --limit {} lists all", hits.len()),
            json: json!({ "kind": "earlier", "hits": before }),
        });
    }
    let listed = (0..).zip(&hits[before..]);
    rows.extend(listed.map(|(place, hit)| row(recording, hit, Weight::newer(place))));
    // A value may be one of a caller of the call at its entry.
    let owner = hits.last().and_then(|hit| recording.call(hit.value?.call?));
    let next = asked.next_frame(owner.map_or(last, |owner| recording.number(owner.first)));
    rows.push(QueryRow {
        weight: Weight::FRAME,
        text: format!("the call around the last: {next}"),
        json: json!({ "kind": "next", "command": next }),
    });
    Ok(rows)
}

fn hits<'r>(recording: &'r Recording, wanted: &WantedPlace) -> Vec<Hit<'r>> {
    let more = MoreRuns::of(recording);
    let hit = |step| Hit { step, runs: more.runs(step), value: None };
    match wanted {
        WantedPlace::Step(number) => {
            let found = recording.by_number(*number).filter(|step| recording.number(*step) == *number);
            found.map(hit).into_iter().collect()
        }
        WantedPlace::Lines(path, first, last) => {
            let lines = *first..=*last;
            let files = recording.files.iter().enumerate().filter(|(_, file)| is_file(file, path));
            let files: Vec<u32> = files.map(|(index, _)| index as u32).collect();
            let mut wanted = vec![false; recording.sites.len()];
            for (index, site) in recording.sites.iter().enumerate() {
                if files.contains(&site.file) && lines.contains(&site.line) {
                    // A line with several statements ran once when all of them did.
                    let first = recording.line_sites(site.file, site.line);
                    wanted[index] = first.contains(&SiteId(index as u32));
                }
            }
            let steps = recording.steps().enumerate().filter(|(_, step)| match step {
                RecordedStep::Statement(SiteId(site)) => wanted.get(*site as usize) == Some(&true),
                RecordedStep::Event(_) => false,
            });
            steps.map(|(index, _)| hit(StepId(index as u32))).collect()
        }
        WantedPlace::Function(name) => {
            let is_wanted: Vec<bool> =
                recording.functions.iter().map(|function| is_function(&function.name, name)).collect();
            let calls =
                recording.calls.iter().filter(|call| is_wanted.get(call.function.0 as usize) == Some(&true));
            calls.filter(|call| !call.is_resumed).map(|call| hit(call.first)).collect()
        }
        WantedPlace::Text(text) => {
            let is_wanted: Vec<bool> = recording
                .events
                .iter()
                .map(|event| {
                    matches!(event.kind, EventKind::Output | EventKind::Trace)
                        && recording.strings.get(event.text).contains(&**text)
                })
                .collect();
            let steps = recording.steps().enumerate().filter(|(_, step)| match step {
                RecordedStep::Event(event) => is_wanted.get(*event as usize) == Some(&true),
                RecordedStep::Statement(_) => false,
            });
            steps.map(|(index, _)| hit(StepId(index as u32))).collect()
        }
        WantedPlace::Value(name, value) => {
            let Some(name) = recording.strings.find(name) else { return Vec::new() };
            let values = recording
                .values
                .iter()
                .filter(|found| found.name == name && is_value(recording.strings.get(found.text), value));
            values.map(|value| Hit { value: Some(value), ..hit(value.step) }).collect()
        }
    }
}

/// How many are in each thread.
fn threads(recording: &Recording, hits: &[Hit<'_>], what: &str, rows: &mut Vec<QueryRow>) {
    let mut of_lane: Vec<(u64, u64, u64)> = vec![(0, 0, 0); recording.lanes.len()];
    for hit in hits {
        let Some(found) = of_lane.get_mut(recording.lane_of(hit.step).0 as usize) else { continue };
        let number = recording.number(hit.step);
        *found = (found.0.saturating_add(hit.runs), if found.0 == 0 { number } else { found.1 }, number);
    }
    for (lane, (all, first, last)) in recording.lanes.iter().zip(of_lane).filter(|(_, (all, ..))| *all > 0) {
        let times = count(usize::try_from(all).unwrap_or(usize::MAX), what);
        rows.push(QueryRow {
            weight: Weight::on_the_way(last),
            text: format!("  thread {}: {times}, entries {first} to {last}", lane.name),
            json: json!({ "kind": "thread", "thread": lane.name, "ring": lane.ring, "count": all, "first": first, "last": last }),
        });
    }
}

fn row(recording: &Recording, hit: &Hit<'_>, weight: Weight) -> QueryRow {
    let number = recording.number(hit.step);
    let lane = recording.lane(recording.lane_of(hit.step));
    let (thread, ring) = lane.map_or(("", 0), |lane| (&lane.name, lane.ring));
    let event = recording.event(hit.step).map(|event| recording.strings.get(event.text));
    let site = match event {
        Some(_) => recording.recorded_in(hit.step).and_then(|frame| frame.site),
        None => recording.site_at(hit.step),
    };
    let place = site.and_then(|site| recording.place_text(site)).unwrap_or_default();
    let strings = &recording.strings;
    let values = match hit.value {
        Some(value) => std::slice::from_ref(value),
        None => recording.values_at(hit.step),
    };
    let values_text =
        values.iter().map(|value| format!("{} = {}", strings.get(value.name), strings.get(value.text)));
    let shown: Vec<String> = values_text.chain(event.map(str::to_owned)).collect();
    let again = if hit.runs > 1 { format!("  x {}", hit.runs) } else { String::new() };
    let shown = if shown.is_empty() { String::new() } else { format!("  {}", shown.join(", ")) };
    let mut json = json!({ "kind": "hit", "n": number, "thread": thread, "ring": ring, "times": hit.runs });
    if let (Some(file), Some(known)) =
        (site.and_then(|site| recording.file_of(site)), site.and_then(|site| recording.site(site)))
    {
        json["file"] = file.path.clone().into();
        json["line"] = known.line.into();
        json["function"] = site.map_or("", |site| recording.function_of(site)).into();
    }
    if let Some(text) = event {
        json["text"] = text.into();
    }
    if !values.is_empty() {
        json["values"] = values.iter().map(|value| json_value(recording, value)).collect::<Value>();
    }
    QueryRow { weight, text: format!("  {number}  {thread}  {place}{shown}{again}"), json }
}

/// A value as JSON.
pub fn json_value(recording: &Recording, value: &ValueAt) -> Value {
    let text = |id| recording.strings.get(id);
    json!({ "name": text(value.name), "type": text(value.type_name), "text": text(value.text) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::recording::RecordingSample;

    #[test]
    fn hits_are_counted_and_listed() {
        let recording = &RecordingSample::calls().recording;
        let asked = AskedHistory {
            source: Some("a b".to_owned()),
            options: vec![("thread", "t".to_owned()), ("ring", "1".to_owned())],
        };
        let file = &recording.files[0].path;
        let rows = find(recording, &format!("{file}:10"), 20, &asked).unwrap();
        assert_eq!((rows[0].json["count"].as_u64(), rows[0].json["first"].as_u64()), (Some(2), Some(3)));
        assert_eq!(rows.iter().filter(|row| row.json["kind"] == "hit").count(), 2);
        let rows = find(recording, "leaf", 1, &asked).unwrap();
        assert_eq!((&rows[0].json["what"], rows[0].json["count"].as_u64()), (&json!("function"), Some(2)));
        assert!(rows.iter().any(|row| row.text.contains("1 earlier")));
        let next = rows.last().unwrap();
        assert!(next.text.ends_with(": xhist-report frame 5 'a b' --thread=t --ring=1"), "{}", next.text);
        assert!(find(recording, "none", 1, &asked).is_err());
    }
}
