//! Names and texts of trace events from files of formats, and the filter of events.

mod file;
mod filter;
mod formats;
mod load;
mod text;

pub use file::{Definition, FormatError, read as read_formats};
pub use filter::{Filter, SelectionError, TraceSelection};
pub use formats::Formats;
pub use load::{FormatPlaces, FormatsError, load};
pub use text::TextTemplate;

use crate::notes::Notes;

/// Formats and filter of trace events.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// Their names and texts.
    pub formats: Formats,
    /// Which of them are shown.
    pub filter: Filter,
    /// Notes about the files of formats.
    pub remarks: Vec<String>,
    /// Errors in the files of formats.
    pub wrongs: Vec<String>,
}

impl TraceOptions {
    /// Reports notes and errors of the files of formats. An error changes the exit code only.
    pub fn report(&self, notes: &mut Notes<'_>) {
        self.remarks.iter().for_each(|remark| notes.note(format_args!("{remark}")));
        for wrong in &self.wrongs {
            notes.incomplete();
            notes.error(format_args!("{wrong}"));
        }
    }
}
