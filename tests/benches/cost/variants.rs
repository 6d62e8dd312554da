//! The variants: ways to build and run the programs. One binary has all programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xhist_tests::{Run, Tree, online_cargo, repository, with_cache};

use crate::arguments::Arguments;
use crate::cpu::used;
use crate::programs::PROGRAMS;

/// How a binary is built.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Plain,
    Coverage,
    /// Instrumented by the tool of [`THEN`], with `store.rs` in place of the recorder.
    Store,
    /// The tool and the recorder of [`THEN`].
    Then,
    /// The tool and the recorder of this tree.
    Now,
    /// The same at function level.
    Function,
    /// As [`Way::Now`], without async tasks.
    NoTasks,
    /// Only the programs are recorded, not their dependencies.
    Own,
    /// The same without async tasks.
    OwnNoTasks,
    /// As [`Way::Now`], and the value of every binding.
    Values,
    /// The same, but only the first eight bytes of each.
    EightBytes,
    /// As [`Way::Now`], with a trigger that nothing reaches.
    StartAt,
}

/// A column of the tables.
pub struct Column {
    pub name: &'static str,
    pub about: &'static str,
    way: Way,
    env: Option<(&'static str, &'static str)>,
}

const fn column(name: &'static str, way: Way, about: &'static str) -> Column {
    Column { name, about, way, env: None }
}

pub const COLUMNS: [Column; 13] = [
    column("plain", Way::Plain, "cargo build"),
    Column {
        env: Some(("LLVM_PROFILE_FILE", "/dev/null")),
        ..column("coverage", Way::Coverage, "-C instrument-coverage")
    },
    column("store", Way::Store, "a volatile store of 4 bytes at each statement"),
    column(THEN, Way::Then, "cargo xhist build --deps all of that commit"),
    column(NOW, Way::Now, "cargo xhist build --deps all of this tree"),
    column("function", Way::Function, "the same with --detail function"),
    column("no-tasks", Way::NoTasks, "`now` with --tasks off"),
    column("own", Way::Own, "cargo xhist build: no dependencies"),
    column("own-no-tasks", Way::OwnNoTasks, "the same with --tasks off"),
    column("values", Way::Values, "`now` with --values **"),
    column("values-8", Way::EightBytes, "the same with --value-bytes 8"),
    Column { env: Some(("XHIST", "off")), ..column(OFF, Way::Now, "`now` run with XHIST=off") },
    Column {
        env: Some(("XHIST", "wait")),
        ..column(BEFORE, Way::StartAt, "`now` built with --start-at, which is not reached")
    },
];

/// The commit whose recorder today's is compared with.
pub const THEN: &str = "410ce89";
pub const NOW: &str = "now";
const OFF: &str = "off";
const BEFORE: &str = "before";

/// Optimised as far as its own speed matters: what it makes does not depend on this.
const THEN_PROFILE: &str = "--config profile.release.debug=false --config profile.release.opt-level=1";

/// The line at which `--start-at` would start recording.
const START: &str = "black_box(\"recording starts here\")";

/// A binary, and what making it took.
pub struct Build {
    program: PathBuf,
    /// Seconds of a clean build; `None` for one that shares most of another one.
    pub seconds: Option<f64>,
    pub bytes: u64,
    /// Seconds of a run without rounds, which is the same for all ways to run it.
    start: f64,
}

/// A column in one profile.
pub struct Variant {
    pub column: &'static Column,
    pub build: Arc<Build>,
}

impl Variant {
    pub fn name(&self) -> &'static str {
        self.column.name
    }

    /// Also measured with two threads.
    pub fn scales(&self) -> bool {
        matches!(self.column.way, Way::Plain | Way::Then) || self.keeps_ring()
    }

    /// Whether this tree's recorder records every statement.
    pub fn keeps_ring(&self) -> bool {
        self.column.way == Way::Now && self.column.env.is_none()
    }

    /// Whether a recorder leaves a ring: of every statement, or of entries.
    pub fn has_ring(&self) -> bool {
        matches!(self.column.way, Way::Then | Way::Function) || self.keeps_ring()
    }

    /// The binary, and the directory that it runs in.
    pub fn program(&self) -> (&Path, &Path) {
        (&self.build.program, self.build.program.parent().expect("a directory"))
    }

    pub fn with_env(&self, run: Run) -> Run {
        self.column.env.into_iter().fold(run, |run, (name, value)| run.env(name, value))
    }

    pub fn run(&self, program: &str, rounds: u32, threads: u32) -> Run {
        let (path, directory) = self.program();
        self.with_env(Run::new(path, directory)).args(&format!("{program} {rounds} {threads}"))
    }

    /// Processor time of `rounds` rounds: of a run, less what starting and ending the process takes.
    pub fn seconds(&self, program: &str, rounds: u32, threads: u32) -> f64 {
        used(self.run(program, rounds, threads)).seconds - self.build.start
    }
}

