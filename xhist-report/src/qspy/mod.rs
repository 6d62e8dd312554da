//! `--format qspy`: what QSPY prints of a stream, and the files it writes beside. Joins the decoder with its consumers; it must
//! not know how a source is opened.

mod dictionaries;
mod options;
mod outputs;
mod printer;
mod screen;

use std::io::{self, Write};

pub use options::{DictionaryFile, QsOptions};

use qs_core::frame::FrameWriter;

use crate::console::Notes;
use crate::decode::{self, Placed, View};
use crate::exit_code::ExitCode;
use crate::qs::Decoder;
use crate::session::outcome;
use printer::Printer;

/// Between two of these nobody looks whether the output still takes anything.
const PIECE: usize = 64 << 10;

/// Prints a stream.
pub fn print(stream: &[u8], options: &QsOptions, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    run(options, out, notes, |session, _| session.push(stream))
}

/// Prints the frames of rings, one ring after another.
pub fn print_rings(
    rings: &[&Placed],
    views: &[View<'_>],
    options: &QsOptions,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
) -> ExitCode {
    if rings.len() > 1 {
        notes.note(format_args!("{} rings, told one after another; --ring N picks one", rings.len()));
    }
    run(options, out, notes, |session, notes| {
        for (placed, view) in rings.iter().zip(views) {
            session.start_anew();
            let (mut bytes, mut result) = (Vec::new(), Ok(()));
            let gap = decode::whole_frames(view, &mut |frame| {
                bytes.clear();
                FrameWriter::new(frame.seq, frame.id, |byte| bytes.push(byte)).bytes(frame.payload).finish();
                result = session.push(&bytes);
                result.is_ok()
            });
            result?;
            if !gap.is_empty() {
                notes.loss(format_args!("{}: {gap}", placed.ring));
            }
        }
        Ok(())
    })
}

fn run(
    options: &QsOptions,
    out: &mut dyn Write,
    notes: &mut Notes<'_>,
    push: impl FnOnce(&mut Session<'_>, &mut Notes<'_>) -> io::Result<()>,
) -> ExitCode {
    let mut session = match Session::new(options, out) {
        Ok(session) => session,
        Err(why) => {
            notes.error(format_args!("{why}"));
            return ExitCode::Usage;
        }
    };
    let pushed = push(&mut session, notes);
    match pushed.and_then(|()| session.finish(notes)) {
        Ok(code) => code,
        Err(error) => outcome(Err(error), notes),
    }
}

/// A QS stream that is being printed. Bytes may come in any pieces; their lines come out at once.
pub struct Session<'o> {
    decoder: Decoder,
    printer: Printer<'o>,
}

impl<'o> Session<'o> {
    /// Opens what is written beside, and reads the dictionary file.
    ///
    /// # Errors
    /// What cannot be written, in a sentence.
    pub fn new(options: &'o QsOptions, out: &'o mut dyn Write) -> Result<Session<'o>, String> {
        let mut decoder = Decoder::new(options.target);
        let printer = Printer::new(options, out, &mut decoder.known)?;
        Ok(Session { decoder, printer })
    }

    /// Prints what comes of the next bytes.
    ///
    /// # Errors
    /// Those of the output.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(PIECE) {
            self.printer.save(piece);
            self.decoder.push(piece, &mut self.printer);
            self.printer.take_error()?;
        }
        Ok(())
    }

    /// What comes next is the stream of another thread; names stay.
    pub fn start_anew(&mut self) {
        self.decoder.start_anew();
    }

    /// Ends the output, and says what was lost and what went wrong beside it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, notes: &mut Notes<'_>) -> io::Result<ExitCode> {
        self.printer.finish(notes)?;
        if !self.decoder.has_started() {
            notes.error(format_args!("no valid QS frame was found"));
            notes.finish();
            return Ok(ExitCode::NothingFound);
        }
        Ok(notes.finish())
    }
}
