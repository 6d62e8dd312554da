//! Does `cargo xhist` work however the project is set up: targets, profiles, features, configuration?

use std::path::{Path, PathBuf};

use xhist_tests::{Case, Done, Listing, Run, Tree, cargo, line_of, manifest, report, repository};

use crate::untouched::{assert_no_shadow_in, compiled};

pub const CASES: &[Case] = &[
    Case::new("features_examples_benches_and_profiles", command_line),
    Case::new("the_linker_of_gnu_can_link_the_recorder", linker),
    Case::new("a_member_may_be_a_dynamic_library", dylib),
    Case::new("a_project_that_is_named_by_a_link", link),
    Case::new("a_crate_outside_of_its_package", outside),
    Case::new("data_around_a_package_by_paths_that_are_put_together", data_around),
    Case::new("a_target_that_is_named_on_the_command_line_or_in_the_configuration", targets),
    Case::new("the_users_configuration_counts", configuration),
    Case::new("backtraces_are_the_users", backtraces),
    Case::new("before_and_after_live_side_by_side", when),
    Case::new("two_runs_at_once_and_edits_in_between", at_once),
];

fn shapes() -> Tree {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/shapes"));
    cargo(tree.path()).args("generate-lockfile --quiet").succeed();
    tree
}

/// Runs a command with cargo and with `cargo xhist`: both must print the same. Returns the second.
#[track_caller]
fn both_ways(command: impl Fn(&str) -> Run) -> Done {
    let plain = command("").succeed();
    let ours = command("xhist ").succeed();
    ours.check(ours.stdout == plain.stdout, &format!("as without history:\n{}", plain.stdout));
    ours
}

/// Where the recorder is another one than in all other cases. Without optimisation it is built in half the time.
fn quick(run: Run) -> Run {
    run.env("CARGO_PROFILE_RECORDER_OPT_LEVEL", "0")
}

/// The history of the newest run below this target directory.
fn history(tree: &Tree, target_dir: &str) -> Listing {
    let runs = std::fs::read_dir(tree.join(target_dir).join("xhist/runs")).expect("runs");
    let newest = runs.flatten().map(|entry| entry.path()).max().expect("a run");
    let rings = xhist_tests::rings_in(&newest).into_iter();
    let rings: Vec<PathBuf> =
        rings.filter(|ring| !ring.display().to_string().contains("build-script")).collect();
    assert_eq!(rings.len(), 1, "{rings:?}");
    Listing::parse(&report(tree.path()).arg(&rings[0]).succeed().stdout)
}

/// `file:line` of the statement with this comment.
fn place(tree: &Tree, file: &str, mark: &str) -> String {
    format!("{file}:{}", line_of(&tree.join(file), &format!(" // {mark}")))
}

#[track_caller]
fn assert_has(listing: &Listing, place: &str) {
    assert!(listing.places().iter().any(|other| other == place), "{place} in {:?}", listing.places());
}

fn dylib() {
    let tree = Tree::empty("dylib");
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    tree.write(
        "Cargo.toml",
        &manifest("app", "\n[dependencies]\npart = { path = \"part\" }\n\n[workspace]\n"),
    );
    tree.write("src/main.rs", "fn main() {\n    println!(\"{}\", part::double(3)); // end\n}\n");
    tree.write("part/Cargo.toml", &manifest("part", "\n[lib]\ncrate-type = [\"dylib\"]\n"));
    tree.write("part/src/lib.rs", "pub fn double(number: u32) -> u32 {\n    number * 2 // double\n}\n");
    cargo(tree.path()).args("generate-lockfile --quiet").succeed();
    for profile in ["", "--release "] {
        both_ways(|verb| quick(cargo(tree.path()).args(&format!("{verb}run --quiet {profile}"))));
        let history = history(&tree, "target");
        assert_has(&history, &place(&tree, "part/src/lib.rs", "double"));
        assert_has(&history, &place(&tree, "src/main.rs", "end"));
    }
}

fn link() {
    let tree = Tree::empty("link");
    tree.write("real/Cargo.toml", &manifest("app"));
    tree.write("real/src/main.rs", "fn main() {\n    println!(\"{}\", file!()); // end\n}\n");
    std::os::unix::fs::symlink("real", tree.join("named")).expect("a link");
    both_ways(|verb| cargo(tree.path()).args(&format!("{verb}run --quiet --manifest-path named/Cargo.toml")));
    assert_eq!(history(&tree, "real/target").places(), ["src/main.rs:2"]);
}

