//! Firmware without a line of xhist: does `cargo xhist run` run it as its own runner does, and explain how it ended?

use std::fs::File;
use std::ops::Deref;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use object::{Object, ObjectSection, ObjectSymbol};
use rustix::process::Signal;
use walkdir::WalkDir;
use xhist_tests::{
    CORTEX_M, Done, Listing, Run, Tree, finding_recorder, free_port, line_of, report, repository, ring_of,
};

const SAMPLE: &str = "firmware-blinky";

/// A project, for one case at a time. All features have one program file: another case would replace it between the end of
/// cargo's build and the start of the runner.
pub(super) struct Project(Tree, #[expect(dead_code)] MutexGuard<'static, ()>);

impl Deref for Project {
    type Target = Tree;

    fn deref(&self) -> &Tree {
        &self.0
    }
}

impl Project {
    /// The sample, built where all runs find what they share.
    pub(super) fn of(sample: &str) -> Project {
        Project::changed(sample, sample, finding_recorder)
    }

    /// The sample under this name, with another manifest.
    pub(super) fn changed(sample: &str, name: &str, manifest: impl Fn(&str) -> String) -> Project {
        static IN_USE: Mutex<()> = Mutex::new(());
        // A case that failed left the project as it was.
        let in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        Project(Tree::kept(name, &repository().join("samples").join(sample), manifest), in_use)
    }
}

fn project() -> Project {
    Project::of(SAMPLE)
}

/// `cargo xhist run` with this feature.
pub(super) fn run(project: &Tree, feature: &str) -> Run {
    let cargo = CORTEX_M.cargo(project.path(), "xhist run --quiet").limit(Duration::from_secs(500));
    if feature.is_empty() { cargo } else { cargo.args("--features").arg(feature) }
}

/// `cargo xhist why` of the run before.
pub(super) fn why(project: &Tree) -> Run {
    CORTEX_M.why(project.path(), "").limit(Duration::from_secs(500))
}

/// The answer says how it ended, and its last statement is one of those with these texts.
#[track_caller]
pub(super) fn assert_answer(project: &Tree, done: &Done, how: &str, texts: &[&str]) {
    let name = project.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    done.check(done.stderr.contains(&format!("xhist: {name} {how}\n")), how);
    let answer = done.stderr.split("(newest last):").nth(1).unwrap_or_default();
    // More suspects are named below the listing.
    let listed = answer.lines().skip(1).take_while(|line| line.starts_with("  "));
    let last = listed.filter(|line| line.contains("src/main.rs:")).last().unwrap_or_default();
    let lines = texts.iter().map(|text| line_of(&project.join("src/main.rs"), text));
    let is_last = lines.map(|line| format!("src/main.rs:{line} ")).any(|place| last.contains(&place));
    done.check(is_last, &format!("the last statement is one of {texts:?}"));
}

pub(super) fn panics() {
    let project = project();
    let done = run(&project, "").done().expect(1);
    assert_answer(&project, &done, "ended with exit code 1", &["    PATTERN[at]"]);
    done.check(done.stdout.contains("blinking"), "its own output");
    done.check(
        done.stderr.contains("index out of bounds") || done.stdout.contains("index out of bounds"),
        "its message",
    );
    // The page shows this run, with its own number.
    let page = std::fs::read_to_string(repository().join("docs/firmware.md")).expect("the page");
    let shown =
        page.split("\nxhist: firmware-blinky").nth(1).and_then(|rest| rest.split("whole history").next());
    done.check(done.stderr.contains(shown.expect("a run")), "what docs/firmware.md shows");
    for file in ["Cargo.toml", "Cargo.lock", "memory.x", "src/main.rs"] {
        let is_same = project.read(file)
            == std::fs::read_to_string(repository().join("samples").join(SAMPLE).join(file)).expect("a text");
        assert!(is_same, "{file} is as it was");
    }
    let path = ring_of(&done);
    let whole = report(project.path()).args(path).succeed().stdout;
    assert!(whole.lines().count() > 20 && whole.contains("src/main.rs"), "{whole}");
    assert_damage_is_seen(&project, path);
    // The same, by the same runner, with values.
    let why = why(&project).succeed();
    assert_answer(&project, &why, "ended with exit code 1", &["    PATTERN[at]"]);
    why.check(why.stdout.contains("blinking") && why.stderr.contains("step = 4, steps = 5\n"), "values");
}

pub(super) fn hangs() {
    let project = project();
    let mut started = run(&project, "hang").start();
    started.wait_for("blinking");
    started.signal(Signal::INT);
    let done = started.done();
    assert_answer(&project, &done, "was stopped by Ctrl-C", &["        black_box(1);"]);
    assert_eq!(done.code(), 0, "QEMU's own exit code");
    let mut started = why(&project).start();
    started.wait_for("blinking");
    std::thread::sleep(Duration::from_secs(1));
    started.signal(Signal::INT);
    let why = started.done().expect(0);
    why.check(why.stderr.contains("stop it again when it hangs, with Ctrl-C\n"), "what to do");
    why.check(why.stderr.contains("wait_for(shown);") && why.stderr.contains("  shown = 180\n"), "values");
}

/// It has no environment, and does not call the recorder.
pub(super) fn starts() {
    let project = project();
    let line = line_of(&project.join("src/main.rs"), "make_a_mistake(shown);");
    let done = run(&project, "").args(&format!("--start-at src/main.rs:{line}")).done().expect(1);
    assert_answer(&project, &done, "ended with exit code 1", &["    PATTERN[at]"]);
    done.check(!done.stderr.contains("XHIST=wait"), "nothing else is to be done");
    let places = Listing::parse(&report(project.path()).args("history").succeed().stdout).places();
    assert_eq!(places.first(), Some(&format!("src/main.rs:{line}")), "{places:?}");
}

/// Bytes of the open frame, which has no checksum, are overwritten with those of lines behind the end of the file.
#[track_caller]
fn assert_damage_is_seen(project: &Tree, path: &str) {
    let mut image = std::fs::read(project.join(path)).expect("the ring");
    let end = image.iter().rposition(|byte| *byte != 0).expect("a history");
    image[end - 9..end - 1].fill(0xFF);
    std::fs::write(project.join("damaged.bin"), image).expect("written");
    let done = report(project.path()).args("history damaged.bin").done().expect(1);
    done.check(done.stderr.contains("8 recorded lines have no statement in map "), "what cannot be");
}

/// What the recorder of firmware cannot do is refused before anything is built.
pub(super) fn refuses() {
    let project = project();
    for (option, why) in [
        (
            "--stop-at src/main.rs:20+100",
            "firmware stops at its line, because nothing counts statements there",
        ),
        ("--watch src/main.rs:18:shown=3", "firmware compares no values, because that would take flash"),
    ] {
        let done = run(&project, "").args(option).done().expect(1);
        let line = format!("{option}: {why}");
        done.check(done.stderr.contains(&line) && done.stderr.trim_end().lines().count() == 1, &line);
        done.check(done.stdout.is_empty(), "nothing ran");
    }
}

pub(super) fn faults() {
    after_a_time_out("fault", &["    function();"]);
}

/// The stack is below all data, so the ring is whole. The compiler chooses which of the two statements stores below it.
pub(super) fn overflows() {
    after_a_time_out("overflow", &["    let more = black_box(", "    black_box(deeper(depth + 1))"]);
}

fn after_a_time_out(feature: &str, texts: &[&str]) {
    let project = project();
    let mut started = run(&project, feature).start();
    started.wait_for("blinking");
    // QEMU prints before the mistake is made.
    std::thread::sleep(Duration::from_secs(1));
    started.signal(Signal::TERM);
    assert_answer(&project, &started.done(), "was stopped by SIGTERM", texts);
}

pub(super) fn ends_well() {
    let project = project();
    let done = run(&project, "good").succeed();
    done.check(
        done.stderr.contains("xhist: the history of firmware-blinky: cargo xhist history"),
        "where it is",
    );
    done.check(!done.stderr.contains("newest last"), "no answer");
}

/// The real options of probe-rs, with QEMU for a chip.
pub(super) fn probe_rs() {
    let project = project();
    let state = Tree::empty("probe-state");
    let probe = repository().join("tests/fixtures/probe-rs/probe-rs").display().to_string();
    let probe =
        probe + " run --chip LM3S6965 --probe 0d28:0204 --connect-under-reset --always-print-stacktrace";
    let done = run(&project, "hang")
        .arg("--config")
        .arg(format!("target.thumbv7m-none-eabi.runner='{probe}'"))
        .env("PROBE_STATE", state.path())
        .done()
        .expect(1);
    done.check(done.stdout.contains("Firmware exited unexpectedly: Exception"), "what probe-rs prints");
    assert_answer(&project, &done, "ended with exit code 1", &["        black_box(1);"]);
}

/// A gdb at the port of an emulator that goes on, as a debug probe's server does.
pub(super) fn gdb() {
    const BOARD: [&str; 6] = ["-cpu", "cortex-m3", "-machine", "lm3s6965evb", "-display", "none"];
    const HOST: [&str; 7] =
        ["-serial", "null", "-monitor", "none", "-semihosting-config", "enable=on,target=native", "-S"];
    let project = project();
    CORTEX_M.cargo(project.path(), "xhist build --quiet --features hang").succeed();
    let port = free_port();
    let kernel = project.join("target/xhist/build/thumbv7m-none-eabi/release").join(SAMPLE);
    let mut qemu = Command::new("qemu-system-arm");
    qemu.args(BOARD).args(HOST).arg("-gdb").arg(format!("tcp:127.0.0.1:{port}")).arg("-kernel").arg(kernel);
    let log = File::create(project.join("qemu.txt")).expect("a file");
    let mut qemu = qemu.stderr(log.try_clone().expect("a copy")).stdout(log).spawn().expect("QEMU");
    // gdb itself waits for the port.
    project.write("attach.gdb", &format!("target extended-remote 127.0.0.1:{port}\ncontinue\n"));
    let runner = "target.thumbv7m-none-eabi.runner='gdb-multiarch -nx -q -batch -x attach.gdb'";
    let started = run(&project, "hang").arg("--config").arg(runner).start();
    let has_begun = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        project.read("qemu.txt").contains("blinking")
    });
    std::thread::sleep(Duration::from_secs(1));
    started.signal(Signal::INT);
    let done = started.done();
    qemu.kill().and_then(|()| qemu.wait()).expect("QEMU ends");
    done.check(has_begun, "its own output");
    assert_answer(&project, &done, "was stopped by Ctrl-C", &["        black_box(1);"]);
}

