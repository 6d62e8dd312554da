//! `frame`: one call as a whole, from who called it to how it was left.

use serde_json::{Value, json};

use super::find::json_value;
use super::rounds::{Part, fold};
use super::row::{AskedHistory, QueryRow};
use super::wanted::{CallNumber, NotFound, WantedPlace, is_file, is_function};
use crate::budget::Weight;
use xhist_history::model::count;
use xhist_history::recording::{
    CallId, CallSpan, EventKind, RecordedStep, Recording, SiteId, SpanExit, StepId, StringId, ValueAt,
};

/// Values of a statement that its line has at most of either end: a closure that it hands over may bind many.
const MOST_VALUES: usize = 8;

/// What a call did, in order.
#[derive(Clone, Copy)]
enum Doing {
    Statement(OwnStatement),
    Callee(CallId),
    Event(StepId),
}

/// A statement of the call.
#[derive(Clone, Copy)]
struct OwnStatement {
    step: StepId,
    site: SiteId,
    /// The step before the next one of the call: what it called may have run until then.
    until: StepId,
}

/// What makes two of them the same in rounds of a loop.
#[derive(PartialEq)]
enum Key {
    Statement(SiteId, Vec<u32>),
    Callee(u32, Option<SiteId>, SpanExit),
    Output(StringId),
    Event(StepId),
}

/// The call that is meant; without a text the one that failed, else the newest. `asked`: for the next command.
///
/// # Errors
/// It is not there; the error says what is.
pub fn frame(
    recording: &Recording,
    text: Option<&str>,
    asked: &AskedHistory,
) -> Result<Vec<QueryRow>, NotFound> {
    let call = match text {
        Some(text) => named(recording, text, asked)?,
        None => {
            let step = recording.opening_step();
            let failing = step.and_then(|step| recording.failing_stack(step).first()?.call);
            failing
                .ok_or_else(|| NotFound("this history has no calls: its map does not have them".to_owned()))?
        }
    };
    Ok(frame_of(recording, call, asked))
}

/// A call of the recording.
pub fn frame_of(recording: &Recording, call: CallId, asked: &AskedHistory) -> Vec<QueryRow> {
    recording.call(call).map_or_else(Vec::new, |span| rows(recording, (call, span), asked))
}

fn named(recording: &Recording, text: &str, asked: &AskedHistory) -> Result<CallId, NotFound> {
    let (wanted, choice) = WantedPlace::parse_choice(text);
    let calls: Vec<CallId> = match &wanted {
        WantedPlace::Step(number) => {
            let step = recording.by_number(*number).filter(|step| recording.number(*step) == *number);
            step.and_then(|step| recording.call_at(step)).into_iter().collect()
        }
        WantedPlace::Lines(path, first, last) => {
            let is_wanted = |site: SiteId| {
                recording.site(site).is_some_and(|known| (*first..=*last).contains(&known.line))
                    && recording.file_of(site).is_some_and(|file| is_file(file, path))
            };
            let sites: Vec<bool> =
                (0..recording.sites.len() as u32).map(|site| is_wanted(SiteId(site))).collect();
            let steps = recording.steps().enumerate().filter(|(_, step)| match step {
                RecordedStep::Statement(SiteId(site)) => sites.get(*site as usize) == Some(&true),
                RecordedStep::Event(_) => false,
            });
            let mut calls: Vec<CallId> =
                steps.filter_map(|(index, _)| recording.call_at(StepId(index as u32))).collect();
            calls.dedup();
            calls
        }
        WantedPlace::Function(name) => of_function(recording, |function| is_function(function, name)),
        WantedPlace::Value(..) | WantedPlace::Text(_) => {
            let find = asked.next_find(text);
            return Err(NotFound(format!("a value or a text names no call; `{find}` prints where it is")));
        }
    };
    let found = match choice {
        CallNumber::Last => calls.last(),
        CallNumber::Number(number) => number.checked_sub(1).and_then(|index| calls.get(index)),
    };
    match found {
        Some(call) => Ok(*call),
        None if calls.is_empty() => Err(wanted.not_found(recording, asked)),
        None => Err(NotFound(format!(
            "there are only {} in this history: #1 to #{}",
            count(calls.len(), "such call"),
            calls.len()
        ))),
    }
}

/// The calls of functions, oldest first.
fn of_function(recording: &Recording, is_it: impl Fn(&str) -> bool) -> Vec<CallId> {
    let is_wanted: Vec<bool> = recording.functions.iter().map(|function| is_it(&function.name)).collect();
    let calls = recording.calls.iter().enumerate();
    let calls = calls.filter(|(_, call)| is_wanted.get(call.function.0 as usize) == Some(&true));
    calls.map(|(index, _)| CallId(index as u32)).collect()
}

