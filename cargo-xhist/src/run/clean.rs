//! `cargo xhist clean`: removes what is kept under `target/xhist`, and nothing that this program did not make.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;
use walkdir::WalkDir;

use crate::command::clean_options::Clean;
use crate::error::Error;
use crate::post_run::{self, KeptRun};
use crate::system;
use crate::workspace;
use xhist_instrument::shell::visible;

/// The file that commands lock while they prepare a build.
const LOCK: &str = "lock";
/// The directories of wrappers, each with a file that a command locks while cargo runs.
const WRAPPERS: &str = "wrapper";
/// Directories of builds. Each name may go on behind a hyphen.
const BUILDS: [&str; 7] = ["build", "deps", "shadow", WRAPPERS, "cache", "recorder", "defmt"];
/// What else is below `target/xhist`: maps, and notes that were printed once.
const REST: [&str; 7] = ["xhist.map", "xhist.map.d", "epoch", "asked", "said", "prepared", "compiler"];

/// Something to remove.
struct CleanTarget {
    path: PathBuf,
    bytes: u64,
    /// It is a run.
    run: Option<KeptRun>,
}

impl Clean {
    /// Removes, or prints what would be removed.
    pub(crate) fn run(&self) -> Result<(), Error> {
        let home = self.target_dir()?.join("xhist");
        if !home.is_dir() {
            self.report(format_args!("{} does not exist", shown(&home)));
            return Ok(());
        }
        // A command that starts now waits, and finds its own directory afterwards.
        let lock = home.join(LOCK);
        let file = File::options().append(true).create(!self.dry_run).open(&lock);
        let _held = match file {
            Ok(file) => match file.try_lock() {
                Ok(()) => Some(file),
                Err(std::fs::TryLockError::WouldBlock) => {
                    return Err(Error::step(
                        "cleaning",
                        "another `cargo xhist` prepares a build here; nothing was removed",
                    ));
                }
                Err(std::fs::TryLockError::Error(error)) => return Err(Error::file("lock", &lock)(error)),
            },
            Err(_) if self.dry_run => None,
            Err(error) => return Err(Error::file("open", &lock)(error)),
        };
        let targets = self.targets(&home)?;
        if self.dry_run {
            return self.print(&targets);
        }
        let mut freed = 0;
        let mut runs = 0;
        let mut problem = None;
        for CleanTarget { path, bytes, run } in targets {
            match &run {
                Some(run) => run.remove(),
                // Windows removes no program that runs. The others are removed, and the first problem is reported.
                None => {
                    if let Err(error) = system::remove_link(&path) {
                        problem.get_or_insert(Error::file("remove", &path)(error));
                    }
                }
            }
            // What is in use since the check stays.
            if path.symlink_metadata().is_err() {
                freed += bytes;
                runs += usize::from(run.is_some());
            } else if run.is_some() {
                self.report(format_args!("{} is in use; what is open stays", shown(&path)));
            }
        }
        // It is empty, unless it holds files that are not ours.
        let _ = std::fs::remove_dir(home.join("runs"));
        let builds = if self.builds || self.all { ", and builds" } else { "" };
        let plural = if runs == 1 { "" } else { "s" };
        self.report(format_args!(
            "removed {runs} run{plural}{builds} from {}: {}",
            shown(&home),
            size_text(freed)
        ));
        problem.map_or(Ok(()), Err)
    }

