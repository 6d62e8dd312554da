//! The cache of built recorders: one directory for each, named by a hash of everything that its build depends on. A
//! directory is valid when it contains `entry.json`, which is written last and atomically.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::keep;
use crate::plan::{Recorder, write_if_changed};
use crate::system;

/// The largest number of cached recorders: about 12 MB each. Firmware has one for each set of features and target.
const MAX_RECORDERS: usize = 24;
const PREFIX: &str = "recorder-";
const ENTRY_FILE: &str = "entry.json";

/// The directory of recorders.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    directory: PathBuf,
    /// The user and root, who may have built what is linked into the user's programs. `None`: a directory of the project,
    /// which the user trusts as much as its sources, or a system that does not say whom a file belongs to.
    builders: Option<[u32; 2]>,
}

/// A recorder for each target, as in [`crate::plan::WrapperPlan`]. They are not removed before this is dropped.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) recorders: BTreeMap<String, Recorder>,
    holds: Vec<File>,
}

impl Kept {
    /// Adds recorders, by this name if they have another one here.
    pub(super) fn add(&mut self, other: Kept, name: Option<&str>) {
        let named = |(target, recorder)| (name.map_or(target, String::from), recorder);
        self.recorders.extend(other.recorders.into_iter().map(named));
        self.holds.extend(other.holds);
    }
}

/// The entry file beside the libraries. Paths are relative to the directory.
#[derive(Serialize, Deserialize)]
struct CacheEntry {
    recorders: BTreeMap<String, Recorder>,
    files: BTreeMap<PathBuf, Stamp>,
}

/// Length, time and hash of a complete library, to detect damage.
#[derive(Serialize, Deserialize)]
struct Stamp {
    len: u64,
    modified: u64,
    hash: u64,
}

impl Cache {
    /// The caches to search, in this order: the user's, and this directory of the project.
    pub(crate) fn all(in_project: PathBuf) -> Vec<Cache> {
        let builders = system::user().map(|user| [user, 0]);
        let users = xhist_history::source::user_cache().map(|directory| Cache { directory, builders });
        users.into_iter().chain([Cache { directory: in_project, builders: None }]).collect()
    }

    /// The directory that belongs to this key.
    pub(crate) fn directory(&self, key: &str) -> PathBuf {
        self.directory.join(format!("{PREFIX}{key}"))
    }

    /// The directory, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// Whether none but the user and root can have put this there.
    fn trusts(&self, path: &Path) -> bool {
        let owner = path.metadata().map(|meta| system::owner(&meta));
        self.builders.is_none_or(|builders| owner.is_ok_and(|owner| builders.contains(&owner)))
    }

    /// The recorder with this key, if the cache has it undamaged.
    pub(crate) fn find(&self, key: &str) -> Option<Kept> {
        let directory = self.directory(key);
        if !self.trusts(&self.directory) || !self.trusts(&directory) {
            return None;
        }
        let entry = || -> Option<CacheEntry> {
            serde_json::from_slice(&std::fs::read(directory.join(ENTRY_FILE)).ok()?).ok()
        };
        entry()?;
        let hold = keep::hold(&directory);
        // From now on it cannot be removed; it may have been before.
        let CacheEntry { mut recorders, files } = entry()?;
        if recorders.is_empty() || !files.iter().all(|(name, stamp)| stamp.matches(&directory.join(name))) {
            return None;
        }
        for recorder in recorders.values_mut() {
            let is_stamped = recorder.libraries().all(|library| files.contains_key(library));
            *recorder = recorder.with_paths(|path| directory.join(path));
            if !is_stamped || !recorder.sources.iter().all(|source| source.root.is_file()) {
                return None;
            }
        }
        Some(Kept { recorders, holds: hold.into_iter().collect() })
    }

    /// Locks the cache until the file is closed, so that one process builds at a time. `waits` is called when another
    /// process holds the lock. An error means that the directory cannot be written.
    pub(crate) fn lock(&self, waits: impl FnOnce()) -> std::io::Result<File> {
        std::fs::create_dir_all(&self.directory)?;
        if !self.trusts(&self.directory) {
            return Err(std::io::Error::other("it belongs to another user, who could change what is linked"));
        }
        let file = File::create(self.directory.join("lock"))?;
        // The directory may be read-only while its lock file is not.
        tempfile::tempfile_in(&self.directory)?;
        // Without file locks, each build still has its own directory.
        if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock() {
            waits();
            let _ = file.lock();
        }
        Ok(file)
    }

    /// Stores what was built: copies the libraries, then writes the entry.
    pub(crate) fn keep(&self, key: &str, built: &BTreeMap<String, Recorder>) -> Result<Kept, Error> {
        let directory = self.directory(key);
        let mut files = BTreeMap::new();
        let mut recorders = BTreeMap::new();
        for (target, recorder) in built {
            let place = Path::new("lib").join(target);
            let named = |library: &Path| place.join(library.file_name().unwrap_or_default());
            let to = directory.join(&place);
            std::fs::create_dir_all(&to).map_err(Error::file("create", &to))?;
            for library in recorder.libraries() {
                let copy = directory.join(named(library));
                let _ = std::fs::remove_file(&copy);
                std::fs::copy(library, &copy).map_err(Error::file("write", &copy))?;
                let stamp = Stamp::of(&copy)
                    .ok_or_else(|| Error::step("reading back", copy.display().to_string()))?;
                files.insert(named(library), stamp);
            }
            let mut kept = recorder.clone();
            kept.library = named(&recorder.library);
            kept.deps = recorder.deps.iter().map(|library| named(library)).collect();
            for source in &mut kept.sources {
                if let Ok(inside) = source.root.strip_prefix(&directory) {
                    source.root = inside.to_path_buf();
                }
            }
            recorders.insert(target.clone(), kept);
        }
        let text = serde_json::to_vec_pretty(&CacheEntry { recorders, files })
            .map_err(|error| Error::step("writing the recorder's entry", error))?;
        write_if_changed(&directory.join(ENTRY_FILE), &text)?;
        let kept =
            self.find(key).ok_or_else(|| Error::step("reading back", directory.display().to_string()))?;
        keep::prune(&self.directory, PREFIX, MAX_RECORDERS);
        Ok(kept)
    }

