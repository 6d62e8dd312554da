//! The look of roles, with and without colour.

use ratatui::style::{Color, Modifier, Style};

use super::row::Role;

/// The style of a role.
pub fn style(role: Role, has_colour: bool) -> Style {
    let plain = Style::new();
    let (colour, modifier) = match role {
        Role::Plain => return plain,
        Role::Dim => (Color::DarkGray, Modifier::empty()),
        Role::Here => (Color::Yellow, Modifier::BOLD),
        Role::Value => (Color::Green, Modifier::empty()),
        Role::Place => (Color::Cyan, Modifier::empty()),
        Role::Name => (Color::Blue, Modifier::empty()),
        Role::Event => (Color::Red, Modifier::BOLD),
        Role::Keyword => (Color::Magenta, Modifier::empty()),
        Role::Comment => (Color::DarkGray, Modifier::empty()),
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
