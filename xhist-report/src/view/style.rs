//! The look of roles, with and without colour.

use ratatui::style::{Color, Modifier, Style};

use super::row::RowRole;

/// The style of a role.
pub fn style(role: RowRole, has_colour: bool) -> Style {
    let plain = Style::new();
    let (colour, modifier) = match role {
        RowRole::Plain => return plain,
        RowRole::Dim => (Color::DarkGray, Modifier::empty()),
        RowRole::Here => (Color::Yellow, Modifier::BOLD),
        RowRole::Value => (Color::Green, Modifier::empty()),
        RowRole::Place => (Color::Cyan, Modifier::empty()),
        RowRole::Name => (Color::Blue, Modifier::empty()),
        RowRole::Event => (Color::Red, Modifier::BOLD),
        RowRole::Keyword => (Color::Magenta, Modifier::empty()),
        RowRole::Comment => (Color::DarkGray, Modifier::empty()),
    };
    match has_colour {
        true => plain.fg(colour).add_modifier(modifier),
        false => plain.add_modifier(modifier),
    }
}

/// The row that keys act on, and the name of the pane that has the focus.
pub fn selected() -> Style {
    Style::new().add_modifier(Modifier::REVERSED)
}
