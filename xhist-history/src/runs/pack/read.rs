//! Unpacks a packed run. Nothing in it is trusted: neither its names nor its sizes.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flate2::bufread::GzDecoder;
use qs_core::map::Hash;
use tar::Archive;

use super::error::PackError;
use super::name::{PackedPlace, place};
use super::{MAX_BYTES, MAX_FILES, RUNS, VERSION};
use crate::model::visible;
use crate::source::{pack_version, user_cache};

/// The folder of the cache with what was unpacked.
const FOLDER: &str = "packs";
/// Unpacked runs that are kept in the cache.
const KEPT: usize = 16;
/// Bytes that identify a pack and its version.
const START: usize = 64;
/// Bytes that are copied at once.
const PIECE: usize = 64 << 10;
/// Most bytes behind the last file: the end of an archive is some zeros.
const MAX_END: u64 = 1 << 20;

/// The directory of the run in a packed run, which is unpacked into the user's cache unless it is there. `None`: this is
/// another file.
///
/// # Errors
/// The pack is damaged, has what no pack has, or cannot be unpacked. Then nothing is left in the cache.
pub fn unpacked(pack: &Path) -> Result<Option<PathBuf>, PackError> {
    if !fs::metadata(pack).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let why = |error| PackError::Read(pack.to_owned(), error);
    let mut start = Vec::new();
    File::open(pack).and_then(|file| file.take(START as u64).read_to_end(&mut start)).map_err(why)?;
    match pack_version(&start) {
        None => return Ok(None),
        Some(version) if version == VERSION.to_string() => {}
        Some(version) => return Err(PackError::Version(pack.to_owned(), visible(version).into_owned())),
    }
    let cache = user_cache().ok_or_else(|| PackError::NoCache(pack.to_owned()))?;
    unpacked_in(pack, &cache.join(FOLDER)).map(Some)
}

/// Whether a file was unpacked.
pub fn is_unpacked(path: &Path) -> bool {
    user_cache().is_some_and(|cache| path.starts_with(cache.join(FOLDER)))
}

/// The run in a pack, unpacked below this directory; any other file is damaged. For [`unpacked`], and for fuzzers.
///
/// # Errors
/// Those of [`unpacked`].
pub fn unpacked_in(pack: &Path, cache: &Path) -> Result<PathBuf, PackError> {
    let directory = cache.join(identity(pack).map_err(|error| PackError::Read(pack.to_owned(), error))?);
    let known = run_in(&directory);
    if let Some(run) = known {
        // The ones that are read last are kept.
        let _ = File::open(&directory).and_then(|folder| folder.set_modified(SystemTime::now()));
        return Ok(run);
    }
    let why = |error| PackError::Unpack(cache.to_owned(), error);
    private_folder(cache).map_err(why)?;
    let fresh = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(cache).map_err(why)?;
    unpack(pack, &home(fresh.path()))?;
    // Another process may have done the same meanwhile.
    if let Err(error) = fs::rename(fresh.path(), &directory)
        && !directory.is_dir()
    {
        return Err(PackError::Unpack(directory, error));
    }
    forget_old(cache);
    run_in(&directory).ok_or_else(|| PackError::NoRun(pack.to_owned()))
}

/// Its contents as a name.
fn identity(pack: &Path) -> io::Result<String> {
    let (mut hash, mut len) = (Hash::new(), 0);
    let mut file = File::open(pack)?;
    let mut bytes = vec![0; PIECE];
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(format!("{:016x}-{len}", hash.finish())),
            read => {
                hash.update(&bytes[..read]);
                len += read as u64;
            }
        }
    }
}

/// What is in place of `target/xhist` in a directory.
fn home(directory: &Path) -> PathBuf {
    directory.join("target/xhist")
}

/// The directory of the run that was unpacked.
fn run_in(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(home(directory).join(RUNS)).ok()?;
    entries.flatten().map(|entry| entry.path()).find(|path| path.is_dir())
}

