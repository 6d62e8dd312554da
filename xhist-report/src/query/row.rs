//! A line of an answer, as text and as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::budget::{Budget, KeptEntries, Weight};
use xhist_history::notes::typed;

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

/// What the user named, for the next command.
#[derive(Clone, Debug, Default)]
pub struct AskedHistory {
    /// The source.
    pub source: Option<String>,
    /// Options with their values. Entries have other numbers without those that choose some.
    pub options: Vec<(&'static str, String)>,
}

impl AskedHistory {
    /// The command for the call around an entry.
    pub(super) fn next_frame(&self, entry: u64) -> String {
        self.next(("frame", "xhist_frame"), ("call", &entry.to_string()))
    }

    /// The command that lists where something is.
    pub(super) fn next_find(&self, what: &str) -> String {
        self.next(("find", "xhist_find"), ("what", what))
    }

    fn next(&self, names: (&str, &str), argument: (&str, &str)) -> String {
        let source = self.source.as_deref().map(|source| ("source", source));
        let arguments: Vec<_> = [argument].into_iter().chain(source).collect();
        typed::tool(names, &arguments, &self.options)
    }
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
