//! The tests of a run: which failed, what each ran, and the history of those that failed.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

use qs_core::ring::{Header, Status};

use super::bits::SiteSet;
use super::history::{FailureHistory, TestedCode};
use super::processes::{Owners, TestOwner};
use super::program::ProgramSites;
use super::spectra::{Spectra, ThreadSpectrum};
use xhist_history::model::{Names, Ring, visible};
use xhist_history::ring::{self, Placed};
use xhist_history::runs::record::{FILE, RunRecord, RunRecordError, TestOutcome, TestRecord, is_thread_of};
use xhist_history::source::Image;

/// Failed tests whose histories are read.
const MAX_HISTORIES: usize = 32;
/// No more histories are read when those before have this number of statements.
const MAX_STEPS: usize = 2_000_000;
/// Longest ring file that is read.
const MAX_RINGS: u64 = 4 << 30;

/// A test.
#[derive(Clone, Debug, Default)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Whether it failed.
    pub failed: bool,
    /// The sites that it ran, up to its panic where its history is whole.
    pub ran: SiteSet,
    /// The history of a failed test.
    pub history: Option<FailureHistory>,
    /// The history of the program that a failed test started last.
    pub program: Option<FailureHistory>,
    /// Its ring, and the file that it is in.
    pub ring: Option<(Ring, PathBuf)>,
}

/// The tests of a run.
#[derive(Clone, Debug, Default)]
pub struct Tests {
    /// Those that ran a statement of the program.
    pub tests: Vec<Test>,
    /// They are programs that crashed, and no tests.
    pub are_crashes: bool,
    /// Names of failed tests of which nothing was recorded.
    pub unknown: Vec<String>,
    /// Number of processes whose test is not known.
    pub uncounted: usize,
}

/// A process that a failed test started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedProcess {
    /// Its program.
    pub program: String,
    /// Its number.
    pub pid: u32,
    /// Its ring file, which may not be kept.
    pub file: PathBuf,
}

/// Why a run has no suspects.
#[derive(Debug)]
pub enum RunError {
    /// The directory has no description.
    NoRecord(PathBuf),
    /// The description cannot be read.
    BadRecord(PathBuf, RunRecordError),
    /// No test failed, and no process crashed.
    NothingFailed(PathBuf),
    /// Neither spectra nor rings of what failed.
    NothingRecorded(PathBuf),
    /// Programs of several builds.
    SeveralBuilds(Vec<u64>),
    /// A map is not there, or has no statements.
    NoMap(u64),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::NoRecord(path) => write!(
                f,
                "{}: no {FILE} there, so it is not a run of `cargo xhist`; name a directory below target/xhist/runs",
                path.display()
            ),
            RunError::BadRecord(path, error) => write!(f, "{}: {error}", path.join(FILE).display()),
            RunError::NothingFailed(path) => write!(
                f,
                "{}: no test failed and no program crashed in this run, so there are no suspects",
                path.display()
            ),
            RunError::NothingRecorded(path) => {
                write!(f, "{}: nothing is recorded of what failed, so there are no suspects", path.display())
            }
            RunError::SeveralBuilds(hashes) => {
                let hashes: Vec<String> = hashes.iter().map(|hash| format!("{hash:016x}")).collect();
                write!(f, "the tests of this run are of different builds (maps {})", hashes.join(", "))
            }
            RunError::NoMap(hash) => {
                write!(f, "without its map ({hash:016x}) this build has no names for its lines")
            }
        }
    }
}

impl std::error::Error for RunError {}

/// A run: its directory, and what is recorded in it.
pub struct RecordedRun {
    directory: PathBuf,
    record: RunRecord,
    pub spectra: Spectra,
    rings: Vec<RingFile>,
}

/// A ring file of what failed.
struct RingFile {
    path: PathBuf,
    image: Image,
    rings: Vec<Placed>,
}

