//! `--format qspy`: what QSPY prints of a stream, and the files it writes beside. Joins the decoder with its consumers; it must
//! not know how a source is opened.

mod dictionaries;
mod options;
mod outputs;
mod printer;
mod screen;

use std::io::{self, Write};

pub use options::{DictionaryFile, QsOptions};

use crate::console::Notes;
use crate::exit_code::ExitCode;
use crate::qs::Decoder;
use printer::Printer;

/// Between two of these nobody looks whether the output still takes anything.
const PIECE: usize = 64 << 10;

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