fn outside() {
    let tree = Tree::empty("outside");
    tree.write("Cargo.toml", "[workspace]\nmembers = [\"app\"]\nresolver = \"3\"\n");
    let target = "[[bin]]\nname = \"app\"\npath = \"../shared/app.rs\"\n";
    tree.write(
        "app/Cargo.toml",
        &format!("[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{target}"),
    );
    tree.write("shared/app.rs", "mod part;\n\nfn main() {\n    part::say(); // end\n}\n");
    tree.write("shared/part.rs", "pub fn say() {\n    println!(\"said\");\n}\n");
    both_ways(|verb| cargo(tree.path()).args(&format!("{verb}run --quiet")));
    assert_eq!(history(&tree, "target").places(), ["shared/app.rs:4", "shared/part.rs:2"]);
}

fn data_around() {
    let tree = Tree::empty("data-around");
    tree.write("app/Cargo.toml", &manifest("app"));
    tree.write("top.txt", "top\n");
    tree.write("data/in/a-1.txt", "one\n");
    let main = r#"macro_rules! data { ($name:literal) => { include_str!(concat!("../../data/in/a-", $name)) } }

fn main() {
    print!("{}{}", data!("1.txt"), include_str!(concat!("../../", "top.txt")));
}
"#;
    tree.write("app/src/main.rs", main);
    both_ways(|verb| cargo(&tree.join("app")).args(&format!("{verb}run --quiet")));
}

fn command_line() {
    let tree = shapes();
    let before = tree.fingerprint();
    let run = |args: &'static str| both_ways(|verb| cargo(tree.path()).args(&format!("{verb}{args}")));
    run("run --quiet --locked");
    assert_has(&history(&tree, "target"), &place(&tree, "app/src/main.rs", "end"));
    let items = tree.join("app/src/items.in");
    assert_has(&history(&tree, "target"), &format!("app/src/items.in:{}", line_of(&items, "let table")));

    let done = run("run --quiet --no-default-features --features loud");
    done.check(done.stdout.contains("LOUD") && !done.stdout.contains("quiet"), "other features");
    assert_has(&history(&tree, "target"), &place(&tree, "app/src/main.rs", "loud"));

    run("run --quiet --example show");
    assert_has(&history(&tree, "target"), &place(&tree, "app/examples/show.rs", "example"));

    let done = run("bench --quiet --bench speed");
    done.check(done.stdout.contains("in no time"), "the benchmark ran");
    assert_has(&history(&tree, "target"), &place(&tree, "app/benches/speed.rs", "bench"));

    let done = run("run --quiet --profile careful").stdout;
    assert!(done.contains("false true"), "optimised, and a panic aborts: {done}");
    assert_has(&history(&tree, "target"), &place(&tree, "my tools/util/src/lib.rs", "twice"));
    before.assert_same(&tree.fingerprint());
}

/// Not every linker reads bitcode.
fn linker() {
    let tree = shapes();
    both_ways(|verb| {
        quick(cargo(tree.path()))
            .args(&format!("{verb}run --quiet"))
            .env("RUSTFLAGS", "-C link-arg=-fuse-ld=bfd -D warnings")
    });
    assert_has(&history(&tree, "target"), &place(&tree, "app/src/main.rs", "end"));
}

fn host() -> String {
    let version = Run::new("rustc", Path::new("/")).args("-vV").succeed().stdout;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its host").to_owned()
}

fn targets() {
    let tree = shapes();
    let host = host();
    let program = tree.join(&format!("target/xhist/build/{host}/debug/app"));
    let has_program = |done: Done| done.check(program.is_file(), "a program for the target that was named");
    has_program(both_ways(|verb| {
        quick(cargo(tree.path())).args(&format!("{verb}run --quiet --target {host}"))
    }));
    assert_has(&history(&tree, "target"), &place(&tree, "app/src/main.rs", "end"));
    // The build script runs in the build, not in the program: with a target named, both can be distinguished.
    let build_script_rings = std::fs::read_dir(tree.join("target/xhist/runs")).expect("runs").flatten();
    let rings: Vec<PathBuf> = build_script_rings.flat_map(|run| xhist_tests::rings_in(&run.path())).collect();
    assert_eq!(rings.len(), 1, "{rings:?}");

    let tests = format!("xhist test --quiet --doc --workspace --target {host}");
    let done = quick(cargo(tree.path())).args(&tests).succeed();
    done.check(done.stdout.contains("1 passed"), "documentation links the recorder");

    std::fs::remove_file(&program).expect("the program");
    has_program(both_ways(|verb| {
        quick(cargo(tree.path())).args(&format!("{verb}run --quiet")).env("CARGO_BUILD_TARGET", &host)
    }));
    std::fs::remove_file(&program).expect("the program");
    tree.write(".cargo/config.toml", &format!("[build]\ntarget = {host:?}\n"));
    has_program(both_ways(|verb| quick(cargo(tree.path())).args(&format!("{verb}run --quiet"))));
    assert_has(&history(&tree, "target"), &place(&tree, "app/src/main.rs", "end"));
}

