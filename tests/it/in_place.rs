//! Does a project that is instrumented in place, without `cargo xhist`, record with plain cargo?

use std::path::Path;
use std::time::Duration;

use object::{Object, ObjectSection};
use rustix::process::Signal;
use xhist_tests::{
    CORTEX_M, Case, Done, Listing, Need, Run, Tree, cargo, copy_program, instrument, line_of, online_cargo,
    other_cargo, report, repository, with_own_version,
};

pub const CASES: &[Case] = &[
    Case::new("plain_cargo_runs_an_instrumented_project", plain_cargo_run),
    Case::new("strip_gives_back_every_file_byte_for_byte", strip_gives_back_every_file),
    Case::new("a_project_without_the_recorder_gets_a_note", note_of_the_recorder),
    Case::new("the_printed_advice_works_when_typed", advice_of_a_program),
    Case::new("the_printed_advice_works_in_a_workspace", advice_in_a_workspace),
    Case::new("the_printed_advice_names_the_repository_it_was_installed_from", advice_from_git),
    Case::needing(
        "the_printed_advice_works_for_firmware",
        &[Need::Long, Need::Firmware, Need::Registry],
        advice_for_firmware,
    ),
    Case::new("an_old_dump_keeps_its_names_when_the_sources_are_instrumented_again", old_dump),
    Case::new("a_makefile_instruments_file_by_file", makefile),
    Case::new("the_filter_of_the_paper_gives_histories_with_names", filter),
    Case::new("the_page_about_instrumenting_in_place_works_as_it_is_typed", page),
    Case::new("a_forked_child_has_a_file_of_its_own", forks),
    Case::new("a_daemon_keeps_the_history_of_its_children", daemon),
    Case::new("history_is_written_at_a_signal_and_at_exit", figure_3),
    Case::new("without_the_trace_feature_the_code_has_the_same_size", same_size),
];

fn sample(name: &str) -> Tree {
    Tree::copy_of(&repository().join("samples").join(name))
}

fn fixture(name: &str) -> Tree {
    Tree::copy_of(&repository().join("tests/fixtures").join(name))
}

/// Names the recorder in the manifest, as a user does.
pub fn add_recorder(tree: &Tree, features: &str) {
    let path = repository().join("xhist-rt");
    let manifest = tree.read("Cargo.toml");
    let has_table = manifest.contains("[dependencies]\n");
    let manifest = if has_table { manifest } else { format!("{manifest}\n[dependencies]\n") };
    let line = format!("xhist-rt = {{ path = {path:?}, features = [{features}] }}");
    tree.write("Cargo.toml", &manifest.replace("[dependencies]\n", &format!("[dependencies]\n{line}\n")));
    tree.share_build();
}

