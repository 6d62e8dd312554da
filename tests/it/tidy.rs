//! Is the repository in the order that its readers rely on?

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Target};
use walkdir::WalkDir;
use xhist_tests::structure::{CRATES, shared_type_names};
use xhist_tests::{Case, repository};

pub const CASES: &[Case] = &[
    Case::new("unsafe_is_only_in_the_files_named", unsafe_files),
    Case::new("one_folder_of_the_recorder_is_of_a_system", systems),
    Case::new("every_file_says_what_it_is_for", headers),
    Case::new("no_file_is_longer_than_its_budget", lengths),
    Case::new("a_type_name_names_one_type_of_its_crate", type_names),
    Case::new("the_changelog_has_the_version", changelog),
    Case::new("all_crates_share_version_and_rust_version", versions),
    Case::new("programs_that_are_not_tested_have_no_tests", untested_programs),
];

/// The folders of all crates.
fn crates() -> impl Iterator<Item = &'static str> {
    CRATES.into_iter().chain(["xhist-fleet"])
}

/// Lines of a file, its unit tests aside.
const BUDGET: usize = 600;

/// The only files with `unsafe`.
const UNSAFE: &[&str] = &[
    "xhist-rt/src/hosted/executed.rs",
    "xhist-rt/src/hosted/words/memory.rs",
    "xhist-rt/src/hosted/words/prologue.rs",
    "xhist-rt/src/hosted/words/writer.rs",
    "xhist-rt/src/hosted/words/restructure.rs",
    "xhist-rt/src/hosted/words/scan.rs",
    "xhist-rt/src/hosted/words/tests/program.rs",
    "xhist-rt/src/hosted/thread_state/access.rs",
    "xhist-rt/src/hosted/thread_state/state.rs",
    "xhist-rt/src/hosted/thread_state/x86_64.rs",
    "xhist-rt/src/hosted/thread_state/x86_64_windows.rs",
    "xhist-rt/src/hosted/thread_state/aarch64.rs",
    "xhist-rt/src/value/bytes.rs",
    "xhist-rt/src/value/known.rs",
    "xhist-rt/src/value/load.rs",
    "xhist-rt/src/value/payload.rs",
    "xhist-rt/src/value/place.rs",
    "xhist-rt/src/value/target.rs",
    "xhist-rt/src/value/type_id.rs",
    "xhist-rt/src/value/rows.rs",
    "xhist-rt/src/hosted/fast_path/x86_64.rs",
    "xhist-rt/src/hosted/fast_path/optimised.rs",
    "xhist-rt/src/hosted/fast_path/unoptimised.rs",
    "xhist-rt/src/hosted/slow_path/append.rs",
    "xhist-rt/src/hosted/slow_path/roll_over.rs",
    "xhist-rt/src/hosted/fast_path/value.rs",
    "xhist-rt/src/hosted/track/handlers.rs",
    "xhist-rt/src/hosted/track/pending.rs",
    "xhist-rt/src/hosted/track/printed.rs",
    "xhist-rt/src/bare/byte_list.rs",
    "xhist-rt/src/bare/statement.rs",
    "xhist-rt/src/bare/value.rs",
    "xhist-rt/src/bare/writer.rs",
    "xhist-rt/src/bare/memory.rs",
    "xhist-rt/src/bare/cores.rs",
    "xhist-rt/src/bare/mask.rs",
    "xhist-rt/src/bare/cycles.rs",
    "xhist-rt/src/qs/embassy.rs",
    "xhist-rt/src/qs/memory.rs",
    "xhist-rt/src/qs/rtt.rs",
    "xhist-rt/src/trace/defmt.rs",
    "xhist-rt/src/trace/logger.rs",
    "xhist-rt/src/trace/output.rs",
    "xhist-rt/src/hosted/system/callbacks.rs",
    "xhist-rt/src/hosted/system/counter.rs",
    "xhist-rt/src/hosted/system/lanes.rs",
    "xhist-rt/src/hosted/system/mapped.rs",
    "xhist-rt/src/hosted/system/mirror.rs",
    "xhist-rt/src/hosted/system/written.rs",
    "xhist-rt/src/hosted/system/no_helper.rs",
    "xhist-rt/src/hosted/system/scratch.rs",
    "xhist-rt/src/hosted/system/unix/backtrace.rs",
    "xhist-rt/src/hosted/system/unix/cut.rs",
    "xhist-rt/src/hosted/system/unix/environment.rs",
    "xhist-rt/src/hosted/system/unix/errors.rs",
    "xhist-rt/src/hosted/system/unix/files.rs",
    "xhist-rt/src/hosted/system/unix/fork.rs",
    "xhist-rt/src/hosted/system/unix/helper.rs",
    "xhist-rt/src/hosted/system/unix/masks.rs",
    "xhist-rt/src/hosted/system/unix/memory.rs",
    "xhist-rt/src/hosted/system/unix/messages.rs",
    "xhist-rt/src/hosted/system/unix/pages.rs",
    "xhist-rt/src/hosted/system/unix/process.rs",
    "xhist-rt/src/hosted/system/unix/ring_file.rs",
    "xhist-rt/src/hosted/system/unix/signals/actions.rs",
    "xhist-rt/src/hosted/system/unix/signals/calls.rs",
    "xhist-rt/src/hosted/system/unix/signals/context.rs",
    "xhist-rt/src/hosted/system/unix/signals/entries.rs",
    "xhist-rt/src/hosted/system/unix/signals/fault.rs",
    "xhist-rt/src/hosted/system/unix/spawn.rs",
    "xhist-rt/src/hosted/system/unix/syscall.rs",
    "xhist-rt/src/hosted/system/unix/threads.rs",
    "xhist-rt/src/hosted/system/unix/time.rs",
    "xhist-rt/src/hosted/system/unix/writes.rs",
    "xhist-rt/src/hosted/system/windows/environment.rs",
    "xhist-rt/src/hosted/system/windows/errors.rs",
    "xhist-rt/src/hosted/system/windows/exceptions.rs",
    "xhist-rt/src/hosted/system/windows/files.rs",
    "xhist-rt/src/hosted/system/windows/memory.rs",
    "xhist-rt/src/hosted/system/windows/no_signals.rs",
    "xhist-rt/src/hosted/system/windows/pages.rs",
    "xhist-rt/src/hosted/system/windows/process.rs",
    "xhist-rt/src/hosted/system/windows/ring_file.rs",
    "xhist-rt/src/hosted/system/windows/storage.rs",
    "xhist-rt/src/hosted/system/windows/text.rs",
    "xhist-rt/src/hosted/system/windows/threads.rs",
    "xhist-rt/src/hosted/system/windows/time.rs",
    "xhist-rt/src/hosted/timing/stamp.rs",
    "xhist-rt/src/hosted/timing/ticker.rs",
    "xhist-rt/src/hosted/acquire.rs",
    "xhist-rt/src/hosted/threads.rs",
    "xhist-rt/src/hosted/slots/spare.rs",
    "xhist-rt/src/hosted/slots/spectra.rs",
    "xhist-rt/src/hosted/slots/table.rs",
    "xhist-rt/src/hosted/export.rs",
    "xhist-rt/src/hosted/link.rs",
    "xhist-history/src/source/image.rs",
    "xhist-history/src/source/process.rs",
    "tests/src/tracee/x86_64.rs",
    "tests/benches/cost/cpu.rs",
];