    /// The target directory of the project, as cargo finds it.
    fn target_dir(&self) -> Result<PathBuf, Error> {
        if let Some(chosen) = &self.target_dir {
            return std::path::absolute(chosen).map_err(Error::file("find", chosen));
        }
        let mut args: Vec<OsString> = Vec::new();
        if let Some(path) = &self.manifest_path {
            args.extend(["--manifest-path".into(), path.into()]);
        }
        args.extend(self.config.iter().flat_map(|value| ["--config".into(), value.clone()]));
        let flags = [(self.locked, "--locked"), (self.offline, "--offline"), (self.frozen, "--frozen")];
        args.extend(flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.into()));
        let metadata = workspace::metadata(args.into_iter(), MetadataCommand::new().no_deps())?;
        Ok(metadata.target_directory.into())
    }

    /// What is to be removed.
    ///
    /// # Errors
    /// Some of it is in use.
    fn targets(&self, home: &Path) -> Result<Vec<CleanTarget>, Error> {
        let mut targets = Vec::new();
        for run in post_run::kept_runs(&home.join("runs")) {
            if let Some(user) = run.user() {
                return Err(Error::step(
                    "cleaning",
                    format!("{} is in use by {user}; nothing was removed", shown(run.path())),
                ));
            }
            targets.push(CleanTarget { path: run.path().to_owned(), bytes: run.bytes(), run: Some(run) });
        }
        if !(self.builds || self.all) {
            return Ok(targets);
        }
        if let Some(wrapper) = wrapper_in_use(&home.join(WRAPPERS)) {
            return Err(Error::step(
                "cleaning",
                format!("a `cargo xhist` that runs uses {}; nothing was removed", shown(&wrapper)),
            ));
        }
        let mut names: Vec<PathBuf> = std::fs::read_dir(home)
            .map_err(Error::file("read", home))?
            .flatten()
            .filter(|entry| self.is_ours(&entry.file_name().to_string_lossy()))
            .map(|entry| entry.path())
            .collect();
        names.sort();
        targets.extend(names.into_iter().map(|path| CleanTarget { bytes: bytes_in(&path), path, run: None }));
        Ok(targets)
    }

    /// Whether a name below `target/xhist` is one that this program makes, and that is to be removed.
    fn is_ours(&self, name: &str) -> bool {
        let is_build = |build: &str| {
            name.strip_prefix(build).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        BUILDS.iter().any(|build| is_build(build)) || self.all && REST.contains(&name)
    }

    /// Prints what would be removed.
    fn print(&self, targets: &[CleanTarget]) -> Result<(), Error> {
        let lines =
            targets.iter().map(|target| format!("{}\t{}\n", size_text(target.bytes), shown(&target.path)));
        // A reader that closes the pipe early is not an error.
        let _ = std::io::stdout().write_all(lines.collect::<String>().as_bytes());
        let bytes = targets.iter().map(|target| target.bytes).sum();
        self.report(format_args!("{} would be removed; without --dry-run it is", size_text(bytes)));
        Ok(())
    }

    fn report(&self, text: std::fmt::Arguments<'_>) {
        if !self.quiet {
            eprintln!("xhist: {text}");
        }
    }
}

/// The first wrapper that a running command uses.
fn wrapper_in_use(wrappers: &Path) -> Option<PathBuf> {
    let mut entries = std::fs::read_dir(wrappers).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.find(|wrapper| crate::keep::is_held(wrapper))
}

/// The bytes that it takes on the disk.
fn bytes_in(path: &Path) -> u64 {
    let files = WalkDir::new(path).into_iter().flatten().filter_map(|entry| entry.metadata().ok());
    files.filter(std::fs::Metadata::is_file).map(|meta| system::bytes_on_disk(&meta)).sum()
}

/// A path as messages show it: from here, if it is below.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    visible(&path.strip_prefix(here).unwrap_or(path).to_string_lossy())
}

