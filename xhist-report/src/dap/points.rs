//! Breakpoints of a session: what the client asked for, where that is in the recording, and which steps it stops.

use super::body::{BreakpointBody, SourceBody};
use super::condition::{HitCondition, LogPiece, ValueCondition};
use super::index::{HitIndex, HitPlace};
use super::look::{ClientLook, SourceArg};
use super::patience::{Interrupted, Patience};
use xhist_history::recording::{Direction, FunctionId, LaneId, Recording, SiteId, StepId};

/// What a breakpoint is about.
#[derive(Clone, Debug)]
pub enum WantedPoint {
    /// A line of a file, and a column if it is not 0.
    Line(SourceArg, u32, u32),
    /// A function.
    Function(String),
    /// A failure.
    Failure,
}

/// A breakpoint.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its number, for the session.
    pub id: i32,
    /// What the client wrote, to know it again.
    pub text: String,
    /// What it is about.
    pub wanted: WantedPoint,
    /// Which hits count.
    pub hits: Option<HitCondition>,
    /// Which values count.
    pub condition: Option<ValueCondition>,
    /// What is printed in place of a stop.
    pub log: Option<Vec<LogPiece>>,
    /// Why it never stops.
    pub problem: Option<String>,
    /// The last step that a log point has answered.
    pub answered: Option<StepId>,
    /// Lines that it printed.
    pub printed: usize,
    /// Where it is.
    pub place: HitPlace,
    /// What the client is to know of it.
    pub shown: BreakpointBody,
}

/// All breakpoints, and the index that finds their hits.
#[derive(Debug, Default)]
pub struct Points {
    /// Those of lines, by source as the client names it.
    pub lines: Vec<(String, Vec<Point>)>,
    /// Those of functions.
    pub functions: Vec<Point>,
    /// Those of failures.
    pub failures: Vec<Point>,
    /// Where what is.
    pub index: HitIndex,
    seen: (usize, usize),
    last_id: i32,
}

/// A hit: the step, and the breakpoints that stop there.
#[derive(Debug, PartialEq, Eq)]
pub struct PointHit {
    /// The step.
    pub step: StepId,
    /// The breakpoints.
    pub ids: Vec<i32>,
    /// A reason of the protocol.
    pub reason: &'static str,
}

/// Where hits are looked for.
#[derive(Clone, Copy, Debug)]
pub struct HitRange {
    /// Behind or before this step.
    pub from: StepId,
    /// The way.
    pub direction: Direction,
    /// Nearer than this step.
    pub until: Option<StepId>,
    /// In this lane only.
    pub lane: Option<LaneId>,
}

impl Points {
    /// The number for a new breakpoint.
    pub fn new_id(&mut self) -> i32 {
        self.last_id = self.last_id.checked_add(1).unwrap_or(1);
        self.last_id
    }

    /// Looks at what the recording has got since the last time.
    pub fn grow(&mut self, recording: &Recording, look: &ClientLook) {
        self.index.grow(recording);
        let seen = (recording.sites.len(), recording.functions.len());
        if seen != self.seen {
            self.seen = seen;
            let lines = self.lines.iter_mut().flat_map(|(_, points)| points);
            lines.chain(&mut self.functions).for_each(|point| point.find(recording, look));
        }
    }

    /// All breakpoints.
    pub fn iter(&self) -> impl Iterator<Item = &Point> {
        self.lines.iter().flat_map(|(_, points)| points).chain(&self.functions).chain(&self.failures)
    }

    /// The nearest step where a breakpoint stops.
    ///
    /// # Errors
    /// The client has ended the search.
    pub fn nearest(
        &self,
        recording: &Recording,
        range: HitRange,
        mut patience: Patience,
    ) -> Result<Option<PointHit>, Interrupted> {
        let is_nearer = |one: StepId, other: StepId| match range.direction {
            Direction::Forward => one < other,
            Direction::Back => one > other,
        };
        let mut found: Option<PointHit> = None;
        for point in self.iter().filter(|point| point.problem.is_none() && point.log.is_none()) {
            let mut at = range.from;
            while let Some(next) = self.index.next(&point.place, at, range.direction) {
                at = next;
                patience.step()?;
                let is_far = |limit: Option<StepId>| limit.is_some_and(|limit| is_nearer(limit, next));
                if range.until.is_some_and(|until| !is_nearer(next, until))
                    || is_far(found.as_ref().map(|found| found.step))
                {
                    break;
                }
                if range.lane.is_some_and(|lane| lane != recording.lane_of(next))
                    || !self.holds(recording, point, next)
                {
                    continue;
                }
                match &mut found {
                    Some(found) if found.step == next => found.ids.push(point.id),
                    _ => found = Some(PointHit { step: next, ids: vec![point.id], reason: point.reason() }),
                }
                break;
            }
        }
        Ok(found)
    }

    /// Whether the conditions of a breakpoint hold at a step that it is about.
    pub fn holds(&self, recording: &Recording, point: &Point, step: StepId) -> bool {
        let value = |condition: &ValueCondition| {
            value_at(recording, step, &condition.name).is_some_and(|text| condition.holds(text))
        };
        point.condition.as_ref().is_none_or(value)
            && point.hits.is_none_or(|hits| hits.holds(self.index.count(&point.place, step)))
    }
}