/// A linker script of the project's own has no place for what outlives a reset. A line says what to add, and that is enough.
pub(super) fn no_place() {
    let place = "*(.uninit .uninit.*);";
    let usual = project();
    run(&usual, "good").succeed();
    let builds = usual.join("target/xhist/build/thumbv7m-none-eabi/release/build");
    let scripts = WalkDir::new(builds).into_iter().flatten().filter(|entry| entry.file_name() == "link.x");
    let texts = scripts.map(|entry| std::fs::read_to_string(entry.path()).expect("a script"));
    let script = texts.last().expect("the script of cortex-m-rt").replace(place, "");
    drop(usual);

    let project = Project::changed(SAMPLE, "firmware-own-script", finding_recorder);
    project.write("own.ld", &script);
    let config = project.read(".cargo/config.toml").replace("-Tlink.x", "-Town.ld");
    project.write(".cargo/config.toml", &config);
    let _ = std::fs::remove_file(project.join("target/xhist/said"));
    let run = || {
        let cargo = CORTEX_M.cargo(project.path(), "xhist run").limit(Duration::from_secs(500));
        let done = cargo.done().expect(1);
        done.check(done.stderr.contains("PATTERN[at]"), "the answer");
        done
    };
    let done = run();
    let line = "xhist: the history from before a reset is not kept, because own.ld does not place the section .uninit; to keep it, add to SECTIONS in own.ld, behind .bss: ";
    let added = done.stderr.split(line).nth(1).and_then(|rest| rest.lines().next());
    done.check(added.is_some(), "what to add");
    let behind_bss = "  __ebss = .;\n";
    let added = format!("{behind_bss}{}\n", added.unwrap_or_default());
    let own = script.replace("  .uninit (NOLOAD)", "  .other (NOLOAD)").replace(behind_bss, &added);
    project.write("own.ld", &own);
    let done = run();
    done.check(!done.stderr.contains("not kept"), "nothing more to say");
    let elf = std::fs::read(project.join("target/xhist/build/thumbv7m-none-eabi/release").join(SAMPLE));
    let elf = elf.expect("the program");
    let elf = object::File::parse(&*elf).expect("an ELF file");
    let ring = elf.symbols().find(|symbol| symbol.name() == Ok("XHIST_RING")).expect("the ring");
    let section = ring.section_index().and_then(|index| elf.section_by_index(index).ok());
    assert_eq!(section.expect("its section").name(), Ok(".uninit"));
}

/// The user's runner has a time-out of its own, and ends QEMU.
pub(super) fn time_out() {
    let project = project();
    let config = project.read(".cargo/config.toml");
    let runner =
        config.split("runner = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a runner");
    let runner = format!("target.thumbv7m-none-eabi.runner='timeout 5 {runner}'");
    let done = run(&project, "hang").arg("--config").arg(runner).done().expect(124);
    done.check(done.stdout.contains("blinking"), "its own output");
    assert_answer(&project, &done, "ended with exit code 124", &["        black_box(1);"]);
}

/// A runner that leaves no memory.
pub(super) fn unknown() {
    let project = project();
    let done = run(&project, "").arg("--config").arg("target.thumbv7m-none-eabi.runner='true'").succeed();
    let line = "`true` is not a runner after which xhist can read memory; how to read the history: cargo xhist history --how-to-dump";
    done.check(done.stderr.contains(line), "what to do");
}