/// Source files of all crates and of the tests, and their text without unit tests.
fn sources() -> Vec<(PathBuf, String)> {
    let trees = crates().map(|name| repository().join(name).join("src"));
    let trees = trees.chain(["tests/src", "tests/it", "tests/benches"].map(|tree| repository().join(tree)));
    let entries = trees.flat_map(|tree| WalkDir::new(tree).sort_by_file_name().into_iter().flatten());
    let files = entries.filter(|entry| {
        let path = entry.path();
        path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs")
    });
    let sources: Vec<_> = files
        .map(|file| {
            let text = std::fs::read_to_string(file.path()).expect("a source file");
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
            (file.path().strip_prefix(repository()).expect("below it").to_owned(), code)
        })
        .collect();
    assert!(sources.len() > 40, "the sources are found");
    sources
}

fn unsafe_files() {
    let named: Vec<&Path> = UNSAFE.iter().map(Path::new).collect();
    let with: Vec<PathBuf> =
        sources().into_iter().filter(|(_, code)| code.lines().any(is_unsafe)).map(|(path, _)| path).collect();
    let unnamed: Vec<_> = with.iter().filter(|path| !named.contains(&path.as_path())).collect();
    assert!(unnamed.is_empty(), "`unsafe` in {unnamed:?}");
    let without: Vec<_> = named.iter().filter(|path| !with.iter().any(|with| with == *path)).collect();
    assert!(without.is_empty(), "no `unsafe` any longer in {without:?}");
}

/// Assembly may differ by `target_os`, since a system says where the words of a thread are, and what its linkers take.
fn systems() {
    const OF_A_SYSTEM: [&str; 8] = [
        "libc::",
        "windows_sys",
        "cfg(unix",
        "cfg(windows",
        "cfg_attr(unix",
        "cfg_attr(windows",
        "not(unix",
        "not(windows",
    ];
    let is_rest =
        |path: &Path| path.starts_with("xhist-rt/src") && !path.starts_with("xhist-rt/src/hosted/system");
    let rest = sources().into_iter().filter(|(path, _)| is_rest(path));
    let named: Vec<_> = rest
        .flat_map(|(path, code)| {
            let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
            let named = lines.filter(|line| OF_A_SYSTEM.iter().any(|name| line.contains(name)));
            named.map(|line| format!("{}: {}", path.display(), line.trim())).collect::<Vec<_>>()
        })
        .collect();
    assert!(named.is_empty(), "outside of hosted/system: {named:#?}");
}

