//! Why two histories cannot be compared.

use std::fmt;

use super::align::Side;
use xhist_history::ExitCode;

/// Why two histories cannot be compared. Then nothing is printed about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffError {
    /// A source without a ring.
    NoRing(Side),
    /// A source whose rings are empty.
    NothingRecorded(Side),
    /// The ring or thread that was asked for does not exist; those that do.
    NoThread(Side, String, Vec<String>),
    /// Several threads have the name; numbers of their rings.
    SeveralThreads(Side, String, Vec<usize>),
    /// The rings of a source are of several builds.
    SeveralBuilds(Side),
    /// The histories are of two builds: hashes of their maps.
    OtherBuild(u64, u64),
    /// The histories are of two programs.
    OtherProgram,
    /// No map, so the structure of the program is not known.
    NoMap(u64),
    /// The map does not have the statements of a history.
    OtherMap(Side, u64, u64),
    /// The map given cannot be read; why is printed already.
    UnreadableMap,
    /// No thread of one has a counterpart in the other.
    NoCommonThread,
}

impl Side {
    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Good => "GOOD",
            Side::Bad => "BAD",
        }
    }
}

impl DiffError {
    /// The exit code of the program.
    pub const fn code(&self) -> ExitCode {
        match self {
            DiffError::NoRing(_) | DiffError::NothingRecorded(_) => ExitCode::NothingFound,
            DiffError::NoThread(..) | DiffError::SeveralThreads(..) | DiffError::UnreadableMap => {
                ExitCode::Usage
            }
            _ => ExitCode::Incomplete,
        }
    }
}

impl fmt::Display for DiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiffError::NoRing(side) => write!(f, "{} has no ring", side.name()),
            DiffError::NothingRecorded(side) => write!(f, "the rings of {} have no statement", side.name()),
            DiffError::NoThread(side, name, known) => {
                write!(f, "{} has no thread `{name}`", side.name())?;
                match known.is_empty() {
                    true => Ok(()),
                    false => write!(f, "; it has {}", known.join(", ")),
                }
            }
            DiffError::SeveralThreads(side, name, rings) => {
                let rings: Vec<String> = rings.iter().map(|ring| format!("#{ring}")).collect();
                write!(
                    f,
                    "{} has several threads `{name}`: name one by its ring, {} behind the file",
                    side.name(),
                    rings.join(" or ")
                )
            }
            DiffError::SeveralBuilds(side) => {
                write!(f, "the rings of {0} are of several builds: name one thread, {0}#N", side.name())
            }
            DiffError::OtherBuild(good, bad) => write!(
                f,
                "GOOD and BAD are of different builds (maps {good:016x} and {bad:016x}), whose statements cannot be \
                 compared: record both with one build"
            ),
            DiffError::OtherProgram => f.write_str(
                "GOOD and BAD are of different programs: no thread begins in a function that both have, so there is nothing \
                 to compare",
            ),
            DiffError::NoMap(hash) => write!(
                f,
                "control flow can only be compared with the map of the build ({hash:016x}): name it with --map FILE"
            ),
            DiffError::OtherMap(side, unknown, all) => write!(
                f,
                "{unknown} of {all} statements of {} are not in the map: it is of another build",
                side.name()
            ),
            DiffError::UnreadableMap => f.write_str("without its map a history cannot be compared"),
            DiffError::NoCommonThread => f.write_str(
                "no thread of GOOD has the name of a thread of BAD; name one of each: GOOD::NAME BAD::NAME",
            ),
        }
    }
}

impl std::error::Error for DiffError {}
