//! What was recorded, one item after another, from any source. One decoder of statements, one expander of repetitions.
//!
//! A new source is a file with an [`EventSource`].

mod clear;
pub mod context;
mod frame_kind;
mod growing_source;
mod merge;
mod records;
mod repetition;
mod ring_choice;
mod ring_events;
mod ring_notes;
mod ring_source;
mod source;
mod statements;
mod stream_decoder;
mod stream_source;
mod survey;
mod target;
mod threads;
mod wrapped;

pub use clear::clear;
pub use growing_source::GrowingRings;
pub use merge::Merged;
pub use ring_choice::{ChosenRings, choose, find_rings, rings_of, with_lanes};
pub use ring_notes::{
    report_damage, report_dropped, report_emptied, report_empty, report_findings, report_foreign_handlers,
    report_width, was_cleared,
};
pub use ring_source::{
    RecordedStatements, RingFrames, RingHeaders, RingHistory, ThreadStatements, read_items,
};
pub use source::{EventSource, Progress, Step, TakeStep};
pub use stream_decoder::StreamDecoder;
pub use stream_source::{StreamBytes, StreamHistory, decoder_for, looks_like_qs_stream};
pub use survey::{Survey, survey};
pub use target::{StreamTarget, TargetSink};
pub use threads::align_cores;
