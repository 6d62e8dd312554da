//! The answer as JSON lines: `diff` first, then `parting`, `only`, `value`, `count` and `alone`, and `end`.

use std::io::{self, Write};

use serde::Serialize;

use super::align::{Next, Parting, Side, Then};
use super::compare::{Comparison, OnlyRan, ThreadPair};
use super::named::{NamedSite, NamedSites};
use super::shape::{HistoryEnd, Repeater, StatementId};
use super::values::ValueDifference;
use xhist_history::ExitCode;
use xhist_history::notes::Notes;

/// As in the JSON lines of reports.
const SCHEMA: u32 = crate::format::SCHEMA;

#[derive(Serialize)]
struct DiffSchema<'a> {
    schema: u32,
    kind: &'static str,
    tool: &'static str,
    good: &'a str,
    bad: &'a str,
    map: String,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum DiffLine<'a> {
    Pair {
        good: PairSide<'a>,
        bad: PairSide<'a>,
        same: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        apart: bool,
    },
    Parting {
        thread: &'a str,
        stack: Vec<JsonLevel<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        within: Option<JsonWithin<'a>>,
        good: JsonNext<'a>,
        bad: JsonNext<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        other_callers: bool,
    },
    Alone {
        side: &'static str,
        thread: &'a str,
    },
    Only {
        side: &'static str,
        function: String,
        file: &'a str,
        lines: Vec<(u32, u32)>,
        statements: usize,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        after_panic: bool,
        /// The other side may have run them before its history begins.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        uncertain: bool,
    },
    /// Values of a place that differ, the first of that place.
    Value {
        thread: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        line: u32,
        function: &'a str,
        name: &'a str,
        /// Which value of the place, from 1.
        count: usize,
        good: &'a str,
        bad: &'a str,
    },
    Count {
        #[serde(flatten)]
        site: JsonSite<'a>,
        good: u64,
        bad: u64,
    },
    End {
        same: bool,
        complete: bool,
    },
}

#[derive(Serialize)]
struct PairSide<'a> {
    thread: &'a str,
    ring: usize,
    statements: u64,
    /// Statements whose place in the tree of calls has another reading.
    #[serde(skip_serializing_if = "is_zero")]
    uncertain: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

#[derive(Serialize)]
struct JsonLevel<'a> {
    function: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<JsonSite<'a>>,
}

#[derive(Serialize)]
struct JsonWithin<'a> {
    what: &'static str,
    file: &'a str,
    line: u32,
    /// The side that has an iteration or a call that goes this way.
    side: &'static str,
}

#[derive(Serialize)]
struct JsonNext<'a> {
    statements: Vec<JsonSite<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    then: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<u8>,
}

#[derive(Serialize)]
struct JsonSite<'a> {
    file: &'a str,
    line: u32,
    function: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// Writes an answer.
pub struct JsonWriter<'w, 'n, 'o> {
    /// Names statements.
    pub named: &'w mut NamedSites<'n>,
    /// Where it goes.
    pub out: &'w mut dyn Write,
    /// For sources that are missing.
    pub notes: &'w mut Notes<'o>,
}

