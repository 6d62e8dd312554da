//! `--strip` on the command line: after rustfmt, on similar code, on calls that cannot be removed; and as a filter.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct Project(tempfile::TempDir);

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.write("Cargo.toml", "[package]\nname = \"p\"\nedition = \"2021\"\n");
        files.iter().for_each(|(path, text)| project.write(path, text));
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        std::fs::write(self.path(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    fn run(&self, args: &[&str]) -> Run {
        run(self.0.path(), args, "")
    }

    fn format(&self, path: &str) {
        let status = Command::new("rustfmt").args(["--edition", "2021"]).arg(self.path(path)).status();
        assert!(status.unwrap().success(), "{path}");
    }
}

fn run(dir: &Path, args: &[&str], input: &str) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xhist-instrument"));
    let command = command.args(args).current_dir(dir);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    // The process may end before it reads all input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn filter(args: &[&str], input: &str) -> Run {
    run(&std::env::temp_dir(), args, input)
}

const SHAPES: &str = "use std::fmt;\n
fn f(list: &[u8]) -> Option<u8> {
    // A comment.
    let Some(first) = list.first() else { return None };
    let sum = match first {
        0 => 1,
        n if *n > 3 => return Some(*n), // behind
        _ => list.iter().map(|x| x / 2).sum(),
    };

    #[cfg(not(never))]
    println!(\"::xhist_rt::e(0x1_0002_0201); {}\", if sum > 3 { 1 } else { 2 });
    if sum == 0 {
    } else if sum == 1 {
        // nothing
    }
    let call = || if sum == 0 { 1 } else { 2 } + 1;
    Some(call())
}

fn main() {
    assert_eq!(f(&[1, 2, 3]), Some(3));
}
";

#[test]
fn strip_restores_sources_after_rustfmt() {
    let project = Project::new(&[("src/main.rs", SHAPES), ("src/other.rs", "fn g() { x() }\n")]);
    project.format("src/main.rs");
    let before = project.read("src/main.rs");
    assert_eq!(project.run(&["src"]).code, Some(0));
    let instrumented = project.read("src/main.rs");
    project.format("src/main.rs");
    let moved = project.read("src/main.rs");
    assert!(moved != instrumented && moved.contains("\n    ::xhist_rt::e(0x1_0005_0201);\n"), "{moved}");
    let strip = project.run(&["--strip", "src"]);
    assert_eq!((strip.code, strip.err.contains("2 files stripped, 0 had")), (Some(0), true), "{}", strip.err);
    let stripped = project.read("src/main.rs");
    assert!(!stripped.replace("\"::xhist_rt::e", "").contains("xh"), "{stripped}");
    project.format("src/main.rs");
    assert_eq!(project.read("src/main.rs"), before);
    assert_eq!(project.read("src/other.rs"), "fn g() { x() }\n");
}

#[test]
fn code_similar_to_a_call_stays() {
    let text = "mod my_xhist_rt { pub fn s(_: u32, _: u32) {} }\r\n/* ::xhist_rt::s(0x1_0002_0a01); /*xh*/ */\r\n\
        fn main() { my_xhist_rt::s(0x1_0002_0a01); println!(\"::xhist_rt::s(0x1_0002_0301);\", r#\"{/*xh*/}\"#); ::xhist_rt::s(a, 2); }\r\n";
    let project = Project::new(&[("src/main.rs", text), ("src/a.rs", "\u{feff}fn a() { x() }\r\n")]);
    let strip = project.run(&["--strip", "src"]);
    assert_eq!((strip.code, strip.err.as_str()), (Some(0), "0 files stripped, 2 had nothing inserted\n"));
    assert_eq!(project.read("src/main.rs"), text);
    assert_eq!(project.run(&["src"]).code, Some(0));
    assert!(
        project.read("src/main.rs").contains("::xhist_rt::e(0x2_0003_1301);my_xhist_rt::s(0x1_0002_0a01);")
    );
    assert_eq!(project.run(&["--strip", "src"]).code, Some(0));
    assert_eq!(project.read("src/main.rs"), text);
    assert_eq!(project.read("src/a.rs"), "\u{feff}fn a() { x() }\r\n");
}

#[test]
fn a_file_that_the_map_does_not_name_stays() {
    let own = "fn own() { ::xhist_rt::e(0x28_0032_0201); x() }\n";
    let project = Project::new(&[("src/a.rs", "fn a() { x() }\n")]);
    assert_eq!(project.run(&["src"]).code, Some(0));
    project.write("src/own.rs", own);
    let strip = project.run(&["--strip", "src"]);
    let shown = "src/own.rs:1:12: looks like a call of ours, but the map does not name this file; left alone";
    assert_eq!((strip.code, strip.err.contains(shown)), (Some(0), true), "{}", strip.err);
    assert!(strip.err.contains("1 file stripped, 1 had nothing inserted"), "{}", strip.err);
    assert_eq!(
        (project.read("src/own.rs"), project.read("src/a.rs")),
        (own.into(), "fn a() { x() }\n".into())
    );
    // Not one file of the map was found: it may be the wrong map.
    let alone = project.run(&["--strip", "src/own.rs"]);
    assert_eq!(
        (alone.code, alone.err.contains("names none of these files")),
        (Some(1), true),
        "{}",
        alone.err
    );
    assert_eq!(project.read("src/own.rs"), own);
    // A moved file is recognised by its calls.
    assert_eq!(project.run(&["src/a.rs"]).code, Some(0));
    std::fs::rename(project.path("src/a.rs"), project.path("src/b.rs")).unwrap();
    assert_eq!(project.run(&["--strip", "src/b.rs"]).code, Some(0));
    assert_eq!(project.read("src/b.rs"), "fn a() { x() }\n");
    // Without a map, all calls are removed.
    std::fs::remove_file(project.path("xhist.map")).unwrap();
    assert_eq!(project.run(&["--strip", "src"]).code, Some(0));
    assert_eq!(project.read("src/own.rs"), "fn own() { x() }\n");
}

#[test]
fn a_call_that_cannot_be_removed_is_an_error_and_the_file_stays() {
    let project = Project::new(&[("src/a.rs", "fn a() {\n    x()\n}\n"), ("src/b.rs", "fn b() { y() }\n")]);
    assert_eq!(project.run(&["src"]).code, Some(0));
    let edited = project
        .read("src/a.rs")
        .replace("::xhist_rt::e(0x1_0002_0201);", "let t = ::xhist_rt::e(0x1_0002_0201);");
    project.write("src/a.rs", &edited);
    let strip = project.run(&["--strip", "src"]);
    assert_eq!(strip.code, Some(1));
    assert!(
        strip.err.contains("src/a.rs:2:15: looks like an inserted call, but it is part of an"),
        "{}",
        strip.err
    );
    assert!(strip.err.contains("1 file stripped, 0 had nothing inserted"), "{}", strip.err);
    assert_eq!((project.read("src/a.rs"), project.read("src/b.rs")), (edited, "fn b() { y() }\n".into()));
}

#[test]
fn a_comment_that_holds_calls_is_reported() {
    let project = Project::new(&[("src/a.rs", "fn a() {\n    x();\n    y();\n}\n")]);
    assert_eq!(project.run(&["src"]).code, Some(0));
    let edited = project
        .read("src/a.rs")
        .replace("::xhist_rt::e(0x1_0002_0201);x();", "// ::xhist_rt::e(0x1_0002_0201);x();");
    project.write("src/a.rs", &edited);
    let strip = project.run(&["--strip", "src"]);
    let note = "note: src/a.rs:2:5: a comment with calls in it stays";
    assert_eq!((strip.code, strip.err.contains(note)), (Some(0), true), "{}", strip.err);
    assert_eq!(project.read("src/a.rs"), "fn a() {\n    // ::xhist_rt::e(0x1_0002_0201);x();\n    y();\n}\n");
}

#[test]
fn a_filter_strips_moved_calls_or_reports_an_error() {
    let moved = "fn f() {\n    ::xhist_rt::e(0x0_0001_0201);\n    x(|| {\n        ::xhist_rt::a(0x0_0002_0301);\n        y /*xh*/\n    })\n}\n";
    let strip = filter(&["--strip", "-"], moved);
    assert_eq!((strip.code, strip.out.as_str()), (Some(0), "fn f() {\n    x(|| y)\n}\n"));
    let strip =
        filter(&["--strip", "-", "--stdin-path", "a.rs"], "fn f() {\n  x(::xhist_rt::e(0x0_0001_0201)) }");
    assert_eq!((strip.code, strip.out.as_str()), (Some(1), ""));
    assert!(strip.err.contains("a.rs:2:7: looks like an inserted call, but no `;` follows"), "{}", strip.err);
}

#[test]
fn a_filter_obeys_debug_directives() {
    let text = "fn f() {\n// xhist debug TRUE\nx();\nm!({ a; b });\n// xhist debug FALSE\ny();\n}\n";
    let directory = tempfile::tempdir().unwrap();
    let run = run(directory.path(), &["-", "--stdin-path", "a.rs"], text);
    let expected = "debug: a.rs:3:1 expr f\ndebug: a.rs:4:1 macro f\ndebug: a.rs:4:1 skipped: inside the arguments of a macro\n";
    assert_eq!((run.code, run.err.as_str()), (Some(0), expected));
    assert!(run.out.contains("// xhist debug TRUE\n::xhist_rt::e(0x1_0003_0201);x();\n"));
}

#[test]
fn a_filter_that_checks_prints_a_summary_or_an_error() {
    let good = filter(&["--check", "-"], "fn f() { x(); y() }");
    assert_eq!((good.code, good.out.as_str()), (Some(0), ""));
    assert!(good.err.starts_with("1 file: 2 statements, 0 skipped (100.0 % recorded)"), "{}", good.err);
    for args in [&["--check", "-", "--stdin-path", "a.rs"][..], &["-", "--stdin-path", "a.rs"]] {
        let bad = filter(args, "fn f() {\n  let = 1;\n}");
        assert_eq!((bad.code, bad.out.as_str()), (Some(1), ""));
        assert!(bad.err.starts_with("xhist-instrument: a.rs:2:7: does not parse: "), "{}", bad.err);
        assert!(!bad.err.contains("recorded"), "{}", bad.err);
    }
}