/// `12 KiB`, `3.4 MiB`.
fn size_text(bytes: u64) -> String {
    match bytes.checked_ilog2().unwrap_or(0) {
        0..20 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        20..30 => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keep;

    /// No process has this id.
    const PID: u32 = 4_194_305;

    fn clean(target: &Path, words: &str) -> Result<(), String> {
        let mut words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        words.extend(["-q".into(), "--target-dir".into(), target.into()]);
        let clean = Clean::parse(&words).expect("valid words");
        clean.run().map_err(|error| error.to_string())
    }

    /// A target directory with runs, builds, maps, and files of the user.
    fn target() -> tempfile::TempDir {
        let target = tempfile::tempdir().expect("a directory");
        for file in [
            format!("xhist/runs/0001-{PID}/a-1.xhist"),
            format!("xhist/runs/0001-{PID}/run.json"),
            format!("xhist/runs/0002-{PID}/tests/b-2.xhist"),
            "xhist/runs/kept/a-1.xhist".into(),
            "xhist/build/debug/a".into(),
            "xhist/shadow-after/a.rs".into(),
            "xhist/wrapper/w/plan".into(),
            "xhist/builder/mine".into(),
            "xhist/xhist.map".into(),
            "xhist/said".into(),
            "xhist/demo-7.xhist".into(),
            "debug/mine".into(),
        ] {
            let path = target.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, "x").expect("a file");
        }
        target
    }

    fn left(target: &Path) -> Vec<String> {
        let files = WalkDir::new(target).sort_by_file_name().into_iter().flatten();
        let files = files.filter(|entry| entry.file_type().is_file() && entry.file_name() != LOCK);
        let name = |entry: walkdir::DirEntry| {
            entry.path().strip_prefix(target).map(|path| path.display().to_string())
        };
        files.filter_map(|entry| name(entry).ok()).collect()
    }

    #[test]
    fn only_what_was_made_here_is_removed() {
        let target = target();
        let before = left(target.path());
        clean(target.path(), "--dry-run --all").expect("a list");
        assert_eq!(left(target.path()), before);
        clean(target.path(), "").expect("runs");
        let users = ["debug/mine", "xhist/builder/mine", "xhist/demo-7.xhist", "xhist/runs/kept/a-1.xhist"];
        let builds = ["xhist/build/debug/a", "xhist/shadow-after/a.rs", "xhist/wrapper/w/plan"];
        let rest = ["xhist/said", "xhist/xhist.map"];
        let sorted = |parts: &[&[&'static str]]| {
            let mut all = parts.concat();
            all.sort_unstable();
            all
        };
        assert_eq!(left(target.path()), sorted(&[&users, &builds, &rest]));
        clean(target.path(), "--builds").expect("builds");
        assert_eq!(left(target.path()), sorted(&[&users, &rest]));
        clean(target.path(), "--all").expect("everything");
        assert_eq!(left(target.path()), users);
        // Once more, and where there is nothing at all.
        clean(target.path(), "").expect("nothing to do");
        clean(&target.path().join("none"), "").expect("nothing to do");
        assert!(!target.path().join("none").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_removed_and_not_what_it_leads_to() {
        let target = target();
        let mine = target.path().join("mine");
        std::fs::create_dir(&mine).expect("a directory");
        std::fs::write(mine.join("0003-1"), "x").expect("a file");
        let runs = target.path().join("xhist/runs");
        std::os::unix::fs::symlink(&mine, target.path().join("xhist/build-linked")).expect("a link");
        std::os::unix::fs::symlink(&mine, runs.join(format!("0003-{PID}"))).expect("a link");
        std::os::unix::fs::symlink(&mine, runs.join(format!("0001-{PID}/in"))).expect("a link");
        clean(target.path(), "--builds").expect("builds");
        assert!(mine.join("0003-1").exists() && !target.path().join("xhist/build-linked").is_symlink());
        assert!(!runs.join(format!("0001-{PID}")).exists() && runs.join(format!("0003-{PID}")).is_symlink());
    }

    #[test]
    fn nothing_is_removed_while_something_is_in_use() {
        let target = target();
        let before = left(target.path());
        let home = target.path().join("xhist");
        let refused = |words: &str, text: &str| {
            let error = clean(target.path(), words).expect_err("it is in use");
            assert!(error.contains(text) && error.contains("nothing was removed"), "{error}");
            assert_eq!(left(target.path()), before);
        };
        // A program has its rings in a file.
        let file = File::open(home.join(format!("runs/0002-{PID}/tests/b-2.xhist"))).expect("a file");
        file.lock().expect("a lock");
        refused("", "b-2.xhist");
        drop(file);
        let lock = File::create(home.join(LOCK)).expect("a file");
        lock.lock().expect("a lock");
        refused("", "prepares a build");
        drop(lock);
        let held = keep::hold(&home.join("wrapper/w")).expect("a mark");
        let error = clean(target.path(), "--builds").expect_err("it is in use");
        assert!(error.contains("wrapper/w") && error.contains("nothing was removed"), "{error}");
        drop(held);
        // A command that has not ended.
        let own = home.join(format!("runs/0009-{}", std::process::id()));
        std::fs::create_dir(&own).expect("a directory");
        let error = clean(target.path(), "").expect_err("it runs");
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        std::fs::remove_dir(&own).expect("it is empty");
        clean(target.path(), "").expect("nothing is in use");
    }
}
