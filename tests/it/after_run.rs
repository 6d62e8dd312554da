//! After a run: does `cargo xhist` name what failed, whatever lies in the run's directory, and end when it is asked to?

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use xhist_tests::{Case, Done, Run, Tree, cargo, history_of, is_long, line_of, repository, rings_in, run_of};

pub const CASES: &[Case] = &[
    Case::new("each_signal_is_named", signals),
    Case::new("an_exit_code_of_the_programs_own_gives_the_last_statements", exit_codes),
    Case::new("a_run_without_run_json_gives_the_last_statements", undescribed),
    Case::new("threads_that_are_not_printed_are_named", threads),
    Case::new("every_failed_test_is_named_and_no_other", failed_tests),
    Case::new("the_output_of_tests_is_passed_on_as_it_is", passed_on),
    Case::new("a_terminal_stays_a_terminal", terminal),
    Case::new("tests_that_abort_are_named_with_the_signal", aborted_test),
    Case::new("a_test_that_still_ran_is_named_beside_one_that_failed", still_running),
    Case::new("what_a_second_panic_aborts_comes_before_other_panics", aborts_behind_other_panics),
    Case::new("what_a_failed_test_started_is_kept", started_by_a_failed_test),
    Case::new("a_test_program_without_a_harness_is_named_and_no_test_that_passed", own_harness),
    Case::new("documentation_tests_that_fail_are_named", documentation),
    Case::new("only_regular_files_are_read", no_regular_file),
    Case::new("memory_does_not_depend_on_the_size_of_a_file", || memory("sparse", "256k")),
    Case::new("memory_does_not_depend_on_the_size_of_a_ring", || memory("abort", "1g")),
    Case::new("a_large_ring_ends_in_the_right_statement", large_ring),
    Case::new("signals_end_it_while_it_reports", interrupted_report),
    Case::new("keys_that_end_a_program_are_the_programs", ctrl_c),
    Case::new("a_signal_for_cargo_xhist_alone_reaches_the_program", signal_alone),
    Case::new("commands_that_are_printed_work_when_typed", typed),
    Case::new("the_users_command_gets_rings_of_crashes", uploads),
    Case::new("a_file_that_the_user_named_by_a_pattern_is_read", named_by_pattern),
];

/// The program that ends in many ways, built once; cases have runs and target directories of their own only where
/// they look at them.
pub fn ends() -> &'static Tree {
    static ENDS: OnceLock<Tree> = OnceLock::new();
    ENDS.get_or_init(|| fixture("ends"))
}

pub fn fixture(name: &str) -> Tree {
    let tree = Tree::copy_of(&repository().join("tests/fixtures").join(name));
    cargo(tree.path()).args("generate-lockfile --quiet").succeed();
    cargo(tree.path()).args("xhist build --quiet --all-targets").succeed();
    tree
}

/// The recorder fills in the pattern, and the answer is that of the file that it made in this run.
fn named_by_pattern() {
    let place = Tree::empty("pattern");
    std::fs::write(place.join("ends-1.xhist"), "of an earlier run").expect("it is written");
    let pattern = place.join("%e-%p.xhist");
    let done = run(ends(), "abort").env("XHIST_FILE", &pattern).done().expect(134);
    done.check(done.stderr.contains("last statements of thread main"), "the answer");
    done.check(!done.stderr.contains("%e"), "no command with the pattern");
}

/// `XHIST_UPLOAD` copies the ring and the map, and a copy can be read by itself. A command that fails is named.
fn uploads() {
    let bucket = Tree::empty("bucket");
    let copy = format!("cp \"$1\" \"$2\" '{}'", bucket.path().display());
    run(ends(), "abort").env("XHIST_UPLOAD", &copy).done().expect(134);
    let rings = rings_in(bucket.path());
    assert_eq!(rings.len(), 1, "{rings:?}");
    let read = xhist_tests::report(bucket.path()).arg(&rings[0]).succeed();
    read.check(read.stdout.contains("src/main.rs:"), "the copied map names files");
    let done = run(ends(), "abort").env("XHIST_UPLOAD", "exit 3").done().expect(134);
    let message = "xhist: XHIST_UPLOAD: `exit 3` ended with exit status: 3; the ring is still in ";
    done.check(done.stderr.contains(message), "the failure is named");
    let done = run(ends(), "exit 0").env("XHIST_UPLOAD", "exit 3").done();
    done.check(!done.stderr.contains("XHIST_UPLOAD"), "a run that succeeds uploads nothing");
}

