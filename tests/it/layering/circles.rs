//! No file imports itself, directly or through other files: the import graph has no circles.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use walkdir::WalkDir;
use xhist_tests::imports::{Arrows, BUILDS};
use xhist_tests::repository;

pub fn sources(name: &str) -> PathBuf {
    repository().join(name).join("src")
}

pub fn relative(file: &Path) -> &Path {
    file.strip_prefix(repository()).unwrap_or(file)
}

/// The import graph of each build, read once.
pub fn builds() -> &'static [(&'static str, Arrows)] {
    static READ: OnceLock<Vec<(&str, Arrows)>> = OnceLock::new();
    let read = |name, build| (name, Arrows::read(&sources(name).join("lib.rs"), build));
    READ.get_or_init(|| BUILDS.iter().map(|(name, build)| read(*name, build)).collect())
}

pub fn none() {
    let mut wrong = Vec::new();
    for (_, arrows) in builds() {
        wrong.extend(arrows.circles().iter().map(|circle| shown(arrows, circle)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A circle with the lines that close it.
fn shown(arrows: &Arrows, circle: &BTreeSet<PathBuf>) -> String {
    let mut text = format!("a circle of {} files:", circle.len());
    for file in circle {
        for (target, lines) in arrows.0[file].iter().filter(|(target, _)| circle.contains(*target)) {
            for (line, path) in lines {
                let (file, target) = (relative(file).display(), relative(target).display());
                text += &format!("\n  {file}:{line}: `{path}` of {target}");
            }
        }
    }
    text
}

/// A file that no module declares would have no arrows. Programs and tests are not used by anything.
pub fn all_files() {
    let mut seen: BTreeSet<&PathBuf> = BTreeSet::new();
    for (_, arrows) in builds() {
        seen.extend(arrows.0.keys());
    }
    let is_apart = |file: &Path| {
        let parts: Vec<_> = relative(file).iter().skip(2).collect();
        file.ends_with("src/main.rs")
            || parts[0] == "bin"
            || file.ends_with("tests.rs")
            || parts.contains(&"tests".as_ref())
    };
    let crates: BTreeSet<_> = BUILDS.iter().map(|(name, _)| sources(name)).collect();
    let files = crates.iter().flat_map(|folder| WalkDir::new(folder).into_iter().flatten());
    let files =
        files.map(|entry| entry.into_path()).filter(|file| file.extension().is_some_and(|end| end == "rs"));
    let unseen: Vec<_> = files.filter(|file| !seen.contains(file) && !is_apart(file)).collect();
    assert!(unseen.is_empty(), "in no module of the builds here: {unseen:#?}");
}

/// A small crate with every way of naming a file, and the arrows that it has.
pub fn every_path_is_resolved() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        (
            "lib.rs",
            "mod a; mod b; mod c; mod d; mod e; mod f; #[path = \"other.rs\"] mod g; #[cfg(test)] mod tests;",
        ),
        ("a.rs", "use crate::b as below; fn f(_: below::inner::B) {}"),
        (
            "b/mod.rs",
            "mod inner_file; pub mod inner { pub use super::inner_file::*; } pub use inner_file::B;",
        ),
        ("b/inner_file.rs", "pub struct B; mod deep { fn f() { super::super::super::c::c() } }"),
        ("c.rs", "use crate::{d::{self, D}, e::e as renamed}; pub fn c() { d::d(); renamed() } struct S(D);"),
        ("d.rs", "pub struct D; pub fn d() {} #[cfg(all(test, unix))] use crate::a;"),
        (
            "e.rs",
            "pub fn e() { println!(\"{}\", crate::g::G) } #[cfg(feature = \"off\")] fn f() { crate::a::f() }",
        ),
        ("f.rs", "pub use crate::a; mod here { use self::super::super::b::B; }"),
        ("other.rs", "pub const G: u8 = 1; pub fn core() -> u8 { core::cmp::max(1, 2) }"),
        // The compiler never reads it: `g` has a path.
        ("g.rs", "fn g() { crate::a::f() }"),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let arrows = Arrows::read(&folder.path().join("lib.rs"), &[("off", false)]);
    let name = |file: &Path| file.strip_prefix(folder.path()).expect("below it").display().to_string();
    let found =
        arrows.0.iter().flat_map(|(from, to)| to.keys().map(|to| format!("{} -> {}", name(from), name(to))));
    let expected = [
        "a.rs -> b/inner_file.rs",
        "b/inner_file.rs -> c.rs",
        "c.rs -> d.rs",
        "c.rs -> e.rs",
        "e.rs -> other.rs",
        "f.rs -> b/inner_file.rs",
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert!(arrows.circles().is_empty());
    std::fs::write(folder.path().join("other.rs"), "pub const G: u8 = crate::b::B::ONE;").expect("a file");
    let circles = Arrows::read(&folder.path().join("lib.rs"), &[("off", false)]).circles();
    let circles: Vec<Vec<String>> =
        circles.iter().map(|files| files.iter().map(|file| name(file)).collect()).collect();
    assert_eq!(circles, [["b/inner_file.rs", "c.rs", "e.rs", "other.rs"]]);
}
