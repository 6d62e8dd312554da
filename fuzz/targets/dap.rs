//! Any bytes as messages of a debug adapter's client, about a small recording: no panic, no hang, ids below 2^31.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xhist_history::recording::{
    EventKind, LaneId, RecordedFile, RecordedLane, RecordedStep, RecordingSample, SharedRecording, SiteId,
    StepId,
};
use xhist_report::debug;

/// `main` calls `leaf` twice and panics; two lanes.
fn recording() -> SharedRecording {
    let mut sample = RecordingSample::calls();
    sample.event(EventKind::Panic, "22");
    sample.value((2, 1), "x", "22");
    sample.value((4, 2), "x", "22");
    let recording = &mut sample.recording;
    recording.calls[0].last = StepId(7);
    let (path, text) = ("registry/src/leaf.rs".to_owned(), Some("one\ntwo\nthree\n".into()));
    recording.files.push(RecordedFile { path, text, is_dependency: true, ..RecordedFile::default() });
    recording.lanes.push(RecordedLane {
        name: "leaf".to_owned(),
        status: "panicked",
        ..RecordedLane::default()
    });
    recording.functions[1].file = 1;
    recording.sites[2].file = 1;
    recording.push(LaneId(1), RecordedStep::Statement(SiteId(2)), false);
    let shared = SharedRecording::default();
    *shared.lock() = sample.recording;
    shared
}

/// The opening of each conversation.
const OPENING: [&str; 3] = [
    r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}"#,
    r#"{"seq":2,"type":"request","command":"launch","arguments":{}}"#,
    r#"{"seq":3,"type":"request","command":"configurationDone"}"#,
];

fuzz_target!(|input: &[u8]| {
    let mut messages = Vec::new();
    let mut add = |message: &[u8]| {
        messages.extend(format!("Content-Length: {}\r\n\r\n", message.len()).bytes());
        messages.extend(message);
    };
    let is_framed = input.starts_with(b"C");
    if !is_framed {
        OPENING.iter().for_each(|message| add(message.as_bytes()));
        // One request a line: its name and its arguments. Any other line goes out as it is.
        for line in input.split(|byte| *byte == b'\n') {
            let text = String::from_utf8_lossy(line);
            match text.split_once(' ') {
                Some((command, arguments)) => add(format!(
                    r#"{{"seq":4,"type":"request","command":"{command}","arguments":{arguments}}}"#
                )
                .as_bytes()),
                None => add(line),
            }
        }
    } else {
        messages.extend(input);
    }
    for answer in debug(&recording(), &messages) {
        for id in ["threadId", "frameId"] {
            let number = answer["body"][id].as_i64();
            assert!(number.is_none_or(|id| (0..=i64::from(i32::MAX)).contains(&id)), "{answer}");
        }
    }
});