fn run(tree: &Tree, how: &str) -> Run {
    cargo(tree.path()).args(&format!("xhist run --quiet -- {how}"))
}

/// What `cargo xhist` printed: from its first line on.
fn message_of(done: &Done) -> &str {
    done.stderr.find("xhist: ").map_or("", |at| &done.stderr[at..])
}

fn place(tree: &Tree, file: &str, mark: &str) -> String {
    format!("{file}:{}", line_of(&tree.join(file), mark))
}

/// The place of the last statement in a listing.
fn last_place(text: &str) -> &str {
    let is_entry = |line: &&str| line.starts_with("  ") && !line.starts_with("  -- ");
    let last = text.lines().filter(is_entry).rfind(|line| line.contains(".rs:")).unwrap_or_default();
    last.split(' ').find(|word| word.contains(".rs:")).unwrap_or_default()
}

fn signals() {
    let cases = [
        ("abort", "SIGABRT (signal 6)", 134, "// abort"),
        ("null", "SIGSEGV (signal 11)", 139, "// null"),
        ("overflow", "SIGABRT (signal 6)", 134, "black_box([depth; 64])"),
        ("kill 9", "SIGKILL (signal 9)", 137, "// kill"),
        ("kill 15", "SIGTERM (signal 15)", 143, "// kill"),
        ("kill 4", "SIGILL (signal 4)", 132, "// kill"),
        ("drop", "SIGABRT (signal 6)", 134, "// drop"),
    ];
    for (how, signal, code, last) in cases {
        let done = run(ends(), how).done().expect(code);
        done.check(message_of(&done).contains(&format!(" died of {signal}\n")), signal);
        let last = place(ends(), "src/main.rs", last);
        done.check(
            how == "overflow" || last_place(message_of(&done)) == last,
            &format!("{last} is the last"),
        );
        let runs = run_of(ends(), &done);
        let json: serde_json::Value = serde_json::from_str(&read(&runs.join("run.json"))).expect("an object");
        assert_eq!(json["signal"], signal.split(' ').next().unwrap_or_default());
        assert_eq!((json["exit"].clone(), json["failed"].clone()), (serde_json::Value::Null, true.into()));
        let ring = json["failed_rings"][0].as_str().expect("a ring");
        assert!(runs.join(ring).is_file(), "{ring}");
        assert_eq!(json["command"].as_str(), Some(format!("cargo run --quiet -- {how}").as_str()));
    }
    let done = cargo(ends().path()).args("xhist run --quiet --profile aborting -- panic").done().expect(134);
    done.check(message_of(&done).contains(" died of SIGABRT (signal 6)\n"), "a panic that aborts");
    let done = run(ends(), "panic").done().expect(101);
    done.check(
        message_of(&done).contains(" had a panic\nlast statements of thread main before its panic"),
        "the statements before the panic",
    );
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn exit_codes() {
    for code in [1, 3] {
        let done = run(ends(), &format!("exit {code}")).done().expect(code);
        let text = done.stderr.trim_start();
        let lead = format!("xhist: exit code {code}\nlast statements of thread main (newest last):\n");
        done.check(text.starts_with(&lead), "the exit code, and the last statements");
        assert_eq!(last_place(text), place(ends(), "src/main.rs", "// exit"));
        let file =
            text.lines().last().and_then(|line| line.strip_prefix("whole history: cargo xhist history "));
        assert!(file.is_some_and(|file| ends().join(file).is_file()), "{file:?}");
    }
    let done = run(ends(), "refused").done().expect(1);
    for mark in ["// second", "// refused"] {
        let place = place(ends(), "src/main.rs", mark);
        done.check(done.stderr.contains(&format!("  {place} ")), "where the error came from");
    }
    let done = run(ends(), "exit 0").succeed();
    done.check(done.stderr.is_empty(), "nothing after a success");
    let done = run(ends(), "at_once 4").done().expect(4);
    done.check(message_of(&done).contains("left by `_exit` or `exec`, exit code 4"), "no signal");
    let done = run(ends(), "becomes").done().expect(1);
    let becomes = place(ends(), "src/main.rs", "// becomes");
    done.check(message_of(&done).contains("left by `_exit` or `exec`, exit code 1"), "another program ended");
    assert_eq!(last_place(&done.stderr), becomes);
    let done = run(ends(), "fork_exit 4").done().expect(4);
    done.check(
        done.stderr.contains(" ended with exit code 4\n"),
        "not only its children that left by `_exit`",
    );
    assert_eq!(last_place(&done.stderr), place(ends(), "src/main.rs", "// behind children"));
    let done = run(ends(), "thread").succeed();
    done.check(
        message_of(&done).contains(" had a panic\nlast statements of thread "),
        "a panic is no small thing",
    );
    let runs = xhist_tests::report(ends().path()).args("runs").succeed();
    let how = |of_run: &Path| {
        let name = of_run.file_name().and_then(|name| name.to_str()).expect("a name");
        runs.stdout.lines().find(|line| line.starts_with(name)).expect("it is listed").to_owned()
    };
    assert!(how(&run_of(ends(), &done)).contains(" exit code 0, a thread panicked "), "{}", runs.stdout);
    assert_eq!(runs.stdout.matches("a thread panicked").count(), 1, "{}", runs.stdout);
}

/// As after `kill -9` of `cargo xhist`.
fn undescribed() {
    let done = run(ends(), "abort").done().expect(134);
    let of_run = run_of(ends(), &done);
    std::fs::remove_file(of_run.join("run.json")).expect("a description");
    let answer = xhist_tests::report(ends().path()).args("answer").arg(&of_run).succeed();
    assert_eq!(last_place(&answer.stdout), place(ends(), "src/main.rs", "// abort"));
    answer.check(answer.stderr.contains("run.json is missing"), "why there is no more");
    let github = xhist_tests::report(ends().path()).args("answer --format github").arg(&of_run).succeed();
    let (file, line) = ("src/main.rs", line_of(&ends().join("src/main.rs"), "// abort"));
    let error = format!("::error file={file},line={line},title=ends");
    github.check(github.stdout.starts_with(&error), &error);
    github.check(github.stderr.contains("run.json is missing"), "why there is no more");
    std::fs::remove_dir_all(&of_run).expect("a directory");
    std::fs::create_dir(&of_run).expect("a directory");
    let empty = xhist_tests::report(ends().path()).args("answer").arg(&of_run).done().expect(2);
    empty.check(empty.stderr.contains("has no run.json"), "an empty directory");
}

fn threads() {
    let done = run(ends(), "threads").done().expect(134);
    let message = message_of(&done);
    done.check(message.matches("last statements of thread ").count() == 7, "all threads");
    let first = message.split("last statements of thread ").nth(1).unwrap_or_default();
    assert_eq!(last_place(first), place(ends(), "src/main.rs", "// with threads"));
    // Of more threads than have room, the one that the signal ended ran last.
    let done = run(ends(), "fault").done().expect(139);
    let fault = place(ends(), "src/main.rs", "// fault");
    done.check(message_of(&done).contains(&format!("  {fault} ")), "what faulted");
}

const MODULE: &str = "a_module_with_a_name_that_is_rather_long";
const FAILED: [&str; 6] = [
    "it_panics_with_the_wrong_text",
    "the_fifth_one",
    "the_first_one",
    "the_fourth_one",
    "the_second_one",
    "the_third_one",
];

fn many() -> &'static Tree {
    static MANY: OnceLock<Tree> = OnceLock::new();
    MANY.get_or_init(|| fixture("many"))
}

