//! The requests that set breakpoints, and the answers of logpoints.

use serde::Deserialize;
use serde_json::{Value, json};

use super::body::{BreakpointBody, OutputBody};
use super::condition::{HitCondition, LogPiece, ValueCondition, log_pieces};
use super::index::HitPlace;
use super::look::SourceArg;
use super::message::{DapError, Reply, arguments, body};
use super::points::{Point, WantedPoint, value_at};
use super::requests::FILTERS;
use super::session::{DapSession, Phase};
use xhist_history::recording::{Direction, Recording, StepId};

/// Breakpoints of one request at most.
const MAX_POINTS: usize = 4096;
/// Lines that a logpoint prints.
const MAX_LINES: usize = 1000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetBreakpointsArgs {
    source: SourceArg,
    #[serde(default)]
    breakpoints: Vec<PointArg>,
}

#[derive(Deserialize)]
struct SetFunctionArgs {
    breakpoints: Vec<PointArg>,
}

/// A breakpoint as the client writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PointArg {
    #[serde(default)]
    line: i64,
    column: Option<i64>,
    #[serde(default)]
    name: String,
    condition: Option<String>,
    hit_condition: Option<String>,
    log_message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetExceptionArgs {
    #[serde(default)]
    filters: Vec<String>,
    #[serde(default)]
    filter_options: Vec<FilterArg>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FilterArg {
    filter_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LocationsArgs {
    source: SourceArg,
    line: i64,
    end_line: Option<i64>,
}

impl DapSession {
    /// Sets all breakpoints of one source.
    pub(super) fn set_breakpoints(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: SetBreakpointsArgs = arguments(args)?;
        let key = format!("{:?}", args.source);
        let place = self.points.lines.iter().position(|(source, _)| *source == key);
        let old = place.map(|place| self.points.lines.remove(place).1).unwrap_or_default();
        let wanted = args.breakpoints.into_iter().map(|arg| {
            let column = arg.column.map_or(0, |column| self.look.own_column(column));
            (WantedPoint::Line(args.source.clone(), self.look.own_line(arg.line), column), arg)
        });
        let wanted: Vec<_> = wanted.collect();
        let points = self.made(recording, wanted, old)?;
        let shown = shown(&points);
        self.points.lines.push((key, points));
        if self.points.lines.len() > MAX_POINTS {
            self.points.lines.remove(0);
        }
        self.answer_logpoints(recording);
        body(&json!({"breakpoints": shown}))
    }

    /// Sets all breakpoints of functions.
    pub(super) fn set_function_breakpoints(
        &mut self,
        recording: &Recording,
        args: Value,
    ) -> Result<Reply, DapError> {
        let args: SetFunctionArgs = arguments(args)?;
        let old = std::mem::take(&mut self.points.functions);
        let wanted =
            args.breakpoints.into_iter().map(|arg| (WantedPoint::Function(arg.name.clone()), arg)).collect();
        self.points.functions = self.made(recording, wanted, old)?;
        self.answer_logpoints(recording);
        body(&json!({"breakpoints": shown(&self.points.functions)}))
    }

    /// The breakpoints of a request; one that was there before keeps its number.
    fn made(
        &mut self,
        recording: &Recording,
        wanted: Vec<(WantedPoint, PointArg)>,
        mut old: Vec<Point>,
    ) -> Result<Vec<Point>, DapError> {
        if wanted.len() > MAX_POINTS {
            return Err(DapError(format!(
                "{} breakpoints are too many; the limit is {MAX_POINTS}",
                wanted.len()
            )));
        }
        let mut points = Vec::new();
        for (wanted, arg) in wanted {
            let PointArg { condition, hit_condition, log_message, .. } = arg;
            let text = format!("{wanted:?} {condition:?} {hit_condition:?} {log_message:?}");
            let known = old.iter().position(|point| point.text == text).map(|place| old.swap_remove(place));
            if let Some(point) = known {
                points.push(point);
                continue;
            }
            let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
            let condition = given(condition).map(|text| ValueCondition::parse(&text)).transpose();
            let hits = given(hit_condition).map(|text| HitCondition::parse(&text)).transpose();
            let problem = condition.as_ref().err().or(hits.as_ref().err()).cloned();
            let mut point = Point {
                id: self.points.new_id(),
                text,
                wanted,
                hits: hits.unwrap_or_default(),
                condition: condition.unwrap_or_default(),
                log: given(log_message).map(|text| log_pieces(&text)),
                problem,
                answered: None,
                printed: 0,
                place: HitPlace::Sites(Vec::new()),
                shown: BreakpointBody::default(),
            };
            point.find(recording, &self.look);
            points.push(point);
        }
        Ok(points)
    }

    /// Chooses the failures that stop.
    pub(super) fn set_exception_breakpoints(
        &mut self,
        _: &Recording,
        args: Value,
    ) -> Result<Reply, DapError> {
        let args: SetExceptionArgs = arguments(args)?;
        let chosen: Vec<String> = args
            .filters
            .into_iter()
            .chain(args.filter_options.into_iter().map(|option| option.filter_id))
            .collect();
        self.choose_failures(&|name| chosen.iter().any(|chosen| chosen == name));
        let is_known = |name: &String| FILTERS.iter().any(|(filter, ..)| filter == name);
        let answers = chosen.iter().map(|name| match is_known(name) {
            true => json!({"verified": true}),
            false => {
                json!({"verified": false, "message": "there is no such filter; there are panic and signal"})
            }
        });
        body(&json!({"breakpoints": answers.take(MAX_POINTS).collect::<Vec<_>>()}))
    }

    /// Stops at the failures of these filters.
    pub(super) fn choose_failures(&mut self, is_chosen: &dyn Fn(&str) -> bool) {
        self.points.failures.clear();
        for (filter, ..) in FILTERS.iter().filter(|(filter, ..)| is_chosen(filter)) {
            let place = if *filter == "panic" { HitPlace::Panics } else { HitPlace::Signals };
            let id = self.points.new_id();
            self.points.failures.push(Point {
                id,
                text: (*filter).to_owned(),
                wanted: WantedPoint::Failure,
                hits: None,
                condition: None,
                log: None,
                problem: None,
                answered: None,
                printed: 0,
                place,
                shown: BreakpointBody::default(),
            });
        }
    }

    /// The statements in some lines.
    pub(super) fn breakpoint_locations(
        &mut self,
        recording: &Recording,
        args: Value,
    ) -> Result<Reply, DapError> {
        let args: LocationsArgs = arguments(args)?;
        let files = self.look.files(recording, &args.source);
        let first = self.look.own_line(args.line);
        let last = args.end_line.map_or(first, |line| self.look.own_line(line));
        let is_in = |line: u32| (first..=last).contains(&line);
        let sites = recording.sites.iter().filter(|site| files.contains(&site.file) && is_in(site.line));
        let mut found: Vec<(u32, u32)> = sites.map(|site| (site.line, site.col)).collect();
        let lines = files
            .iter()
            .filter_map(|file| recording.files.get(*file as usize))
            .flat_map(|file| file.lines.iter());
        let others: Vec<u32> = lines
            .copied()
            .filter(|line| is_in(*line) && !found.iter().any(|(known, _)| known == line))
            .collect();
        found.extend(others.into_iter().map(|line| (line, 0)));
        found.sort_unstable();
        found.dedup();
        let look = &self.look;
        let location = |(line, col): &(u32, u32)| match col {
            0 => json!({"line": look.line(*line)}),
            col => json!({"line": look.line(*line), "column": look.column(*col)}),
        };
        body(&json!({"breakpoints": found.iter().take(MAX_POINTS).map(location).collect::<Vec<_>>()}))
    }

    /// Prints what logpoints have to say about steps that they did not look at before: also about the past.
    pub(super) fn answer_logpoints(&mut self, recording: &Recording) {
        if !matches!(self.phase, Phase::Stopped | Phase::Running) {
            return;
        }
        let Some(last) = recording.last() else { return };
        let mut lines = Vec::new();
        let mut answered = Vec::new();
        let mut patience = self.patience();
        for point in self.points.iter() {
            let (Some(pieces), None) = (&point.log, &point.problem) else { continue };
            let mut printed = point.printed;
            // The first step may be a hit, and nothing is before it.
            let mut at = point.answered;
            while printed <= MAX_LINES && patience.step().is_ok() {
                let next = match at {
                    None if self.points.index.count(&point.place, StepId(0)) > 0 => Some(StepId(0)),
                    at => self.points.index.next(&point.place, at.unwrap_or_default(), Direction::Forward),
                };
                let Some(next) = next else { break };
                at = Some(next);
                if !self.points.holds(recording, point, next) {
                    continue;
                }
                printed += 1;
                let text = match printed > MAX_LINES {
                    true => format!(
                        "the logpoint printed {MAX_LINES} lines and stops; its line ran {} times, a hit condition such as `% 100` chooses",
                        self.points.index.count(&point.place, last)
                    ),
                    false => {
                        format!("step {}: {}", recording.number(next), log_text(recording, next, pieces))
                    }
                };
                lines.push((next, text));
            }
            answered.push((point.id, last, printed));
        }
        let all =
            self.points.lines.iter_mut().flat_map(|(_, points)| points).chain(&mut self.points.functions);
        for point in all {
            if let Some((_, last, printed)) = answered.iter().find(|(id, ..)| *id == point.id) {
                (point.answered, point.printed) = (Some(*last), *printed);
            }
        }
        // As if they had been printed when they ran.
        lines.sort_by_key(|(step, _)| *step);
        for (step, text) in lines {
            let site = recording.site_at(step).and_then(|site| recording.site(site));
            let output = OutputBody {
                category: "console",
                output: format!("{text}\n"),
                source: site.and_then(|site| self.look.source(recording, site.file)),
                line: site.map(|site| self.look.line(site.line)),
            };
            self.event("output", &output);
        }
    }
}

fn shown(points: &[Point]) -> Vec<BreakpointBody> {
    points.iter().map(|point| point.shown.clone()).collect()
}

fn log_text(recording: &Recording, step: StepId, pieces: &[LogPiece]) -> String {
    let text = |piece: &LogPiece| match piece {
        LogPiece::Text(text) => text.clone(),
        LogPiece::Name(name) => {
            value_at(recording, step, name).map_or_else(|| format!("<{name} is not recorded>"), str::to_owned)
        }
    };
    pieces.iter().map(text).collect()
}
