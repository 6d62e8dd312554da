//! What rewriting sources costs, beside parsing them and beside rustfmt, as ratios in one run:
//! `cargo bench -p xhist-tests --bench rewrite` for the largest tree of the corpus, `-- DIR` for other sources
//! (an absolute path, or one below this repository).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use cargo_metadata::{MetadataCommand, TargetKind};
use walkdir::WalkDir;
use xhist_instrument::{Numbers, Options, analyze, ids_needed, in_parallel, instrument};
use xhist_tests::{Crate, Need, Run, Tree, clean_up, repository};

/// The largest tree of the corpus.
const LARGEST: &str = "petgraph@0.8.3";

/// Rounds, the best of which counts. All take turns, so that a slow moment hits all.
const ROUNDS: usize = 9;

/// Trees side by side, to see what memory does.
const COPIES: usize = 4;

/// Looks at the memory of a process.
const LOOKS: usize = 3;

/// Stack for bare parsing of nested text.
const STACK: usize = 1 << 30;

/// Sources that rustfmt, the parser and the rewriter all read whole.
struct Sources {
    /// These and nothing else.
    tree: Tree,
    texts: Vec<String>,
    /// What rustfmt starts from.
    roots: Vec<PathBuf>,
    edition: String,
    /// How much rustfmt reads: a module of two roots is read twice.
    formatted: usize,
}