fn failed_tests() {
    for options in ["", "-q", "-- --test-threads=1", "-- --nocapture", "-- --show-output -q"] {
        let done = cargo(many().path()).args(&format!("xhist test --lib {options}")).done().expect(101);
        // The test that is printed last depends on how threads ran. What follows it is of all tests.
        let of_tests = message_of(&done).split("whole history: ").next().unwrap_or_default();
        let parts: Vec<&str> = of_tests.split("xhist: test ").skip(1).collect();
        let mut names: Vec<&str> = parts.iter().filter_map(|part| part.split(' ').next()).collect();
        names.sort_unstable();
        let short = ["parser::it_returns_an_error", "parser::it_should_have_panicked"];
        let all: Vec<String> = FAILED.iter().map(|name| format!("{MODULE}::{name}")).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).chain(short).collect();
        done.check(names == all, "the tests that failed");
        done.check(!message_of(&done).contains("it_panics_as_it_should"), "none that passed");
        for part in parts {
            let name = part.split([' ', ':']).nth(2).unwrap_or_default();
            let history = part.lines().find_map(|line| line.strip_prefix("its history: "));
            let listing = typed_in(many().path(), history.expect("a command"));
            let is_of = |mark: &str| {
                let place = place(many(), "src/lib.rs", &format!("// {mark}"));
                assert!(part.contains(&place), "{name}: {part}");
                assert!(listing.contains(&place), "{name}: {listing}");
            };
            if let Some(mark) = name.strip_prefix("the_").and_then(|name| name.strip_suffix("_one")) {
                is_of(mark);
                // What ran behind the panic is left out.
                let last = place(many(), "src/lib.rs", "// last");
                assert_eq!(last_place(part), last, "{part}");
                assert!(part.contains("before its panic"), "{part}");
            }
            if name == "it_returns_an_error" {
                is_of("error");
            }
        }
    }
    let done = cargo(many().path()).args("xhist test --lib -q -- it_passes as_it_should").succeed();
    done.check(message_of(&done).is_empty(), "nothing after a success");
}

