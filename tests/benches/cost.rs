//! What recording costs, and how far back it reaches: three dense kernels and three crates, beside what else could be
//! done at each statement, as ratios in one run: `cargo bench -p xhist-tests --bench cost [-- PROGRAM…]`.
//!
//! Instructions are counted where valgrind is installed.

use std::path::{Path, PathBuf};

use qs_core::ring::{Header, Item, Reader, find};
use xhist_tests::{Crate, Run, Tree, clean_up, instrument, online_cargo, repository};

/// Programs, and rounds that take about as long as each other.
const PROGRAMS: [(&str, u32); 6] = [
    ("mix", 40_000),
    ("sort", 20_000),
    ("scan", 100_000),
    ("httparse", 100_000),
    ("num-bigint", 3_000),
    ("petgraph", 1_500),
];
const KERNELS: usize = 3;

/// A loop that waits, for how far back the ring reaches.
const WAIT: (&str, u32) = ("wait", 100);

const CRATES: [&str; 3] = ["httparse", "num-bigint", "petgraph"];

/// The best of so many rounds counts; all take turns, so that a slow moment hits all.
const TURNS: usize = 7;

/// A way to build and run the programs.
struct Variant {
    name: &'static str,
    program: PathBuf,
    env: (&'static str, &'static str),
}

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let variants = variants();
    let [plain, packed, .., counter] = &variants[..] else { unreachable!("a list") };
    println!("a statement adds, in nanoseconds (instructions); times as long as plain\n");
    print!("{:<12} {:>10}", "program", "plain ns");
    variants[1..].iter().for_each(|variant| print!(" {:>22}", variant.name));
    println!("   two threads");
    for (index, (program, rounds)) in PROGRAMS.into_iter().enumerate() {
        if !chosen.is_empty() && !chosen.iter().any(|name| name == program) {
            continue;
        }
        if index == KERNELS {
            println!();
        }
        let statements = statements(counter, program, rounds);
        let mut best = vec![f64::INFINITY; variants.len()];
        let mut pair = [f64::INFINITY; 2];
        for _ in 0..TURNS {
            for (variant, best) in variants.iter().zip(&mut best) {
                *best = best.min(variant.time(program, rounds, 1));
            }
            for (variant, best) in [plain, packed].into_iter().zip(&mut pair) {
                *best = best.min(variant.time(program, rounds, 2));
            }
        }
        let few = rounds / 100 + 1;
        let counts: Vec<Option<f64>> =
            variants.iter().map(|variant| variant.instructions(program, few)).collect();
        let per_round = statements / f64::from(rounds);
        print!("{program:<12} {:>10.2}", best[0] / statements);
        for (variant, best_of) in best.iter().enumerate().skip(1) {
            let added = (best_of - best[0]) / statements;
            let instructions = match (counts[0], counts[variant]) {
                (Some(plain), Some(count)) => format!("({:.1})", (count - plain) / per_round),
                _ => String::new(),
            };
            print!(" {added:>7.2} {instructions:>7} {:>5.2}x", best_of / best[0]);
        }
        println!("   {:.2}x, plain {:.2}x", pair[1] / best[1], pair[0] / best[0]);
    }
    println!("\nstatements that a KiB of ring holds\n");
    println!("{:<12} {:>12} {:>16}", "program", "packed", "a frame each");
    for (program, rounds) in PROGRAMS.into_iter().chain([WAIT]) {
        let [packed_depth, single_depth] =
            ["packed", "single"].map(|frames| depth(packed, program, rounds, frames));
        println!("{program:<12} {packed_depth:>12.0} {single_depth:>16.0}");
    }
    clean_up();
}

