//! Can anything around the traced program hurt it: files that have the name of its ring file or map, settings that are
//! wrong, callers with fewer rights, hosts that unload it?

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use qs_core::ring::executed;
use xhist_tests::{
    Build, Case, Done, Listing, Need, Run, Torture, Tree, cargo, copy_program, instrument, is_long, recorded,
    report, repository, rings_in,
};

use crate::in_place::add_recorder;
use crate::zoo::{place, program, program_of_each, zoo};

pub const CASES: &[Case] = &[
    Case::new("a_ring_file_takes_the_place_of_nothing_else", nothing_else),
    Case::new("a_ring_file_that_was_asked_for_late_has_what_it_can", late_file),
    Case::new("only_the_user_reads_a_ring_file", modes),
    Case::new("a_program_that_was_replaced_keeps_its_name", replaced),
    Case::needing("a_ring_file_of_another_user_is_left_alone", &[Need::Root], other_owner),
    Case::needing("a_program_with_more_rights_reads_no_settings", &[Need::Root], more_rights),
    Case::new("a_setting_that_cannot_be_used_is_named_once", settings),
    Case::new("a_message_that_is_not_read_ends_nothing", closed_stderr),
    Case::new("history_lost_with_a_closed_descriptor_has_that_reason", closed_descriptors),
    Case::new("a_bus_error_of_the_program_ends_it", own_bus_error),
    Case::new("a_sandbox_kills_no_program_for_the_recorder", sandbox),
    Case::new("a_stack_overflow_is_reported_as_without_history", stack_overflow),
    Case::new("a_library_may_be_closed_under_a_living_thread", closed_library),
];

const SECRET: &str = "precious\n";

/// Lines of the recorder on stderr.
pub fn said(done: &Done) -> Vec<&str> {
    done.stderr.lines().filter(|line| line.starts_with("xhist: ")).collect()
}

/// Runs a program that prints `done`, in this directory.
fn churn(tree: &Tree, file: &str) -> Done {
    let done =
        Run::new(program("churn"), tree.path()).env("XHIST_FILE", file).env("XHIST_SIZE", "4k").succeed();
    done.check(done.stdout == "done\n", "it did its work");
    done
}

/// Something done to the file of this name.
pub type Deed = fn(&Path);

/// What has the name, how it is made, and why it is refused.
const REFUSED: &[(&str, Deed, &str)] = &[
    ("text", |path| fs::write(path, SECRET).expect("a file"), "it is not empty and not a ring file"),
    ("one byte", |path| fs::write(path, "x").expect("a file"), "it is not empty and not a ring file"),
    (
        "hard link",
        |path| fs::hard_link(beside(path), path).expect("a link"),
        "it is not empty and not a ring file",
    ),
    ("link", |path| symlink(beside(path), path).expect("a link"), "it is a symbolic link"),
    ("dangling link", |path| symlink("nowhere", path).expect("a link"), "it is a symbolic link"),
    ("directory", |path| fs::create_dir(path).expect("a directory"), "it is a directory"),
    ("pipe", pipe, "it is not a regular file"),
];

fn beside(path: &Path) -> std::path::PathBuf {
    path.with_file_name("beside.txt")
}

fn pipe(path: &Path) {
    Run::new("mkfifo", path.parent().expect("a directory")).arg(path).succeed();
}

