//! Do the commands of `cargo xhist` work where a user types them, and say what the user has to know?

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use xhist_tests::{Case, Done, Run, Tree, cargo, copy_program, line_of, other_cargo, report};

pub const CASES: &[Case] = &[
    Case::new("help_is_there_for_each_command_also_outside_a_project", help),
    Case::new("check_finds_errors_and_leaves_the_tree_alone", check),
    Case::new("a_build_says_how_to_run_it_and_that_works", how_to_run),
    Case::new("a_program_started_directly_prints_at_a_panic_how_to_read_its_history", started_directly),
    Case::new("so_does_a_library_in_a_program_in_c", library_in_c),
    Case::new("code_that_is_not_recorded_is_named_once", not_recorded),
    Case::new("the_users_wrapper_of_members_is_called", member_wrapper),
    Case::new("a_path_with_braces_blanks_and_quotes_is_a_path", odd_path),
    Case::new("the_tool_may_be_replaced_during_a_build", replaced),
];

const MAIN: &str = "fn half(number: u32) -> u32 {
    let half = 10 / number;
    half
}

fn main() {
    println!(\"{}\", half(2));
    if std::env::args().count() > 1 {
        half(0);
    }
}
";

fn manifest(name: &str, more: &str) -> String {
    format!("{}\n{more}", xhist_tests::manifest(name))
}

fn project() -> Tree {
    let tree = Tree::empty("commands");
    tree.write("Cargo.toml", &manifest("demo", ""));
    tree.write("src/main.rs", MAIN);
    tree
}

fn help() {
    let nowhere = Tree::empty("nowhere");
    for args in
        ["", "-h", "--help", "help", "run --help", "run -h", "test --help", "b -q --help", "nextest --help"]
    {
        let done = cargo(nowhere.path()).args(&format!("xhist {args}")).succeed();
        done.check(done.stdout.contains("Usage: cargo xhist ") && done.stderr.is_empty(), "help on stdout");
    }
    let version = cargo(nowhere.path()).args("xhist --version").succeed();
    version.check(version.stdout.starts_with("cargo-xhist "), "name and version");
    let none = cargo(nowhere.path()).args("xhist run -- --help").done().expect(101);
    none.check(none.stderr.contains("could not find `Cargo.toml`"), "this help is the program's own");
}

fn check() {
    let tree = project();
    cargo(tree.path()).args("generate-lockfile --quiet").succeed();
    let before = tree.fingerprint();
    let done = cargo(tree.path()).args("xhist check").succeed();
    done.check(done.stderr.contains("Checking demo "), "cargo checks");
    done.check(
        done.stdout.is_empty() && !done.stderr.contains("to keep its history"),
        "there is nothing to run",
    );
    before.assert_same(&tree.fingerprint());
    tree.replace("src/main.rs", "10 / number;", "10 / \"number\";");
    let wrong = cargo(tree.path()).args("xhist check").done().expect(101);
    let place = format!("--> src/main.rs:{}:", line_of(&tree.join("src/main.rs"), "10 / "));
    wrong.check(wrong.stderr.contains(&place), "the error and its place");
}

/// What follows this text on a line that `cargo xhist` printed.
#[track_caller]
fn said<'a>(done: &'a Done, lead: &str) -> &'a str {
    let line = done.stderr.lines().find_map(|line| line.strip_prefix("xhist: ")?.strip_prefix(lead));
    done.check(line.is_some(), lead);
    line.unwrap_or_default()
}

/// Types a line into a shell that finds our tools.
fn shell(directory: &Path, line: &str) -> Run {
    let cargo = cargo(directory).into_command();
    let path = cargo.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    Run::new("bash", directory).arg("-c").arg(line).env("PATH", path.expect("a path"))
}

