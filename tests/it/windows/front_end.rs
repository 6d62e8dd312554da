//! Does `cargo xhist` itself work as a program of Windows? Wine runs it. There is no cargo for Windows in a package that the
//! tests could install, so `tests/fixtures/bridge` has a `cargo.exe` and a `rustc.exe` that call those of Linux.
//!
//! That shows the plan, the shadow, the wrappers, the recorder's build, the relay and the answer with paths of Windows. It does
//! not show how the cargo and the rustc of Windows read these paths, nor a console.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use xhist_tests::{Done, Need, Run, Tree, cargo, manifest, repository, with_cache};

use super::recorder::{self, LINKER, windows};
use super::{TARGET, build};

/// The programs of both sides, and the server, which ends with this process.
struct Bridge {
    tree: Tree,
    port: String,
    _server: Child,
}

fn bridge() -> &'static Bridge {
    static BRIDGE: OnceLock<Bridge> = OnceLock::new();
    BRIDGE.get_or_init(|| {
        let tree = Tree::empty("bridge");
        build(&tree);
        let source = repository().join("tests/fixtures/bridge/bridge.rs");
        let compile = |rustc: &Path, name: &str| {
            let run =
                Run::new(rustc, tree.path()).args("--edition 2024 -o").arg(tree.join(name)).arg(&source);
            run.env("RUSTC_BOOTSTRAP", "0")
        };
        let linker = format!("-C linker={LINKER} --target {TARGET}");
        compile(&windows().rustc, "cargo.exe").args(&linker).succeed();
        compile(Path::new("/usr/bin/rustc"), "server").succeed();
        fs::copy(tree.join("cargo.exe"), tree.join("rustc.exe")).expect("copied");
        for role in ["wrapper", "runner"] {
            fs::copy(tree.join("server"), tree.join(role)).expect("copied");
        }
        let mut server = Command::new(tree.join("server"))
            .envs(variables(&tree))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server");
        let mut port = String::new();
        BufReader::new(server.stdout.take().expect("it is piped")).read_line(&mut port).expect("a port");
        Bridge { tree, port: port.trim().to_owned(), _server: server }
    })
}

/// What the server and the wrapper need to know, and the environment of wine.
fn variables(tree: &Tree) -> Vec<(&'static str, PathBuf)> {
    let wine = Need::wine().expect("wine");
    let rustc = &windows().rustc;
    vec![
        ("BRIDGE_HOME", tree.path().to_owned()),
        ("BRIDGE_WINE", wine),
        ("BRIDGE_CARGO", "/usr/bin/cargo".into()),
        ("BRIDGE_RUSTC", rustc.clone()),
        ("REAL_CARGO", "/usr/bin/cargo".into()),
        ("REAL_RUSTC", rustc.clone()),
        ("REAL_CARGO_NET_OFFLINE", "true".into()),
        ("REAL_CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", tree.join("runner")),
        ("REAL_CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", LINKER.into()),
        ("WINEPREFIX", tree.join("prefix")),
        ("WINEPATH", tree.path().to_owned()),
        ("WINEDEBUG", "-all".into()),
        ("WINEDLLOVERRIDES", "winedbg.exe=d".into()),
    ]
}

/// A path as Windows has it.
pub(super) fn windows_path(path: &Path) -> String {
    format!("Z:{}", path.display().to_string().replace('/', "\\"))
}

/// `cargo-xhist.exe` in this directory.
fn cargo_xhist(directory: &Path, args: &str) -> Run {
    cargo_xhist_by(&[], directory, args)
}

/// The same, as these words start it.
fn cargo_xhist_by(words: &[&Path], directory: &Path, args: &str) -> Run {
    let Bridge { tree, port, .. } = bridge();
    let run = Run::new(Need::wine().expect("wine"), directory);
    let run = words.iter().fold(run, |run, word| run.arg(word)).arg(tree.join("cargo-xhist.exe"));
    let run = variables(tree).into_iter().fold(run, |run, (name, value)| run.env(name, value));
    with_cache(run.args(args))
        .env("BRIDGE_PORT", port)
        .env("CARGO", windows_path(&tree.join("cargo.exe")))
        .env("RUSTC", windows_path(&tree.join("rustc.exe")))
}

/// The project with its target for Windows, and a build of it.
fn project() -> Tree {
    Tree::copy_of(&repository().join("tests/fixtures/windows-project"))
}