impl<'n> JsonWriter<'_, 'n, '_> {
    /// Writes the whole answer. `good` and `bad` are the sources as typed.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write(&mut self, comparison: &Comparison, good: &str, bad: &str, map: u64) -> io::Result<()> {
        let tool = concat!("xhist-report ", env!("CARGO_PKG_VERSION"));
        self.line(&DiffSchema { schema: SCHEMA, kind: "diff", tool, good, bad, map: format!("{map:016x}") })?;
        for pair in &comparison.threads {
            self.pair(pair)?;
            for parting in &pair.partings {
                self.parting(&pair.names.0, parting)?;
            }
        }
        for (side, thread) in &comparison.alone {
            self.line(&DiffLine::Alone { side: word(*side), thread })?;
        }
        self.only(Side::Bad, &comparison.only_bad)?;
        self.only(Side::Good, &comparison.only_good)?;
        for ValueDifference { threads, good, bad, count } in &comparison.values {
            let (file, line, count) = (good.path.as_deref(), good.line, *count);
            let (function, name) = (&*good.function, &*good.name);
            let (thread, good, bad) = (&*threads.0, &*good.text, &*bad.text);
            self.line(&DiffLine::Value { thread, file, line, function, name, count, good, bad })?;
        }
        for (site, good, bad) in &comparison.counts {
            let site = self.site(*site);
            self.line(&DiffLine::Count { site, good: *good, bad: *bad })?;
        }
        let complete = self.notes.finish() == ExitCode::Complete;
        self.line(&DiffLine::End { same: comparison.is_same(), complete })
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut *self.out, line)?;
        self.out.write_all(b"\n")
    }

    fn pair(&mut self, pair: &ThreadPair) -> io::Result<()> {
        let ThreadPair { names, rings, statements, uncertain, cut, .. } = pair;
        let side =
            |thread, ring, statements, uncertain, cut| PairSide { thread, ring, statements, uncertain, cut };
        let good = side(names.0.as_str(), rings.0, statements.0, uncertain.0, cut.0);
        let bad = side(names.1.as_str(), rings.1, statements.1, uncertain.1, cut.1);
        let same = pair.partings.is_empty() && !pair.is_apart;
        self.line(&DiffLine::Pair { good, bad, same, apart: pair.is_apart })
    }

    fn parting(&mut self, thread: &str, parting: &Parting) -> io::Result<()> {
        let stack = parting.stack.iter().map(|level| JsonLevel {
            function: self.named.body(level.body),
            at: level.at.map(|site| self.site(site)),
        });
        let stack = stack.collect();
        let side = word(parting.round_of);
        let within = match parting.within {
            Some(Repeater::Loop(number)) => {
                let (file, line) = self.named.loop_place(number);
                Some(JsonWithin { what: "loop", file, line, side })
            }
            Some(Repeater::Calls(Some(site))) => {
                let NamedSite { file, line, .. } = self.named.site(site, self.notes);
                Some(JsonWithin { what: "calls", file, line, side })
            }
            Some(Repeater::Calls(None)) | None => None,
        };
        let (good, bad) = (self.next(&parting.good), self.next(&parting.bad));
        let other_callers = parting.other_callers;
        self.line(&DiffLine::Parting { thread, stack, within, good, bad, other_callers })
    }

    fn next(&mut self, next: &Next) -> JsonNext<'n> {
        let statements = next.sites.iter().map(|site| self.site(*site)).collect();
        let signal = match next.then {
            Some(Then::Ends(HistoryEnd::Signal(signal))) => Some(signal),
            _ => None,
        };
        let then = next.then.map(|then| match then {
            Then::Leaves(_) => "returns",
            Then::EndsRound(_) => "iteration ends",
            Then::CallsNoMore(_) => "calls no more",
            Then::EndsThread => "thread ends",
            Then::Ends(HistoryEnd::Panic) => "panic",
            Then::Ends(HistoryEnd::Signal(_)) => "signal",
            Then::Ends(HistoryEnd::Cut) => "history ends",
        });
        JsonNext { statements, then, signal }
    }

    fn site(&mut self, site: StatementId) -> JsonSite<'n> {
        let NamedSite { file, line, function, text } = self.named.site(site, self.notes);
        JsonSite { file, line, function, source: text }
    }

    fn only(&mut self, side: Side, only: &OnlyRan) -> io::Result<()> {
        let (before, after) = only.certain.split_at(only.after_panic.unwrap_or(only.certain.len()));
        for (sites, after_panic, uncertain) in
            [(before, false, false), (after, true, false), (&only.uncertain, false, true)]
        {
            for of in self.named.by_function(sites) {
                self.line(&DiffLine::Only {
                    side: word(side),
                    function: of.function,
                    file: of.file,
                    lines: of.lines,
                    statements: of.statements,
                    after_panic,
                    uncertain,
                })?;
            }
        }
        Ok(())
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

const fn word(side: Side) -> &'static str {
    match side {
        Side::Good => "good",
        Side::Bad => "bad",
    }
}
