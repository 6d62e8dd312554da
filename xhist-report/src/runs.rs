//! Which ring file is read when the user names none: that of the run that failed last. `cargo xhist` leaves a `run.json` in the
//! directory of each run; without one, the headers of the rings say how their programs ended.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use qs_core::ring::Status;

use crate::decode;
use crate::how_to_dump::quoted;
use crate::model::visible;
use crate::source::{self, Image};

/// What a run is called by in its directory.
const RECORD: &str = "run.json";
/// A longer one is none of ours.
const MAX_RECORD: u64 = 1 << 20;
/// So many runs without a record are looked into.
const MAX_LOOKS: usize = 16;
/// Longer ring files are not searched for how their programs ended.
const MAX_SEARCHED: u64 = 64 << 20;
/// So many other ring files of a run are named.
const NAMED: usize = 3;

/// What is read, and what the user should know of the choice.
pub struct Chosen {
    /// The ring file.
    pub path: PathBuf,
    /// Sentences.
    pub notes: Vec<String>,
}

/// What `cargo xhist` says of a run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Record {
    command: String,
    started_ms: Option<u64>,
    ended_ms: Option<u64>,
    exit: Option<i64>,
    signal: Option<String>,
    failed: bool,
    failed_rings: Vec<PathBuf>,
}

/// How a run, or the program of a ring file, ended; what a user wants to see first comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Well,
    Running,
    Badly,
}

/// The ring files of one run.
struct Run {
    /// Its directory; the file itself where it has none of its own.
    place: PathBuf,
    record: Option<Record>,
    when: SystemTime,
    /// Newest first.
    files: Vec<(SystemTime, PathBuf)>,
}

/// Chooses for a user who works in `dir`. Who follows a program wants one that runs.
///
/// # Errors
/// What is missing and what to do, in a sentence.
pub fn choose(dir: &Path, follows: bool) -> Result<Chosen, String> {
    let homes = source::homes(dir);
    if homes.is_empty() {
        return Err("no source named, and there is no target/xhist here or above; \
                    name a dump, or run `cargo xhist run` first"
            .to_owned());
    }
    let Some(runs) = homes.iter().map(|home| runs_in(home)).find(|runs| !runs.is_empty()) else {
        let homes: Vec<String> = homes.iter().map(|home| home.display().to_string()).collect();
        return Err(format!(
            "no *.xhist file under {}; name a dump, or run `cargo xhist run` first",
            homes.join(" or ")
        ));
    };
    let mut looks = MAX_LOOKS;
    let is_wanted = |run: &&Run| match run.end(&mut looks) {
        End::Badly => !follows,
        End::Running => true,
        End::Well => false,
    };
    let wanted = runs.iter().find(is_wanted);
    let newest = &runs[0];
    Ok(wanted.unwrap_or(newest).chosen(dir, newest))
}

/// The runs under a directory that have ring files, newest first.
fn runs_in(home: &Path) -> Vec<Run> {
    let mut by_place: BTreeMap<PathBuf, Vec<(SystemTime, PathBuf)>> = BTreeMap::new();
    for (written, path) in source::ring_files(home) {
        by_place.entry(place_of(home, &path)).or_default().push((written, path));
    }
    let run = |(place, mut files): (PathBuf, Vec<(SystemTime, PathBuf)>)| {
        files.sort_by(|one, other| other.cmp(one));
        let record = source::text_of(&place.join(RECORD), MAX_RECORD);
        let record: Option<Record> = record.and_then(|text| serde_json::from_str(&text).ok());
        let told = record.as_ref().and_then(|record| record.ended_ms.or(record.started_ms));
        let told = told.and_then(|ms| SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms)));
        let written = files.first().map_or(SystemTime::UNIX_EPOCH, |(written, _)| *written);
        Run { place, when: told.unwrap_or(written), record, files }
    };
    let mut runs: Vec<Run> = by_place.into_iter().map(run).collect();
    runs.sort_by_key(|run| std::cmp::Reverse(run.when));
    runs
}

/// `runs/NAME` for what is anywhere in it; elsewhere each file is a run.
fn place_of(home: &Path, path: &Path) -> PathBuf {
    let mut parts = path.strip_prefix(home).into_iter().flat_map(Path::components);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(runs), Some(name), Some(_)) if runs.as_os_str() == "runs" => home.join(runs).join(name),
        _ => path.to_owned(),
    }
}

impl Run {
    /// How it ended. Looks into ring files, if it has to and may.
    fn end(&self, looks: &mut usize) -> End {
        match &self.record {
            Some(record) if record.failed => return End::Badly,
            Some(Record { exit: None, signal: None, ended_ms: None, .. }) | None => {}
            Some(_) => return End::Well,
        }
        let Some(left) = looks.checked_sub(1) else { return End::Well };
        *looks = left;
        self.files.iter().map(|(_, path)| end_of(path)).max().unwrap_or(End::Well)
    }

