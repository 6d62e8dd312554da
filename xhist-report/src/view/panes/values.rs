//! The values: of each name of the call the newest one up to the cursor.

use super::calls::looked_at;
use super::scene::Scene;
use crate::view::row::{PaneRows, RowRole, RowTarget, ViewRow};

/// The values of the call.
pub fn rows<'s>(scene: &Scene<'s>) -> PaneRows<'s> {
    let recording = scene.recording;
    let strings = &recording.strings;
    let frame = looked_at(scene);
    let function = frame.and_then(|frame| recording.functions.get(frame.function.0 as usize));
    let mut rows = Vec::new();
    for variable in recording.variables(frame.and_then(|frame| frame.call), scene.state.step) {
        let value = variable.value;
        let type_name = strings.get(value.type_name);
        let type_name = if type_name.is_empty() { String::new() } else { format!(": {type_name}") };
        rows.push(
            ViewRow::new(RowRole::Name, strings.get(value.name))
                .with(RowRole::Dim, type_name)
                .with(RowRole::Value, format!(" = {}", strings.get(value.text)))
                .with(RowRole::Dim, format!("   at {}", scene.number(value.step)))
                .about(RowTarget::Step(value.step)),
        );
    }
    if rows.is_empty() {
        let text = match recording.values.is_empty() {
            true => "no values were recorded; `cargo xhist run --values '**'` records them",
            false => "no value of this call was recorded up to here",
        };
        rows.push(ViewRow::new(RowRole::Dim, text));
    }
    PaneRows {
        title: function.map_or_else(String::new, |function| format!("of {}", function.name)),
        ..PaneRows::list(rows, None)
    }
}
