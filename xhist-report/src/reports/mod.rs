//! What is made of events. A new report is a file here and a row of `REPORTS` in `table.rs`.

mod answer;
mod answer_draft;
mod answer_rows;
mod answer_sources;
mod answer_threads;
mod builds;
mod calls;
mod coverage;
mod document;
pub mod github;
mod history;
mod hotspots;
mod lock_waits;
mod log_lines;
mod order;
mod qspy;
pub mod run_list;
mod table;
mod tasks;

pub use answer::AnswerReport;
pub use builds::Builds;
pub use calls::Calls;
pub use coverage::Coverage;
pub use document::RecordingDocument;
pub use history::EntryWriter;
pub use hotspots::Hotspots;
pub use order::Order;
pub use qspy::PrintedElsewhere;
pub use table::report;
pub use tasks::Tasks;
