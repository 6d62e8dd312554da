//! `pack`: what goes into the one file of a run or a ring: rings, maps, and the texts of the sources that ran.

mod ran;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use qs_core::record::Statement;
use walkdir::WalkDir;

use self::ran::RanStatements;
use crate::causes::suspects;
use xhist_history::model::{Names, count, visible};
use xhist_history::notes::Notes;
use xhist_history::program::map;
use xhist_history::program::text;
use xhist_history::runs::HistoryPlace;
use xhist_history::runs::pack::{MAPS, PROGRAMS, PackContent, PackEntry, PackError, RUNS, plain_name};
use xhist_history::runs::record::RunRecord;
use xhist_history::source::{self, SourceError};
use xhist_history::{MapPlaces, ReadOptions};

/// Most files whose missing text is named.
const NAMED: usize = 3;

/// What goes into a pack besides rings and maps.
#[derive(Clone, Copy, Debug)]
pub struct PackChoice {
    /// The texts of sources.
    pub sources: bool,
    /// The programs, which have the types of values.
    pub programs: bool,
}

/// The name of a run or a ring in a pack.
pub fn name_of(place: &HistoryPlace) -> String {
    let name = match place {
        HistoryPlace::Run(path) => {
            path.canonicalize().ok().as_deref().unwrap_or(path).file_name().map(ToOwned::to_owned)
        }
        HistoryPlace::File(path) => path.file_stem().map(ToOwned::to_owned),
    };
    plain_name(&name.unwrap_or_else(|| "run".into()).to_string_lossy())
}

/// The files of a pack.
///
/// # Errors
/// A ring file cannot be read, or has no ring.
pub fn entries(
    place: &HistoryPlace,
    choice: PackChoice,
    given_map: Option<&Path>,
    notes: &mut Notes<'_>,
) -> Result<Vec<PackEntry>, PackFault> {
    let run = format!("{RUNS}/{}", name_of(place));
    let (mut entries, rings) = match place {
        HistoryPlace::Run(directory) => (of_run(directory, &run), source::ring_files(directory)),
        HistoryPlace::File(path) => {
            let time = path
                .metadata()
                .and_then(|found| found.modified())
                .map_err(|error| PackError::Read(path.clone(), error))?;
            let mut name = plain_name(&path.file_name().unwrap_or_default().to_string_lossy());
            // Only files with this ending are looked for in a run.
            if path.extension().is_none_or(|ending| ending != "xhist") {
                name.push_str(".xhist");
            }
            (vec![file(format!("{run}/{name}"), path.clone())], vec![(time, path.clone())])
        }
    };
    let mut ran: BTreeMap<u64, (SystemTime, HashSet<Statement>)> = BTreeMap::new();
    for (written, path) in &rings {
        let opened = source::open(path.as_os_str())?;
        let options =
            ReadOptions { data: opened.data.clone(), written: opened.written, ..ReadOptions::default() };
        let found = RanStatements::read(&opened.image, &options);
        if found.is_empty() && matches!(place, HistoryPlace::File(_)) {
            notes.note(format_args!("{} has no ring, so no map is packed", path.display()));
        }
        for (hash, statements) in found {
            let (time, all) = ran.entry(hash).or_insert_with(|| (*written, HashSet::new()));
            *time = (*time).max(*written);
            all.extend(statements);
        }
    }
    if let HistoryPlace::Run(directory) = place {
        let newest = rings.iter().map(|(written, _)| *written).max();
        for (hash, statements) in suspects::ran_by_threads(directory) {
            let (_, all) = ran.entry(hash).or_insert_with(|| (newest.unwrap_or(UNIX_EPOCH), HashSet::new()));
            all.extend(statements);
        }
        if choice.programs {
            entries.extend(programs(directory, notes));
        }
    }
    let places = MapPlaces {
        given: given_map.map(Path::to_owned),
        dump_dir: rings
            .first()
            .and_then(|(_, path)| Some(std::path::absolute(path).ok()?.parent()?.to_owned())),
        work_dir: Some(PathBuf::from(".")),
        ..MapPlaces::default()
    };
    for (hash, (written, statements)) in ran {
        let Some(path) = map::path_of(hash, &places, Some(written)) else {
            notes.loss(format_args!(
                "the map of a build is not found ({hash:016x}), so its lines have no names elsewhere"
            ));
            continue;
        };
        // A ring without the hash of its map takes the one with this name.
        let name = if hash == 0 { "xhist.map".to_owned() } else { format!("{hash:016x}.map") };
        entries.push(file(format!("{MAPS}/{name}"), path.clone()));
        if choice.sources {
            let names = map::load(&path).map_err(|error| PackError::Read(path.clone(), error))?;
            let mut files: Vec<u16> =
                statements.iter().map(|ran| names.place(ran.file, ran.line).file).collect();
            files.sort_unstable();
            files.dedup();
            entries.extend(texts(&names, &files, notes));
        }
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries.dedup_by(|one, other| one.name == other.name);
    Ok(entries)
}

/// Why nothing is packed.
#[derive(Debug)]
pub enum PackFault {
    /// A ring file.
    Source(SourceError),
    /// Any other file.
    Pack(PackError),
}

impl From<SourceError> for PackFault {
    fn from(error: SourceError) -> PackFault {
        PackFault::Source(error)
    }
}

impl From<PackError> for PackFault {
    fn from(error: PackError) -> PackFault {
        PackFault::Pack(error)
    }
}

fn file(name: String, path: PathBuf) -> PackEntry {
    PackEntry { name, content: PackContent::File(path) }
}

/// All files of a run, by their names in the pack.
fn of_run(directory: &Path, run: &str) -> Vec<PackEntry> {
    let files = WalkDir::new(directory).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let named = files.filter_map(|found| {
        let parts = found.path().strip_prefix(directory).ok()?.components();
        let parts: Vec<String> = parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        Some(file(format!("{run}/{}", parts.join("/")), found.into_path()))
    });
    named.collect()
}

/// The programs of a run, as far as they are still there.
fn programs(directory: &Path, notes: &mut Notes<'_>) -> Vec<PackEntry> {
    let record = RunRecord::read(directory).unwrap_or_default();
    let (there, gone): (Vec<_>, Vec<_>) = record.programs.into_iter().partition(|(_, path)| path.is_file());
    for (name, path) in gone {
        notes.note(format_args!("the program {} is not at {} any more", visible(&name), path.display()));
    }
    there.into_iter().map(|(name, path)| file(format!("{PROGRAMS}/{}", plain_name(&name)), path)).collect()
}

/// The texts of these files as they were built, under the names that readers look for.
fn texts(names: &Names, files: &[u16], notes: &mut Notes<'_>) -> Vec<PackEntry> {
    let (mut entries, mut missing) = (Vec::new(), Vec::new());
    for id in files {
        let Some(path) = names.shown_path(*id) else { continue };
        match text::of_build(names, *id) {
            Some((name, text)) => {
                entries.push(PackEntry { name: format!("{MAPS}/{name}"), content: PackContent::Text(text) });
            }
            None => missing.push(path.to_owned()),
        }
    }
    missing.dedup();
    if !missing.is_empty() {
        let more = if missing.len() > NAMED { ", ..." } else { "" };
        notes.note(format_args!(
            "{} has changed since the build or is gone, so its text is not packed: {}{more}",
            count(missing.len(), "source"),
            missing[..missing.len().min(NAMED)].join(", ")
        ));
    }
    entries
}
