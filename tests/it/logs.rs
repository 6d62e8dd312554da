//! Are lines of a log in the history, behind the statements that wrote them, and the logger's own output as it was?

use serde_json::Value;
use xhist_tests::{Case, Need, Tree, cargo, line_of, online_cargo, report, repository};

pub const CASES: &[Case] =
    &[Case::needing("lines_of_log_and_tracing_are_in_the_history", &[Need::Registry], lines)];

const PROGRAM: &str = r#"use tracing_subscriber::prelude::*;

xhist_rt::log_recorder! {
    /// Lines are in the history.
    struct Recorded;
}

xhist_rt::tracing_recorder! {
    /// Events are in the history.
    struct Layer;
}

struct Printed;

impl log::Log for Printed {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn
    }
    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            println!("{} {}", record.level(), record.args());
        }
    }
    fn flush(&self) {}
}

static LOGGER: Recorded<Printed> = Recorded(Printed);

fn connect(attempt: u32) {
    log::info!("try {attempt}"); // info
    if attempt == 2 {
        log::error!(target: "net", "no answer from {}", "host\u{1b}[2J"); // error
        tracing::warn!(attempt, "giving up: {}", "é".repeat(500)); // warn
        tracing::debug!(code = "x", "last"); // debug
        panic!("no host");
    }
}

fn main() {
    log::set_max_level(log::LevelFilter::Debug);
    log::set_logger(&LOGGER).unwrap();
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Layer)).unwrap();
    for attempt in 0..3 {
        connect(attempt);
    }
}
"#;

/// The manifest, where the recorder has these features.
fn manifest(features: &str) -> String {
    let recorder = repository().join("xhist-rt");
    format!(
        "[package]\nname = \"logs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         xhist-rt = {{ path = {recorder:?}, features = [{features}] }}\nlog = \"0.4\"\n\
         tracing = {{ version = \"0.1\", default-features = false, features = [\"std\"] }}\n\
         tracing-subscriber = {{ version = \"0.3\", default-features = false, features = [\"registry\", \"std\"] }}\n"
    )
}

fn lines() {
    let tree = Tree::empty("logs");
    tree.write("Cargo.toml", &manifest("\"std\", \"trace\""));
    tree.write("src/main.rs", PROGRAM);
    online_cargo(tree.path()).args("fetch --quiet").succeed();
    let done = cargo(tree.path()).args("xhist run -q").done().expect(101);
    assert_eq!(done.stdout, "ERROR no answer from host\u{1b}[2J\n", "the logger's own lines, and no other");
    let line = |mark: &str| line_of(&tree.join("src/main.rs"), mark);
    let log = done.stderr.split("its log (newest last):\n").nth(1).expect("the log").lines();
    let log: Vec<String> =
        log.take(6).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let info = line("// info");
    assert_eq!(log[0], format!("src/main.rs:{info} info logs: try 0"), "{log:#?}");
    assert_eq!(log[2], format!("src/main.rs:{info} info logs: try 2"), "{log:#?}");
    assert!(log[3].starts_with(&format!("src/main.rs:{} error net: no answer from host", line("// error"))));
    assert!(!done.stderr.contains('\u{1b}'), "control characters are shown, not obeyed");
    let long = &log[4];
    assert!(long.starts_with(&format!("src/main.rs:{} warn logs: giving up: éé", line("// warn"))), "{long}");
    assert!(long.ends_with("é..."), "a long line is cut: {long}");
    assert_eq!(log[5], format!("src/main.rs:{} debug logs: last code=\"x\"", line("// debug")), "{log:#?}");

    // In the history, each behind its statement.
    let history = report(tree.path()).args("history").succeed().stdout;
    let entries: Vec<&str> = history.lines().map(|line| line.split_once(' ').expect("a number").1).collect();
    let tries: Vec<usize> =
        (0..entries.len()).filter(|at| entries[*at].contains("log_info(0x06): logs: try ")).collect();
    assert_eq!(tries.len(), 3, "{history}");
    for at in tries {
        assert_eq!(entries[at - 1], format!("src/main.rs:{info}"), "{history}");
        assert!(entries[at].starts_with("SW0 xhist(0x000001) "), "{history}");
    }
    // Severities choose.
    let severe = report(tree.path()).args("traceinfo --severity 1..").succeed().stdout;
    assert_eq!(severe.lines().count(), 2, "{severe}");
    assert!(severe.lines().next().is_some_and(|line| line.contains("SW2 ")), "{severe}");
    let json = report(tree.path()).args("answer --format json").succeed().stdout;
    let answer: Value = serde_json::from_str(&json).expect("JSON");
    let lines = answer["failures"][0]["threads"][0]["log"].as_array().expect("a log");
    let levels: Vec<&Value> = lines.iter().map(|line| &line["level"]).collect();
    assert_eq!(levels, ["info", "info", "info", "error", "warn", "debug"]);
    assert_eq!(
        (&lines[5]["line"], &lines[5]["text"]),
        (&line("// debug").into(), &"logs: last code=\"x\"".into())
    );
    let view = report(tree.path()).args("view --print --height 60 --width 120").succeed().stdout;
    assert!(view.contains("SW2 xhist(0x000001) log_error(0x04): net"), "views have them: {view}");

    // Without the recorder the same source is a plain program.
    tree.write("Cargo.toml", &manifest(""));
    let plain = cargo(tree.path()).args("run -q").done().expect(101);
    assert_eq!(plain.stdout, done.stdout);
}
