//! Listens to the decoder and prints: lines, rows for Matlab, sequence diagrams, dictionary files.

use std::io::{self, Write};

use qs_host::{
    CUT_FIRST, CUT_LAST, DecodedRecord, LineClass, LineFormatter, LineSink, Listener, OtherBuild, Sequence,
    StreamEvent, TargetSymbols, push_matlab_row,
};
use xhist_history::model::count;
use xhist_history::notes::{Misfits, Notes};

use super::dictionaries::{Dictionaries, ObjectNames};
use super::error::SessionError;
use super::options::QsOptions;
use super::outputs::{Output, by_time};
use super::screen::Screen;
use qs_host::SideFile;

/// Counts of losses.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    frames: u64,
    jumps: u64,
    troubles: u64,
    /// Bytes of the first frame, whose start is missing.
    lead: u64,
    misfits: Misfits,
}

/// Prints the events of a stream.
pub struct Printer<'o> {
    /// Where lines are shown.
    pub screen: Screen<'o>,
    text: LineFormatter,
    dictionaries: Dictionaries,
    raw: Option<Output>,
    matlab: Option<Output>,
    sequence: Option<(Sequence, Output)>,
    row: Vec<u8>,
    losses: Losses,
    /// Records printed so far.
    records: u64,
    odd_sizes: u64,
    /// The dictionary file is of another build.
    other_build: Option<OtherBuild>,
    /// Objects of the sequence diagram.
    list: Option<String>,
}

impl<'o> Printer<'o> {
    /// Opens all files and reads the dictionary file.
    pub fn new(
        options: &QsOptions,
        out: Box<dyn Write + 'o>,
        known: &mut TargetSymbols,
    ) -> Result<Printer<'o>, SessionError> {
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
            text: LineFormatter::default(),
            dictionaries: Dictionaries::new(options),
            raw: Output::create(options.raw.as_deref())?,
            matlab: Output::create(options.matlab.as_deref())?,
            sequence,
            row: Vec::new(),
            losses: Losses::default(),
            records: 0,
            odd_sizes: 0,
            other_build: None,
            list: options.sequence.as_ref().map(|(list, _)| list.clone()),
        };
        printer.read_dictionaries(known);
        Ok(printer)
    }

    /// Whether the stream has a side file.
    pub fn keeps_stream(&self) -> bool {
        self.raw.is_some()
    }

    /// Writes bytes of the stream to their side file, if there is one.
    pub fn save(&mut self, bytes: &[u8]) {
        if let Some(raw) = &mut self.raw {
            raw.write(bytes);
        }
    }

    /// The first error of the output.
    pub fn take_error(&mut self) -> io::Result<()> {
        self.screen.take_error()
    }

    /// Ends all output and reports losses.
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
        if let Some(builds) = self.other_build {
            notes.note(format_args!("{builds}"));
        }
        if self.odd_sizes > 0 {
            notes.loss(format_args!(
                "{} target-info records have sizes that no target has; those sizes were ignored",
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
    pub fn save_dictionaries(&mut self, known: &TargetSymbols) {
        self.dictionaries.save(known, &mut self.screen);
    }

    /// Opens a side file named after the time, or closes it, and prints which. `wanted`: open or close; `None`: the other state.
    /// Returns whether a file was opened.
    pub fn toggle_side_file(
        &mut self,
        kind: SideFile,
        wanted: Option<bool>,
        known: &TargetSymbols,
        notes: &mut Notes<'_>,
    ) -> bool {
        let open = match kind {
            SideFile::Text => self.screen.file.take(),
            SideFile::Binary => self.raw.take(),
            SideFile::Matlab => self.matlab.take(),
            SideFile::Sequence => self.sequence.take().map(|(_, file)| file),
        };
        let wanted = wanted.unwrap_or(open.is_none());
        open.into_iter().for_each(|file| file.finish(notes));
        let (title, extension) = match kind {
            SideFile::Text => ("Screen Output [o]", "txt"),
            SideFile::Binary => ("Binary Output [s]", "bin"),
            SideFile::Matlab => ("Matlab Output [m]", "mat"),
            SideFile::Sequence => ("Sequence Output [g]", "seq"),
        };
        let name = by_time(extension);
        let mut made = None;
        if wanted && !(kind == SideFile::Sequence && self.list.is_none()) {
            match Output::create(Some(&name)) {
                Ok(file) => made = file,
                Err(why) => notes.error(format_args!("{why}")),
            }
        }
        let is_begun = made.is_some();
        let shown = made.as_ref().map_or("OFF".to_owned(), |_| name.display().to_string());
        match (kind, made) {
            (SideFile::Text, file) => self.screen.file = file,
            (SideFile::Binary, file) => self.raw = file,
            (SideFile::Matlab, file) => self.matlab = file,
            (SideFile::Sequence, None) => {}
            (SideFile::Sequence, Some(mut file)) => {
                if let Some(Ok(mut sequence)) = self.list.as_deref().map(Sequence::new) {
                    file.write(&sequence.opening());
                    sequence.learn_all(known);
                    self.sequence = Some((sequence, file));
                }
            }
        }
        self.screen.line(LineClass::Info, format!("   <USER-> {title} File={shown}").as_bytes());
        is_begun
    }

    fn read_dictionaries(&mut self, known: &mut TargetSymbols) {
        let names = self.dictionaries.read(known, &mut self.screen);
        if let ObjectNames::Discarded(builds) = names {
            // Behind it the target passes for that of the file, as in QSPY.
            self.other_build = self.other_build.or(builds);
        }
        let Some((sequence, _)) = &mut self.sequence else { return };
        match names {
            ObjectNames::Unchanged => {}
            ObjectNames::Read => sequence.learn_all(known),
            ObjectNames::Discarded(_) => sequence.forget(),
        }
    }

    fn record(&mut self, record: &DecodedRecord<'_>, known: &TargetSymbols) {
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
    fn rows(&mut self, record: &DecodedRecord<'_>, known: &TargetSymbols) {
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
    fn event(&mut self, event: StreamEvent<'_>, known: &mut TargetSymbols) {
        match event {
            StreamEvent::Record(record) => self.record(record, known),
            StreamEvent::Trouble(trouble) => {
                self.losses.troubles += 1;
                self.text.trouble(&trouble, known, &mut self.screen);
            }
            StreamEvent::Lead(bytes) => self.losses.lead = bytes,
            StreamEvent::Jump(jump) => {
                self.losses.jumps += 1;
                self.losses.frames += u64::from(jump.missing);
                self.text.jump(&jump, &mut self.screen);
            }
            StreamEvent::OtherTarget => {
                self.screen
                    .line(LineClass::Info, b"   <QSPY-> Target info mismatch (dictionaries discarded)");
            }
            StreamEvent::Clear => {
                if let Some((sequence, _)) = &mut self.sequence {
                    sequence.forget();
                }
            }
            StreamEvent::OddSizes => self.odd_sizes += 1,
            StreamEvent::TargetInfo => self.read_dictionaries(known),
            StreamEvent::Run if self.dictionaries.are_wanted() => self.save_dictionaries(known),
            // Names that are kept are for other formats.
            StreamEvent::OtherBuild(_) | StreamEvent::Run => {}
        }
    }
}
