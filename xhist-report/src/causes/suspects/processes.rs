//! Which processes belong to which test: a test starts programs, and these start others. Records of starts name the process
//! and, where the recorder sees it, the thread.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use xhist_history::runs::record::is_documentation_program;

use super::spectra::Spectra;

/// Longest chain of processes that start each other.
const DEEPEST: usize = 64;

/// What the statements of a thread count for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TestOwner {
    /// For the test whose thread has this index.
    Thread(usize),
    /// For a test of this process; which one is not known.
    Process(u32),
}

/// The owners of the threads and the processes of a run.
#[derive(Clone, Debug, Default)]
pub struct Owners {
    /// Of each thread.
    pub of_threads: Vec<TestOwner>,
    /// Of each recorded process that another one started.
    of_processes: HashMap<u32, TestOwner>,
    /// Recorded processes, each with its file of spectra, in the order of their starts.
    processes: Vec<(u32, PathBuf)>,
}

impl Owners {
    /// As the spectra of a run show them.
    pub fn of(spectra: &Spectra) -> Owners {
        let find = Find::new(spectra);
        let processes = find.processes();
        let of_processes: HashMap<u32, TestOwner> =
            processes.iter().filter_map(|(pid, _)| Some((*pid, find.owner(*pid, DEEPEST)?))).collect();
        let own = |(thread, root): (usize, &usize)| {
            let owner = of_processes.get(&spectra.threads[thread].pid);
            owner.copied().unwrap_or(TestOwner::Thread(*root))
        };
        let of_threads = find.roots.iter().enumerate().map(own).collect();
        Owners { of_threads, of_processes, processes }
    }

    /// Whether an owner is a process that is a test itself.
    pub fn is_test(&self, owner: TestOwner) -> bool {
        matches!(owner, TestOwner::Process(pid) if self.of_processes.get(&pid) == Some(&owner))
    }

    /// The processes of an owner, each with its file of spectra, in the order of their starts.
    pub fn started_by(&self, owner: impl Fn(TestOwner) -> bool) -> impl Iterator<Item = &(u32, PathBuf)> {
        let is_its = move |pid: &u32| {
            let found = self.of_processes.get(pid).filter(|found| **found != TestOwner::Process(*pid));
            found.is_some_and(|found| owner(*found))
        };
        self.processes.iter().filter(move |(pid, _)| is_its(pid))
    }
}

struct Find<'s> {
    spectra: &'s Spectra,
    /// As [`Spectra::roots`].
    roots: Vec<usize>,
    /// Threads by process and number.
    threads: HashMap<(u32, u32), usize>,
    /// Starts of each process: its parent, and the thread if that is known.
    starts: HashMap<u32, Vec<(u32, u32)>>,
    recorded: HashSet<u32>,
    /// Threads of tests in each process.
    tests: HashMap<u32, Vec<usize>>,
    /// Processes that are documentation tests. The program that runs them all starts each.
    documentation: HashSet<u32>,
    /// Owners of processes that were asked for.
    known: RefCell<HashMap<u32, Option<TestOwner>>>,
}