/// Every way; the first is the program as it is, the last a counter.
fn variants() -> Vec<Variant> {
    let fixture = repository().join("tests/fixtures/cost");
    let sources: Vec<(&str, Tree)> = CRATES.map(|name| (name, Crate::named(name).unpack().0)).into();
    let as_it_is = Tree::copy_of(&fixture);
    as_it_is.write("Cargo.toml", &patched(&as_it_is.read("Cargo.toml"), &sources));
    let build = |tree: &Tree, name: &str, flags: &str| {
        let target = tree.join(name);
        let cargo = online_cargo(tree.path()).args("build --release --quiet").env("RUSTFLAGS", flags);
        cargo.env("CARGO_TARGET_DIR", &target).succeed();
        target.join("release/cost")
    };
    let no_env = ("XHIST_TEST", "");
    let plain = build(&as_it_is, "plain", "");
    let coverage = build(&as_it_is, "coverage", "-C instrument-coverage");

    let instrumented = Tree::copy_of(&fixture);
    instrumented.write("Cargo.toml", &as_it_is.read("Cargo.toml"));
    let mut paths = instrument(instrumented.path()).args("src --map xhist.map");
    for (_, tree) in &sources {
        paths = paths.arg(tree.join("src"));
    }
    paths.succeed();
    let manifests: Vec<(&Tree, String)> = sources
        .iter()
        .map(|(_, tree)| tree)
        .chain([&instrumented])
        .map(|tree| (tree, tree.read("Cargo.toml")))
        .collect();
    let with = |recorder: &Path, name: &str, features: &str| {
        for (tree, manifest) in &manifests {
            let recorder =
                format!("\n[dependencies.xhist-rt]\npath = {recorder:?}\nfeatures = [{features}]\n");
            tree.write("Cargo.toml", &format!("{manifest}{recorder}"));
        }
        let _ = std::fs::remove_file(instrumented.join("Cargo.lock"));
        build(&instrumented, name, "")
    };
    let recorder = with(&repository().join("xhist-rt"), "recorder", "\"std\", \"trace\"");
    let stand_in = |name: &str| with(&fixture.join("recorders").join(name), name, "");
    vec![
        Variant { name: "plain", program: plain, env: no_env },
        Variant { name: "packed", program: recorder.clone(), env: no_env },
        Variant { name: "single", program: recorder, env: ("XHIST_FRAMES", "single") },
        Variant { name: "coverage", program: coverage, env: ("LLVM_PROFILE_FILE", "/dev/null") },
        Variant { name: "tracing event", program: stand_in("event"), env: no_env },
        Variant { name: "store of 4 bytes", program: stand_in("store"), env: no_env },
        Variant { name: "counter", program: stand_in("counter"), env: no_env },
    ]
}

/// The manifest with these crates in place of those of the registry.
fn patched(manifest: &str, sources: &[(&str, Tree)]) -> String {
    let patch = sources.iter().map(|(name, tree)| format!("{name} = {{ path = {:?} }}\n", tree.path()));
    format!("{manifest}\n[patch.crates-io]\n{}", patch.collect::<String>())
}

impl Variant {
    fn run(&self, program: &str, rounds: u32, threads: u32) -> Run {
        let run = Run::new(&self.program, self.program.parent().expect("a directory"));
        let run = if self.env.1.is_empty() { run } else { run.env(self.env.0, self.env.1) };
        run.args(&format!("{program} {rounds} {threads}"))
    }

    /// Nanoseconds that the work takes.
    fn time(&self, program: &str, rounds: u32, threads: u32) -> f64 {
        let done = self.run(program, rounds, threads).succeed();
        done.stdout.trim().parse().expect("nanoseconds")
    }

    /// Instructions that a round takes; `None` without valgrind.
    fn instructions(&self, program: &str, rounds: u32) -> Option<f64> {
        let count = |rounds: u32| {
            let run = Run::new("valgrind", self.program.parent()?)
                .args("--tool=callgrind --callgrind-out-file=/dev/null")
                .arg(&self.program)
                .args(&format!("{program} {rounds}"));
            let run = if self.env.1.is_empty() { run } else { run.env(self.env.0, self.env.1) };
            let told = run.done().stderr;
            told.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<f64>().ok())
        };
        is_installed("valgrind").then_some(())?;
        Some((count(rounds + 10)? - count(10)?) / f64::from(rounds))
    }
}

fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// Statements that so many rounds execute.
fn statements(counter: &Variant, program: &str, rounds: u32) -> f64 {
    let count = |rounds| -> f64 {
        let done = counter.run(program, rounds, 1).env("COST_COUNT", "1").succeed();
        done.stderr.trim().parse().expect("a number of statements")
    };
    (count(11) - count(1)) / 10.0 * f64::from(rounds)
}

/// Statements in a KiB of a ring that was filled.
fn depth(recorded: &Variant, program: &str, rounds: u32, frames: &str) -> f64 {
    let tree = Tree::empty("ring");
    let file = tree.join("ring.xhist");
    recorded.run(program, rounds, 1).env("XHIST_FRAMES", frames).env("XHIST_FILE", &file).succeed();
    let image = std::fs::read(file).expect("a ring file");
    let found = find(&image).find_map(|found| Some((found.offset, found.header.ok()?)));
    let (offset, header): (usize, Header) = found.expect("a ring");
    let mut reader = Reader::new(header, &image[offset..]);
    let mut statements = 0u64;
    while let Some(item) = reader.next() {
        match item {
            Item::Statement(..) => statements += 1,
            Item::Again(again) => statements += again.statements as u64 * again.times,
            _ => {}
        }
    }
    let bytes = header.state.head().min(header.size as u64) as f64;
    statements as f64 / (bytes / 1024.0)
}
