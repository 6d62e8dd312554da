//! Is what a program for Windows records right, however it ends? `cargo xhist --target` builds it, and wine runs it.
//!
//! `XHIST_WINDOWS_KILLS` is the number of kills, 1000 usually.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use xhist_tests::{
    Done, Need, Run, Tree, cargo, line_of, other_cargo, report, repository, test_counts, tries,
};

use super::{TARGET, add_library};

/// The compiler of the distribution with a standard library for Windows, which is built from its sources once; and the
/// environment of wine.
pub(super) struct Windows {
    tree: Tree,
    pub(super) rustc: PathBuf,
}

/// Builds for Windows, apart from the tests that use it.
pub(super) fn windows() -> &'static Windows {
    static WINDOWS: OnceLock<Windows> = OnceLock::new();
    WINDOWS.get_or_init(|| {
        let tree = Tree::program("for-windows", "fn main() {}\n");
        add_library(&tree);
        let built = repository().join("target/windows-std");
        let build = "build --quiet --release -Zbuild-std=std,panic_unwind,test --target";
        Run::new("/usr/bin/cargo", tree.path())
            .args(build)
            .arg(TARGET)
            .arg("--target-dir")
            .arg(&built)
            .env("RUSTC", "/usr/bin/rustc")
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", LINKER)
            .succeed();
        let libraries = tree.join("sysroot/lib/rustlib");
        let own = libraries.join(TARGET).join("lib");
        fs::create_dir_all(&own).expect("a directory");
        for library in fs::read_dir(built.join(TARGET).join("release/deps")).expect("libraries").flatten() {
            if library.path().extension().is_some_and(|end| end == "rlib") {
                fs::copy(library.path(), own.join(library.file_name())).expect("copied");
            }
        }
        let host = "x86_64-unknown-linux-gnu";
        std::os::unix::fs::symlink(Path::new("/usr/lib/rustlib").join(host), libraries.join(host))
            .expect("linked");
        let sysroot = tree.join("sysroot");
        tree.write(
            "rustc",
            &format!("#!/bin/sh\nexec /usr/bin/rustc --sysroot '{}' \"$@\"\n", sysroot.display()),
        );
        let rustc = tree.join("rustc");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&rustc, mode).expect("a program");
        let windows = Windows { tree, rustc };
        // The first program of wine makes the files of its system. Two at once are in each other's way.
        let first = Run::new(Need::wine().expect("wine"), windows.tree.path()).args("cmd /c exit");
        windows.wine(first).succeed();
        windows
    })
}

pub(super) const LINKER: &str = "x86_64-w64-mingw32-gcc-posix";

impl Windows {
    /// Wine finds the library that it lacks, and does not start its debugger.
    pub(super) fn wine(&self, run: Run) -> Run {
        run.env("WINEPREFIX", self.tree.join("prefix"))
            .env("WINEPATH", self.tree.path())
            .env("WINEDEBUG", "-all")
            .env("WINEDLLOVERRIDES", "winedbg.exe=d")
    }

    /// Cargo of the distribution, for Windows, with `cargo xhist`.
    pub(super) fn cargo(&self, directory: &Path, args: &str) -> Run {
        let run = other_cargo("/usr/bin/cargo", directory).args(args).arg("--target").arg(TARGET);
        let run =
            run.env("CARGO_NET_OFFLINE", "true").env("CARGO", "/usr/bin/cargo").env("RUSTC", &self.rustc);
        let run = run.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", LINKER);
        self.wine(run).env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", Need::wine().expect("wine"))
    }
}

/// The project, built for Windows, and the instrumented program.
pub(super) fn project() -> &'static (Tree, PathBuf) {
    static PROJECT: OnceLock<(Tree, PathBuf)> = OnceLock::new();
    PROJECT.get_or_init(|| {
        let tree = Tree::copy_of(&repository().join("tests/fixtures/windows"));
        windows().cargo(tree.path(), "xhist build --quiet").succeed();
        let program = tree.join("target/xhist/build").join(TARGET).join("debug/windows.exe");
        (tree, program)
    })
}

