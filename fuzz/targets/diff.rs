//! Any bytes as two sources to compare, with a map of a small program: no panic, no hang, and a source is like itself.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use xhist_history::{ExitCode, ReadOptions};
use xhist_report::compare;

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
        let directory = std::env::temp_dir().join(format!("xhist-fuzz-diff-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("app.map");
        std::fs::write(&path, MAP).expect("a file");
        path
    };
    MAP_FILE.get_or_init(make).clone()
}

fuzz_target!(|input: &[u8]| {
    let Some((&len, rest)) = input.split_first_chunk() else { return };
    let len = usize::from(u16::from_le_bytes(len)).min(rest.len());
    let (good, bad) = rest.split_at(len);
    let mut options = ReadOptions::default();
    options.maps.given = Some(map());
    let run = |good: &[u8], bad: &[u8]| {
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let code = compare(good, bad, &options, &mut out, &mut notes);
        (code, String::from_utf8(out).expect("text"))
    };
    let (code, text) = run(good, bad);
    assert!(code == ExitCode::Complete || code == ExitCode::Incomplete || text.is_empty());
    let (code, text) = run(rest, rest);
    let is_answer = code <= ExitCode::Incomplete && !text.is_empty();
    assert!(!is_answer || text.contains("no difference") || text.contains("no common point"), "{text}");
});