fn rows(recording: &Recording, (call, span): (CallId, &CallSpan), asked: &AskedHistory) -> Vec<QueryRow> {
    let mut rows = Vec::new();
    heading(recording, (call, span), asked, &mut rows);
    let doing = doing(recording, call, span);
    let keys: Vec<Key> = doing.iter().map(|doing| key(recording, call, *doing)).collect();
    let parts = fold(&keys);
    for (place, part) in (0..).zip(parts) {
        let weight = Weight::newer(place);
        rows.push(match part {
            Part::Row(index) => row(recording, call, doing[index], weight),
            Part::Again { rows, times, last } => {
                let to = recording.number(end_of(recording, doing[last]));
                let lines = if rows == 1 { "this line".to_owned() } else { format!("these {rows} lines") };
                let times_text = count(times, "time");
                QueryRow {
                    weight,
                    text: format!("  ... {lines} ran {times_text} more, to entry {to}"),
                    json: json!({ "kind": "again", "rows": rows, "times": times, "to": to }),
                }
            }
        });
    }
    left(recording, call, span, &mut rows);
    rows
}

/// Its function, where it is in the history, its arguments and its caller.
fn heading(
    recording: &Recording,
    (call, span): (CallId, &CallSpan),
    asked: &AskedHistory,
    rows: &mut Vec<QueryRow>,
) {
    let known = recording.functions.get(span.function.0 as usize);
    let name = known.map_or("?", |function| &*function.name);
    let file = known
        .and_then(|function| recording.files.get(function.file as usize))
        .map_or("?", |file| &*file.path);
    let line = known.map_or(0, |function| function.line);
    let all: Vec<CallId> = of_function(recording, |function| function == name);
    let number = all.iter().position(|other| *other == call).map_or(0, |index| index + 1);
    let lane = recording.lane(span.lane);
    let (thread, ring) = lane.map_or(("?", 0), |lane| (&*lane.name, lane.ring));
    let (first, last) = (recording.number(span.first), recording.number(span.last));
    let notes = [
        (span.entered_before, "its beginning is lost"),
        (span.is_resumed, "goes on after an `.await`"),
        (span.in_unwinding, "while a panic unwound"),
        (span.is_uncertain, "another caller is possible"),
    ];
    let notes: String = notes.iter().filter(|(is, _)| *is).map(|(_, note)| format!(", {note}")).collect();
    let arguments: Vec<&ValueAt> =
        of_call(recording, call, span).iter().copied().filter(|value| value.is_parameter).collect();
    let text = |value: &&ValueAt| {
        format!("{} = {}", recording.strings.get(value.name), recording.strings.get(value.text))
    };
    let shown: Vec<String> = arguments.iter().map(text).collect();
    let shown = if shown.is_empty() { String::new() } else { format!("({})", shown.join(", ")) };
    let of = all.len();
    rows.push(QueryRow {
        weight: Weight::FRAME,
        text: format!("{name}{shown}  {file}:{line}, call #{number} of {of}, thread {thread}, entries {first} to {last}{notes}"),
        json: json!({
            "kind": "frame", "function": name, "file": file, "line": line, "call": number, "of": of, "thread": thread,
            "ring": ring, "first": first, "last": last, "exit": span.exit.name(), "entered_before": span.entered_before,
            "uncertain": span.is_uncertain,
            "arguments": arguments.iter().map(|value| json_value(recording, value)).collect::<Value>(),
        }),
    });
    let Some(parent) = span.parent.and_then(|parent| recording.call(parent)) else { return };
    let caller = recording.functions.get(parent.function.0 as usize).map_or("?", |function| &*function.name);
    let place =
        span.called_from.and_then(|site| recording.place_text(site)).unwrap_or_else(|| caller.to_owned());
    let next = asked.next_frame(recording.number(parent.first));
    let site = span.called_from.and_then(|site| Some((recording.file_of(site)?, recording.site(site)?.line)));
    rows.push(QueryRow {
        weight: Weight::FRAME,
        text: format!("called by {place}   ({next})"),
        json: json!({
            "kind": "caller", "function": caller, "file": site.map(|(file, _)| &file.path), "line": site.map(|(_, line)| line),
            "command": next,
        }),
    });
}

/// The values of a call, oldest first.
fn of_call<'r>(recording: &'r Recording, call: CallId, span: &CallSpan) -> Vec<&'r ValueAt> {
    let from = recording.values.partition_point(|value| value.step < span.first);
    let to = recording.values.partition_point(|value| value.step <= span.last);
    recording.values[from..to.max(from)].iter().filter(|value| value.call == Some(call)).collect()
}