fn nothing_else() {
    for (what, make, reason) in REFUSED {
        for pattern in ["churn.xhist", "%e.xhist"] {
            let tree = Tree::empty("refused");
            tree.write("beside.txt", SECRET);
            make(&tree.join("churn.xhist"));
            let before =
                (tree.fingerprint(), fs::symlink_metadata(tree.join("churn.xhist")).expect("it is there"));
            let done = churn(&tree, pattern);
            let shown = if pattern.contains('%') {
                format!("{pattern} ({})", tree.join("churn.xhist").display())
            } else {
                pattern.into()
            };
            assert_eq!(
                said(&done),
                [format!("xhist: XHIST_FILE={shown}: {reason}; the history stays in memory")],
                "{what}"
            );
            before.0.assert_same(&tree.fingerprint());
            let after = fs::symlink_metadata(tree.join("churn.xhist")).expect("it is there");
            assert_eq!(after.mode(), before.1.mode(), "{what}");
        }
    }
    let tree = Tree::empty("refused");
    let long = format!("{}x", "./".repeat(512));
    for (file, reason) in [
        ("/dev/null", "it is not a regular file"),
        ("missing/ring.xhist", "its directory does not exist"),
        (&*"x".repeat(300), "its name is too long"),
        (&*long, "the path is longer than 1023 bytes"),
    ] {
        let done = churn(&tree, file);
        done.check(matches!(*said(&done), [line] if line.contains(reason)), reason);
    }
    assert_eq!(fs::read_dir(tree.path()).expect("a directory").count(), 0, "nothing was made");
    // An empty file, and one of ours, are taken.
    tree.write("ring.xhist", "");
    for _ in 0..2 {
        let done = churn(&tree, "ring.xhist");
        done.check(said(&done).is_empty(), "nothing is wrong");
        let listing = report(zoo().path()).arg(tree.join("ring.xhist")).succeed();
        assert!(Listing::parse(&listing.stdout).places().contains(&place("churn", "last")));
    }
}

fn late_file() {
    let torture =
        Torture::new(Build::Optimised, "late_file", "4k", 10).env("XHIST_FILE", "").env("XHIST_EVER", "on");
    let late = torture.tree.join("late.xhist");
    let done = torture.run().env("LATE_FILE", &late).succeed();
    assert_eq!(
        said(&done),
        ["xhist: the ring file was set when 1 other threads ran already: their history stays in memory"]
    );
    let image = fs::read(&late).expect("a ring file");
    assert!(image.starts_with(&executed::MAGIC), "the bitmap is there");
    let of_file = |number| {
        recorded(&image)
            .into_iter()
            .find(|ring| ring.statements.iter().any(|statement| statement.file == number))
    };
    assert_eq!(of_file(80).expect("of a thread that has ended").statements.len(), 1);
    assert!(of_file(81).is_none(), "of a thread that went on");
    let main = of_file(82).expect("of the thread that asked");
    assert_eq!((main.statements.len(), main.header.dropped), (2, 1));
    assert_eq!(of_file(83).expect("of a thread that came later").statements.len(), 1);
    // Another run takes the file, though it may begin with a hole.
    torture.run().env("LATE_FILE", &late).succeed();
}

fn modes() {
    let tree = Tree::empty("modes");
    let file = tree.join("ring.xhist");
    let mode = || fs::metadata(&file).expect("a ring file").mode() & 0o7777;
    for mask in ["000", "022", "277"] {
        let _ = fs::remove_file(&file);
        let run = Run::new("sh", tree.path())
            .arg("-c")
            .arg(format!("umask {mask}; exec \"$0\""))
            .arg(program("churn"));
        run.env("XHIST_FILE", &file).env("XHIST_SIZE", "4k").succeed();
        assert_eq!(mode(), 0o600, "umask {mask}");
    }
    fs::set_permissions(&file, Permissions::from_mode(0o644)).expect("its owner may");
    churn(&tree, "ring.xhist");
    assert_eq!(mode(), 0o600, "of an earlier run");
}

/// The kernel says of such a program that its file is deleted.
fn replaced() {
    let tree = Tree::empty("replaced");
    let script = "cp \"$0\" churn; exec 3<churn; rm churn; exec /proc/self/fd/3";
    let run = Run::new("sh", tree.path()).arg("-c").arg(script).arg(program("churn"));
    run.env("XHIST_FILE", "%e.xhist").env("XHIST_SIZE", "4k").succeed();
    assert!(tree.join("churn.xhist").is_file());
}

