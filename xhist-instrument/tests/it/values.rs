//! Values from the command line: what is selected, where the calls are, the numbers in the map, and how they come out.

use crate::project::{PROGRAM, Project, Run};
use std::io::Write as _;
use std::process::{Command, Stdio};

const PARSER: &str = "pub fn header(text: &str) -> usize {\n    let len = text.len();\n    len\n}\n\
                      pub fn body(x: u8) -> u8 { x }\n";
const MAIN: &str = "mod parser;\nfn main() {\n    let x = parser::body(1);\n    println!(\"{x}\");\n}\n";

fn project() -> Project {
    Project::new(&[("src/main.rs", MAIN), ("src/parser.rs", PARSER)])
}

/// A text through the filter, with each call shortened to `<name number>`.
fn marked(text: &str, args: &[&str]) -> String {
    let mut command = Command::new(PROGRAM);
    let command = command.args(["-", "--values", "**", "--tasks", "off"]).args(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let text = Run::new(child.wait_with_output().unwrap()).out;
    let mut parts = text.split("::xhist_rt::");
    let mut marked = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("::<").or_else(|| part.split_once('(')).unwrap();
        let (arguments, behind) = rest.split_once(");").unwrap();
        match arguments.split_once(",_>(&") {
            Some((number, value)) => marked += &format!("<{name} {number} {value}>{behind}"),
            None => marked += &format!("<{name}>{behind}"),
        }
    }
    marked.replace("/*xh*/", "")
}

#[track_caller]
fn assert_marked(text: &str, expected: &str) {
    assert_eq!(marked(text, &["--value-bytes", "8"]), expected);
}

#[test]
fn values_follow_the_call_of_their_statement() {
    assert_marked("fn f(a: u8) { x(a); }", "fn f(a: u8) { <e><v 1 a>x(a); }");
    assert_marked("fn f(a: u8) { use b::c; x(a); }", "fn f(a: u8) { use b::c; <e><v 1 a>x(a); }");
    assert_marked("fn f(a: u8) { let a; x(a); }", "fn f(a: u8) { let a; <e>x(a); }");
    assert_marked(
        "fn f(a: u8) { #[cfg(b)] x(a); y(); }",
        "fn f(a: u8) { #[cfg(b)] <ce>#[cfg(b)] x(a); <e>y(); }",
    );
    assert_marked("fn f(a: u8) {}", "fn f(a: u8) {}");
    assert_marked(
        "fn f(self) { let (a, mut b) = c; }",
        "fn f(self) { <e><v 1 self>let (a, mut b) = c;<v 2 a><v 3 b> }",
    );
    assert_marked(
        "fn f() { #[cfg(a)] let b = c; }",
        "fn f() { #[cfg(a)] <ce>#[cfg(a)] let b = c;#[cfg(a)] <v 1 b> }",
    );
    assert_marked(
        "fn f() { a(|b| b, |c| {d} + c) }",
        "fn f() { <e>a(|b| {<ae><v 1 b>b}, |c| {<pe><v 2 c>({<s>d} + c)}) }",
    );
    assert_marked("fn f() { for a in b {} }", "fn f() { <e>for a in b {<e><v 1 a>} }");
    assert_marked(
        "fn f<T>(a: T) { b } impl<T> U<T> { fn g(a: u8) { b } }",
        "fn f<T>(a: T) { <e><vg 1 a>b } impl<T> U<T> { fn g(a: u8) { <e><vg 2 a>b } }",
    );
    assert_eq!(
        marked("fn f(a: u8) { x(); let b = a; }", &["--detail", "function"]),
        "fn f(a: u8) { <e><vt 1 a>x(); <e>let b = a;<vt 2 b> }"
    );
    assert_eq!(
        marked("fn f(a: u8) { x(a); let b = a; }", &["--when", "after"]),
        "fn f(a: u8) { <e><vt 1 a>x(a); let b = a;<e><vt 2 b> }"
    );
    assert_eq!(marked("fn f(a: u8) { x(a); }", &["--value-bytes", "32"]), "fn f(a: u8) { <e><vw 1 a>x(a); }");
    assert_eq!(
        marked("fn f<T>(a: T) { x(a); }", &["--value-targets"]),
        "fn f<T>(a: T) { <e><vtg 1 a>x(a); }"
    );
}

