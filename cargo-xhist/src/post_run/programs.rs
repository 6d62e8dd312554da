//! The files of the programs of a run, in which a report finds what values are.

use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::system;

/// How deep below the build directory cargo puts programs: target, profile, `deps` or `examples`, and the file.
const DEPTH: usize = 4;

/// The newest program of each of these names below cargo's build directory, if possible in the directory of this profile.
pub(super) fn find(build: &Path, profile: &str, names: &BTreeSet<&str>) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let is_wanted =
        |name: &str| !matches!(name, "incremental" | ".fingerprint" | "build") && !name.starts_with('.');
    let entries = WalkDir::new(build).max_depth(DEPTH).into_iter();
    let entries = entries.filter_entry(|entry| {
        entry.depth() == 0 || !entry.file_type().is_dir() || entry.file_name().to_str().is_some_and(is_wanted)
    });
    let may_be = |file: &str| names.contains(file.strip_suffix(EXE_SUFFIX).unwrap_or(file));
    for entry in entries.flatten().filter(|entry| entry.file_type().is_file()) {
        let Some(file) = entry.file_name().to_str().filter(|file| may_be(file)) else { continue };
        let Ok(meta) = entry.metadata() else { continue };
        let Some(name) = system::program_name(file, &meta).filter(|name| names.contains(name)) else {
            continue;
        };
        let Ok(modified) = meta.modified() else { continue };
        let below = entry.path().strip_prefix(build).unwrap_or(entry.path());
        let is_of_profile = below.iter().any(|part| part == profile);
        let this = ((is_of_profile, modified), entry.path().to_path_buf());
        let best = found.entry(name.to_owned()).or_insert_with(|| this.clone());
        if best.0 < this.0 {
            *best = this;
        }
    }
    found.into_iter().map(|(name, (_, path))| (name, path)).collect()
}

// Only Unix has modes.
#[cfg(all(test, unix))]
mod tests {
    #[test]
    fn the_programs_of_a_run_are_found_by_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |path: &str, mode: u32| {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(&path, "x").expect("a file");
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode))
                .expect("its mode");
        };
        write("debug/deps/a-12", 0o755);
        write("debug/deps/a-12.d", 0o644);
        write("debug/incremental/b", 0o755);
        write("release/c", 0o644);
        let find = |profile| super::find(directory.path(), profile, &["a-12", "b", "c", "d"].into());
        let is = |path: &str| [("a-12".to_owned(), directory.path().join(path))].into();
        assert_eq!(find("debug"), is("debug/deps/a-12"));
        // A newer build of another profile is not what ran, unless there is nothing else.
        write("release/deps/a-12", 0o755);
        let newer = std::time::SystemTime::now() + std::time::Duration::from_secs(9);
        let file = std::fs::File::options().append(true).open(directory.path().join("release/deps/a-12"));
        file.expect("a file").set_modified(newer).expect("a time");
        assert_eq!(find("debug"), is("debug/deps/a-12"));
        assert_eq!(find("small"), is("release/deps/a-12"));
    }
}