/// Builds variants.
pub struct Builder {
    /// A copy of the programs' sources for each way: what `cargo xhist` makes lies beside them.
    trees: BTreeMap<Way, Tree>,
    /// The tool of [`THEN`].
    then: Result<PathBuf, String>,
    has_functions: bool,
    /// The programs that need a crate, as features of the sources.
    features: String,
    substitute: Tree,
    problems: Vec<String>,
}

impl Builder {
    pub fn new(arguments: &Arguments) -> Builder {
        let is_wanted = |column: &&Column| is_wanted(column, &arguments.columns);
        let fixture = repository().join("tests/fixtures/cost");
        let wanted: Vec<Way> = COLUMNS.iter().filter(is_wanted).map(|column| column.way).collect();
        let mut trees = BTreeMap::new();
        for way in wanted.iter().map(|way| if *way == Way::StartAt { Way::Now } else { *way }) {
            trees.entry(way).or_insert_with(|| Tree::copy_of(&fixture));
        }
        online_cargo(trees[&Way::Plain].path()).args("fetch --locked --quiet").succeed();
        let then = match wanted.contains(&Way::Then) || wanted.contains(&Way::Store) {
            true => tool_of_then(),
            false => Err(String::new()),
        };
        let help = online_cargo(trees[&Way::Plain].path()).args("xhist --help").succeed().stdout;
        let mut problems = Vec::new();
        if let Err(problem) = &then
            && !problem.is_empty()
        {
            problems.push(format!("the columns {THEN} and store: {problem}"));
        }
        let has_functions = help.contains("--detail");
        if wanted.contains(&Way::Function) && !has_functions {
            problems.push("the column function: this tree's cargo xhist has no option --detail".into());
        }
        let substitute = Tree::empty("store");
        let real = PROGRAMS.iter().filter(|program| program.is_real && arguments.has(program.name));
        let features = real.map(|program| program.name).collect::<Vec<_>>().join(",");
        Builder { trees, then, has_functions, features, substitute, problems }
    }

    /// What was left out, and why.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The chosen columns in this profile, plain first.
    pub fn variants(&self, profile: &str, chosen: &[String]) -> Vec<Variant> {
        let mut builds: BTreeMap<Way, Option<Arc<Build>>> = BTreeMap::new();
        let mut variants = Vec::new();
        for column in COLUMNS.iter().filter(|column| is_wanted(column, chosen)) {
            let build =
                builds.entry(column.way).or_insert_with(|| self.build(column.way, profile).map(Arc::new));
            variants.extend(build.clone().map(|build| Variant { column, build }));
        }
        variants
    }

    /// Builds everything from scratch; `None` when this machine cannot.
    fn build(&self, way: Way, profile: &str) -> Option<Build> {
        let tree = &self.trees[&if way == Way::StartAt { Way::Now } else { way }];
        let xhist = "xhist build --deps all";
        let then = |directory: &Path| with_cache(Run::new(self.then.as_ref().expect("a tool"), directory));
        let command: Box<dyn Fn(&Path) -> Run> = match way {
            Way::Plain => Box::new(|directory| online_cargo(directory).args("build")),
            Way::Coverage => Box::new(|directory| {
                online_cargo(directory).env("RUSTFLAGS", "-C instrument-coverage").args("build")
            }),
            Way::Store | Way::Then if self.then.is_err() => return None,
            Way::Store => {
                let compiler = self.compiler_with_store();
                Box::new(move |directory| then(directory).env("RUSTC", &compiler).args(xhist))
            }
            Way::Then => Box::new(|directory| then(directory).args(xhist)),
            Way::Now => Box::new(|directory| online_cargo(directory).args(xhist)),
            Way::Function if !self.has_functions => return None,
            Way::Function => {
                Box::new(|directory| online_cargo(directory).args(xhist).args("--detail function"))
            }
            Way::NoTasks => Box::new(|directory| online_cargo(directory).args(xhist).args("--tasks off")),
            Way::Own => Box::new(|directory| online_cargo(directory).args("xhist build")),
            Way::OwnNoTasks => Box::new(|directory| online_cargo(directory).args("xhist build --tasks off")),
            Way::Values => Box::new(|directory| online_cargo(directory).args(xhist).args("--values **")),
            Way::EightBytes => {
                Box::new(|directory| online_cargo(directory).args(xhist).args("--values ** --value-bytes 8"))
            }
            Way::StartAt => {
                let main = tree.read("src/main.rs");
                let line = main.lines().position(|line| line.contains(START)).expect("the line") + 1;
                let trigger = format!("--start-at src/main.rs:{line}");
                Box::new(move |directory| online_cargo(directory).args(xhist).args(&trigger))
            }
        };
        if way != Way::StartAt {
            warm_up(&*command);
        }
        let is_release = profile == "release";
        eprintln!("building {profile}: {}", about(way));
        let run = command(tree.path())
            .args("--locked --quiet --message-format=json --features")
            .arg(&self.features)
            .env("CARGO_INCREMENTAL", "0");
        let used = used(if is_release { run.arg("--release") } else { run });
        let messages = used.stdout.lines().filter_map(|line| serde_json::from_str(line).ok());
        let mut made = messages
            .filter_map(|message: serde_json::Value| Some(message.get("executable")?.as_str()?.to_owned()));
        let made = PathBuf::from(made.next_back().expect("a program"));
        // Another variant may be built in the same place.
        let place = Tree::empty("program").join("cost");
        std::fs::copy(&made, &place).expect("a copy");
        let bytes = std::fs::metadata(&place).expect("a program").len();
        let run = || Run::new(&place, place.parent().expect("a directory")).args("mix 0");
        let start = (0..5).map(|_| crate::cpu::used(run()).seconds).fold(f64::INFINITY, f64::min);
        let seconds = (way != Way::StartAt).then_some(used.seconds);
        Some(Build { program: place, seconds, bytes, start })
    }

