//! Is what a program prints in its history, at the statements that print it, and is its output what it was?

use serde_json::Value;
use xhist_tests::{Case, Tree, cargo, line_of, manifest, report};

pub const CASES: &[Case] = &[
    Case::new("printed_texts_are_at_their_statements_and_the_output_is_the_same", printed),
    Case::new("a_test_that_prints_is_captured_as_before", captured),
];

const PROGRAM: &str = r#"#![deny(warnings)]
#![forbid(unused_imports)]
use std::fmt;

mod own;

struct Loud(u32);

impl fmt::Display for Loud {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            7 => println!("inner {}", self.0), // inner
            9 => panic!("no nine"),
            _ => {}
        }
        write!(to, "<{}>", self.0)
    }
}

macro_rules! say {
    ($($text:tt)*) => { println!($($text)*) }; // say
}

fn early(text: Option<&str>) -> Option<usize> {
    println!("early {}", text?); // early
    Some(1)
}

fn main() {
    println!();
    println!("plain"); // plain
    print!("a");
    print!(" b {}\n", 1); // pieces
    let width = 6;
    println!("{:>width$}|{0:?}", Loud(3).to_string()); // wide
    println!("loud {} end", Loud(7)); // loud
    say!("said {width}");
    eprintln!("to stderr {}", 5); // stderr
    // Behind the call of a statement the column would be another.
    let twice =
        dbg!(width * 2); // twice
    let (one, _) =
        dbg!(1, String::from("x")); // both
    assert_eq!(twice + one, 13);
    std::println!("by path");
    println!("{}", "é".repeat(1000)); // long
    println!("{{}} \u{1b}[31mred"); // red
    early(None);
    early(Some("bird"));
    own::show();
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| println!("before {} after", Loud(9))); // before
    match caught.is_err() { true => println!("caught"), false => {} } // caught
    for _ in 0..3 {
        println!("again"); // again
    }
    std::process::exit(3);
}

#[test]
fn fails() {
    println!("captured"); // captured
    panic!("it fails");
}
"#;

/// Another macro of that name: what it prints is its own matter.
const OWN: &str = r#"macro_rules! println {
    ($($text:tt)*) => { std::print!("own: {}\n", format_args!($($text)*)) };
}

pub fn show() {
    println!("mine {}", 2);
}
"#;

fn tree(name: &str) -> Tree {
    let tree = Tree::empty(name);
    tree.write("Cargo.toml", &manifest("prints"));
    tree.write("src/main.rs", PROGRAM);
    tree.write("src/own.rs", OWN);
    tree
}

