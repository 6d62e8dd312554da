//! The rooms of each crate lie on floors, and imports only go down: a room knows the rooms below it, but not its neighbours.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use xhist_tests::imports::Arrows;

use super::circles::{builds, relative, sources};

/// Floors of a crate, the lowest first. A room is a folder or a file below `src`; a file belongs to its innermost room.
pub type Floors = &'static [&'static [&'static str]];

pub const FLOORS: &[(&str, Floors)] = &[
    (
        "qs-core",
        &[
            &["frame", "shown"],
            &["record"],
            &["filter.rs", "inserted.rs", "map", "ring"],
            &["listing.rs", "rx"],
            &["lib.rs"],
        ],
    ),
    (
        "xhist-rt",
        &[
            &[
                "hosted/executed.rs",
                "inert.rs",
                "pointer.rs",
                "qs/config.rs",
                "record_size.rs",
                "ring_size.rs",
                "shared.rs",
                "sync.rs",
            ],
            &["bits.rs", "value"],
            &["filters.rs", "hosted/words", "trace/mask.rs"],
            &["hosted/system"],
            &["hosted/thread_state"],
            &["hosted/setup"],
            &["hosted/slots"],
            &["hosted/timing"],
            &["hosted/acquire.rs"],
            &["hosted/track"],
            &["hosted/threads.rs"],
            &["hosted/rings", "hosted/slow_path"],
            &["bare", "hosted/fast_path", "hosted/task.rs"],
            &["qs"],
            &["trace"],
            &["bare/link.rs", "hosted"],
            &["qs/pump.rs"],
            &["hooks.rs", "lib.rs"],
        ],
    ),
    (
        "xhist-instrument",
        &[
            &["files", "options.rs", "origin.rs", "refusal.rs", "shell.rs"],
            &["text"],
            &["macros"],
            &["site"],
            &["insert"],
            &["map", "select"],
            &["syntax"],
            &["strip"],
            &["lib.rs"],
            &["pipeline"],
            &["cli"],
        ],
    ),
    (
        "qs-host",
        &[
            &["format_number.rs", "side_file.rs"],
            &["symbols"],
            &["stream"],
            &["text"],
            &["control"],
            &["lib.rs"],
        ],
    ),
    (
        "xhist-history",
        &[
            &["model"],
            &["calls", "notes"],
            &["answer", "recording", "ring", "source"],
            &["options", "runs"],
            &["program"],
            &["events", "origin", "tasks"],
            &["page", "reading"],
            &["lib.rs"],
        ],
    ),
    (
        "xhist-report",
        &[
            &["budget", "interrupt.rs", "mcp", "qspy"],
            &["format"],
            &["causes", "query"],
            &["dap", "options.rs", "pack", "view"],
            &["reports"],
            &["live"],
            &["cli", "lib.rs"],
        ],
    ),
    (
        "cargo-xhist",
        &[
            &["error.rs", "names.rs", "system"],
            &["command", "keep", "output", "plan.rs"],
            &["post_run", "workspace", "wrapper"],
            &["prepare", "runner"],
            &["notes.rs"],
            &["run"],
            &["lib.rs"],
        ],
    ),
    (
        "xhist-fleet",
        &[
            &["partition.rs", "schema.rs"],
            &["dump", "error.rs"],
            &["data_set", "sources"],
            &["engine"],
            &["add", "table.rs"],
            &["overview"],
            &["cli", "lib.rs"],
        ],
    ),
];

/// Floor and room of a file.
fn place(floors: Floors, file: &Path) -> Option<(usize, &'static str)> {
    let rooms =
        floors.iter().enumerate().flat_map(|(floor, rooms)| rooms.iter().map(move |room| (floor, *room)));
    rooms.filter(|(_, room)| file.starts_with(room)).max_by_key(|(_, room)| room.len())
}

/// What is wrong with the imports of a crate.
fn wrong(floors: Floors, source: &Path, arrows: &Arrows, met: &mut BTreeSet<&'static str>) -> Vec<String> {
    let below = |file: &PathBuf| file.strip_prefix(source).expect("a file of the crate").to_owned();
    let mut wrong = Vec::new();
    for (file, targets) in &arrows.0 {
        let Some((floor, room)) = place(floors, &below(file)) else {
            wrong.push(format!("{} is in no room", relative(file).display()));
            continue;
        };
        met.insert(room);
        for (target, lines) in targets {
            let is_down =
                place(floors, &below(target)).is_some_and(|(below, other)| below < floor || other == room);
            if !is_down {
                let (line, path) = lines.first().expect("a line for each arrow");
                let (file, target) = (relative(file).display(), relative(target).display());
                wrong.push(format!("{file}:{line}: `{path}` of {target} is not below `{room}`"));
            }
        }
    }
    wrong
}

pub fn imports_go_down() {
    let mut all = Vec::new();
    for (name, floors) in FLOORS {
        let mut met = BTreeSet::new();
        for (_, arrows) in builds().iter().filter(|(built, _)| built == name) {
            all.extend(wrong(floors, &sources(name), arrows, &mut met));
        }
        let empty = floors.iter().copied().flatten().filter(|room| !met.contains(*room));
        all.extend(empty.map(|room| format!("{name}: the room {room} is empty")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// Each way in which an import may break the floors is found.
pub fn wrong_imports_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("lib.rs", "mod low; mod side; mod high; mod other;"),
        ("low.rs", "pub fn low() { crate::high::high() }"),
        ("side.rs", "pub fn side() { crate::low::low() }"),
        ("high/mod.rs", "mod inner; pub fn high() { crate::side::side() } use inner::inner;"),
        ("high/inner.rs", "pub fn inner() { crate::low::low() }"),
        ("other.rs", ""),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let floors: Floors = &[&["low.rs", "side.rs"], &["high"], &["lib.rs"]];
    let arrows = Arrows::read(&folder.path().join("lib.rs"), &[]);
    let found = wrong(floors, folder.path(), &arrows, &mut BTreeSet::new());
    let expected =
        [("low.rs:1", "is not below `low.rs`"), ("other.rs", "is in no room"), ("side.rs:1", "`side.rs`")];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, (file, reason)) in found.iter().zip(expected) {
        assert!(found.contains(file) && found.ends_with(reason), "{found}");
    }
}
