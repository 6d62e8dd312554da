//! Is the recorder built once for each user and compiler, whatever happens to its cache?

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::Signal;
use xhist_tests::{Case, Done, Run, Tree, cargo, repository};

pub const CASES: &[Case] = &[
    Case::new("two_projects_that_start_at_once_share_one", shared),
    Case::new("a_damaged_one_is_built_again_and_a_read_only_one_is_used", damaged),
    Case::new("a_killed_build_leaves_nothing_half", killed),
    Case::new("it_is_the_same_however_its_target_is_named", named),
    Case::new("without_a_cache_it_lies_in_the_project", no_cache),
];

const LINE: &str = "xhist: building the recorder, once for this compiler, into ";

fn project(name: &str) -> Tree {
    let tree = Tree::package(name);
    tree.write("src/main.rs", "fn main() {\n    println!(\"runs\");\n}\n");
    tree
}

/// Without optimisation a recorder is built in half the time; its cache is the same.
fn run(project: &Tree, cache: &Path) -> Run {
    let cargo = cargo(project.path()).args("xhist run").env("XHIST_CACHE", cache);
    cargo.env("CARGO_PROFILE_RECORDER_OPT_LEVEL", "0")
}

/// Lines about builds of the recorder.
fn builds(done: &Done) -> usize {
    done.check(done.stdout == "runs\n", "the program runs");
    done.stderr.lines().filter(|line| line.starts_with(LINE)).count()
}

/// Recorders in a cache.
fn kept(cache: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cache).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"recorder-"))
    };
    entries.filter(is_one).collect()
}

/// The library of the recorder in it.
fn library(recorder: &Path) -> PathBuf {
    let files = |directory: PathBuf| {
        let entries = std::fs::read_dir(directory).expect("a directory").flatten();
        entries.map(|entry| entry.path())
    };
    let is_it = |path: &PathBuf| path.display().to_string().contains("libxhist_rt-");
    files(recorder.join("lib")).flat_map(files).find(is_it).expect("the recorder's own")
}

fn shared() {
    cache_of_two();
}

/// The cache of two projects that started at once, one of them, and a copy of the cache. Checked and made once.
fn cache_of_two() -> &'static (PathBuf, Tree, Tree) {
    static CACHE: OnceLock<(PathBuf, Tree, Tree)> = OnceLock::new();
    CACHE.get_or_init(start_two_at_once)
}

fn start_two_at_once() -> (PathBuf, Tree, Tree) {
    let cache = Tree::empty("cache").join("xhist");
    let (one, two) = (project("one"), project("two"));
    let (first, second) = (run(&one, &cache).start(), run(&two, &cache).start());
    let (first, second) = (first.done().expect(0), second.done().expect(0));
    assert_eq!(builds(&first) + builds(&second), 1, "{}\n{}", first.stderr, second.stderr);
    let [recorder] = &kept(&cache)[..] else { panic!("one recorder: {:?}", kept(&cache)) };
    for (project, done) in [(&one, &first), (&two, &second)] {
        let own: Vec<_> = done.stderr.lines().filter(|line| line.starts_with("xhist: ")).collect();
        done.check(own.len() <= 1, "one line at most is ours");
        done.check(!project.join("target/xhist/cache").exists(), "nothing of it is in the project");
    }
    let again = run(&one, &cache).succeed();
    again.check(!again.stderr.contains("xhist:"), "then there is nothing to print");
    // Its sources are beside it: the checkout is not needed later.
    let manifest = std::fs::read_to_string(recorder.join("package/Cargo.toml")).expect("a manifest");
    assert!(!manifest.contains(&repository().display().to_string()), "{manifest}");
    let sources = recorder.join("src/xhist-rt/src/lib.rs");
    assert!(manifest.contains("src/xhist-rt") && sources.is_file(), "{manifest}");
    let left = std::fs::read_dir(recorder.join("package")).expect("a package").flatten();
    assert!(left.map(|entry| entry.file_name()).all(|name| name != "target"), "cargo's own directory goes");
    // What the recorder reads when it is compiled decides about it (see `killed`), and what the program reads does not.
    run(&one, &cache).env("XHIST_SIZE", "64k").env("CARGO_NET_RETRY", "1").succeed();
    assert_eq!(kept(&cache).len(), 1);
    let copy = Tree::copy_of(&cache);
    (cache, one, copy)
}

fn damaged() {
    let (.., copy) = cache_of_two();
    // Of its own: other cases link what is in the copy.
    let own = Tree::copy_of(copy.path());
    let cache = own.path().to_owned();
    let project = project("damaged");
    assert_eq!(builds(&run(&project, &cache).succeed()), 0, "a copy has the recorder");
    let file = library(&kept(&cache)[0]);
    let mut wrong = std::fs::read(&file).expect("a library");
    wrong[5000] ^= 1;
    std::fs::write(&file, &wrong).expect("a library");
    assert_eq!(builds(&run(&project, &cache).succeed()), 1, "it is built again");
    let built = std::fs::read(library(&kept(&cache)[0])).expect("a library");
    assert!(built != wrong, "the damaged one is gone");
    // Where nothing can be written, what is there is used.
    std::fs::remove_file(cache.join("lock")).expect("a file");
    std::fs::create_dir(cache.join("lock")).expect("a directory in its place");
    let done = run(&project, &cache).succeed();
    assert_eq!(builds(&done), 0);
    assert!(!project.join("target/xhist/cache").exists());
}

fn killed() {
    let (cache, project, _) = cache_of_two();
    // Another recorder, because it reads this when it is compiled.
    let run = || run(project, cache).env("XHIST_RING_SIZE", "65536");
    let mut started = run().start();
    started.wait_for_stderr(LINE);
    std::thread::sleep(Duration::from_millis(400));
    // Cargo itself may go on.
    let _ = started.end_with(Signal::KILL);
    let done = run().succeed();
    assert_eq!(builds(&done), 1);
    let again = run().succeed();
    assert_eq!((builds(&again), kept(cache).len()), (0, 2));
}

fn named() {
    let (.., copy) = cache_of_two();
    let project = project("named");
    let compiler = Run::new("rustc", repository()).args("-vV").succeed();
    let host = compiler.stdout.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let run = || run(&project, copy.path());
    let built = |done: Run| builds(&done.succeed());
    assert_eq!(built(run().args(&format!("--target {host}"))), 0, "by an option");
    assert_eq!(built(run().env("CARGO_BUILD_TARGET", host)), 0, "by a variable");
    project.write(".cargo/config.toml", &format!("build.target = \"{host}\"\n"));
    assert_eq!(built(run()), 0, "in a file");
    // A project that is instrumented in place names it, too.
    let place = repository().join("xhist-rt");
    let manifest = project.read("Cargo.toml");
    project.write("Cargo.toml", &format!("{manifest}\n[dependencies]\nxhist-rt.path = {place:?}\n"));
    assert_eq!(built(run()), 0, "in the manifest");
    assert_eq!(kept(copy.path()).len(), 1);
}

fn no_cache() {
    let project = project("alone");
    let quiet = || run(&project, Path::new("/proc/xhist")).arg("-q").succeed();
    // A request for quiet is obeyed, but a build of many seconds is not silent.
    let first = quiet();
    first.check(builds(&first) == 1 && first.stderr.lines().count() == 1, "one line, about the recorder");
    assert_eq!(kept(&project.join("target/xhist/cache")).len(), 1);
    let second = quiet();
    second.check(second.stderr.is_empty(), "nothing but the program's");
    assert_eq!(builds(&run(&project, Path::new("/proc/xhist")).succeed()), 0);
}
