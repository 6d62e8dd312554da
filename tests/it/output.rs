//! Is what a program prints in its history, at the statements that print it, and is its output what it was?

use serde_json::Value;
use xhist_tests::{Case, Run, Tree, cargo, line_of, manifest, report, rings_in};

pub const CASES: &[Case] = &[
    Case::new("printed_texts_are_at_their_statements_and_the_output_is_the_same", printed),
    Case::new("a_test_that_prints_is_captured_as_before", captured),
    Case::new("what_is_written_past_the_macros_is_recorded_once", written),
    Case::new("messages_of_std_are_recorded_but_that_of_a_panic", messages),
    Case::new("lines_of_the_test_harness_are_not_recorded", harness),
    Case::new("libraries_and_programs_with_a_write_of_their_own_link", linked),
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
        .map(|entry| {
            (entry["line"].as_u64().unwrap_or_default(), text(&entry, "stream"), text(&entry, "text"))
        })
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
        ("", "stdout", "by path"),
        ("long", "stdout", "long"),
        ("red", "stdout", "{} \\u{1b}[31mred"),
        ("early", "stdout", "early bird"),
        ("", "stdout", "own: mine 2"),
        ("before", "stdout", "before "),
        ("caught", "stdout", "caught"),
        ("again", "stdout", "again"),
        ("again", "stdout", "again"),
        ("again", "stdout", "again"),
    ];
    // Where the system shows no writes, what is printed past the macros is not there.
    let is_past = |text: &str| ["by path", "own: mine 2"].contains(&text);
    let expected: Vec<_> = expected.into_iter().filter(|(.., text)| is_hooked() || !is_past(text)).collect();
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

/// Each output with its stream.
fn outputs(json: &str) -> Vec<String> {
    let lines = json.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let shown = |entry: Value| {
        let text = |key: &str| entry[key].as_str().map(str::to_owned);
        Some(format!("{} {}", text("stream")?, text("text")?))
    };
    lines.filter(|entry| entry["kind"] == "output").filter_map(shown).collect()
}

const WRITES: &str = include_str!("../fixtures/output/writes.rs");

/// Where the system shows no writes, nothing of this is recorded.
fn is_hooked() -> bool {
    cfg!(all(target_os = "linux", target_env = "gnu"))
}