fn how_to_run() {
    let tree = project();
    tree.write("tests/of_it.rs", "#[test]\nfn passes() {\n    assert_eq!(1, 1);\n}\n");
    tree.write("examples/shows.rs", "fn main() {\n    println!(\"an example\");\n}\n");
    for (args, printed, place) in [
        ("build", "5\n", "src/main.rs:"),
        ("build --release", "5\n", "src/main.rs:"),
        ("build --example shows", "an example\n", "examples/shows.rs:2"),
        ("test --no-run --test of_it", "test passes ... ok", "tests/of_it.rs:3"),
    ] {
        let done = cargo(tree.path()).args(&format!("xhist {args}")).succeed();
        let line = said(&done, "to keep its history: ");
        let ran = shell(tree.path(), line).succeed();
        ran.check(ran.stdout.contains(printed), "the program runs");
        assert_eq!(said(&done, "to read it then: "), "cargo xhist history");
        let history = report(tree.path()).succeed();
        history.check(history.stdout.contains(place), "its history");
    }
    assert!(!tree.join("target/xhist/runs").exists(), "nothing has run under us");

    // From elsewhere, into elsewhere: both lines are as good.
    let other = Tree::empty("it's elsewhere");
    let build = cargo(other.path()).args("xhist build --manifest-path").arg(tree.join("Cargo.toml"));
    let done = build.env("CARGO_TARGET_DIR", other.join("t")).succeed();
    shell(other.path(), said(&done, "to keep its history: ")).succeed();
    let rest = said(&done, "to read it then: ").strip_prefix("cargo xhist history ").expect("a file");
    let file = shell(other.path(), &format!("ls {rest}")).succeed();
    let history = report(other.path()).arg(file.stdout.trim_end()).args("--map t/xhist/xhist.map").succeed();
    history.check(history.stdout.contains("src/main.rs:"), "its history");

    let quiet = cargo(tree.path()).args("xhist build --quiet").succeed();
    quiet.check(quiet.stderr.is_empty(), "a wish for quiet");
}

/// The line under a panic message: what leads to the command that lists the history, and what says how to keep one.
const BEFORE_PANIC: &str = "what ran before the panic: ";
const IN_MEMORY: &str = "what ran before the panic is in memory only: ";

fn started_directly() {
    let tree = project();
    cargo(tree.path()).args("xhist build --quiet").succeed();
    let line = line_of(&tree.join("src/main.rs"), "10 / number");
    let start = |file: &str, setting: &str| {
        let run = Run::new(tree.join("target/xhist/build/debug/demo"), tree.path()).arg("on");
        run.env("XHIST_FILE", file).env("XHIST_PANIC", setting).done().expect(101)
    };
    let forgotten = start("", "");
    assert_eq!(said(&forgotten, IN_MEMORY), "XHIST_FILE=ring.xhist keeps it in a file");
    let quiet = start("quiet.xhist", "off");
    quiet.check(!quiet.stderr.contains("xhist:"), "no line where it is switched off");
    // A name that a shell would take apart, and a terminal obey.
    for (file, name) in
        [("it's %e;ls.xhist", "it's demo;ls.xhist"), ("a\u{1b}]0;x\u{7}.xhist", "a\u{1b}]0;x\u{7}.xhist")]
    {
        let done = start(file, "");
        done.check(!done.stderr.contains('\u{1b}'), "nothing that a terminal obeys");
        let command = said(&done, BEFORE_PANIC);
        assert!(command.starts_with("cargo xhist answer ") && tree.join(name).exists(), "{command}");
        let answer = shell(tree.path(), command).succeed();
        answer.check(answer.stdout.contains(&format!("src/main.rs:{line} ")), "the last statement, by name");
    }
}

fn library_in_c() {
    let tree = Tree::empty("library");
    tree.write("Cargo.toml", &manifest("half", "[lib]\ncrate-type = [\"cdylib\"]\n"));
    tree.write(
        "src/lib.rs",
        "#[unsafe(no_mangle)]\npub extern \"C\" fn half(number: u32) -> u32 {\n    let result = std::panic::catch_unwind(|| 10 / number);\n    result.unwrap_or(7)\n}\n",
    );
    tree.write("main.c", "#include <stdio.h>\nunsigned half(unsigned);\nint main(void) { printf(\"%u\\n\", half(0)); return 0; }\n");
    let done = cargo(tree.path()).args("xhist build").succeed();
    let lead = "to keep its history, start what loads target/xhist/build/debug/libhalf.so with XHIST_FILE=";
    done.check(!said(&done, lead).is_empty(), "how to keep the history of a library");
    let libraries = tree.join("target/xhist/build/debug");
    Run::new("cc", tree.path()).args("main.c -o main").arg(libraries.join("libhalf.so")).succeed();
    let elsewhere = Tree::empty("elsewhere");
    let ran = Run::new(tree.join("main"), elsewhere.path()).env("LD_LIBRARY_PATH", &libraries);
    let ran = ran.env("XHIST_FILE", tree.join("half.xhist")).succeed();
    assert_eq!(ran.stdout, "7\n");
    let answer = shell(tree.path(), said(&ran, BEFORE_PANIC)).succeed();
    answer.check(answer.stdout.contains("src/lib.rs:3 "), "the last statement, by name");
}

