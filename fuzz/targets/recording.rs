//! Any image into a recording, and motions of a debugger in it: no panic, no hang, and each motion goes its way.
#![no_main]

mod small_map;

use libfuzzer_sys::fuzz_target;
use xhist_history::recording::{Cursor, Direction, Motion, SharedRecording, StepId, StepIndex};
use xhist_report::ReportKind;
use xhist_report::{Options, report};

const MOTIONS: [Motion; 4] = [Motion::Into, Motion::Over, Motion::Out, Motion::Step];

fuzz_target!(|input: &[u8]| {
    let Some((&len, rest)) = input.split_first() else { return };
    let (moves, image) = rest.split_at(usize::from(len).min(rest.len()));
    let shared = SharedRecording::default();
    let recording = Some(shared.clone());
    let mut options = Options { report: Some(ReportKind::Recording), recording, ..Options::default() };
    options.read.maps.given = Some(small_map::path());
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
