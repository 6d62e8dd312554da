//! `--format qspy`: what QSPY prints of a stream, and the files it writes beside. Joins the decoder with its consumers; it must
//! not know how a source is opened.

mod dictionaries;
mod options;
mod outputs;
mod printer;
mod screen;

use std::io::{self, Write};

pub use options::{DictionaryFile, QsOptions};
pub use outputs::by_time;
pub use printer::Beside;

use qs_core::frame::FrameWriter;

use crate::console::Notes;
use crate::decode::{self, Placed, View};
use crate::exit_code::ExitCode;
use crate::qs::{Class, Decoder, Event, Known, Lines, Listener};
use crate::session::outcome;
use printer::Printer;

/// Between two of these nobody looks whether the output still takes anything.
const PIECE: usize = 64 << 10;

/// Prints a stream.
pub fn print(stream: &[u8], options: &QsOptions, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    run(options, out, notes, |session, notes| {
        session.push(stream)?;
        // Without any good frame that is all there is to say.
        if session.decoder.has_started() {
            session.report_cut("", true, notes);
        }
        Ok(())
    })
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
    let mut session = match Session::new(options, Box::new(out)) {
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

/// Tells two.
struct Both<'b, A, B>(&'b mut A, &'b mut B);

impl<A: Listener, B: Listener> Listener for Both<'_, A, B> {
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        self.0.event(event, known);
        self.1.event(event, known);
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
    pub fn new(options: &QsOptions, out: Box<dyn Write + 'o>) -> Result<Session<'o>, String> {
        let mut decoder = Decoder::new(options.known());
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
        self.printer.screen.pass_on();
        self.printer.take_error()
    }

    /// The same, and somebody else listens too.
    ///
    /// # Errors
    /// Those of the output.
    pub fn push_with(&mut self, bytes: &[u8], also: &mut impl Listener) -> io::Result<()> {
        for piece in bytes.chunks(PIECE) {
            self.printer.save(piece);
            self.decoder.push(piece, &mut Both(also, &mut self.printer));
            self.printer.take_error()?;
        }
        self.printer.screen.pass_on();
        self.printer.take_error()
    }

    /// Another target is at the other end of the link now.
    pub fn restart(&mut self) {
        self.decoder.restart();
    }

    /// All that is known of the target.
    pub fn known(&self) -> &Known {
        &self.decoder.known
    }

    /// Shows a line that is not of the stream.
    pub fn say(&mut self, class: Class, line: &[u8]) {
        self.printer.screen.line(class, line);
        self.printer.screen.pass_on();
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.printer.screen.flush()
    }

    /// Shows nothing but what is no record, or all again; whether it is quiet now.
    pub fn toggle_quiet(&mut self) -> bool {
        self.printer.screen.toggle_quiet()
    }

    /// Shows an empty screen.
    pub fn clear_screen(&mut self) {
        self.printer.screen.clear();
    }

    /// Writes all names into their file.
    pub fn save_dictionaries(&mut self) {
        self.printer.save_dictionaries(&self.decoder.known);
    }

    /// Begins to write a file beside, or ends that; whether one was begun.
    pub fn write_beside(&mut self, kind: Beside, wanted: Option<bool>, notes: &mut Notes<'_>) -> bool {
        self.printer.write_beside(kind, wanted, &self.decoder.known, notes)
    }

    /// Nothing more comes of this stream, or of its connection: says what is missing of the last frame, and of the first one
    /// where the whole stream is here.
    pub fn report_cut(&mut self, of: &str, is_whole: bool, notes: &mut Notes<'_>) {
        let rest = self.decoder.take_rest();
        // Before the first good record on a link there is only noise.
        let rest = if is_whole || self.decoder.has_started() { rest } else { 0 };
        self.printer.report_cut(of, is_whole, rest, notes);
    }

    /// Ends the output; whether any good record came.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end(mut self, notes: &mut Notes<'_>) -> io::Result<bool> {
        self.printer.finish(notes)?;
        Ok(self.decoder.has_started())
    }

    /// What comes next is the stream of another thread; names stay.
    pub fn start_anew(&mut self) {
        self.decoder.start_anew();
    }

    /// Ends the output, and says what was lost and what went wrong beside it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(self, notes: &mut Notes<'_>) -> io::Result<ExitCode> {
        Ok(if self.end(notes)? { notes.finish() } else { notes.no_frame() })
    }
}
