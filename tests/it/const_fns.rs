//! `const fn` are recorded where the program runs them, not where the compiler evaluates them.

use std::collections::BTreeSet;

use xhist_tests::{Case, Done, Tree, cargo, history_of, report, repository};

pub const CASES: &[Case] = &[
    Case::new("a_const_fn_is_recorded_where_the_program_runs_it", recorded),
    Case::new("a_const_fn_of_a_dependency_is_recorded", of_a_dependency),
    Case::new("a_compiler_that_cannot_record_const_fns_is_named", another_compiler),
];

/// The lines of `src/main.rs` that a run recorded.
fn lines(done: &Done, tree: &Tree) -> BTreeSet<u32> {
    let listing = history_of(done, tree.path());
    listing.statements().filter(|entry| entry.path == "src/main.rs").map(|entry| entry.line).collect()
}

/// The lines in front of `main` that a comment marks, or that are recorded.
fn marked(tree: &Tree) -> (BTreeSet<u32>, u32) {
    let text = tree.read("src/main.rs");
    let main = text.lines().position(|line| line == "fn main() {").expect("it") as u32 + 1;
    let lines = text.lines().zip(1u32..).filter(|(line, _)| line.ends_with("// recorded"));
    (lines.map(|(_, number)| number).collect(), main)
}

fn recorded() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/const-fns"));
    let (wanted, main) = marked(&tree);
    assert_eq!(wanted.len(), 21);
    for profile in ["", " --release"] {
        let plain = cargo(tree.path()).args(&format!("run --quiet{profile}")).done().expect(3);
        let run = cargo(tree.path()).args(&format!("xhist run{profile}")).done().expect(3);
        assert_eq!(run.stdout, plain.stdout);
        run.check(
            !run.stderr.contains("taking a long time"),
            "more steps for the compiler are no reason to warn",
        );
        let found: BTreeSet<u32> = lines(&run, &tree).into_iter().filter(|line| *line < main).collect();
        assert_eq!(found, wanted, "{profile}");
    }
    let run = cargo(tree.path()).args("xhist run --values const_fns::plain").done().expect(3);
    let values = report(tree.path()).args("history --only plain").done();
    run.check(values.stdout.contains("twice = 6"), &values.stdout);
    // What the compiler refuses is reported as ever.
    tree.replace("src/main.rs", "static START", "const NEW: String = String::from(\"a\");\nstatic START");
    let wrong = cargo(tree.path()).args("xhist build").done().expect(101);
    wrong.check(wrong.stderr.contains("E0015"), "the compiler's own error");
}

/// A compiler that does not know the function which tells the program from the compiler.
fn another_compiler() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/const-fns"));
    let cache = Tree::empty("const-compiler");
    let script = "#!/bin/sh\nfor word; do\n    [ \"$word\" = 'feature=\"constant\"' ] && exit 1\ndone\nexec rustc \"$@\"\n";
    tree.write("compiler", script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(tree.join("compiler"), mode).expect("it is executable");
    let run = |command: &str| {
        let run = cargo(tree.path()).args(command).env("RUSTC", tree.join("compiler"));
        run.env("XHIST_CACHE", cache.path()).done().expect(3)
    };
    let (plain, ours) = (run("run --quiet"), run("xhist run"));
    assert_eq!(plain.stdout, ours.stdout);
    ours.check(ours.stderr.contains("note: this compiler has no way to record `const fn`"), "the note");
    let (wanted, main) = marked(&tree);
    let found = lines(&ours, &tree);
    assert!(wanted.is_disjoint(&found) && found.range(main..).next().is_some(), "{found:?}");
}

fn of_a_dependency() {
    let tree = Tree::empty("const-dependency");
    let manifest = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n")
    };
    let depends = "\n[dependencies]\npart = { path = \"../part\" }\n";
    tree.write("user/Cargo.toml", &(manifest("user") + depends));
    let main = "fn main() {\n    let x = part::twice(2);\n    std::process::exit(x + part::LIMIT);\n}\n";
    tree.write("user/src/main.rs", main);
    tree.write("part/Cargo.toml", &manifest("part"));
    let part = "pub const LIMIT: i32 = one();\n\nconst fn one() -> i32 {\n    let a = 1;\n    a\n}\n\n\
                pub const fn twice(by: i32) -> i32 {\n    let b = by * 2;\n    b\n}\n";
    tree.write("part/src/lib.rs", part);
    let user = tree.join("user");
    let run = cargo(&user).args("xhist run --deps all").done().expect(5);
    let listing = history_of(&run, &user);
    let of_part = listing.statements().filter(|entry| entry.path.ends_with("part/src/lib.rs"));
    // `one` runs in the compiler only.
    assert_eq!(of_part.map(|entry| entry.line).collect::<Vec<_>>(), [9, 10]);
}