/// What it did between its first and its last step. What its callees did is not part of it.
fn doing(recording: &Recording, call: CallId, span: &CallSpan) -> Vec<Doing> {
    let Some(lane) = recording.lane(span.lane) else { return Vec::new() };
    let from = lane.calls.partition_point(|other| *other <= call);
    let mut calls = lane.calls[from..]
        .iter()
        .filter(|other| recording.call(**other).is_some_and(|other| other.parent == Some(call)));
    let mut callee = calls.next();
    let mut doing = Vec::new();
    let mut behind = None;
    let (first, last) = (
        lane.steps.partition_point(|step| *step < span.first),
        lane.steps.partition_point(|step| *step <= span.last),
    );
    for step in &lane.steps[first..last.max(first)] {
        let is_output = recording.event(*step).is_some_and(|event| event.kind == EventKind::Output);
        // What was printed comes behind the calls of its arguments, whose ends nothing else shows.
        let is_own = is_output.then(|| {
            let frame = recording.recorded_in(*step);
            frame.and_then(|frame| frame.call) == Some(call)
        });
        if is_own == Some(true) {
            doing.push(Doing::Event(*step));
            continue;
        }
        if is_own == Some(false) || behind.is_some_and(|behind| *step <= behind) {
            continue;
        }
        if let Some((id, inner)) = callee.and_then(|id| Some((*id, recording.call(*id)?)))
            && inner.first <= *step
        {
            doing.push(Doing::Callee(id));
            behind = Some(inner.last);
            callee = calls.next();
            if *step <= inner.last {
                continue;
            }
        }
        match recording.step(*step) {
            Some(RecordedStep::Statement(site)) => {
                doing.push(Doing::Statement(OwnStatement { step: *step, site, until: *step }));
            }
            Some(RecordedStep::Event(_)) => doing.push(Doing::Event(*step)),
            None => {}
        }
    }
    let mut until = span.last;
    for doing in doing.iter_mut().rev() {
        if let Doing::Statement(own) = doing {
            own.until = until.max(own.step);
            until = StepId(own.step.0.saturating_sub(1));
        }
    }
    doing
}

/// The values that a statement of a call bound, also those that are known only behind the calls that it made.
fn values_of(recording: &Recording, call: CallId, own: OwnStatement) -> Vec<&ValueAt> {
    let from = recording.values.partition_point(|value| value.step < own.step);
    let to = recording.values.partition_point(|value| value.step <= own.until);
    let is_own = |value: &&ValueAt| match value.call {
        Some(of) => of == call,
        None => value.step == own.step,
    };
    recording.values[from..to.max(from)].iter().filter(is_own).collect()
}

fn key(recording: &Recording, call: CallId, doing: Doing) -> Key {
    match doing {
        // Rounds with other values are shown.
        Doing::Statement(own) => {
            let values = values_of(recording, call, own);
            Key::Statement(own.site, values.iter().map(|value| value.text.0).collect())
        }
        Doing::Callee(id) => match recording.call(id) {
            Some(inner) => Key::Callee(inner.function.0, inner.called_from, inner.exit),
            None => Key::Callee(u32::MAX, None, SpanExit::Unknown),
        },
        Doing::Event(step) => match recording.event(step).filter(|event| event.kind == EventKind::Output) {
            Some(event) => Key::Output(event.text),
            None => Key::Event(step),
        },
    }
}

/// The last step of it.
fn end_of(recording: &Recording, doing: Doing) -> StepId {
    match doing {
        Doing::Statement(OwnStatement { step, .. }) | Doing::Event(step) => step,
        Doing::Callee(id) => recording.call(id).map_or(StepId(0), |inner| inner.last),
    }
}

fn row(recording: &Recording, call: CallId, doing: Doing, weight: Weight) -> QueryRow {
    match doing {
        Doing::Statement(own) => statement(recording, call, own, weight),
        Doing::Callee(id) => callee(recording, id, weight),
        Doing::Event(step) => {
            let text = recording.event(step).map_or("", |event| recording.strings.get(event.text));
            let kind = recording.event(step).map_or("event", |event| event.kind.name());
            let shown = match recording.event(step).is_some_and(|event| event.kind == EventKind::Output) {
                true => format!("    {text}"),
                false => format!("  {}  -- {text} --", recording.number(step)),
            };
            QueryRow {
                weight,
                text: shown,
                json: json!({ "kind": "event", "n": recording.number(step), "event": kind, "text": text }),
            }
        }
    }
}