#[test]
fn references_are_known_by_the_text_of_the_source() {
    for (text, expected) in [
        ("fn f(&self) { x(); }", "fn f(&self) { <e><vr 1 self>x(); }"),
        ("fn f(&mut self) { x(); }", "fn f(&mut self) { <e><vr 1 self>x(); }"),
        ("fn f(self: &Self) { x(); }", "fn f(self: &Self) { <e><vr 1 self>x(); }"),
        ("fn f(self) { x(); }", "fn f(self) { <e><vt 1 self>x(); }"),
        ("fn f(a: &T) { x(); }", "fn f(a: &T) { <e><vr 1 a>x(); }"),
        ("fn f(a: &mut [u8]) { x(); }", "fn f(a: &mut [u8]) { <e><vr 1 a>x(); }"),
        // The names of a pattern need not be references.
        ("fn f((a, b): &T) { x(); }", "fn f((a, b): &T) { <e><vt 1 a><vt 2 b>x(); }"),
        ("fn f(a: Box<T>) { x(); }", "fn f(a: Box<T>) { <e><vt 1 a>x(); }"),
        ("fn f<T>(a: &T) { x(); }", "fn f<T>(a: &T) { <e><vrg 1 a>x(); }"),
        (
            "fn f() { let a = &b; let c: &T = d(); }",
            "fn f() { <e>let a = &b;<vr 1 a> <s>let c: &T = d();<vr 2 c> }",
        ),
        (
            "fn f() { let a = b(); let c = |d: &T| e; }",
            "fn f() { <e>let a = b();<vt 1 a> <s>let c = |d: &T| {<ae><vt 3 d>e};<vt 2 c> }",
        ),
        ("async fn f(&self) { x().await; }", "async fn f(&self) { <e><vr 1 {self}>x().await; }"),
        ("async fn f(&mut self) { x().await; }", "async fn f(&mut self) { <e>x().await; }"),
    ] {
        assert_eq!(marked(text, &[]), expected);
    }
    // An address alone says nothing of `self`.
    for bytes in ["8", "32"] {
        assert_eq!(marked("fn f(&self) { x(); }", &["--value-bytes", bytes]), "fn f(&self) { <e>x(); }");
    }
    let both = ["--value-bytes", "8", "--value-targets"];
    assert_eq!(marked("fn f(a: u8) { x(); }", &both), "fn f(a: u8) { <e><vt 1 a>x(); }");
}

#[test]
fn no_reference_lives_over_an_await() {
    assert_marked(
        "async fn f(a: T) { let b = c(); d }",
        "async fn f(a: T) { <e><v 1 a>let b = c();<v 2 b> <s>d }",
    );
    assert_marked(
        "async fn f(a: T) { let b = c(); d().await }",
        "async fn f(a: T) { <e>let b = c(); <s>d().await }",
    );
    assert_marked(
        "async fn f(a: u8) { let b = 1; d().await; let c = e(); c }",
        "async fn f(a: u8) { <e><v 1 {a}>let b = 1;<v 2 {b}> <s>d().await; <e>let c = e();<v 3 c> <s>c }",
    );
    assert_marked(
        "async fn f() { let b = c(); select! { d } }",
        "async fn f() { <e>let b = c(); <s>select! { d } }",
    );
    assert_marked(
        "async fn f() { if let Some(b) = c { d.await } else if let e = g { h } }",
        "async fn f() { <e>if let Some(b) = c { <s>d.await } else {<ae>if let e = g { <s><v 1 e>h }} }",
    );
    assert_marked(
        "fn f() { async { let b = c(); || { let e = g(); e }; d.await } }",
        "fn f() { <e>async { <e>let b = c(); <s>|| { <e>let e = g();<v 1 e> <s>e }; <s>d.await } }",
    );
    assert_marked(
        "async fn f() { let mut a = 1; a = 2; b.await; a += 1; }",
        "async fn f() { <e>let mut a = 1;<v 1 {a}> <s>a = 2; <s>b.await; <e>a += 1; }",
    );
}

