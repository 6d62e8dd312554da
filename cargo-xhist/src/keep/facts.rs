//! What a result depends on in the file system, so that it is known without reading whether the result still holds.
//!
//! A file is taken for unchanged by its [`FileStamp`]. The stamp has the time of the inode, which no program can set back, so an
//! edit of the same length whose time of modification is restored is noticed. Clocks of file systems tick: a file that
//! changed just before it was looked at may change again within the same tick. Such a file is read.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::system;

/// Longer than a tick of any file system.
const TICK: Duration = Duration::from_secs(2);

/// The state of a file, without its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    file: [u64; 2],
    len: u64,
    modified: [i64; 2],
    /// The time of the inode, where there is one.
    changed: [i64; 2],
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fact {
    path: PathBuf,
    kind: Kind,
    stamp: Option<FileStamp>,
    /// What was read there.
    sum: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    /// The text of a file.
    Text,
    /// The names in a directory.
    Names,
    /// Whether there is a file, something else or nothing.
    Presence,
    /// A file or directory that we made: nothing else writes it.
    Made,
}

/// Facts that were found one after another.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Before the first of them, in time since 1970.
    begun: Duration,
    all: Vec<Fact>,
}

impl FileStamp {
    /// The state of what a path leads to.
    pub(crate) fn of(path: &Path) -> Option<FileStamp> {
        path.metadata().ok().map(|meta| FileStamp::new(&meta))
    }

    fn new(meta: &std::fs::Metadata) -> FileStamp {
        FileStamp {
            file: system::identity(meta),
            len: meta.len(),
            modified: system::modified(meta),
            changed: system::changed(meta),
        }
    }

    /// Whether a change after this time has another stamp.
    fn is_settled(&self, time: Duration) -> bool {
        let [seconds, nanoseconds] = self.changed.map(u64::try_from);
        let changed = seconds.ok().zip(nanoseconds.ok());
        changed.is_some_and(|(seconds, rest)| {
            Duration::from_secs(seconds) + Duration::from_nanos(rest) + TICK < time
        })
    }
}

impl Fact {
    /// Reads a file.
    pub(crate) fn text(path: &Path) -> (Fact, Option<Vec<u8>>) {
        let stamp = FileStamp::of(path);
        let text = std::fs::read(path).ok();
        let sum = text.as_deref().map_or(0, sum);
        (Fact { path: path.to_path_buf(), kind: Kind::Text, stamp, sum }, text)
    }

    /// The names in a directory.
    pub(crate) fn names(path: &Path) -> Fact {
        let stamp = FileStamp::of(path);
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        let names: Vec<_> = names.iter().flat_map(|name| [name.as_encoded_bytes(), b"/"].concat()).collect();
        Fact { path: path.to_path_buf(), kind: Kind::Names, stamp, sum: sum(&names) }
    }

    /// Whether something is there.
    pub(crate) fn presence(path: &Path) -> Fact {
        let sum = path.metadata().map_or(0, |meta| if meta.is_file() { 1 } else { 2 });
        Fact { path: path.to_path_buf(), kind: Kind::Presence, stamp: None, sum }
    }

    /// What we made there.
    pub(crate) fn made(path: &Path) -> Fact {
        let stamp = path.symlink_metadata().ok().map(|meta| FileStamp::new(&meta));
        Fact { path: path.to_path_buf(), kind: Kind::Made, stamp, sum: 0 }
    }

    /// The fact as it is now, if nothing has changed. `begun`: before it was found.
    fn renewed(&self, begun: Duration) -> Option<Fact> {
        let path = &self.path;
        let now = match self.kind {
            Kind::Text | Kind::Names => {
                let stamp = FileStamp::of(path);
                let is_settled = stamp.is_none_or(|stamp| stamp.is_settled(begun));
                if is_settled && stamp == self.stamp {
                    return Some(self.clone());
                }
                if self.kind == Kind::Text { Fact::text(path).0 } else { Fact::names(path) }
            }
            Kind::Presence => Fact::presence(path),
            Kind::Made => Fact::made(path),
        };
        let is_same = match self.kind {
            Kind::Made => now.stamp == self.stamp && now.stamp.is_some(),
            _ => now.sum == self.sum,
        };
        is_same.then_some(now)
    }
}

impl Facts {
    /// None yet.
    pub(crate) fn new() -> Facts {
        Facts { begun: now(), all: Vec::new() }
    }

    /// Adds facts that were found since.
    pub(crate) fn extend(&mut self, facts: impl IntoIterator<Item = Fact>) {
        self.all.extend(facts);
    }