/// Makes a directory that others do not read: there are sources in it.
fn private_folder(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

/// Unpacks all files below a directory.
fn unpack(pack: &Path, home: &Path) -> Result<(), PackError> {
    let damaged = |error| PackError::Damaged(pack.to_owned(), error);
    let file = File::open(pack).map_err(|error| PackError::Read(pack.to_owned(), error))?;
    let mut archive = Archive::new(GzDecoder::new(BufReader::new(file)));
    let (mut left, mut run) = (MAX_BYTES, None::<String>);
    // `raw`: the archives that we write have no entries that extend others, which may be of any length.
    for (number, entry) in archive.entries().map_err(damaged)?.raw(true).enumerate() {
        let mut entry = entry.map_err(damaged)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let wrong = |why| PackError::Entry { pack: pack.to_owned(), name: visible(&name).into_owned(), why };
        if !entry.header().entry_type().is_file() {
            return Err(wrong("is not a file"));
        }
        let place = place(&name).map_err(wrong)?;
        if let PackedPlace::OfRun(name, _) = &place
            && run.get_or_insert_with(|| name.clone()) != name
        {
            return Err(wrong("is of a second run"));
        }
        let len = entry.size();
        left = left.checked_sub(len).ok_or_else(|| PackError::TooLarge(pack.to_owned()))?;
        if number >= MAX_FILES {
            return Err(PackError::TooLarge(pack.to_owned()));
        }
        let path = home.join(place.path());
        let why = |error| PackError::Unpack(path.clone(), error);
        fs::create_dir_all(path.parent().unwrap_or(home)).map_err(why)?;
        let mut out = match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(wrong("is there twice"));
            }
            out => out.map_err(why)?,
        };
        if copy(&mut entry, &mut out, damaged, why)? != len {
            return Err(damaged(io::ErrorKind::UnexpectedEof.into()));
        }
        let written = entry.header().mtime().ok().map(Duration::from_secs);
        if let Some(written) = written.and_then(|since| UNIX_EPOCH.checked_add(since)) {
            let _ = out.set_modified(written);
        }
        #[cfg(unix)]
        if matches!(place, PackedPlace::Program(_)) {
            // Programs are known by their mode. They are read, and never started.
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            out.set_permissions(mode).map_err(why)?;
        }
    }
    if run.is_none() {
        return Err(PackError::NoRun(pack.to_owned()));
    }
    // The check sum is behind the last byte.
    let end = io::copy(&mut archive.into_inner().take(MAX_END + 1), &mut io::sink()).map_err(damaged)?;
    match end > MAX_END {
        true => Err(damaged(io::Error::other("more follows behind its end"))),
        false => Ok(()),
    }
}

/// Copies bytes, and returns their number. Zeros become a hole, as in a ring file that was hardly used.
fn copy(
    from: &mut impl Read,
    to: &mut File,
    damaged: impl Fn(io::Error) -> PackError,
    why: impl Fn(io::Error) -> PackError,
) -> Result<u64, PackError> {
    let (mut bytes, mut copied) = (vec![0; PIECE], 0);
    loop {
        let piece = match from.read(&mut bytes).map_err(&damaged)? {
            0 => break,
            read => &bytes[..read],
        };
        match piece.iter().all(|byte| *byte == 0) {
            true => to.seek_relative(piece.len() as i64).map_err(&why)?,
            false => to.write_all(piece).map_err(&why)?,
        }
        copied += piece.len() as u64;
    }
    to.set_len(copied).map_err(why)?;
    Ok(copied)
}

/// Removes all but the newest. One that is removed while it is read is only unpacked again the next time.
fn forget_old(cache: &Path) {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten();
    let mut found: Vec<(SystemTime, PathBuf)> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    found.sort();
    let old = found.len().saturating_sub(KEPT);
    for (_, path) in found.into_iter().take(old) {
        // As a whole: what is left of one by its name would be read.
        let aside = path.with_extension("old");
        let _ = fs::rename(&path, &aside).and_then(|()| fs::remove_dir_all(aside));
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
