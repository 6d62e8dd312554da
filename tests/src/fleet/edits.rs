//! What else differs between builds: moved lines, moved functions, and new statements.

use crate::fleet::bugs::BUGS;

/// A change that is in a build and in all later ones.
#[derive(Debug)]
struct Edit {
    since: u8,
    file: &'static str,
    change: Change,
}

#[derive(Debug)]
enum Change {
    /// Puts a text in front of another, which is once in the file.
    Insert { text: &'static str, before: &'static str },
    /// Moves a function of an `impl`, up to its closing brace, in front of another text.
    Move { function: &'static str, before: &'static str },
}

const EDITS: &[Edit] = &[
    // Build 2.
    Edit {
        since: 2,
        file: "src/meter.rs",
        change: Change::Move { function: "    pub fn mean(", before: "    pub fn take(" },
    },
    Edit {
        since: 2,
        file: "src/pool.rs",
        change: Change::Insert {
            text: "// A worker ends when the queue is closed and empty.\n\n",
            before: "fn worker_main(",
        },
    },
    Edit {
        since: 2,
        file: "src/settings.rs",
        change: Change::Insert {
            text: "    // The first entry counts\n    // if a key is there twice.\n\n",
            before: "    pub fn number(",
        },
    },
    Edit {
        since: 2,
        file: "vendor/httparse/src/lib.rs",
        change: Change::Insert {
            text: "// Our own copy, with the sizes of chunks that our devices send.\n\n",
            before: "    const RADIX: u64 = 16;",
        },
    },
    // Build 3.
    Edit {
        since: 3,
        file: "src/store.rs",
        change: Change::Insert {
            text: "self.writes += 1;\n        ",
            before: "let limit = self.slots.len();",
        },
    },
    Edit {
        since: 3,
        file: "src/expression.rs",
        change: Change::Insert {
            text: "/// How many numbers and lists there are.\n#[allow(dead_code)]\npub fn size(node: &Node) -> usize {\n    match node {\n        Node::Number(_) => 1,\n        Node::List(items) => 1 + items.iter().map(size).sum::<usize>(),\n    }\n}\n\n",
            before: "pub fn largest(",
        },
    },
    // Build 4.
    Edit {
        since: 4,
        file: "src/router.rs",
        change: Change::Move { function: "    pub fn next_hop(", before: "    pub fn new(" },
    },
    Edit {
        since: 4,
        file: "src/fault.rs",
        change: Change::Insert {
            text: "fn note(what: &str) {\n    if what.is_empty() {\n        return;\n    }\n    eprintln!(\"note: {what}\");\n}\n\n",
            before: "pub fn fail(",
        },
    },
    Edit {
        since: 4,
        file: "src/fault.rs",
        change: Change::Insert { text: "note(what);\n    ", before: "let text = format!(" },
    },
    Edit {
        since: 4,
        file: "src/watchdog.rs",
        change: Change::Insert {
            text: "println!(\"fed after {ticks}\");\n        ",
            before: "if ticks > LIMIT {",
        },
    },
    Edit {
        since: 4,
        file: "src/store.rs",
        change: Change::Insert { text: "println!(\"{old} before\");\n        ", before: "self.free = self" },
    },
    // Build 5.
    Edit {
        since: 5,
        file: "src/frames.rs",
        change: Change::Insert {
            text: "// Padding has any length.\n        // It has no frame.\n        ",
            before: "if length == 0 {",
        },
    },
    Edit {
        since: 5,
        file: "src/pool.rs",
        change: Change::Insert {
            text: "assert!(!words.is_empty());\n    ",
            before: "let sender = words[1];",
        },
    },
    Edit {
        since: 5,
        file: "src/device.rs",
        change: Change::Move { function: "    fn route(", before: "    fn measure(" },
    },
    Edit {
        since: 5,
        file: "src/device.rs",
        change: Change::Insert {
            text: "    /// Jobs that went well.\n    ///\n    /// A job that failed ended the program.\n",
            before: "    pub fn done(",
        },
    },
];

/// A file of the program in a build: its own text, changed by the edits so far and by the bugs of the build.
///
/// # Panics
/// A text that is replaced is not exactly once in the file.
pub fn text_in_build(file: &str, original: &str, build: u8) -> String {
    let mut text = original.to_owned();
    for edit in EDITS.iter().filter(|edit| edit.file == file && edit.since <= build) {
        text = edit.change.apply(&text);
    }
    for bug in BUGS.iter().filter(|bug| bug.file == file && bug.is_in(build)) {
        let at = only(&text, bug.before);
        text.replace_range(at..at + bug.before.len(), bug.after);
    }
    text
}

/// The files that differ between builds.
pub fn edited_files() -> Vec<&'static str> {
    let mut files: Vec<_> =
        EDITS.iter().map(|edit| edit.file).chain(BUGS.iter().map(|bug| bug.file)).collect();
    files.sort_unstable();
    files.dedup();
    files
}

impl Change {
    fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        match *self {
            Change::Insert { text: new, before } => text.insert_str(only(&text, before), new),
            Change::Move { function, before } => {
                const END: &str = "\n    }\n";
                let start = only(&text, function);
                let end = start + text[start..].find(END).expect("the end of the function") + END.len();
                let moved = text[start..end].to_owned();
                text.replace_range(start..end, "");
                text.insert_str(only(&text, before), &format!("{moved}\n"));
            }
        }
        text
    }
}

/// Where a text is that must be there once.
fn only(text: &str, part: &str) -> usize {
    let mut places = text.match_indices(part);
    let (Some((at, _)), None) = (places.next(), places.next()) else {
        panic!("{part:?} is not exactly once in the file");
    };
    at
}

#[cfg(test)]
mod tests {
    use super::{edited_files, text_in_build};
    use crate::fleet::bugs::{BUGS, BUILDS};
    use crate::repository;

    fn original(file: &str) -> Option<String> {
        let path = repository().join("tests/fixtures/fleet").join(file);
        std::fs::read_to_string(path).ok()
    }

    #[test]
    fn each_build_has_its_bugs_and_no_other() {
        for build in 1..=BUILDS {
            for file in edited_files() {
                // Crates are not part of the repository.
                let Some(original) = original(file) else { continue };
                let text = text_in_build(file, &original, build);
                for bug in BUGS.iter().filter(|bug| bug.file == file) {
                    assert!(!bug.is_in(build) || text.contains(bug.statement), "bug {}", bug.number);
                    assert_eq!(
                        text.matches(bug.before).count(),
                        usize::from(!bug.is_in(build)),
                        "bug {}",
                        bug.number
                    );
                }
            }
        }
    }

    #[test]
    fn the_lines_of_bugs_move_between_builds() {
        for bug in &BUGS {
            let Some(original) = original(bug.file) else { continue };
            let builds = bug.since..=bug.until;
            let lines: Vec<_> =
                builds.map(|build| bug.line(&text_in_build(bug.file, &original, build))).collect();
            assert!(lines.iter().any(|line| *line != lines[0]), "bug {} stays at {lines:?}", bug.number);
        }
    }

    #[test]
    fn bugs_come_and_go() {
        assert!((1..).zip(&BUGS).all(|(number, bug)| bug.number == number && bug.since <= bug.until));
        assert!(BUGS.iter().any(|bug| bug.since > 1) && BUGS.iter().any(|bug| bug.until < BUILDS));
        assert!((1..=BUILDS).all(|build| BUGS.iter().any(|bug| bug.is_in(build))));
    }
}
