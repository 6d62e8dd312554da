//! The screen as plain text, for scripts, bug reports and tests.

use std::io::{self, Write};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::draw::draw;
use super::index::ViewIndex;
use super::panes::Scene;
use super::state::ViewState;
use xhist_history::recording::Recording;

/// Writes the screen as it is, without colour.
///
/// # Errors
/// Those of `out`.
pub fn print(
    recording: &Recording,
    index: &ViewIndex,
    state: &ViewState,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut buffer = Buffer::empty(Rect::new(0, 0, state.size.0, state.size.1));
    draw(&Scene { recording, index, state }, false, &mut buffer);
    out.write_all(text(&buffer).as_bytes())?;
    out.flush()
}

/// The characters of a buffer, without blanks at the end of lines.
fn text(buffer: &Buffer) -> String {
    let rows = buffer.content().chunks(usize::from(buffer.area.width).max(1));
    rows.map(|row| {
        // A wide character takes two cells; the second one is not printed.
        let mut skip = 0;
        let mut line = String::new();
        for cell in row {
            if skip == 0 {
                line.push_str(cell.symbol());
                skip = ratatui::text::Span::raw(cell.symbol()).width().max(1);
            }
            skip -= 1;
        }
        line.trim_end().to_owned() + "\n"
    })
    .collect()
}