/// A directory that every user may enter.
fn open_directory() -> tempfile::TempDir {
    let directory = tempfile::Builder::new().prefix("xhist-tests-").tempdir().expect("a directory");
    fs::set_permissions(directory.path(), Permissions::from_mode(0o777)).expect("its owner may");
    directory
}

/// Another user could read what is recorded.
fn other_owner() {
    let directory = open_directory();
    let file = directory.path().join("ring.xhist");
    File::create(&file).expect("a file");
    std::os::unix::fs::chown(&file, Some(65534), Some(65534)).expect("root may");
    let done = Run::new(program("churn"), directory.path()).env("XHIST_FILE", &file).succeed();
    done.check(
        matches!(*said(&done), [line] if line.contains("it belongs to another user")),
        "it is refused",
    );
    assert_eq!(fs::metadata(&file).expect("a file").len(), 0);
}

fn more_rights() {
    let directory = open_directory();
    let program_file = directory.path().join("churn");
    copy_program(program("churn"), &program_file);
    let of_root = directory.path().join("of-root.txt");
    fs::write(&of_root, SECRET).expect("a file");
    let new = directory.path().join("new.xhist");
    let run = |mode: u32, file: &Path| {
        fs::set_permissions(&program_file, Permissions::from_mode(mode)).expect("root may");
        let caller = Run::new("setpriv", directory.path()).args("--reuid 65534 --regid 65534 --clear-groups");
        let done = caller.arg(&program_file).env("XHIST_FILE", file).env("XHIST_SIZE", "5x").succeed();
        done.check(done.stdout == "done\n", "it did its work");
        done
    };
    for mode in [0o4755, 0o2755] {
        for file in [&of_root, &new] {
            let done = run(mode, file);
            done.check(
                matches!(*said(&done), [line] if line.contains("more rights than its caller")),
                "said once",
            );
        }
        assert!(!new.exists(), "no file is made");
        assert_eq!(fs::read_to_string(&of_root).expect("a file"), SECRET);
    }
    // The same program with its caller's rights.
    run(0o755, &new);
    assert_eq!(fs::metadata(&new).expect("a ring file").uid(), 65534);
}

fn settings() {
    let tree = Tree::empty("settings");
    let run = |settings: &[(&str, &str)]| {
        let run = Run::new(program("forks"), tree.path());
        settings.iter().fold(run, |run, (name, value)| run.env(name, value)).succeed()
    };
    let plain = run(&[]);
    let wrong = [
        ("XHIST", "offf", "is not on, off or wait: recording is on"),
        ("XHIST_SIZE", "5x", "is not a size (bytes, k, m, g): 512 KiB is used"),
        ("XHIST_TIME", "yes", "is not on or off: frames are stamped"),
        ("XHIST_FRAMES", "nope", "is not packed, single or exact: packed is used"),
        ("XHIST_EVER", "some", "is not on, off, threads or a number of pages: off is used"),
        ("XHIST_SANDBOX", "yes", "is not on, strict or off: it is on once the program installs a filter"),
        ("XHIST_PANIC", "16", "is not on or off: it is ignored"),
        ("XHIST_MAP_HASH", "0x1", "is not a hash (up to 16 hexadecimal digits): it is ignored"),
    ];
    let done = run(&wrong.map(|(name, value, _)| (name, value)));
    assert_eq!(said(&done), wrong.map(|(name, value, why)| format!("xhist: {name}={value} {why}")));
    assert_eq!(done.stdout, plain.stdout);

    let done = run(&[("XHIST_SIZE", "\u{1b}]0;x\u{7}\u{202e}")]);
    assert_eq!(
        said(&done),
        [r"xhist: XHIST_SIZE=\u{1b}]0;x\u{7}\u{202e} is not a size (bytes, k, m, g): 512 KiB is used"]
    );

    let done = run(&[
        ("XHIST_FLIE", "a"),
        ("XHIST_FILES", "1 src/main.rs"),
        ("XHIST_SPEED", "1"),
        ("XHIST_FMT", "x"),
        ("XHISTORY", "x"),
    ]);
    let flie = "xhist: XHIST_FLIE is not a setting (is XHIST_FILE meant?): it is ignored";
    assert_eq!(said(&done), [flie], "a misspelt setting; no variable of others");

    for (name, value) in [("XHIST_TIME", "On"), ("XHIST_FRAMES", "single"), ("XHIST_FRAMES", "EXACT")] {
        let lines = said(&run(&[(name, value)])).join("\n");
        let line = format!(
            "xhist: {name}={value} reaches function entries and heads of loops only: for every statement, "
        );
        assert_eq!((lines.starts_with(&line), lines.lines().count()), (true, 1), "{lines}");
        let off = run(&[(name, value), ("XHIST", "off")]);
        let each = Run::new(program_of_each("forks"), tree.path()).env(name, value).succeed();
        assert!(said(&off).is_empty() && said(&each).is_empty(), "{name}={value}");
    }

    let right = [
        ("XHIST", "ON"),
        ("XHIST_SIZE", " 64K"),
        ("XHIST_TIME", "Off"),
        ("XHIST_FRAMES", "packed"),
        ("XHIST_EVER", "100"),
        ("XHIST_SANDBOX", "Off"),
        ("XHIST_PANIC", "0"),
        ("XHIST_MAP_HASH", "A7"),
    ];
    for settings in
        [&right[..], &[("XHIST", "off"), ("XHIST_SIZE", "5x")], &[("XHIST_SIZE", ""), ("XHIST", "")]]
    {
        let done = run(settings);
        done.check(said(&done).is_empty(), "nothing is wrong");
    }
    assert!(rings_in(tree.path()).is_empty());
}