/// Runs a command line in a shell, as it was printed. Its output.
fn typed_in(directory: &Path, command: &str) -> String {
    let bin = xhist_tests::report(directory).into_command().get_program().to_owned();
    let bin = Path::new(&bin).parent().expect("a directory");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    Run::new("bash", directory).env("PATH", path).args("-c").arg(command).succeed().stdout
}

fn passed_on() {
    let options = "test --lib --quiet -- --test-threads=1";
    let text = |verb: &str| {
        let done = cargo(many().path()).args(&format!("{verb}{options}")).done().expect(101);
        done.stdout.lines().map(without_numbers).collect::<Vec<_>>()
    };
    assert_eq!(text("xhist "), text(""));
    // Both streams in one pipe: the order is kept.
    let both = |verb: &str| {
        let script = format!("cargo {verb}{options} --nocapture 2>&1 | cat");
        let command = cargo(many().path()).into_command();
        let envs = command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?)));
        let run = Run::new("sh", many().path()).args("-c").arg(script);
        let text = envs.fold(run, |run, (name, value)| run.env(name, value)).done().stdout;
        let text = text.split("\nxhist: ").next().unwrap_or_default().to_owned();
        text.lines().map(without_numbers).filter(|line| !line.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(both("xhist "), both(""));
}

/// Times, process ids and columns differ.
fn without_numbers(line: &str) -> String {
    line.split(|char: char| char.is_ascii_digit() || char == '.').collect()
}

fn terminal() {
    let script = |verb: &str| {
        let command = format!("cargo {verb}test --lib --quiet -- --test-threads=1 it_passes the_first");
        let cargo = cargo(many().path()).into_command();
        let path = cargo.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
        let run = Run::new("script", many().path()).env("PATH", path.expect("a path")).args("-qec");
        let run = run.arg(command).arg("/dev/null").env("TERM", "xterm").env("CARGO_NET_OFFLINE", "true");
        let done = run.env("CARGO_TERM_COLOR", "auto").done().expect(101);
        let text = done.stdout.split("\r\nxhist: ").next().unwrap_or_default().to_owned();
        // Before that a spinner may turn.
        let from = text.find("running ").unwrap_or(0);
        text[from..].lines().map(without_numbers).filter(|line| !line.is_empty()).collect::<Vec<_>>()
    };
    let (ours, plain) = (script("xhist "), script(""));
    assert!(plain.iter().any(|line| line.contains("\u{1b}[")), "{plain:?}");
    assert_eq!(ours, plain);
}

fn aborted_test() {
    let done = cargo(many().path()).args("xhist test --quiet --test dies").done().expect(101);
    done.check(done.stderr.contains("SIGABRT: process abort signal"), "cargo's own message");
    done.check(message_of(&done).contains(" died of SIGABRT (signal 6)\n"), "the signal");
    done.check(message_of(&done).contains("last statements of thread it_aborts"), "the test");
    let abort = place(many(), "tests/dies.rs", "// abort");
    done.check(message_of(&done).contains(&abort), &abort);
    let json = read(&run_of(many(), &done).join("run.json"));
    assert!(json.contains("\"SIGABRT\"") && json.contains("\"exit\": 101"), "{json}");
}

