//! The build that recorded a ring, as far as maps and sources show.

use std::time::SystemTime;

use jiff::{SignedDuration, civil};

/// One build, by the hash that its rings carry.
#[derive(Clone, Debug)]
pub struct Build {
    /// Hash of its map; 0 = not in its rings.
    pub hash: u64,
    /// What is known of it.
    pub origin: Origin,
}

/// What is known of a build.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Its map was found.
    Known(Box<KnownBuild>),
    /// Its map was not found.
    Unknown {
        /// Directories that were searched, with all above them.
        searched: Vec<String>,
        /// Maps of other builds that were found, newest first.
        here: Vec<KnownMap>,
    },
}

/// A build whose map was found.
#[derive(Clone, Debug)]
pub struct KnownBuild {
    /// That map.
    pub map: KnownMap,
    /// Other projects with the same map: copies of one source tree.
    pub also: Vec<String>,
    /// Version of the tool that wrote it.
    pub tool: String,
    /// Files in the map.
    pub files: usize,
    /// Statements in the map.
    pub statements: usize,
    /// How many of them the program records; in function detail entries only.
    pub recorded: usize,
    /// Whether the project has been built again.
    pub age: Age,
    /// What became of the files.
    pub sources: SourceChanges,
}

/// A map that was found.
#[derive(Clone, Debug)]
pub struct KnownMap {
    /// Its hash.
    pub hash: u64,
    /// Where it is, printable.
    pub path: String,
    /// The project it was written for, printable.
    pub root: String,
    /// When it was written.
    pub written: Option<SystemTime>,
}

/// Whether the project has been built again.
#[derive(Clone, Debug)]
pub enum Age {
    /// This is what was built last.
    Current,
    /// What was built last is this.
    Older(KnownMap),
    /// The project's own map is not here.
    NotKnown,
}

/// The files that a map names, compared with what is here now. A file that is in no list is unchanged.
#[derive(Clone, Debug, Default)]
pub struct SourceChanges {
    /// Statements are no longer where they were, the first at this line.
    pub moved: Vec<(String, u32)>,
    /// Written after the map; all statements are still where they were.
    pub touched: Vec<String>,
    /// Not found.
    pub missing: Vec<String>,
}

/// A time as `2026-11-21T11:09:53Z`. `None` before 1970 and behind the year 9999.
pub fn time_text(time: SystemTime) -> Option<String> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    in_calendar(SignedDuration::from_secs(since.as_secs().try_into().ok()?)).map(|time| format!("{time}Z"))
}

/// The same with microseconds: `2026-11-21T11:09:53.250000Z`.
pub fn moment_text(time: SystemTime) -> Option<String> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    in_calendar(since.try_into().ok()?).map(|time| format!("{time:.6}Z"))
}

/// A time since 1970.
fn in_calendar(since: SignedDuration) -> Option<civil::DateTime> {
    const EPOCH: civil::DateTime = civil::date(1970, 1, 1).at(0, 0, 0, 0);
    EPOCH.checked_add(since).ok()
}

impl KnownMap {
    /// When it was written, for people and programs.
    pub fn written_text(&self) -> Option<String> {
        self.written.and_then(time_text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_have_a_text_up_to_the_year_9999() {
        let at =
            |seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).and_then(time_text);
        assert_eq!(at(1_795_259_393).as_deref(), Some("2026-11-21T11:09:53Z"));
        assert_eq!(at(253_402_300_799).as_deref(), Some("9999-12-31T23:59:59Z"));
        assert_eq!(at(253_402_300_800), None);
        let moment = SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_259_393_250);
        assert_eq!(moment_text(moment).as_deref(), Some("2026-11-21T11:09:53.250000Z"));
        assert_eq!(time_text(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), None);
    }
}
