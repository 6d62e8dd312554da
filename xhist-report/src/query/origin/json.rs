//! The origin of a value as JSON, one object a line.

use serde_json::{Value, json};

use super::{OriginLine, weight_of_hop};
use crate::budget::Weight;
use xhist_history::origin::{OriginEnd, OriginHop, ValueOrigin};
use xhist_history::recording::{Recording, SiteId};

/// The version of this format.
const SCHEMA: u32 = 1;

/// The lines of an origin. Without the first and the last the others are not understood.
pub fn lines(recording: &Recording, origin: &ValueOrigin) -> Vec<OriginLine> {
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
    let head = with_place(recording, recording.site_at(origin.step), head);
    let mut lines = vec![(Weight::FRAME, head.to_string())];
    let hops = origin.hops.iter().enumerate();
    lines.extend(
        hops.map(|(index, hop)| {
            (weight_of_hop(index, origin.hops.len()), hop_json(recording, hop).to_string())
        }),
    );
    let end = match &origin.end {
        OriginEnd::Made(by, operands) => {
            let operand = |operand: &xhist_history::origin::Operand| json!({ "name": operand.name, "n": recording.number(operand.step), "value": operand.value });
            json!({ "kind": "made", "by": by, "of": operands.iter().map(operand).collect::<Vec<_>>() })
        }
        OriginEnd::Unknown(why) => json!({ "kind": "unknown", "why": why }),
    };
    lines.push((Weight::FRAME, end.to_string()));
    lines
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
