//! Any bytes as a packed run, and any archive in one: no panic, and what cannot be unpacked leaves nothing behind.
#![no_main]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::{Compression, GzBuilder};
use libfuzzer_sys::fuzz_target;
use xhist_history::runs::pack::unpacked_in;

/// Bytes of a header of a tar archive, and of what sizes are rounded up to.
const BLOCK: usize = 512;
/// The check sum in a header.
const SUM: std::ops::Range<usize> = 148..156;

fuzz_target!(|input: &[u8]| {
    let Some((&how, rest)) = input.split_first() else { return };
    let directory = tempfile::tempdir().unwrap();
    let (pack, cache) = (directory.path().join("pack"), directory.path().join("cache"));
    // Sums would hide what is behind them, so they are made to fit, in every second input.
    fs::write(&pack, if how % 2 == 0 { rest.to_vec() } else { packed(rest) }).unwrap();
    let result = unpacked_in(&pack, &cache);
    let left = files_in(&cache);
    match result {
        Ok(run) => assert!(run.starts_with(&cache) && left > 0),
        Err(error) => {
            assert_eq!(left, 0, "{error}");
            assert!(!error.to_string().contains(|c: char| c.is_control() && c != '\n'), "{error:?}");
        }
    }
    // The pack and the cache, and nothing beside them.
    assert!(fs::read_dir(directory.path()).unwrap().count() <= 2);
});

/// A pack of a tar archive whose check sums fit.
fn packed(tar: &[u8]) -> Vec<u8> {
    let (mut tar, mut at) = (tar.to_vec(), 0);
    while let Some(header) = tar.get_mut(at..at + BLOCK) {
        if header.iter().any(|byte| *byte != 0) {
            header[SUM].fill(b' ');
            let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
            header[SUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
        let digits = String::from_utf8_lossy(&header[124..136]).into_owned();
        let size = usize::from_str_radix(digits.trim_matches(['\0', ' ']), 8).unwrap_or(0);
        at = at.saturating_add(BLOCK).saturating_add(size.saturating_add(BLOCK - 1) / BLOCK * BLOCK);
        if at > tar.len() {
            break;
        }
    }
    let mut gzip = GzBuilder::new().comment("xhist pack 1").write(Vec::new(), Compression::fast());
    gzip.write_all(&tar).unwrap();
    gzip.finish().unwrap()
}

/// How many files there are below a directory.
fn files_in(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let of = |path: &Path| if path.is_dir() { files_in(path) } else { 1 };
    entries.map(|entry| of(&entry.path())).sum()
}
