//! The origin of a value as JSON, one object a line.

use std::io::{self, Write};

use serde_json::{Value, json};

use xhist_history::origin::{OriginEnd, OriginHop, ValueOrigin};
use xhist_history::recording::{Recording, SiteId};

/// The version of this format.
const SCHEMA: u32 = 1;

/// Writes an origin.
pub fn print(recording: &Recording, origin: &ValueOrigin, out: &mut dyn Write) -> io::Result<()> {
    let lane = recording.lane(recording.lane_of(origin.step));
    let head = json!({
        "schema": SCHEMA,
        "kind": "origin",
        "name": origin.name,
        "n": recording.number(origin.step),
        "ring": lane.map(|lane| lane.ring),
        "thread": lane.map(|lane| &lane.name),
        "value": origin.value,
    });
    writeln!(out, "{}", with_place(recording, recording.site_at(origin.step), head))?;
    for hop in &origin.hops {
        writeln!(out, "{}", hop_json(recording, hop))?;
    }
    let end = match &origin.end {
        OriginEnd::Made(by, operands) => {
            let operand = |operand: &xhist_history::origin::Operand| json!({ "name": operand.name, "n": recording.number(operand.step), "value": operand.value });
            json!({ "kind": "made", "by": by, "of": operands.iter().map(operand).collect::<Vec<_>>() })
        }
        OriginEnd::Unknown(why) => json!({ "kind": "unknown", "why": why }),
    };
    writeln!(out, "{end}")
}

fn hop_json(recording: &Recording, hop: &OriginHop) -> Value {
    let line = json!({
        "kind": "hop",
        "n": recording.number(hop.step),
        "how": hop.kind.name(),
        "name": hop.name,
        "value": hop.value,
        "known_by": if hop.value.is_some() { "value" } else { "text" },
    });
    with_place(recording, Some(hop.site), line)
}

/// The same with the place and the text of a statement.
fn with_place(recording: &Recording, site: Option<SiteId>, mut line: Value) -> Value {
    let Some((id, site)) = site.and_then(|id| Some((id, recording.site(id)?))) else { return line };
    if let Some(file) = recording.file_of(id) {
        line["file"] = file.path.as_str().into();
        line["source"] = file.line(site.line).unwrap_or_default().trim().into();
    }
    line["line"] = site.line.into();
    line["function"] = recording.function_of(id).into();
    line
}
