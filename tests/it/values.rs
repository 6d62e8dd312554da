//! Are values shown behind their statements, in every format, with the right types or else as bytes?

mod debugger;
mod kinds;

use std::sync::OnceLock;

use serde_json::Value;
use xhist_tests::{Case, Done, Need, Tree, cargo, report};

pub const CASES: &[Case] = &[
    Case::new("values_are_shown_behind_their_statements", || shown("")),
    Case::new("values_of_release_builds_are_shown_alike", || shown("--release")),
    Case::new("types_of_a_library_are_known_in_its_integration_tests", library),
    Case::new("calls_have_their_arguments", calls),
    Case::new("redacted_values_are_in_no_format", redacted),
    Case::new("values_without_a_program_or_of_another_are_bytes", other_programs),
    Case::new("the_first_value_that_differs_is_named", differences),
    Case::new("the_answer_to_a_failure_has_values", failure),
    Case::new("values_say_what_they_point_to", kinds::what_they_point_to),
    Case::new("a_type_with_a_name_of_the_standard_library_is_another", kinds::other_types),
    Case::needing("a_debugger_shows_the_same", &[Need::Gdb], debugger::shows_the_same),
];

const MAIN: &str = r#"#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Empty,
    Data { len: usize },
}

struct Item {
    name: &'static str,
    kind: Kind,
}

fn classify(size: usize, name: &'static str) -> Item {
    let half = size / 2;
    let kind = if half == 0 { Kind::Empty } else { Kind::Data { len: half } };
    let item = Item { name, kind };
    item
}

fn twice<T: Copy>(value: T) -> (T, T) {
    let pair = (value, value);
    pair
}

fn main() {
    let size = std::env::args().nth(1).map_or(4242, |size| size.parse().unwrap());
    let password = 77u16;
    let item = classify(size, "hello");
    let found = Some(item.name);
    let number = twice(7u8);
    let letter = twice('x');
    println!("{} {:?} {found:?} {number:?} {letter:?} {password}", item.name, item.kind);
}

#[cfg(test)]
mod tests {
    #[test]
    fn items_are_small() {
        for round in 1..=3_usize {
            super::twice(round);
        }
        let item = super::classify(9000, "large");
        assert_eq!(item.kind, super::Kind::Empty);
    }
}
"#;

/// A program with values of many types.
pub fn project() -> Tree {
    let tree = Tree::package("valued");
    tree.write("src/main.rs", MAIN);
    tree
}

/// Records a run in `NAME.xhist`.
fn record(tree: &Tree, name: &str, options: &str, args: &str) -> Done {
    let run = cargo(tree.path()).args("xhist run --quiet --values **").args(options);
    run.arg("--").args(args).env("XHIST_FILE", tree.join(&format!("{name}.xhist"))).succeed()
}

/// A project that ran once, in `valued.xhist`.
fn recorded() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| {
        let tree = project();
        record(&tree, "valued", "", "");
        tree
    })
}

/// Of an object in a library the linker takes what something refers to: the types' debug information, too.
fn library() {
    let tree = Tree::package("shelf");
    tree.write("src/lib.rs", "pub mod parts;\n");
    tree.write(
        "src/parts.rs",
        "pub struct Parts {\n    pub all: Vec<(u8, u8)>,\n}\n\nimpl Parts {\n    pub fn longest(&self) -> usize {\n        \
         let kept = Parts { all: Vec::new() };\n        self.all.len() + kept.all.len()\n    }\n}\n",
    );
    tree.write(
        "tests/longest.rs",
        "#[test]\nfn longest() {\n    let parts = shelf::parts::Parts { all: vec![(1, 2)] };\n    assert_eq!(parts.longest(), 2);\n}\n",
    );
    let done = cargo(tree.path()).args("xhist test --quiet --values src/parts.rs").done().expect(101);
    for value in ["self = Parts { all: Vec(0x", "kept = Parts { all: [] }"] {
        done.check(done.stderr.contains(value), value);
    }
    done.check(!done.stderr.contains("(24 bytes)"), "no value is bytes");
}

