//! Small recordings, for tests of whatever reads recordings.

use super::event::{EventKind, RecordedEvent};
use super::ids::{CallId, FunctionId, LaneId, SiteId, StepId};
use super::lane::RecordedLane;
use super::site::{RecordedFile, RecordedFunction, RecordedSite};
use super::span::{CallSpan, SpanExit};
use super::table::{RecordedStep, Recording};
use super::value::ValueAt;
use crate::model::{CodePlace, LocatedPanic};

/// A recording that is made by hand.
#[derive(Debug)]
pub struct RecordingSample {
    /// What it made.
    pub recording: Recording,
}

impl Default for RecordingSample {
    /// One thread, one file, two functions: `main` in the lines 1 to 9 and `leaf` from 10 on.
    fn default() -> RecordingSample {
        let mut recording = Recording::default();
        let text: String = (1..=12).map(|line| format!("    line {line}\n")).collect();
        recording.files.push(RecordedFile {
            path: "src/main.rs".to_owned(),
            text: Some(text.into()),
            lines: [1, 2, 3, 5, 10, 11].into(),
            ..RecordedFile::default()
        });
        for (name, line) in [("main", 1), ("leaf", 10)] {
            recording.functions.push(RecordedFunction { name: name.to_owned(), file: 0, line });
        }
        recording.lanes.push(RecordedLane {
            name: "main".to_owned(),
            ring: 1,
            status: "panicked",
            ..RecordedLane::default()
        });
        RecordingSample { recording }
    }
}

impl RecordingSample {
    /// Adds a statement of a line.
    pub fn line(&mut self, line: u32) -> StepId {
        let found = self.recording.sites.iter().position(|site| site.line == line);
        let site = found.unwrap_or_else(|| {
            let function = FunctionId(u32::from(line >= 10));
            let (col, end_line, end_col, may_end) = (5, line, 9, line == 11);
            let default = RecordedSite::default();
            self.recording.sites.push(RecordedSite {
                line,
                col,
                end_line,
                end_col,
                function,
                may_end,
                ..default
            });
            self.recording.sites.len() - 1
        });
        self.recording.push(LaneId(0), RecordedStep::Statement(SiteId(site as u32)), false)
    }

    /// Adds an event.
    pub fn event(&mut self, kind: EventKind, text: &str) -> StepId {
        let (name, text) = (self.recording.strings.add(kind.name()), self.recording.strings.add(text));
        self.recording.events.push(RecordedEvent { kind, name, text, fields: Vec::new() });
        let event = self.recording.events.len() as u32 - 1;
        let step = self.recording.push(LaneId(0), RecordedStep::Event(event), false);
        if kind == EventKind::Panic {
            self.recording.lanes[0].panic = Some(step);
        }
        step
    }

    /// A panic whose message names a line.
    pub fn panic_named(line: u32) -> LocatedPanic {
        let named = Some(CodePlace { path: "/made/src/main.rs".to_owned(), line });
        LocatedPanic { named, ..LocatedPanic::default() }
    }

    /// Adds a call.
    pub fn call(&mut self, function: u32, (first, last): (u32, u32), parent: Option<u32>) -> CallId {
        let id = CallId(self.recording.calls.len() as u32);
        let parent = parent.map(CallId);
        let called_from = parent.and_then(|_| self.recording.site_at(StepId(first.checked_sub(1)?)));
        self.recording.calls.push(CallSpan {
            function: FunctionId(function),
            first: StepId(first),
            last: StepId(last),
            parent,
            depth: u32::from(parent.is_some()),
            called_from,
            exit: SpanExit::Returned,
            ..CallSpan::default()
        });
        self.recording.lanes[0].calls.push(id);
        id
    }

    /// Adds a value behind a step of a call: a variable of `main`, or the parameter of a `leaf`.
    pub fn value(&mut self, (step, call): (u32, u32), name: &str, text: &str) {
        let (name, text) = (self.recording.strings.add(name), self.recording.strings.add(text));
        let (step, call, is_parameter) = (StepId(step), Some(CallId(call)), call > 0);
        self.recording.values.push(ValueAt {
            step,
            name,
            text,
            call,
            line: 10,
            is_parameter,
            ..ValueAt::default()
        });
    }

    /// `main` (1, 2, 3) calls `leaf` (10, 11) in line 2, twice.
    pub fn calls() -> RecordingSample {
        let mut sample = RecordingSample::default();
        for line in [1, 2, 10, 11, 10, 11, 3] {
            sample.line(line);
        }
        sample.call(0, (0, 6), None);
        sample.call(1, (2, 3), Some(0));
        sample.call(1, (4, 5), Some(0));
        sample.recording.calls[2].called_from = sample.recording.calls[1].called_from;
        sample
    }
}
