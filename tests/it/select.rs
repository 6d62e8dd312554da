//! Does `cargo xhist` record what the manifests select, and leave out the rest?

use xhist_tests::{Case, Listing, Tree, cargo, report};

pub const CASES: &[Case] = &[
    Case::new("manifests_leave_out_crates_modules_functions_and_files", selected),
    Case::new("thinned_functions_record_that_they_were_entered", thinned),
    Case::new("a_wrong_table_is_reported_with_its_manifest", wrong_table),
];

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n
[dependencies]\npart = { path = \"part\" }\n
[workspace]\nmembers = [\"part\"]\n";

fn project(metadata: &str) -> Tree {
    let tree = Tree::empty("select");
    tree.write("Cargo.toml", &format!("{MANIFEST}{metadata}"));
    tree.write("part/Cargo.toml", "[package]\nname = \"part\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    tree.write("part/src/lib.rs", "pub fn f() {\n    print!(\"part \");\n}\n");
    tree.write(
        "src/main.rs",
        "mod hot;\nfn main() {\n    part::f();\n    hot::spin();\n    hot::cold();\n    println!(\"end\");\n}\n",
    );
    tree.write(
        "src/hot.rs",
        "pub fn spin() {\n    print!(\"spin \");\n}\npub fn cold() {\n    print!(\"cold \");\n}\n",
    );
    tree
}

/// The places that a run of the project records.
fn places(tree: &Tree) -> Vec<String> {
    let file = tree.join("history.xhist");
    let _ = std::fs::remove_file(&file);
    let run = cargo(tree.path()).args("xhist run --quiet").env("XHIST_FILE", &file).succeed();
    assert_eq!(run.stdout, "part spin cold end\n");
    Listing::parse(&report(tree.path()).arg(&file).succeed().stdout).places()
}

fn selected() {
    let tree = project("");
    let main = ["src/main.rs:3", "src/main.rs:4", "src/main.rs:5", "src/main.rs:6"];
    let [call, spin, cold, end] = main;
    let all = [call, "part/src/lib.rs:2", spin, "src/hot.rs:2", cold, "src/hot.rs:5", end];
    assert_eq!(places(&tree), all);
    let says = |metadata: &str| tree.write("Cargo.toml", &format!("{MANIFEST}{metadata}"));
    // Each is a change of the manifest alone: what is built has to follow.
    says(
        "[workspace.metadata.xhist]\nexclude = [\"part::**\"]\n[package.metadata.xhist]\nexclude = [\"**::spin\"]\n",
    );
    assert_eq!(places(&tree), [call, spin, cold, "src/hot.rs:5", end]);
    says("[package.metadata.xhist]\nexclude = [\"src/hot.rs\"]\n");
    assert_eq!(places(&tree), [call, "part/src/lib.rs:2", spin, cold, end]);
    // A root that is left out still leads to its modules.
    says("[package.metadata.xhist]\nexclude = [\"src/main.rs\"]\n");
    assert_eq!(places(&tree), ["part/src/lib.rs:2", "src/hot.rs:2", "src/hot.rs:5"]);
    says("[package.metadata.xhist]\nwhen = \"after\"\n");
    assert_eq!(places(&tree), ["part/src/lib.rs:2", call, "src/hot.rs:2", spin, "src/hot.rs:5", cold, end]);
}

fn thinned() {
    let tree = project("[package.metadata.xhist]\nthin = [\"app::hot\", \"**::main\"]\n");
    tree.write(
        "src/hot.rs",
        "pub fn spin() {\n    for _ in 0..3 {\n        let f = |x: u8| x;\n        f(1);\n    }\n    print!(\"spin \");\n}
pub fn cold() {\n    print!(\"cold \");\n    spin_on()\n}\nfn spin_on() {}\n",
    );
    let entered = ["src/main.rs:3", "part/src/lib.rs:2", "src/hot.rs:2", "src/hot.rs:9"];
    assert_eq!(places(&tree), entered);
    tree.write("Cargo.toml", &format!("{MANIFEST}[workspace.metadata.xhist]\nthin = [\"src/hot.rs\"]\n"));
    let [call, part, spin, cold] = entered;
    assert_eq!(places(&tree), [call, part, "src/main.rs:4", spin, "src/main.rs:5", cold, "src/main.rs:6"]);
}

fn wrong_table() {
    let tree = project("[package.metadata.xhist]\nexclud = [\"a\"]\n");
    let run = cargo(tree.path()).args("xhist run --quiet").done();
    let named = run.stderr.contains("Cargo.toml: [package.metadata.xhist]: unknown field `exclud`");
    run.check(run.code() == 1 && named, "the manifest and the field are named");
}
