//! Finds the ring files of a project: `xhist` in cargo's target directory, wherever that is; and the user's cache.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::{DirEntry, WalkDir};

/// Directories of `target/xhist` that hold builds, not runs.
const BUILDS: [&str; 7] = ["build", "deps", "maps", "recorder", "shadow", "shadow-after", "wrapper"];
/// Longest configuration file.
const MAX_CONFIG: u64 = 1 << 20;

/// Directories that may hold ring files of the project at `dir`, in cargo's order: from the environment, from the nearest
/// configuration of cargo, then `target` here and above.
pub fn homes(dir: &Path) -> Vec<PathBuf> {
    let given = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"].into_iter().filter_map(env::var_os);
    let given = given.filter(|path| !path.is_empty()).map(|path| dir.join(path));
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let configs = dir.ancestors().map(|dir| dir.join(".cargo")).chain(cargo_home);
    let configured = configs.filter_map(|configs| configured(&configs));
    let usual = dir.ancestors().map(|dir| dir.join("target"));
    let mut homes: Vec<PathBuf> = Vec::new();
    for home in given.chain(configured).chain(usual).map(|target| target.join("xhist")) {
        if home.is_dir() && !homes.contains(&home) {
            homes.push(home);
        }
    }
    homes
}

/// The target directory that a `.cargo` directory configures. The path is relative to the parent of `.cargo`.
fn configured(configs: &Path) -> Option<PathBuf> {
    let text = ["config", "config.toml"].iter().find_map(|name| text_of(&configs.join(name), MAX_CONFIG))?;
    let target = text.parse::<toml::Table>().ok()?.get("build")?.get("target-dir")?.as_str()?.to_owned();
    Some(configs.parent()?.join(target))
}

/// The user's own directory for what can be made again: `XHIST_CACHE`, else `xhist` in that of the system.
pub fn user_cache() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let home = || Some(env::home_dir().and_then(absolute)?.join(".cache"));
    let chosen = set("XHIST_CACHE").and_then(|path| std::path::absolute(path).ok());
    chosen.or_else(|| Some(set("XDG_CACHE_HOME").and_then(absolute).or_else(home)?.join("xhist")))
}

/// The text of a regular file, up to a length.
pub fn text_of(path: &Path, max: u64) -> Option<String> {
    // Checked first: opening a pipe would wait for a writer.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut text = String::new();
    File::open(path).ok()?.take(max).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The ring files below a directory with the times of their last write, in any order.
pub fn ring_files(home: &Path) -> Vec<(SystemTime, PathBuf)> {
    let is_build = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 1
            && entry.file_type().is_dir()
            && BUILDS.iter().any(|build| {
                name.strip_prefix(build).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })
    };
    let entries =
        WalkDir::new(home).into_iter().filter_entry(|entry| !is_build(entry)).filter_map(Result::ok);
    let is_ring = |entry: &DirEntry| {
        entry.file_type().is_file() && entry.path().extension().is_some_and(|extension| extension == "xhist")
    };
    entries
        .filter(is_ring)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.into_path())))
        .collect()
}