/// The instrumented program, with its rings in this file.
fn run(directory: &Path, args: &str) -> Run {
    let run = Run::new(Need::wine().expect("wine"), directory).arg(&project().1).args(args);
    windows().wine(run)
}

fn line(mark: &str) -> u32 {
    line_of(&project().0.join("src/main.rs"), &format!(" // {mark}"))
}

fn history(directory: &Path, ring: &str) -> Done {
    report(directory).arg(ring).arg("--map").arg(project().0.join("target/xhist/xhist.map")).done()
}

/// The statements of an answer, without what a system adds.
fn statements(answer: &str) -> Vec<&str> {
    answer.lines().filter(|line| line.starts_with("  src/")).collect()
}

pub fn same_answer() {
    let tree = &project().0;
    let here = cargo(tree.path()).args("xhist run --quiet -- panic").done().expect(101);
    let there = windows().cargo(tree.path(), "xhist run --quiet").args("-- panic").done().expect(101);
    let (expected, found) = (statements(&here.stderr), statements(&there.stderr));
    there.check(!found.is_empty() && found == expected, &here.stderr);
}

/// What tests ran is kept when their threads end, so the suspects of a failed run are the same.
pub fn suspects() {
    let [tree, here] = [(); 2].map(|()| Tree::copy_of(&repository().join("tests/fixtures/answer")));
    // The ways to fail are in the order in which the tests ended, which differs from run to run.
    let suspects = |done: &Done| -> Vec<String> {
        let lines = done.stderr.lines().skip_while(|line| !line.starts_with("suspects of "));
        let lines = lines.filter(|line| !line.contains("cargo xhist "));
        let unnumbered = |line| str::split_once(line, "; this is way ").map_or(line, |(_, way)| &way[1..]);
        let lines: Vec<&str> = lines.map(unnumbered).collect();
        let ways = lines.split(|line| line.starts_with("suspects of "));
        let mut ways: Vec<String> = ways.map(|way| way.join("\n")).collect();
        ways.sort();
        ways
    };
    let there = windows().cargo(tree.path(), "xhist test").args("--lib --no-fail-fast").done().expect(101);
    let here = native(here.path(), "xhist test --lib --no-fail-fast").done().expect(101);
    let (found, expected) = (suspects(&there), suspects(&here));
    there.check(found.len() > 4 && found == expected, &expected.join("\n"));
}

/// Types, layouts and constant texts are in the program for Windows as in that of Linux.
pub fn values() {
    for profile in ["", "--release "] {
        let record = |tree: &Tree, run: Run| {
            run.env("XHIST_FILE", "valued.xhist").succeed();
            report(tree.path()).args("valued.xhist --all").succeed()
        };
        let args = format!("xhist run --quiet {profile}--values **");
        let (tree, here) = (crate::values::project(), crate::values::project());
        let found = record(&tree, windows().cargo(tree.path(), &args));
        let expected = record(&here, native(here.path(), &args));
        found.check(found.stderr.is_empty() && found.stdout == expected.stdout, &expected.stdout);
        found.check(found.stdout.contains("name: \"hello\", kind: Data { len: 2121 }"), "a layout");
    }
}

/// A ring and the program are enough, and the program still runs.
pub fn own_map() {
    let tree = Tree::empty("own-map-on-windows");
    run(tree.path(), "panic").env("XHIST_FILE", "ring.xhist").done().expect(101);
    fs::copy(&project().1, tree.join("windows.exe")).expect("copied");
    let done = report(tree.path()).args("ring.xhist --program windows.exe").succeed();
    let last = format!("src/main.rs:{}", line("panic"));
    done.check(done.stdout.trim_end().ends_with(&last), &last);
    // `strip` knows no bytes behind those that headers name.
    Run::new("x86_64-w64-mingw32-strip", tree.path()).args("windows.exe").succeed();
    let done = report(tree.path()).args("ring.xhist --program windows.exe").done().expect(1);
    done.check(done.stderr.contains("xhist.map"), "the map is missing");
}