#[test]
fn patterns_select_and_the_share_is_printed() {
    let project = project();
    let run = project.run(&["--values", "p::parser::header", "--values", "src/none.rs", "src"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("values: 2 of 2 bindings recorded"), "{}", run.err);
    assert!(run.err.contains("note: --values src/none.rs: no binding matches"), "{}", run.err);
    assert!(project.read("src/parser.rs").contains("::xhist_rt::vr::<1,_>(&text);let len"));
    assert!(!project.read("src/parser.rs").contains("(&x)") && !project.read("src/main.rs").contains("(&x)"));
    assert!(project.read("src/main.rs").contains("::xhist_rt::mv::<0x"));
    let list = project.run(&["--list", "--values", "**", "src"]).out;
    assert!(list.contains("src/parser.rs:1:15 value text of param header\n"), "{list}");
    assert!(list.contains("src/main.rs:3:9 value x of let main\n"), "{list}");
}

#[test]
fn manifests_have_values_too() {
    let project = project();
    let manifest = project.read("Cargo.toml");
    let table = "[package.metadata.xhist]\nvalues = [\"src/parser.rs\"]\nvalue-bytes = \"32\"\n";
    project.write("Cargo.toml", format!("{manifest}{table}"));
    assert_eq!(project.run(&["--values", "p::main", "src"]).code, Some(0));
    assert!(project.read("src/parser.rs").contains("::xhist_rt::vw::<"));
    assert!(
        project.read("src/main.rs").contains("::xhist_rt::vw::<1,_>(&x);"),
        "{}",
        project.read("src/main.rs")
    );
}

#[test]
fn a_map_has_values_as_long_as_there_are_some() {
    let project = project();
    assert_eq!(project.run(&["src"]).code, Some(0));
    let plain = project.read("xhist.map");
    assert!(plain.contains("\"version\":3") && !plain.contains("value"));
    assert_eq!(project.run(&["--values", "**", "src"]).code, Some(0));
    let map = project.read("xhist.map");
    assert!(map.contains("\"version\":4") && map.contains("\"values\":1,\"value_room\":17,"), "{map}");
    let line = "{\"value\":2,\"line\":2,\"col\":9,\"name\":\"len\",\"kind\":\"let\",\"fn\":\"header\",\"text\":true}";
    assert!(map.contains(line), "{map}");
    // Numbers stay, also when only one of the files is brought up to date.
    let text = project.read("src/parser.rs");
    project.write("src/main.rs", MAIN.replace("fn main() {", "fn main() {\n    let y = 2;"));
    assert_eq!(project.run(&["--values", "**", "src"]).code, Some(0));
    assert_eq!(project.read("src/parser.rs"), text);
    assert_eq!(project.run(&["--values", "p::other", "src"]).code, Some(0));
    assert!(project.read("xhist.map").contains("\"version\":3"));
    assert!(project.read("src/main.rs").contains("::xhist_rt::m(0x"));
    assert_eq!(project.run(&["--values", "**", "src"]).code, Some(0));
    assert_eq!(project.run(&["--strip", "src"]).code, Some(0));
    assert_eq!(project.read("src/parser.rs"), PARSER);
}

#[test]
fn a_watch_needs_no_values() {
    let project = project();
    let run = project.run(&["--watch", "parser.rs:2+5:len=1\"2", "src"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let call = "let len = text.len();::xhist_rt::watch(0,5,::core::option::Option::Some(\"1\\\"2\"),&len);";
    assert!(project.read("src/parser.rs").contains(call), "{}", project.read("src/parser.rs"));
    assert!(project.read("xhist.map").contains("\"version\":3"));
    assert_eq!(project.run(&["--strip", "src"]).code, Some(0));
    assert_eq!(project.read("src/parser.rs"), PARSER);
    let wrong = project.run(&["--watch", "parser.rs:2:size", "src"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    let nearest = "--watch parser.rs:2:size: `size` gets no value in line 2 that can be recorded; the nearest are `len` in line 2";
    assert!(wrong.err.contains(nearest), "{}", wrong.err);
}
