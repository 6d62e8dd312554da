//! Is the code recorded that build scripts make?

use xhist_tests::{Case, Done, Run, Tree, cargo, history_of, manifest};

pub const CASES: &[Case] = &[
    Case::new("code_that_a_build_script_makes_is_recorded", recorded),
    Case::new("so_is_that_of_dependencies", of_dependencies),
    Case::new("what_else_is_in_the_directory_is_as_it_was", beside),
    Case::new("what_cannot_be_recorded_is_left_alone_and_named", left_alone),
    Case::new("code_that_is_another_one_each_time_ends_no_build", unsteady),
];

const INCLUDE: &str = "include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\n";

/// A program with this build script.
fn project(script: &str, main: &str) -> Tree {
    let tree = Tree::package("app");
    let head = "use std::{env, fs, path::PathBuf};\n\nfn main() {\n    let out = PathBuf::from(env::var(\"OUT_DIR\").unwrap());\n";
    tree.write(
        "build.rs",
        &format!("{head}    println!(\"cargo::rerun-if-changed=made.in\");\n{script}}}\n"),
    );
    tree.write("src/main.rs", main);
    tree.write("made.in", "");
    tree
}

fn run(tree: &Tree) -> Run {
    cargo(tree.path()).args("xhist run")
}

/// The lines of generated files in the history of a run.
fn lines(done: &Done, tree: &Tree) -> Vec<u32> {
    let listing = history_of(done, tree.path());
    let made = listing.statements().filter(|entry| entry.path.ends_with("/out/made.rs"));
    made.map(|entry| entry.line).collect()
}

fn compiles(done: &Done) -> bool {
    done.stderr.contains("Compiling app")
}

fn recorded() {
    let copies = "    fs::copy(\"made.in\", out.join(\"made.rs\")).unwrap();\n";
    let main = format!("{INCLUDE}\nfn main() {{\n    let x = made(4);\n    std::process::exit(x);\n}}\n");
    let tree = project(copies, &main);
    tree.write("made.in", "pub fn made(x: i32) -> i32 {\n    let y = x + 1;\n    y * 2\n}\n");
    let first = run(&tree).done().expect(10);
    assert_eq!(lines(&first, &tree), [2, 3]);
    let reason = "xhist: code that a build script made was not known; it is recorded now; building again";
    first.check(first.stderr.contains(reason), "the reason of the second build");
    first.check(!first.stderr.contains("not recorded"), "all is recorded");

    let again = run(&tree).done().expect(10);
    again.check(!compiles(&again), "nothing has changed");
    assert_eq!(lines(&again, &tree), [2, 3]);

    tree.write(
        "made.in",
        "pub fn made(x: i32) -> i32 {\n\n    let y = x + 2;\n    assert!(y < 6, \"y is {y}\");\n    y\n}\n",
    );
    let panicked = run(&tree).done().expect(101);
    assert_eq!(lines(&panicked, &tree), [3, 4]);
    let last = panicked.stderr.lines().rev().find(|line| line.contains("out/made.rs:4")).unwrap_or_default();
    panicked.check(last.contains("assert!(y < 6"), "the answer has the text of the line");

    tree.write("tests/all.rs", "#[test]\nfn passes() {}\n");
    tree.write("made.in", "pub fn made(x: i32) -> i32 {\n    x\n}\n");
    tree.write("src/main.rs", &format!("{main}\n#[test]\nfn four() {{\n    assert_eq!(made(4), 5);\n}}\n"));
    let tests = cargo(tree.path()).args("xhist test").done().expect(101);
    tests.check(tests.stderr.contains("out/made.rs:2"), "the last statements of the test");
}

