//! Maps of earlier runs: a dump names the hash of the map that its program was built with, so xhist-report needs that map.
//! They are kept beside the map, as `xhist.map.d/HASH.map`, with the texts of their sources.

use crate::map::kept_texts;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Number of maps that are kept, the newest.
pub const MOST: usize = 32;
/// The most bytes of all kept maps; the newest one stays in any case.
pub const MOST_BYTES: u64 = 256 << 20;

/// The directory that keeps the earlier maps of this map file.
pub fn directory(map: &Path) -> PathBuf {
    let mut name = map.as_os_str().to_owned();
    name.push(".d");
    name.into()
}

/// Copies the map with this hash, before another replaces it.
///
/// # Errors
/// The map cannot be read, or the copy cannot be written. A map that is missing or not a regular file is not copied.
pub fn keep(map: &Path, hash: u64) -> io::Result<()> {
    let mut file = match File::open(map) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok(());
    }
    let directory = directory(map);
    fs::create_dir_all(&directory)?;
    let copy = directory.join(format!("{hash:016x}.map"));
    crate::files::atomic::create(&copy, meta.permissions(), |copy| {
        io::copy(&mut file, copy)?;
        // The copy has the time of its build.
        copy.set_modified(meta.modified()?)?;
        copy.sync_all()
    })?;
    prune(map, MOST, MOST_BYTES);
    Ok(())
}

/// Removes the oldest, and the texts that only they name.
fn prune(map: &Path, most: usize, most_bytes: u64) {
    let directory = directory(map);
    let mut kept = maps(&directory);
    kept.sort_by(|one, other| other.cmp(one));
    let mut bytes = 0;
    let mut stay = vec![map.to_path_buf()];
    for (index, (_, length, path)) in kept.iter().enumerate() {
        bytes += length;
        if index >= most || index > 0 && bytes > most_bytes {
            let _ = fs::remove_file(path);
        } else {
            stay.push(path.clone());
        }
    }
    if stay.len() <= kept.len() {
        kept_texts::prune(&directory, stay.into_iter());
    }
}

/// When each was written, its length and its path.
fn maps(directory: &Path) -> Vec<(SystemTime, u64, PathBuf)> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let described = entries.flatten().filter_map(|entry| {
        let name = entry.file_name();
        let hash = name.to_str()?.strip_suffix(".map")?;
        let is_hash = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let meta = entry.metadata().ok().filter(|meta| is_hash && meta.is_file())?;
        Some((meta.modified().ok()?, meta.len(), entry.path()))
    });
    described.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn kept(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = maps(directory)
            .iter()
            .map(|(_, _, path)| path.file_name().unwrap().to_string_lossy().into())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_newest_maps_are_kept_and_other_files_are_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let map = dir.path().join("xhist.map");
        let text = |source: u64| directory(&map).join(format!("{source:016x}.source"));
        for number in 0..MOST as u64 + 3 {
            // Each third map has another text.
            let source = number / 3;
            kept_texts::keep(&directory(&map), source, b"text", &map).unwrap();
            let line = format!("{{\"file\":1,\"path\":\"a\",\"base\":0,\"source\":\"{source:016x}\"}}");
            fs::write(&map, format!("map {number:2}\n{line}\n")).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 + number);
            File::options().write(true).open(&map).unwrap().set_modified(time).unwrap();
            keep(&map, number).unwrap();
            fs::write(directory(&map).join("mine.map"), "x").unwrap();
        }
        let names = kept(&directory(&map));
        assert_eq!(names.len(), MOST);
        assert_eq!(names[0], "0000000000000003.map");
        assert!(directory(&map).join("mine.map").exists());
        assert!(!text(0).exists() && text(1).exists() && text(11).exists());
        prune(&map, MOST, 6);
        assert_eq!(kept(&directory(&map)), ["0000000000000022.map"]);
        assert!(!text(10).exists() && text(11).exists());
        prune(&map, MOST, 0);
        assert_eq!(kept(&directory(&map)).len(), 1);
    }

    #[test]
    fn a_map_that_is_not_a_regular_file_is_not_kept() {
        keep(Path::new("/dev/null"), 1).unwrap();
        keep(Path::new("/no/such/map"), 1).unwrap();
    }
}
