//! Who may know whom: the table of the design, checked against the manifests and the imports.

use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};
use walkdir::WalkDir;
use xhist_tests::{Case, repository};

pub const CASES: &[Case] = &[
    Case::new("crates_depend_on_nothing_they_must_not_know", dependencies),
    Case::new("nothing_depends_on_the_tests", tests_are_not_imported),
    Case::new("modules_import_nothing_they_must_not_know", imports),
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
    Row { name: "qs-core", ours: &[], others: Some(&["byteorder"]), forbidden: &[] },
    Row { name: "xhist-rt", ours: &["qs-core"], others: Some(&["critical-section", "libc"]), forbidden: &[] },
    Row { name: "xhist-instrument", ours: &["qs-core"], others: None, forbidden: &["memmap2"] },
    Row {
        name: "xhist-report",
        ours: &["qs-core"],
        others: None,
        forbidden: &["syn", "proc-macro2", "quote"],
    },
];

/// Files below the folder import none of these.
const IMPORTS: &[(&str, &[&str])] = &[
    ("qs-core/src/frame", &["crate::record", "crate::ring", "crate::map"]),
    ("qs-core/src/record", &["crate::ring", "crate::map"]),
    ("xhist-report/src/source", &["qs_core", "crate::decode", "crate::model", "crate::format"]),
    ("xhist-report/src/qs/", &["std::fs", "crate::source", "crate::decode", "crate::format", "crate::qspy"]),
    ("xhist-report/src/qspy", &["crate::source", "crate::format"]),
    ("xhist-report/src/front_end", &["std::fs", "std::net", "crate::source", "crate::format", "crate::live"]),
    ("xhist-report/src/live", &["std::fs", "std::net", "crate::send"]),
    ("xhist-report/src/send", &["std::fs", "std::net", "crate::format"]),
    ("xhist-report/src/decode", &["std::fs", "std::io", "crate::source", "crate::format"]),
    ("xhist-report/src/trace/", &["qs_core", "crate::source", "crate::decode", "crate::format"]),
    ("xhist-report/src/model", &["std::fs", "crate::source", "crate::format"]),
    ("xhist-report/src/format", &["qs_core", "std::fs", "crate::decode", "crate::source"]),
    ("xhist-instrument/src/syntax", &["std::fs", "crate::cli", "crate::cargo"]),
    ("xhist-instrument/src/text", &["std::fs", "crate::cli", "crate::cargo"]),
    ("xhist-instrument/src/cli", &["crate::cargo"]),
    ("xhist-instrument/src/cargo", &["crate::cli"]),
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
    name == "xhist-tests" || TABLE.iter().any(|row| row.name == name)
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
        assert!(folder.is_dir(), "{} is there", folder.display());
        for file in WalkDir::new(&folder).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
            wrong.extend(forbidden_in(file.path(), forbidden));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn forbidden_in(file: &Path, forbidden: &[&str]) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("a source file");
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = lines.filter(|(_, line)| forbidden.iter().any(|name| line.contains(name)));
    let name = file.strip_prefix(repository()).unwrap_or(file).display();
    found.map(|(index, line)| format!("{name}:{}: {}", index + 1, line.trim())).collect()
}

fn samples() {
    let manifests = WalkDir::new(repository().join("samples")).max_depth(2).into_iter().flatten();
    let manifests: Vec<_> = manifests.filter(|entry| entry.file_name() == "Cargo.toml").collect();
    assert!(!manifests.is_empty(), "there are samples");
    for manifest in manifests {
        let text = std::fs::read_to_string(manifest.path()).expect("a manifest");
        for tool in ["qs-core", "xhist-instrument", "xhist-report"] {
            assert!(!text.contains(tool), "{} names {tool}", manifest.path().display());
        }
    }
}
