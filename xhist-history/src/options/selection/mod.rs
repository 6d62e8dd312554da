//! Which entries a report is about: `--only`, `--not` and `--thread`.
//!
//! | pattern | matches |
//! |---|---|
//! | has `/` or ends in `.rs` | files: the beginning or the end of the path; behind it `:LINE` or `:FIRST-LAST` |
//! | has `::` | functions: any part of `crate::module::Type::function`, and all inside |
//! | any other word | a crate; if no crate has that name, a module, type or function |

mod glob;
mod known;
mod names;
mod pattern;
mod places;
mod thread;

pub use known::known;
pub use pattern::{Pattern, PatternError, line_range};
pub use places::SelectedPlaces;
pub use thread::ThreadPattern;

use crate::model::Ring;

/// Which entries a report is about.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Statements that match one of these; without any, all.
    pub only: Vec<Pattern>,
    /// Of them, none that match one of these.
    pub not: Vec<Pattern>,
    /// Threads that match one of these; without any, all.
    pub threads: Vec<ThreadPattern>,
}

impl Selection {
    /// Whether every entry is chosen.
    pub fn is_all(&self) -> bool {
        self.threads.is_empty() && !self.has_places()
    }

    /// Whether statements are chosen by their places.
    pub fn has_places(&self) -> bool {
        !(self.only.is_empty() && self.not.is_empty())
    }

    /// Whether a thread is chosen, if all threads are not known yet.
    pub fn takes_thread(&self, ring: &Ring) -> bool {
        self.threads.is_empty() || self.threads.iter().any(|thread| thread.fits(ring).is_some())
    }

    /// Whether code of this interrupt is chosen.
    pub fn takes_interrupt(&self, ring: &Ring, interrupt: u16) -> bool {
        let mut threads = self.threads.iter();
        self.threads.is_empty()
            || threads.any(|thread| thread.fits(ring).is_some() && thread.takes(ring, interrupt))
    }

    /// How many of all `things` were left out, or that nothing is left. `None` if all were chosen.
    pub fn left_out(&self, chosen: u64, left_out: u64, things: &str) -> Option<String> {
        let options = self.text();
        match (chosen, left_out) {
            (_, 0) => None,
            (0, left_out) => {
                Some(format!("{options}: nothing to show, all {left_out} {things} are left out"))
            }
            _ => Some(format!(
                "{options}: {left_out} of {} {things} left out",
                chosen.saturating_add(left_out)
            )),
        }
    }

    /// The options that were given, as the user wrote them.
    pub fn text(&self) -> String {
        let only = self.only.iter().map(|pattern| format!("--only {}", pattern.text()));
        let not = self.not.iter().map(|pattern| format!("--not {}", pattern.text()));
        let threads = self.threads.iter().map(|thread| format!("--thread {}", thread.text()));
        only.chain(not).chain(threads).collect::<Vec<_>>().join(" ")
    }
}
