//! `xhist-report diff`: where two histories of one program part, and what only one of them ran.

mod align;
mod build;
mod compare;
mod cut;
mod error;
mod history;
mod json;
mod named;
mod nearest;
mod program;
mod run;
mod shape;
mod sides;
#[cfg(test)]
mod tests;
mod text;
mod values;

pub use align::Side;
pub use nearest::print_nearest;
pub use run::{DiffLook, run, run_nearest};
pub use sides::{Input, ThreadChoice};
