//! Who may know whom: the table of the design, checked against the manifests and the imports.

mod circles;
mod floors;
mod rooms;

use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};
use walkdir::WalkDir;
use xhist_tests::structure::product_files;
use xhist_tests::{Case, repository};

pub const CASES: &[Case] = &[
    Case::new("crates_depend_on_nothing_they_must_not_know", dependencies),
    Case::new("nothing_depends_on_the_tests", tests_are_not_imported),
    Case::new("modules_import_nothing_they_must_not_know", imports),
    Case::new("rooms_import_only_what_they_may", room_rules),
    Case::new("files_import_each_other_in_one_direction", circles::none),
    Case::new("imports_go_from_a_floor_to_a_lower_one", floors::imports_go_down),
    Case::new("imports_that_break_the_floors_are_found", floors::wrong_imports_are_found),
    Case::new("no_file_escapes_the_import_graph", circles::all_files),
    Case::new("the_import_graph_resolves_every_kind_of_path", circles::every_path_is_resolved),
    Case::new("the_architecture_shows_the_floors_of_each_crate", rooms::are_in_the_page),
    Case::new("what_a_header_says_that_its_file_must_not_know_is_checked", claims),
    Case::new("samples_do_not_name_the_tools", samples),
];

/// What a crate may use of ours and of others; `None`: any crate of others that is not forbidden.
struct Row {
    name: &'static str,
    ours: &'static [&'static str],
    others: Option<&'static [&'static str]>,
    forbidden: &'static [&'static str],
}

const TABLE: &[Row] = &[
    Row { name: "xhist-qs", ours: &[], others: Some(&["byteorder"]), forbidden: &[] },
    Row {
        name: "qs-host",
        ours: &["xhist-qs"],
        others: Some(&["byteorder", "itoa", "memchr"]),
        forbidden: &[],
    },
    Row {
        name: "xhist-rt",
        ours: &["xhist-qs"],
        others: Some(&["critical-section", "libc", "windows-sys"]),
        forbidden: &[],
    },
    Row { name: "xhist-instrument", ours: &["xhist-qs"], others: None, forbidden: &["memmap2"] },
    Row {
        name: "xhist-history",
        ours: &["xhist-qs", "qs-host"],
        others: None,
        forbidden: &["syn", "proc-macro2", "quote", "clap", "anstream", "indicatif", "ratatui"],
    },
    Row {
        name: "xhist-report",
        ours: &["xhist-qs", "qs-host", "xhist-history"],
        others: None,
        forbidden: &["syn", "proc-macro2", "quote", "gimli", "memmap2"],
    },
    Row {
        name: "cargo-xhist",
        ours: &["xhist-qs", "xhist-instrument", "xhist-history", "xhist-report"],
        others: None,
        forbidden: &["syn", "proc-macro2", "quote"],
    },
    Row { name: "xhist-fleet", ours: &["xhist-history"], others: None, forbidden: &["syn"] },
];

/// The file, or the files below the folder, import none of these.
const IMPORTS: &[(&str, &[&str])] = &[
    ("qs-core/src/frame", &["crate::record", "crate::ring", "crate::map"]),
    ("qs-core/src/record", &["crate::ring", "crate::map"]),
    ("qs-host/src", &["std::fs", "std::net", "std::io::stdout", "std::io::stdin", "println!"]),
    ("qs-host/src/stream", &["crate::text", "crate::control"]),
    ("qs-host/src/symbols", &["crate::stream", "crate::text"]),
    ("qs-host/src/text", &["crate::control"]),
    ("xhist-history/src", &["std::net", "std::io::stdout"]),
    ("xhist-history/src/source", &["qs_core", "crate::ring", "crate::events", "crate::model"]),
    ("xhist-history/src/ring", &["std::fs", "std::io", "crate::source", "crate::events"]),
    ("xhist-history/src/options/trace/", &["qs_core", "crate::source", "crate::ring", "crate::events"]),
    ("xhist-history/src/model", &["std::fs", "crate::source"]),
    ("xhist-report/src/qspy", &["std::net", "std::io::stdout", "std::io::stdin"]),
    ("xhist-report/src/live/session", &["std::fs", "std::net", "crate::live::send"]),
    ("xhist-report/src/live/send", &["std::fs", "std::net", "crate::format"]),
    ("xhist-report/src/format", &["qs_core", "std::fs"]),
    ("xhist-instrument/src/syntax", &["std::fs", "crate::cli"]),
    ("xhist-instrument/src/text", &["std::fs", "crate::cli"]),
    ("cargo-xhist/src", &["xhist_instrument::cli"]),
];

/// Files below the folder import these parts of their crate only.
const ROOMS: &[(&str, &[&str])] = &[
    ("xhist-history/src/ring", &["model"]),
    (
        "xhist-history/src/events",
        &["calls/structures", "model", "notes", "options", "program/map", "ring", "source"],
    ),
    ("xhist-history/src/program/values/types", &[]),
    ("xhist-history/src/program/values", &["model", "notes", "options", "runs", "source"]),
    ("xhist-history/src/recording", &["model", "notes/typed"]),
    ("xhist-history/src/origin", &["program/tokens", "recording"]),
    ("xhist-report/src/query/origin", &["budget"]),
    ("xhist-history/src/tasks", &["model", "notes", "options", "program"]),
    ("xhist-report/src/qspy", &[]),
    ("xhist-report/src/live/link", &[]),
    ("xhist-report/src/causes", &["budget", "format"]),
    ("xhist-report/src/causes/order", &[]),
    ("xhist-report/src/format", &["budget"]),
    ("xhist-report/src/format/entries", &[]),
    ("xhist-report/src/dap", &["budget", "query"]),
    ("xhist-report/src/view", &["interrupt", "query"]),
    ("xhist-report/src/reports", &["budget", "causes/order", "format", "interrupt", "options", "qspy"]),
];

