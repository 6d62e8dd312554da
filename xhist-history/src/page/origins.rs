//! Where the values of the call that failed come from: a page cannot ask for more.

use serde_json::{Value, json};

use crate::origin::{ValueOrigin, origin_of};
use crate::recording::Recording;

/// Values whose origins a page has.
const MOST: usize = 12;

/// The origins of the values of the innermost call, where the page opens.
pub fn origins(recording: &Recording) -> Vec<Value> {
    let Some(step) = recording.opening_step() else { return Vec::new() };
    let values = recording.variables(recording.call_at(step), step);
    let names = values.iter().map(|variable| recording.strings.get(variable.value.name));
    let found = names.take(MOST).filter_map(|name| origin_of(recording, name, step).ok());
    found.map(|origin| shown(recording, &origin)).collect()
}

fn shown(recording: &Recording, origin: &ValueOrigin) -> Value {
    let hops = origin.hops.iter().map(|hop| {
        let value = hop.value.as_ref().map_or(String::new(), |value| format!(" = {value}"));
        let text = format!("{} {}{value}", hop.kind.name(), hop.name);
        json!({"step": hop.step.0, "text": text, "isFromText": hop.value.is_none()})
    });
    json!({"name": origin.name, "hops": hops.collect::<Vec<_>>(), "end": origin.end_text(recording)})
}