impl Find<'_> {
    fn new(spectra: &Spectra) -> Find<'_> {
        let roots = spectra.roots();
        let (mut threads, mut recorded) = (HashMap::new(), HashSet::new());
        let mut tests: HashMap<u32, Vec<usize>> = HashMap::new();
        for (index, thread) in spectra.threads.iter().enumerate() {
            threads.insert((thread.pid, thread.number), index);
            recorded.insert(thread.pid);
            if roots[index] == index && thread.may_be_test() {
                tests.entry(thread.pid).or_default().push(index);
            }
        }
        let mut starts: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        let mut documentation = HashSet::new();
        for (start, file) in &spectra.starts {
            starts.entry(start.pid).or_default().push((start.parent, start.thread));
            if is_own_file(file, start.pid) {
                recorded.insert(start.pid);
                let name = file.file_name().unwrap_or_default();
                documentation.extend(is_documentation_program(&name.to_string_lossy()).then_some(start.pid));
            }
        }
        Find { spectra, roots, threads, starts, recorded, tests, documentation, known: RefCell::default() }
    }

    /// Recorded processes with their files, each behind its parent. Parents note starts in order; their files have none.
    fn processes(&self) -> Vec<(u32, PathBuf)> {
        let mut noted: HashMap<u32, (u32, usize)> = HashMap::new();
        for (at, (start, _)) in
            self.spectra.starts.iter().enumerate().filter(|(_, (start, _))| start.thread != 0)
        {
            noted.entry(start.pid).or_insert((start.parent, at));
        }
        let chain = |pid: u32| {
            let starts = std::iter::successors(noted.get(&pid), |(parent, _)| noted.get(parent));
            let mut chain: Vec<usize> = starts.take(DEEPEST).map(|(_, at)| *at).collect();
            chain.reverse();
            chain
        };
        let own = self.spectra.starts.iter().filter(|(start, file)| is_own_file(file, start.pid));
        let mut processes: Vec<(u32, PathBuf)> = own.map(|(start, file)| (start.pid, file.clone())).collect();
        processes.sort_by_cached_key(|(pid, file)| (chain(*pid), file.clone()));
        processes.dedup();
        processes
    }

    /// The owner of a process that another recorded process started, through others that may not be recorded.
    fn owner(&self, pid: u32, depth: usize) -> Option<TestOwner> {
        if self.documentation.contains(&pid) {
            return Some(TestOwner::Process(pid));
        }
        if let Some(known) = self.known.borrow().get(&pid) {
            return *known;
        }
        let depth = depth.checked_sub(1)?;
        // Until it is found, for processes that start each other.
        self.known.borrow_mut().insert(pid, None);
        let owners = self.starts.get(&pid).into_iter().flatten().filter_map(|(parent, thread)| {
            if *parent == pid {
                return None;
            }
            let above = self.owner(*parent, depth);
            let thread =
                self.threads.get(&(*parent, *thread)).map(|index| TestOwner::Thread(self.roots[*index]));
            let process = || self.recorded.contains(parent).then(|| self.only_test(*parent));
            above.or(thread).or_else(process)
        });
        let owner = owners.min_by_key(|owner| matches!(owner, TestOwner::Process(_)));
        self.known.borrow_mut().insert(pid, owner);
        owner
    }

    /// The test of a process that ran no other one.
    fn only_test(&self, pid: u32) -> TestOwner {
        match self.tests.get(&pid).map(Vec::as_slice) {
            Some([test]) => TestOwner::Thread(*test),
            _ => TestOwner::Process(pid),
        }
    }
}

/// The processes that tests of a run started which have ended, each with whether its test panicked.
pub fn processes_of_ended_tests(run: &Path) -> HashMap<u32, bool> {
    let spectra = Spectra::read(run);
    let owned = Owners::of(&spectra).of_processes.into_iter();
    let of_thread = |(pid, owner)| match owner {
        TestOwner::Thread(test) => Some((pid, spectra.threads[test].has_panicked)),
        TestOwner::Process(_) => None,
    };
    owned.filter_map(of_thread).collect()
}

/// Whether a process has its spectra in this file: the recorder puts its id at the end of the name.
fn is_own_file(file: &Path, pid: u32) -> bool {
    file.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(&format!("-{pid}")))
}

#[cfg(test)]
mod tests {
    use super::super::spectra::tests::of_process;
    use super::*;
    use qs_core::ring::process_start::ProcessStart;

    fn start(pid: u32, parent: u32, thread: u32) -> Vec<u8> {
        ProcessStart { pid, parent, thread }.bytes().to_vec()
    }

    /// The harness is process 1: its tests are the threads 2 and 3. Each starts a program; that of the second is started by
    /// a shell, which is not recorded.
    fn run() -> Spectra {
        let mut spectra = Spectra::default();
        let harness = [
            start(1, 99, 0),
            of_process(1, "main", 1, 0),
            start(10, 1, 2),
            of_process(1, "worker", 4, 3),
            start(11, 1, 4),
            of_process(1, "a::one", 2, 1),
            of_process(1, "a::two", 3, 1),
        ];
        spectra.add(Path::new("run/tests-1.spectra"), &harness.concat());
        spectra
            .add(Path::new("run/tool-10.spectra"), &[start(10, 1, 0), of_process(10, "main", 1, 0)].concat());
        spectra.add(Path::new("run/tool-12.spectra"), &[start(12, 11, 0), of_process(12, "", 1, 0)].concat());
        spectra
    }

