//! What instrumented code grows by: source, time to compile and binary, of the unit tests of three crates, as ratios
//! in one run: `cargo bench -p xhist-tests --bench growth`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use object::{Object as _, ObjectSection as _, SectionKind};
use walkdir::WalkDir;
use xhist_tests::{Crate, Run, Tree, clean_up, instrument, online_cargo};

const CRATES: [&str; 3] = ["heapless@0.9.3", "num-bigint@0.5.1", "smallvec@1.16.5"];

/// Rounds, the best of which counts.
const ROUNDS: usize = 3;

/// What is compared, of a crate as it is or under xhist.
struct Sizes {
    source: f64,
    /// Seconds; dependencies and recorder are there already.
    compile: f64,
    binary: f64,
    /// Machine code in it, without debug information.
    code: f64,
}

fn main() {
    println!("times what it is without xhist (which is)");
    println!(
        "{:<26} {:>18} {:>18} {:>18} {:>18}",
        "unit tests of", "source", "compile time", "binary", "code"
    );
    for name in CRATES {
        let (tree, _) = Crate::named(name).unpack();
        for profile in ["", "--release"] {
            let [plain, ours] = measure(&tree, profile);
            let column = |ours: f64, plain: f64, unit: f64, name: &str| {
                format!("{:>6.2} {:>11}", ours / plain, format!("({:.1} {name})", plain / unit))
            };
            println!(
                "{:<26} {} {} {} {}",
                format!("{name} {profile}"),
                column(ours.source, plain.source, 1e3, "kB"),
                column(ours.compile, plain.compile, 1.0, "s"),
                column(ours.binary, plain.binary, 1e6, "MB"),
                column(ours.code, plain.code, 1e3, "kB"),
            );
        }
    }
    clean_up();
}

fn measure(tree: &Tree, profile: &str) -> [Sizes; 2] {
    let instrumented = Tree::empty("instrumented");
    instrument(tree.path()).args("src --out-dir").arg(instrumented.path()).succeed();
    let sources = [tree.join("src"), instrumented.path().to_owned()];
    // The first build has everything to do; from then on, only the crate, and that whole.
    let builds =
        ["test", "xhist test"].map(|command| format!("{command} --locked --lib --no-run --quiet {profile}"));
    let binaries = builds.each_ref().map(|build| executable(cargo(tree).args(build)));
    let mut compile = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (build, best) in builds.iter().zip(&mut compile) {
            let root =
                File::options().append(true).open(tree.join("src/lib.rs")).expect("the root of the crate");
            root.set_modified(SystemTime::now()).expect("a new time");
            let start = Instant::now();
            cargo(tree).args(build).wait();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    [0, 1].map(|index| Sizes {
        source: source_bytes(&sources[index]),
        compile: compile[index],
        binary: fs::metadata(&binaries[index]).expect("a binary").len() as f64,
        code: code_bytes(&binaries[index]),
    })
}

fn cargo(tree: &Tree) -> Run {
    online_cargo(tree.path()).env("CARGO_INCREMENTAL", "0")
}

/// The test binary that a build makes.
fn executable(build: Run) -> PathBuf {
    let done = build.arg("--message-format=json").succeed();
    let messages =
        done.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut made = messages.filter_map(|message| Some(message.get("executable")?.as_str()?.to_owned()));
    made.next_back().expect("a test binary").into()
}

fn source_bytes(dir: &Path) -> f64 {
    let files = WalkDir::new(dir).into_iter().flatten();
    let sources = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "rs"));
    sources.map(|file| file.metadata().expect("a file").len() as f64).sum()
}

fn code_bytes(binary: &Path) -> f64 {
    let data = fs::read(binary).expect("a binary");
    let object = object::File::parse(&*data).expect("an object file");
    let code = object.sections().filter(|section| section.kind() == SectionKind::Text);
    code.map(|section| section.size() as f64).sum()
}