fn printed() {
    let tree = tree("output");
    let plain = cargo(tree.path()).args("run -q").done().expect(3);
    let done = cargo(tree.path()).args("xhist run -q").done().expect(3);
    assert_eq!(done.stdout, plain.stdout);
    assert!(done.stderr.contains(&plain.stderr) && !plain.stderr.is_empty(), "{}", done.stderr);
    let line = |mark: &str| line_of(&tree.join("src/main.rs"), mark);

    // Each text is behind the statement that printed it.
    let json = report(tree.path()).args("history --format json").succeed().stdout;
    let lines = json.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let outputs = lines.filter(|entry| entry["kind"] == "output");
    let text = |entry: &Value, key: &str| entry[key].as_str().expect("a text").to_owned();
    let mut texts: Vec<(u64, String, String)> = outputs
        .map(|entry| (entry["line"].as_u64().expect("a line"), text(&entry, "stream"), text(&entry, "text")))
        .collect();
    let long = texts.iter().position(|(_, _, text)| text.starts_with("éé")).expect("the long text");
    let (_, _, cut) = &mut texts[long];
    assert!(cut.ends_with("é...") && cut.len() <= 400, "{cut}");
    "long".clone_into(cut);
    let expected = [
        ("plain", "stdout", "plain"),
        ("", "stdout", "a"),
        ("pieces", "stdout", " b 1\\n"),
        ("wide", "stdout", "   <3>|\"<3>\""),
        ("inner", "stdout", "inner 7"),
        ("loud", "stdout", "loud <7> end"),
        ("", "stdout", "said 6"),
        ("stderr", "stderr", "to stderr 5"),
        ("twice", "stderr", "[src/main.rs:41:9] width * 2 = 12"),
        ("both", "stderr", "[src/main.rs:43:9] 1 = 1"),
        ("both", "stderr", "[src/main.rs:43:9] String::from(\"x\") = \"x\""),
        ("long", "stdout", "long"),
        ("red", "stdout", "{} \\u{1b}[31mred"),
        ("early", "stdout", "early bird"),
        ("before", "stdout", "before "),
        ("caught", "stdout", "caught"),
        ("again", "stdout", "again"),
        ("again", "stdout", "again"),
        ("again", "stdout", "again"),
    ];
    assert_eq!(texts.len(), expected.len(), "{texts:#?}");
    for ((at, stream, text), (mark, on, shown)) in texts.iter().zip(expected) {
        assert_eq!((stream.as_str(), text.as_str()), (on, shown));
        assert!(mark.is_empty() || *at == u64::from(line(&format!("// {mark}"))), "{text} at {at}");
    }

    // From a text to its statement, and from a statement to its text.
    let found = report(tree.path()).args("find").arg("\"early b").succeed().stdout;
    assert!(found.contains(&format!("src/main.rs:{}", line("// early"))), "{found}");
    assert!(found.contains("stdout: early bird") && found.contains("1 hit"), "{found}");
    // What its arguments called has returned.
    let found = report(tree.path()).args("find").arg("\"loud <7>").succeed().stdout;
    assert!(found.contains(&format!("src/main.rs:{} main", line("// loud"))), "{found}");
    let missing = report(tree.path()).args("find").arg("\"no such text").done().expect(3);
    assert!(missing.stderr.contains("nothing that was printed"), "{}", missing.stderr);
    let frame = report(tree.path()).args("frame main").succeed().stdout;
    let red = frame.lines().position(|row| row.contains("// red")).expect("the statement");
    assert_eq!(frame.lines().nth(red + 1).map(str::trim), Some("stdout: {} \\u{1b}[31mred"), "{frame}");
    let loud = frame.lines().position(|row| row.contains("// loud")).expect("the statement");
    assert!(frame.lines().skip(loud).take(4).any(|row| row.trim() == "stdout: loud <7> end"), "{frame}");
    assert!(frame.contains("2 times more"), "equal texts are rounds: {frame}");
    let view = report(tree.path()).args("view --print --height 60 --width 120").succeed().stdout;
    assert!(view.contains("stdout: caught"), "{view}");
    let severe = report(tree.path()).args("traceinfo --severity 1..").succeed().stdout;
    assert!(severe.lines().count() == 4 && severe.contains("stderr(0x0a): to stderr 5"), "{severe}");

    // Texts have no numbers: those of statements are the same without them.
    let numbers = || {
        let listing = report(tree.path()).args("history").succeed().stdout;
        let exit = format!("src/main.rs:{}", line("std::process::exit"));
        (listing, report(tree.path()).args("find").arg(&exit).succeed().stdout)
    };
    let with_texts = numbers();
    cargo(tree.path()).args("xhist run -q --output off").done().expect(3);
    let json = report(tree.path()).args("history --format json").succeed().stdout;
    assert!(!json.contains("\"output\""), "{json}");
    assert_eq!(numbers(), with_texts);
}

fn captured() {
    let tree = tree("output-captured");
    let done = cargo(tree.path()).args("xhist test -q").done().expect(101);
    assert!(done.stdout.contains("---- fails stdout ----\ncaptured\n"), "{}", done.stdout);
    let found = report(tree.path()).args("find").arg("\"captured").succeed().stdout;
    let line = line_of(&tree.join("src/main.rs"), "// captured");
    assert!(found.contains(&format!("src/main.rs:{line}")), "{found}");
}
