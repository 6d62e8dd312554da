//! Any image into a recording, and motions of a debugger in it: no panic, no hang, and each motion goes its way.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use xhist_history::recording::{Cursor, Direction, Motion, SharedRecording, StepId, StepIndex};
use xhist_report::ReportKind;
use xhist_report::{Options, report};

/// A map for rings that name none.
const MAP: &str = r#"{"xhist":"map","version":3,"hash":"0000000000000001","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":8}
{"fn":1,"path":"main","at":"1:11","end":"9:2"}
{"fn":1,"path":"f","at":"20:8","end":"29:2"}
{"loop":1,"at":"3:5","end":"6:6"}
{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"let","fn":"main","calls":"f"}
{"stmt":1,"line":3,"col":5,"end":"6:6","kind":"expr","fn":"main"}
{"stmt":1,"line":4,"col":9,"end":"4:19","kind":"expr","fn":"main","calls":"f"}
{"stmt":1,"line":5,"col":9,"end":"5:19","kind":"expr","fn":"main"}
{"stmt":1,"line":7,"col":5,"end":"7:9","kind":"expr","fn":"main"}
{"stmt":1,"line":21,"col":5,"end":"21:9","kind":"expr","fn":"f","calls":"f"}
{"stmt":1,"line":22,"col":5,"end":"22:9","kind":"expr","fn":"f"}
"#;

fn map() -> PathBuf {
    static MAP_FILE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        // A directory of its own: every report of a dump below the temporary directory would find the map there.
        let directory = std::env::temp_dir().join(format!("xhist-fuzz-recording-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("app.map");
        std::fs::write(&path, MAP).expect("a file");
        path
    };
    MAP_FILE.get_or_init(make).clone()
}

const MOTIONS: [Motion; 4] = [Motion::Into, Motion::Over, Motion::Out, Motion::Step];

fuzz_target!(|input: &[u8]| {
    let Some((&len, rest)) = input.split_first() else { return };
    let (moves, image) = rest.split_at(usize::from(len).min(rest.len()));
    let shared = SharedRecording::default();
    let recording = Some(shared.clone());
    let mut options = Options { report: Some(ReportKind::Recording), recording, ..Options::default() };
    options.read.maps.given = Some(map());
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let _ = report(image, &options, &mut out, &mut notes);
    let recording = shared.lock();
    let Some(last) = recording.last() else { return };
    let mut index = StepIndex::default();
    index.extend(&recording);
    let mut cursor = Cursor::new(&recording, recording.opening_step().unwrap_or(last));
    for byte in moves {
        let before = cursor.step();
        let direction = if byte & 1 == 0 { Direction::Back } else { Direction::Forward };
        let moved = match byte >> 1 {
            motion @ 0..4 => cursor.go(MOTIONS[usize::from(motion)], direction),
            4 => cursor.same_line(direction),
            part => {
                cursor = Cursor::new(&recording, StepId(last.0 / 128 * u32::from(part)));
                continue;
            }
        };
        let goes_its_way = match direction {
            Direction::Forward => cursor.step() > before && cursor.step() <= last,
            Direction::Back => cursor.step() < before,
        };
        assert!(if moved { goes_its_way } else { cursor.step() == before });
        let call = recording.call_at(cursor.step());
        assert!(recording.stack_at(cursor.step()).len() <= recording.calls.len() + 1);
        let _ = recording.variables(call, cursor.step());
        let number = recording.number(cursor.step());
        assert!(recording.by_number(number).is_some_and(|step| recording.number(step) == number));
        if let Some(site) = recording.site_at(cursor.step()) {
            assert!(index.runs(site).iter().any(|run| *run <= cursor.step()));
        }
    }
});
