//! From an edit to the answer: what building and testing cost with the recorder, plain, and with the coverage of the
//! compiler, which is what `cargo llvm-cov` builds: `cargo bench -p xhist-tests --bench loop [-- OPTIONS]`.
//!
//! Every tool has a target directory of its own, and all take turns behind the same edit. The best turn counts.

#[path = "cost/cpu.rs"]
#[expect(dead_code, reason = "the output is for the benchmark of costs")]
mod cpu;

use std::path::{Path, PathBuf};
use std::time::Instant;

use xhist_tests::{Crate, Run, Tree, clean_up, online_cargo};

const HELP: &str = "\
cargo bench -p xhist-tests --bench loop [-- OPTIONS]

  --only NAME,...      these projects only: regex-syntax, ripgrep, mdbook
  --profile NAME       `dev` or `release` only
  --turns N            the best of N turns counts (3)";

const PROFILES: [&str; 2] = ["dev", "release"];

/// A released crate, and what is edited in it.
struct Project {
    /// Its name and version.
    package: &'static str,
    /// Which of its tests are built.
    targets: &'static str,
    /// A test that passes.
    test: &'static str,
    /// The file that is edited.
    file: &'static str,
    /// The start of a statement there, of which the first is edited.
    statement: &'static str,
}

/// A small crate of many statements, a program, and one with more than 200 dependencies.
const PROJECTS: [Project; 3] = [
    Project {
        package: "regex-syntax@0.8.11",
        targets: "--lib",
        test: "hir::literal::tests::literal",
        file: "src/hir/literal.rs",
        statement: "let mut seq = Seq::singleton(self::Literal::exact(vec![]));",
    },
    Project {
        package: "ripgrep@15.2.0",
        targets: "--bins",
        test: "flags::defs::test_threads",
        file: "crates/core/main.rs",
        statement: "let started_at = std::time::Instant::now();",
    },
    Project {
        package: "mdbook@0.4.52",
        targets: "--lib",
        test: "book::book::tests::load_a_single_chapter_from_disk",
        file: "src/book/book.rs",
        statement: "let src_dir = src_dir.as_ref();",
    },
];

impl Project {
    fn name(&self) -> &'static str {
        self.package.split('@').next().unwrap_or(self.package)
    }

    /// From the registry, as a project of its own. Cargo fetches a program that is named as a dependency, but its metadata
    /// leave it out: its place is beside that of a library.
    fn unpack(&self) -> Tree {
        let (name, version) = self.package.split_once('@').expect("a version");
        let dummy = Tree::empty("fetch");
        dummy.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\n\n[workspace]\n\n[dependencies]\n{name} = \"={version}\"\n"
            ),
        );
        dummy.write("src/lib.rs", "");
        online_cargo(dummy.path()).args("fetch --quiet").succeed();
        let library = Crate::named(PROJECTS[0].package).sources();
        let tree = Tree::copy_of(&library.with_file_name(format!("{name}-{version}")));
        tree.write("Cargo.toml", &format!("{}\n[workspace]\n", tree.read("Cargo.toml")));
        online_cargo(tree.path()).args("fetch --quiet").succeed();
        tree
    }

    /// The text of the file with another statement or constant in front, on the same line.
    fn edited(&self, text: &str, edit: Edit) -> String {
        let edited = match edit {
            Edit::Statement(number) => text.replacen(
                self.statement,
                &format!("std::hint::black_box({number}u32); {}", self.statement),
                1,
            ),
            Edit::Constant(number) => format!("{text}\n#[allow(dead_code)]\nconst LOOP: u32 = {number};\n"),
        };
        assert_ne!(edited, text, "{} has the statement", self.file);
        edited
    }
}

#[derive(Clone, Copy)]
enum Edit {
    Statement(usize),
    Constant(usize),
}

/// What builds the tests.
struct Tool {
    name: &'static str,
    /// Words behind `cargo`.
    command: &'static str,
    flags: &'static str,
}

const TOOLS: [Tool; 3] = [
    Tool { name: "plain", command: "", flags: "" },
    Tool { name: "xhist", command: "xhist", flags: "" },
    Tool { name: "coverage", command: "", flags: "-C instrument-coverage" },
];

impl Tool {
    /// `cargo test` with this tool.
    fn test(&self, tree: &Tree, target: &Path, words: &str) -> Run {
        let run = online_cargo(tree.path()).args(&format!("{} test --quiet {words}", self.command));
        let run = run.env("CARGO_TARGET_DIR", target).env("LLVM_PROFILE_FILE", target.join("%p.profraw"));
        if self.flags.is_empty() { run } else { run.env("RUSTFLAGS", self.flags) }
    }
}

/// Processor seconds and wall seconds, for each tool.
type Row = [[f64; 2]; TOOLS.len()];

