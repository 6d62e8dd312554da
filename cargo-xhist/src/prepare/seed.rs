//! The first build of a choice of `--deps` begins with what the default build has of packages that are not recorded.
//!
//! Cargo decides by its fingerprints whether that still holds. Libraries are never written in place, so they are hard links;
//! everything else is copied. Fingerprints come last: without one, cargo compiles the package.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The directory of cargo's fingerprints: a directory for each package of a profile.
const FINGERPRINTS: &str = ".fingerprint";
/// Files that the compiler replaces as a whole.
const LINKED: [&str; 3] = ["rlib", "rmeta", "so"];

/// Fills a new build directory. Packages with these names are left out. What fails is left out too, since cargo compiles what
/// is not there.
pub(crate) fn seed(from: &Path, to: &Path, left_out: &BTreeSet<&str>) {
    for profile in profiles(from) {
        // While cargo builds there, nothing is taken.
        let lock = File::open(from.join(&profile).join(".cargo-lock"));
        if lock.is_ok_and(|lock| lock.try_lock_shared().is_ok()) {
            let _ = seed_profile(&from.join(&profile), &to.join(&profile), left_out);
        }
    }
}

/// Directories of profiles, such as `debug` and `thumbv7m-none-eabi/release`.
fn profiles(from: &Path) -> Vec<PathBuf> {
    let is_profile = |name: &Path| from.join(name).join(FINGERPRINTS).is_dir();
    let mut found = Vec::new();
    for name in names(from) {
        let inner = names(&from.join(&name)).into_iter().map(|inner| Path::new(&name).join(inner));
        found.extend(inner.chain([PathBuf::from(&name)]).filter(|name| is_profile(name)));
    }
    found
}

fn seed_profile(from: &Path, to: &Path, left_out: &BTreeSet<&str>) -> io::Result<()> {
    let is_taken = |name: &str| {
        let of_package = package(name);
        // Crates have `_` for the `-` of their packages.
        !left_out.iter().any(|out| out.replace('-', "_") == of_package.replace('-', "_"))
    };
    for directory in ["deps", "build", FINGERPRINTS] {
        for name in names(&from.join(directory)).iter().filter(|name| is_taken(name)) {
            copy(&from.join(directory).join(name), &to.join(directory).join(name))?;
        }
    }
    Ok(())
}

/// The package or crate of an entry such as `libserde-0123456789abcdef.rlib`.
fn package(entry: &str) -> &str {
    let stem = entry.split_once('.').map_or(entry, |(stem, _)| stem);
    let name = stem.rsplit_once('-').map_or(stem, |(name, _)| name);
    match entry.rsplit_once('.') {
        Some((_, end)) if LINKED.contains(&end) => name.strip_prefix("lib").unwrap_or(name),
        _ => name,
    }
}

/// Copies a file or a directory, with the times that cargo compares.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let meta = from.symlink_metadata()?;
    if meta.is_dir() {
        fs::create_dir_all(to)?;
        return names(from).iter().try_for_each(|name| copy(&from.join(name), &to.join(name)));
    }
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    let is_linked = LINKED.iter().any(|end| from.extension().is_some_and(|known| known == *end));
    if is_linked && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    File::options().append(true).open(to)?.set_modified(meta.modified()?)
}

/// The names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_belong_to_packages() {
        for (entry, of) in [
            ("libserde_json-0123456789abcdef.rlib", "serde_json"),
            ("serde_json-0123456789abcdef.d", "serde_json"),
            ("libc-0123456789abcdef", "libc"),
            ("liblibc-0123456789abcdef.rmeta", "libc"),
            ("my-app-0123456789abcdef", "my-app"),
        ] {
            assert_eq!(package(entry), of, "{entry}");
        }
    }

    #[test]
    fn what_is_left_out_is_not_copied_and_times_stay() {
        let tree = tempfile::tempdir().expect("a directory");
        let (from, to) = (tree.path().join("build"), tree.path().join("other"));
        let files = [
            "debug/.cargo-lock",
            "debug/deps/liba_b-1.rlib",
            "debug/deps/a_b-1.d",
            "debug/deps/libc-1.rmeta",
            "debug/build/a-b-1/out/x.rs",
            "debug/.fingerprint/a-b-1/lib-a_b",
            "debug/.fingerprint/c-1/lib-c",
            "debug/a_b",
            "mips/release/.cargo-lock",
            "mips/release/.fingerprint/a-b-1/lib-a_b",
        ];
        let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        for file in files {
            let path = from.join(file);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(&path, file).expect("a file");
            File::options().append(true).open(&path).and_then(|file| file.set_modified(old)).expect("a time");
        }
        seed(&from, &to, &BTreeSet::from(["c"]));
        for file in files {
            let is_taken = file.contains("a_b-1") || file.contains("a-b-1");
            let copied = to.join(file).metadata().and_then(|meta| meta.modified()).ok();
            assert_eq!(copied, is_taken.then_some(old), "{file}");
        }
        let busy = File::open(from.join("debug/.cargo-lock")).expect("a file");
        busy.lock().expect("a lock");
        let third = tree.path().join("third");
        seed(&from, &third, &BTreeSet::new());
        assert!(!third.join("debug").exists() && third.join("mips/release").exists());
    }
}
