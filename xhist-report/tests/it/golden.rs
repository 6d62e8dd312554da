//! Does every listing look as agreed? `XHIST_BLESS=1` rewrites the expected files.

use std::path::Path;

use qs_core::record::EventKind;
use xhist_report::ReportKind;
use xhist_report::format::{FORMATS, FormatRow};
use xhist_report::{Layout, Options};

use crate::support::{Dir, RingImage, map_text, report_with};

const FILES: &[(u16, &str, u32)] =
    &[(1, "StateMachine.c", 0), (2, "CritSection.c", 0), (3, "EventHandlers.c", 0)];

/// Figure 4 of the Xhist paper: the file id and line of its 50 statements.
#[rustfmt::skip]
pub const FIGURE_4: &[(u16, u16)] = &[
    (1, 93), (1, 68), (1, 49), (1, 48), (1, 98), (2, 26), (2, 27), (1, 99), (1, 100), (1, 71),
    (1, 49), (3, 18), (2, 26), (2, 27), (3, 19), (3, 20), (3, 21), (1, 48), (1, 112), (2, 26),
    (3, 18), (2, 26), (2, 27), (3, 19), (3, 20), (3, 21), (2, 27), (1, 113), (1, 114), (1, 77),
    (1, 49), (3, 18), (2, 26), (2, 27), (3, 19), (3, 20), (3, 21), (1, 48), (1, 98), (2, 26),
    (3, 18), (2, 26), (2, 27), (3, 19), (3, 20), (3, 21), (2, 27), (1, 99), (1, 100), (1, 71),
];

/// QP 7.3.3 with its default sizes, just started.
const TARGET_INFO: &[u8] = &[0xFF, 0xDD, 2, 0x22, 0x41, 0x22, 0x44, 4, 0x20, 0x13, 53, 26, 9, 14, 7, 23];

pub fn check(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(name);
    if std::env::var_os("XHIST_BLESS").is_some() {
        std::fs::write(&path, got).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, expected, "{} (XHIST_BLESS=1 rewrites it)", path.display());
}

#[test]
fn figure_4_of_the_paper_line_for_line() {
    let (map, hash) = map_text("/project", FILES);
    let ring = RingImage { map_hash: hash, ..RingImage::bare(2048) }.statements(FIGURE_4);
    let dir = Dir::new();
    dir.write("xhist.map", map);
    dir.write("dump.bin", ring.build());
    let outcome = dir.run(&["dump.bin"]);
    assert_eq!((outcome.code, outcome.notes.as_str()), (0, ""));
    check("figure-4.txt", &outcome.out);
}

/// Two threads, records of other kinds, a panic, a signal, a hole and a time column.
fn busy() -> Vec<u8> {
    let main = RingImage { clock_hz: 1_000_000, ..RingImage::hosted(4096, 7, 7, "main") }
        .timed(1_000_000, 1, 10)
        .frame(101, &[0x40, 0xE2, 0x01, 0x00, 0x51, 7, 0x08, b'h', b'i', 0])
        .timed(1_000_040, 2, 20)
        .frame(64, TARGET_INFO);
    let main = RingImage { seq: main.seq.wrapping_add(3), ..main }.timed(1_000_060, 1, 11).event(
        EventKind::Signal,
        1_000_070,
        11,
    );
    let worker = RingImage { clock_hz: 1_000_000, ..RingImage::hosted(4096, 7, 8, "worker") }
        .statement(3, 1)
        .timed(1_000_030, 3, 2)
        .event(EventKind::Time, 1_000_035, 1_000_035)
        .event(EventKind::Panic, 1_000_050, 0);
    [main.build(), worker.build()].concat()
}

#[test]
fn every_format_on_every_layout() {
    let image = busy();
    let of_entries = |format: &&FormatRow| format.report == ReportKind::History && !format.only_traces;
    for format in FORMATS.iter().filter(of_entries) {
        for (name, terminal, columns) in [
            ("plain", false, false),
            ("columns", false, true),
            ("terminal", true, false),
            ("terminal-columns", true, true),
        ] {
            let layout = Layout { terminal, time: columns, thread: columns, ..Layout::default() };
            let outcome = report_with(&image, &Options { format, layout, ..Options::default() });
            assert_eq!(outcome.code, 1);
            // What is read by programs is always the same.
            let name = if format.name == "history" { name } else { "any" };
            check(&format!("busy.{}.{name}.txt", format.name), &outcome.out);
            // What programs read as `history` has fewer entries, and marks in the column of the time only.
            let notes = match (format.name, terminal, columns) {
                ("history", false, false) => "notes",
                ("history", false, true) => "notes.columns",
                _ => "notes.marked",
            };
            check(&format!("busy.{notes}.txt"), &outcome.notes);
        }
    }
}

#[test]
fn json_lines_are_json() {
    let format = xhist_report::format::by_name("json").unwrap();
    let outcome = report_with(&busy(), &Options { format, ..Options::default() });
    let kinds: Vec<String> = outcome
        .out
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds.first().unwrap(), "report");
    assert_eq!(kinds.last().unwrap(), "end");
    assert!(outcome.out.starts_with("{\"schema\":2,"));
}