    /// A new directory for this key. Remains of a killed build and damaged entries are removed.
    pub(crate) fn clear(&self, key: &str) -> Result<PathBuf, Error> {
        let directory = self.directory(key);
        if directory.symlink_metadata().is_ok() {
            // Cargo may survive a killed build and still write there.
            // What could not be removed then may still have the name.
            let names = (0u32..).map(|number| format!("{PREFIX}dead-{}-{number}", std::process::id()));
            let mut places = names.map(|name| directory.with_file_name(name));
            let dead = places.find(|place| place.symlink_metadata().is_err()).unwrap_or_default();
            std::fs::rename(&directory, &dead).map_err(Error::file("rename", &directory))?;
            let _ = std::fs::remove_dir_all(&dead);
        }
        std::fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
        Ok(directory)
    }
}

impl Stamp {
    fn of(file: &Path) -> Option<Stamp> {
        Some(Stamp { len: file.metadata().ok()?.len(), modified: modified(file)?, hash: hash(file)? })
    }

    /// Whether the file is unchanged. In a copy of a cache, times differ and contents do not.
    fn matches(&self, file: &Path) -> bool {
        file.metadata().is_ok_and(|meta| meta.len() == self.len)
            && (modified(file) == Some(self.modified) || hash(file) == Some(self.hash))
    }
}

/// Nanoseconds since 1970.
fn modified(file: &Path) -> Option<u64> {
    let time = file.metadata().and_then(|meta| meta.modified()).ok()?;
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_nanos() as u64)
}

fn hash(file: &Path) -> Option<u64> {
    let mut hash = qs_core::map::Hash::new();
    hash.update(&std::fs::read(file).ok()?);
    Some(hash.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RecorderSource;

    /// A cache with one recorder that was "built" in another directory.
    fn cache() -> (tempfile::TempDir, Cache) {
        let tree = tempfile::tempdir().expect("a directory");
        let cache = Cache { directory: tree.path().join("cache"), builders: None };
        let built = tree.path().join("built");
        std::fs::create_dir(&built).expect("a new directory");
        for name in ["libxhist_rt.rlib", "liblibc.rlib"] {
            std::fs::write(built.join(name), name).expect("a file");
        }
        let _lock = cache.lock(|| ()).expect("a lock");
        let root = cache.clear("k").expect("a directory").join("lib.rs");
        std::fs::write(&root, "").expect("a source");
        let source =
            RecorderSource { name: "xhist_rt".into(), root, edition: "2024".into(), features: Vec::new() };
        let recorder = Recorder {
            library: built.join("libxhist_rt.rlib"),
            deps: [built.join("liblibc.rlib")].into(),
            sources: vec![source],
        };
        cache.keep("k", &[("t".to_owned(), recorder)].into()).expect("it is kept");
        (tree, cache)
    }

    #[test]
    fn a_recorder_is_found_as_it_was_built() {
        let (_tree, cache) = cache();
        let found = cache.find("k").expect("the recorder");
        let library = cache.directory("k").join("lib/t/libxhist_rt.rlib");
        assert_eq!(found.recorders["t"].library, library);
        assert!(cache.find("other").is_none());
        // In a copy, times differ and contents do not.
        std::fs::write(&library, "libxhist_rt.rlib").expect("a file");
        assert!(cache.find("k").is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_recorder_that_another_user_may_have_built_is_not_used() {
        use std::os::unix::fs::MetadataExt as _;
        let (_tree, mut cache) = cache();
        let user = cache.directory.metadata().expect("the cache").uid();
        cache.builders = Some([user; 2]);
        assert!(cache.find("k").is_some() && cache.lock(|| ()).is_ok());
        cache.builders = Some([user + 1; 2]);
        assert!(cache.find("k").is_none() && cache.lock(|| ()).is_err());
        // In a directory of the user, an entry may still be of another user.
        let entry = cache.directory("k");
        if std::os::unix::fs::chown(&entry, Some(user + 1), None).is_ok() {
            cache.builders = Some([user; 2]);
            assert!(cache.find("k").is_none() && cache.lock(|| ()).is_ok());
        }
    }

    #[test]
    fn what_is_damaged_is_not_used() {
        let damages: [(&str, Option<&str>); 5] = [
            ("entry.json", Some("{}")),
            ("entry.json", None),
            ("lib/t/liblibc.rlib", Some("liblibc.r1ib")),
            ("lib/t/libxhist_rt.rlib", None),
            ("lib.rs", None),
        ];
        for (name, text) in damages {
            let (_tree, cache) = cache();
            let file = cache.directory("k").join(name);
            match text {
                Some(text) => std::fs::write(&file, text).expect("a file"),
                None => std::fs::remove_file(&file).expect("a file"),
            }
            assert!(cache.find("k").is_none(), "{name}");
        }
    }
}
