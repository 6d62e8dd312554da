//! Directories that last as long as the test run, and what is in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use walkdir::WalkDir;

use crate::repository;
use crate::tools::kept_builds;

/// The file that a run holds a lock on, in the directory of its trees.
const IN_USE: &str = "in-use";
/// How the directory of a run's trees begins.
const PREFIX: &str = "xhist-tests-";

static HOME: OnceLock<PathBuf> = OnceLock::new();
static TREES: AtomicU32 = AtomicU32::new(0);

/// A directory of its own.
#[derive(Clone, Debug)]
pub struct Tree(PathBuf);

impl Tree {
    /// An empty one.
    pub fn empty(name: &str) -> Tree {
        let home = HOME.get_or_init(|| {
            let mut home = tempfile::Builder::new().prefix(PREFIX).tempdir().expect("a directory");
            home.disable_cleanup(true);
            std::thread::spawn(remove_left_ones);
            let mark = fs::File::create(home.path().join(IN_USE)).expect("a file");
            mark.lock().expect("a lock of a new file");
            // The lock ends with the process.
            std::mem::forget(mark);
            // What the system calls it: /tmp may be a link.
            home.path().canonicalize().expect("a directory")
        });
        let path = home.join(format!("{}-{name}", TREES.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir_all(&path).expect("a directory");
        Tree(path)
    }

    /// A copy of a directory, without build output; everything in it may be written.
    pub fn copy_of(directory: &Path) -> Tree {
        let tree = Tree::empty(&directory.file_name().unwrap_or_default().to_string_lossy());
        tree.fill(directory);
        tree
    }

    fn fill(&self, directory: &Path) {
        for entry in sources(directory) {
            let to = self.0.join(entry.path().strip_prefix(directory).expect("below it"));
            if entry.file_type().is_dir() {
                fs::create_dir(&to).expect("a directory");
            } else {
                fs::write(&to, fs::read(entry.path()).expect("a file")).expect("a copy");
            }
        }
    }

    /// A copy of a directory that stays from run to run with its build output: what others wrote is compiled once. The
    /// manifest is edited; a file that has not changed is not written again.
    pub fn kept(name: &str, directory: &Path, manifest: impl Fn(&str) -> String) -> Tree {
        let tree = Tree(kept_builds().join(name));
        if directory.join("memory.x").is_file() && !tree.join("target").exists() {
            tree.begin_with_host_packages();
        }
        for file in sources(directory).filter(|entry| entry.file_type().is_file()) {
            let inside = file.path().strip_prefix(directory).expect("below it");
            let mut bytes = fs::read(file.path()).expect("a file");
            if inside == Path::new("Cargo.toml") {
                bytes = manifest(&String::from_utf8(bytes).expect("a text")).into_bytes();
            }
            let to = tree.0.join(inside);
            fs::create_dir_all(to.parent().expect("a directory")).expect("a directory");
            if fs::read(&to).ok().as_ref() != Some(&bytes) {
                fs::write(&to, bytes).expect("written");
            }
        }
        tree
    }

    /// Firmware that is built for the first time has what runs on this machine from its siblings: macros and build scripts
    /// take longer to compile than the firmware. Cargo knows all of them by hashes in their names.
    fn begin_with_host_packages(&self) {
        const HOST: &str = "target/xhist/build/release";
        for sibling in fs::read_dir(kept_builds()).into_iter().flatten().filter_map(Result::ok) {
            let from = sibling.path().join(HOST);
            // A file that says what is complete is copied before that, so that what is not complete is compiled here.
            for part in [".fingerprint", "build", "deps"] {
                for file in WalkDir::new(from.join(part)).into_iter().filter_map(Result::ok) {
                    let inside = file.path().strip_prefix(&from).expect("below it");
                    let to = self.join(HOST).join(inside);
                    if file.file_type().is_dir() {
                        fs::create_dir_all(to).expect("a directory");
                    } else if !to.exists() {
                        copy_with_time(file.path(), &to);
                    }
                }
            }
        }
    }

    /// A copy of a directory at this place, which stays. It is not made again.
    pub fn staying(place: &Path, directory: &Path) -> Tree {
        let tree = Tree(place.to_owned());
        if !place.is_dir() {
            fs::create_dir_all(place).expect("a directory");
            tree.fill(directory);
        }
        tree
    }

    /// Removes what was built, but neither what was recorded nor the programs: they have the lines of a panic's frames.
    pub fn remove_builds(&self) {
        for entry in WalkDir::new(self.join("target")).into_iter().filter_map(Result::ok) {
            let path = entry.path();
            let profile = path.ancestors().skip(1).find(|around| around.join(".fingerprint").is_dir());
            let Some(inside) = profile.and_then(|profile| path.strip_prefix(profile).ok()) else { continue };
            let is_other =
                ["build", ".fingerprint", "incremental"].iter().any(|name| inside.starts_with(name));
            if entry.file_type().is_file() && (is_other || path.extension().is_some()) {
                fs::remove_file(path).expect("removed");
            }
        }
    }

    /// A package of this name, without sources. A manifest may go on behind [`manifest`].
    pub fn package(name: &str) -> Tree {
        let tree = Tree::empty(name);
        tree.write("Cargo.toml", &manifest(name));
        tree
    }

    /// A program of one file.
    pub fn program(name: &str, main: &str) -> Tree {
        let tree = Tree::package(name);
        tree.write("src/main.rs", main);
        crate::cargo(tree.path()).args("generate-lockfile --quiet").succeed();
        tree
    }

    /// A copy of a directory of the repository, such as a sample, whose manifest finds the recorder where it is. All of
    /// them are compiled in one directory, so that the recorder is compiled once; programs are still in `target`.
    pub fn with_recorder(directory: &str) -> Tree {
        let tree = Tree::copy_of(&repository().join(directory));
        tree.write("Cargo.toml", &finding_recorder(&tree.read("Cargo.toml")));
        tree.share_build();
        tree
    }

    /// What is compiled here, and in all other trees that share it, is in one directory.
    pub fn share_build(&self) {
        self.write("Cargo.toml", &with_own_version(&self.read("Cargo.toml")));
        self.write(".cargo/config.toml", &format!("[build]\nbuild-dir = {:?}\n", Tree::shared_build()));
    }

    /// That directory.
    pub fn shared_build() -> PathBuf {
        repository().join("target/with-recorder")
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A path in it.
    pub fn join(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    /// Text of a file in it.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Writes a file in it.
    #[track_caller]
    pub fn write(&self, path: &str, text: &str) {
        let path = self.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Replaces a text that is exactly once in a file.
    #[track_caller]
    pub fn replace(&self, path: &str, old: &str, new: &str) {
        let text = self.read(path);
        assert_eq!(text.matches(old).count(), 1, "{old:?} in {path}");
        self.write(path, &text.replace(old, new));
    }

    /// Everything in it but build output.
    pub fn fingerprint(&self) -> Fingerprint {
        let is_source =
            |entry: &walkdir::DirEntry| !(entry.file_type().is_dir() && entry.file_name() == "target");
        let entries = WalkDir::new(&self.0).into_iter().filter_entry(is_source);
        let files = entries.map(|entry| entry.unwrap_or_else(|error| panic!("{error}")));
        let contents = files.map(|entry| {
            let path = entry.path().strip_prefix(&self.0).expect("below it").to_path_buf();
            (path, if entry.file_type().is_file() { fs::read(entry.path()).ok() } else { None })
        });
        Fingerprint(contents.collect())
    }
}

/// The manifest of a package of this name that is a workspace of its own.
pub fn manifest(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n")
}

/// The manifest of a package, with a version that no other tree has. In a shared directory cargo takes packages of one name
/// and version for the same package, wherever they are: a program could be the one of another tree.
pub fn with_own_version(manifest: &str) -> String {
    static NUMBERS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());
    let value = |key: &str| {
        manifest.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
    };
    let name = value("name").expect("a package").to_owned();
    let mut numbers = NUMBERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let number = *numbers.entry(name).and_modify(|number| *number += 1).or_insert(0);
    match value("version") {
        Some(version) => {
            let line = format!("version = \"{version}\"\n");
            manifest.replacen(&line, &format!("version = \"{version}+{number}\"\n"), 1)
        }
        None => manifest.replacen("[package]\n", &format!("[package]\nversion = \"0.0.0+{number}\"\n"), 1),
    }
}

/// What is in a directory, without build output.
fn sources(directory: &Path) -> impl Iterator<Item = walkdir::DirEntry> {
    let is_source = |entry: &walkdir::DirEntry| !(entry.depth() == 1 && entry.file_name() == "target");
    let entries = WalkDir::new(directory).min_depth(1).into_iter().filter_entry(is_source);
    entries.map(|entry| entry.unwrap_or_else(|error| panic!("{error}")))
}

/// Every file of a tree and what it holds.
#[derive(PartialEq, Eq)]
pub struct Fingerprint(BTreeMap<PathBuf, Option<Vec<u8>>>);

impl Fingerprint {
    /// Whether this file is there.
    pub fn has(&self, path: &str) -> bool {
        self.0.contains_key(Path::new(path))
    }

    /// Every file that came, went or changed.
    pub fn changed<'a>(&'a self, now: &'a Fingerprint) -> BTreeSet<&'a Path> {
        let paths = self.0.keys().chain(now.0.keys());
        paths.filter(|path| self.0.get(*path) != now.0.get(*path)).map(PathBuf::as_path).collect()
    }

    /// Fails, with the names, when a file came, went or changed.
    #[track_caller]
    pub fn assert_same(&self, now: &Fingerprint) {
        let changed = self.changed(now);
        assert!(changed.is_empty(), "changed: {changed:?}");
    }
}

/// Removes every directory made so far, unless `XHIST_TESTS_KEEP` is set: then it says where they are.
pub fn clean_up() {
    let Some(home) = HOME.get() else { return };
    if std::env::var_os("XHIST_TESTS_KEEP").is_some() {
        let _ = fs::remove_file(home.join(IN_USE));
        eprintln!("everything is kept in {}", home.display());
    } else if let Err(error) = fs::remove_dir_all(home) {
        eprintln!("cannot remove {}: {error}", home.display());
    }
}

/// Removes the directories of runs that were killed: some gigabytes each.
fn remove_left_ones() {
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // A run that has just begun has no mark, or an unlocked one for a moment: only older ones are removed.
        let is_old = |mark: &fs::File| {
            let modified = mark.metadata().and_then(|meta| meta.modified()).ok();
            modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > Duration::from_secs(60))
        };
        let mark = fs::File::open(entry.path().join(IN_USE)).ok().filter(|_| is_ours).filter(is_old);
        if mark.is_some_and(|mark| mark.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A manifest of the repository that finds the recorder from wherever it is copied to.
pub fn finding_recorder(manifest: &str) -> String {
    let recorder = format!("path = {:?}", repository().join("xhist-rt"));
    manifest
        .replace("path = \"../../../xhist-rt\"", &recorder)
        .replace("path = \"../../xhist-rt\"", &recorder)
}

/// Copies a file that another program may remove, with the time of its last change.
fn copy_with_time(from: &Path, to: &Path) {
    let Ok(changed) = from.metadata().and_then(|metadata| metadata.modified()) else { return };
    if fs::copy(from, to).is_ok() {
        let copy = fs::File::options().write(true).open(to).expect("the copy");
        copy.set_modified(changed).expect("its time");
    }
}