fn statement(recording: &Recording, call: CallId, own: OwnStatement, weight: Weight) -> QueryRow {
    let OwnStatement { step, site, .. } = own;
    let number = recording.number(step);
    let (file, line) = match (recording.file_of(site), recording.site(site)) {
        (Some(file), Some(known)) => (Some(file), known.line),
        _ => (None, 0),
    };
    let source = file.and_then(|file| file.line(line)).unwrap_or_default().trim();
    let mut values = values_of(recording, call, own);
    values.retain(|value| !value.is_parameter);
    let text = |value: &&ValueAt| {
        format!("{} = {}", recording.strings.get(value.name), recording.strings.get(value.text))
    };
    let mut shown: Vec<String> = values.iter().map(text).collect();
    if shown.len() > 2 * MOST_VALUES + 1 {
        let left_out = shown.len() - 2 * MOST_VALUES;
        let kept = MOST_VALUES..MOST_VALUES + left_out;
        shown.splice(kept, [format!("... {left_out} more")]);
    }
    let shown = if shown.is_empty() { String::new() } else { format!("  [{}]", shown.join(", ")) };
    let path = file.map_or("?", |file| &*file.path);
    QueryRow {
        weight,
        text: format!("  {number}  {path}:{line}  {source}{shown}"),
        json: json!({
            "kind": "statement", "n": number, "file": path, "line": line, "source": source,
            "values": values.iter().map(|value| json_value(recording, value)).collect::<Value>(),
        }),
    }
}

fn callee(recording: &Recording, id: CallId, weight: Weight) -> QueryRow {
    let Some(inner) = recording.call(id) else {
        return QueryRow { weight, text: String::new(), json: json!({ "kind": "callee" }) };
    };
    let name = recording.functions.get(inner.function.0 as usize).map_or("?", |function| &*function.name);
    let (first, last) = (recording.number(inner.first), recording.number(inner.last));
    let arguments: Vec<&ValueAt> =
        of_call(recording, id, inner).into_iter().filter(|value| value.is_parameter).collect();
    let shown: Vec<String> = arguments
        .iter()
        .map(|value| format!("{} = {}", recording.strings.get(value.name), recording.strings.get(value.text)))
        .collect();
    let shown = if shown.is_empty() { String::new() } else { format!("({})", shown.join(", ")) };
    let how = how_left(recording, id, inner);
    let entries = if first == last { format!("entry {first}") } else { format!("entries {first} to {last}") };
    QueryRow {
        weight,
        text: format!("    -> {name}{shown}  {entries}, {how}"),
        json: json!({
            "kind": "callee", "function": name, "first": first, "last": last, "exit": inner.exit.name(), "how": how,
            "arguments": arguments.iter().map(|value| json_value(recording, value)).collect::<Value>(),
        }),
    }
}

/// How a call was left, in words.
fn how_left(recording: &Recording, call: CallId, span: &CallSpan) -> String {
    let line = recording.site_at(span.last).and_then(|site| recording.site(site)).map_or(0, |site| site.line);
    let panic = match span.exit {
        SpanExit::Open | SpanExit::Unwound => recording.panic_in(call),
        _ => None,
    };
    let is_failing =
        |panic| recording.failing_stack(panic).first().and_then(|frame| frame.call) == Some(call);
    match (span.exit, panic) {
        (SpanExit::Returned, _) => "returned".to_owned(),
        (_, Some((panic, true))) => {
            let has_frames = recording.panic(panic).is_some_and(|panic| panic.innermost.is_some());
            let by = if has_frames { "by its frames" } else { "by its message" };
            let panic = recording.number(panic);
            format!("returned, or left by the panic at entry {panic}, which was in a call around it {by}")
        }
        (_, Some((step, false)))
            if is_failing(step)
                && recording.panic(step).is_some_and(|panic| recording.is_elsewhere(panic)) =>
        {
            let panic = recording.number(step);
            format!("panicked at entry {panic}, or had returned: the message names code that is not recorded")
        }
        (_, Some((panic, false))) if is_failing(panic) => {
            format!("panicked at entry {}", recording.number(panic))
        }
        (SpanExit::Unwound, _) | (SpanExit::Open, Some(_)) => {
            "left by a panic that passed through it".to_owned()
        }
        (SpanExit::Open, None) => format!("still open at line {line}"),
        (SpanExit::Parked, _) => format!("parked at line {line}"),
        (SpanExit::Cancelled, _) => format!("cancelled at line {line}"),
        (SpanExit::Unknown, _) => "its end is lost".to_owned(),
    }
}