/// The reader of stderr has gone, which is a signal to the writer.
fn closed_stderr() {
    let tree = Tree::empty("closed-stderr");
    let script = r#"{ sleep 0.3; XHIST_SIZE=5x "$0" 2>&1 >out; echo "code $?" >code; } | true; exec 2>&-; XHIST_SIZE=5x "$0""#;
    let done = Run::new("sh", tree.path()).arg("-c").arg(script).arg(program("churn")).succeed();
    assert_eq!((&*done.stdout, &*tree.read("out"), &*tree.read("code")), ("done\n", "done\n", "code 0\n"));
}

/// The rings of later threads stay in memory.
fn closed_descriptors() {
    let tree = Tree::empty("closed-descriptors");
    let file = tree.join("ring.xhist");
    Run::new(program("closes_all"), tree.path()).env("XHIST_FILE", &file).succeed();
    let listing = report(zoo().path()).arg(&file).done().expect(1);
    let closed = "the program closed the descriptor of";
    listing.check(listing.stderr.matches(closed).count() == 2, "a statement and two rings");
    listing.check(!listing.stderr.contains("nested too deep"), "the other reasons are not named");
    listing.check(!listing.stderr.contains("damaged"), "the file is whole");
    assert_eq!(Listing::parse(&listing.stdout).last(), place("closes_all", "last"));
}

