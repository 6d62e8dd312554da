//! Listens to the decoder, and has everything told that is to be told: lines, rows, files. It must not know bytes.

use std::io::{self, Write};

use crate::console::{Misfits, Notes};
use crate::model::count;
use crate::qs::{
    CUT_FIRST, CUT_LAST, Class, Decoded, Event, Known, Lines, Listener, Sequence, Text, push_matlab_row,
};

use super::dictionaries::Dictionaries;
use super::options::QsOptions;
use super::outputs::{Output, by_time};
use super::screen::Screen;

/// A file that is written beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// The lines.
    Text,
    /// The stream.
    Binary,
    /// Rows for Matlab.
    Matlab,
    /// The sequence diagram.
    Sequence,
}

/// What was lost.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    frames: u64,
    jumps: u64,
    troubles: u64,
    /// Bytes of a frame whose start is not in the stream.
    lead: u64,
    misfits: Misfits,
}

/// Tells what the decoder finds.
pub struct Printer<'o> {
    /// Shows lines.
    pub screen: Screen<'o>,
    text: Text,
    dictionaries: Dictionaries,
    raw: Option<Output>,
    matlab: Option<Output>,
    sequence: Option<(Sequence, Output)>,
    row: Vec<u8>,
    losses: Losses,
    /// Records printed so far.
    records: u64,
    odd_sizes: u64,
    /// Objects of a sequence diagram.
    list: Option<String>,
}

impl<'o> Printer<'o> {
    /// Opens all files, and reads the dictionary file.
    pub fn new(
        options: &QsOptions,
        out: Box<dyn Write + 'o>,
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
            records: 0,
            odd_sizes: 0,
            list: options.sequence.as_ref().map(|(list, _)| list.clone()),
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
        let Losses { frames, jumps, troubles, misfits, .. } = self.losses;
        if jumps > 0 {
            notes.loss(format_args!("{frames} frames or more are missing, in {jumps} places"));
        }
        if troubles > 0 {
            notes.loss(format_args!("in {troubles} places bytes are no good frame"));
        }
        notes.misfits(misfits, "record");
        if self.odd_sizes > 0 {
            notes.loss(format_args!(
                "{} target-info records tell sizes that no target has; those sizes were not believed",
                self.odd_sizes
            ));
        }
        Ok(())
    }

    /// Reports bytes of a first frame without its start, and of a last one without its end.
    pub fn report_cut(&mut self, of: &str, is_whole: bool, rest: u64, notes: &mut Notes<'_>) {
        let lead = std::mem::take(&mut self.losses.lead);
        if is_whole && lead > 0 {
            notes.loss(format_args!("{of}the first {}: {CUT_FIRST}", count(lead as usize, "byte")));
        }
        if rest > 0 {
            notes.loss(format_args!("{of}the last {}: {CUT_LAST}", count(rest as usize, "byte")));
        }
    }

    /// Writes all names into their file.
    pub fn save_dictionaries(&mut self, known: &Known) {
        self.dictionaries.save(known, &mut self.screen);
    }

    /// Begins to write a file beside, named by the time, or ends that; says so. Whether one was begun.
    pub fn write_beside(
        &mut self,
        kind: Beside,
        wanted: Option<bool>,
        known: &Known,
        notes: &mut Notes<'_>,
    ) -> bool {
        let open = match kind {
            Beside::Text => self.screen.file.take(),
            Beside::Binary => self.raw.take(),
            Beside::Matlab => self.matlab.take(),
            Beside::Sequence => self.sequence.take().map(|(_, file)| file),
        };
        let wanted = wanted.unwrap_or(open.is_none());
        open.into_iter().for_each(|file| file.finish(notes));
        let (title, extension) = match kind {
            Beside::Text => ("Screen Output [o]", "txt"),
            Beside::Binary => ("Binary Output [s]", "bin"),
            Beside::Matlab => ("Matlab Output [m]", "mat"),
            Beside::Sequence => ("Sequence Output [g]", "seq"),
        };
        let name = by_time(extension);
        let mut made = None;
        if wanted && !(kind == Beside::Sequence && self.list.is_none()) {
            match Output::create(Some(&name)) {
                Ok(file) => made = file,
                Err(why) => notes.error(format_args!("{why}")),
            }
        }
        let is_begun = made.is_some();
        let shown = made.as_ref().map_or("OFF".to_owned(), |_| name.display().to_string());
        match (kind, made) {
            (Beside::Text, file) => self.screen.file = file,
            (Beside::Binary, file) => self.raw = file,
            (Beside::Matlab, file) => self.matlab = file,
            (Beside::Sequence, None) => {}
            (Beside::Sequence, Some(mut file)) => {
                if let Some(Ok(mut sequence)) = self.list.as_deref().map(Sequence::new) {
                    file.write(&sequence.opening());
                    sequence.learn_all(known);
                    self.sequence = Some((sequence, file));
                }
            }
        }
        self.screen.line(Class::Info, format!("   <USER-> {title} File={shown}").as_bytes());
        is_begun
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
        self.records += 1;
        if !self.text.record(record, known, &mut self.screen) {
            self.losses.misfits.add(self.records);
        }
        if self.matlab.is_some() || self.sequence.is_some() {
            self.rows(record, known);
        }
    }

    #[inline(never)]
    fn rows(&mut self, record: &Decoded<'_>, known: &Known) {
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
            Event::Lead(bytes) => self.losses.lead = bytes,
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
            Event::Run if self.dictionaries.are_wanted() => self.save_dictionaries(known),
            Event::Run => {}
        }
    }
}
