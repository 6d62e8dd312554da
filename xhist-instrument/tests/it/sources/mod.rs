//! Real sources: the packages that xhist-instrument itself is built from, at the versions of the lock file. So each machine
//! that can run these tests has the same files. A usual run takes a third of the sample that a long one takes
//! (`XHIST_LONG=1`). `XHIST_REGISTRY=all` takes every file of cargo's registry instead.

use std::path::{Path, PathBuf};

use xhist_instrument::{
    Action, Analysis, Detail, MainHash, Options, Refusal, Tasks, Trigger, ValueWatch, Values, When, analyze,
};

/// Packages that are dependencies on every system.
const PACKAGES: [&str; 12] = [
    "clap_builder",
    "globset",
    "indicatif",
    "memchr",
    "proc-macro2",
    "proptest",
    "rayon",
    "regex-automata",
    "serde_json",
    "syn",
    "toml",
    "walkdir",
];

/// Whether this is a long run.
pub fn is_long() -> bool {
    std::env::var_os("XHIST_LONG").is_some_and(|long| !long.is_empty() && long != "0")
}

/// About this number of files in a long run, evenly from all packages.
pub fn sample(in_a_long_run: usize) -> Vec<PathBuf> {
    let count = if is_long() { in_a_long_run } else { in_a_long_run / 3 };
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    let registry = home.expect("CARGO_HOME or HOME").join("registry/src");
    if std::env::var("XHIST_REGISTRY").is_ok_and(|value| value == "all") {
        return rust_files(&registry);
    }
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    let lock = std::fs::read_to_string(lock).expect("the lock file of the workspace");
    let files: Vec<PathBuf> =
        PACKAGES.iter().flat_map(|name| rust_files(&directory(&registry, &lock, name))).collect();
    let step = (files.len() / count).max(1);
    files.into_iter().step_by(step).collect()
}

/// Where cargo keeps the sources of a package of the lock file.
fn directory(registry: &Path, lock: &str, name: &str) -> PathBuf {
    let entry = format!("[[package]]\nname = \"{name}\"\nversion = \"");
    let version = lock.split(&entry).nth(1).and_then(|rest| rest.split('"').next());
    let package = format!("{name}-{}", version.unwrap_or_else(|| panic!("{name} is in the lock file")));
    let indexes = std::fs::read_dir(registry).expect("cargo's registry, from which this test is built");
    let mut found = indexes.filter_map(|index| Some(index.ok()?.path().join(&package)));
    found
        .find(|directory| directory.is_dir())
        .unwrap_or_else(|| panic!("{package} is in no registry below {}", registry.display()))
}

/// The Rust files below a directory, in order.
pub fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(directory).sort_by_file_name().into_iter().filter_map(Result::ok);
    files
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
        .collect()
}

/// Each file is tested in one of the modes.
pub fn options(index: usize) -> Options {
    Options {
        edition2015: index % 3 == 1,
        detail: if index % 7 == 3 { Detail::Function } else { Detail::Statement },
        when: if index % 3 == 2 { When::After } else { When::Before },
        tasks: if index % 11 == 5 { Tasks::Off } else { Tasks::On },
        main_hash: if index.is_multiple_of(2) { MainHash::FromEnv } else { MainHash::Literal(0xab) },
        triggers: index % 5 == 4,
        values: [Values::Eight, Values::ThirtyTwo, Values::Targets, Values::Off][index % 4],
        main_values: index % 4 != 3,
        watches: index % 13 == 6,
    }
}

/// The analysis of a text, with triggers at its statements and watches of its values where the mode has them.
pub fn analyzed(text: &[u8], options: &Options) -> Result<Analysis, Refusal> {
    let mut analysis = analyze(text, options)?;
    for site in (0..analysis.sites.len()).filter(|_| options.triggers) {
        let action = if site % 2 == 0 { Action::Start } else { Action::Stop { after: 1 } };
        analysis.add_trigger(Trigger { site, number: 1, hit: 1, action });
    }
    for value in (0..analysis.values.len()).filter(|_| options.watches) {
        let expected = (value % 2 == 0).then(|| Box::from("a \"b\" \n"));
        analysis.add_watch(ValueWatch { value, number: 2, after: 0, expected });
    }
    Ok(analysis)
}