/// The newest value of a name, in the innermost call at a step.
pub fn value_at<'r>(recording: &'r Recording, step: StepId, name: &str) -> Option<&'r str> {
    let name = recording.strings.find(name)?;
    let variable = recording.variable(recording.call_at(step), step, name)?;
    Some(recording.strings.get(variable.value.text))
}

impl Point {
    /// The reason of a stop at it.
    fn reason(&self) -> &'static str {
        match self.wanted {
            WantedPoint::Line(..) => "breakpoint",
            WantedPoint::Function(_) => "function breakpoint",
            WantedPoint::Failure => "exception",
        }
    }

    /// Finds its place in the recording as it is now.
    pub fn find(&mut self, recording: &Recording, look: &ClientLook) {
        let id = self.id;
        self.shown = match &self.wanted {
            WantedPoint::Failure => BreakpointBody { id, verified: true, ..BreakpointBody::default() },
            WantedPoint::Line(source, line, column) => {
                let (place, shown) = find_line(recording, look, (source, *line, *column));
                self.place = place;
                BreakpointBody { id, ..shown }
            }
            WantedPoint::Function(name) => {
                let (place, shown) = find_function(recording, look, name);
                self.place = place;
                BreakpointBody { id, ..shown }
            }
        };
        let unknown =
            self.condition.as_ref().filter(|condition| recording.strings.find(&condition.name).is_none());
        if let Some(condition) = unknown {
            self.shown.message = Some(format!(
                "no value of `{}` is in this history; `cargo xhist run --values '**'` records values",
                condition.name
            ));
        }
        if let Some(problem) = &self.problem {
            self.shown.verified = false;
            self.shown.message = Some(problem.clone());
            self.shown.reason = Some("failed");
        }
    }
}

fn failed(message: String) -> (HitPlace, BreakpointBody) {
    let shown =
        BreakpointBody { message: Some(message), reason: Some("failed"), ..BreakpointBody::default() };
    (HitPlace::Sites(Vec::new()), shown)
}

/// The statements of a line, or of the next line that has any. A line runs when its first statement does.
fn find_line(
    recording: &Recording,
    look: &ClientLook,
    (source, line, column): (&SourceArg, u32, u32),
) -> (HitPlace, BreakpointBody) {
    let files = look.files(recording, source);
    let Some(file) = files.first().copied() else {
        return failed("no statement of this file ran in this history".to_owned());
    };
    let sites = || recording.sites.iter().enumerate().filter(|(_, site)| files.contains(&site.file));
    let of_map = files
        .iter()
        .filter_map(|file| recording.files.get(*file as usize))
        .flat_map(|file| file.lines.iter());
    let lines = of_map.copied().chain(sites().map(|(_, site)| site.line));
    let Some(found) = lines.filter(|other| *other >= line).min() else {
        return failed("no statement begins in this line or below".to_owned());
    };
    let here: Vec<_> = sites().filter(|(_, site)| site.line == found).collect();
    let first = here.iter().map(|(_, site)| site.col).min().unwrap_or_default();
    let col = match column > 0 && found == line {
        true => here.iter().map(|(_, site)| site.col).filter(|col| *col >= column).min().unwrap_or(first),
        false => first,
    };
    let chosen = here.iter().filter(|(_, site)| site.col == col).map(|(number, _)| SiteId(*number as u32));
    let message = here.is_empty().then(|| "this line never ran in this history".to_owned());
    let shown = BreakpointBody {
        verified: true,
        message,
        source: look.source(recording, file),
        line: Some(look.line(found)),
        column: (col > 0 && column > 0).then(|| look.column(col)),
        ..BreakpointBody::default()
    };
    (HitPlace::Sites(chosen.collect()), shown)
}

/// The functions with a name: the whole path, or its end.
fn find_function(recording: &Recording, look: &ClientLook, name: &str) -> (HitPlace, BreakpointBody) {
    let found = functions_named(recording, name);
    let Some(first) = found.first().and_then(|id| recording.functions.get(id.0 as usize)) else {
        return failed("no function of this name ran in this history".to_owned());
    };
    let source: Option<SourceBody> = look.source(recording, first.file);
    let line = (first.line > 0).then(|| look.line(first.line));
    let shown = BreakpointBody { verified: true, source, line, ..BreakpointBody::default() };
    (HitPlace::Entries(found), shown)
}

/// The functions with a name: the whole path, or its end.
pub fn functions_named(recording: &Recording, name: &str) -> Vec<FunctionId> {
    let name = name.trim().trim_end_matches("()");
    let is_it = |path: &str| {
        let end = path.strip_suffix(name);
        !name.is_empty() && end.is_some_and(|before| before.is_empty() || before.ends_with("::"))
    };
    let all = recording.functions.iter().enumerate();
    all.filter(|(_, function)| is_it(&function.name)).map(|(number, _)| FunctionId(number as u32)).collect()
}
