//! Reads a map: the whole of it, or only its first line. It is a file, or in its program.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::in_program;
use crate::model::Names;

/// Larger than the map of any program; a file of another kind must not fill the memory.
const MAX_MAP: u64 = 512 << 20;
/// Longest first line: two short texts, a path, and a hash for each `main`.
const MAX_HEAD: u64 = 2 << 20;

/// Reads a whole map.
pub fn load(path: &Path) -> io::Result<Names> {
    let mut map = Vec::new();
    read(path)?.take(MAX_MAP + 1).read_to_end(&mut map)?;
    if map.len() as u64 > MAX_MAP {
        return Err(io::Error::other(format!("it is larger than {} MiB, so it is not a map", MAX_MAP >> 20)));
    }
    let project =
        path.parent().and_then(|dir| project_of(if dir == Path::new("") { Path::new(".") } else { dir }));
    let mut names = Names::parse(&map);
    names.project = project;
    names.kept_texts = kept_texts(path);
    Ok(names)
}

/// The project that a directory belongs to: the outermost one with a manifest, which is a workspace's; else the directory itself,
/// or the one whose `target/xhist` it is.
pub fn project_of(dir: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().ok()?;
    let output = ["target/xhist/maps", "target/xhist"].map(Path::new);
    let depth =
        output.iter().find(|output| dir.ends_with(output)).map_or(0, |output| output.components().count());
    // The root of the file system is not a project: everything is below it.
    let dirs = || dir.ancestors().skip(depth).filter(|dir| dir.parent().is_some());
    let project = dirs().filter(|dir| dir.join("Cargo.toml").is_file()).last().or(dirs().next());
    project.map(Path::to_owned)
}

/// The directories that may keep the texts of a map's sources: of an earlier map, of a map in place, and of `cargo xhist`.
fn kept_texts(map: &Path) -> Vec<PathBuf> {
    vec![map.with_file_name(""), earlier(map), map.with_file_name("maps")]
}

/// The first line of a map; `None` if the file cannot be read.
pub fn first_line(path: &Path) -> Option<String> {
    let mut line = String::new();
    BufReader::new(read(path).ok()?.take(MAX_HEAD)).read_line(&mut line).ok()?;
    Some(line)
}

/// The directory of earlier versions of a map.
pub fn earlier(map: &Path) -> PathBuf {
    let mut dir = map.as_os_str().to_owned();
    dir.push(".d");
    dir.into()
}

/// The text of a map, which may be in a program.
fn read(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = open(path)?;
    let mut magic = [0; 4];
    let len = file.read(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(match in_program::of(&magic[..len], &file) {
        Some(map) => map?,
        None => Box::new(file),
    })
}

/// Opens a map file without waiting.
///
/// # Errors
/// Those of the system, or a file that is not regular.
pub fn open(path: &Path) -> io::Result<File> {
    // Checked first: opening a pipe would wait for a writer.
    if std::fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::other("not a regular file"))
    }
}