fn shown(options: &str) {
    let release = OnceLock::new();
    let tree = match options {
        "" => recorded(),
        _ => release.get_or_init(|| {
            let tree = project();
            record(&tree, "valued", options, "");
            tree
        }),
    };
    let done = report(tree.path()).args("valued.xhist --all").succeed();
    for (place, values) in [
        (":13", "  size = 4242, name = \"hello\", half = 2121"),
        (":14", "  kind = Data { len: 2121 }"),
        (":15", "  item = Item { name: \"hello\", kind: Data { len: 2121 } }"),
        (":26", "  password = 77"),
    ] {
        let place = format!("src/main.rs{place}");
        let mut lines = done.stdout.lines();
        done.check(lines.any(|line| line.contains(&place) && line.ends_with(values)), values);
    }
    for text in ["found = Some(\"hello\")", "pair = (7, 7)", "pair = ('x', 'x')", "value = 'x'"] {
        done.check(done.stdout.contains(text), text);
    }
    done.check(done.stderr.is_empty(), "nothing to note");
    let json = report(tree.path()).args("valued.xhist --format json").succeed();
    let lines = json.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
    let is_it = |line: &Value| line["line"] == 14 && line["values"].is_array();
    let statement = lines.into_iter().find(is_it).expect("the statement");
    let value = &statement["values"][0];
    json.check(value["name"] == "kind" && value["text"] == "Data { len: 2121 }", "its name and its text");
    json.check(value["type"].as_str().is_some_and(|name| name.ends_with("Kind")), "its type");
    json.check(value["bytes"].as_str().is_some_and(|bytes| bytes.len() == 32), "its bytes");
    let source = report(tree.path()).args("valued.xhist --source").succeed();
    source.check(source.stdout.contains("password = 77\tlet password = 77u16;"), "with the source");
}

fn calls() {
    let done = report(recorded().path()).args("calls valued.xhist").succeed();
    done.check(done.stdout.contains("classify(size: 4242, name: \"hello\")"), "the arguments");
    let json = report(recorded().path()).args("calls --format json valued.xhist").succeed();
    json.check(json.stdout.contains(r#""arguments":[{"name":"size""#), "as JSON");
}

fn redacted() {
    for format in ["history", "history --format json", "calls", "calls --format json"] {
        let args = format!("{format} valued.xhist --redact password --redact size");
        let done = report(recorded().path()).args(&args).succeed();
        // Times and ids may have the same digits.
        let shown =
            ["77", "4242", "4d00"].map(|text| ["= ", ": ", "\""].map(|before| format!("{before}{text}")));
        let found: Vec<_> = shown.iter().flatten().filter(|text| done.stdout.contains(*text)).collect();
        done.check(found.is_empty(), &format!("{format} has neither texts nor bytes: {found:?}"));
    }
    let done = report(recorded().path()).args("valued.xhist --redact **").succeed();
    done.check(done.stdout.contains("kind = <redacted>") && !done.stdout.contains("2121"), "all");
}

fn other_programs() {
    let tree = recorded();
    // Another build of another program of the same name.
    let other = project();
    other.replace(
        "src/main.rs",
        "let half = size / 2;",
        "let half = size / 2; let more = [half; 40]; drop(more);",
    );
    record(&other, "valued", "", "");
    let program = format!("{}", other.join("target/xhist/build").display());
    let found = walk(&program);
    let done = report(tree.path()).arg("valued.xhist").arg("--program").arg(&found).done();
    done.check(!done.stderr.contains("panicked"), "no panic");
    let nowhere = Tree::empty("values-nowhere");
    std::fs::copy(tree.join("valued.xhist"), nowhere.join("renamed.xhist")).expect("a copy");
    let done = report(nowhere.path()).args("renamed.xhist").done();
    done.check(done.stderr.contains("--program FILE"), "a note says what to do");
    done.check(done.stdout.contains(" bytes)"), "values are bytes");
    let wrong = report(tree.path()).args("valued.xhist --program Cargo.toml").done().expect(1);
    wrong.check(wrong.stderr.contains("Cargo.toml is not a program; values are shown as bytes"), "why");
}

/// The newest program below a directory of builds.
fn walk(directory: &str) -> std::path::PathBuf {
    let files = walkdir::WalkDir::new(directory).into_iter().filter_map(Result::ok);
    let programs = files.filter(|entry| entry.file_name() == "valued" && entry.file_type().is_file());
    programs.map(walkdir::DirEntry::into_path).next().expect("a program")
}

fn differences() {
    let tree = recorded();
    record(tree, "good", "", "4000");
    record(tree, "bad", "", "4001");
    let done = report(tree.path()).args("diff good.xhist bad.xhist").done();
    for text in ["GOOD  4000", "BAD   4001", "src/main.rs:25  size", "control flow is the same"] {
        done.check(done.stdout.contains(text), text);
    }
    let json = report(tree.path()).args("diff --format json good.xhist bad.xhist").done();
    json.check(json.stdout.contains(r#""kind":"value""#), "as JSON");
}

fn failure() {
    let tree = project();
    let done = cargo(tree.path()).args("xhist test --quiet --values **").done().expect(101);
    done.check(done.stderr.contains("let half = size / 2;  size = 9000"), "values in the listing");
    done.check(done.stderr.contains("half = 4500"), "of each line");
    done.check(
        done.stderr.contains("round = 3; first round = 1"),
        "of the last and the first round of a loop",
    );
    // The call ran other statements before it was bound.
    let bound = done.stderr.lines().find(|line| line.contains("let item = super::classify(9000"));
    let bound = bound.expect("the statement of the test");
    done.check(bound.contains("  item = Item"), "a value is behind the statement that binds it");
}
