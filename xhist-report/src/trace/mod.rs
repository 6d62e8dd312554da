//! Trace events by name: what files of formats say of other people's codes, and which events are told at all. It must not know how
//! events are recorded, nor how a report looks.

mod file;
mod filter;
mod formats;
mod load;
mod text;

pub use file::{Definition, Wrong, read as read_formats};
pub use filter::{Filter, Wanted};
pub use formats::Formats;
pub use load::{Places, load};
pub use text::Text;

use crate::console::Notes;

/// How trace events are told.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// Their names and texts.
    pub formats: Formats,
    /// Which of them are told.
    pub filter: Filter,
    /// What is worth knowing of the files of formats.
    pub remarks: Vec<String>,
    /// What is wrong with them.
    pub wrongs: Vec<String>,
}

impl TraceOptions {
    /// Tells of the files of formats; what is wrong there makes no report incomplete but its exit code.
    pub fn tell(&self, notes: &mut Notes<'_>) {
        self.remarks.iter().for_each(|remark| notes.note(format_args!("{remark}")));
        for wrong in &self.wrongs {
            notes.incomplete();
            notes.error(format_args!("{wrong}"));
        }
    }
}