fn configuration() {
    let tree = shapes();
    let log = tree.join("wrapper.log");
    tree.write("tools/wrap.sh", "#!/bin/sh\necho \"$@\" >>\"$WRAPPER_LOG\"\nexec \"$@\"\n");
    Run::new("chmod", tree.path()).args("+x tools/wrap.sh").succeed();
    tree.write(
        ".cargo/config.toml",
        "[build]\ntarget-dir = \"made here\"\nbuild-dir = \"in between\"\nrustc-wrapper = \"tools/wrap.sh\"\n\
         rustflags = [\"--cfg\", \"extra\"]\nrustdocflags = [\"--cfg\", \"extra\"]\n\n\
         [profile.release]\npanic = \"abort\"\nstrip = true\n\n[profile.dev]\npanic = \"unwind\"\n",
    );
    let run = |command: String| quick(cargo(tree.path())).args(&command).env("WRAPPER_LOG", &log);
    let done = both_ways(|verb| run(format!("{verb}run --quiet --locked")));
    done.check(done.stdout.contains("extra"), "flags of the configuration");
    assert_has(&history(&tree, "made here"), &place(&tree, "app/src/main.rs", "extra"));
    let ran = tree.read("wrapper.log");
    assert!(
        ran.lines().any(|line| line.contains("xhist-rustc") && line.contains("--crate-name app ")),
        "{ran}"
    );
    both_ways(|verb| run(format!("{verb}run --quiet --release")));
    assert_has(&history(&tree, "made here"), &place(&tree, "app/src/main.rs", "end"));
    let done = run("xhist test --quiet --workspace".into()).env("RUSTDOCFLAGS", "--cfg other").succeed();
    done.check(done.stdout.contains("1 passed"), "a test ran");
    // Our files are only where they belong, also when the build directory is elsewhere.
    let strays = walk(&tree.join("in between"), "xhist_rt");
    assert!(strays.is_empty(), "{strays:?}");

    // And the environment over it.
    let done = both_ways(|verb| run(format!("{verb}run --quiet")).env("CARGO_TARGET_DIR", "else where"));
    done.check(
        tree.join("else where/xhist/build/debug/app").is_file(),
        "the target directory of the environment",
    );
}

/// Files below a directory whose name contains this.
fn walk(directory: &Path, name: &str) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(directory).into_iter().flatten();
    let found = entries.filter(|entry| entry.file_name().to_string_lossy().contains(name));
    found.map(|entry| entry.path().to_owned()).collect()
}

fn backtraces() {
    let tree = shapes();
    let frames = |done: &Done| {
        let lines = done.stderr.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
        let own = lines.filter(|line| line.contains("app/src/")).map(|line| {
            // Columns count inserted calls.
            line.rsplit_once(':').expect("a column").0.to_owned()
        });
        own.collect::<Vec<_>>()
    };
    let run = |verb: &str| {
        let run = cargo(tree.path()).args(&format!("{verb}run --quiet -- fall")).env("RUST_BACKTRACE", "1");
        run.done().expect(101)
    };
    let (plain, ours) = (run(""), run("xhist "));
    plain.check(frames(&plain).len() == 2, "two functions of the program");
    assert_eq!(frames(&ours), frames(&plain));
    let shown = ours.stderr.contains(&place(&tree, "app/src/main.rs", "fall"));
    ours.check(shown && !ours.stderr.contains("xhist/shadow"), "the last statement, under the user's path");
    for program in ["debug/app", "debug/deps/libutil-*.rlib"] {
        let (directory, name) = program.rsplit_once('/').expect("a directory");
        let (start, end) = name.split_once('*').unwrap_or((name, ""));
        let directory = tree.join("target/xhist/build").join(directory);
        // Cargo notes what it watches, the shadows too.
        let is_note = |path: &Path| path.iter().any(|part| part == ".fingerprint");
        let files = walk(&directory, start).into_iter().filter(|path| path.is_file() && !is_note(path));
        let files: Vec<PathBuf> = files.filter(|path| path.to_string_lossy().ends_with(end)).collect();
        assert!(!files.is_empty(), "{program}");
        for file in files.iter().filter(|file| file.extension().is_none_or(|extension| extension == "rlib")) {
            assert_no_shadow_in(file);
        }
    }
}

