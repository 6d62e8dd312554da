//! Names of files in a pack. A reader makes files with these names, so only plain ones are taken.

use std::path::{Path, PathBuf};

use super::{MAPS, PROGRAMS, RUNS};

/// Most folders below that of a run.
const DEEPEST: usize = 8;

/// Where a file is unpacked.
#[derive(Debug, PartialEq, Eq)]
pub enum PackedPlace {
    /// Of the run with this name.
    OfRun(String, PathBuf),
    /// A map or a source.
    Map(PathBuf),
    /// A program.
    Program(PathBuf),
}

impl PackedPlace {
    /// Its path from the directory that all is unpacked into.
    pub fn path(&self) -> &Path {
        match self {
            PackedPlace::OfRun(_, path) | PackedPlace::Map(path) | PackedPlace::Program(path) => path,
        }
    }
}

/// The place of an entry. The name leads nowhere else, on any system.
///
/// # Errors
/// What is wrong with the name.
pub fn place(name: &str) -> Result<PackedPlace, &'static str> {
    let parts: Vec<&str> = name.split('/').collect();
    if !parts.iter().all(|part| is_plain(part)) {
        return Err("is not a plain path below the pack");
    }
    let path = parts.iter().collect::<PathBuf>();
    match parts[..] {
        [MAPS, _] => Ok(PackedPlace::Map(path)),
        [PROGRAMS, _] => Ok(PackedPlace::Program(path)),
        [RUNS, run, _, ..] if parts.len() <= DEEPEST => Ok(PackedPlace::OfRun(run.to_owned(), path)),
        _ => Err("is no part of a packed run"),
    }
}

fn is_plain(part: &str) -> bool {
    let is_odd = |char: char| char.is_control() || matches!(char, '\\' | ':');
    !matches!(part, "" | "." | "..") && !part.contains(is_odd)
}

/// The same name, with `_` for what a name in a pack cannot have.
pub fn plain_name(name: &str) -> String {
    let plain = |char: char| if char.is_control() || matches!(char, '/' | '\\' | ':') { '_' } else { char };
    match name {
        "" | "." | ".." => "_".to_owned(),
        name => name.chars().map(plain).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_have_a_place() {
        let run = place("runs/17-4/tests/a.xhist").expect("a ring");
        assert_eq!(run, PackedPlace::OfRun("17-4".to_owned(), "runs/17-4/tests/a.xhist".into()));
        assert!(matches!(place("maps/0f.map"), Ok(PackedPlace::Map(_))));
        assert!(matches!(place("programs/app"), Ok(PackedPlace::Program(_))));
        for name in [
            "",
            "/etc/passwd",
            "runs/../../x",
            "runs/1/../../x",
            "../x",
            "runs//x",
            "runs/1/.",
            "runs/1/a\\..\\b",
            "runs/1/c:x",
            "runs/1/\u{1b}[2J",
            "runs/1",
            "maps/a/b",
            "other/x",
            "runs/1/2/3/4/5/6/7/8/9",
        ] {
            assert!(place(name).is_err(), "{name}");
        }
    }

    #[test]
    fn any_name_becomes_a_plain_one() {
        for name in ["a:b", "..", "", "x/y", "\u{7}"] {
            assert!(place(&format!("maps/{}", plain_name(name))).is_ok(), "{name}");
        }
        assert_eq!(plain_name("dump 1.bin"), "dump 1.bin");
    }
}
