//! The whole history at once: gives a recording to a format, or to the view that reads it itself, also while it is made.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::format::{Format, NewFile};
use crate::options::Options;
use xhist_history::events::Step;
use xhist_history::events::context::Context;
use xhist_history::model::Opening;
use xhist_history::reading::recording_builder::RecordingReport;
use xhist_history::reading::report::{Report, Summary};
use xhist_history::recording::SharedRecording;

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
                write_folder(folder, &mut |new_file| format.folder(&recording, new_file))?;
            }
        }
        Ok(summary)
    }
}

/// Makes the folder, and lets `write` make files in it.
///
/// # Errors
/// The folder has files already, or something cannot be written; the error names the path.
fn write_folder(folder: &Path, write: &mut dyn FnMut(NewFile<'_>) -> io::Result<()>) -> io::Result<()> {
    let named = |path: &Path, error: &io::Error| {
        io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    if fs::read_dir(folder).map_err(|error| named(folder, &error))?.next().is_some() {
        let why = format!("the folder {} is not empty; --output names another one", folder.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    write(&mut |name| {
        let path = folder.join(name);
        let file = File::create_new(&path).map_err(|error| named(&path, &error))?;
        Ok(Box::new(BufWriter::new(file)) as Box<dyn Write>)
    })
}