impl RecordedRun {
    /// Reads a run.
    pub fn read(directory: &Path) -> Result<RecordedRun, RunError> {
        let place = || directory.to_owned();
        let record = RunRecord::read(directory).map_err(|error| match error {
            RunRecordError::Missing => RunError::NoRecord(place()),
            error => RunError::BadRecord(place(), error),
        })?;
        if record.failed_tests().next().is_none() && record.crashes.is_empty() {
            return Err(RunError::NothingFailed(place()));
        }
        let spectra = Spectra::read(directory);
        let named = record.failed_tests().filter_map(|test| test.file.as_ref());
        let crashed = record.crashes.iter().map(|crash| &crash.file);
        let mut paths: Vec<PathBuf> = Vec::new();
        for path in named.chain(&record.failed_rings).chain(crashed) {
            if !paths.contains(path) && paths.len() < MAX_HISTORIES {
                paths.push(path.clone());
            }
        }
        let rings = paths.into_iter().filter_map(RingFile::read).collect();
        let mut run = RecordedRun { directory: place(), record, spectra, rings };
        let last = run.started().into_iter().filter_map(|mut started| Some(started.pop()?.file));
        run.rings.extend(last.take(MAX_HISTORIES).filter_map(RingFile::read).collect::<Vec<_>>());
        Ok(run)
    }

    /// The sites of its programs, by their map.
    pub fn program(&self, names: &Names) -> ProgramSites {
        let mut program = ProgramSites::of(names);
        let threads = self.spectra.threads.iter().filter(|thread| thread.may_be_test());
        let listed = self.record.tests.iter().map(|test| &*test.name);
        program.mark_tests(names, &threads.map(|thread| &*thread.name).chain(listed).collect());
        program
    }

    /// The hash of the map of its programs.
    pub fn map_hash(&self) -> Result<u64, RunError> {
        let of_spectra = self.spectra.threads.iter().map(|thread| thread.map_hash);
        let of_rings = self.rings.iter().flat_map(|file| &file.rings).map(|placed| placed.header.map_hash);
        let mut hashes: Vec<u64> = of_spectra.chain(of_rings).filter(|hash| *hash != 0).collect();
        hashes.sort_unstable();
        hashes.dedup();
        match hashes[..] {
            [] => Err(RunError::NothingRecorded(self.directory.clone())),
            [hash] => Ok(hash),
            _ => Err(RunError::SeveralBuilds(hashes)),
        }
    }

