//! Which panes are where, by the size of the screen.

use ratatui::layout::{Constraint, Layout, Rect};

use super::state::{PaneId, ViewState};

/// From this size on, four panes are shown.
const WIDE: (u16, u16) = (120, 28);
/// Below this number of rows, one pane is shown.
const LOW: u16 = 14;

/// A part of the screen, and the panes that share it.
pub type ScreenPart = (Rect, &'static [PaneId]);

/// The parts of the screen between the first and the last row.
pub fn slots(state: &ViewState, body: Rect) -> Vec<ScreenPart> {
    use PaneId::{Calls, Findings, History, Source, Threads, Values};
    let halves =
        |area, first| Layout::vertical([Constraint::Percentage(first), Constraint::Fill(1)]).areas(area);
    if state.is_zoomed || body.height < LOW {
        return vec![(body, &PaneId::ALL)];
    }
    if state.size.0 < WIDE.0 || state.size.1 < WIDE.1 {
        let [upper, lower] = halves(body, 50);
        return vec![(upper, &[Source]), (lower, &[History, Calls, Values, Threads, Findings])];
    }
    let sides = Layout::horizontal([Constraint::Percentage(56), Constraint::Fill(1)]).spacing(1);
    let [left, right] = sides.areas(body);
    let ([source, history], [calls, others]) = (halves(left, 55), halves(right, 50));
    vec![
        (source, &[Source]),
        (history, &[History]),
        (calls, &[Calls, Findings]),
        (others, &[Threads, Values]),
    ]
}

/// Rows of the focused pane, its title aside.
pub fn page(state: &ViewState) -> usize {
    let body = body(Rect::new(0, 0, state.size.0, state.size.1));
    let slot = slots(state, body).into_iter().find(|(_, panes)| panes.contains(&state.focus));
    slot.map_or(1, |(area, _)| usize::from(area.height).saturating_sub(1)).max(1)
}

/// What is between the first and the last row.
pub fn body(area: Rect) -> Rect {
    Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area }
}
