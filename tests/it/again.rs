//! A second command: it does nothing again while nothing has changed, and it notices every change.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;

use xhist_tests::{Case, Done, Run, Tree, cargo, history_of, line_of};

pub const CASES: &[Case] = &[
    Case::new("what_was_prepared_is_used_until_something_changes", remembered),
    Case::new("an_edit_that_leaves_length_and_time_is_recorded", same_length),
    Case::new("after_an_edit_only_the_edited_file_is_analysed", one_file),
    Case::new("cargo_and_cargo_xhist_do_not_undo_each_others_builds", in_turn),
];

const MEMORY: &str = "target/xhist/prepared";
const WARNINGS: &str = "\"warnings\":[";
const MARK: &str = "from memory";

fn project() -> Tree {
    let tree = Tree::program(
        "again",
        "mod part;\n\nfn main() {\n    let x = part::one();\n    std::process::exit(x);\n}\n",
    );
    tree.write("src/part.rs", "pub fn one() -> i32 {\n    let a = 1;\n    a + 2\n}\n");
    tree
}

fn check(tree: &Tree) -> Run {
    cargo(tree.path()).args("xhist check --quiet")
}

/// Whether this command takes the result of the last one.
fn is_remembered(tree: &Tree, command: Run) -> bool {
    let memory = tree.read(MEMORY);
    assert!(!memory.contains(MARK));
    tree.write(MEMORY, &memory.replace(WARNINGS, &format!("{WARNINGS}{MARK:?}")));
    let done = command.succeed();
    // Without the mark, as the command left it.
    tree.write(MEMORY, &tree.read(MEMORY).replace(&format!("{MARK:?}"), ""));
    done.stderr.contains(MARK)
}

fn remembered() {
    let tree = project();
    check(&tree).succeed();
    let again = || is_remembered(&tree, check(&tree));
    assert!(again(), "nothing has changed");
    assert!(is_remembered(&tree, cargo(tree.path()).args("xhist build --quiet")), "the question is the same");

    tree.replace("src/part.rs", "a + 2", "a + 3");
    assert!(!again() && again(), "a source");
    tree.write("src/part/mod.rs", &tree.read("src/part.rs"));
    std::fs::remove_file(tree.join("src/part.rs")).expect("removed");
    assert!(!again() && again(), "the file of a module");
    tree.write("src/beside.txt", "");
    assert!(!again() && again(), "a file beside the sources");
    std::fs::remove_file(tree.join("src/beside.txt")).expect("removed");
    assert!(!again() && again(), "and none");
    tree.write("src/bin/other.rs", "fn main() {\n    println!();\n}\n");
    assert!(!again() && again(), "a target");
    let manifest = tree.read("Cargo.toml");
    tree.write("Cargo.toml", &format!("{manifest}\n[package.metadata.xhist]\nexclude = [\"src/part\"]\n"));
    assert!(!again() && again(), "settings of the manifest");
    tree.write("Cargo.toml", &manifest);
    assert!(!again() && again(), "and none");

    assert!(!is_remembered(&tree, check(&tree).args("--detail function")), "an option");
    assert!(!again() && again(), "and none");
    let wrapped = || check(&tree).env("RUSTC_WRAPPER", "/usr/bin/env");
    assert!(!is_remembered(&tree, wrapped()) && is_remembered(&tree, wrapped()), "a variable");
    assert!(!again() && again(), "and none");

    let shadow = format!("target/xhist/shadow{}/src/main.rs", tree.path().display());
    tree.write(&shadow, "");
    assert!(!again() && again(), "a file of ours");
    assert!(tree.read(&shadow).contains("xhist_rt"), "it is as it was");
    std::fs::remove_file(tree.join("target/xhist/xhist.map")).expect("removed");
    assert!(!again() && again(), "the map");
}

fn same_length() {
    let tree = project();
    let run = || cargo(tree.path()).args("xhist run --quiet").done().expect(3);
    let lines = |done: &Done| -> Vec<u32> {
        let listing = history_of(done, tree.path());
        let statements = listing.statements().filter(|entry| entry.path == "src/part.rs");
        statements.map(|entry| entry.line).collect()
    };
    let file = tree.join("src/part.rs");
    assert_eq!(lines(&run()), [2, 3]);
    let time = file.metadata().and_then(|meta| meta.modified()).expect("a time");
    // One line more, in as many bytes.
    tree.replace("src/part.rs", "    let a = 1;\n    a + 2\n", "    let a =1;\n\n    a + 2\n");
    File::options().write(true).open(&file).and_then(|file| file.set_modified(time)).expect("the old time");
    let last = line_of(&file, "a + 2");
    assert_eq!(last, 4);
    // Cargo itself does not see this edit: it looks at the shadow as well.
    assert_eq!(lines(&run()), [2, last]);
}

fn one_file() {
    let tree = project();
    let names = || -> BTreeSet<OsString> {
        let entries = std::fs::read_dir(tree.join("target/xhist/analyses")).expect("the directory");
        entries.map(|entry| entry.expect("an entry").file_name()).collect()
    };
    let shadow = || tree.read(&format!("target/xhist/shadow{}/src/part.rs", tree.path().display()));
    check(&tree).succeed();
    let before = names();
    assert_eq!(before.len(), 2);
    tree.replace("src/part.rs", "a + 2", "a + 3");
    check(&tree).succeed();
    let after = names();
    assert_eq!(
        (after.len(), before.intersection(&after).count()),
        (2, 1),
        "one is new, and an old one is gone"
    );
    assert!(shadow().contains("a + 3"));

    let damage = |text: &str| {
        names()
            .iter()
            .for_each(|name| tree.write(&format!("target/xhist/analyses/{}", name.display()), text));
        tree.write("target/xhist/written", text);
    };
    for text in ["", "damaged", "[\"\",{}]"] {
        damage(text);
        tree.replace("src/part.rs", "a + 3", "a + 3 + 1");
        check(&tree).succeed();
        assert!(shadow().contains("a + 3 + 1") && shadow().contains("xhist_rt"));
        damage(text);
        tree.replace("src/part.rs", "a + 3 + 1", "a + 3");
        check(&tree).succeed();
        assert_eq!(names(), after, "they are as before");
    }
}

fn in_turn() {
    let tree = project();
    tree.write("tests/all.rs", "#[test]\nfn one() {\n    assert!(1 < 2);\n}\n");
    let plain = || cargo(tree.path()).args("test --no-run").succeed();
    let recorded = || cargo(tree.path()).args("xhist test --no-run").succeed();
    let compiles = |done: &Done| done.stderr.contains("Compiling again");
    assert!(compiles(&plain()) && compiles(&recorded()), "each builds once");
    assert!(!compiles(&plain()) && !compiles(&recorded()), "and not again");
    tree.replace("src/part.rs", "a + 2", "a + 3");
    assert!(compiles(&recorded()) && compiles(&plain()), "an edit is for both");
    assert!(!compiles(&recorded()) && !compiles(&plain()));
}