    /// The tests, with the sites that each ran.
    pub fn tests(&self, code: &TestedCode<'_>) -> Result<Tests, RunError> {
        let threads = &self.spectra.threads;
        let owners = Owners::of(&self.spectra);
        let mut members: HashMap<TestOwner, Vec<usize>> = HashMap::new();
        owners.of_threads.iter().enumerate().for_each(|(thread, owner)| {
            members.entry(*owner).or_default().push(thread);
        });
        let mut found = Tests::default();
        let mut taken: HashSet<TestOwner> = HashSet::new();
        let started = self.started();
        for ((row, root), started) in
            self.record.failed_tests().zip(self.roots_of_failed(&owners)).zip(&started)
        {
            let process = self.process_of(row).map(TestOwner::Process);
            let own = root.map(TestOwner::Thread).into_iter().chain(process);
            let own: Vec<TestOwner> = own.filter(|owner| taken.insert(*owner)).collect();
            let own: Vec<usize> =
                own.iter().filter_map(|owner| members.get(owner)).flatten().copied().collect();
            let steps: usize =
                found.tests.iter().filter_map(|test| Some(test.history.as_ref()?.order.len())).sum();
            let (history, ring) = match found.tests.len() < MAX_HISTORIES && steps < MAX_STEPS {
                true => {
                    let of_test = |(history, place): (FailureHistory, (Ring, PathBuf))| {
                        let cause = self.cause((&history, &place), &own, code);
                        cause.unwrap_or((history, place))
                    };
                    let root = root.map(|root| &threads[root]);
                    self.history(row, root, code).map(of_test)
                }
                false => None,
            }
            .unzip();
            let last = started.last().filter(|_| history.is_some());
            let last = last.and_then(|last| self.rings.iter().find(|file| file.path == last.file));
            let of_program = last.and_then(|file| Some(file.history((file.main_ring()?, false), code)));
            let mut ran = history.as_ref().map(FailureHistory::ran).unwrap_or_default();
            let is_whole = history.as_ref().is_some_and(|history| history.is_whole && history.has_panic);
            for thread in &own {
                let ThreadSpectrum { pid, tid, .. } = threads[*thread];
                let is_it = ring.as_ref().is_some_and(|(ring, _)| (ring.pid, ring.tid) == (pid, tid));
                // What the thread itself ran behind its panic is not a cause.
                if !(is_whole && is_it) {
                    ran.extend(&self.sites(&threads[*thread], code));
                }
            }
            match ran.is_empty() {
                true => found.unknown.push(row.name.clone()),
                false => found.tests.push(Test {
                    name: row.name.clone(),
                    failed: true,
                    ran,
                    history,
                    program: of_program,
                    ring,
                }),
            }
        }
        self.crashes(&mut found, code);
        if found.tests.is_empty() {
            return Err(RunError::NothingRecorded(self.directory.clone()));
        }
        let listed: Vec<&TestRecord> =
            self.record.tests.iter().filter(|test| test.outcome == TestOutcome::Passed).collect();
        let is_listed =
            |name: &str| listed.is_empty() || listed.iter().any(|row| is_thread_of(name, &row.name));
        let mut uncounted: HashSet<u32> = HashSet::new();
        let mut passed: Vec<usize> = Vec::new();
        for owner in members.keys().filter(|owner| !taken.contains(owner)) {
            match owner {
                TestOwner::Thread(root) => passed.push(*root),
                TestOwner::Process(_) if owners.is_test(*owner) => {}
                TestOwner::Process(_) => {
                    uncounted.extend(members[owner].iter().map(|thread| threads[*thread].pid))
                }
            }
        }
        found.uncounted = uncounted.len();
        passed.retain(|root| threads[*root].may_be_test() && is_listed(&threads[*root].name));
        passed.sort_unstable();
        for root in passed {
            let name = &threads[root].name;
            let mut ran = SiteSet::default();
            members[&TestOwner::Thread(root)]
                .iter()
                .for_each(|thread| ran.extend(&self.sites(&threads[*thread], code)));
            if !ran.is_empty() {
                found.tests.push(Test { name: name.clone(), ran, ..Test::default() });
            }
        }
        Ok(found)
    }

    /// The sites that a thread ran.
    fn sites(&self, thread: &ThreadSpectrum, code: &TestedCode<'_>) -> SiteSet {
        let statements = self.spectra.statements(thread);
        statements.filter_map(|statement| code.program.site(statement, code.names)).collect()
    }

    /// Programs that crashed count as failed tests if no test is known to have failed.
    fn crashes(&self, found: &mut Tests, code: &TestedCode<'_>) {
        if !found.tests.is_empty() {
            return;
        }
        for crash in &self.record.crashes {
            let Some(file) = self.rings.iter().find(|file| file.path == crash.file) else { continue };
            let Some(placed) = file.main_ring() else { continue };
            let history = file.history((placed, false), code);
            let (name, ran) = (crash.program.clone(), history.ran());
            if !ran.is_empty() {
                let ring = Some((placed.ring.clone(), file.path.clone()));
                found.tests.push(Test {
                    name,
                    failed: true,
                    ran,
                    history: Some(history),
                    ring,
                    program: None,
                });
                found.are_crashes = true;
            }
        }
    }

    /// For each failed test the processes that it started.
    pub fn started(&self) -> Vec<Vec<StartedProcess>> {
        let owners = Owners::of(&self.spectra);
        let rows = self.record.failed_tests().zip(self.roots_of_failed(&owners));
        let started = rows.map(|(row, root)| {
            let own = [root.map(TestOwner::Thread), self.process_of(row).map(TestOwner::Process)];
            let processes = owners.started_by(|owner| own.contains(&Some(owner)));
            let process = |(pid, file): &(u32, PathBuf)| {
                let stem = file.file_stem().unwrap_or_default().to_string_lossy();
                let program = stem.strip_suffix(&format!("-{pid}")).unwrap_or(&stem).to_owned();
                StartedProcess { program, pid: *pid, file: file.with_extension("xhist") }
            };
            processes.map(process).collect()
        });
        started.collect()
    }