fn written() {
    let tree = Tree::empty("output-written");
    tree.write("Cargo.toml", &manifest("writes"));
    tree.write("src/main.rs", &WRITES.replace("NOWHERE", "-1"));
    let plain = cargo(tree.path()).args("run -q").done().expect(3);
    let done = cargo(tree.path()).args("xhist run -q").done().expect(3);
    assert_eq!(done.stdout, plain.stdout);
    if !is_hooked() {
        return;
    }
    // A child has a ring file of its own.
    let run =
        std::fs::read_dir(tree.join("target/xhist/runs")).expect("runs").flatten().next().expect("a run");
    let rings = rings_in(&run.path());
    let texts = |ring| outputs(&report(tree.path()).args("history --format json").arg(ring).done().stdout);
    let (of_child, of_program): (Vec<_>, Vec<_>) =
        rings.iter().map(texts).partition(|texts| texts.iter().any(|text| text.ends_with("in a child")));
    assert_eq!(of_child, [["stdout in a child"]]);
    let found = of_program.concat();
    let mut expected = vec!["stdout writeln 1", "stdout by path 2", "stdout direct"];
    expected.extend(["BUFFER", "stdout working", "stdout  done", "stdout macro", "stdout  and more"]);
    // The text of the macro is recorded twice, because it was written with another.
    expected.extend(["stdout more and macro", "stdout  and macro"]);
    expected.extend(["stdout one\\ntwo", "stdout  three", "LONG", "stderr stderr 1", "stderr to stderr"]);
    expected.extend(["stdout in pieces", "stdout \u{fffd}\\u{1}", "stderr in a handler", "stdout the end"]);
    let shown = |text: &String| match text {
        text if text.starts_with("stdout line 0\\nline 1\\n") && text.ends_with(" bytes more") => {
            "BUFFER".into()
        }
        text if text.starts_with("stdout long long") && text.ends_with("...") => "LONG".into(),
        text => text.clone(),
    };
    let of_main: Vec<String> =
        found.iter().map(shown).filter(|text| !text.ends_with("in a thread")).collect();
    assert_eq!(of_main, expected);
    assert_eq!(found.len(), expected.len() + 1, "that of a thread: {found:#?}");
    // Each is at the statement that wrote it.
    for (text, mark) in [("writeln", "writeln"), ("by path", "path"), ("line 0", "flush")] {
        let hit = report(tree.path()).args("find --limit 3").arg(format!("\"{text}")).succeed();
        let line = line_of(&tree.join("src/main.rs"), &format!("// {mark}"));
        hit.check(hit.stdout.contains(&format!("src/main.rs:{line}")), text);
    }
    // Its device reads nothing, so the pointer is good for it.
    tree.write("src/main.rs", &WRITES.replace("NOWHERE", "7"));
    let mut quiet = cargo(tree.path()).args("xhist run -q").into_command();
    let status = quiet.stdout(std::process::Stdio::null()).status().expect("it starts");
    assert_eq!(status.code(), Some(3));

    for off in ["--output off", ""] {
        if off.is_empty() {
            let manifest = manifest("writes");
            tree.write("Cargo.toml", &format!("{manifest}\n[package.metadata.xhist]\noutput = \"off\"\n"));
        }
        tree.write("src/main.rs", &WRITES.replace("NOWHERE", "-1"));
        cargo(tree.path()).args(&format!("xhist run -q {off}")).done().expect(3);
        let json = report(tree.path()).args("history --format json").succeed().stdout;
        assert!(!json.contains("\"output\""), "{off}: {json}");
    }
}

const MESSAGES: &str = r#"use std::io::{self, Write};

fn deep(left: u64) -> u64 {
    let room = [left; 100];
    if left == 0 { 0 } else { deep(left - 1) + room[left as usize % 100] }
}

fn main() -> Result<(), String> {
    match std::env::args().nth(1).as_deref() {
        Some("panic") => panic!("the message"),
        Some("hook") => {
            std::panic::set_hook(Box::new(|_| io::stderr().write_all(b"own hook").unwrap()));
            panic!("the message")
        }
        Some("overflow") => println!("{}", deep(u64::MAX)),
        Some("memory") => std::alloc::handle_alloc_error(std::alloc::Layout::new::<u64>()),
        _ => return Err("the result".into()),
    }
    Ok(())
}
"#;

/// What of the messages that std itself prints is in the history. Each has several writes.
fn messages() {
    let tree = Tree::empty("output-messages");
    tree.write("Cargo.toml", &manifest("messages"));
    tree.write("src/main.rs", MESSAGES);
    for (word, printed, recorded) in [
        ("panic", "the message", ""),
        ("hook", "own hook", "own hook"),
        ("overflow", "has overflowed its stack", "has overflowed its stack"),
        ("memory", "memory allocation of 8 bytes failed", "memory allocation of 8 bytes failed"),
        ("result", "Error: \"the result\"", "Error: \"the result\""),
    ] {
        let done = cargo(tree.path()).args(&format!("xhist run -q -- {word}")).done();
        done.check(done.stderr.contains(printed), printed);
        let json = report(tree.path()).args("history --format json").succeed().stdout;
        let texts: String = outputs(&json).iter().filter_map(|text| text.strip_prefix("stderr ")).collect();
        match recorded {
            "" => assert_eq!(texts, "", "{word}"),
            recorded => assert!(!is_hooked() || texts.contains(recorded), "{word}: {texts}"),
        }
    }
}

const TESTS: &str = r#"#![forbid(unsafe_code)]
#![deny(missing_docs, warnings)]
//! A library.