/// Tests that panic as they should come before it, and more of them than threads that have room.
fn aborts_behind_other_panics() {
    let tree = Tree::program("unwinds", "pub fn main() {}\n");
    let panics = |number| format!("#[test]\n#[should_panic]\nfn panics_{number}() {{\n    panic!();\n}}\n");
    let others: String = (0..9).map(panics).collect();
    let own = "struct Part;\nimpl Drop for Part {\n    fn drop(&mut self) {\n        panic!();\n    }\n}\n#[test]\n\
        fn unwinds() {\n    std::thread::sleep(std::time::Duration::from_millis(200));\n    let _part = Part;\n    \
        panic!();\n}\n";
    tree.write("tests/all.rs", &format!("{others}{own}"));
    let done = cargo(tree.path()).args("xhist test --quiet --test all").done().expect(101);
    let rings = rings_in(&run_of(&tree, &done));
    let read = cargo(tree.path()).args("xhist answer").arg(&rings[0]).done().expect(0);
    read.check(
        read.stdout.starts_with("last statements of thread unwinds before its panic"),
        "it comes first",
    );
    read.check(read.stdout.matches("last statements of").count() == 7, "as many as have room");
}

/// A later test starts more programs than have room.
fn started_by_a_failed_test() {
    let tree = Tree::program("starts", "fn main() {\n    let code = 0;\n    std::process::exit(code);\n}\n");
    let starts = |name: &str, then: &str| {
        format!(
            "#[test]\nfn {name}() {{\n    let status = std::process::Command::new(env!(\"CARGO_BIN_EXE_starts\")).status();\n    \
             assert!(status.unwrap().success());\n    {then}\n}}\n"
        )
    };
    let passes = "#[test]\nfn passes() {\n    (0..99).for_each(|_| start());\n}\n";
    let all = [starts("fails", "panic!();"), starts("start", "").replace("#[test]\n", ""), passes.to_owned()];
    tree.write("tests/all.rs", &all.concat());
    let done = cargo(tree.path()).args("xhist test --quiet --test all").done().expect(101);
    done.check(!done.stderr.contains("the history is not kept"), "it is kept");
    for text in [done.stderr.as_str(), &cargo(tree.path()).args("xhist answer").done().expect(0).stdout] {
        let (_, process) = text.split_once(" that test fails started\n").expect("its process");
        assert!(
            process.starts_with("last statements of thread main") && process.contains("src/main.rs:3"),
            "{text}"
        );
    }
    assert!(rings_in(&run_of(&tree, &done)).len() < 80, "few of the test that passed");
}

