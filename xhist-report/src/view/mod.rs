//! The viewer in a terminal. State and panes are pure; only `session` touches the terminal.

mod draw;
mod editor;
mod index;
mod keys;
mod layout;
mod panes;
mod press;
mod print;
mod row;
mod search;
mod session;
mod state;
mod style;
mod whole;

#[cfg(test)]
mod tests;

pub use index::ViewIndex;
pub use keys::parse as parse_keys;
pub use print::print;
pub use session::{ScreenError, check, run};
pub use state::ViewState;
