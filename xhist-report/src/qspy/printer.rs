//! Listens to the decoder, and has everything told that is to be told: lines, rows, files. It must not know bytes.

use std::io::{self, Write};

use crate::console::Notes;
use crate::qs::{Class, Decoded, Event, Known, Lines, Listener, Sequence, Text, push_matlab_row};

use super::dictionaries::Dictionaries;
use super::options::QsOptions;
use super::outputs::Output;
use super::screen::Screen;

/// What was lost.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    frames: u64,
    jumps: u64,
    troubles: u64,
}

/// Tells what the decoder finds.
pub struct Printer<'o> {
    screen: Screen<'o>,
    text: Text,
    dictionaries: Dictionaries,
    raw: Option<Output>,
    matlab: Option<Output>,
    sequence: Option<(Sequence, Output)>,
    row: Vec<u8>,
    losses: Losses,
    odd_sizes: u64,
}

impl<'o> Printer<'o> {
    /// Opens all files, and reads the dictionary file.
    pub fn new(
        options: &QsOptions,
        out: &'o mut dyn Write,
        known: &mut Known,
    ) -> Result<Printer<'o>, String> {
        let sequence = match &options.sequence {
            Some((list, path)) => {
                let mut sequence = Sequence::new(list)?;
                let file = Output::create(Some(path))?.map(|mut file| {
                    file.write(&sequence.opening());
                    file
                });
                file.map(|file| (sequence, file))
            }
            None => None,
        };
        let file = Output::create(options.text.as_deref())?;
        let mut printer = Printer {
            screen: Screen::new(options, file, out),
            text: Text::default(),
            dictionaries: Dictionaries::new(options),
            raw: Output::create(options.raw.as_deref())?,
            matlab: Output::create(options.matlab.as_deref())?,
            sequence,
            row: Vec::new(),
            losses: Losses::default(),
            odd_sizes: 0,
        };
        printer.read_dictionaries(known);
        Ok(printer)
    }

    /// Keeps the bytes of the stream, if they are to be kept.
    pub fn save(&mut self, bytes: &[u8]) {
        if let Some(raw) = &mut self.raw {
            raw.write(bytes);
        }
    }

    /// The first error of the output.
    pub fn take_error(&mut self) -> io::Result<()> {
        self.screen.take_error()
    }

    /// Ends everything, and says what was lost.
    pub fn finish(&mut self, notes: &mut Notes<'_>) -> io::Result<()> {
        self.screen.finish()?;
        let sequence = self.sequence.take().map(|(_, file)| file);
        for file in [self.screen.file.take(), self.raw.take(), self.matlab.take(), sequence] {
            file.into_iter().for_each(|file| file.finish(notes));
        }
        let Losses { frames, jumps, troubles } = self.losses;
        if jumps > 0 {
            notes.loss(format_args!("{frames} frames or more are missing, in {jumps} places"));
        }
        if troubles > 0 {
            notes.loss(format_args!("in {troubles} places bytes are no good frame"));
        }
        if self.odd_sizes > 0 {
            notes.loss(format_args!(
                "{} target-info records tell sizes that no target has; those sizes were not believed",
                self.odd_sizes
            ));
        }
        Ok(())
    }

    fn read_dictionaries(&mut self, known: &mut Known) {
        if self.dictionaries.read(known, &mut self.screen)
            && let Some((sequence, _)) = &mut self.sequence
        {
            sequence.learn_all(known);
        }
    }

    fn record(&mut self, record: &Decoded<'_>, known: &Known) {
        self.screen.id = record.id();
        self.text.record(record, known, &mut self.screen);
        if let Some(matlab) = &mut self.matlab {
            self.row.clear();
            push_matlab_row(record, known, &mut self.row);
            matlab.write(&self.row);
        }
        if let Some((sequence, file)) = &mut self.sequence {
            self.row.clear();
            sequence.push_row(record, known, &mut self.row);
            file.write(&self.row);
            if let Some(object) = record.named_object() {
                sequence.learn(object, &record.object_name(known));
            }
        }
    }
}

impl Listener for Printer<'_> {
    #[inline]
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        match event {
            Event::Record(record) => self.record(record, known),
            Event::Trouble(trouble) => {
                self.losses.troubles += 1;
                self.text.trouble(&trouble, known, &mut self.screen);
            }
            Event::Jump(jump) => {
                self.losses.jumps += 1;
                self.losses.frames += u64::from(jump.missing);
                self.text.jump(&jump, &mut self.screen);
            }
            Event::OtherTarget => {
                self.screen.line(Class::Info, b"   <QSPY-> Target info mismatch (dictionaries discarded)");
            }
            Event::Clear => {
                if let Some((sequence, _)) = &mut self.sequence {
                    sequence.forget();
                }
            }
            Event::OddSizes => self.odd_sizes += 1,
            Event::TargetInfo => self.read_dictionaries(known),
            Event::Run => self.dictionaries.save(known, &mut self.screen),
        }
    }
}
