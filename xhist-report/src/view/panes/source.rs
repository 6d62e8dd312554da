//! The source: the file of the current line, with the lines that ran, breakpoints and the newest values of the call.

use std::collections::BTreeMap;

use super::calls::looked_at;
use super::scene::Scene;
use super::syntax;
use crate::view::row::{PaneRows, RowRole, ViewRow};
use xhist_history::recording::{RecordedFile, RecordedSite};

/// The lines of the file.
pub fn rows<'s>(scene: &Scene<'s>) -> PaneRows<'s> {
    let recording = scene.recording;
    let frame = looked_at(scene);
    let here = frame.and_then(|frame| frame.site).and_then(|site| Some((*recording.site(site)?, frame?)));
    let Some((site, frame)) = here else {
        return PaneRows::list(
            vec![ViewRow::new(RowRole::Dim, "no statement of this thread ran before this step")],
            None,
        );
    };
    let Some(file) = recording.files.get(site.file as usize) else { return PaneRows::list(Vec::new(), None) };
    let len = scene.index.line_count(site.file);
    if len < site.line as usize {
        let text = format!(
            "no source text of {}:{}; --source-root DIR looks for it below DIR",
            file.path, site.line
        );
        return PaneRows {
            title: title(file),
            ..PaneRows::list(vec![ViewRow::new(RowRole::Dim, text)], None)
        };
    }
    let ran: std::collections::HashSet<u32> =
        recording.sites.iter().filter(|other| other.file == site.file).map(|other| other.line).collect();
    let mut values: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for variable in recording.variables(frame.call, scene.state.step) {
        let (name, text) = (variable.value.name, variable.value.text);
        let text = format!("{} = {}", recording.strings.get(name), recording.strings.get(text));
        values.entry(variable.value.line).or_default().push(text);
    }
    let scene = *scene;
    let current = site.line as usize - 1;
    let width = len.to_string().len();
    let row = move |index: usize| {
        let line = index as u32 + 1;
        let mark = if scene.state.breakpoints.contains(&(site.file, line)) { '*' } else { ' ' };
        let ran = if ran.contains(&line) { '|' } else { ' ' };
        let mut row = ViewRow::new(RowRole::Event, mark).with(RowRole::Dim, format!("{line:>width$} {ran}"));
        let text = scene.index.line(recording, site.file, line);
        row.spans.extend(match index == current {
            true => statement(text, &site),
            false => syntax::spans(text),
        });
        if let Some(values) = values.get(&line) {
            row = row.with(RowRole::Value, format!("   {}", values.join(", ")));
        }
        row
    };
    PaneRows { title: title(file), len, current: Some(current), selected: current, row: Box::new(row) }
}

fn title(file: &RecordedFile) -> String {
    let from_map =
        if file.is_from_map { " (made from the map: the file is gone or has changed)" } else { "" };
    format!("{}{from_map}", file.path)
}

/// The line with the statement that runs.
fn statement(text: &str, site: &RecordedSite) -> Vec<(RowRole, String)> {
    let from = (site.col as usize).saturating_sub(1);
    let to = match site.end_line == site.line {
        true => (site.end_col as usize).saturating_sub(1).max(from),
        false => usize::MAX,
    };
    let part =
        |from: usize, to: usize| text.chars().skip(from).take(to.saturating_sub(from)).collect::<String>();
    if site.col == 0 || part(from, to).is_empty() {
        let indent = text.len() - text.trim_start().len();
        return vec![(RowRole::Plain, text[..indent].to_owned()), (RowRole::Here, text[indent..].to_owned())];
    }
    vec![
        (RowRole::Plain, part(0, from)),
        (RowRole::Here, part(from, to)),
        (RowRole::Plain, part(to, usize::MAX)),
    ]
}