/// What holds of everything that is printed.
fn check_printed(done: &Done) {
    let printed = format!("{}{}", done.stdout, done.stderr);
    done.check(!printed.contains(r"\\?\"), "no path of the system's own form");
    done.check(!printed.contains("shadow"), "no path of the shadow");
    done.check(!printed.contains("xhist_rt"), "no inserted call");
}

/// The statements of an answer and the suspects, without blanks that depend on other lines.
fn statements(done: &Done) -> Vec<String> {
    let lines = done
        .stderr
        .lines()
        .filter(|line| line.contains("  src/") || line.contains(". src/") || line.contains("/made.rs:"));
    let statement = |line: &str| {
        let line = line.find("made.rs:").map_or(line, |at| &line[at..]);
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    lines.map(statement).collect()
}

/// Tests, runs, a build, what is read afterwards, and a run after a change of data.
pub fn commands() {
    let (tree, here) = (project(), project());
    let target = format!("--target {TARGET}");
    let there = |args: &str, code: i32| {
        let done = cargo_xhist(tree.path(), args).done().expect(code);
        check_printed(&done);
        done
    };
    let test = there(&format!("xhist test {target}"), 101);
    // Cargo wrote the lock file, as it does without xhist.
    let before = tree.fingerprint();
    let warning = " --> src/inner/steps.rs:11:9";
    test.check(
        test.stderr.contains(warning) && test.stderr.contains("let unused = 3;"),
        "the user's own line",
    );
    test.check(test.stdout.contains("test tests::the_sum_is_wrong ... FAILED"), "the output of the tests");
    let expected = cargo(here.path()).args("xhist test").done().expect(101);
    let found = statements(&test);
    test.check(!found.is_empty() && found == statements(&expected), &expected.stderr);
    test.check(
        test.stderr.contains("suspects of 1 failed test and 1 passed test"),
        "what the passed test ran",
    );
    test.check(test.stderr.contains(r"cargo xhist history target\xhist\runs\"), "a command for Windows");

    let why = there("xhist why tests::the_sum_is_wrong", 0);
    let printed = format!("{}{}", why.stdout, why.stderr);
    why.check(printed.contains("sum = 6") && !printed.contains(" bytes)"), "a value with its type");

    let panic = there(&format!("xhist run {target} -- panic"), 101);
    let expected = cargo(here.path()).args("xhist run -- panic").done().expect(101);
    panic.check(
        !statements(&panic).is_empty() && statements(&panic) == statements(&expected),
        &expected.stderr,
    );
    panic.check(panic.stderr.contains(r"panicked at src/inner/steps.rs:13"), "the place in the user's file");
    reports(&tree, &here);
    there(&format!("xhist run {target} -- exit"), 7);

    // Wine makes no symbolic links, so what is beside the sources was copied, and is copied again.
    let words = shadow(&tree).join("data/words.txt");
    assert!(words.symlink_metadata().is_ok_and(|meta| meta.is_file()), "{}", words.display());
    tree.write("data/words.txt", "one two three four\n");
    let run = there(&format!("xhist run {target}"), 0);
    run.check(run.stdout.contains("4 words, src/main.rs"), "the new data");
    tree.write("data/words.txt", "one two three\n");

    let build = there(&format!("xhist build {target}"), 0);
    let start = format!(
        r"$env:XHIST_FILE='target\xhist\%e-%p.xhist'; & target\xhist\build\{TARGET}\debug\project.exe"
    );
    build.check(build.stderr.contains(&start), &start);
    let runs = there("xhist runs", 0);
    runs.check(runs.stdout.contains("1 test failed: tests::the_sum_is_wrong"), "the failed test");
    runs.check(!runs.stdout.contains("was killed"), "no run is left over");
    before.assert_same(&tree.fingerprint());
    there("xhist clean --all", 0);
    for name in ["build", "runs", "shadow", "wrapper"] {
        assert!(!tree.join("target/xhist").join(name).exists(), "{name}");
    }
}

/// What is read of the newest run, which has one thread, is what Linux reads of its own.
fn reports(tree: &Tree, here: &Tree) {
    for words in
        ["history", "hot", "find src/inner/steps.rs:4", "source src/inner/steps.rs", "frame 3", "origin sum"]
    {
        let expected = cargo(here.path()).arg("xhist").args(words).succeed();
        let found = cargo_xhist(tree.path(), &format!("xhist {words}")).done().expect(0);
        check_printed(&found);
        // The directory of what the build script made has the target in its name. PowerShell needs `@` in quotes.
        let text = |done: &Done| {
            let line = |line: &str| match line.split_once("target/xhist/build/") {
                Some((before, path)) => format!("{before}{}", path.rsplit('/').next().unwrap_or_default()),
                None => line.replace('"', ""),
            };
            done.stdout.lines().map(line).collect::<Vec<_>>()
        };
        found.check(text(&found) == text(&expected), &expected.stdout);
    }
    cargo_xhist(tree.path(), "xhist page -o page.html").done().expect(0);
    let page = fs::read_to_string(tree.join("page.html")).expect("a page");
    assert!(
        page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"),
        "{} bytes",
        page.len()
    );
    cargo_xhist(tree.path(), "xhist pack -o run.tar.gz").done().expect(0);
    let packed = cargo(tree.path()).args("xhist answer run.tar.gz").done().expect(0);
    packed.check(packed.stdout.contains("src/inner/steps.rs:13"), "a run of Windows, read here");
    for name in ["page.html", "run.tar.gz"] {
        fs::remove_file(tree.join(name)).expect("removed");
    }
}

/// Ctrl-C of a console is for the program. What explains its end waits for it, and so does cargo.
pub fn ctrl_c() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/windows"));
    let run = |how: &str| {
        let args = format!("xhist run --quiet --target {TARGET} -- {how} interrupted.count");
        let program = &recorder::project().1;
        let run = cargo_xhist_by(&[program, Path::new("interrupt")], tree.path(), &args).env("XHIST", "off");
        let done = run.limit(Duration::from_secs(600)).done();
        fs::remove_file(tree.join("interrupted.count")).expect("it counted");
        (done, fs::read_to_string(tree.join("interrupted.err")).expect("what it printed"))
    };
    // Wine passes on the lowest byte of an exit code.
    let (done, printed) = run("steps-of-windows");
    let done = done.expect(0x3A);
    done.check(printed.contains(" died of STATUS_CONTROL_C_EXIT (0xC000013A)\n"), &printed);
    done.check(printed.contains("// step"), &printed);
    // Wine ends a program that handles nothing with 0.
    let (done, printed) = run("steps");
    done.expect(0).check(!printed.contains("last statements"), &printed);
}

/// Dependencies outside of the workspace are recorded, through both wrappers.
pub fn deps() {
    let tree = Tree::empty("deps-on-windows");
    tree.write("outside/Cargo.toml", &manifest("outside"));
    tree.write(
        "outside/src/lib.rs",
        "pub fn twice(number: u32) -> u32 {\n    let twice = number * 2;\n    twice\n}\n",
    );
    tree.write(
        "app/Cargo.toml",
        &format!("{}\n[dependencies]\noutside = {{ path = \"../outside\" }}\n", manifest("app")),
    );
    tree.write(
        "app/src/main.rs",
        "fn main() {\n    let four = outside::twice(2);\n    panic!(\"{four}\");\n}\n",
    );
    let args = format!("xhist run --deps all --target {TARGET}");
    let there = cargo_xhist(&tree.join("app"), &args).done().expect(101);
    check_printed(&there);
    there.check(there.stderr.contains("/outside/src/lib.rs:2  twice"), "a statement of the dependency");
    there.check(there.stderr.contains("src/main.rs:3"), "the panic");
}

/// Each test is a process of the runner.
pub fn nextest() {
    let (tree, here) = (project(), project());
    let args = format!("xhist nextest run --target {TARGET}");
    let there = cargo_xhist(tree.path(), &args).done().expect(100);
    check_printed(&there);
    let expected = cargo(here.path()).args("xhist nextest run").done().expect(100);
    let found = statements(&there);
    there.check(!found.is_empty() && found == statements(&expected), &expected.stderr);
}

/// The shadow of the project.
fn shadow(tree: &Tree) -> PathBuf {
    let path = tree.path().strip_prefix("/").expect("an absolute path");
    tree.join("target/xhist/shadow/Z").join(path)
}

/// A test that dies, as nextest starts it.
pub fn runner() {
    let tree = Tree::empty("runner-on-windows");
    fs::copy(bridge().tree.join("cargo-xhist.exe"), tree.join("xhist-runner.exe")).expect("copied");
    let run = |how: &str| {
        let run = Run::new(Need::wine().expect("wine"), tree.path()).arg(tree.join("xhist-runner.exe"));
        let run = variables(&bridge().tree).into_iter().fold(run, |run, (name, value)| run.env(name, value));
        let run = run.arg(windows_path(&recorder::project().1)).args(how);
        run.env("XHIST_FILE", format!(r"{}\%e-%p.xhist", windows_path(&tree.join(how)))).done()
    };
    let record = |how: &str| {
        let mut tests =
            fs::read_dir(tree.join(how)).into_iter().flatten().flatten().map(|entry| entry.path());
        tests.next().map(|test| fs::read_to_string(test.join("test.json")).expect("a record"))
    };
    // Wine passes on the lowest byte of an exit code.
    run("violation").expect(5);
    let died = record("violation").expect("a test that failed");
    assert!(died.contains(r#""exit":-1073741819,"signal":"STATUS_ACCESS_VIOLATION""#), "{died}");
    run("panic").expect(101);
    assert!(record("panic").is_some_and(|panicked| panicked.contains(r#""exit":101,"signal":null"#)));
    run("end").expect(0);
    assert_eq!(record("end"), None, "a test that passed");
}

/// A program that runs has its file open.
pub fn clean() {
    let tree = Tree::empty("clean-on-windows");
    let home = tree.join("target/xhist");
    for directory in ["build/debug", "shadow"] {
        fs::create_dir_all(home.join(directory)).expect("a directory");
    }
    let program = home.join("build/debug/windows.exe");
    fs::copy(&recorder::project().1, &program).expect("copied");
    fs::write(home.join("shadow/a.rs"), "").expect("a file");
    let run = Run::new(Need::wine().expect("wine"), tree.path()).arg(&program).args("steps count");
    let run = variables(&bridge().tree).into_iter().fold(run, |run, (name, value)| run.env(name, value));
    let mut program = run.env("XHIST", "off").start();
    program.wait_until("it runs", |_| tree.join("count").exists());
    let done = cargo_xhist(tree.path(), "xhist clean --builds --target-dir target").done().expect(101);
    done.check(
        done.stderr.contains("cannot remove") && done.stderr.contains("build"),
        "what could not be removed",
    );
    assert!(home.join("build/debug/windows.exe").exists() && !home.join("shadow").exists());
}