/// Cargo names the programs that failed. A test that panics as it should is in none of them.
fn own_harness() {
    let tree = Tree::program("harness", "pub fn main() {}\n");
    tree.write("tests/a_passes.rs", "#[test]\n#[should_panic]\nfn it_panics() {\n    panic!();\n}\n");
    tree.write("tests/z_passes.rs", "#[test]\n#[should_panic]\nfn it_panics() {\n    panic!();\n}\n");
    let own = "fn main() {\n    let code = 3;\n    std::process::exit(code);\n}\n";
    tree.write("tests/own-main.rs", own);
    let manifest = read(&tree.join("Cargo.toml"));
    tree.write("Cargo.toml", &format!("{manifest}\n[[test]]\nname = \"own-main\"\nharness = false\n"));
    let parts = |options: &str| {
        let done =
            cargo(tree.path()).args(&format!("xhist test --no-fail-fast {options}")).done().expect(101);
        done.stderr.split("\nxhist: ").skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    for options in ["", "--quiet", "--verbose"] {
        let parts = parts(options);
        let [own] = &parts[..] else { panic!("{options}: {parts:?}") };
        assert!(own.contains("own_main-") && own.contains(" ended with exit code 3\n"), "{own}");
        assert_eq!(last_place(own), "tests/own-main.rs:3", "{own}");
    }
    tree.replace("tests/own-main.rs", "std::process::exit(code)", "panic!(\"{code}\")");
    tree.replace("tests/z_passes.rs", "#[should_panic]", "");
    let parts = parts("");
    let [test, own] = &parts[..] else { panic!("{parts:?}") };
    assert!(test.contains("test it_panics failed\n") && test.contains("tests/z_passes.rs:4"), "{test}");
    assert!(own.contains("own_main-") && own.contains(" had a panic\n"), "{own}");
    let (listing, _) = own.split_once("whole history: ").expect("the suspects of the test follow");
    assert_eq!(last_place(listing), "tests/own-main.rs:3", "{own}");
}

fn documentation() {
    for edition in ["2021", "2024"] {
        let tree = Tree::copy_of(&repository().join("tests/fixtures/many"));
        tree.replace("Cargo.toml", "2021", edition);
        cargo(tree.path()).args("generate-lockfile --quiet").succeed();
        let done = cargo(tree.path()).args("xhist test --quiet --doc").done().expect(101);
        let line = line_of(&tree.join("src/lib.rs"), "/// assert_eq!(many::twice_next(2), 5);") - 1;
        let name = format!("xhist: documentation test src/lib.rs - twice_next (line {line}) failed\n");
        done.check(message_of(&done).contains(&name), &name);
        done.check(
            message_of(&done).matches(" before its panic (newest last):\n").count() == 1,
            "and not the one that should panic",
        );
        assert!(!history_of(&done, tree.path()).0.is_empty());
    }
}

fn no_regular_file() {
    let started = Instant::now();
    let done = run(ends(), "fifo").limit(Duration::from_secs(60)).done().expect(134);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    done.check(!done.stderr.contains("another.xhist"), "no FIFO is named");
}

/// Starts `cargo xhist run` and returns its peak memory in MiB, and its output.
fn memory(how: &str, size: &str) {
    // Runs of other cases lie beside this one, and a ring of 1 GiB is as much as all may take.
    let started = run(ends(), how).env("XHIST_SIZE", size).env("XHIST_KEEP", "64g").start();
    let status = PathBuf::from(format!("/proc/{}/status", started.pid()));
    // Cargo becomes `cargo-xhist` at once; neither counts what its children take.
    let most = std::thread::spawn(move || {
        let sample = || {
            let text = std::fs::read_to_string(&status).ok()?;
            let kib = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim();
            kib.strip_suffix(" kB")?.trim().parse::<u64>().ok()
        };
        std::iter::from_fn(sample).inspect(|_| std::thread::sleep(Duration::from_millis(2))).max()
    });
    let done = started.done().expect(134);
    let most = most.join().expect("a thread").expect("samples");
    println!("{how} with rings of {size}: {} MiB", most >> 10);
    assert!((1 << 10..64 << 10).contains(&most), "{} MiB", most >> 10);
    assert_eq!(last_place(message_of(&done)).split(':').next(), Some("src/main.rs"), "{}", done.stderr);
    if how == "sparse" {
        let big = rings_in(&run_of(ends(), &done)).into_iter().find(|path| path.ends_with("big.xhist"));
        assert_eq!(big.expect("it stays").metadata().expect("a file").len(), 8 << 30);
    }
}

/// The newest words may be anywhere in a ring that is larger than what is read of it.
fn large_ring() {
    // Of its own: `XHIST_FRAMES` and the lack of it are two builds, and other cases run the program meanwhile.
    let tree = &fixture("ends");
    let size = if is_long() { 16 } else { 1 };
    // Nearly empty, in use, and with its beginning overwritten.
    let some = if is_long() { 12_000 } else { 3_000 };
    let rounds = [100, size * some, size * 56_000];
    let both = ["packed", "single"].map(|frames| rounds.map(|rounds| (rounds, frames)));
    // Single frames are another build.
    for (rounds, frames) in both.iter().take(if is_long() { 2 } else { 1 }).flatten() {
        let run = run(tree, &format!("long {rounds}")).env("XHIST_FRAMES", frames);
        let run = run.env("XHIST_SIZE", format!("{size}m"));
        let done = run.done().expect(134);
        let text = message_of(&done).to_owned();
        let whole = history_of(&done, tree.path()).only_statements().places();
        assert_eq!(Some(last_place(&text)), whole.last().map(String::as_str), "{rounds} rounds, {frames}");
    }
}

/// Its output is not read, so it waits in the midst of its report.
fn stuck() -> Child {
    let mut command = run(ends(), "fill").into_command();
    command.stderr(Stdio::piped()).stdout(Stdio::null());
    let child = command.spawn().expect("cargo");
    let is_stuck = |pid: u32| {
        let children = read(Path::new(&format!("/proc/{pid}/task/{pid}/children")));
        let name = read(Path::new(&format!("/proc/{pid}/comm")));
        let wait = std::fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
        name.trim() == "cargo-xhist" && children.trim().is_empty() && wait.contains("pipe")
    };
    let started = Instant::now();
    while !is_stuck(child.id()) {
        assert!(started.elapsed() < Duration::from_secs(120), "it does not come to its report");
        std::thread::sleep(Duration::from_millis(50));
    }
    child
}

fn interrupted_report() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut child = stuck();
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            assert!(started.elapsed() < Duration::from_secs(2), "deaf to {signal:?}");
            std::thread::sleep(Duration::from_millis(10));
        };
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(signal.as_raw()));
        let mut text = Vec::new();
        child.stderr.take().expect("a pipe").read_to_end(&mut text).expect("what it printed");
        assert!(text.len() >= 1 << 16);
    }
}

