//! Can a dump, a map or a target's names act on the reader's terminal, or show a path in another order than it has?

use qs_core::record::EnumDict;
use xhist_history::{MapPlaces, ReadOptions};
use xhist_report::ReportKind;
use xhist_report::format::{Document, FORMATS, by_name};
use xhist_report::{Layout, Options, QsOptions};

use crate::support::{Dir, RingImage, map_of_statements, report_with};

/// Marks of direction, separators, control characters of two kinds.
const HIDDEN: [char; 17] = [
    '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}',
    '\u{2069}', '\u{200e}', '\u{200f}', '\u{61c}', '\u{2028}', '\u{2029}', '\u{feff}', '\u{7f}', '\u{9b}',
];

fn hidden() -> String {
    HIDDEN.iter().collect()
}

#[test]
fn no_format_prints_control_characters_or_marks_of_direction() {
    let dir = Dir::new();
    let (path, function) = (format!("src/{}gnp.sr", hidden()), format!("demo::{}f", hidden()));
    let root = format!("{}/{}", dir.path().display(), hidden());
    let (map, hash) = map_of_statements(&root, &path, &[(7, &function)]);
    let map = dir.write("xhist.map", map);
    let text = [b"\0\0\0\0\x08", hidden().as_bytes(), b"\0"].concat();
    let ring = RingImage { map_hash: hash, ..RingImage::hosted(4096, 1, 1, "a\u{202e}b\u{2028}") };
    let ring = ring
        .frame(54, &[&[3, 2], hidden().as_bytes(), b"\0"].concat())
        .statement(1, 7)
        .statement(1, 8)
        .frame(100, &text)
        .exception(10, 7, 0x1234_5678, &[1], Some(hidden().as_bytes()));
    assert_eq!(<EnumDict as qs_core::record::Record>::ID, 54);
    let image = ring.build();
    // The bytes between the texts of a binary file may be any. It has the texts of the page, which is looked at.
    for row in FORMATS.iter().filter(|row| row.document != Some(Document::File)) {
        for (terminal, lanes, report) in [
            (true, false, None),
            (false, false, None),
            (true, true, None),
            (true, false, Some(ReportKind::Hotspots)),
            (true, false, Some(ReportKind::Builds)),
        ] {
            let maps = MapPlaces { given: Some(map.clone()), ..MapPlaces::default() };
            let reading = ReadOptions { maps, ..ReadOptions::default() };
            let options = Options {
                format: by_name(row.name).unwrap(),
                layout: Layout { terminal, lanes, thread: true, source: true, ..Layout::default() },
                report,
                qs: QsOptions { visible: true, ..QsOptions::default() },
                ..Options::from(reading)
            };
            let outcome = report_with(&image, &options);
            let shown = outcome.out + &outcome.notes;
            let found: Vec<char> = shown.chars().filter(|char| HIDDEN.contains(char)).collect();
            let name = row.name;
            assert!(found.is_empty(), "{name} {terminal} {lanes} {report:?}: {found:?}\n{shown:?}");
        }
    }
}

/// What is in a text of JSON stays the same text.
#[test]
fn json_reads_back() {
    let ring = RingImage::hosted(4096, 1, 1, "main").statement(1, 7);
    let origin = format!("{} \u{1F980}", hidden());
    let options = Options {
        format: by_name("json").unwrap(),
        ..ReadOptions { origin: Some(origin.clone()), ..ReadOptions::default() }.into()
    };
    let outcome = report_with(&ring.build(), &options);
    assert!(!outcome.out.contains(&HIDDEN[..]), "{}", outcome.out);
    let lines = outcome.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let origins: Vec<String> =
        lines.filter_map(|line| Some(line.get("origin")?.as_str()?.to_owned())).collect();
    assert!(origins.contains(&origin), "{origins:?}");
}