    /// A compiler that takes `store.rs` for the recorder.
    fn compiler_with_store(&self) -> PathBuf {
        let library = self.substitute.join("libxhist_rt.rlib");
        Run::new("rustc", self.substitute.path())
            .args("--crate-name xhist_rt --crate-type rlib --edition 2024 -O -o")
            .arg(&library)
            .arg(self.trees[&Way::Store].join("store.rs"))
            .succeed();
        let directory = self.substitute.path().display();
        let script = format!(
            "#!/bin/sh\nfor arg; do shift\ncase $arg in xhist_rt=*) arg='xhist_rt={}' ;; esac\nset -- \"$@\" \"$arg\"; done\nexec rustc \"$@\" -L 'dependency={directory}'\n",
            library.display()
        );
        self.substitute.write("compiler", &script);
        let compiler = self.substitute.join("compiler");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&compiler, executable).expect("permissions");
        compiler
    }
}

fn about(way: Way) -> &'static str {
    COLUMNS.iter().find(|column| column.way == way).map_or("", |column| column.about)
}

fn is_wanted(column: &Column, chosen: &[String]) -> bool {
    let special = [Way::NoTasks, Way::Own, Way::OwnNoTasks, Way::Values, Way::EightBytes];
    let is_for_all = !special.contains(&column.way);
    column.way == Way::Plain
        || chosen.is_empty() && is_for_all
        || chosen.iter().any(|name| name == column.name)
}

/// Builds an empty program, so that the recorder is there: it is built once for a user.
fn warm_up(command: &dyn Fn(&Path) -> Run) {
    let tree = Tree::empty("empty");
    tree.write(
        "Cargo.toml",
        "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n",
    );
    tree.write("src/main.rs", "fn main() {}\n");
    command(tree.path()).arg("--quiet").succeed();
}

/// Builds `cargo-xhist` of [`THEN`] from what git has of it; in the build directory, because that takes minutes.
fn tool_of_then() -> Result<PathBuf, String> {
    let sources = repository().join("target/cost").join(THEN);
    let tool = sources.join("target/release/cargo-xhist");
    if tool.is_file() {
        return Ok(tool);
    }
    let git = |args: &str| Run::new("git", repository()).args(args);
    if git(&format!("cat-file -e {THEN}^{{commit}}")).done().code() != 0 {
        let why = "is not in this clone (a shallow one has the newest commits only: git fetch --unshallow)";
        return Err(format!("commit {THEN} {why}"));
    }
    std::fs::create_dir_all(&sources).map_err(|error| format!("{}: {error}", sources.display()))?;
    let archive = sources.join("sources.tar");
    git(&format!("archive {THEN} -o")).arg(&archive).succeed();
    Run::new("tar", &sources).args("xf sources.tar").succeed();
    let build = "build --locked --quiet --release -p xhist-instrument --bin cargo-xhist";
    online_cargo(&sources).args(build).args(THEN_PROFILE).succeed();
    Ok(tool)
}
