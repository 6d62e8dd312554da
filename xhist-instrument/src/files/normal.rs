//! Normalises paths lexically. The crate path-clean differs where it matters: it turns an empty path into `.`.

use std::path::{Component, Path, PathBuf};

/// The path without `.` and `..`, as far as possible without the file system.
pub fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(result.components().next_back(), Some(Component::Normal(_))) => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}