fn ctrl_c() {
    for (signal, code, name) in
        [(Signal::INT, 130, "SIGINT (signal 2)"), (Signal::QUIT, 131, "SIGQUIT (signal 3)")]
    {
        let mut started = run(ends(), "sleep").start();
        started.wait_for("ready\n");
        kill_process_group(Pid::from_raw(started.pid().cast_signed()).expect("a process"), signal)
            .expect("a group");
        let done = started.done().expect(code);
        done.check(message_of(&done).contains(&format!(" died of {name}\n")), name);
        done.check(!last_place(message_of(&done)).is_empty(), "a listing");
    }
    // A program that ignores it goes on.
    let mut started = run(ends(), "polite").start();
    started.wait_for("ready\n");
    kill_process_group(Pid::from_raw(started.pid().cast_signed()).expect("a process"), Signal::INT)
        .expect("a group");
    let done = started.done().expect(0);
    done.check(message_of(&done).is_empty(), "it ended well");
}

fn still_running() {
    let tree = Tree::package("hangs");
    let tests =
        "#[test]\nfn fails() { panic!() }\n#[test]\nfn hangs() { std::thread::spawn(wait).join().unwrap() }";
    let wait = "\nfn wait() { loop { std::thread::sleep(std::time::Duration::from_millis(1)) } }\n";
    tree.write("src/lib.rs", &["#![cfg(test)]\n", tests, wait].concat());
    let mut started = cargo(tree.path()).args("xhist test --lib -- --test-threads=2").start();
    started.wait_for("test fails ... FAILED\n");
    std::thread::sleep(Duration::from_millis(100));
    kill_process_group(Pid::from_raw(started.pid().cast_signed()).expect("a process"), Signal::INT)
        .expect("a group");
    let done = started.done().expect(130);
    for line in ["test fails failed", "test hangs still ran when SIGINT (signal 2) came"] {
        done.check(message_of(&done).contains(&format!("xhist: {line}\nlast statements of thread ")), line);
    }
    let (_, hang) = message_of(&done).split_once("test hangs still ran").expect("its listing");
    done.check(hang.contains("  src/lib.rs:6  wait "), "the thread that it waits for");
}

fn signal_alone() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let mut started = run(ends(), "sleep").start();
        started.wait_for("ready\n");
        started.signal(signal);
        let since = Instant::now();
        let done = started.done().expect(code);
        assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
        done.check(message_of(&done).contains(" died of SIG"), "the signal");
    }
}

fn typed() {
    let tree = fixture("ends");
    let target = tree.join("it's a\u{1b}[31m $HOME");
    let run = cargo(tree.path()).args("xhist run --quiet").arg("--target-dir").arg(&target).args("-- abort");
    let done = run.done().expect(134);
    done.check(!done.stderr.contains('\u{1b}'), "no escape reaches the terminal");
    let command =
        message_of(&done).lines().find_map(|line| line.strip_prefix("whole history: ")).expect("a command");
    let listing = typed_in(tree.path(), command);
    assert!(listing.contains("src/main.rs:"), "{command}: {listing}");
    let report = File::open(&target);
    assert!(report.is_ok());
}
