//! Any bytes as messages of a debug adapter's client, about a small recording: no panic, no hang, ids below 2^31.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xhist_history::recording::{
    CallId, CallSpan, EventKind, FunctionId, LaneId, RecordedEvent, RecordedFile, RecordedFunction,
    RecordedLane, RecordedSite, RecordedStep, SharedRecording, SiteId, SpanExit, StepId, StringId, ValueAt,
};
use xhist_report::debug;

/// `main` calls `leaf` twice and panics; two lanes.
fn recording() -> SharedRecording {
    let shared = SharedRecording::default();
    let recording = &mut *shared.lock();
    for path in ["src/main.rs", "registry/src/leaf.rs"] {
        let text = Some("one\ntwo\nthree\n".into());
        let is_dependency = path.starts_with("registry");
        recording.files.push(RecordedFile {
            path: path.into(),
            text,
            is_dependency,
            ..RecordedFile::default()
        });
    }
    for (name, file) in [("main", 0), ("leaf", 1)] {
        recording.functions.push(RecordedFunction { name: name.into(), file, line: 1 });
        recording.lanes.push(RecordedLane {
            name: name.into(),
            status: "panicked",
            ..RecordedLane::default()
        });
    }
    for line in 1..=3 {
        for file in 0..2 {
            let function = FunctionId(file);
            recording.sites.push(RecordedSite {
                file,
                line,
                col: 5,
                end_line: line,
                end_col: 9,
                function,
                may_end: line == 11,
                checks: false,
                text: 0,
            });
        }
    }
    for (place, site) in [0, 2, 1, 3, 1, 3, 4, 5].into_iter().enumerate() {
        recording.push(LaneId(u32::from(place == 7)), RecordedStep::Statement(SiteId(site)), place == 5);
    }
    let (name, text) = (recording.strings.add("x"), recording.strings.add("22"));
    recording.events.push(RecordedEvent { kind: EventKind::Panic, name, text, fields: Vec::new() });
    recording.push(LaneId(0), RecordedStep::Event(0), false);
    for (function, first, last, parent) in [(0, 0, 8, None), (1, 2, 3, Some(0)), (1, 4, 5, Some(0))] {
        recording.lanes[0].calls.push(CallId(recording.calls.len() as u32));
        recording.calls.push(CallSpan {
            lane: LaneId(0),
            function: FunctionId(function),
            first: StepId(first),
            last: StepId(last),
            parent: parent.map(CallId),
            depth: u32::from(parent.is_some()),
            called_from: parent.map(|_| SiteId(2)),
            exit: SpanExit::Returned,
            entered_before: false,
            is_uncertain: false,
            is_resumed: false,
            in_unwinding: false,
            task: None,
        });
    }
    for (step, call) in [(2, 1), (4, 2)] {
        recording.values.push(ValueAt {
            step: StepId(step),
            name,
            type_name: StringId(0),
            text,
            call: Some(CallId(call)),
            function: StringId(0),
            line: 1,
            is_parameter: call == 1,
        });
    }
    shared.clone()
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
