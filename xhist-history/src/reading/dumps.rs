//! Reads one source into a recording, or dump after dump: then what is known of a program is kept for the next one.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::calls::{Structure, Structures};
use crate::events::context::Context;
use crate::model::{Names, Ring};
use crate::notes::typed;
use crate::notes::{ExitCode, Notes};
use crate::options::{EntryChoice, MapPlaces, ProgramPlaces, ReadOptions};
use crate::program::map::Maps;
use crate::reading::recording_builder::RecordingReport;
use crate::reading::report::Report;
use crate::reading::{Reading, Reports, SourceContent, read};
use crate::recording::{Recording, SharedRecording};
use crate::ring;
use crate::source::Opened;

/// Reads an image into a recording, which others may read meanwhile. Notes and losses go to `notes`.
pub fn read_recording(
    image: &[u8],
    options: &ReadOptions,
    recording: &SharedRecording,
    notes: &mut Notes<'_>,
) -> ExitCode {
    let (maps, structures) = (&mut Maps::default(), &mut Structures::default());
    let context = &mut Context { options, maps, structures, out: &mut io::sink(), notes };
    read(image, &mut OneRecording { options, recording: recording.clone() }, context)
}

/// Reads dumps, one after another.
#[derive(Debug)]
pub struct DumpReader {
    options: ReadOptions,
    maps: Maps,
    structures: Structures,
    /// The statements of each map, by their ids.
    statements: HashMap<usize, Arc<[RanStatement]>>,
}

/// What a dump holds.
#[derive(Debug, Default)]
pub struct Dump {
    /// Its history: without texts of sources, and at most the newest entries.
    pub recording: Recording,
    /// Its rings.
    pub rings: Vec<Ring>,
    /// Statements that ever ran, by the program's own bitmap. Empty if the program keeps none.
    pub ever_ran: Vec<RanStatement>,
    /// What was lost, and what else people have to know, a line each.
    pub notes: Vec<String>,
}

/// A statement of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RanStatement {
    /// Path of its file, printable.
    pub path: Arc<str>,
    /// The line that it starts in.
    pub line: u32,
    /// Its function.
    pub function: Arc<str>,
    /// A sum of its text, the same in each build; 0 if not known.
    pub text: u32,
}

impl DumpReader {
    /// Looks for maps in these directories, and for each dump in its own. A history has at most the newest `entries` entries.
    pub fn new(map_dirs: Vec<PathBuf>, entries: u64) -> DumpReader {
        let options = ReadOptions {
            last: Some(entries),
            maps: MapPlaces { dirs: map_dirs, ..MapPlaces::default() },
            shows_sources: false,
            entries: EntryChoice::RECORDING,
            ..ReadOptions::default()
        };
        DumpReader {
            options,
            maps: Maps::default(),
            structures: Structures::default(),
            statements: HashMap::new(),
        }
    }

    /// Reads a dump. Any bytes are fine: what cannot be read is in the notes. `beside` is where its map may be.
    pub fn read(&mut self, dump: &Opened, beside: Option<&Path>) -> Dump {
        let known = self.maps.forget_image();
        self.structures.keep(known);
        self.statements.retain(|map, _| *map < known);
        let recording = SharedRecording::default();
        let options = ReadOptions {
            maps: MapPlaces { dump_dir: beside.map(Path::to_owned), ..self.options.maps.clone() },
            data: dump.data.clone(),
            written: dump.written,
            programs: ProgramPlaces {
                core: dump.program.clone(),
                source: dump.path.clone(),
                ..ProgramPlaces::default()
            },
            ..self.options.clone()
        };
        let mut written = Vec::new();
        let notes = &mut Notes::new(&mut written);
        dump.losses.iter().for_each(|loss| notes.loss(format_args!("{loss}")));
        let mut reports = OneRecording { options: &options, recording: recording.clone() };
        let (maps, structures) = (&mut self.maps, &mut self.structures);
        let context = &mut Context { options: &options, maps, structures, out: &mut io::sink(), notes };
        read(&dump.image, &mut reports, context);
        let found = ring::find(&dump.image, dump.data.as_deref(), &mut |_| {});
        let rings: Vec<Ring> = found.rings.iter().map(|placed| placed.ring.clone()).collect();
        let ever_ran = self.ever_ran(&dump.image);
        let written = String::from_utf8_lossy(&written);
        let notes = written.lines().map(|line| line.trim_start_matches(typed::prefix()).to_owned());
        let recording = std::mem::take(&mut *recording.lock());
        Dump { recording, rings, ever_ran, notes: notes.collect() }
    }

    /// What bitmaps of an image say.
    fn ever_ran(&mut self, image: &[u8]) -> Vec<RanStatement> {
        let mut ran = Vec::new();
        for (hash, executed) in ring::executed(image).by_map {
            let (map, names) = self.maps.of(&Ring::of_map(hash));
            let structure = self.structures.of((map, names));
            let known = self.statements.entry(map).or_insert_with(|| statements(names, &structure));
            let ids = executed.into_iter().map(|statement| structure.statement(statement, None));
            let mut ids: Vec<u32> = ids.filter(|id| *id != structure.unknown()).map(|id| id.0).collect();
            ids.sort_unstable();
            ids.dedup();
            ran.extend(ids.iter().filter_map(|id| known.get(*id as usize)).cloned());
        }
        ran
    }
}

/// A recording of whatever is in a source.
struct OneRecording<'o> {
    options: &'o ReadOptions,
    recording: SharedRecording,
}

impl Reports for OneRecording<'_> {
    fn choose(&mut self, _: SourceContent) -> Reading {
        RecordingReport::READING
    }

    fn make(&mut self) -> Result<Box<dyn Report + '_>, String> {
        Ok(Box::new(RecordingReport::new(self.options, self.recording.clone())))
    }
}

/// All statements of a program, by their ids.
fn statements(names: &Names, structure: &Structure) -> Arc<[RanStatement]> {
    let mut paths: HashMap<u16, Arc<str>> = HashMap::new();
    let functions: Vec<Arc<str>> = structure.bodies().iter().map(|body| body.name().into()).collect();
    let statement = |id| {
        let (file, span) = structure.place(id);
        let path = paths.entry(file).or_insert_with(|| names.shown_path(file).unwrap_or_default().into());
        let function = functions.get(structure.body_of(id).0 as usize);
        RanStatement {
            path: Arc::clone(path),
            line: span.line,
            function: function.cloned().unwrap_or_default(),
            text: structure.text(id),
        }
    };
    structure.statement_ids().map(statement).collect()
}
