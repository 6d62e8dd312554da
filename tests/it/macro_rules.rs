//! Statements in the bodies of macros: recorded where the body runs in the program, left alone where a constant needs it.

use std::collections::BTreeSet;

use xhist_tests::{Case, Done, Tree, cargo, history_of, repository};

pub const CASES: &[Case] = &[Case::new("statements_in_the_bodies_of_macros_are_recorded", recorded)];

/// Places of statements: file and line.
type Places = BTreeSet<(String, u32)>;

/// The places that the comments of a file mark.
fn marked(tree: &Tree, file: &str) -> Places {
    let text = tree.read(file);
    let lines = text.lines().zip(1u32..).filter(|(line, _)| line.ends_with("// recorded"));
    lines.map(|(_, line)| (file.to_owned(), line)).collect()
}

/// The line of the first statement of `main`, behind all macros.
fn start_of_main(tree: &Tree) -> u32 {
    let text = tree.read("user/src/main.rs");
    text.lines().position(|line| line == "fn main() {").expect("it") as u32 + 1
}

/// The places that a run recorded, without those in `main`.
fn places(done: &Done, tree: &Tree) -> Places {
    let (listing, main) = (history_of(done, tree.path()), start_of_main(tree));
    let statements = listing.statements().map(|entry| (entry.path.clone(), entry.line));
    statements.filter(|(path, line)| path != "user/src/main.rs" || *line < main).collect()
}

fn recorded() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/macro-rules"));
    let files = ["user/src/main.rs", "user/src/inside.rs", "tools/src/lib.rs"];
    let wanted: Places = files.iter().flat_map(|file| marked(&tree, file)).collect();
    assert_eq!(wanted.len(), 33);
    for profile in ["", " --release"] {
        let plain = cargo(tree.path()).args(&format!("run --quiet{profile}")).done().expect(101);
        let run = cargo(tree.path()).args(&format!("xhist run{profile}")).done().expect(101);
        assert_eq!(run.stdout, plain.stdout);
        assert_eq!(places(&run, &tree), wanted, "{profile}");
        run.check(!run.stderr.contains("building again"), "constants may have calls");
        let listing = history_of(&run, tree.path());
        let last = listing.statements().last().expect("a history");
        assert!(tree.read(&last.path).lines().nth(last.line as usize - 1).expect("it").contains("panic!("));
    }
    // Examples are compiled without the wrapper, and call a macro that names the recorder.
    let tests = cargo(tree.path()).args("xhist test --workspace").done().expect(0);
    tests.check(tests.stdout.contains("test result: ok. 1 passed"), "the example of `larger`");
    // What the compiler refuses for another reason is reported as ever.
    tree.replace("tools/src/lib.rs", "let (a, b) = ($a, $b);", "let (a, b, c) = ($a, $b);");
    let wrong = cargo(tree.path()).args("xhist build").done().expect(101);
    wrong.check(wrong.stderr.contains("E0308"), "the compiler's own error");
}
