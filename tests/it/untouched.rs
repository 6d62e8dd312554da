//! Does `cargo xhist` mean what `cargo` means, in a workspace with everything that cargo allows?

use std::path::Path;

use xhist_tests::{Case, Done, Run, Tree, cargo, line_of, repository, test_counts};

pub const CASES: &[Case] = &[
    Case::new("tests_have_the_same_counts_and_the_tree_is_untouched", same_counts),
    Case::new("only_what_changed_is_compiled_again", compiled_again),
    Case::new("paths_in_the_program_are_the_users", paths),
    Case::new("an_error_in_the_code_is_shown_where_it_is", compiler_error),
];

/// The workspace and, beside it, the package that it depends on.
fn workspace() -> (Tree, std::path::PathBuf) {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/workspace"));
    let recorder = format!("path = {:?}", repository().join("xhist-rt"));
    tree.replace("ws/recording/Cargo.toml", r#"path = "XHIST_RT""#, &recorder);
    let directory = tree.join("ws");
    cargo(&directory).args("generate-lockfile --quiet").succeed();
    (tree, directory)
}

fn same_counts() {
    let (tree, directory) = workspace();
    let before = tree.fingerprint();
    let plain = cargo(&directory).args("test --locked --workspace").succeed();
    before.assert_same(&tree.fingerprint());
    let ours = cargo(&directory).args("xhist test --locked --workspace").succeed();
    before.assert_same(&tree.fingerprint());
    assert_eq!(test_counts(&ours), test_counts(&plain));
    assert!(test_counts(&plain).passed >= 9, "{:?}", test_counts(&plain));
    let names = |done: &Done| {
        let mut names: Vec<String> =
            done.stdout.lines().filter(|line| line.ends_with(" ... ok")).map(String::from).collect();
        names.sort();
        names
    };
    assert_eq!(names(&ours), names(&plain));
    let warned = ours.stderr.contains("old/src/keyword.rs:2:13: ");
    ours.check(warned, "a file that cannot be read is named");
}

/// The packages that cargo compiled.
pub fn compiled(done: &Done) -> Vec<&str> {
    let lines = done.stderr.lines().filter_map(|line| line.trim_start().strip_prefix("Compiling "));
    lines.filter_map(|line| line.split(' ').next()).collect()
}

fn compiled_again() {
    let (tree, directory) = workspace();
    let build = || cargo(&directory).args("xhist build --locked --workspace").succeed();
    let first = build();
    for member in ["app", "old", "recording"] {
        first.check(compiled(&first).contains(&member), &format!("{member} is compiled"));
    }
    let second = build();
    second.check(compiled(&second).is_empty(), "the second time nothing is compiled");
    // What was there before a change must look older than the change.
    let touch = |path: &str, line: &str| {
        std::thread::sleep(std::time::Duration::from_millis(1100));
        tree.write(path, &format!("{}{line}\n", tree.read(path)));
    };
    touch("ws/app/src/other_place/far.rs", "// A remark.");
    let third = build();
    third.check(compiled(&third) == ["app"], "only the changed package is compiled");
    touch(
        "ws/app/src/other_place/far.rs",
        "/// New.\npub fn new() -> u32 {\n    let one = 1;\n    one + 1\n}",
    );
    let fourth = build();
    fourth.check(
        compiled(&fourth) == ["app"],
        "only the changed package is compiled, also with new statements",
    );
    touch("ws/app/data.txt", "more");
    let fifth = build();
    fifth.check(compiled(&fifth) == ["app"], "a change of data that is included is one of the package");
    let sixth = build();
    sixth.check(compiled(&sixth).is_empty(), "then nothing is compiled");
}

fn paths() {
    let (_tree, directory) = workspace();
    let run = |command: &str| {
        cargo(&directory).args(&format!("{command} --quiet --locked -p app --bin app")).done().expect(101)
    };
    let (plain, ours) = (run("run"), run("xhist run"));
    ours.check(ours.stdout == plain.stdout, &format!("the same on stdout as\n{}", plain.stdout));
    let place = |done: &Done| {
        let place = done.stderr.split("panicked at ").nth(1).and_then(|rest| rest.lines().next());
        place.unwrap_or_default().to_owned()
    };
    let line = line_of(&directory.join("app/src/main.rs"), "panic!(\"on purpose\")");
    plain.check(place(&plain).starts_with(&format!("app/src/main.rs:{line}:")), "a relative path");
    let of_line = |place: String| place.rsplitn(3, ':').nth(2).map(str::to_owned);
    assert_eq!(of_line(place(&ours)), of_line(place(&plain)), "file of the panic");
    assert!(place(&ours).starts_with(&format!("app/src/main.rs:{line}:")), "{}", place(&ours));

    // The program itself, from where it was built, without any environment of ours.
    let direct = Run::new(directory.join("target/xhist/build/debug/app"), &directory).done().expect(101);
    assert_eq!(direct.stdout, plain.stdout);
    assert_no_shadow_in(&directory.join("target/xhist/build/debug/app"));
}

/// No path of the instrumented copies is in the program.
pub fn assert_no_shadow_in(program: &Path) {
    let bytes = std::fs::read(program).expect("the program");
    let needle = b"/shadow/";
    assert!(!bytes.windows(needle.len()).any(|window| window == needle), "a path of the shadow tree");
}

/// Errors and warnings, as text and as JSON: lines and columns are those of the sources without calls.
fn compiler_error() {
    let (tree, directory) = workspace();
    let main = tree.read("ws/app/src/main.rs");
    let broken = main.replace("let number: u32 = 7;", "let number: u32 = \"seven\";");
    let unclean = main.replace("#![deny(warnings)]", "#![warn(warnings)]");
    let unclean =
        unclean.replace("let number: u32 = 7;", "let number: u32 = 7; let Other = number; drop(Other);");
    // Lints that are denied, on lines without calls: by an attribute, and by the compiler itself.
    let denied = format!("{main}\nfn never_called() {{}}\n");
    let overflow = format!("{unclean}\nstatic WIDE: u8 = 256;\n");
    for (source, code, shown) in [
        (&broken, 101, "error[E0308]: mismatched types"),
        (&unclean, 0, "variable `Other` should have a snake case name"),
        (&denied, 101, "error: function `never_called` is never used"),
        (&overflow, 101, "error: literal out of range for `u8`"),
    ] {
        assert_ne!(*source, main);
        tree.write("ws/app/src/main.rs", source);
        let build = |command: &str| {
            let build = |more: &str| format!("{command} --quiet --locked -p app --bin app {more}");
            [build(""), build("--message-format json")].map(|args| {
                // Another time of the file: cargo compiles again.
                tree.write("ws/app/src/main.rs", source);
                cargo(&directory).args(&args).done().expect(code)
            })
        };
        let (plain, ours) = (build("build"), build("xhist build"));
        plain[0].check(plain[0].stderr.contains(shown), shown);
        // What xhist itself has to say comes before it.
        ours[0].check(ours[0].stderr.ends_with(&plain[0].stderr), &plain[0].stderr);
        let messages = |done: &Done| -> Vec<serde_json::Value> {
            let lines = done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
            lines.map(|line: serde_json::Value| line["message"].clone()).filter(|it| !it.is_null()).collect()
        };
        assert!(!messages(&plain[1]).is_empty());
        assert_eq!(messages(&ours[1]), messages(&plain[1]));
    }
}
