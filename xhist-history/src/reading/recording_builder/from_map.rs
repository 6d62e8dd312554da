//! The text of a source file that is gone, as far as its map describes it: functions, and the calls of statements.

use std::collections::BTreeMap;

use crate::model::{Names, visible};

/// Lines of a file that is made from its map.
const MAX_LINES: u32 = 1_000_000;

/// What the map knows of a file, each in its line; `None` if the map knows no statement of it.
pub fn text_from_map(names: &Names, file: u16) -> Option<String> {
    let code = names.code(file)?;
    let mut lines: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for body in &code.bodies {
        lines.entry(body.span.line).or_default().push(format!("fn {}", body.path));
    }
    for (index, span) in names.statements(file).iter().enumerate() {
        let calls = code.statements.get(index).map_or(&[][..], |known| names.call_names().of(&known.calls));
        let called = calls.iter().filter_map(|call| names.call_names().names().get(call.name as usize));
        let called: Vec<_> = called.map(|name| visible(name.trim_start_matches('.')).into_owned()).collect();
        let indent = " ".repeat(span.col.saturating_sub(1).min(80) as usize);
        let text = match called.is_empty() {
            true => format!("{indent}statement"),
            false => format!("{indent}statement that calls {}", called.join(", ")),
        };
        lines.entry(span.line).or_default().push(text);
    }
    let last = *lines.keys().next_back()?;
    let line = |line: u32| lines.get(&line).map_or(String::new(), |texts| texts.join("; "));
    Some((1..=last.min(MAX_LINES)).map(line).collect::<Vec<_>>().join("\n"))
}