fn of_dependencies() {
    let tree = Tree::empty("build-scripts-deps");
    let manifest = |name: &str, rest: &str| manifest(name) + rest;
    tree.write(
        "app/Cargo.toml",
        &manifest(
            "app",
            "\n[dependencies]\nouter = { path = \"../outer\" }\ninner = { path = \"../inner\" }\n",
        ),
    );
    tree.write(
        "app/src/main.rs",
        "fn main() {\n    std::process::exit(outer::made(1) + inner::made(2));\n}\n",
    );
    tree.write("outer/Cargo.toml", &manifest("outer", "\n[dependencies]\ninner = { path = \"../inner\" }\n"));
    tree.write("inner/Cargo.toml", &manifest("inner", ""));
    for (name, body) in [("outer", "inner::made(x) + 1"), ("inner", "x * 2")] {
        tree.write(&format!("{name}/src/lib.rs"), INCLUDE);
        let text = format!("pub fn made(x: i32) -> i32 {{\\n    {body}\\n}}\\n");
        tree.write(
            &format!("{name}/build.rs"),
            &format!(
                "fn main() {{\n    let out = std::env::var(\"OUT_DIR\").unwrap();\n    std::fs::write(out + \"/made.rs\", \"{text}\").unwrap();\n}}\n"
            ),
        );
    }
    let app = tree.join("app");
    let run = || cargo(&app).args("xhist run --deps all").done().expect(7);
    let lines = |done: &Done| -> Vec<u32> {
        let listing = history_of(done, &app);
        let made = listing.statements().filter(|entry| entry.path.ends_with("/out/made.rs"));
        made.map(|entry| entry.line).collect()
    };
    let first = run();
    assert_eq!(lines(&first), [2, 2, 2]);
    assert_eq!(first.stderr.matches("building again").count(), 2, "{}", first.stderr);
    let again = run();
    assert_eq!(lines(&again), [2, 2, 2]);
    again.check(!again.stderr.contains("Compiling"), "nothing has changed");
}

fn beside() {
    let script = "    fs::create_dir_all(out.join(\"sub\")).unwrap();\n    \
                  fs::write(out.join(\"made.rs\"), \"mod sub { pub fn text() -> &'static str {\\n    \
                  include_str!(\\\"sub/text.txt\\\")\\n} }\\n\").unwrap();\n    \
                  fs::write(out.join(\"sub/text.txt\"), \"text\").unwrap();\n    \
                  fs::write(out.join(\"bytes.bin\"), [1, 2, 3]).unwrap();\n";
    let main = format!(
        "{INCLUDE}
fn main() {{
    let bytes = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/bytes.bin\"));
    let read = std::fs::read(concat!(env!(\"OUT_DIR\"), \"/bytes.bin\")).unwrap();
    println!(\"{{}} {{bytes:?}} {{read:?}}\", sub::text());
    std::process::exit(3);
}}
"
    );
    let tree = project(script, &main);
    let plain = cargo(tree.path()).args("run --quiet").done().expect(3);
    let ours = run(&tree).done().expect(3);
    assert_eq!(ours.stdout, plain.stdout);
    assert_eq!(lines(&ours, &tree), [2]);
    // A new file beside the others: the copy of the directory gets it.
    tree.replace("build.rs", "out.join(\"bytes.bin\")", "out.join(\"more.bin\")");
    tree.replace("src/main.rs", "/bytes.bin\"));\n    let read", "/more.bin\"));\n    let read");
    let ours = run(&tree).done().expect(3);
    assert_eq!(ours.stdout, plain.stdout);
}

fn left_alone() {
    let script =
        "    fs::write(out.join(\"made.rs\"), \"{ fn one() -> u8 { 1 } [one(), 2, 3] }\").unwrap();\n";
    let tree = project(
        script,
        "fn main() {\n    let table = include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\n    println!(\"{table:?}\");\n}\n",
    );
    let done = run(&tree).succeed();
    assert_eq!(done.stdout, "[1, 2, 3]\n");
    let named = "xhist: not recorded: code that a build script makes (in OUT_DIR): made.rs of app";
    done.check(done.stderr.contains(named), named);
    let again = run(&tree).succeed();
    again.check(!compiles(&again) && !again.stderr.contains("building again"), "it is known");

    tree.replace("build.rs", "{ fn one() -> u8 { 1 } [one(), 2, 3] }", "[1, 2, 3]");
    let table = run(&tree).succeed();
    assert_eq!(table.stdout, done.stdout);
    table.check(!table.stderr.contains("not recorded"), "a table has no statements");
}

fn unsteady() {
    let script = "    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();\n    \
                  fs::write(out.join(\"made.rs\"), format!(\"pub fn made() -> u128 {{\\n    {}\\n}}\\n\", now.as_nanos())).unwrap();\n";
    let tree = project(
        script,
        &format!("{INCLUDE}\nfn main() {{\n    let x = made();\n    println!(\"{{}}\", x > 1);\n}}\n"),
    );
    // Without it, cargo runs the script each time.
    std::fs::remove_file(tree.join("made.in")).expect("removed");
    for _ in 0..2 {
        let done = run(&tree).succeed();
        assert_eq!(done.stdout, "true\n");
        let builds = done.stderr.matches("building again").count();
        done.check(builds <= 2, "it ends soon");
    }
}
