//! Functions that lose the keyword `const`, so that they are recorded: those that no constant needs.

use std::collections::BTreeSet;

use xhist_tests::{Case, Done, Need, Tree, cargo, history_of, manifest, repository};

pub const CASES: &[Case] = &[
    Case::new("a_const_fn_that_no_constant_needs_is_recorded", recorded),
    Case::new("a_const_fn_of_a_dependency_is_recorded", of_a_dependency),
    Case::needing(
        "of_a_registry_only_what_a_new_constant_needs_is_compiled_again",
        &[Need::Long],
        of_a_registry,
    ),
];

/// What is printed once, when a compiler has refused a call.
const REFUSED: &str = "a constant needs `generated` as `const fn`";

/// The lines of `src/main.rs` that a run recorded.
fn lines(done: &Done, tree: &Tree) -> BTreeSet<u32> {
    let listing = history_of(done, tree.path());
    listing.statements().filter(|entry| entry.path == "src/main.rs").map(|entry| entry.line).collect()
}

fn recorded() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/const-fns"));
    let text = tree.read("src/main.rs");
    let main = text.lines().position(|line| line == "fn main() {").expect("it") as u32 + 1;
    let numbered = || text.lines().zip(1u32..);
    let wanted: BTreeSet<u32> =
        numbered().filter(|(line, _)| line.ends_with("// recorded")).map(|(_, number)| number).collect();
    assert_eq!(wanted.len(), 15);
    let mut is_first = true;
    for profile in ["", " --release"] {
        let plain = cargo(tree.path()).args(&format!("run --quiet{profile}")).done().expect(3);
        let run = cargo(tree.path()).args(&format!("xhist run{profile}")).done().expect(3);
        assert_eq!(run.stdout, plain.stdout);
        let found: BTreeSet<u32> = lines(&run, &tree).into_iter().filter(|line| *line < main).collect();
        assert_eq!(found, wanted, "{profile}");
        run.check(run.stderr.contains(REFUSED) == is_first, "the refusal is known from then on");
        is_first = false;
    }
    // Neither a build nor a test prints that the first one failed.
    for words in ["xhist build", "xhist test"] {
        let tree = Tree::copy_of(&repository().join("tests/fixtures/const-fns"));
        let done = cargo(tree.path()).args(words).done().expect(0);
        done.check(done.stderr.contains(REFUSED), "the first build was refused");
        done.check(!done.stderr.contains("could not compile") && !done.stderr.contains("error"), "no error");
        // An error of the user's own in the same build.
        let tree = Tree::copy_of(&repository().join("tests/fixtures/const-fns"));
        tree.replace("src/main.rs", "fn main() {", "fn wrong() -> u8 {\n    \"\"\n}\n\nfn main() {");
        let done = cargo(tree.path()).args(words).done().expect(101);
        let is_there = |text: &str| done.stderr.matches(text).count() == 1;
        done.check(is_there("error[E0308]") && is_there("could not compile"), "the error is the user's own");
    }
    // A program that reads the messages sees one build.
    let own = Tree::copy_of(&repository().join("tests/fixtures/const-fns"));
    let done = cargo(own.path()).args("xhist build --message-format json").done().expect(0);
    done.check(done.stdout.matches("build-finished").count() == 1, "one build");
    done.check(!done.stdout.contains("building again"), "no error");
    done.check(!done.stderr.contains("could not compile"), "no error of cargo");
    // A new constant needs two of them: no build fails.
    tree.replace("src/main.rs", "static START", "const NEW: u32 = plain(2);\nstatic START");
    let run = cargo(tree.path()).args("xhist run").done().expect(3);
    run.check(!run.stderr.contains("building again"), "the sources show it");
    let text = tree.read("src/main.rs");
    let plain = text.lines().position(|line| line.contains("if twice > 5")).expect("it") as u32 + 1;
    assert!(!lines(&run, &tree).contains(&plain));
    // What the compiler refuses for another reason is reported as ever.
    tree.replace("src/main.rs", "const NEW: u32 = plain(2);", "const NEW: String = String::from(\"a\");");
    let wrong = cargo(tree.path()).args("xhist build").done().expect(101);
    wrong.check(wrong.stderr.contains("E0015"), "the compiler's own error");
}

fn of_a_dependency() {
    let tree = Tree::empty("const-dependency");
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
    assert_eq!(of_part.map(|entry| entry.line).collect::<Vec<_>>(), [9, 10]);
    // A build that does not compile the dependency with our wrapper changes nothing in it.
    let run = cargo(&user).args("xhist run").done().expect(5);
    run.check(!run.stderr.contains("building again"), "one build");
}

/// A project that has its packages beside it, and none of the recorder's.
fn of_a_registry() {
    let tree = Tree::empty("const-registry");
    let depends = "[dependencies]\npart = \"0.1\"\nother = \"0.1\"\n\n[workspace]\n";
    let manifest =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n");
    tree.write("Cargo.toml", &(manifest("user") + depends));
    let source = "[source.crates-io]\nreplace-with = \"here\"\n\n[source.here]\ndirectory = \"packages\"\n";
    tree.write(".cargo/config.toml", source);
    for name in ["part", "other"] {
        tree.write(&format!("packages/{name}/Cargo.toml"), &manifest(name));
        tree.write(&format!("packages/{name}/.cargo-checksum.json"), "{\"files\":{}}");
        let text = format!("pub const fn {name}(by: i32) -> i32 {{\n    let b = by * 2;\n    b\n}}\n");
        tree.write(&format!("packages/{name}/src/lib.rs"), &text);
    }
    let main = "fn main() {\n    std::process::exit(part::part(2) + other::other(1));\n}\n";
    tree.write("src/main.rs", main);
    let cache = Tree::empty("const-registry-cache");
    let run = || {
        let run = cargo(tree.path()).args("xhist run --offline --deps all");
        run.env("XHIST_CACHE", cache.path()).done().expect(6)
    };
    let recorded = |run: &Done| {
        let listing = history_of(run, tree.path());
        ["part", "other"]
            .map(|name| listing.statements().any(|entry| entry.path.ends_with(&format!("{name}/src/lib.rs"))))
    };
    assert_eq!(recorded(&run()), [true, true]);
    // A new constant needs one of them: only this package is compiled again, and the member.
    tree.write("src/main.rs", &format!("pub const FOUR: i32 = part::part(2);\n{main}"));
    let second = run();
    assert_eq!(recorded(&second), [false, true]);
    let compiled =
        ["part", "other", "user"].map(|name| second.stderr.contains(&format!("Compiling {name} v0.1.0")));
    second.check(compiled == [true, false, true], "what has changed");
}
