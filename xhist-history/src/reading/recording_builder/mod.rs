//! The whole history at once: builds a recording from the events of a source.

mod builder;
mod from_map;
mod lanes;
mod places;

use std::io;
use std::path::Path;

use builder::RecordingBuilder;

use crate::events::Step;
use crate::events::context::Context;
use crate::model::{Opening, visible};
use crate::options::ReadOptions;
use crate::reading::report::{Report, Summary};
use crate::reading::{Reading, Reads, Streams};
use crate::recording::SharedRecording;

/// Steps that a recording holds at most: the newest ones.
const MAX_STEPS: u64 = 20_000_000;

/// Makes a recording.
pub struct RecordingReport<'o> {
    options: &'o ReadOptions,
    recording: SharedRecording,
    builder: RecordingBuilder<'o>,
    /// Entries that are still not part of the recording.
    skip: u64,
    /// Entries that were counted.
    entries: u64,
}

impl RecordingReport<'_> {
    /// What it reads.
    pub const READING: Reading = Reading { reads: Reads::Entries, streams: Streams::IfAny, numbered: false };
}

impl<'o> RecordingReport<'o> {
    /// Into this recording, which others may read while it is made.
    pub fn new(options: &'o ReadOptions, recording: SharedRecording) -> RecordingReport<'o> {
        RecordingReport { options, recording, builder: RecordingBuilder::new(options), skip: 0, entries: 0 }
    }
}

/// The name of the source, or that of its file.
fn origin(options: &ReadOptions) -> String {
    let file = options.programs.source.as_deref().and_then(Path::file_name);
    let file = file.map(|name| visible(&name.to_string_lossy()).into_owned());
    options.origin.clone().or(file).unwrap_or_default()
}

impl Report for RecordingReport<'_> {
    fn chooses_places(&self) -> bool {
        true
    }

    fn start(&mut self, opening: &Opening<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        let mut recording = self.recording.lock();
        recording.origin = origin(self.options);
        let more = opening.entries.saturating_sub(MAX_STEPS);
        if more > 0 {
            context.notes.note(format_args!(
                "the newest {MAX_STEPS} of {} entries are shown; --only and --thread choose",
                opening.entries
            ));
            self.skip = more;
        }
        self.builder.start(opening, context);
        Ok(())
    }

    fn step(&mut self, step: Step<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        match step {
            Step::Skip(entries) => self.skip += entries,
            Step::Event(ring, event) => {
                let is_entry = event
                    .item
                    .as_ref()
                    .is_some_and(|item| item.what.is_entry() && context.options.shows(&item.what));
                let is_skipped = self.skip > 0;
                self.skip -= u64::from(is_skipped && is_entry);
                self.entries += u64::from(is_entry);
                self.builder.event(&mut self.recording.lock(), (ring, event), is_skipped, context);
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        let mut recording = self.recording.lock();
        self.builder.finish(&mut recording, context);
        self.builder.report_changed(context.notes);
        Ok(Summary { code: context.notes.finish(), entries: self.entries })
    }
}