    /// The thread of each failed test.
    fn roots_of_failed(&self, owners: &Owners) -> Vec<Option<usize>> {
        let mut taken = HashSet::new();
        let mut root = |row| {
            let root = self.thread_of(row, owners, &taken);
            taken.extend(root);
            root
        };
        self.record.failed_tests().map(&mut root).collect()
    }

    /// The process of a failed test that had a process of its own.
    fn process_of(&self, row: &TestRecord) -> Option<u32> {
        let (None, Some(path)) = (row.ring, &row.file) else { return None };
        let file = self.rings.iter().find(|file| file.path == *path)?;
        Some(file.rings.first()?.header.pid)
    }

    /// The thread of a failed test: of its ring, else of its ring file and by its name.
    fn thread_of(&self, row: &TestRecord, owners: &Owners, taken: &HashSet<usize>) -> Option<usize> {
        let threads = &self.spectra.threads;
        let is_root =
            |index: &usize| owners.of_threads[*index] == TestOwner::Thread(*index) && !taken.contains(index);
        let is_it = |index: &usize| is_root(index) && is_thread_of(&threads[*index].name, &row.name);
        let ring = || {
            let file = self.rings.iter().find(|file| Some(&file.path) == row.file.as_ref())?;
            let header = &file.rings.get(row.ring?.checked_sub(1)?)?.header;
            let is_its = |index: &usize| {
                let thread = &threads[*index];
                is_root(index) && (thread.pid, thread.tid) == (header.pid, header.tid)
            };
            (0..threads.len()).find(is_its)
        };
        let beside = row.file.as_ref().map(|file| file.with_extension("spectra"));
        let is_beside = |index: &usize| beside.as_ref().is_some_and(|beside| *beside == threads[*index].file);
        let all = || (0..threads.len()).filter(is_it);
        let panicked = |index: &usize| threads[*index].has_panicked;
        ring().or_else(|| all().find(is_beside)).or_else(|| all().find(panicked)).or_else(|| all().next())
    }

    /// The history of a failed test: of the ring that the row names, else of the thread with its name.
    fn history(
        &self,
        row: &TestRecord,
        thread: Option<&ThreadSpectrum>,
        code: &TestedCode<'_>,
    ) -> Option<(FailureHistory, (Ring, PathBuf))> {
        let named = row.file.as_ref().and_then(|path| {
            let file = self.rings.iter().find(|file| file.path == *path)?;
            let placed = match row.ring {
                Some(ring) => file.rings.get(ring.checked_sub(1)?)?,
                // All rings are of this test.
                None => file.main_ring()?,
            };
            Some((file, placed))
        });
        let of_thread = || {
            let thread = thread?;
            self.rings.iter().find_map(|file| {
                let is_its = |placed: &&Placed| {
                    placed.header.pid == thread.pid
                        && placed.header.tid == thread.tid
                        && placed.header.words.parent.is_none()
                };
                Some((file, file.rings.iter().find(is_its)?))
            })
        };
        let (file, placed) = named.or_else(of_thread)?;
        let history = file.history((placed, true), code);
        Some((history, (placed.ring.clone(), file.path.clone())))
    }
}

impl RecordedRun {
    /// The panic of another thread of the test that the test's own thread passes on: the first one.
    fn cause(
        &self,
        (history, (ring, path)): (&FailureHistory, &(Ring, PathBuf)),
        members: &[usize],
        code: &TestedCode<'_>,
    ) -> Option<(FailureHistory, (Ring, PathBuf))> {
        let file = self.rings.iter().find(|file| file.path == *path).filter(|_| history.passes_on)?;
        let threads = members.iter().map(|member| &self.spectra.threads[*member]);
        let mut rings: Vec<&Placed> = panicked(&file.rings, threads).collect();
        rings.retain(|placed| placed.ring.number != ring.number);
        rings.sort_by_key(|placed| placed.header.last_time);
        rings.into_iter().find_map(|placed| {
            let history = file.history((placed, false), code);
            history.has_panic.then(|| (history, (placed.ring.clone(), path.clone())))
        })
    }
}

