//! The whole history at once: gives a recording to a format, or to the view that reads it itself, also while it is made.

use std::io;

use super::folder;
use crate::format::Format;
use crate::options::Options;
use xhist_history::context::Context;
use xhist_history::events::Step;
use xhist_history::model::Opening;
use xhist_history::recording::SharedRecording;
use xhist_history::recording_builder::RecordingReport;
use xhist_history::report::{Report, Summary};

/// Makes a recording, and at the end gives it to a format.
pub struct RecordingDocument<'o> {
    format: Option<Box<dyn Format>>,
    options: &'o Options,
    recording: SharedRecording,
    report: RecordingReport<'o>,
}

impl<'o> RecordingDocument<'o> {
    /// For the format that was asked for, or for a view.
    pub fn new(options: &'o Options) -> RecordingDocument<'o> {
        let recording = options.recording.clone().unwrap_or_default();
        RecordingDocument {
            format: options.recording.is_none().then(|| options.make_format()),
            options,
            report: RecordingReport::new(&options.read, recording.clone()),
            recording,
        }
    }
}

impl Report for RecordingDocument<'_> {
    fn chooses_places(&self) -> bool {
        self.report.chooses_places()
    }

    fn start(&mut self, opening: &Opening<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        self.recording.lock().evidence = self.options.evidence.clone();
        self.report.start(opening, context)
    }

    fn step(&mut self, step: Step<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        self.report.step(step, context)
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        let summary = self.report.finish(context)?;
        if let Some(format) = &mut self.format {
            let recording = self.recording.lock();
            format.recording(&recording, context.out)?;
            context.out.flush()?;
            if let Some(folder) = &self.options.folder {
                folder::write(folder, &mut |new_file| format.folder(&recording, new_file))?;
            }
        }
        Ok(summary)
    }
}
