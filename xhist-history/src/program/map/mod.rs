//! Finds and reads the map of each ring.

mod builds;
mod in_program;
mod load;
mod search;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use qs_core::map::NO_MAP;
use qs_core::record::Statement;

use crate::model::{Names, Ring, visible};
use crate::notes::ExitCode;
use crate::notes::Notes;
use crate::options::{MapPlaces, ProgramPlaces, ReadOptions};
pub use builds::builds;
pub use load::{load, open, project_of};
use search::{Candidate, ancestors, candidates};

/// Most maps of other builds that are listed.
const SHOWN: usize = 5;

/// Where maps were looked for.
type Searched = (MapPlaces, ProgramPlaces);

/// Where the map with this hash is: the one that a ring of that time is read with.
pub fn path_of(hash: u64, places: &MapPlaces, written: Option<SystemTime>) -> Option<PathBuf> {
    let candidates =
        places.given.as_deref().map_or_else(|| candidates(places, &ProgramPlaces::default()), search::given);
    let found = match (hash, &places.given) {
        (0, Some(given)) => return Some(given.clone()),
        (0, None) => candidates.iter().find(|candidate| candidate.is_standard_name()),
        _ => search::of_build(&candidates, hash, written),
    };
    found.map(|candidate| candidate.path.clone())
}

/// The maps of a report, by ring.
#[derive(Debug, Default)]
pub struct Maps {
    names: Vec<Names>,
    by_hash: HashMap<u64, Option<usize>>,
    none: Names,
    /// What was found where, when a map was looked for most recently.
    candidates: Option<(Searched, Vec<Candidate>)>,
    /// The maps that were reported to lack names; `usize::MAX` for a map that is missing.
    lacking: HashSet<usize>,
    /// The maps of which impossible statements were reported.
    contradicted: HashSet<usize>,
    /// By target of a live session: the names that it sent, and whether its map contradicts them.
    sent: HashMap<usize, (Names, bool)>,
}

impl Maps {
    /// Loads the map of each ring and notes what is wrong with it. A report without statements needs no map.
    ///
    /// # Errors
    /// The exit code, if the map that the user gave cannot be read.
    pub fn load(rings: &[&Ring], options: &ReadOptions, notes: &mut Notes<'_>) -> Result<Maps, ExitCode> {
        let mut maps = Maps::default();
        maps.load_more(rings, options, notes)?;
        Ok(maps)
    }