    /// Its ring files, the one that says most first.
    fn ranked(&self) -> Vec<&Path> {
        let named = self.record.iter().flat_map(|record| &record.failed_rings);
        // A name that leads elsewhere is none of a ring of this run.
        let is_inside = |name: &&PathBuf| name.components().all(|part| matches!(part, Component::Normal(_)));
        let named: Vec<PathBuf> = named.filter(is_inside).map(|name| self.place.join(name)).collect();
        let rank = |path: &Path| named.iter().position(|name| name == path).unwrap_or(usize::MAX);
        let mut files: Vec<&Path> = self.files.iter().map(|(_, path)| path.as_path()).collect();
        match named.is_empty() {
            true if files.len() > 1 => files.sort_by_cached_key(|path| std::cmp::Reverse(end_of(path))),
            true => {}
            false => files.sort_by_key(|path| rank(path)),
        }
        files
    }

    /// The choice of this run, when `newest` is the newest of all.
    fn chosen(&self, dir: &Path, newest: &Run) -> Chosen {
        let shown =
            |path: &Path| quoted(&visible(&path.strip_prefix(dir).unwrap_or(path).display().to_string()));
        let files = self.ranked();
        let path = files[0].to_owned();
        let mut notes = vec![format!("reading {}{}", shown(&path), self.described())];
        let others: Vec<String> = files[1..].iter().take(NAMED).map(|path| shown(path)).collect();
        if !others.is_empty() {
            let more = match files.len() - 1 - others.len() {
                0 => String::new(),
                more => format!(" and {more} more in {}", shown(&self.place)),
            };
            notes.push(format!("other ring files of that run: {}{more}", others.join(" ")));
        }
        if newest.place != self.place {
            let how = if newest.end(&mut 1) == End::Badly { "failed" } else { "ended well" };
            notes.push(format!(
                "a newer run {how}{}; this reads it: xhist-report {}",
                newest.age(),
                shown(newest.ranked()[0])
            ));
        }
        Chosen { path, notes }
    }

    /// ` of `cargo xhist test`, which failed 5 minutes ago (exit code 101)`.
    fn described(&self) -> String {
        let Some(record) = &self.record else { return String::new() };
        let of = match record.command.as_str() {
            "" => String::new(),
            command => format!(" of `{}`", visible(command)),
        };
        let how = match (&record.signal, record.exit) {
            (Some(signal), _) => format!(" ({})", visible(signal)),
            (None, Some(exit)) if exit != 0 => format!(" (exit code {exit})"),
            _ => String::new(),
        };
        let verb = match (record.failed, record.ended_ms) {
            (true, _) => "failed",
            (false, Some(_)) => "ended",
            (false, None) => "started",
        };
        format!("{of}, which {verb}{}{how}", self.age())
    }

    /// ` 5m 3s ago`; nothing when the clock was set back since.
    fn age(&self) -> String {
        let since = SystemTime::now().duration_since(self.when).ok();
        since.map_or(String::new(), |since| {
            let coarse = match since.as_secs() {
                0 => return " just now".to_owned(),
                seconds @ ..3600 => seconds,
                seconds @ ..86_400 => seconds / 60 * 60,
                seconds => seconds / 3600 * 3600,
            };
            format!(" {} ago", humantime::format_duration(Duration::from_secs(coarse)))
        })
    }
}

/// How the program of a ring file ended, as far as its rings say.
fn end_of(path: &Path) -> End {
    let file = std::fs::metadata(path).ok().filter(|metadata| metadata.len() <= MAX_SEARCHED);
    let image =
        file.and_then(|_| Image::of_file(&std::fs::File::open(path).ok()?, &path.display().to_string()).ok());
    let Some(image) = image else { return End::Well };
    let rings = decode::find(&image, None, &mut |_| {}).rings;
    let end = |placed: &decode::Placed| match placed.header.status {
        Status::Panicked | Status::Killed => End::Badly,
        Status::Live if placed.header.pid == 0 => End::Well,
        Status::Live if source::is_running(placed.header.pid) => End::Running,
        Status::Live => End::Badly,
        Status::Ended | Status::Exited => End::Well,
    };
    rings.iter().map(end).max().unwrap_or(End::Well)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_file_belongs_to_the_run_that_it_lies_in() {
        let home = Path::new("/p/target/xhist");
        let place = |path: &str| place_of(home, &home.join(path)).strip_prefix(home).unwrap().to_owned();
        assert_eq!(place("runs/3/a.xhist"), Path::new("runs/3"));
        assert_eq!(place("runs/3/tests/b.xhist"), Path::new("runs/3"));
        assert_eq!(place("runs/c.xhist"), Path::new("runs/c.xhist"));
        assert_eq!(place("d.xhist"), Path::new("d.xhist"));
    }

    #[test]
    fn a_record_may_lack_anything_and_have_more() {
        let record: Record = serde_json::from_str("{\"version\":9,\"new\":[1],\"failed\":true}").unwrap();
        assert!(record.failed && record.failed_rings.is_empty() && record.exit.is_none());
    }
}