/// Each mode of the program, at more and more rounds: seccomp kills it for a call that it does not make itself.
fn sandbox() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return;
    }
    let tree = Tree::empty("no-sandbox");
    // Where the recorder follows no sandbox, or does not know of this one. The last one reads a counter that faults, as
    // `tsc` would if the recorder did not notice that.
    for (mode, setting, signal) in [
        ("strict", "off", libc::SIGKILL),
        ("sigaction", "off", libc::SIGSYS),
        ("clone", "off", libc::SIGSYS),
        ("all", "off", libc::SIGSYS),
        ("raw", "", libc::SIGSYS),
        ("raw_strict", "on", libc::SIGKILL),
        ("raw_tsc", "on", libc::SIGSEGV),
    ] {
        let done = Run::new(program("sandbox"), tree.path()).args(mode).arg("3000000");
        done.env("XHIST_SANDBOX", setting).done().expect(128 + signal);
    }
    for (mode, sandbox) in [
        ("strict", ""),
        ("tsc", ""),
        ("sigaction", ""),
        ("raw", "on"),
        ("raw_strict", "strict"),
        ("raw_tsc", "strict"),
        ("vm", ""),
        ("clone", ""),
        ("all", ""),
    ] {
        for rounds in ["1000", "100000", if is_long() { "3000000" } else { "600000" }] {
            let tree = Tree::empty("sandbox");
            let run = |program: PathBuf| Run::new(program, tree.path()).arg(mode).arg(rounds);
            let plain = run(zoo().join("target/debug/sandbox")).succeed();
            for setting in [("XHIST_TIME", "off"), ("XHIST", "on"), ("XHIST_SIZE", "4k")] {
                let done = run(program("sandbox")).env("XHIST_FILE", "ring.xhist").env(setting.0, setting.1);
                let done = done.env("XHIST_SANDBOX", sandbox).succeed();
                assert_eq!(
                    (&*done.stdout, &*done.stderr),
                    (&*plain.stdout, ""),
                    "{mode} {rounds} {setting:?}"
                );
                let listing =
                    report(zoo().path()).args("--thread main --last 1").arg(tree.join("ring.xhist"));
                let listing = listing.succeed();
                let places = Listing::parse(&listing.stdout).places();
                assert_eq!(places.last(), Some(&place("sandbox", "last")), "{mode} {rounds} {setting:?}");
                fs::remove_file(tree.join("ring.xhist")).expect("it is there");
            }
        }
    }
}

fn own_bus_error() {
    for file in ["ring.xhist", ""] {
        let tree = Tree::empty("own-bus-error");
        let run = Run::new(program("goes_on"), tree.path()).arg("cuts").env("XHIST_FILE", file);
        let mut running = run.with_input().start();
        running.wait_for("ready\n");
        running.write("go on\n");
        let done = running.done().expect(128 + 7);
        done.check(done.stdout == "ready\n" && said(&done).is_empty(), "as without us");
    }
    // One that was sent.
    let tree = Tree::empty("sent-bus-error");
    let mut running = Run::new(program("waits"), tree.path()).env("XHIST_FILE", "ring.xhist").start();
    running.wait_for("ready");
    running.end_with(rustix::process::Signal::BUS).expect(128 + 7);
}

fn stack_overflow() {
    let tree = Tree::empty("stack-overflow");
    let done = Run::new(program("stack_overflow"), tree.path()).env("XHIST_FILE", "ring.xhist").done();
    let done = done.expect(128 + 6);
    done.check(done.stderr.contains("has overflowed its stack"), "the message of Rust's library");
}

fn closed_library() {
    let host = |tree: &Tree, library: &str| {
        for file in ["", "ring.xhist"] {
            let run = Run::new("./host", tree.path()).arg(format!("./{library}")).env("XHIST_FILE", file);
            let done = run.succeed();
            let rounds: String = (0..5).map(|round| format!("round {round}: child 3\n")).collect();
            done.check(done.stdout == rounds && done.stderr.is_empty(), "as without us");
        }
        let statements = report(tree.path()).arg(tree.join("ring.xhist")).succeed().stdout;
        assert!(statements.contains("src/lib.rs:5"), "it was recorded: {statements}");
    };
    let plugin = || {
        let tree = Tree::copy_of(&repository().join("tests/fixtures/plugin"));
        Run::new("cc", tree.path()).args("-o host host.c -ldl -lpthread").succeed();
        tree
    };
    let tree = plugin();
    cargo(tree.path()).args("xhist build --quiet").succeed();
    host(&tree, "target/xhist/build/debug/libplugin.so");
    let tree = plugin();
    instrument(tree.path()).args("src/").succeed();
    add_recorder(&tree, r#""std", "trace""#);
    cargo(tree.path()).args("build --quiet").succeed();
    host(&tree, "target/debug/libplugin.so");
}
