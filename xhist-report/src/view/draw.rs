//! Draws the view into a buffer: a line about the step, the panes, and a line for messages and answers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::keys::{KEYS, RULE, shown};
use super::layout::{ScreenPart, body, slots};
use super::panes::{Scene, end_of, rows};
use super::row::{RowRole, ViewRow};
use super::state::{LetterUse, Mode, PaneId};
use super::style::{selected, style};
use super::whole::WholeAnswer;

/// What the last line shows as long as there is no message.
const HINTS: &str =
    "? help  q quit  s step  o over  u up  l line again  t thread  / search  Tab pane  (capital: back)";

/// Draws everything.
pub fn draw(scene: &Scene<'_>, has_colour: bool, buffer: &mut Buffer) {
    let area = buffer.area;
    if area.height < 3 || area.width < 10 {
        buffer.set_stringn(area.x, area.y, "too small", usize::from(area.width), Style::new());
        return;
    }
    let look = Look { has_colour };
    let width = usize::from(area.width);
    buffer.set_stringn(area.x, area.y, header(scene), width, look.of(RowRole::Here));
    match &scene.state.mode {
        Mode::Help => look.help(body(area), buffer),
        Mode::Whole(answer) => look.whole(answer, body(area), buffer),
        _ => slots(scene.state, body(area)).iter().for_each(|slot| look.slot(scene, slot, buffer)),
    }
    let footer = footer(scene);
    buffer.set_stringn(area.x, area.bottom() - 1, footer, width, look.of(RowRole::Plain));
}

/// Step, thread, how it ended, function, time and run.
fn header(scene: &Scene<'_>) -> String {
    let (recording, step) = (scene.recording, scene.state.step);
    let Some(last) = recording.last() else { return "no step is recorded yet".to_owned() };
    let mut parts = vec![format!("step {} of {}", recording.number(step), recording.number(last))];
    if let (Some(time), Some((_, first))) = (recording.time(step), recording.times.first()) {
        parts.push(format!("+{:.6} s", time.saturating_sub(*first) as f64 / 1e9));
    }
    if let Some(lane) = recording.lane(recording.lane_of(step)) {
        let end = if lane.status.is_empty() { String::new() } else { format!(" ({})", end_of(lane)) };
        parts.push(format!("{}{end}", lane.name));
    }
    if let Some(task) = recording.task_at(step) {
        parts.push(format!("task {}", task.task));
    }
    if let Some((id, site)) = recording.site_at(step).and_then(|id| Some((id, recording.site(id)?))) {
        parts.push(format!("{} {}", scene.place(id), recording.function_of(id)));
        let (run, runs) = scene.index.runs(&recording.line_sites(site.file, site.line), step);
        parts.push(format!("run {run} of {runs}"));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}

fn footer(scene: &Scene<'_>) -> String {
    let state = scene.state;
    match &state.mode {
        Mode::Typing(prompt, text) => format!("{}{text}_", prompt.text()),
        Mode::Letter(LetterUse::Set) => "letter of the new mark: ".to_owned(),
        Mode::Letter(LetterUse::Go) => format!(
            "go to mark: {}",
            state.marks.keys().map(|letter| format!("{letter} ")).collect::<String>()
        ),
        Mode::Help => "any key leaves the help".to_owned(),
        Mode::Whole(_) => "j k: other row  Enter: go to its step  any other key leaves".to_owned(),
        Mode::Keys => match state.count {
            Some(count) => format!("{count}  (g goes to this step)"),
            None if !state.message.is_empty() => state.message.clone(),
            None => HINTS.to_owned(),
        },
    }
}

/// How things look.
struct Look {
    has_colour: bool,
}

impl Look {
    fn of(&self, role: RowRole) -> Style {
        style(role, self.has_colour)
    }

    fn help(&self, area: Rect, buffer: &mut Buffer) {
        let rows = KEYS.iter().map(|row| (shown(row.keys), row.help));
        let rule = (usize::from(area.height) > KEYS.len()).then(|| (String::new(), RULE));
        for ((keys, help), y) in rule.into_iter().chain(rows).zip(area.top()..area.bottom()) {
            let line = Line::from(vec![
                Span::styled(format!(" {keys:<13} "), self.of(RowRole::Name)),
                Span::styled(help, self.of(RowRole::Plain)),
            ]);
            buffer.set_line(area.x, y, &line, area.width);
        }
    }

    fn whole(&self, answer: &WholeAnswer, area: Rect, buffer: &mut Buffer) {
        let height = usize::from(area.height);
        let first = (answer.selected + 1).saturating_sub(height);
        for (index, y) in (first..answer.len()).zip(area.top()..area.bottom()) {
            let is_selected = index == answer.selected;
            let line = self.line(if is_selected { ">" } else { " " }, &answer.row(index), 0);
            buffer.set_line(area.x, y, &line, area.width);
            if is_selected {
                buffer.set_style(Rect { y, height: 1, ..area }, selected());
            }
        }
    }

    fn slot(&self, scene: &Scene<'_>, (area, panes): &ScreenPart, buffer: &mut Buffer) {
        let pane = scene.state.front(panes);
        let rows = rows(scene, pane, usize::from(area.width));
        let has_focus = scene.state.focus == pane;
        self.title(*area, (pane, panes, has_focus), &rows.title, buffer);
        let height = usize::from(area.height.saturating_sub(1));
        let first = rows.first(height);
        for (index, y) in (first..rows.len).zip(area.top() + 1..area.bottom()) {
            let row = (rows.row)(index);
            let is_current =
                rows.current == Some(index) || rows.current.is_none() && has_focus && index == rows.selected;
            let sign = if is_current { ">" } else { " " };
            let shift = if has_focus { scene.state.shift } else { 0 };
            let line = self.line(sign, &row, shift);
            buffer.set_line(area.x, y, &line, area.width);
            if has_focus && index == rows.selected {
                buffer.set_style(Rect { y, height: 1, ..*area }, selected());
            }
        }
    }

    /// The names of the panes that share a part of the screen; brackets are around the one that is shown.
    fn title(
        &self,
        area: Rect,
        (pane, panes, has_focus): (PaneId, &[PaneId], bool),
        title: &str,
        buffer: &mut Buffer,
    ) {
        let mut line = Line::default();
        for other in panes {
            let (text, style) = match *other == pane {
                true if has_focus => (format!("[{}]", other.name()), selected()),
                true => (format!("[{}]", other.name()), self.of(RowRole::Here)),
                false => (format!(" {} ", other.name()), self.of(RowRole::Dim)),
            };
            line.push_span(Span::styled(text, style));
        }
        line.push_span(Span::styled(format!(" {title} "), self.of(RowRole::Place)));
        let fill = usize::from(area.width).saturating_sub(line.width());
        line.push_span(Span::styled("-".repeat(fill), self.of(RowRole::Dim)));
        buffer.set_line(area.x, area.y, &line, area.width);
    }

    fn line(&self, sign: &str, row: &ViewRow, shift: usize) -> Line<'static> {
        let mut line = Line::from(Span::styled(sign.to_owned(), self.of(RowRole::Here)));
        let mut skip = shift;
        for (role, text) in &row.spans {
            let length = text.chars().count();
            let part: String = text.chars().skip(skip).collect();
            skip = skip.saturating_sub(length);
            line.push_span(Span::styled(part, self.of(*role)));
        }
        line
    }
}