fn when() {
    let tree = shapes();
    let call = place(&tree, "app/src/main.rs", "call");
    let run = |when: &str| cargo(tree.path()).args(&format!("xhist run{when} -- fall")).done().expect(101);
    run("");
    assert_has(&history(&tree, "target"), &call);
    run(" --when after");
    let places = history(&tree, "target").places();
    assert!(!places.contains(&call), "a call that never returned is not recorded behind it: {places:?}");
    assert_has(&history(&tree, "target"), &place(&tree, "my tools/util/src/lib.rs", "twice"));
    for when in ["", " --when=before", " --when after"] {
        let done = run(when);
        done.check(compiled(&done).is_empty(), "both ways stay built");
    }
    let bad = cargo(tree.path()).args("xhist run --when never").done().expect(1);
    bad.check(bad.stderr.contains("possible values: before, after"), "the possible values");
}

/// File ids and paths of the map.
fn ids(tree: &Tree) -> Vec<(u64, String)> {
    let map = tree.read("target/xhist/xhist.map");
    let lines = map.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let files =
        lines.filter_map(|line| Some((line.get("file")?.as_u64()?, line.get("path")?.as_str()?.to_owned())));
    files.collect()
}

fn at_once() {
    let tree = shapes();
    let commands = ["xhist run --quiet", "xhist test --quiet --workspace", "xhist build --quiet --release"];
    let running: Vec<_> = commands.iter().map(|args| cargo(tree.path()).args(args).start()).collect();
    for running in running {
        running.done().expect(0);
    }
    let first = ids(&tree);
    let mut unique: Vec<u64> = first.iter().map(|(id, _)| *id).collect();
    unique.sort_unstable();
    unique.dedup();
    assert!(first.len() >= 6 && unique.len() == first.len(), "{first:?}");

    // Files are removed and added: ids stay, and the id of a removed file is not used again.
    let runs = std::fs::read_dir(tree.join("target/xhist/runs")).expect("runs").flatten();
    let mut rings = runs.flat_map(|run| xhist_tests::rings_in(&run.path()));
    // The tests' rings have a hash in their names.
    let is_program = |ring: &PathBuf| {
        let name = ring.file_stem().unwrap_or_default().to_string_lossy();
        name.strip_prefix("app-").is_some_and(|pid| pid.parse::<u32>().is_ok())
    };
    let ring = rings.find(is_program).expect("the program's ring");
    tree.replace("app/src/lib.rs", "include!(\"items.in\");", "mod items;\npub use items::included;");
    tree.write("app/src/items.rs", &format!("use crate::TABLE;\n{}", tree.read("app/src/items.in")));
    std::fs::remove_file(tree.join("app/src/items.in")).expect("the old file");
    let running: Vec<_> = commands.iter().map(|args| cargo(tree.path()).args(args).start()).collect();
    for running in running {
        running.done().expect(0);
    }
    let second = ids(&tree);
    let is_new = |entry: &&(u64, String)| !first.contains(entry);
    let new: Vec<_> = second.iter().filter(is_new).collect();
    assert_eq!(new.len(), 1, "{second:?}");
    assert!(new[0].1 == "app/src/items.rs" && !unique.contains(&new[0].0), "{new:?}");
    assert!(first.iter().all(|entry| second.contains(entry)), "{second:?}");

    // An older run is read with the map of its build.
    let maps = std::fs::read_dir(tree.join("target/xhist/maps")).expect("maps").count();
    assert!(maps >= 2, "{maps} maps");
    let again = report(tree.path()).arg(ring).succeed();
    assert!(again.stderr.is_empty(), "{}", again.stderr);
    let again = Listing::parse(&again.stdout).places();
    assert!(again.iter().any(|place| place.starts_with("app/src/items.in:")), "{again:?}");
}
