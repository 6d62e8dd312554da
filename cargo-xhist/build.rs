//! Packs the recorder's sources into `cargo xhist`, which compiles them wherever this checkout is by then.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What the recorder is compiled from, seen from the repository.
const PARTS: [&str; 7] = [
    "Cargo.toml",
    "qs-core/Cargo.toml",
    "qs-core/README.md",
    "qs-core/src",
    "xhist-rt/Cargo.toml",
    "xhist-rt/README.md",
    "xhist-rt/src",
];

/// Variables that these sources read when they are compiled. Counts where the sources are not here.
const VARIABLES: [&str; 8] = [
    "XHIST_CORES",
    "XHIST_CORE_REGISTER",
    "XHIST_FILES",
    "XHIST_MAP_HASH",
    "XHIST_QS_BUILD",
    "XHIST_QS_OFF",
    "XHIST_QS_SIZES",
    "XHIST_RING_SIZE",
];

fn main() {
    let variable = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let package = variable("CARGO_MANIFEST_DIR");
    let repository = package.parent().expect("a package lies in a directory");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    // Without the repository around it, this package came from a registry; the recorder then comes from there too.
    if PARTS.iter().all(|part| repository.join(part).exists()) {
        for part in PARTS {
            println!("cargo::rerun-if-changed={}", repository.join(part).display());
            collect(&repository.join(part), &mut files);
        }
    }
    files.sort();
    fs::write(variable("OUT_DIR").join("recorder_sources.rs"), table(repository, &files))
        .expect("cargo's own directory can be written");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a directory of the repository") {
            collect(&entry.expect("an entry of it").path(), files);
        }
    } else {
        files.push(path.to_owned());
    }
}

/// The files, a hash of all of them, and the variables that they read when they are compiled.
fn table(repository: &Path, files: &[PathBuf]) -> String {
    let mut hasher = DefaultHasher::new();
    let mut variables = Vec::new();
    let mut rows = String::new();
    for file in files {
        let name = file.strip_prefix(repository).expect("below it").to_str().expect("our own names");
        let text = fs::read_to_string(file).expect("a source file");
        (name, &text).hash(&mut hasher);
        let named = text.split("env!(\"").skip(1).filter_map(|rest| rest.split('"').next());
        variables.extend(named.filter(|name| name.starts_with("XHIST_")).map(String::from));
        writeln!(rows, "    ({name:?}, include_bytes!({file:?})),").expect("a string grows");
    }
    variables.sort();
    variables.dedup();
    if files.is_empty() {
        variables.extend(VARIABLES.map(String::from));
    }
    assert_eq!(variables, VARIABLES, "the variables that the recorder reads");
    format!(
        "pub(super) const HASH: u64 = {:#x};\n\
         pub(super) const VARIABLES: &[&str] = &{variables:?};\n\
         pub(super) const FILES: &[(&str, &[u8])] = &[\n{rows}];\n",
        hasher.finish()
    )
}