fn not_recorded() {
    let tree = Tree::empty("parts");
    let dependencies = "[dependencies]\nutil = { path = \"../util\" }\n";
    let app = manifest("app", dependencies).replace("[workspace]\n", "[workspace]\nmembers = [\"libc\"]\n");
    tree.write("ws/Cargo.toml", &app);
    tree.write("ws/libc/Cargo.toml", &manifest("libc", "").replace("[workspace]\n", ""));
    tree.write("ws/libc/src/lib.rs", "");
    tree.write("ws/build.rs", "fn main() {\n    let out = std::env::var(\"OUT_DIR\").unwrap();\n    std::fs::write(format!(\"{out}/made.rs\"), \"{ fn made() -> u32 { let one = 1; one } made() }\").unwrap();\n    println!(\"cargo::rerun-if-changed=build.rs\");\n}\n");
    tree.write("ws/src/main.rs", "fn main() {\n    let made: u32 = include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\n    println!(\"{}\", util::one() + made);\n}\n");
    tree.write("util/Cargo.toml", &manifest("util", "[dependencies]\ndeeper = { path = \"../deeper\" }\n"));
    tree.write("util/src/lib.rs", "pub fn one() -> u32 {\n    let one = deeper::one();\n    one\n}\n");
    tree.write("deeper/Cargo.toml", &manifest("deeper", ""));
    tree.write("deeper/src/lib.rs", "pub fn one() -> u32 {\n    let one = 1;\n    one\n}\n");
    let directory = tree.join("ws");
    let run = |args: &str| cargo(&directory).args(&format!("xhist run {args}")).succeed();
    let first = run("");
    assert_eq!(first.stdout, "2\n");
    let outside = said(&first, "not recorded: path dependencies outside the workspace: ");
    let both = "deeper (../deeper), util (../util); add --deps deeper,util";
    first.check(outside == both, "path dependencies, and what to type");
    let member = said(&first, "not recorded: the package libc, ");
    first.check(member == "because the recorder uses a package of this name", "a member that is left alone");
    let made = said(&first, "not recorded: code that a build script makes (in OUT_DIR): ");
    first.check(made == "made.rs of app", "generated code");
    let second = run("");
    second.check(!second.stderr.contains("not recorded"), "once is enough");
    let all = run("--deps util,deeper");
    all.check(!all.stderr.contains("path dependenc"), "these are recorded");
    let one = run("--deps util");
    let left = said(&one, "not recorded: path dependency outside the workspace: ");
    one.check(left == "deeper (../deeper); add --deps deeper", "what is left");
}