/// The last statement, and the code that wine passes on, which is the lowest byte of that of Windows.
pub fn ends() {
    let tree = Tree::empty("ends-on-windows");
    for (how, code, status) in [
        ("end", 0, "exited"),
        ("panic", 101, "panicked"),
        ("abort", 9, "running or killed"),
        ("violation", 5, "killed"),
        ("exit", 7, "running or killed"),
    ] {
        run(tree.path(), how).env("XHIST_FILE", "ring.xhist").done().expect(code);
        let text = history(tree.path(), "ring.xhist");
        let last = format!("src/main.rs:{}", line(how));
        text.check(text.stdout.lines().last().is_some_and(|line| line.ends_with(&last)), &last);
        let json = report(tree.path()).args("--format json ring.xhist").done();
        let has = |thread: &str, status: &str| {
            let thread = format!("\"thread\":\"{thread}\",\"status\":\"{status}\"");
            json.check(json.stdout.contains(&thread), &thread);
        };
        has("main", status);
        (0..3).for_each(|number| has(&format!("worker-{number}-with-a-long-name"), "ended"));
    }
    // The message is that of the standard library, whose handler comes behind the recorder's.
    let done = run(tree.path(), "overflow").env("XHIST_FILE", "ring.xhist").done();
    done.check(done.stderr.contains("has overflowed its stack"), "the message of std");
    let text = history(tree.path(), "ring.xhist");
    let overflow = line_of(&project().0.join("src/main.rs"), "overflow(depth + 1) + page[3]");
    text.check(
        text.stdout.lines().rev().take(3).any(|line| line.ends_with(&format!("src/main.rs:{overflow}"))),
        "it recurses",
    );
}

/// Ctrl-C ends a program as it does without the recorder, at an exact statement. Wine's own handler ends it with 0, that of Windows
/// with `STATUS_CONTROL_C_EXIT`.
pub fn interrupted() {
    let tree = Tree::empty("interrupted-on-windows");
    run(tree.path(), "interrupt").env("XHIST", "off").limit(Duration::from_secs(60)).done().expect(0);
    let count = fs::read(tree.join("interrupted.count")).expect("a count");
    let count = count.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let recorded = steps(&history(tree.path(), "interrupted.xhist").stdout, line("step"));
    assert!([count, count + 1].contains(&recorded) && count > 0, "{recorded} recorded of {count}");
    let json = report(tree.path()).args("--format json interrupted.xhist").done();
    json.check(json.stdout.contains("\"thread\":\"main\",\"status\":\"running or killed\""), "its status");
}

/// A handler of Ctrl-C runs on a thread that the system makes, which has a ring like any other.
pub fn ctrl_handler() {
    let tree = Tree::empty("ctrl-c-on-windows");
    let words = format!("interrupt {} steps-of-windows interrupted.count", project().1.display());
    let ended = run(tree.path(), &words)
        .env("XHIST_FILE", "own.xhist")
        .env("XHIST", "off")
        .limit(Duration::from_secs(60))
        .done();
    // The lowest byte of `STATUS_CONTROL_C_EXIT`.
    ended.check(ended.code() == 0x3A, "the handler ended it");
    let place = format!("src/main.rs:{}", line("ctrl-c"));
    for (threads, is_there) in [("--all", true), ("--thread main", false)] {
        let text = report(tree.path()).args(&format!("{threads} own.xhist --map"));
        let text = text.arg(project().0.join("target/xhist/xhist.map")).done();
        text.check(text.stdout.contains(&place) == is_there, &format!("{place}: {is_there}"));
    }
}