use std::io::{self, Write};

/// Says a number.
pub fn say(number: u32) {
    writeln!(io::stdout(), "past {number}").unwrap();
    println!("macro {number}");
}

#[cfg(test)]
mod tests {
    #[test]
    fn passes() {
        super::say(1);
    }

    #[test]
    fn fails() {
        super::say(2);
        assert_eq!(1, 2, "it fails");
    }
}
"#;

fn harness() {
    let tree = Tree::package("output-harness");
    tree.write("src/lib.rs", TESTS);
    for (arguments, code) in [
        ("--lib", 101),
        ("--lib -- --test-threads=1", 101),
        ("--lib -- --nocapture", 101),
        ("--lib -- --nocapture --test-threads=1", 101),
    ] {
        cargo(tree.path()).args(&format!("xhist test {arguments}")).done().expect(code);
        let mut found = outputs(&report(tree.path()).args("history --format json").succeed().stdout);
        found.sort_unstable();
        let macros = ["stdout macro 1", "stdout macro 2"].map(String::from);
        let past = ["stdout past 1", "stdout past 2"].map(String::from);
        // A test in the main thread, as the lines of the harness: only the macros.
        let is_known = found == macros || is_hooked() && found == [macros, past].concat();
        assert!(is_known, "{arguments}: {found:#?}");
        let is_alone = arguments.contains("--test-threads=1");
        assert!(is_alone || !is_hooked() || found.len() == 4, "{arguments}: {found:#?}");
    }
}

/// A `write` of the program's own: it is called as before. Whole LTO puts both functions of that name into one module, which is
/// an error, as with a `sigaction` of its own.
const OWN_WRITE: &str = include_str!("../fixtures/output/own_write.rs");

const LIBRARY: &str = r#"use std::io::Write;

#[unsafe(no_mangle)]
pub extern "C" fn say() {
    writeln!(std::io::stdout(), "from the library").unwrap();
}
"#;

const HOST: &str = "void say(void);\nlong write(int, const void *, unsigned long);\n\
    int main(void) { write(1, \"host\\n\", 5); say(); return 0; }\n";

fn linked() {
    let tree = Tree::empty("output-own");
    tree.write("Cargo.toml", &manifest("own"));
    tree.write("src/main.rs", OWN_WRITE);
    for profile in ["", "--release"] {
        let run = cargo(tree.path())
            .args(&format!("xhist run -q {profile}"))
            .env("CARGO_PROFILE_RELEASE_LTO", "thin");
        assert_eq!(run.succeed().stdout, "own: past\nown: macro\n");
    }

    let tree = Tree::empty("output-library");
    tree.write(
        "Cargo.toml",
        &format!("{}[lib]\ncrate-type = [\"cdylib\", \"staticlib\"]\n", manifest("said")),
    );
    tree.write("src/lib.rs", LIBRARY);
    tree.write("host.c", HOST);
    cargo(tree.path()).args("xhist build -q").succeed();
    for ending in ["so", "a"] {
        let find = Run::new("find", tree.path())
            .args("target/xhist -name")
            .arg(format!("libsaid.{ending}"))
            .succeed();
        let library = tree.join(find.stdout.lines().next().expect("the library"));
        let build =
            Run::new("cc", tree.path()).args("host.c -o host").arg(&library).args("-lpthread -ldl -lm");
        build.succeed();
        let host = Run::new(tree.join("host"), tree.path())
            .env("LD_LIBRARY_PATH", library.parent().expect("its folder"));
        let ring = format!("{ending}.xhist");
        assert_eq!(host.env("XHIST_FILE", tree.join(&ring)).succeed().stdout, "host\nfrom the library\n");
        let found = outputs(&report(tree.path()).args("history --format json").arg(&ring).done().stdout);
        assert!(!is_hooked() || found == ["stdout from the library"], "{ending}: {found:?}");
    }
}