fn member_wrapper() {
    let tree = project();
    tree.write("dep/Cargo.toml", &manifest("dep", "").replace("[workspace]\n", ""));
    tree.write("dep/src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n");
    tree.write(
        "Cargo.toml",
        &manifest("demo", "exclude = [\"dep\"]\n\n[dependencies]\ndep = { path = \"dep\" }\n")
            .replace("[workspace]\n\n", "[workspace]\n"),
    );
    let wrapper = tree.join("target/wrap.sh");
    tree.write("target/wrap.sh", "#!/bin/sh\necho \"$@\" >>\"$WRAPPER_LOG\"\nexec \"$@\"\n");
    std::fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).expect("a mode");
    let run = |log: &str, args: &str| {
        cargo(tree.path()).args(&format!("xhist run {args}")).env("WRAPPER_LOG", tree.join(log))
    };
    let calls = |log: &str, name: &str| {
        let text = std::fs::read_to_string(tree.join(log)).unwrap_or_default();
        text.lines()
            .filter(|line| line.contains(&format!("--crate-name {name} ")))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let plain = run("target/0.log", "").succeed();
    assert_eq!((plain.stdout.as_str(), calls("target/0.log", "demo").len()), ("5\n", 0));
    let done = run("target/1.log", "").env("RUSTC_WORKSPACE_WRAPPER", &wrapper).succeed();
    assert_eq!(done.stdout, "5\n");
    let own = calls("target/1.log", "demo");
    assert!(own.len() == 1 && own[0].contains("xhist_rt="), "with what we add: {own:?}");
    assert!(calls("target/1.log", "dep").is_empty(), "for members only");
    assert!(calls("target/1.log", "xhist_recorder").is_empty(), "not for the recorder");
    // As cargo's configuration has it, from the directory above `.cargo`; also where dependencies are recorded.
    tree.write(".cargo/config.toml", "build.rustc-workspace-wrapper = \"target/wrap.sh\"\n");
    run("target/2.log", "--deps dep").succeed();
    assert_eq!((calls("target/2.log", "demo").len(), calls("target/2.log", "dep").len()), (1, 0));
    let missing = run("target/3.log", "").env("RUSTC_WORKSPACE_WRAPPER", "/nowhere/wrap").done().expect(101);
    missing.check(missing.stderr.contains("/nowhere/wrap"), "one that is not there is named");
}

fn odd_path() {
    let tree = Tree::empty("odd");
    let name = "{brace}*[x]? ü 'q' \"d\" a=b";
    tree.write(&format!("{name}/Cargo.toml"), &manifest("demo", ""));
    tree.write(&format!("{name}/src/main.rs"), MAIN);
    let directory = tree.join(name);
    let plain = cargo(&directory).args("run").succeed();
    let done = cargo(&directory).args("xhist run").succeed();
    assert_eq!(done.stdout, plain.stdout);
    let history = report(&directory).succeed();
    history.check(history.stdout.contains(" src/main.rs:"), "the history");
    let built =
        cargo(tree.path()).args("xhist build --manifest-path").arg(directory.join("Cargo.toml")).succeed();
    shell(tree.path(), said(&built, "to keep its history: ")).succeed();
    // The recorder may lie in such a place as well.
    let done = cargo(&directory).args("xhist run").env("XHIST_CACHE", tree.join("{cache} ü"));
    let done = done.env("CARGO_PROFILE_RECORDER_OPT_LEVEL", "0").succeed();
    assert_eq!(done.stdout, plain.stdout);
    // Also where the user has cargo keep things elsewhere.
    tree.write(&format!("{name}/.cargo/config.toml"), "build.build-dir = \"elsewhere\"\n");
    let done = cargo(&directory).args("xhist run").succeed();
    assert_eq!(done.stdout, plain.stdout);
    assert!(!directory.join("elsewhere").exists(), "all of ours lies under target/xhist");
}

fn replaced() {
    let tree = project();
    tree.write("build.rs", "use std::path::Path;\nfn main() {\n    std::fs::write(\"target/waits\", \"\").unwrap();\n    while !Path::new(\"target/go\").exists() {\n        std::thread::sleep(std::time::Duration::from_millis(20));\n    }\n}\n");
    // A tool of our own, to be replaced.
    let found = other_cargo("sh", tree.path()).arg("-c").arg("command -v cargo-xhist").succeed();
    let bin = tree.join("target/bin");
    std::fs::create_dir_all(&bin).expect("a directory");
    copy_program(found.stdout.trim_end(), bin.join("cargo-xhist"));
    let run = || {
        let path = std::env::var("PATH").expect("UTF-8");
        cargo(tree.path()).args("xhist run").env("PATH", format!("{}:{path}", bin.display()))
    };
    let started = run().start();
    while !tree.join("target/waits").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // As an installer does it.
    tree.write("target/bin/new", "#!/bin/sh\necho another >&2\nexit 9\n");
    std::fs::set_permissions(bin.join("new"), Permissions::from_mode(0o755)).expect("a mode");
    std::fs::rename(bin.join("new"), bin.join("cargo-xhist")).expect("another tool");
    tree.write("target/go", "");
    let done = started.done().expect(0);
    assert_eq!(done.stdout, "5\n");
    run().done().expect(9);
}
