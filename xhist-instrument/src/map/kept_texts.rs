//! Texts of instrumented sources, without calls: views of a history show the text of its build, also when the file has
//! changed since. Each text is kept once, under its hash, beside the earlier maps.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use qs_core::map::{Hash, Line};

/// The extension of kept texts. They are no Rust sources for any tool that searches the tree.
const EXTENSION: &str = "source";

/// The hash that names a text.
pub fn hash(text: &[u8]) -> u64 {
    let mut hash = Hash::new();
    hash.update(text);
    hash.finish()
}

/// Keeps a text. Only those read the copy who may read `source`.
///
/// # Errors
/// The copy cannot be written.
pub fn keep(directory: &Path, hash: u64, text: &[u8], source: &Path) -> io::Result<()> {
    let path = directory.join(format!("{hash:016x}.{EXTENSION}"));
    if path.is_file() {
        return Ok(());
    }
    fs::create_dir_all(directory)?;
    match fs::metadata(source) {
        Ok(meta) => crate::files::atomic::create(&path, meta.permissions(), |copy| copy.write_all(text)),
        Err(_) => crate::files::atomic::write(&path, |copy| copy.write_all(text)),
    }
}

/// Removes the texts that none of these maps names. If a map cannot be read, all texts stay.
pub fn prune(directory: &Path, maps: impl Iterator<Item = PathBuf>) {
    let Ok(named) = maps.map(|map| named(&map)).collect::<io::Result<Vec<_>>>() else { return };
    let named: HashSet<u64> = named.into_iter().flatten().collect();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_text = path.extension().is_some_and(|extension| extension == EXTENSION);
        let hash = path.file_stem().and_then(|stem| u64::from_str_radix(stem.to_str()?, 16).ok());
        if hash.is_some_and(|hash| is_text && !named.contains(&hash)) {
            let _ = fs::remove_file(path);
        }
    }
}

/// The hashes of the sources of a map.
fn named(map: &Path) -> io::Result<Vec<u64>> {
    let mut hashes = Vec::new();
    for line in io::BufReader::new(fs::File::open(map)?).split(b'\n') {
        let line = line?;
        if !line.starts_with(br#"{"file""#) {
            continue;
        }
        if let Ok(Ok(Line::File(file))) = std::str::from_utf8(&line).map(Line::parse) {
            hashes.extend(file.source);
        }
    }
    Ok(hashes)
}