fn plain_cargo_run() {
    let tree = sample("thread-pool");
    instrument(tree.path()).args("src/").succeed();
    add_recorder(&tree, r#""std", "trace""#);
    let file = tree.join("history.xhist");
    let done = cargo(tree.path()).args("run --quiet").env("XHIST_FILE", &file).succeed();
    done.check(done.stdout.ends_with("1 of 3 workers failed\n"), "the program does what it did");
    let listing = Listing::parse(&report(tree.path()).arg(&file).succeed().stdout);
    let places = listing.places();
    let panics = line_of(&tree.join("src/pool.rs"), "let sender = words[1];");
    assert!(places.contains(&format!("src/pool.rs:{panics}")), "{places:#?}");
    let last = line_of(&tree.join("src/main.rs"), "println!(\"{failed} of 3 workers failed\")");
    assert_eq!(listing.last(), format!("src/main.rs:{last}"));
    // It calls no `init`.
    let rings = report(tree.path()).args("builds").arg(&file).succeed();
    let main = rings.stdout.lines().find(|line| line.contains("thread main"));
    rings.check(main.is_some_and(|line| line.contains(" exited,")), "how the process ended");
}

fn strip_gives_back_every_file() {
    for name in ["critical-section", "thread-pool"] {
        let tree = sample(name);
        let before = tree.fingerprint();
        instrument(tree.path()).args("src/ --map").arg(Tree::empty("map").join("xhist.map")).succeed();
        let main = tree.read(if name == "thread-pool" { "src/main.rs" } else { "src/state_machine.rs" });
        assert!(main.contains("xhist_rt::s("), "{main}");
        instrument(tree.path()).args("--strip src/").succeed();
        before.assert_same(&tree.fingerprint());
    }
}

fn note_of_the_recorder() {
    let tree = sample("thread-pool");
    let done = instrument(tree.path()).args("src/").succeed();
    done.check(done.stderr.contains("xhist-rt"), "the manifest needs a line");
    instrument(tree.path()).args("--strip src/").succeed();
    add_recorder(&tree, r#""std", "trace""#);
    let done = instrument(tree.path()).args("src/").succeed();
    done.check(!done.stderr.contains("xhist-rt"), "no note once it is named");
}

/// The command that the tool printed, as a user types it.
fn typed(done: &Done, dir: &Path) -> String {
    let line = done.stderr.lines().find(|line| line.contains("cargo add xhist-rt"));
    let line = line.unwrap_or_else(|| panic!("no command in {}", done.stderr));
    let command = line[line.find("cargo add").expect("the command")..].to_owned();
    other_cargo("sh", dir).env("CARGO_NET_OFFLINE", "true").arg("-ec").arg(&command).succeed();
    command
}

/// Builds and runs a package; the last place that it records.
fn last_place(dir: &Path, package: &str) -> String {
    let target = dir.join("target");
    let cargo = cargo(dir).args(&format!("build --quiet -p {package}")).env("CARGO_TARGET_DIR", &target);
    cargo.env("CARGO_BUILD_BUILD_DIR", Tree::shared_build()).succeed();
    let file = dir.join("ring.xhist");
    Run::new(target.join(format!("debug/{package}")), dir).env("XHIST_FILE", &file).succeed();
    Listing::parse(&report(dir).arg(&file).succeed().stdout).last()
}

const MAIN: &str = "fn main() {\n    let x = 1;\n    println!(\"{x}\");\n}\n";

fn project(manifest: &str, dir: &str) -> Tree {
    let tree = Tree::empty("advice");
    let is_package = manifest.contains("[package]");
    tree.write("Cargo.toml", &if is_package { with_own_version(manifest) } else { manifest.to_owned() });
    tree.write(&format!("{dir}src/main.rs"), MAIN);
    tree
}

fn advice_of_a_program() {
    let recorder = repository().join("xhist-rt");
    let package = "[package]\nname = \"advised\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    for (dependencies, named) in [
        (String::new(), "--path"),
        (format!("[dependencies]\nxhist-rt = {{ path = {recorder:?} }}\n"), "cargo add xhist-rt --features"),
        (
            format!("[dependencies]\nxhist-rt = {{ path = {recorder:?}, features = [\"trace\"] }}\n"),
            "--features",
        ),
        (
            format!("[target.'cfg(unix)'.dependencies]\nxhist-rt = {{ path = {recorder:?} }}\n"),
            "--target 'cfg(unix)'",
        ),
        (format!("[dev-dependencies]\nxhist-rt = {{ path = {recorder:?} }}\n"), "--path"),
    ] {
        let tree = project(&format!("{package}{dependencies}"), "");
        let done = instrument(tree.path()).args("src/").succeed();
        let command = typed(&done, tree.path());
        done.check(command.contains(named), named);
        assert_eq!(last_place(tree.path(), "advised"), "src/main.rs:3", "{dependencies}");
        let again = instrument(tree.path()).args("src/").succeed();
        again.check(!again.stderr.contains("xhist-rt"), "nothing is lacking any more");
    }
    // Under another name the calls do not find it; what the note says helps.
    let renamed = format!(
        "{package}[dependencies]\nx = {{ package = \"xhist-rt\", path = {recorder:?}, features = [\"std\", \"trace\"] }}\n"
    );
    let tree = project(&renamed, "");
    let done = instrument(tree.path()).args("src/").succeed();
    let line = done.stderr.rsplit("each crate: ").next().expect("a line").trim().to_owned();
    tree.write("src/main.rs", &format!("{line}{}", tree.read("src/main.rs")));
    assert_eq!(last_place(tree.path(), "advised"), "src/main.rs:3", "{line}");
}

fn advice_in_a_workspace() {
    let recorder = repository().join("xhist-rt");
    let inherited =
        format!("[workspace.dependencies]\nxhist-rt = {{ path = {recorder:?}, features = [\"trace\"] }}\n");
    for (shared, from, named) in [
        ("", ".", "-p member"),
        (inherited.as_str(), ".", "-p member"),
        ("", "member", "std,trace"),
        ("", "/", "--manifest-path"),
    ] {
        let tree =
            project(&format!("[workspace]\nresolver = \"2\"\nmembers = [\"member\"]\n{shared}"), "member/");
        tree.write(
            "member/Cargo.toml",
            &with_own_version("[package]\nname = \"member\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        );
        let dir = tree.path().join(from);
        let done = instrument(&dir).arg(tree.join("member/src")).succeed();
        let command = typed(&done, &dir);
        done.check(command.contains(named) && command.contains("--path") == shared.is_empty(), named);
        assert_eq!(last_place(&tree.join("member"), "member"), "src/main.rs:3");
    }
}

/// The tool as cargo installs it from a repository.
fn advice_from_git() {
    let source = Tree::copy_of(&repository().join("xhist-rt"));
    let home = Tree::empty("repository");
    for name in ["xhist-rt", "qs-core"] {
        let source =
            if name == "xhist-rt" { source.clone() } else { Tree::copy_of(&repository().join(name)) };
        std::fs::rename(source.path(), home.join(name)).expect("moved");
    }
    let manifest = std::fs::read_to_string(repository().join("Cargo.toml")).expect("the manifest");
    let manifest: String =
        manifest.split_inclusive('\n').filter(|line| !line.starts_with("default-members")).collect();
    let members = manifest.lines().find(|line| line.starts_with("members")).expect("members").to_owned();
    home.write("Cargo.toml", &manifest.replace(&members, "members = [\"qs-core\", \"xhist-rt\"]"));
    let git = |arguments: &str| Run::new("git", home.path()).args(arguments).succeed();
    git("init --quiet");
    git("add .");
    git("-c user.name=a -c user.email=a@b -c commit.gpgsign=false commit --quiet -m all");
    let commit = git("rev-parse HEAD").stdout.trim().to_owned();
    let installed = Tree::empty("installed");
    let tool = instrument(home.path()).into_command().get_program().to_owned();
    std::fs::create_dir(installed.join("bin")).expect("a directory");
    copy_program(tool, installed.join("bin/xhist-instrument"));
    let url = format!("file://{}", home.path().display());
    let version = env!("CARGO_PKG_VERSION");
    installed.write(
        ".crates.toml",
        &format!("[v1]\n\"xhist-instrument {version} (git+{url}?branch=main#{commit})\" = [\"cargo-xhist\", \"xhist-instrument\"]\n"),
    );
    let tree = project("[package]\nname = \"advised\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "");
    let done = Run::new(installed.join("bin/xhist-instrument"), tree.path()).args("src/").succeed();
    let command = format!("cargo add xhist-rt --git {url} --rev {commit} --features std,trace");
    done.check(done.stderr.lines().any(|line| line.ends_with(&command)), &command);
    online_cargo(tree.path()).args(command.strip_prefix("cargo ").expect("cargo")).succeed();
    assert_eq!(last_place(tree.path(), "advised"), "src/main.rs:3");
}

/// A copy of the sample that does not name the recorder yet.
fn advice_for_firmware() {
    let tree = sample("firmware-cortex-m");
    let manifest = tree.read("Cargo.toml");
    let without = manifest.lines().filter(|line| !line.starts_with("xhist-rt ="));
    tree.write("Cargo.toml", &without.collect::<Vec<_>>().join("\n"));
    online_cargo(tree.path()).args("fetch --quiet").succeed();
    let done = instrument(tree.path()).args("src/").succeed();
    let command = typed(&done, tree.path());
    done.check(command.ends_with(" --features trace,single-core"), "the features of firmware with one core");
    // Where the cases that compile the recorder for such cores have compiled most of it.
    let target = repository().join("target/bare");
    CORTEX_M.cargo(tree.path(), "build --quiet").arg("--target-dir").arg(&target).succeed();
    let elf = target.join("thumbv7m-none-eabi/release/firmware-cortex-m");
    let printed = report(tree.path()).arg("--how-to-dump").arg(elf).succeed();
    printed.check(printed.stdout.contains("dump_image dump.bin"), "the ring is in the program");
}

fn old_dump() {
    let tree = sample("thread-pool");
    add_recorder(&tree, r#""std", "trace""#);
    let places = |ring: &str| Listing::parse(&report(tree.path()).arg(ring).succeed().stdout).places();
    let run = |ring: &str| {
        cargo(tree.path()).args("run --quiet").env("XHIST_FILE", tree.join(ring)).succeed();
        places(ring)
    };
    let instrumented = || instrument(tree.path()).args("src/").succeed();
    instrumented();
    let first = run("first.xhist");
    let text = tree.read("src/main.rs");
    let end = text.rfind('}').expect("an end");
    tree.write("src/main.rs", &format!("\n{}    drop(failed);\n{}", &text[..end], &text[end..]));
    let done = instrumented();
    done.check(done.stderr.contains("maps of earlier runs are in xhist.map.d/"), "it says where they are");
    let second = run("second.xhist");
    assert_ne!(first.last(), second.last(), "the newest statement is another one");
    assert_eq!(places("first.xhist"), first);
    instrument(tree.path()).args("src/ --exclude pool.rs").succeed();
    assert_eq!((places("first.xhist"), places("second.xhist")), (first.clone(), second));
    // The map that was asked for need not be the one.
    let done = report(tree.path()).args("first.xhist --map xhist.map").succeed();
    assert_eq!(Listing::parse(&done.stdout).places(), first);
}

/// A program of two files, built and run; the history with the texts of its statements.
fn two_files(instrumented: &str) -> (Tree, impl Fn(&str) -> Done) {
    let tree = Tree::empty("two-files");
    tree.write("Cargo.toml", "[package]\nname = \"two\"\nedition = \"2024\"\n\n[workspace]\n");
    tree.write("src/main.rs", "mod queue;\n\nfn main() {\n    let n = queue::push(3);\n    drop(n);\n}\n");
    tree.write("src/queue.rs", "pub fn push(n: u32) -> u32 {\n    let m = n + 1;\n    m * 2\n}\n");
    add_recorder(&tree, r#""std", "trace""#);
    let directory = tree.path().to_owned();
    let script = instrumented.to_owned();
    let history = move |ring: &str| {
        other_cargo("sh", &directory).arg("-ec").arg(&script).succeed();
        cargo(&directory).args("run --quiet").env("XHIST_FILE", directory.join(ring)).succeed();
        report(&directory).arg(ring).args("--source").succeed()
    };
    (tree, history)
}

const TWO_FILES: &str = "1 src/main.rs:4\tlet n = queue::push(3);\n2 src/queue.rs:2\tlet m = n + 1;\n\
                         3 src/queue.rs:3\tm * 2\n4 src/main.rs:5\tdrop(n);\n";

fn makefile() {
    let (tree, history) = two_files("xhist-instrument src/main.rs; xhist-instrument src/queue.rs");
    let done = history("first.xhist");
    assert_eq!(done.stdout, TWO_FILES);
    done.check(done.stderr.contains("sources were instrumented after its `main`"), "it says so");
    // As make does: only what changed. `main` names an old map from now on.
    tree.replace("src/queue.rs", "let m = n + 1;", "let m = n;\n    let m = m + 1;");
    instrument(tree.path()).args("src/queue.rs").succeed();
    let main = tree.read("src/main.rs");
    cargo(tree.path()).args("run --quiet").env("XHIST_FILE", tree.join("second.xhist")).succeed();
    assert_eq!(tree.read("src/main.rs"), main);
    let second = "1 src/main.rs:4\n2 src/queue.rs:2\n3 src/queue.rs:3\n4 src/queue.rs:4\n5 src/main.rs:5\n";
    assert_eq!(report(tree.path()).arg("second.xhist").succeed().stdout, second);
    // The first dump is of the first texts.
    let first = report(tree.path()).args("first.xhist --source").succeed();
    assert_eq!(first.stdout, TWO_FILES);
    first.check(first.stderr.contains("src/queue.rs has changed since this build"), "and it says so");
    // A pass over all of them makes names certain; both dumps keep theirs.
    instrument(tree.path()).args("src/").succeed();
    assert_eq!(report(tree.path()).arg("second.xhist").succeed().stdout, second);
    assert_eq!(report(tree.path()).args("first.xhist --source").succeed().stdout, TWO_FILES);
}

fn filter() {
    let script = "cp -r src orig; for f in main queue; do \
                  xhist-instrument --stdin-path src/$f.rs - < orig/$f.rs > src/$f.rs; done";
    let (tree, history) = two_files(script);
    assert_eq!(history("dump.xhist").stdout, TWO_FILES);
    assert!(tree.read("src/queue.rs").contains("::xhist_rt::e(0x2_0002_"));
}

/// Every block of commands, in their order, in one shell.
fn page() {
    let text = std::fs::read_to_string(repository().join("docs/in-place.md")).expect("the page");
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let has_gdb = Need::Gdb.missing().is_none();
    let script: String = blocks.filter(|block| has_gdb || !block.contains("gdb")).collect();
    let here = repository().display().to_string();
    let tree = Tree::empty("page");
    let shell = other_cargo("sh", tree.path()).env("CARGO_NET_OFFLINE", "true").env("DEBUGINFOD_URLS", "");
    let done = shell.arg("-ec").arg(script.replace("/path/to/xhist", &here)).succeed();
    let shown = text.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let [note, listing, of_rustc] = shown.collect::<Vec<_>>()[..] else { panic!("three blocks of output") };
    done.check(done.stdout.contains(listing), listing);
    done.check(done.stdout.ends_with(of_rustc), of_rustc);
    let here = tree.join("demo").display().to_string();
    let note =
        note.replace("/path/to/xhist", &repository().display().to_string()).replace("/home/you/demo", &here);
    done.check(done.stderr.contains(&note), &note);
    let times = done.stdout.matches("1 src/main.rs:2\n").count();
    done.check(times == 2 + usize::from(has_gdb), "each report has its names");
}

/// Without [`xhist_rt::init`]. A ring file that parent and child both wrote could not be read.
fn forks() {
    forks_in("", |run| run.env("XHIST_FILE", "ring.xhist"));
}

/// The child's file is beside its parent's, wherever they are meanwhile, and however it was named.
fn daemon() {
    let away = "std::env::set_current_dir(\"/\").unwrap();";
    forks_in(away, |run| run.env("XHIST_FILE", "ring.xhist"));
    let named = "xhist_rt::Init::new().no_signal().file(\"ring.xhist\").install();";
    forks_in(&format!("{named} {away}"), |run| run);
    // An empty name counts as no name.
    forks_in(named, |run| run.env("XHIST_FILE", ""));
}

/// A program that begins with this code and forks.
fn forks_in(begin: &str, with: impl Fn(Run) -> Run) {
    let tree = fixture("zoo");
    add_recorder(&tree, r#""std", "trace""#);
    let file = "src/bin/forks.rs";
    let place = |mark: &str| format!("{file}:{}", line_of(&tree.join(file), &format!(" // {mark}")));
    tree.replace(file, "fn main() {", &format!("fn main() {{ {begin}"));
    instrument(tree.path()).args("src/").succeed();
    cargo(tree.path()).args("build --quiet --bin forks").succeed();
    with(Run::new(tree.join("target/debug/forks"), tree.path())).succeed();
    let (of_parent, of_child) = of_both(&tree, "ring.xhist");
    assert_eq!(of_parent.last(), Some(&place("parent last")));
    assert_eq!(of_child.last(), Some(&place("child last")));
    assert!(!of_parent.contains(&place("child first")), "{of_parent:#?}");
    assert!(!of_child.contains(&place("parent before")), "{of_child:#?}");
}

/// The places in the ring file of the parent, and in that of the child beside it.
fn of_both(tree: &Tree, parent: &str) -> (Vec<String>, Vec<String>) {
    let places = |file: &str| {
        Listing::parse(&report(tree.path()).arg(file).succeed().stdout).only_statements().places()
    };
    let names = std::fs::read_dir(tree.path()).expect("a directory").flatten().map(|entry| entry.file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    let child = names.iter().find(|name| name.starts_with(&format!("{parent}.")));
    (places(parent), places(child.unwrap_or_else(|| panic!("one for the child in {names:?}"))))
}

fn figure_3() {
    let tree = fixture("figure-3");
    add_recorder(&tree, r#""std", "trace""#);
    instrument(tree.path()).args("src/").succeed();
    cargo(tree.path()).args("build --quiet").succeed();
    let history = tree.join("history.bin");
    let program = Run::new(tree.join("target/debug/figure-3"), tree.path());
    let mut running = program.arg(&history).with_input().start();
    running.wait_for("running\n");
    let main = tree.join("src/main.rs");
    let reads = format!("src/main.rs:{}", line_of(&main, "read_line(&mut line)"));
    // It has said `running`, but need not have come to the next statements: ask until it has.
    running.wait_until("its history says that it reads its input", |running| {
        running.signal(Signal::USR1);
        std::thread::sleep(Duration::from_millis(20));
        let done = report(tree.path()).arg(&history).done();
        done.code() == 0 && Listing::parse(&done.stdout).last() == reads
    });
    running.write("go on\n");
    running.done().expect(0);
    let at_exit = report(tree.path()).arg(&history).succeed();
    let last = format!("src/main.rs:{}", line_of(&main, "// last"));
    assert_eq!(Listing::parse(&at_exit.stdout).last(), last, "the newest export");
}

/// The program with the recorder named but unused, and the instrumented one without `trace`.
fn same_size() {
    let tree = sample("thread-pool");
    add_recorder(&tree, "");
    tree.write(
        "src/main.rs",
        &tree.read("src/main.rs").replace("mod pool;", "extern crate xhist_rt;\nmod pool;"),
    );
    let build = || {
        cargo(tree.path()).args("build --quiet --release").succeed();
        text_size(&std::fs::read(tree.join("target/release/thread-pool")).expect("the program"))
    };
    let plain = build();
    instrument(tree.path()).args("src/").succeed();
    let source = tree.read("src/pool.rs");
    assert!(source.contains("xhist_rt::s("), "{source}");
    assert_eq!(build(), plain, "bytes of .text");
    // The same check sees a difference where there is one.
    tree.replace("Cargo.toml", "features = []", r#"features = ["std", "trace"]"#);
    assert!(build() > plain, "recording takes code");
}

fn text_size(program: &[u8]) -> u64 {
    let file = object::File::parse(program).expect("a program");
    let section = file.section_by_name(".text").or_else(|| file.section_by_name("__text"));
    section.expect("code").size()
}
