//! `qspy`: the records of a stream or of rings, printed as QSPY does.

use std::io::{self, Write};

use crate::qspy::{QsOptions, Session, SessionError};
use xhist_history::events::Step;
use xhist_history::events::context::Context;
use xhist_history::model::Opening;
use xhist_history::reading::report::{Report, Summary};

/// Prints records.
pub struct QspyLines<'o> {
    /// `None` after the end.
    session: Option<Session<'o>>,
}

impl<'o> QspyLines<'o> {
    /// Opens the side files.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn new(options: &'o QsOptions, out: &'o mut dyn Write) -> Result<QspyLines<'o>, SessionError> {
        Session::new(options, Box::new(out)).map(|session| QspyLines { session: Some(session) })
    }
}

impl Report for QspyLines<'_> {
    fn start(&mut self, opening: &Opening<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        if opening.rings.len() > 1 {
            let rings = opening.rings.len();
            context.notes.note(format_args!("{rings} rings, printed one after another; --ring N picks one"));
        }
        Ok(())
    }

    fn step(&mut self, step: Step<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        let Some(session) = &mut self.session else { return Ok(()) };
        match step {
            Step::Frames => session.start_stream(),
            Step::Frame(frame) => session.push_frame(frame)?,
            Step::Bytes(bytes) => session.push(bytes)?,
            // Without any good frame there is nothing more to report.
            Step::StreamEnd if session.has_started() => session.report_cut("", true, context.notes),
            Step::Missing(ring, gap) if !gap.is_empty() => {
                context.notes.missing(&gap, format_args!("{ring}: {gap}"));
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        let ended = self.session.take().map(|session| session.finish(context.notes)).transpose()?;
        Ok(Summary { code: ended.unwrap_or_default(), entries: 0 })
    }
}

/// The report of a live session whose view prints the lines of its targets itself.
pub struct PrintedElsewhere;

impl Report for PrintedElsewhere {
    fn step(&mut self, _: Step<'_>, _: &mut Context<'_, '_>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        Ok(Summary { code: context.notes.finish(), entries: 0 })
    }
}
