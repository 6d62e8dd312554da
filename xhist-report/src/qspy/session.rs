//! A session prints one QS stream: it connects the decoder with the printer.

use std::io::{self, Write};

use qs_core::frame::{Frame, FrameWriter};

use super::error::SessionError;
use super::options::QsOptions;
use super::printer::Printer;
use qs_host::SideFile;
use qs_host::{Decoder, LineClass, LineSink, Listener, StreamEvent, TargetSymbols};
use xhist_history::ExitCode;
use xhist_history::notes::Notes;

/// Bytes between two checks for errors of the output.
const PIECE: usize = 64 << 10;

/// Passes events on to two listeners.
struct Both<'b, A, B>(&'b mut A, &'b mut B);

impl<A: Listener, B: Listener> Listener for Both<'_, A, B> {
    fn event(&mut self, event: StreamEvent<'_>, known: &mut TargetSymbols) {
        self.0.event(event, known);
        self.1.event(event, known);
    }
}

/// A QS stream that is being printed. Bytes may arrive in any pieces; lines are shown at once.
pub struct Session<'o> {
    decoder: Decoder,
    printer: Printer<'o>,
}

impl<'o> Session<'o> {
    /// Opens the side files and reads the dictionary file.
    ///
    /// # Errors
    /// A side file that cannot be created, or a wrong list of objects.
    pub fn new(options: &QsOptions, out: Box<dyn Write + 'o>) -> Result<Session<'o>, SessionError> {
        let mut decoder = Decoder::new(options.known());
        let printer = Printer::new(options, out, &mut decoder.known)?;
        Ok(Session { decoder, printer })
    }

    /// Prints the next bytes of the stream.
    ///
    /// # Errors
    /// Those of the output.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.push_with(bytes, &mut ())
    }

    /// Prints a frame of a ring.
    ///
    /// # Errors
    /// Those of the output.
    pub fn push_frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let is_taken = !self.printer.keeps_stream()
            && self.decoder.push_frame(frame.seq, frame.id, frame.payload, &mut self.printer);
        if is_taken {
            return self.printer.take_error();
        }
        let mut bytes = Vec::new();
        FrameWriter::new(frame.seq, frame.id, |byte| bytes.push(byte)).bytes(frame.payload).finish();
        self.push(&bytes)
    }

    /// Prints the next bytes of the stream; another listener gets their events as well.
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

    /// Whether a good record was received.
    pub fn has_started(&self) -> bool {
        self.decoder.has_started()
    }

    /// Another target is connected now.
    pub fn restart(&mut self) {
        self.decoder.restart();
    }

    /// The symbols of the target.
    pub fn known(&self) -> &TargetSymbols {
        &self.decoder.known
    }

    /// Shows a line that is not from the stream.
    pub fn say(&mut self, class: LineClass, line: &[u8]) {
        self.printer.screen.line(class, line);
        self.printer.screen.pass_on();
    }

    /// Writes and flushes all lines.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.printer.screen.flush()
    }

    /// Switches quiet mode, which shows no records. Returns whether it is on now.
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

    /// Opens or closes a side file. Returns whether it was opened.
    pub fn toggle_side_file(&mut self, kind: SideFile, wanted: Option<bool>, notes: &mut Notes<'_>) -> bool {
        self.printer.toggle_side_file(kind, wanted, &self.decoder.known, notes)
    }

    /// Ends the stream or its connection: reports a last frame without its end, and a first one without its start where the
    /// stream is whole.
    pub fn report_cut(&mut self, of: &str, is_whole: bool, notes: &mut Notes<'_>) {
        let rest = self.decoder.take_rest();
        // On a link, bytes before the first good record are noise.
        let rest = if is_whole || self.decoder.has_started() { rest } else { 0 };
        self.printer.report_cut(of, is_whole, rest, notes);
    }

    /// Ends the output. Returns whether a good record was received.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end(mut self, notes: &mut Notes<'_>) -> io::Result<bool> {
        self.printer.finish(notes)?;
        Ok(self.decoder.has_started())
    }

    /// Starts with the stream of another thread; names stay.
    pub fn start_stream(&mut self) {
        self.decoder.start_stream();
    }

    /// Ends the output and reports losses and errors of side files.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(self, notes: &mut Notes<'_>) -> io::Result<ExitCode> {
        Ok(if self.end(notes)? { notes.finish() } else { notes.no_frame() })
    }
}
