//! Are dependencies recorded too, when the user asks for it?

use std::path::PathBuf;

use xhist_tests::{Case, Crate, Done, Listing, Need, Run, Tree, history_of, manifest, online_cargo, report};

use crate::untouched::{assert_no_shadow_in, compiled};

pub const CASES: &[Case] = &[
    Case::needing("statements_of_dependencies_are_in_the_history", &[Need::Registry], recorded),
    Case::needing("a_patched_member_is_used_by_a_dependency", &[Need::Registry], patched),
    Case::needing("names_that_cannot_be_recorded_are_refused", &[Need::Registry], refused),
];

const MAIN: &str = "//! Hashes, then panics.

use std::hash::Hasher;

fn main() {
    let mut hasher = fnv::FnvHasher::default();
    hasher.write(b\"ab\");
    println!(\"{:x}\", hasher.finish());
    println!(\"{} {}\", outside::twice(4), log::max_level());
    panic!(\"the end\");
}
";

/// A program with a dependency from the registry that is of edition 2015, and one outside of the workspace.
fn project() -> (Tree, PathBuf) {
    let tree = Tree::empty("deps");
    tree.write(
        "ws/Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n\
         fnv = \"=1.0.7\"\nlog = \"0.4\"\nserde_derive = \"1\"\noutside = { path = \"../outside\" }\n",
    );
    tree.write("ws/src/main.rs", MAIN);
    tree.write("outside/Cargo.toml", &manifest("outside"));
    tree.write(
        "outside/src/lib.rs",
        "pub fn twice(number: u32) -> u32 {\n    let twice = number * 2;\n    twice\n}\n",
    );
    let directory = tree.join("ws");
    online_cargo(&directory).args("fetch --quiet").succeed();
    (tree, directory)
}

/// Files in the history of a run.
fn files(done: &Done, directory: &std::path::Path) -> Vec<String> {
    let mut files: Vec<String> =
        history_of(done, directory).statements().map(|entry| entry.path.clone()).collect();
    files.dedup();
    files
}

fn recorded() {
    let (tree, directory) = project();
    let before = tree.fingerprint();
    let log = tree.join("target/wrapper.log");
    tree.write("target/wrap.sh", "#!/bin/sh\necho \"$@\" >>\"$WRAPPER_LOG\"\nexec \"$@\"\n");
    Run::new("chmod", tree.path()).args("+x target/wrap.sh").succeed();
    let run = |args: &str| {
        let run = online_cargo(&directory).args(&format!("xhist run --offline --locked {args}"));
        run.env("RUSTC_WRAPPER", tree.join("target/wrap.sh")).env("WRAPPER_LOG", &log).done().expect(101)
    };
    let plain = online_cargo(&directory).args("run --offline --locked").done().expect(101);
    let without = run("");
    assert_eq!(files(&without, &directory), ["src/main.rs"]);

    let with = run("--deps fnv,outside");
    assert_eq!(with.stdout, plain.stdout);
    for (package, is_compiled) in
        [("fnv", true), ("outside", true), ("app", true), ("log", false), ("syn", false)]
    {
        let compiles = with.stderr.contains(&format!("Compiling {package} v"));
        assert_eq!(compiles, is_compiled, "{package}, which the default build has: {}", with.stderr);
    }
    let has = |files: &[String], end: &str| files.iter().any(|file| file.ends_with(end));
    let seen = files(&with, &directory);
    assert!(has(&seen, "/fnv-1.0.7/lib.rs") && has(&seen, "/outside/src/lib.rs"), "{seen:?}");
    assert!(!seen.iter().any(|file| file.contains("/log-")), "{seen:?}");
    let outside = tree.join("outside/src/lib.rs");
    assert!(seen.iter().any(|file| *file == outside.display().to_string()), "{seen:?}");
    let ran = std::fs::read_to_string(&log).expect("the user's wrapper ran");
    let of_fnv = |line: &&str| line.contains("--crate-name fnv ");
    let calls: Vec<&str> = ran.lines().filter(of_fnv).collect();
    assert!(calls.len() == 2 && calls[1].contains("xhist-rustc"), "{ran}");
    let metadata = |call: &str| call.matches("metadata=").count();
    assert_eq!(metadata(calls[1]), metadata(calls[0]) + 1, "no cache takes one for the other");

    let line = with.stderr.lines().find_map(|line| line.trim_start().strip_prefix("Running `"));
    let program = line.expect("a program").trim_end_matches('`');
    assert_no_shadow_in(&directory.join(program));

    // What was built without is as it was, and what was built with stays.
    let again = run("");
    assert_eq!(files(&again, &directory), ["src/main.rs"]);
    again.check(compiled(&again).is_empty(), "nothing is built again");
    let again = run("--deps outside --deps fnv");
    again.check(compiled(&again).is_empty(), "nothing is built again, in whatever order they are named");
    std::thread::sleep(std::time::Duration::from_millis(1100));
    tree.replace("outside/src/lib.rs", "    twice\n", "    let result = twice;\n    result\n");
    let edited = run("--deps outside,fnv");
    edited
        .check(compiled(&edited) == ["outside", "app"], "what was edited is compiled again, and the program");
    tree.replace("outside/src/lib.rs", "    let result = twice;\n    result\n", "    twice\n");

    // Also where all are numbered at once, the user's own statements have the low numbers.
    std::fs::remove_file(directory.join("target/xhist/xhist.map")).expect("the map was there");
    let all = run("--deps all");
    assert_eq!(all.stdout, plain.stdout);
    assert!(has(&files(&all, &directory), "/src/lib.rs"));
    let map = std::fs::read_to_string(directory.join("target/xhist/xhist.map")).expect("the map");
    let own = map.lines().find(|line| line.contains("\"path\":\"src/main.rs\"")).expect("the program's file");
    assert!(
        own.contains("\"first\":1,") && map.contains("/outside/src/lib.rs\",\"base\":0,\"first\":"),
        "{map}"
    );
    assert!(map.contains("/log-0.4.") && !map.contains("/syn-") && !map.contains("/serde_derive-"));
    before.assert_same(&tree.fingerprint());
}

fn patched() {
    let tree = Tree::empty("patched");
    tree.write(
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\nmembers = [\"cfg-if\"]\n\n\
         [dependencies]\ngetrandom = \"=0.2.17\"\ncfg-if = \"1\"\n\n[patch.crates-io]\ncfg-if = { path = \"cfg-if\" }\n",
    );
    let source = Crate::named("cfg-if@1.0.4").unpack().0.read("src/lib.rs");
    tree.write(
        "cfg-if/src/lib.rs",
        &format!("{source}\n/// Ours.\npub fn patched() -> u32 {{\n    let four = 4;\n    four\n}}\n"),
    );
    tree.write(
        "cfg-if/Cargo.toml",
        "[package]\nname = \"cfg-if\"\nversion = \"1.0.4\"\nedition = \"2018\"\n",
    );
    tree.write(
        "src/main.rs",
        "fn main() {\n    let mut bytes = [0; 4];\n    getrandom::getrandom(&mut bytes).unwrap();\n    println!(\"{}\", cfg_if::patched());\n}\n",
    );
    online_cargo(tree.path()).args("fetch --quiet").succeed();
    let before = tree.fingerprint();
    let done = online_cargo(tree.path()).args("xhist run --quiet --locked").succeed();
    assert_eq!(done.stdout, "4\n");
    before.assert_same(&tree.fingerprint());
    let listing = Listing::parse(&report(tree.path()).succeed().stdout).places();
    assert!(listing.iter().any(|place| place.starts_with("cfg-if/src/lib.rs:")), "{listing:?}");
    // From outside the workspace the same dependency may be recorded as well.
    online_cargo(tree.path()).args("xhist run --quiet --locked --deps getrandom").succeed();
    let listing = Listing::parse(&report(tree.path()).succeed().stdout).places();
    assert!(listing.iter().any(|place| place.contains("/getrandom-0.2.17/src/")), "{listing:?}");
}

fn refused() {
    let (_tree, directory) = project();
    for (name, reason) in [
        ("fmv", "no dependency has this name; similar names: fnv"),
        ("std", "the standard library cannot be recorded: the recorder is built on it"),
        ("libc", "the recorder itself uses this package"),
        ("critical-section", "the recorder itself uses this package"),
        ("serde_derive", "only procedural macros and build scripts use this package"),
        ("syn", "only procedural macros and build scripts use this package"),
    ] {
        let done =
            online_cargo(&directory).args(&format!("xhist run --offline --deps {name}")).done().expect(1);
        done.check(done.stderr.contains(&format!("error: --deps {name}: {reason}")), reason);
    }
    assert!(!directory.join("target/xhist/build").exists());
}
