//! Where the root of a path lies inside another directory. The shadow has the whole tree of a path below it: `/a` is
//! `shadow/a`, `C:\a` is `shadow\C\a`, and `\\server\share\a` is `shadow\UNC\server\share\a`.

use std::path::{Path, PathBuf};

/// A path in two parts.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Root {
    /// The root, with a separator at its end.
    pub(crate) root: String,
    /// The relative path that is in place of the root.
    pub(crate) inside: String,
}

/// The root of an absolute path, and the path below it.
pub(crate) fn split(path: &str, is_windows: bool) -> (Root, &str) {
    let unix = || {
        let rest = path.strip_prefix('/').unwrap_or(path);
        (Root { root: "/".to_owned(), inside: String::new() }, rest)
    };
    if is_windows { split_windows(path).unwrap_or_else(unix) } else { unix() }
}

/// `\\?\C:\a` and `\\?\UNC\server\share` are what the system makes of paths; users write them without the first part.
fn split_windows(path: &str) -> Option<(Root, &str)> {
    let is_separator = |char| matches!(char, '/' | '\\');
    let long = path.strip_prefix(r"\\?\");
    let share = long.map_or_else(|| path.strip_prefix(r"\\"), |path| path.strip_prefix(r"UNC\"));
    if let Some(share) = share {
        let mut parts = share.splitn(3, is_separator);
        let (server, name) = (parts.next()?, parts.next()?);
        let root = Root { root: format!(r"\\{server}\{name}\"), inside: format!(r"UNC\{server}\{name}") };
        return Some((root, parts.next().unwrap_or_default()));
    }
    let (drive, rest) = long.unwrap_or(path).split_once(':').filter(|(drive, _)| drive.len() == 1)?;
    let drive = drive.to_ascii_uppercase();
    let root = Root { root: format!(r"{drive}:\"), inside: drive };
    Some((root, rest.trim_start_matches(is_separator)))
}

/// The place of an absolute path inside a directory.
pub(crate) fn place(directory: &Path, path: &Path) -> PathBuf {
    let Some(text) = path.to_str().filter(|_| cfg!(windows)) else {
        return directory.join(path.strip_prefix("/").unwrap_or(path));
    };
    let (Root { inside, .. }, rest) = split(text, true);
    directory.join(inside).join(rest)
}

/// The root of an absolute path of this system.
pub(crate) fn root_of(path: &Path) -> Root {
    split(&path.to_string_lossy(), cfg!(windows)).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_root_has_a_place_of_its_own() {
        for (path, root, inside, rest) in [
            (r"C:\a\b.rs", r"C:\", "C", r"a\b.rs"),
            ("c:/a/b.rs", r"C:\", "C", "a/b.rs"),
            (r"D:\", r"D:\", "D", ""),
            (r"\\?\C:\a", r"C:\", "C", "a"),
            (r"\\server\share\a\b", r"\\server\share\", r"UNC\server\share", r"a\b"),
            (r"\\server\share", r"\\server\share\", r"UNC\server\share", ""),
            (r"\\?\UNC\server\share\a", r"\\server\share\", r"UNC\server\share", "a"),
        ] {
            let root = Root { root: root.to_owned(), inside: inside.to_owned() };
            assert_eq!(split(path, true), (root, rest), "{path}");
        }
        let root = Root { root: "/".to_owned(), inside: String::new() };
        assert_eq!(split("/a/b:c", false), (root, "a/b:c"));
    }
}
