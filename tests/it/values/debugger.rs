//! Values of each kind of type, as a debugger shows them at the same line and as a history does.

use std::collections::BTreeMap;

use xhist_tests::{Run, Tree, cargo, line_of, report, repository};

/// What differs on purpose: the name, what the debugger shows, and what a history shows.
const DIFFERENT: &[(&str, &str, &str)] = &[
    // The shortest digits that give the same number.
    ("union", "Both { number: 1, float: 1.40129846e-45 }", "Both { number: 1, float: 1e-45 }"),
    ("slice", "&[u16] [2, 3]", "POINTER[..2]"),
    ("function", "POINTER <item>", "values_kinds::item"),
    ("closure", "{ closure_env#0 } { byte: 250, boolean: true }", "{closure} { byte: 250, boolean: true }"),
    ("object", "&dyn Shape { pointer: POINTER, vtable: POINTER }", "POINTER"),
    ("range", "Range { start: 1, end: 5 }", "1..5"),
];

pub(super) fn shows_the_same() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/values-kinds"));
    let source = tree.join("src/main.rs");
    let names = names(&tree.read("src/main.rs"));
    cargo(tree.path()).args("build --quiet").succeed();
    let shown = debugger(&tree, line_of(&source, "stop(&range)"), &names);
    for profile in ["", "--release"] {
        cargo(tree.path()).args("xhist run --quiet --values ** --value-bytes 32").args(profile).succeed();
        let recorded = recorded(&tree);
        let mut wrong = Vec::new();
        for name in &names {
            let (shown, recorded) = (&shown[name], &recorded[name]);
            let is_known = DIFFERENT.contains(&(name.as_str(), shown.as_str(), recorded.as_str()));
            if shown != recorded && !is_known {
                wrong.push(format!("(\"{name}\", {shown:?}, {recorded:?})"));
            }
        }
        assert!(wrong.is_empty(), "{profile}\n{}", wrong.join("\n"));
    }
}

/// The variables of `main`.
fn names(source: &str) -> Vec<String> {
    let main = source.split_once("fn main()").expect("a main").1;
    let names = main.lines().filter_map(|line| line.strip_prefix("    let ")?.split_once(" = "));
    let names = names.map(|(name, _)| name.split(':').next().unwrap_or(name).to_owned());
    names.collect()
}

/// What gdb shows at a line of the plain program.
fn debugger(tree: &Tree, line: u32, names: &[String]) -> BTreeMap<String, String> {
    let prints: String =
        names.iter().map(|name| format!("printf \"@ {name} \"\noutput {name}\nprintf \"\\n\"\n")).collect();
    tree.write("script", &format!("set width 0\nset height 0\nbreak main.rs:{line}\nrun\n{prints}"));
    let run =
        Run::new("gdb", tree.path()).args("-q -nx -batch -x script target/debug/values-kinds").succeed();
    let shown = run.stdout.lines().filter_map(|line| line.strip_prefix("@ ")?.split_once(' '));
    shown.map(|(name, text)| (name.to_owned(), plain(text))).collect()
}

/// What the history has of the variables of `main`.
fn recorded(tree: &Tree) -> BTreeMap<String, String> {
    let done = report(tree.path()).args("--format json").succeed();
    let lines = done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let values =
        lines.flat_map(|line: serde_json::Value| line["values"].as_array().cloned().unwrap_or_default());
    let text = |value: &serde_json::Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    values.map(|value| (text(&value, "name"), pointers(&text(&value, "text")).replace(",)", ")"))).collect()
}

/// A text of the debugger without paths, type arguments and codes of characters, and with our spaces.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0;
    let mut word = 0;
    let mut chars = pointers(text).replace("(*mut ", "(").chars().collect::<Vec<_>>().into_iter().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                plain.push(char);
                while let Some(char) = chars.next() {
                    plain.push(char);
                    match char {
                        '\\' => plain.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                word = plain.len();
            }
            // Arguments of a type, unless it is the name of a function behind its address.
            '<' if !plain.ends_with(' ') => depth += 1,
            '>' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            ':' if chars.peek() == Some(&':') => {
                chars.next();
                plain.truncate(word);
            }
            _ => {
                plain.push(char);
                if !char.is_alphanumeric() && char != '_' {
                    word = plain.len();
                }
            }
        }
    }
    spaced(&characters(&plain))
}

/// Addresses as `POINTER`.
fn pointers(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain += "POINTER";
        plain += part.trim_start_matches(|char: char| char.is_ascii_hexdigit());
    }
    plain
}

/// `120 'x'` as `'x'`.
fn characters(text: &str) -> String {
    let mut parts = text.split(" '");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.truncate(plain.trim_end_matches(|char: char| char.is_ascii_digit()).len());
        plain.push('\'');
        plain += &part.replace("\\xe9", "é");
    }
    plain
}

/// Structures and pointers as we print them.
fn spaced(text: &str) -> String {
    let text = text.replace(" (", "(").replace('{', " { ").replace('}', " }").replace("  ", " ");
    let text = text.replace(",(", ", (");
    match text.split_once(") POINTER") {
        Some((_, rest)) => format!("POINTER{rest}"),
        None => text.trim_start().to_owned(),
    }
}