    /// The facts as they are now, if nothing has changed, and whether this spares reading next time.
    pub(crate) fn renewed(&self) -> Option<(Facts, bool)> {
        let begun = now();
        let all: Vec<Fact> = self.all.iter().map(|fact| fact.renewed(self.begun)).collect::<Option<_>>()?;
        let is_settled = |fact: &Fact, time| fact.stamp.is_none_or(|stamp| stamp.is_settled(time));
        let spares = all.iter().zip(&self.all).any(|(now, before)| {
            now.stamp != before.stamp || is_settled(now, begun) && !is_settled(before, self.begun)
        });
        Some((Facts { begun, all }, spares))
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A sum of a text, the same in each program.
pub(crate) fn sum(text: &[u8]) -> u64 {
    let mut hash = qs_core::map::Hash::new();
    hash.update(text);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree whose facts were found long after its last change.
    fn settled(facts: impl IntoIterator<Item = Fact>) -> Facts {
        Facts { begun: now() + 2 * TICK, all: facts.into_iter().collect() }
    }

    fn holds(facts: &Facts) -> bool {
        facts.renewed().is_some()
    }

    #[test]
    fn an_edit_of_the_same_length_with_its_old_time_is_noticed() {
        let tree = tempfile::tempdir().expect("a directory");
        let file = tree.path().join("a.rs");
        std::fs::write(&file, "fn a() {}").expect("a file");
        let facts = settled([Fact::text(&file).0]);
        assert!(holds(&facts));
        let modified = file.metadata().and_then(|meta| meta.modified()).expect("a time");
        // The inode has the time of a tick; the next one is needed.
        std::thread::sleep(Duration::from_millis(20));
        std::fs::write(&file, "fn b() {}").expect("a file");
        let restored =
            std::fs::File::options().write(true).open(&file).and_then(|f| f.set_modified(modified));
        restored.expect("the old time");
        assert!(!holds(&facts));
        std::fs::write(&file, "fn a() {}").expect("a file");
        assert!(holds(&facts), "the text is the same again");
    }

    #[test]
    fn a_file_that_may_change_within_a_tick_is_read() {
        let tree = tempfile::tempdir().expect("a directory");
        let file = tree.path().join("a.rs");
        std::fs::write(&file, "fn b() {}").expect("a file");
        // As if the text had been read before the write, in the same tick.
        let fact = Fact { sum: sum(b"fn a() {}"), ..Fact::text(&file).0 };
        assert!(!holds(&Facts { begun: now(), all: vec![fact.clone()] }));
        assert!(holds(&settled([fact])), "a settled stamp is enough");
    }

    #[test]
    fn what_was_read_again_is_not_read_a_third_time() {
        let tree = tempfile::tempdir().expect("a directory");
        let file = tree.path().join("a.rs");
        std::fs::write(&file, "fn a() {}").expect("a file");
        let facts = Facts { begun: Duration::ZERO, all: vec![Fact::text(&file).0] };
        let (_, spares) = facts.renewed().expect("nothing changed");
        assert!(!spares, "it is too young");
        let fact = Fact { stamp: None, ..Fact::text(&file).0 };
        let (renewed, spares) = settled([fact]).renewed().expect("nothing changed");
        assert!(spares && renewed.all[0].stamp == FileStamp::of(&file));
        let (_, spares) = settled(renewed.all).renewed().expect("nothing changed");
        assert!(!spares);
    }

    #[test]
    fn names_that_come_and_go_are_noticed() {
        let tree = tempfile::tempdir().expect("a directory");
        let path = |name: &str| tree.path().join(name);
        std::fs::write(path("a"), "").expect("a file");
        let facts = settled([Fact::names(tree.path())]);
        std::thread::sleep(Duration::from_millis(20));
        std::fs::write(path("b"), "").expect("a file");
        assert!(!holds(&facts));
        std::fs::remove_file(path("b")).expect("removed");
        assert!(holds(&facts));
        std::fs::rename(path("a"), path("c")).expect("renamed");
        assert!(!holds(&facts));
    }

    #[test]
    fn a_file_where_none_was_is_noticed() {
        let tree = tempfile::tempdir().expect("a directory");
        let file = tree.path().join("a.rs");
        let facts = settled([Fact::presence(&file), Fact::text(&file).0]);
        assert!(holds(&facts));
        std::fs::create_dir(&file).expect("a directory");
        assert!(!holds(&settled([Fact::presence(&tree.path().join("b.rs")), facts.all[0].clone()])));
        let directory = settled([Fact::presence(&file)]);
        std::fs::remove_dir(&file).expect("removed");
        std::fs::write(&file, "").expect("a file");
        assert!(!holds(&facts) && !holds(&directory));
    }

    #[test]
    fn what_we_made_must_be_as_we_left_it() {
        let tree = tempfile::tempdir().expect("a directory");
        let file = tree.path().join("a.rs");
        std::fs::write(&file, "x").expect("a file");
        let facts = settled([Fact::made(&file)]);
        assert!(holds(&facts));
        std::thread::sleep(Duration::from_millis(20));
        std::fs::write(&file, "x").expect("a file");
        assert!(!holds(&facts));
        std::fs::remove_file(&file).expect("removed");
        assert!(!holds(&facts) && !holds(&settled([Fact::made(&file)])));
    }
}
