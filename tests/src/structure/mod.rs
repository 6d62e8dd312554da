//! Measures of a checkout: size, rooms, import circles, floors and shared type names of each crate, and files on the walks.

mod lines;
mod names;
mod walks;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::imports::{Arrows, BUILDS};

pub use lines::{FileLines, LongFunction};
pub use names::shared_type_names;
pub use walks::{WALKS, Walk, Walks};

/// The folders of the crates that are built by default.
pub const CRATES: [&str; 7] =
    ["qs-core", "qs-host", "xhist-history", "xhist-rt", "xhist-instrument", "xhist-report", "cargo-xhist"];

/// What one crate measures, its unit tests left out.
pub struct CrateMeasures {
    /// Rooms: folders and files at the top of its sources.
    pub rooms: usize,
    /// Source files.
    pub files: usize,
    /// Lines with code.
    pub code: usize,
    /// Lines with nothing but a comment.
    pub comments: usize,
    /// Numbers of files that import each other in a circle, the largest circle first.
    pub circles: Vec<usize>,
    /// Files on the longest path of imports, where a circle counts as one.
    pub floors: usize,
    /// Type names that several types of the crate have.
    pub shared_names: usize,
    /// The longest file.
    pub longest_file: (usize, PathBuf),
    /// The longest function.
    pub longest_function: LongFunction,
}

impl CrateMeasures {
    /// Measures a crate of this checkout.
    pub fn of(checkout: &Path, name: &str) -> CrateMeasures {
        let source = checkout.join(name).join("src");
        let mut measures = CrateMeasures {
            rooms: 0,
            files: 0,
            code: 0,
            comments: 0,
            circles: Vec::new(),
            floors: 0,
            shared_names: shared_type_names(checkout, name).len(),
            longest_file: Default::default(),
            longest_function: LongFunction::default(),
        };
        let mut rooms = BTreeSet::new();
        for file in product_files(&source) {
            rooms.extend(
                file.strip_prefix(&source).ok().and_then(|path| path.iter().next().map(ToOwned::to_owned)),
            );
            let path = file.strip_prefix(checkout).expect("below the checkout").to_owned();
            let lines = FileLines::read(&file);
            measures.files += 1;
            measures.code += lines.code;
            measures.comments += lines.comments;
            measures.longest_file = measures.longest_file.max((lines.all, path));
            if lines.longest_function.lines > measures.longest_function.lines {
                measures.longest_function = lines.longest_function;
            }
        }
        // The root of a program only calls the library.
        rooms.remove(OsStr::new("main.rs"));
        measures.rooms = rooms.len();
        let mut circles = BTreeSet::new();
        for (_, features) in BUILDS.iter().filter(|(crate_name, _)| *crate_name == name) {
            let arrows = Arrows::read(&source.join("lib.rs"), features);
            circles.extend(arrows.circles());
            measures.floors = measures.floors.max(arrows.floors());
        }
        measures.circles = circles.iter().map(BTreeSet::len).collect();
        measures.circles.sort_by(|a, b| b.cmp(a));
        measures
    }
}

/// Source files in a folder, by name, without those that only tests compile.
pub fn product_files(folder: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    let files = entries.map(walkdir::DirEntry::into_path).filter(|path| {
        let is_test = path.ends_with("tests.rs")
            || path.strip_prefix(folder).is_ok_and(|path| path.iter().any(|part| part == "tests"));
        !is_test && path.extension().is_some_and(|extension| extension == "rs")
    });
    files.collect()
}

/// The text of a source file up to its unit tests.
pub fn product_text(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default()
}
