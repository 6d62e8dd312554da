//! Searches for maps: in the program that the user named, beside the dump and above it, in the current directory and above it, there in
//! `xhist.map.d` and under `target/xhist`, and in the program that a core names.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use qs_core::map::Line;

use super::load::{earlier, first_line};
use crate::options::{MapPlaces, ProgramPlaces};

/// Most files of a directory that are considered.
const MAX_FILES: usize = 4096;

/// Where xhist-instrument keeps the maps of earlier runs.
const EARLIER: &str = "xhist.map.d";

/// A map that was found, nearest first.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Where it is.
    pub path: PathBuf,
    /// Hash in its first line.
    pub hash: u64,
    /// The project it was written for.
    pub root: String,
    /// The hashes that `main` carries in programs of its sources.
    pub mains: Vec<u64>,
}

impl Candidate {
    /// Reads the first line of a map; `None` if the file is not a map.
    pub fn read(path: &Path) -> Option<Candidate> {
        let line = first_line(path)?;
        let Ok(Line::Head(head)) = Line::parse(line.trim_end()) else { return None };
        let mains = head.mains().map(|(_, hash)| hash).collect();
        Some(Candidate { path: path.to_owned(), hash: head.hash, root: head.root.chars().collect(), mains })
    }

    /// When it was written.
    pub fn written(&self) -> Option<SystemTime> {
        std::fs::metadata(&self.path).and_then(|metadata| metadata.modified()).ok()
    }

    /// Whether it has the name that the tools give a project's own map.
    pub fn is_standard_name(&self) -> bool {
        self.path.file_name() == Some(OsStr::new("xhist.map"))
    }
}

/// The map of a program that carries this hash. Sources that are instrumented after `main` are only in later maps: the last one
/// before the dump has what the program was built of.
pub fn of_build(candidates: &[Candidate], hash: u64, dumped: Option<SystemTime>) -> Option<&Candidate> {
    let exact = candidates.iter().find(|candidate| candidate.hash == hash);
    let later =
        candidates.iter().filter(|candidate| candidate.hash != hash && candidate.mains.contains(&hash));
    let mut later: Vec<_> = later.map(|map| ((map.written(), map.is_standard_name()), map)).collect();
    later.sort_by_key(|(age, _)| *age);
    let is_before = |((written, _), _): &&((Option<SystemTime>, bool), &Candidate)| {
        dumped.is_none_or(|dumped| written.is_none_or(|written| written <= dumped))
    };
    let last = later.iter().rev().find(is_before).map(|(_, map)| *map);
    last.or(exact).or(later.first().map(|(_, map)| *map))
}

/// A map that the user names, and the earlier ones beside it.
pub fn given(path: &Path) -> Vec<Candidate> {
    let earlier = maps_in(&earlier(path));
    std::iter::once(path.to_owned()).chain(earlier).filter_map(|path| Candidate::read(&path)).collect()
}

/// All maps in the places to search, nearest first.
pub fn candidates(places: &MapPlaces, programs: &ProgramPlaces) -> Vec<Candidate> {
    let mut seen = HashSet::new();
    let mut candidates: Vec<_> = programs.given.iter().filter_map(|path| Candidate::read(path)).collect();
    for dir in directories(places) {
        if !seen.insert(dir.clone()) {
            continue;
        }
        candidates.extend(maps_in(&dir).iter().filter_map(|path| Candidate::read(path)));
    }
    candidates.extend(programs.core.iter().filter_map(|path| Candidate::read(path)));
    candidates
}

fn directories(places: &MapPlaces) -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    for dir in places.dump_dir.iter().flat_map(|dir| ancestors(dir)) {
        let target = dir.join("target/xhist");
        let earlier = dir.join(EARLIER);
        // The target directory may have any name.
        let kept = (dir.file_name() == Some(OsStr::new("xhist"))).then(|| dir.join("maps"));
        dirs.extend([dir, earlier, target.join("maps"), target]);
        dirs.extend(kept);
    }
    for dir in &places.dirs {
        dirs.extend([dir.clone(), dir.join(EARLIER)]);
    }
    for dir in places.work_dir.iter().flat_map(|dir| ancestors(dir)) {
        let target = dir.join("target/xhist");
        let earlier = dir.join(EARLIER);
        dirs.extend([target.clone(), target.join("maps"), dir, earlier]);
    }
    dirs
}

/// The `*.map` files of a directory, `xhist.map` first, the others by name.
fn maps_in(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension() == Some(OsStr::new("map")))
        .take(MAX_FILES)
        .collect();
    paths.sort_by_key(|path| (path.file_name() != Some(OsStr::new("xhist.map")), path.clone()));
    paths
}

/// A directory and all above it, nearest first.
pub fn ancestors(dir: &Path) -> Vec<PathBuf> {
    let dir = dunce::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    dir.ancestors().map(Path::to_owned).collect()
}