fn left(recording: &Recording, call: CallId, span: &CallSpan, rows: &mut Vec<QueryRow>) {
    let how = how_left(recording, call, span);
    rows.push(QueryRow {
        weight: Weight::FRAME,
        text: how.clone(),
        json: json!({ "kind": "left", "exit": span.exit.name(), "how": how, "at": recording.number(span.last) }),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::model::{CodePlace, LocatedPanic};
    use xhist_history::recording::RecordingSample;

    #[test]
    fn a_call_that_returned_before_the_panic_was_not_left_by_it() {
        let mut sample = RecordingSample::default();
        for line in [1, 2, 10, 11] {
            sample.line(line);
        }
        let panic = sample.event(EventKind::Panic, "panicked; its message names src/main.rs:2");
        for (last, parent) in [((0, 4), None), ((2, 4), Some(0))] {
            let call = sample.call(u32::from(parent.is_some()), last, parent);
            sample.recording.calls[call.0 as usize].exit = SpanExit::Open;
        }
        sample.recording.panics.push((panic, RecordingSample::panic_named(2)));
        let left = |of| {
            let rows = frame(&sample.recording, Some(of), &AskedHistory::default()).unwrap();
            rows.last().map(|row| row.text.clone()).unwrap_or_default()
        };
        assert_eq!(left("main"), "panicked at entry 5");
        assert_eq!(
            left("leaf"),
            "returned, or left by the panic at entry 5, which was in a call around it by its message"
        );
    }

    #[test]
    fn without_frames_a_panic_in_code_of_others_may_be_behind_the_call() {
        let mut sample = RecordingSample::default();
        [1, 2, 10, 11].iter().for_each(|line| _ = sample.line(*line));
        let panic = sample.event(EventKind::Panic, "panicked; its message names check-1.0.0/src/a.rs:7");
        sample.call(0, (0, 4), None);
        let leaf = sample.call(1, (2, 4), Some(0));
        sample.recording.calls[leaf.0 as usize].exit = SpanExit::Open;
        let named = CodePlace { path: "/r/check-1.0.0/src/a.rs".to_owned(), line: 7 };
        sample.recording.panics.push((panic, LocatedPanic { named: Some(named), ..LocatedPanic::default() }));
        let rows = frame(&sample.recording, Some("leaf"), &AskedHistory::default()).unwrap();
        assert!(
            rows.last().is_some_and(|row| row.text.starts_with("panicked at entry 5, or had returned: "))
        );
    }

    #[test]
    fn a_statement_has_a_line_of_values_whatever_their_number() {
        let mut sample = RecordingSample::calls();
        for round in 0..40 {
            sample.value((0, 0), "a", &round.to_string());
        }
        let rows = frame(&sample.recording, Some("main"), &AskedHistory::default()).unwrap();
        assert!(rows[1].text.contains("[a = 0, a = 1, "), "{}", rows[1].text);
        let end = "a = 7, ... 24 more, a = 32, a = 33, a = 34, a = 35, a = 36, a = 37, a = 38, a = 39]";
        assert!(rows[1].text.ends_with(end), "{}", rows[1].text);
        assert_eq!(rows[1].json["values"].as_array().map(Vec::len), Some(40));
    }

    #[test]
    fn a_call_has_its_statements_and_its_callees() {
        let recording = &RecordingSample::calls().recording;
        let asked = AskedHistory::default();
        let rows = frame(recording, Some("main"), &asked).unwrap();
        let kinds: Vec<&str> = rows.iter().filter_map(|row| row.json["kind"].as_str()).collect();
        assert_eq!(kinds, ["frame", "statement", "statement", "callee", "again", "statement", "left"]);
        assert_eq!(rows[5].json["line"], 3);
        let rows = frame(recording, Some("leaf#1"), &asked).unwrap();
        assert_eq!(
            (&rows[0].json["call"], &rows[0].json["of"], &rows[0].json["first"]),
            (&json!(1), &json!(2), &json!(3))
        );
        assert_eq!(rows[1].json["function"], "main");
        let last = frame(recording, Some("leaf"), &asked).unwrap();
        assert_eq!(last[0].json["first"], frame(recording, Some("6"), &asked).unwrap()[0].json["first"]);
        let file = &recording.files[0].path;
        assert_eq!(frame(recording, Some(&format!("{file}:11#1")), &asked).unwrap()[0].json["first"], 3);
        assert!(frame(recording, Some("leaf#3"), &asked).unwrap_err().to_string().contains("#1 to #2"));
        assert!(frame(recording, Some("x=1"), &asked).unwrap_err().to_string().contains("find"));
    }
}