/// The keyword in code: not in a comment, a string or a longer word.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices("unsafe").any(|(at, word)| {
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        let part = |char: Option<char>| {
            char.is_some_and(|char| char.is_alphanumeric() || char == '_' || char == '`')
        };
        let in_string = before.matches('"').count() % 2 == 1;
        !in_string && !part(before.chars().next_back()) && !part(after.chars().next())
    })
}

fn headers() {
    for line in ["//! x", "#![doc = include_str!(\"x\")]"] {
        assert!(opens_well(line));
    }
    let bare: Vec<_> =
        sources().into_iter().filter(|(_, code)| !opens_well(code)).map(|(path, _)| path).collect();
    assert!(bare.is_empty(), "without a word of what it is for: {bare:?}");
}

fn opens_well(code: &str) -> bool {
    code.starts_with("//!") || code.starts_with("#![doc")
}

fn lengths() {
    let long = sources().into_iter().map(|(path, code)| (path, code.lines().count()));
    let long: Vec<_> = long.filter(|(_, lines)| *lines > BUDGET).collect();
    assert!(long.is_empty(), "longer than {BUDGET} lines: {long:?}");
}

/// A type name that several types of a crate still have.
struct SharedName {
    part: &'static str,
    names: &'static [&'static str],
    reason: &'static str,
}

/// These may only become fewer: the test also fails when one of them is unique.
const SHARED_NAMES: &[SharedName] = &[
    SharedName {
        part: "xhist-rt",
        names: &["Word"],
        reason: "one for each width of atomics; only one of them is compiled",
    },
    SharedName {
        part: "xhist-rt",
        names: &["Backtrace", "FileNumber", "KeptPages", "Pages", "RingFile"],
        reason: "one for each system; only one of them is compiled",
    },
    SharedName {
        part: "cargo-xhist",
        names: &["Caught", "Inner", "Outer"],
        reason: "one for each system; only one of them is compiled",
    },
    SharedName {
        part: "tests",
        names: &["Snapshot", "Tracee"],
        reason: "one for each architecture; only one of them is compiled",
    },
];

fn type_names() {
    let mut wrong = Vec::new();
    for part in crates().chain(["tests"]) {
        let shared = shared_type_names(repository(), part);
        let rows = || SHARED_NAMES.iter().filter(|row| row.part == part);
        let is_known = |name: &str| rows().any(|row| row.names.contains(&name));
        for (name, files) in shared.iter().filter(|(name, _)| !is_known(name)) {
            wrong.push(format!("{part}: several types are called `{name}`: {files:?}"));
        }
        for row in rows() {
            let unique = row.names.iter().filter(|name| !shared.contains_key(**name));
            wrong.extend(unique.map(|name| format!("{part}: `{name}` is unique now ({})", row.reason)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn metadata() -> Metadata {
    let manifest = repository().join("Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("metadata")
}

/// `test = false` would hide them.
fn untested_programs() {
    let metadata = metadata();
    let programs = metadata.packages.iter().flat_map(|package| &package.targets);
    let untested: Vec<&Target> = programs.filter(|target| target.is_bin() && !target.test).collect();
    assert!(untested.len() > 8, "only {} programs", untested.len());
    for program in untested {
        let text = std::fs::read_to_string(&program.src_path).expect("a source");
        assert!(!text.contains("#[test]"), "{} has tests that cargo does not run", program.src_path);
    }
}

fn changelog() {
    let version = metadata().packages[0].version.to_string();
    let text = std::fs::read_to_string(repository().join("CHANGELOG.md")).expect("CHANGELOG.md");
    let names = text.lines().any(|line| line.starts_with("## ") && line.contains(&version));
    assert!(names, "a heading of CHANGELOG.md names {version}");
}

fn versions() {
    for name in crates().chain(["tests"]) {
        let text = std::fs::read_to_string(repository().join(name).join("Cargo.toml")).expect("a manifest");
        for key in ["version", "rust-version", "edition", "license"] {
            let is_newer = name == "xhist-fleet" && key == "rust-version";
            let line = if is_newer { format!("{key} = \"1.94\"") } else { format!("{key}.workspace = true") };
            assert!(text.lines().any(|own| own == line), "{name}/Cargo.toml has `{line}`");
        }
    }
}