struct Arguments {
    projects: Vec<&'static Project>,
    profiles: Vec<&'static str>,
    turns: usize,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut parsed =
            Arguments { projects: PROJECTS.iter().collect(), profiles: PROFILES.to_vec(), turns: 3 };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
            match word.as_str() {
                // Cargo adds this one.
                "--bench" => {}
                "--only" => {
                    let names = value()?;
                    parsed.projects.retain(|project| names.split(',').any(|name| name == project.name()));
                }
                "--profile" => {
                    let chosen = value()?;
                    parsed.profiles.retain(|name| *name == chosen);
                }
                "--turns" => parsed.turns = value()?.parse().map_err(|_| "`--turns` needs a number")?,
                _ => return Err(format!("unknown argument `{word}`")),
            }
        }
        match parsed.projects.is_empty() || parsed.profiles.is_empty() || parsed.turns == 0 {
            true => Err("nothing is left to measure".to_owned()),
            false => Ok(parsed),
        }
    }
}

fn main() {
    let arguments = Arguments::parse(std::env::args().skip(1)).unwrap_or_else(|problem| {
        eprintln!("{problem}\n\n{HELP}");
        std::process::exit(2);
    });
    let warm = Tree::program("warm", "fn main() {}\n");
    for profile in &arguments.profiles {
        // The recorder is built once for a compiler, not for a project.
        online_cargo(warm.path()).args("xhist check --quiet --profile").arg(profile).succeed();
        for project in &arguments.projects {
            measure(project, profile, arguments.turns);
        }
    }
    clean_up();
}

fn measure(project: &Project, profile: &str, turns: usize) {
    let tree = project.unpack();
    let targets: Vec<PathBuf> =
        TOOLS.iter().map(|tool| tree.join(&format!("target-{}", tool.name))).collect();
    let flag = if profile == "release" { "--release" } else { "" };
    let build = format!("--no-run {flag} {}", project.targets);
    let one = format!("{flag} {} {} -- --exact", project.targets, project.test);
    let each = |words: &str| -> Row {
        let mut row = Row::default();
        for ((tool, target), cell) in TOOLS.iter().zip(&targets).zip(&mut row) {
            let start = Instant::now();
            let used = cpu::used(tool.test(&tree, target, words));
            *cell = [used.seconds, start.elapsed().as_secs_f64()];
        }
        row
    };
    let best = |turn: &mut dyn FnMut(usize) -> Row| -> Row {
        let rows: Vec<Row> = (0..turns).map(turn).collect();
        rows.iter().fold([[f64::INFINITY; 2]; TOOLS.len()], |mut best, row| {
            let cells = best.iter_mut().flatten().zip(row.iter().flatten());
            cells.for_each(|(best, seconds)| *best = best.min(*seconds));
            best
        })
    };
    println!("\n{}, {profile}\n", project.package);
    println!("| step | plain: CPU, wall | xhist | coverage |\n|---|---|---|---|");
    print(
        "clean build",
        &best(&mut |_| {
            targets.iter().for_each(|target| drop(std::fs::remove_dir_all(target)));
            each(&build)
        }),
    );
    print("nothing changed", &best(&mut |_| each(&build)));
    let text = tree.read(project.file);
    let edited = |edit: Edit, words: &str| {
        tree.write(project.file, &project.edited(&text, edit));
        each(words)
    };
    print("one statement changed", &best(&mut |turn| edited(Edit::Statement(turn), &build)));
    print("a constant changed", &best(&mut |turn| edited(Edit::Constant(turn), &build)));
    print(
        "one statement changed, one test run",
        &best(&mut |turn| edited(Edit::Statement(turns + turn), &one)),
    );
    print("one test run", &best(&mut |_| each(&one)));
    let [plain, xhist, coverage] = [0, 1, 2].map(|tool: usize| bytes(&targets[tool]) as f64);
    println!("| disk | {:.0} MB | {:.2} | {:.2} |", plain / 1e6, xhist / plain, coverage / plain);
}

/// A row: seconds of the plain tool, and ratios of the others. Where plain takes next to nothing, what is added is seconds.
fn print(step: &str, row: &Row) {
    let [plain, others @ ..] = row;
    let cells: Vec<String> = others
        .iter()
        .map(|cell| match plain[0] < 0.2 {
            true => format!("{:+.2} s, {:+.2} s", cell[0] - plain[0], cell[1] - plain[1]),
            false => format!("{:.2}, {:.2}", cell[0] / plain[0], cell[1] / plain[1]),
        })
        .collect();
    println!("| {step} | {:.2} s, {:.2} s | {} |", plain[0], plain[1], cells.join(" | "));
}

/// What a directory takes on the disk. A file with several names counts once, and one that has a name elsewhere does not
/// count: the wrapper of `cargo xhist` is a link to the tool.
fn bytes(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = walkdir::WalkDir::new(directory).into_iter().flatten();
    let metas = entries.filter_map(|entry| entry.metadata().ok());
    let mut files = std::collections::BTreeMap::<u64, (u64, u64)>::new();
    let mut total = 0;
    for meta in metas {
        if meta.is_dir() {
            total += meta.blocks() * 512;
            continue;
        }
        let (names_elsewhere, size) = files.entry(meta.ino()).or_insert((meta.nlink(), meta.blocks() * 512));
        *names_elsewhere -= 1;
        if *names_elsewhere == 0 {
            total += *size;
        }
    }
    total
}
