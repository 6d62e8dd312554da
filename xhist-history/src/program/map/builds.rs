//! Identifies builds by their maps: which build it is, and whether the project was built again.

use std::path::Path;

use super::read;
use super::search::ancestors;
use super::search::{Candidate, candidates, of_build};
use crate::model::{Age, Build, KnownBuild, KnownMap, Names, Origin, SourceChanges, visible};
use crate::notes::ExitCode;
use crate::notes::Notes;
use crate::options::{MapPlaces, ReadOptions};

/// Most maps of other builds that are listed.
const SHOWN: usize = 20;

/// The builds of these hashes, each with the names in its map. A damaged map is noted.
///
/// # Errors
/// The exit code, if the map that the user gave cannot be read.
pub fn builds(
    hashes: &[u64],
    options: &ReadOptions,
    notes: &mut Notes<'_>,
) -> Result<Vec<(Build, Names)>, ExitCode> {
    let places = &options.maps;
    let mut found = candidates(places, &options.programs);
    if let Some(path) = &places.given {
        match Candidate::read(path) {
            Some(given) => found.insert(0, given),
            None => {
                notes.error(format_args!("cannot read {}, or it is not a map", path.display()));
                return Err(ExitCode::Usage);
            }
        }
    }
    let builds = hashes.iter().map(|&hash| {
        let (origin, names) = known(hash, &found, options, notes)
            .unwrap_or_else(|| (unknown(places, &found), Names::default()));
        (Build { hash, origin }, names)
    });
    Ok(builds.collect())
}

/// The build of this hash; `None` if no map has it. A ring without a hash may be of any build.
fn known(
    hash: u64,
    found: &[Candidate],
    options: &ReadOptions,
    notes: &mut Notes<'_>,
) -> Option<(Origin, Names)> {
    let nearest = of_build(found, hash, options.written).filter(|_| hash != 0)?;
    let same: Vec<&Candidate> = found.iter().filter(|candidate| candidate.hash == nearest.hash).collect();
    let names = match read(&nearest.path, notes) {
        Ok(names) => names,
        Err(error) => {
            notes.error(format_args!("cannot read the map {}: {error}", nearest.path.display()));
            return None;
        }
    };
    let mut also: Vec<String> = same.iter().map(|other| visible(&other.root).into_owned()).collect();
    also.sort_unstable();
    also.dedup();
    also.retain(|root| *root != visible(&nearest.root));
    // The kept map is as old as the first such build, the project's own map as the last.
    let of_this_project = same.iter().filter(|other| other.root == nearest.root);
    let written = of_this_project.map(|other| described(other).written).max().flatten();
    let (statements, recorded) = names.count();
    let known = KnownBuild {
        map: KnownMap { written, ..described(nearest) },
        also,
        tool: names.tool.clone(),
        files: names.files().count(),
        statements,
        recorded,
        age: age(nearest, found),
        sources: SourceChanges::default(),
    };
    Some((Origin::Known(Box::new(known)), names))
}

/// The age of a build. The project's own map, under its standard name, is that of the last build.
fn age(map: &Candidate, found: &[Candidate]) -> Age {
    let own = found.iter().filter(|other| other.is_standard_name() && other.root == map.root);
    let own: Vec<KnownMap> = own.map(described).collect();
    match own.iter().max_by_key(|own| own.written) {
        _ if own.iter().any(|own| own.hash == map.hash) => Age::Current,
        Some(newest) => Age::Older(newest.clone()),
        None => Age::NotKnown,
    }
}

fn unknown(places: &MapPlaces, found: &[Candidate]) -> Origin {
    let dirs = [&places.dump_dir, &places.work_dir];
    let dirs = dirs.into_iter().flatten().filter_map(|dir| ancestors(dir).into_iter().next());
    let mut searched: Vec<String> = dirs.map(|dir| printable(&dir)).collect();
    searched.dedup();
    let mut here: Vec<KnownMap> = found.iter().map(described).collect();
    here.sort_by_key(|map| (std::cmp::Reverse(map.written), map.hash));
    here.dedup_by_key(|map| (map.hash, map.root.clone()));
    here.truncate(SHOWN);
    Origin::Unknown { searched, here }
}

fn described(map: &Candidate) -> KnownMap {
    KnownMap {
        hash: map.hash,
        path: printable(&map.path),
        root: visible(&map.root).into_owned(),
        written: map.written(),
    }
}

fn printable(path: &Path) -> String {
    visible(&path.display().to_string()).into_owned()
}