fn metadata() -> Metadata {
    let manifest = repository().join("Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("metadata of the repository")
}

fn used(package: &Package) -> impl Iterator<Item = &str> {
    let used =
        package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
    used.map(|dependency| dependency.name.as_str())
}

fn is_ours(name: &str) -> bool {
    ["xhist-fuzz", "xhist-tests"].contains(&name) || TABLE.iter().any(|row| row.name == name)
}

fn dependencies() {
    let metadata = metadata();
    let mut wrong = Vec::new();
    for row in TABLE {
        let package = metadata.packages.iter().find(|package| package.name.as_str() == row.name);
        let package = package.unwrap_or_else(|| panic!("{} is a member", row.name));
        for name in used(package) {
            let may = match is_ours(name) {
                true => row.ours.contains(&name),
                false => {
                    row.others.is_none_or(|others| others.contains(&name)) && !row.forbidden.contains(&name)
                }
            };
            if !may {
                wrong.push(format!("{} uses {name}", row.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn tests_are_not_imported() {
    for package in &metadata().packages {
        let imports = package.dependencies.iter().any(|dependency| dependency.name == "xhist-tests");
        assert!(!imports, "{} uses xhist-tests", package.name);
        let is_known = is_ours(package.name.as_str());
        assert!(is_known, "{} has a row in the table", package.name);
    }
}

fn imports() {
    let mut wrong = Vec::new();
    for (folder, forbidden) in IMPORTS {
        let folder = repository().join(folder);
        assert!(folder.exists(), "{} is there", folder.display());
        for file in WalkDir::new(&folder).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
            wrong.extend(forbidden_in(file.path(), forbidden));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn room_rules() {
    let mut wrong = Vec::new();
    for (name, arrows) in circles::builds() {
        let source = circles::sources(name);
        for (folder, allowed) in
            ROOMS.iter().filter(|(folder, _)| repository().join(folder).starts_with(&source))
        {
            let folder = repository().join(folder);
            assert!(folder.is_dir(), "{} is there", folder.display());
            for (file, targets) in arrows.0.iter().filter(|(file, _)| file.starts_with(&folder)) {
                let is_allowed = |target: &Path| {
                    let below = target.strip_prefix(&source).expect("a file of the crate").with_extension("");
                    target.starts_with(&folder) || allowed.iter().any(|room| below.starts_with(room))
                };
                for (target, lines) in targets.iter().filter(|(target, _)| !is_allowed(target)) {
                    let (line, path) = lines.first().expect("a line for each arrow");
                    let (file, target) =
                        (circles::relative(file).display(), circles::relative(target).display());
                    wrong.push(format!("{file}:{line}: `{path}` of {target}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn forbidden_in(file: &Path, forbidden: &[&str]) -> Vec<String> {
    lines_of(file, |line| forbidden.iter().any(|name| line.contains(name)))
}

/// The lines of code outside tests that match, each with its place.
fn lines_of(file: &Path, matches: impl Fn(&str) -> bool) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("a source file");
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = lines.filter(|(_, line)| matches(line));
    let name = file.strip_prefix(repository()).unwrap_or(file).display();
    found.map(|(index, line)| format!("{name}:{}: {}", index + 1, line.trim())).collect()
}

/// Headers that say what their file must not know although no row of [`IMPORTS`] checks it. These numbers may only become
/// smaller.
const UNCHECKED: &[(&str, usize)] = &[
    ("qs-core", 2),
    ("xhist-rt", 0),
    ("xhist-instrument", 0),
    ("qs-host", 0),
    ("xhist-history", 0),
    ("xhist-report", 0),
    ("cargo-xhist", 0),
    ("xhist-fleet", 0),
    ("tests", 0),
];

/// A header's claim needs a row for its file, or for its folder when the file is the folder's `mod.rs`.
fn claims() {
    let mut wrong = Vec::new();
    for (name, allowed) in UNCHECKED {
        let files = product_files(&repository().join(name).join("src"));
        let mut unchecked = Vec::new();
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source file");
            let header: Vec<&str> =
                text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
            let of = if file.ends_with("mod.rs") { file.parent().expect("a folder") } else { &file };
            let is_checked = IMPORTS.iter().any(|(path, _)| repository().join(path) == of);
            if header.join(" ").contains("must not know") && !is_checked {
                unchecked.push(file.strip_prefix(repository()).expect("below it").to_owned());
            }
        }
        if unchecked.len() > *allowed {
            wrong.push(format!("{name}: {} headers, allowed: {allowed}: {unchecked:#?}", unchecked.len()));
        }
    }
    assert!(
        wrong.is_empty(),
        "claimed and not checked: add a row or delete the sentence\n{}",
        wrong.join("\n")
    );
}

fn samples() {
    let manifests = WalkDir::new(repository().join("samples")).max_depth(2).into_iter().flatten();
    let manifests: Vec<_> = manifests.filter(|entry| entry.file_name() == "Cargo.toml").collect();
    assert!(!manifests.is_empty(), "there are samples");
    for manifest in manifests {
        let text = std::fs::read_to_string(manifest.path()).expect("a manifest");
        for tool in [
            "qs-core",
            "xhist-qs",
            "qs-host",
            "xhist-history",
            "xhist-instrument",
            "xhist-report",
            "cargo-xhist",
        ] {
            assert!(!text.contains(tool), "{} names {tool}", manifest.path().display());
        }
    }
}