fn main() -> ExitCode {
    let given = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let dir = match &given {
        Some(dir) => repository().join(dir).canonicalize().map_err(|error| format!("{dir}: {error}")),
        None => match Need::Registry.missing() {
            Some(missing) => Err(format!("{missing}; or name a directory of sources: -- DIR")),
            None => Ok(Crate::named(LARGEST).unpack().0.path().to_owned()),
        },
    };
    match dir {
        Ok(dir) => {
            println!("{}", given.as_deref().unwrap_or(LARGEST));
            compare(&Sources::below(&dir));
            clean_up();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn compare(sources: &Sources) {
    sources.speed();
    sources.memory();
    nesting("50,000 terms in an expression", &format!("fn f() {{ x{}; }}", " + x".repeat(50_000)));
    nesting("60,000 statements on a line", &format!("fn f() {{ {} }}", "x();".repeat(60_000)));
}

impl Sources {
    /// Everything that rustfmt reaches from the roots of the package at `dir`, or from each file if it is not a package.
    fn below(dir: &Path) -> Sources {
        let (roots, edition) = roots(dir);
        let verbose = rustfmt(dir, &roots, &edition).arg("--verbose").done();
        let read = verbose.stdout.lines().filter_map(|line| line.strip_prefix("Formatting "));
        let read: Vec<&Path> = read.filter_map(|path| Path::new(path).strip_prefix(dir).ok()).collect();
        verbose.check(!read.is_empty(), "rustfmt reads sources");
        let tree = Tree::empty("sources");
        let text = |path: &Path| std::fs::read_to_string(dir.join(path)).unwrap_or_default();
        let mut texts = Vec::new();
        for path in read.iter().collect::<BTreeSet<_>>() {
            texts.push(text(path));
            tree.write(&path.to_string_lossy(), &text(path));
        }
        let all = texts.len();
        texts.retain(|text| rewrite(text).is_ok());
        if texts.len() < all {
            println!(
                "{} of {all} files cannot be rewritten and count for the commands only",
                all - texts.len()
            );
        }
        let formatted = read.iter().map(|path| text(path).len()).sum();
        Sources { tree, texts, roots, edition, formatted }
    }

    fn speed(&self) {
        let all = all_threads();
        let parse_all = || in_parallel(|| seconds(|| self.texts.iter().for_each(|text| parse(text))));
        let rewrite_all = || {
            in_parallel(|| {
                seconds(|| self.texts.iter().for_each(|text| rewrite(text).expect("rewritten before")))
            })
        };
        let check = |threads: usize| seconds(|| self.check(&self.tree, threads).wait());
        let format = || seconds(|| rustfmt(self.tree.path(), &self.roots, &self.edition).wait());
        let mut best = [f64::INFINITY; 5];
        for _ in 0..ROUNDS {
            let round = [parse_all(), rewrite_all(), check(1), check(all), format()];
            for (best, time) in best.iter_mut().zip(round) {
                *best = best.min(time);
            }
        }
        let lines: usize = self.texts.iter().map(|text| text.lines().count()).sum();
        let bytes: usize = self.texts.iter().map(String::len).sum();
        println!("{} files, {lines} lines, {bytes} bytes; best of {ROUNDS} rounds", self.texts.len());
        println!("{:<38} {:>8} {:>8} {:>20}", "", "ms", "MB/s", "times bare parsing");
        let rows = [
            ("bare syn::parse_file, in memory", bytes),
            ("rewriting, in memory, one thread", bytes),
            ("xhist-instrument --check, one thread", bytes),
            ("xhist-instrument --check, all threads", bytes),
            ("rustfmt --check", self.formatted),
        ];
        // By what each reads.
        let rates: Vec<f64> = rows.iter().zip(best).map(|((_, bytes), time)| *bytes as f64 / time).collect();
        for (((what, _), time), rate) in rows.iter().zip(best).zip(&rates) {
            println!("{what:<38} {:>8.1} {:>8.1} {:>20.2}", time * 1e3, rate / 1e6, rates[0] / rate);
        }
        println!("one thread is {:.2} times as fast as rustfmt --check", rates[2] / rates[4]);
        println!("{all} threads are {:.2} times as fast as one", rates[3] / rates[2]);
    }

    /// Memory must follow the largest file, not the number of files.
    fn memory(&self) {
        if !Path::new("/proc/self/status").exists() {
            println!("peak memory: unknown without /proc");
            return;
        }
        let copies = Tree::empty("copies");
        for file in files(self.tree.path()) {
            let text = std::fs::read_to_string(&file).expect("a source");
            let below = file.strip_prefix(self.tree.path()).expect("below it").display();
            for copy in 0..COPIES {
                copies.write(&format!("{copy}/{below}"), &text);
            }
        }
        for threads in [1, all_threads()] {
            let [once, many] = [&self.tree, &copies].map(|tree| self.peak(tree, threads));
            println!(
                "peak memory with RAYON_NUM_THREADS={threads}: {:.1} MB, {:.2} times that for {COPIES} such trees",
                once / 1e3,
                many / once
            );
        }
    }

    /// Kilobytes that `--check` holds at most. The kernel forgets it when the process ends, so it is looked at all
    /// the time, and the most of several looks counts.
    fn peak(&self, tree: &Tree, threads: usize) -> f64 {
        let peak = |_| {
            let started = self.check(tree, threads).start();
            let status = format!("/proc/{}/status", started.pid());
            let now = || {
                let text = std::fs::read_to_string(&status).ok()?;
                let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
                peak.trim().strip_suffix(" kB")?.parse().ok()
            };
            let peak = std::iter::from_fn(now).last();
            started.done();
            peak.unwrap_or(f64::NAN)
        };
        (0..LOOKS).map(peak).fold(f64::NAN, f64::max)
    }

    fn check(&self, tree: &Tree, threads: usize) -> Run {
        let check = xhist_tests::instrument(tree.path()).args("--check . --edition").arg(&self.edition);
        check.env("RAYON_NUM_THREADS", threads.to_string())
    }
}

/// Text that recursion or search may stumble over.
fn nesting(what: &str, text: &str) {
    // The parser does not look after its stack.
    let parser = || std::thread::Builder::new().stack_size(STACK);
    let bare = best_of_rounds(|| {
        std::thread::scope(|scope| {
            let parsing = parser().spawn_scoped(scope, || seconds(|| parse(text)));
            parsing.expect("a thread").join().expect("it parses")
        })
    });
    let ours =
        best_of_rounds(|| seconds(|| rewrite(text).unwrap_or_else(|refusal| panic!("{what}: {refusal}"))));
    println!("{what}: {:.0} ms, {:.2} times bare parsing", ours * 1e3, ours / bare);
}

/// What the rewriter does in any case, in the same way.
fn parse(text: &str) {
    drop(syn::parse_file(text));
    proc_macro2::extra::invalidate_current_thread_spans();
}

/// Finds, inserts and proves.
fn rewrite(text: &str) -> Result<(), String> {
    let options = Options::default();
    let analysis = analyze(text.as_bytes(), &options).map_err(|refusal| refusal.to_string())?;
    let numbers = Numbers { ids: vec![1; ids_needed(analysis.lines)], first: 1, values: 1 };
    let result = instrument(text.as_bytes(), &analysis, &numbers, &options);
    result.map(drop).map_err(|refusal| refusal.to_string())
}

fn rustfmt(dir: &Path, roots: &[PathBuf], edition: &str) -> Run {
    let run = Run::new("rustfmt", dir).args("--check --edition").arg(edition);
    roots.iter().fold(run, |run, root| run.arg(root))
}

/// The roots of a package's crates, below its directory, and their edition.
fn roots(dir: &Path) -> (Vec<PathBuf>, String) {
    let manifest = dir.join("Cargo.toml");
    let (mut roots, mut edition) = (Vec::new(), "2021".to_owned());
    if manifest.is_file() {
        let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("metadata");
        for target in metadata.packages.iter().flat_map(|package| &package.targets) {
            if !target.kind.contains(&TargetKind::CustomBuild) {
                roots.push(target.src_path.clone().into_std_path_buf());
                edition = target.edition.to_string();
            }
        }
    } else {
        roots.extend(files(dir));
    }
    (roots.iter().filter_map(|root| Some(root.strip_prefix(dir).ok()?.to_owned())).collect(), edition)
}

fn files(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let files = WalkDir::new(dir).sort_by_file_name().into_iter().flatten().map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
}

fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn best_of_rounds(measure: impl Fn() -> f64) -> f64 {
    (0..ROUNDS).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed().as_secs_f64()
}
