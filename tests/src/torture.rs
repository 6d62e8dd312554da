//! The program of `fixtures/torture`, built both ways, and the files that it is run with.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use qs_core::record::Statement;

use crate::reference::{LogEntry, Reference};
use crate::rings::{Recorded, recorded};
use crate::tools::copy_program;
use crate::{Run, Tree, cargo, repository};

/// Threads that can have a log.
const SECTIONS: usize = 4;
/// Words before the entries of a section.
const SECTION_HEAD: usize = 4;

/// How the program and the recorder in it are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Build {
    /// As users run it.
    Optimised,
    /// With many more places between two steps.
    Plain,
    /// As users run it where each statement is to have a frame of its own.
    Each,
}

impl Build {
    /// Those that record in chunks.
    pub const ALL: [Build; 2] = [Build::Optimised, Build::Plain];

    /// The program in this build.
    pub fn program(self) -> &'static Path {
        static PROGRAMS: OnceLock<[PathBuf; 3]> = OnceLock::new();
        let programs = PROGRAMS.get_or_init(|| {
            let tree = Tree::copy_of(&repository().join("tests/fixtures/torture"));
            let path = repository().join("xhist-rt");
            let line =
                format!("[dependencies]\nxhist-rt = {{ path = {path:?}, features = [\"std\", \"trace\"] }}");
            tree.replace("Cargo.toml", "[dependencies]", &line);
            // Here it stays built. The first and the last differ in one feature of the recorder only.
            let target = repository().join("target/torture");
            let build = |options: &str, profile: &str, name: &str| {
                let cargo = cargo(tree.path()).args("build --quiet").args(options);
                cargo.arg("--target-dir").arg(&target).succeed();
                let program = target.join(name);
                // Another run of the tests may have it open.
                let _ = std::fs::remove_file(&program);
                copy_program(target.join(profile).join("torture"), &program);
                program
            };
            [
                build("--release", "release", "optimised"),
                build("", "debug", "plain"),
                build("--release --features xhist-rt/each", "release", "each"),
            ]
        });
        &programs[self as usize]
    }
}

/// A run of the program, with a ring file and a reference log of its own.
pub struct Torture {
    /// The directory that it works in.
    pub tree: Tree,
    program: &'static Path,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    log: File,
    entries: usize,
}

impl Torture {
    /// With these arguments, rings of this size, and room for `entries` entries in the log of each thread.
    pub fn new(build: Build, arguments: &str, size: &str, entries: usize) -> Torture {
        let tree = Tree::empty(&arguments.replace(' ', "-"));
        let path = tree.join("reference.log");
        let log = File::options().read(true).write(true).create_new(true).open(&path).expect("a log");
        log.set_len((SECTIONS * (SECTION_HEAD + entries) * 8) as u64).expect("room for the log");
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let environment = vec![
            variable("TORTURE_LOG", path.to_str().expect("UTF-8")),
            variable("XHIST_FILE", tree.join("ring.xhist").to_str().expect("UTF-8")),
            variable("XHIST_SIZE", size),
        ];
        let arguments = arguments.split(' ').map(str::to_owned).collect();
        Torture { tree, program: build.program(), arguments, environment, log, entries }
    }

    /// A variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Torture {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A run to its end.
    pub fn run(&self) -> Run {
        self.with_environment(Run::new(self.program, self.tree.path())).args(&self.arguments.join(" "))
    }

    /// A run by another program, such as a debugger, as its last arguments.
    pub fn under(&self, run: Run) -> Run {
        self.with_environment(run.arg(self.program)).args(&self.arguments.join(" "))
    }

    fn with_environment(&self, run: Run) -> Run {
        self.environment.iter().fold(run, |run, (name, value)| run.env(name, value))
    }

    /// The command, to be started in another way.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command.args(&self.arguments).env_clear().current_dir(self.tree.path());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The file with the rings.
    pub fn ring_file(&self) -> PathBuf {
        self.tree.join("ring.xhist")
    }

    /// The ring file as it is, and how many statements each thread began.
    pub fn image(&self) -> (Vec<u8>, [u64; SECTIONS]) {
        let counts = std::array::from_fn(|section| self.begun(section));
        (std::fs::read(self.ring_file()).unwrap_or_default(), counts)
    }

    /// Neither rings nor a log, as before the first run.
    pub fn reset(&self) {
        let _ = std::fs::remove_file(self.ring_file());
        self.log.write_all_at(&[0; 64], 0).expect("a log");
    }

    /// The number that a counting program has reached.
    pub fn counted(&self) -> u64 {
        self.begun(0)
    }

    /// Its statement of this number, from 1.
    pub fn nth(&self, number: u64) -> Statement {
        // As in the program.
        let (round, step) = (number / 600, number % 600);
        let (file, line) = match step {
            0..300 => (1, 10 + step % 5),
            300..500 => (2 + round % 3, step),
            _ => (10 + step % 20, 300 * (step % 7)),
        };
        Statement { file: file as u16, line: line as u16 }
    }

    /// How many entries a thread's log has.
    fn begun(&self, section: usize) -> u64 {
        let mut word = [0; 8];
        let start = section * (SECTION_HEAD + self.entries) * 8;
        self.log.read_exact_at(&mut word, start as u64).expect("a log");
        u64::from_ne_bytes(word)
    }

    /// What is in the rings.
    pub fn recorded(&self) -> Vec<Recorded> {
        recorded(&std::fs::read(self.ring_file()).unwrap_or_default())
    }

    /// What the threads did, in the order in which they began.
    pub fn references(&self) -> Vec<Reference> {
        (0..SECTIONS).map(|section| self.reference(section)).take_while(|log| log.thread != 0).collect()
    }

    /// What one thread did.
    pub fn reference(&self, section: usize) -> Reference {
        let start = (section * (SECTION_HEAD + self.entries) * 8) as u64;
        let words = |at: u64, count: usize| {
            let mut bytes = vec![0; count * 8];
            self.log.read_exact_at(&mut bytes, at).expect("a log");
            bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect::<Vec<_>>()
        };
        let head = words(start, SECTION_HEAD);
        let entries = words(start + SECTION_HEAD as u64 * 8, head[0] as usize);
        Reference {
            thread: head[1] as u32,
            entries: entries.into_iter().filter_map(LogEntry::from_word).collect(),
        }
    }
}
