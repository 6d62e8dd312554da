//! Searches for maps: beside the dump and above it, in the current directory and above it, and there in `xhist.map.d` and under
//! `target/xhist`.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::load::head;
use crate::options::MapPlaces;

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
}

impl Candidate {
    /// Reads the head of a map; `None` if the file is not a map.
    pub fn read(path: PathBuf) -> Option<Candidate> {
        let (hash, root) = head(&path)?;
        Some(Candidate { path, hash, root })
    }

    /// Whether it has the name that the tools give a project's own map.
    pub fn is_standard_name(&self) -> bool {
        self.path.file_name() == Some(OsStr::new("xhist.map"))
    }
}

/// All maps in the places to search, nearest first.
pub fn candidates(places: &MapPlaces) -> Vec<Candidate> {
    let mut seen = HashSet::new();
    let mut candidates = Vec::new();
    for dir in directories(places) {
        if !seen.insert(dir.clone()) {
            continue;
        }
        candidates.extend(maps_in(&dir).into_iter().filter_map(Candidate::read));
    }
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

/// The path of an earlier version of a map, by its hash.
pub fn earlier(map: &Path, hash: u64) -> PathBuf {
    let mut dir = map.as_os_str().to_owned();
    dir.push(".d");
    Path::new(&dir).join(format!("{hash:016x}.map"))
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
    let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    dir.ancestors().map(Path::to_owned).collect()
}