    #[test]
    fn processes_belong_to_the_test_whose_thread_started_them() {
        let spectra = run();
        let owners = Owners::of(&spectra);
        let of = |pid: u32| {
            let thread = spectra.threads.iter().position(|thread| thread.pid == pid).expect("a thread");
            match owners.of_threads[thread] {
                TestOwner::Thread(test) => spectra.threads[test].name.clone(),
                TestOwner::Process(_) => String::new(),
            }
        };
        assert_eq!((of(10), of(12)), ("a::one".to_owned(), "a::two".to_owned()));
        let started = |test: &str| {
            let is_it =
                |owner| matches!(owner, TestOwner::Thread(index) if spectra.threads[index].name == test);
            owners.started_by(is_it).map(|(pid, _)| *pid).collect::<Vec<_>>()
        };
        assert_eq!((started("a::one"), started("a::two")), (vec![10], vec![12]));
    }

    /// In the order of their names, `tool-10001` is before `tool-9998`.
    #[test]
    fn processes_are_in_the_order_of_their_starts() {
        let mut spectra = Spectra::default();
        spectra.add(
            Path::new("tests-9990.spectra"),
            &[of_process(9990, "a", 1, 0), start(9998, 9990, 1)].concat(),
        );
        for (pid, parent, child) in [(10_001, 9998, 10_005), (10_005, 10_001, 0), (9998, 9990, 10_001)] {
            let records = [start(pid, parent, 0), of_process(pid, "main", 1, 0), start(child, pid, 1)];
            let records = &records[..if child == 0 { 2 } else { 3 }];
            spectra.add(Path::new(&format!("tool-{pid}.spectra")), &records.concat());
        }
        let owners = Owners::of(&spectra);
        let started = owners.started_by(|owner| owner == TestOwner::Thread(0)).map(|(pid, _)| *pid);
        assert_eq!(started.collect::<Vec<_>>(), [9998, 10_001, 10_005]);
    }

    #[test]
    fn without_a_thread_a_process_belongs_to_the_only_test_of_its_parent() {
        let child = [start(20, 1, 0), of_process(20, "main", 1, 0)].concat();
        for (tests, expected) in
            [(vec!["a::one"], TestOwner::Thread(0)), (vec!["a::one", "a::two"], TestOwner::Process(1))]
        {
            let mut spectra = Spectra::default();
            let harness = (1..).zip(&tests).map(|(number, name)| of_process(1, name, number, 0));
            spectra.add(Path::new("tests-1.spectra"), &harness.collect::<Vec<_>>().concat());
            spectra.add(Path::new("tool-20.spectra"), &child);
            assert_eq!(Owners::of(&spectra).of_threads.last(), Some(&expected));
        }
    }

    #[test]
    fn a_documentation_test_is_its_process() {
        let mut spectra = Spectra::default();
        spectra.add(Path::new("rust_out-1.spectra"), &[start(1, 99, 0), start(2, 1, 1)].concat());
        let test = [start(2, 1, 0), of_process(2, "main", 1, 0), start(3, 2, 1)].concat();
        spectra.add(Path::new("rust_out-2.spectra"), &test);
        spectra.add(Path::new("tool-3.spectra"), &[start(3, 2, 0), of_process(3, "main", 1, 0)].concat());
        let owners = Owners::of(&spectra);
        assert_eq!(owners.of_threads, [TestOwner::Process(2); 2]);
        assert!(owners.is_test(TestOwner::Process(2)) && !owners.is_test(TestOwner::Thread(0)));
        let started = owners.started_by(|owner| owner == TestOwner::Process(2));
        assert_eq!(started.map(|(pid, _)| *pid).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn processes_that_start_each_other_do_not_hang() {
        let mut spectra = Spectra::default();
        let records = [start(1, 2, 0), start(2, 1, 0), of_process(1, "a", 1, 0)].concat();
        spectra.add(Path::new("a-1.spectra"), &records);
        assert_eq!(Owners::of(&spectra).of_threads.len(), 1);
    }
}
