//! The JSON lines of a call tree.

use serde::Serialize;

use super::interrupts::JsonInterrupt;
use super::values::{JsonShownValue, json_values};
use crate::format::entries::{CallPart, CallRow};
use xhist_history::calls::ThroughDerived;

/// A line.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum JsonCallLine<'a> {
    Call {
        ring: usize,
        #[serde(flatten)]
        interrupt: Option<JsonInterrupt>,
        depth: usize,
        /// `begin` and `end` of a call that was not kept until its end.
        #[serde(skip_serializing_if = "Option::is_none")]
        part: Option<&'static str>,
        function: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        arguments: Vec<JsonShownValue<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        line: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        from_file: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        from_line: Option<u32>,
        #[serde(flatten)]
        so_far: Option<JsonCall>,
        /// `certain` or `possible`: derived code called it.
        #[serde(skip_serializing_if = "Option::is_none")]
        through_derived: Option<&'static str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        entered_before: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        uncertain: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        resumed: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        unwinding: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        handler: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<u64>,
    },
    Note {
        ring: usize,
        #[serde(flatten)]
        interrupt: Option<JsonInterrupt>,
        depth: usize,
        /// `panic`, `signal`, `gap` or `repetition`.
        what: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        statements: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        times: Option<u64>,
        /// Calls of a repetition that were not left.
        #[serde(skip_serializing_if = "Option::is_none")]
        calls: Option<u64>,
    },
    Open {
        ring: usize,
        #[serde(flatten)]
        interrupt: Option<JsonInterrupt>,
        /// `end` or `panic`.
        at: &'static str,
        depth: usize,
        function: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        line: u32,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        uncertain: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        parked: bool,
    },
}

/// What is known of a call at its end.
#[derive(Serialize)]
pub(super) struct JsonCall {
    times: u64,
    own: u64,
    statements: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ticks: Option<u64>,
    exit: &'static str,
    /// The last line that ran.
    at_line: u32,
}

/// The lines of a row of the tree of a thread, or of an interrupt of it.
pub(super) fn lines<'a>(row: &CallRow<'a>, interrupt: &Option<JsonInterrupt>) -> Vec<JsonCallLine<'a>> {
    let interrupt = interrupt.clone();
    let line = match *row {
        CallRow::Thread { .. } => return Vec::new(),
        CallRow::Call(call) => JsonCallLine::Call {
            ring: call.ring.number,
            interrupt,
            depth: call.depth,
            part: match call.part {
                CallPart::Whole => None,
                CallPart::Begin => Some("begin"),
                CallPart::End => Some("end"),
            },
            function: call.function,
            arguments: json_values(call.arguments),
            file: call.file,
            line: call.line,
            from_file: call.from.and_then(|(file, _)| file.or(call.file)),
            from_line: call.from.map(|(_, line)| line),
            so_far: (call.part != CallPart::Begin).then_some(JsonCall {
                times: call.times,
                own: call.own,
                statements: call.statements,
                ticks: call.ticks,
                exit: call.exit,
                at_line: call.at,
            }),
            through_derived: call.through.map(ThroughDerived::name),
            entered_before: call.entered_before,
            uncertain: call.is_uncertain,
            resumed: call.is_resumed,
            unwinding: call.in_unwinding,
            handler: call.is_handler,
            task: call.task,
        },
        CallRow::Note { ring, depth, what, text } => JsonCallLine::Note {
            ring: ring.number,
            interrupt,
            depth,
            what,
            text: Some(text),
            statements: None,
            times: None,
            calls: None,
        },
        CallRow::Repetition { ring, depth, statements, times, calls } => JsonCallLine::Note {
            ring: ring.number,
            interrupt,
            depth,
            what: "repetition",
            text: None,
            statements: Some(statements),
            times: Some(times),
            calls: Some(calls).filter(|calls| *calls > 0),
        },
        CallRow::Open { ring, interrupt, at, calls, .. } => {
            let lines = calls.iter().map(|call| JsonCallLine::Open {
                ring: ring.number,
                interrupt: JsonInterrupt::of(ring, interrupt),
                at,
                depth: call.depth,
                function: &call.function,
                file: call.file.as_deref(),
                line: call.line,
                uncertain: call.is_uncertain,
                parked: call.is_parked,
            });
            return lines.collect();
        }
    };
    vec![line]
}