/// The rings in a file, by the tests whose threads have them.
pub struct RingsOfTests {
    path: PathBuf,
    rings: Vec<Placed>,
    spectra: Spectra,
}

impl RingsOfTests {
    /// The rings in the bytes of a file, and the threads beside it.
    pub fn read(path: &Path, image: &[u8]) -> RingsOfTests {
        let rings = ring::find(image, None, &mut |_| {}).rings;
        RingsOfTests { path: path.to_owned(), rings, spectra: Spectra::read(&path.with_extension("spectra")) }
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rings of a test: that of its own thread, and those of the threads that it started and that panicked. A test that has
    /// not ended may wait for any thread that has not either.
    pub fn of_test(&self, own: usize) -> Vec<usize> {
        let threads = &self.spectra.threads;
        let roots = self.spectra.roots();
        let header = own.checked_sub(1).and_then(|index| self.rings.get(index)).map(|placed| &placed.header);
        let is_own = |thread: &ThreadSpectrum| {
            header.is_some_and(|own| (own.pid, own.tid) == (thread.pid, thread.tid))
        };
        let mut found = vec![own];
        if let Some(root) = threads.iter().position(is_own).map(|thread| roots[thread]) {
            let members = threads.iter().zip(&roots).filter(|(_, of)| **of == root);
            let rings = panicked(&self.rings, members.map(|(thread, _)| thread));
            found.extend(rings.map(|placed| placed.ring.number).filter(|ring| *ring != own));
        }
        let is_open = |header: &Header| header.status == Status::Live && header.words.parent.is_none();
        if header.is_some_and(is_open) {
            let open = self.rings.iter().filter(|placed| is_open(&placed.header));
            found.extend(open.map(|placed| placed.ring.number).filter(|ring| *ring != own));
        }
        found
    }
}

/// The rings of these threads whose threads panicked.
fn panicked<'f>(
    rings: &'f [Placed],
    threads: impl Iterator<Item = &'f ThreadSpectrum>,
) -> impl Iterator<Item = &'f Placed> {
    threads.filter_map(|thread| {
        rings.iter().find(|placed| {
            let header = &placed.header;
            (header.pid, header.tid) == (thread.pid, thread.tid)
                && header.words.parent.is_none()
                && header.status == Status::Panicked
        })
    })
}

impl RingFile {
    /// The history of the thread of one of its rings, and whether it is that of a failed test.
    fn history(&self, thread: (&Placed, bool), code: &TestedCode<'_>) -> FailureHistory {
        FailureHistory::read((&self.path, &self.rings), &self.image, thread, code)
    }

    fn read(path: PathBuf) -> Option<RingFile> {
        std::fs::metadata(&path).ok().filter(|file| file.is_file() && file.len() <= MAX_RINGS)?;
        let name = visible(&path.to_string_lossy()).into_owned();
        let image = Image::of_file(&std::fs::File::open(&path).ok()?, &name).ok()?;
        let rings = ring::find(&image, None, &mut |_| {}).rings;
        Some(RingFile { path, image, rings })
    }

    /// The ring of the thread that panicked, else the longest.
    fn main_ring(&self) -> Option<&Placed> {
        let own = self.rings.iter().filter(|placed| placed.header.words.parent.is_none());
        own.max_by_key(|placed| {
            (placed.header.status == qs_core::ring::Status::Panicked, placed.header.state.head())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut() {
        assert!(is_thread_of("a::b", "a::b") && !is_thread_of("a::b", "a::bc"));
        assert!(is_thread_of("tests::a_long_n", "tests::a_long_name"));
        assert!(is_thread_of(&"x".repeat(128), &"x".repeat(140)));
    }
}
