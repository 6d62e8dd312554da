//! Finds and reads the map of each ring. It must not know what is recorded in the rings.

mod builds;
mod load;
mod search;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::console::Notes;
use crate::exit_code::ExitCode;
use crate::model::{Names, Ring, visible};
use crate::options::{MapPlaces, Options};
pub use builds::builds;
pub use load::{open, project_of};
use search::{Candidate, candidates};

/// So many maps of other builds are named.
const SHOWN: usize = 5;

/// The maps of a report: which names apply to which ring.
#[derive(Debug, Default)]
pub struct Maps {
    names: Vec<Names>,
    by_hash: HashMap<u64, Option<usize>>,
    none: Names,
    /// What targets of a live session tell themselves, and whether the map says otherwise.
    told: HashMap<usize, (Names, bool)>,
}

impl Maps {
    /// Loads the map of each ring; what is wrong with them is noted. A report without statements looks for none.
    ///
    /// # Errors
    /// The exit code, when the map that the user gave cannot be read.
    pub fn load(rings: &[&Ring], options: &Options, notes: &mut Notes<'_>) -> Result<Maps, ExitCode> {
        let (mut maps, places) = (Maps::default(), &options.maps);
        let mut hashes: Vec<u64> = rings.iter().map(|ring| ring.map_hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        match &places.given {
            Some(path) => maps.load_given(path, &hashes, notes)?,
            None if options.format.only_traces => {}
            None => maps.load_found(&candidates(places), &hashes, places, notes),
        }
        Ok(maps)
    }

    /// Loads the map of a ring that came later, unless it was looked for already; whether it was looked for now.
    pub fn add(&mut self, ring: &Ring, options: &Options, notes: &mut Notes<'_>) -> bool {
        if self.by_hash.contains_key(&ring.map_hash) {
            return false;
        }
        let places = &options.maps;
        if self.told.contains_key(&ring.target) && places.given.is_none() && candidates(places).is_empty() {
            // The target's own names will do.
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

    /// The names that apply to a ring, with a number that tells maps apart.
    pub fn of(&self, ring: &Ring) -> (usize, &Names) {
        let map = self.by_hash.get(&ring.map_hash).copied().flatten();
        match (map, self.told.get(&ring.target)) {
            (Some(index), None | Some((_, false))) => (index, &self.names[index]),
            (_, Some((names, _))) => (usize::MAX - ring.target, names),
            (None, None) => (usize::MAX, &self.none),
        }
    }

    /// A target says how a file is called.
    pub fn tell(&mut self, ring: &Ring, file: u16, path: &str) {
        self.told.entry(ring.target).or_default().0.tell(file, path);
    }

    /// From the moment on that a target calls a file otherwise than the map does, the map is not used for it; that file is given once.
    pub fn distrust(&mut self, ring: &Ring) -> Option<(u16, String)> {
        let map = &self.names[self.by_hash.get(&ring.map_hash).copied().flatten()?];
        let (told, is_distrusted) = self.told.get_mut(&ring.target)?;
        if *is_distrusted {
            return None;
        }
        let (file, path) = told.paths().find(|(file, path)| map.path(*file) != Some(path))?;
        let other = (file, visible(path).into_owned());
        *is_distrusted = true;
        Some(other)
    }

    fn load_given(&mut self, path: &Path, hashes: &[u64], notes: &mut Notes<'_>) -> Result<(), ExitCode> {
        let index = match self.read(path, notes) {
            Ok(index) => index,
            Err(error) => {
                notes.error(format_args!("cannot read the map {}: {error}", path.display()));
                return Err(ExitCode::Usage);
            }
        };
        for &hash in hashes {
            let earlier = search::earlier(path, hash);
            if self.names[index].hash != Some(hash) && earlier.is_file() {
                let kept = self.read(&earlier, notes).ok();
                self.by_hash.insert(hash, kept);
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
                    .note(format_args!("the dump does not tell its map; {} not verified", path.display())),
                _ => {}
            }
        }
        Ok(())
    }

    fn load_found(
        &mut self,
        candidates: &[Candidate],
        hashes: &[u64],
        places: &MapPlaces,
        notes: &mut Notes<'_>,
    ) {
        for &hash in hashes {
            let found = candidates.iter().find(|candidate| match hash {
                0 => candidate.is_standard_name(),
                _ => candidate.hash == hash,
            });
            let Some(candidate) = found else {
                self.by_hash.insert(hash, None);
                tell_missing(hash, candidates, places, notes);
                continue;
            };
            let path = &candidate.path;
            match self.read(path, notes) {
                Ok(index) => {
                    self.by_hash.insert(hash, Some(index));
                    if hash == 0 {
                        let path = path.display();
                        notes.note(format_args!(
                            "the dump does not tell its map; map not verified, using {path}"
                        ));
                    }
                }
                Err(error) => {
                    notes.incomplete();
                    notes.error(format_args!("cannot read the map {}: {error}", path.display()));
                }
            }
        }
    }

    fn read(&mut self, path: &Path, notes: &mut Notes<'_>) -> std::io::Result<usize> {
        self.names.push(read(path, notes)?);
        Ok(self.names.len() - 1)
    }
}

/// Reads a map and notes what is wrong with it.
fn read(path: &Path, notes: &mut Notes<'_>) -> std::io::Result<Names> {
    let names = load::load(path)?;
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
    } else if names.hash.is_none() {
        notes.incomplete();
        notes.error(format_args!("{} is no map of xhist", path.display()));
    }
    Ok(names)
}

/// Nothing names the statements: a mere note when there is no map at all, a mismatch otherwise.
fn tell_missing(hash: u64, candidates: &[Candidate], places: &MapPlaces, notes: &mut Notes<'_>) {
    if candidates.is_empty() || hash == 0 {
        let wanted = match hash {
            0 => "the program does not say which map it was built with".to_owned(),
            _ => format!("the program was built with map {hash:016x}"),
        };
        let dirs = [&places.dump_dir, &places.work_dir].into_iter().flatten().map(|dir| ancestors(dir));
        let mut dirs: Vec<PathBuf> = dirs.filter_map(|dirs| dirs.into_iter().next()).collect();
        dirs.dedup();
        let dirs: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
        let searched = match dirs.is_empty() {
            true => String::new(),
            false => format!(" in {} or above, nor under target/xhist there", dirs.join(", ")),
        };
        notes.note(format_args!(
            "no map found{searched}, so files are shown as numbers; {wanted}: name it with --map FILE (xhist-instrument \
             leaves xhist.map beside Cargo.toml, cargo xhist under target/xhist)"
        ));
        return;
    }
    notes.incomplete();
    notes.error(format_args!(
        "no map of this build found: the dump wants map {hash:016x}; files are shown as numbers"
    ));
    for candidate in candidates.iter().take(SHOWN) {
        notes.note(format_args!("{} is map {:016x}", candidate.path.display(), candidate.hash));
    }
    if candidates.len() > SHOWN {
        notes.note(format_args!("and {} more maps of other builds", candidates.len() - SHOWN));
    }
}

/// A directory and all above it, nearest first.
fn ancestors(dir: &Path) -> Vec<PathBuf> {
    let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    dir.ancestors().map(Path::to_owned).collect()
}
