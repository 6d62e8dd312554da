//! Lists the dumps that a command line names, one after another.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::WalkDir;
use xhist_history::runs::pack;
use xhist_history::source::{self, Opened};

use super::object::{ObjectStores, StoredObject};
use crate::error::FleetError;

/// Ends of names that are not dumps, in directories that are searched.
const OTHERS: [&str; 8] = ["map", "json", "tsv", "txt", "md", "log", "spectra", "parquet"];

/// A dump that can be opened.
#[derive(Debug)]
pub enum DumpSource {
    /// A file.
    File(PathBuf),
    /// A file of a packed run, which is unpacked at the second path.
    Packed(PathBuf, PathBuf),
    /// An object in a store.
    Object(StoredObject),
}

impl DumpSource {
    /// Path or URL.
    pub fn name(&self) -> String {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        match self {
            DumpSource::File(path) => absolute(path).display().to_string(),
            // Labels are in the path of the pack, and the other path is gone one day.
            DumpSource::Packed(pack, path) => {
                absolute(pack).join(path.file_name().unwrap_or_default()).display().to_string()
            }
            DumpSource::Object(object) => object.url.clone(),
        }
    }

    /// Opens it. The time is that of its last change, if that is known.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn open(&self) -> Result<(Opened, Option<SystemTime>), FleetError> {
        let opened = |path: &Path| {
            source::open(path.as_os_str()).map_err(|error| FleetError::Usage(error.to_string()))
        };
        match self {
            DumpSource::File(path) | DumpSource::Packed(_, path) => {
                let opened = opened(path)?;
                let written = opened.written;
                Ok((opened, written))
            }
            DumpSource::Object(object) => {
                let file = object.download()?;
                // The image is read or mapped here; the name is not needed any more.
                Ok((opened(file.path())?, Some(object.written)))
            }
        }
    }
}

/// Lists dumps in the order in which they were named; files of a directory by their names.
pub struct Listing {
    named: std::vec::IntoIter<String>,
    /// Whether the list on standard input is read.
    reads_stdin: bool,
    /// The directories that are searched; a packed run in one is a directory, too, and has its own path.
    inside: Vec<(Option<PathBuf>, walkdir::IntoIter)>,
    objects: std::vec::IntoIter<StoredObject>,
    stores: ObjectStores,
}

impl Listing {
    /// Of these names: a file, a directory, a URL, or `-` for a list on standard input with a name in each line.
    ///
    /// # Errors
    /// The tasks of object stores cannot be started.
    pub fn new(named: Vec<String>) -> Result<Listing, FleetError> {
        Ok(Listing {
            named: named.into_iter(),
            reads_stdin: false,
            inside: Vec::new(),
            objects: Vec::new().into_iter(),
            stores: ObjectStores::new()?,
        })
    }

    fn named(&mut self, name: String) -> Option<Result<DumpSource, FleetError>> {
        if name.is_empty() {
            return None;
        }
        if ObjectStores::is_url(&name) {
            return match self.stores.list(&name) {
                Ok(objects) => {
                    self.objects = objects.into_iter();
                    None
                }
                Err(error) => Some(Err(error)),
            };
        }
        let path = PathBuf::from(name);
        match path.is_dir() {
            true => {
                self.search(None, &path);
                None
            }
            false => self.file(path),
        }
    }

    /// A file; `None` for a packed run, whose files come next.
    fn file(&mut self, path: PathBuf) -> Option<Result<DumpSource, FleetError>> {
        match pack::unpacked(&path) {
            Ok(None) => Some(Ok(DumpSource::File(path))),
            Ok(Some(run)) => {
                self.search(Some(path), &run);
                None
            }
            Err(error) => Some(Err(FleetError::Usage(error.to_string()))),
        }
    }

    fn search(&mut self, pack: Option<PathBuf>, directory: &Path) {
        self.inside.push((pack, WalkDir::new(directory).sort_by_file_name().into_iter()));
    }
}

impl Iterator for Listing {
    type Item = Result<DumpSource, FleetError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(object) = self.objects.next() {
                return Some(Ok(DumpSource::Object(object)));
            }
            if let Some((pack, inside)) = self.inside.last_mut() {
                match inside.next() {
                    Some(Ok(entry)) if entry.file_type().is_file() && may_be_dump(entry.path()) => {
                        if let Some(pack) = pack {
                            return Some(Ok(DumpSource::Packed(pack.clone(), entry.into_path())));
                        }
                        match self.file(entry.into_path()) {
                            Some(source) => return Some(source),
                            None => continue,
                        }
                    }
                    Some(Ok(_)) => continue,
                    Some(Err(error)) => {
                        let path = error.path().map(Path::to_owned).unwrap_or_default();
                        return Some(Err(FleetError::Read(path, error.into())));
                    }
                    None => drop(self.inside.pop()),
                }
                continue;
            }
            if self.reads_stdin {
                let mut line = String::new();
                match io::stdin().read_line(&mut line) {
                    Ok(0) => self.reads_stdin = false,
                    Ok(_) => match self.named(line.trim_end_matches(['\r', '\n']).to_owned()) {
                        Some(source) => return Some(source),
                        None => continue,
                    },
                    Err(error) => {
                        self.reads_stdin = false;
                        return Some(Err(FleetError::Read("standard input".into(), error)));
                    }
                }
            }
            let name = self.named.next()?;
            if name == "-" {
                self.reads_stdin = true;
            } else if let Some(source) = self.named(name) {
                return Some(source);
            }
        }
    }
}

/// Whether a file of a directory may be a dump, by its name.
fn may_be_dump(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    !OTHERS.contains(&extension)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use xhist_history::runs::pack::{PackContent, PackEntry};

    #[test]
    fn directories_are_searched_for_what_may_be_a_dump() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("b")).unwrap();
        for name in ["b/2.xhist", "a.core", "xhist.map", "run.json"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let names = vec![dir.path().display().to_string(), "/no/such/file".to_owned()];
        let listed: Vec<_> = Listing::new(names).unwrap().map(|source| source.unwrap().name()).collect();
        let below = |name: &str| dir.path().join(name).display().to_string();
        assert_eq!(listed, [below("a.core"), below("b/2.xhist"), "/no/such/file".to_owned()]);
    }

    #[test]
    fn a_packed_run_is_the_files_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let entry = |name: &str| PackEntry {
            name: format!("runs/7/{name}"),
            content: PackContent::Text(format!("{name} of {}", dir.path().display())),
        };
        let pack = dir.path().join("device=a.tar.gz");
        pack::write(fs::File::create(&pack).unwrap(), &["run.json", "b.xhist", "a.xhist"].map(entry))
            .unwrap();
        let listing = || Listing::new(vec![dir.path().display().to_string()]).unwrap();
        let listed: Vec<_> = listing().map(|source| source.unwrap().name()).collect();
        assert_eq!(listed, ["a.xhist", "b.xhist"].map(|name| pack.join(name).display().to_string()));
        let bytes = listing().next().unwrap().unwrap().open().unwrap().0.image.to_vec();
        assert_eq!(bytes, format!("a.xhist of {}", dir.path().display()).into_bytes());
        // What is damaged is an error, and the others follow.
        let whole = fs::read(&pack).unwrap();
        fs::write(&pack, &whole[..whole.len() / 2]).unwrap();
        fs::write(dir.path().join("z.xhist"), "").unwrap();
        let listed: Vec<_> = listing().map(|source| source.is_ok()).collect();
        assert_eq!(listed, [false, true]);
    }
}
