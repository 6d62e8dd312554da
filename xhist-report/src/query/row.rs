//! A line of an answer, as text and as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::budget::{Budget, KeptEntries, Weight};
use xhist_history::typed;

/// As in the JSON lines of reports.
const SCHEMA: u32 = crate::format::SCHEMA;

/// A line.
#[derive(Clone, Debug)]
pub struct QueryRow {
    /// How much it matters where not all fits.
    pub weight: Weight,
    /// For people, without a line end.
    pub text: String,
    /// For programs: an object with a `kind`.
    pub json: Value,
}

/// The command for the call around an entry of what the user named.
pub fn next_frame(entry: u64, source: Option<&str>) -> String {
    let entry = entry.to_string();
    let arguments = [Some(("call", &*entry)), source.map(|source| ("source", source))];
    typed::tool(("frame", "xhist_frame"), &arguments.into_iter().flatten().collect::<Vec<_>>())
}

/// How an answer looks.
#[derive(Clone, Debug, Default)]
pub struct QueryLook {
    /// As JSON lines.
    pub is_json: bool,
    /// How long it may be.
    pub budget: Option<Budget>,
}

/// Prints rows. `complete`: nothing was lost or damaged.
///
/// # Errors
/// Those of the output.
pub fn print(rows: &[QueryRow], complete: bool, look: &QueryLook, out: &mut dyn Write) -> io::Result<()> {
    let budget = look.budget.clone();
    let mut entries = budget.map(|budget| KeptEntries::new(budget, look.is_json));
    let mut put = |weight: Weight, line: String| match &mut entries {
        Some(entries) => {
            entries.push(weight, line.as_bytes());
            Ok(())
        }
        None => out.write_all(line.as_bytes()),
    };
    if look.is_json {
        let tool = crate::format::TOOL;
        let head = format!(
            "{{\"schema\":{SCHEMA},\"kind\":\"report\",\"tool\":\"{tool}\",\"entries\":{}}}\n",
            rows.len()
        );
        put(Weight::FRAME, head)?;
        for row in rows {
            put(row.weight, format!("{}\n", row.json))?;
        }
        put(
            Weight::FRAME,
            format!("{}\n", json!({ "kind": "end", "entries": rows.len(), "complete": complete })),
        )?;
    } else {
        for row in rows {
            put(row.weight, format!("{}\n", row.text))?;
        }
    }
    match entries {
        Some(entries) => entries.write(out),
        None => out.flush(),
    }
}
