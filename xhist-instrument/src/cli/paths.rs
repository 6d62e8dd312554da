//! Where a run works: the root of the project, and the map.

use super::Args;
use std::path::{Path, PathBuf};

/// The nearest directory above the first path that has a Cargo.toml, else the current directory.
pub fn project_root(args: &Args) -> PathBuf {
    root_of(args.paths.first().map_or(Path::new("."), |path| path))
}

/// The nearest directory above this path that has a Cargo.toml, else the current directory.
pub fn root_of(path: &Path) -> PathBuf {
    let current = std::env::current_dir().unwrap_or_default();
    let first = absolute(path);
    let mut dirs = first.ancestors();
    dirs.find(|dir| dir.join("Cargo.toml").is_file()).map_or(current, Path::to_path_buf)
}

/// The map that these arguments mean.
pub fn map_path(args: &Args, root: &Path) -> PathBuf {
    let default = || args.out_dir.as_deref().unwrap_or(root).join("xhist.map");
    args.map.clone().unwrap_or_else(default)
}

/// The path from the root of the file system, links resolved when it exists.
pub fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
}