/// The program writes the number of each step before it takes the next one, so the file says how many were recorded.
pub fn kills() {
    let tree = Tree::empty("kills-on-windows");
    let times = tries("XHIST_WINDOWS_KILLS", 1000, 1000);
    run(tree.path(), &format!("kill {times}")).env("XHIST", "off").limit(Duration::from_secs(1800)).succeed();
    let (mut most, mut begun) = (0, 0);
    for kill in 0..times {
        let count = fs::read(tree.join(&format!("{kill}.count"))).unwrap_or_default();
        let count = count.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if !tree.join(&format!("{kill}.xhist")).exists() {
            assert_eq!(count, 0, "kill {kill}: no file");
            continue;
        }
        let recorded = steps(&history(tree.path(), &format!("{kill}.xhist")).stdout, line("step"));
        // The statement is recorded before it runs.
        assert!([count, count + 1].contains(&recorded), "kill {kill}: {recorded} recorded of {count}");
        begun += usize::from(count > 0);
        most = most.max(count);
    }
    println!("{times} kills, {begun} of them while it counted, the latest at {most}");
    assert!(begun * 2 > times && most > 1000, "{begun} of {times} kills came in time, the latest at {most}");
}

/// How often a line is in a report, one by one or as a loop: `... lines 32-33 x 69,630 in src/main.rs`.
fn steps(text: &str, line: u32) -> u64 {
    let one = format!("src/main.rs:{line}");
    let count = |text: &str| -> u64 {
        if text.ends_with(&one) {
            return 1;
        }
        let loops = text.split_once(" x ").filter(|_| text.starts_with("... line"));
        let number = loops.and_then(|(_, rest)| rest.split(' ').next());
        number.map_or(0, |number| number.replace(',', "").parse().expect("a number"))
    };
    text.lines().map(count).sum()
}

/// How often the time without the recorder a loop takes, on both systems with the same compiler.
pub fn cost() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/windows"));
    let built = |system: &str, word: &str| tree.join(&format!("{system}-{word}"));
    let ratios = ["linux", "windows"].map(|system| {
        let programs = ["", "xhist "].map(|word| {
            let build = format!("{word}build --release --quiet");
            let (run, place) = match system {
                "windows" => (windows().cargo(tree.path(), &build), format!("{TARGET}/release/windows.exe")),
                _ => (native(tree.path(), &build), "release/windows".to_owned()),
            };
            run.succeed();
            let target = if word.is_empty() { "target" } else { "target/xhist/build" };
            let program = built(system, word.trim());
            fs::copy(tree.join(target).join(place), &program).expect("copied");
            program
        });
        // They take turns, and the best of each counts.
        let mut best = [u64::MAX; 2];
        for _ in 0..7 {
            for (program, best) in programs.iter().zip(&mut best) {
                let run = match system {
                    "windows" => {
                        windows().wine(Run::new(Need::wine().expect("wine"), tree.path()).arg(program))
                    }
                    _ => Run::new(program, tree.path()),
                };
                let done = run.args("spin").env("XHIST_FILE", "spin.xhist").succeed();
                *best = done.stdout.trim().parse::<u64>().expect("nanoseconds").min(*best);
            }
        }
        best[1] as f64 / best[0] as f64
    });
    println!("recorded to plain: {:.2} on Linux, {:.2} for Windows", ratios[0], ratios[1]);
    assert!(ratios[1] < 1.5 * ratios[0], "{ratios:?}");
}

/// Cargo of the distribution, for this system.
fn native(directory: &Path, args: &str) -> Run {
    let run = other_cargo("/usr/bin/cargo", directory).args(args).env("CARGO_NET_OFFLINE", "true");
    run.env("CARGO", "/usr/bin/cargo").env("RUSTC", "/usr/bin/rustc")
}

/// Three suites, with tests that fail and tests that panic.
pub fn suites() {
    for name in ["answer", "panics", "readers"] {
        let tree = Tree::copy_of(&repository().join("tests/fixtures").join(name));
        let results = |args: &str| {
            let done = windows().cargo(tree.path(), args).args("--lib --no-fail-fast").done();
            let mut lines: Vec<String> = done
                .stdout
                .lines()
                .filter(|line| line.starts_with("test ") && line.contains(" ... "))
                .map(String::from)
                .collect();
            lines.sort();
            (test_counts(&done), lines)
        };
        let (plain, recorded) = (results("test"), results("xhist test"));
        assert!(plain.1 == recorded.1 && !plain.1.is_empty(), "{name}: {:?} and {:?}", plain.1, recorded.1);
        assert_eq!(plain.0.failed, recorded.0.failed, "{name}");
    }
}