    /// The same for rings whose maps are not known yet.
    ///
    /// # Errors
    /// The exit code, if the map that the user gave cannot be read.
    pub fn load_more(
        &mut self,
        rings: &[&Ring],
        options: &ReadOptions,
        notes: &mut Notes<'_>,
    ) -> Result<(), ExitCode> {
        let places = &options.maps;
        let mut hashes: Vec<u64> = rings.iter().map(|ring| ring.map_hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.retain(|hash| !self.by_hash.contains_key(hash));
        match &places.given {
            _ if hashes.is_empty() => {}
            Some(path) => self.load_given(path, &hashes, options, notes)?,
            None if options.entries.only_traces => {}
            None => self.load_found(&hashes, options, notes),
        }
        Ok(())
    }

    /// Forgets what was about one image: maps that were not found near it, and names that its targets sent. Returns how many
    /// maps stay.
    pub fn forget_image(&mut self) -> usize {
        self.by_hash.retain(|_, index| index.is_some());
        self.sent.clear();
        self.names.len()
    }

    /// Loads the map of a later ring, unless its hash is known already. Returns whether it searched.
    pub fn add(&mut self, ring: &Ring, options: &ReadOptions, notes: &mut Notes<'_>) -> bool {
        if self.by_hash.contains_key(&ring.map_hash) {
            return false;
        }
        let places = &options.maps;
        if self.sent.contains_key(&ring.target)
            && places.given.is_none()
            && candidates(places, &options.programs).is_empty()
        {
            // The names that the target sent are enough.
            self.by_hash.insert(ring.map_hash, None);
            return true;
        }
        let Ok(maps) = Maps::load(&[ring], options, notes) else {
            notes.incomplete();
            self.by_hash.insert(ring.map_hash, None);
            return false;
        };
        let first = self.names.len();
        self.names.extend(maps.names);
        let moved = maps.by_hash.into_iter().map(|(hash, index)| (hash, index.map(|index| first + index)));
        self.by_hash.extend(moved);
        self.by_hash.entry(ring.map_hash).or_insert(None);
        true
    }

    /// The names of a ring, and a number that identifies their map.
    pub fn of(&self, ring: &Ring) -> (usize, &Names) {
        let map = self.by_hash.get(&ring.map_hash).copied().flatten();
        match (map, self.sent.get(&ring.target)) {
            (Some(index), None | Some((_, false))) => (index, &self.names[index]),
            (_, Some((names, _))) => (usize::MAX - ring.target, names),
            (None, None) => (usize::MAX, &self.none),
        }
    }

    /// Looks for the place of a statement, so that [`Maps::report_lacks`] knows whether names are missing. Reports may take
    /// places from elsewhere, and some need no map. The open frame of firmware has no checksum, so lines are checked there.
    pub fn look_up(&self, ring: &Ring, statement: Statement) {
        let Some(map) = self.by_hash.get(&ring.map_hash) else { return };
        if statement.number().is_some() {
            self.of(ring).1.place(statement.file, statement.line);
        } else if let Some(map) = map.filter(|_| ring.pid == 0 && !ring.is_of_thread()) {
            self.names[map].check_line(statement);
        }
    }

    /// Reports statements that only have a number, or are in lines without one, once for each map. Returns what new ones mean
    /// for the exit code.
    pub fn report_lacks(&mut self, notes: &mut Notes<'_>) -> ExitCode {
        let mut code = ExitCode::Complete;
        for (index, names) in self.names.iter().enumerate() {
            let count = names.impossible();
            if count > 0 && self.contradicted.insert(index) {
                code = ExitCode::Incomplete;
                notes.incomplete();
                notes.error(format_args!(
                    "{count} recorded lines have no statement in map {:016x}: the ring was overwritten in memory, or the \
                     map is of other sources",
                    names.hash.unwrap_or_default()
                ));
            }
        }
        let by_map = self.names.iter().enumerate().map(|(index, names)| (index, Some(names.hash), names));
        let without = self.sent.values().map(|(names, _)| names).chain([&self.none]);
        for (index, map, names) in by_map.chain(without.map(|names| (usize::MAX, None, names))) {
            if !names.lacks_names() || !self.lacking.insert(index) {
                continue;
            }
            code = ExitCode::Incomplete;
            notes.incomplete();
            match map {
                // What is wrong with this file was reported when it was read.
                Some(_) if !names.is_intact() => {
                    notes.error(format_args!("statements are shown by number, because the map does not have them"));
                }
                Some(hash) => notes.error(format_args!(
                    "statements are shown by number, because map {:016x} does not have them: instrument all sources of \
                     the program in one run, and build it again",
                    hash.unwrap_or_default()
                )),
                None => notes.error(format_args!(
                    "statements are shown by number, because only a map has their files and lines"
                )),
            }
        }
        code
    }

    /// Adds the name of a file that a target sent.
    pub fn add_path(&mut self, ring: &Ring, file: u16, path: &str) {
        self.sent.entry(ring.target).or_default().0.add_path(file, path);
    }

    /// Checks the names that a target sent against its map. From the first contradiction on, the map is not used; returns that file,
    /// once.
    pub fn distrust(&mut self, ring: &Ring) -> Option<(u16, String)> {
        let map = &self.names[self.by_hash.get(&ring.map_hash).copied().flatten()?];
        let (sent, is_distrusted) = self.sent.get_mut(&ring.target)?;
        if *is_distrusted {
            return None;
        }
        let (file, path) = sent.paths().find(|(file, path)| map.path(*file) != Some(path))?;
        let other = (file, visible(path).into_owned());
        *is_distrusted = true;
        Some(other)
    }

    fn load_given(
        &mut self,
        path: &Path,
        hashes: &[u64],
        options: &ReadOptions,
        notes: &mut Notes<'_>,
    ) -> Result<(), ExitCode> {
        let index = match self.read(path, notes) {
            Ok(index) => index,
            Err(error) => {
                notes.error(format_args!("cannot read the map {}: {error}", path.display()));
                return Err(ExitCode::Usage);
            }
        };
        let candidates = if hashes == [0] { Vec::new() } else { search::given(path) };
        for &hash in hashes {
            let found = search::of_build(&candidates, hash, options.written).filter(|_| hash != 0);
            if let Some(candidate) = found {
                report_later(hash, candidate, notes);
                let is_given = candidate.path == path;
                let names = if is_given { Some(index) } else { self.read(&candidate.path, notes).ok() };
                self.by_hash.insert(hash, names);
                continue;
            }
            let names = &self.names[index];
            self.by_hash.insert(hash, Some(index));
            match names.hash {
                Some(map) if hash != 0 && hash != map => {
                    notes.incomplete();
                    notes.error(format_args!(
                        "{} belongs to another build (map {map:016x}, dump {hash:016x}): files and lines below may be wrong",
                        path.display()
                    ));
                }
                _ if hash == 0 => notes
                    .note(format_args!("the dump does not name its map; {} not verified", path.display())),
                _ => {}
            }
        }
        Ok(())
    }

    fn load_found(&mut self, hashes: &[u64], options: &ReadOptions, notes: &mut Notes<'_>) {
        let places = &options.maps;
        let all = (places.clone(), options.programs.clone());
        if self.candidates.as_ref().is_none_or(|(searched, _)| *searched != all) {
            self.candidates = Some((all.clone(), candidates(places, &options.programs)));
        }
        let candidates = self.candidates.take().map_or(Vec::new(), |(_, candidates)| candidates);
        for &hash in hashes {
            let found = match hash {
                0 => candidates.iter().find(|candidate| candidate.is_standard_name()),
                _ => search::of_build(&candidates, hash, options.written),
            };
            let Some(candidate) = found else {
                self.by_hash.insert(hash, None);
                report_missing(hash, &candidates, options, notes);
                continue;
            };
            let path = &candidate.path;
            report_later(hash, candidate, notes);
            match self.read(path, notes) {
                Ok(index) => {
                    self.by_hash.insert(hash, Some(index));
                    if hash == 0 {
                        let path = path.display();
                        notes.note(format_args!(
                            "the dump does not name its map; map not verified, using {path}"
                        ));
                    }
                }
                Err(error) => {
                    notes.incomplete();
                    notes.error(format_args!("cannot read the map {}: {error}", path.display()));
                }
            }
        }
        self.candidates = Some((all, candidates));
    }

    fn read(&mut self, path: &Path, notes: &mut Notes<'_>) -> std::io::Result<usize> {
        self.names.push(read(path, notes)?);
        Ok(self.names.len() - 1)
    }
}

/// Reads a map and notes what is wrong with it.
fn read(path: &Path, notes: &mut Notes<'_>) -> std::io::Result<Names> {
    let names = load::load(path)?;
    if names.hash.is_none() {
        notes.incomplete();
        match &names.other_version {
            Some(error) => notes.error(format_args!("{}: {error}", path.display())),
            None => notes.error(format_args!(
                "{} is not a map of xhist: maps are named HASH.map, or xhist.map, and found without --map where they \
                 are kept",
                path.display()
            )),
        }
        return Ok(names);
    }
    for bad in &names.bad_lines {
        notes.note(format_args!("{}:{}: {}", path.display(), bad.line, bad.reason));
    }
    let more = names.bad_line_count - names.bad_lines.len();
    if more > 0 {
        notes.note(format_args!("{}: {more} more bad lines", path.display()));
    }
    if let (Some(hash), false) = (names.hash, names.is_intact()) {
        notes.incomplete();
        notes.error(format_args!(
            "{} was edited or damaged after it was written (hash {:016x}, its first line says {hash:016x}): \
             files and lines below may be wrong",
            path.display(),
            names.actual_hash
        ));
    }
    Ok(names)
}

/// Says that a map other than the one which the program names is used.
fn report_later(hash: u64, map: &Candidate, notes: &mut Notes<'_>) {
    if hash != 0 && hash != map.hash {
        let (path, of_map) = (map.path.display(), map.hash);
        notes.note(format_args!(
            "the program names map {hash:016x}, and sources were instrumented after its `main`: names are those of the \
             later map {of_map:016x}, the last one before the dump was written ({path})"
        ));
    }
}

/// Reports a missing map: a note if there is no map at all, an error if there are others.
fn report_missing(hash: u64, candidates: &[Candidate], options: &ReadOptions, notes: &mut Notes<'_>) {
    let places = &options.maps;
    if hash == NO_MAP {
        notes.note(format_args!(
            "the sources of this program were instrumented by `xhist-instrument -` without --stdin-path, so no map names them"
        ));
        return;
    }
    if candidates.is_empty() || hash == 0 {
        let wanted = match hash {
            0 => "the program does not say which map it was built with".to_owned(),
            _ => format!("the program was built with map {hash:016x}"),
        };
        let dirs = [&places.dump_dir, &places.work_dir].into_iter().flatten().map(|dir| ancestors(dir));
        let mut dirs: Vec<PathBuf> = dirs.filter_map(|dirs| dirs.into_iter().next()).collect();
        dirs.dedup();
        let dirs: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
        let mut searched = match dirs.is_empty() {
            true => String::new(),
            false => format!(" in {} or above, nor under target/xhist there", dirs.join(", ")),
        };
        if let Some(program) = &options.programs.given {
            searched.push_str(&format!(", and {} has no map in it", program.display()));
        }
        notes.note(format_args!(
            "no map found{searched}, so files are shown as numbers; {wanted}: name it with --map FILE (xhist-instrument \
             leaves xhist.map beside Cargo.toml, cargo xhist under target/xhist and in the program: --program FILE)"
        ));
        return;
    }
    notes.incomplete();
    notes.error(format_args!(
        "no map of this build found: the map of the dump is {hash:016x}; files are shown as numbers"
    ));
    for candidate in candidates.iter().take(SHOWN) {
        notes.note(format_args!("{} is map {:016x}", candidate.path.display(), candidate.hash));
    }
    if candidates.len() > SHOWN {
        notes.note(format_args!("and {} more maps of other builds", candidates.len() - SHOWN));
    }
}
