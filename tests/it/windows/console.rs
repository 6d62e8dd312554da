//! A console of Windows: keys, a pager, a browser, and what has to be quoted. Wine shows its console on a terminal of Linux. It does
//! not read the escape sequences of a program and breaks them at the end of a line, so cases look for words.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use xhist_tests::{Need, Run, Tree};

use super::recorder::LINKER;
use super::{build, wine};
use crate::view::terminal::Typing;
use crate::zoo::{program, zoo};

/// Prints its arguments, and the lines of its input if it is a pager.
const WORDS: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
    int lines = 0, byte;
    while (getenv("WORDS_COUNT") && (byte = getchar()) != EOF) lines += byte == '\n';
    printf("%d lines", lines);
    for (int at = 1; at < count; at++) printf(" [%s]", words[at]);
    printf("\n");
    return 0;
}
"#;

/// The readers, a ring with its program, and a program that shows its arguments, also under a name with a blank.
fn readers() -> &'static Tree {
    static READERS: OnceLock<Tree> = OnceLock::new();
    READERS.get_or_init(|| {
        let tree = Tree::empty("console of windows");
        build(&tree);
        let ring = tree.join("ring.xhist");
        Run::new(program("in_turn"), zoo().path()).env("XHIST_FILE", &ring).succeed();
        std::fs::copy(program("in_turn"), tree.join("in_turn")).expect("copied");
        tree.write("words.c", WORDS);
        Run::new(LINKER, tree.path()).args("words.c -o words.exe").succeed();
        std::fs::create_dir(tree.join("a b")).expect("a directory");
        std::fs::copy(tree.join("words.exe"), tree.join("a b/words of it.exe")).expect("copied");
        tree
    })
}

/// A report in a console.
fn typing(words: &str, variables: &[(&str, &str)]) -> Typing {
    let tree = readers();
    let run = wine(tree).args(&format!("xhist-report.exe {words} ring.xhist --program in_turn"));
    let run =
        variables.iter().fold(run.env("TERM", "xterm-256color"), |run, (name, value)| run.env(name, value));
    Typing::start(run, (100, 12))
}

pub fn keys() {
    let mut view = typing("view", &[]);
    view.wait_for("step ");
    view.press("?");
    view.wait_for("page down, page up");
    view.press("q");
    view.wait_for("q quit");
    view.press("q");
    let (status, _) = view.end();
    assert!(status.success(), "{status}");
}

pub fn pager() {
    for (pager, shown) in [
        ("words.exe -x", "lines"),
        (r#""a b\words of it.exe" -x"#, "lines"),
        // What no shell finds is printed as it is.
        (r#""no such" -x"#, "in_turn.rs"),
        ("no-such", "in_turn.rs"),
    ] {
        let mut report = typing("--all", &[("XHIST_PAGER", pager), ("WORDS_COUNT", "1"), ("NO_COLOR", "1")]);
        report.wait_for(shown);
        report.end();
    }
}

/// Wine gives a page to `xdg-open`.
pub fn page() {
    let tree = readers();
    let opener = tree.join("bin/xdg-open");
    tree.write("bin/xdg-open", "#!/bin/sh\necho \"$1\" >\"${0%/*}/opened\"\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&opener, mode).expect("a program");
    let path = format!("{}:{}", tree.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let run =
        wine(tree).args("xhist-report.exe page ring.xhist --program in_turn --open -o").arg("p,q r.html");
    run.env("PATH", path).done().expect(0);
    let opened = || std::fs::read_to_string(tree.join("bin/opened")).unwrap_or_default();
    for _ in 0..600 {
        if opened().ends_with('\n') {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(opened().ends_with("/p,q%20r.html\n"), "{:?}", opened());
}

/// A port that is not there is waited for.
pub fn port() {
    let mut run = wine(readers()).args("xhist-report.exe serial://COM3?baud=115200").start();
    run.wait_for_stderr("waiting for it");
    let printed = run.stderr_so_far();
    assert!(printed.contains("COM3") && printed.contains("not there yet"), "{printed}");
}

/// A runner passes on each word as it got it.
pub fn words() {
    let tree = readers();
    let runner = tree.join("xhist-runner.exe");
    std::fs::copy(tree.join("cargo-xhist.exe"), &runner).expect("copied");
    let words = ["a b", "c\"d", r"e\", "", "f\\\\\"g", "%PATH%", "a&b^c"];
    let program: PathBuf = tree.join("a b/words of it.exe");
    let run = Run::new(Need::wine().expect("wine"), tree.path()).env("WINEPREFIX", tree.join("prefix"));
    let run = run.env("WINEDEBUG", "-all").arg(&runner).arg(windows_path(&program));
    let done = words.into_iter().fold(run, Run::arg).env("XHIST_FILE", r"%e-%p.xhist").done().expect(0);
    let passed = words.map(|word| format!(" [{word}]")).concat();
    done.check(done.stdout.contains(&format!("0 lines{passed}")), &passed);
}

fn windows_path(path: &Path) -> String {
    super::front_end::windows_path(path)
}
