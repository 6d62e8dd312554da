//! The requests that look at the step where the session is: threads, calls, variables, the failure.

use std::rc::Rc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::body::{FrameBody, ReadOnly, ScopeBody, VariableBody};
use super::handles::{Handle, ScopeKind, thread_id};
use super::message::{DapError, Reply, arguments, body};
use super::session::DapSession;
use super::stops::{failure_of, step_text};
use xhist_history::recording::{CallId, LaneId, Recording, StackFrame, StepId, Variable};

/// What records values, for users who see none.
const NO_VALUES: &str = "none recorded; `cargo xhist run --values '**'` records values";
/// For users who see values in other calls.
const NO_VALUES_HERE: &str = "this call has recorded none yet";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StackArgs {
    thread_id: i64,
    #[serde(default)]
    start_frame: i64,
    #[serde(default)]
    levels: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScopesArgs {
    frame_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VariablesArgs {
    variables_reference: i64,
    filter: Option<String>,
    #[serde(default)]
    start: i64,
    #[serde(default)]
    count: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadArgs {
    thread_id: i64,
}

/// A part of a list, as a client asks for it; 0 is all.
fn page<T>(list: &[T], start: i64, count: i64) -> &[T] {
    let start = usize::try_from(start).unwrap_or_default().min(list.len());
    let count = usize::try_from(count).ok().filter(|count| *count > 0).unwrap_or(list.len());
    &list[start..list.len().min(start.saturating_add(count))]
}

impl DapSession {
    /// All threads, with what became of those that the session is not in.
    pub(super) fn threads(&mut self, recording: &Recording, _: Value) -> Result<Reply, DapError> {
        let threads = recording.lanes.iter().enumerate().map(|(number, lane)| {
            let id = LaneId(number as u32);
            let is_alone = recording.lanes.iter().filter(|other| other.name == lane.name).count() == 1;
            let mut name = lane.name.clone();
            if !is_alone {
                name.push_str(&format!(" (ring {})", lane.ring));
            }
            if self.step_of_lane(recording, id).is_none() {
                name.push_str(" (not started yet)");
            }
            json!({"id": thread_id(id), "name": name})
        });
        body(&json!({"threads": threads.collect::<Vec<_>>()}))
    }

    /// The stack of a lane, the innermost call first.
    pub(super) fn stack(&mut self, recording: &Recording, lane: LaneId) -> Rc<[StackFrame]> {
        if let Some(stack) = self.stacks.get(&lane) {
            return Rc::clone(stack);
        }
        let step = self.step_of_lane(recording, lane);
        let stack: Rc<[StackFrame]> = step.map(|step| recording.stack_at(step)).unwrap_or_default().into();
        self.stacks.insert(lane, Rc::clone(&stack));
        stack
    }

    /// The call with an id, and the step of its lane.
    pub(super) fn frame(&mut self, recording: &Recording, id: i64) -> Result<(StepId, StackFrame), DapError> {
        let Some(Handle::Frame(lane, place)) = self.handles.get(id) else {
            return Err(DapError(format!("frame {id} is of an earlier stop; ask for the stack again")));
        };
        self.frame_at(recording, lane, place)
    }

    fn frame_at(
        &mut self,
        recording: &Recording,
        lane: LaneId,
        place: usize,
    ) -> Result<(StepId, StackFrame), DapError> {
        let frame = self.stack(recording, lane).get(place).copied();
        let found = self.step_of_lane(recording, lane).zip(frame);
        found.ok_or_else(|| DapError::new("the call is not on the stack"))
    }

    /// The calls of a thread.
    pub(super) fn stack_trace(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: StackArgs = arguments(args)?;
        let lane = DapSession::lane_of_thread(recording, args.thread_id)?;
        let stack = self.stack(recording, lane);
        let is_uncertain = recording.lane_of(self.at) != lane
            && self.step_of_lane(recording, lane).is_some_and(|step| recording.is_uncertain(step));
        let first = usize::try_from(args.start_frame).unwrap_or_default();
        let mut frames = Vec::new();
        for (place, frame) in page(&stack, args.start_frame, args.levels).iter().enumerate() {
            let place = first + place;
            let id = self.handles.number(Handle::Frame(lane, place))?;
            let mut shown = self.frame_body(recording, id, frame);
            if place == 0 && is_uncertain {
                shown.name.push_str(" (about here; its order among other threads is not certain)");
            }
            frames.push(shown);
        }
        body(&json!({"stackFrames": frames, "totalFrames": stack.len()}))
    }

    fn frame_body(&self, recording: &Recording, id: i32, frame: &StackFrame) -> FrameBody {
        let site = frame.site.and_then(|site| recording.site(site));
        let function = recording.functions.get(frame.function.0 as usize);
        let file = site.map(|site| site.file).or_else(|| function.map(|function| function.file));
        let name = function.map(|function| function.name.as_str()).filter(|name| !name.is_empty());
        let source = file.and_then(|file| self.look.source(recording, file));
        let is_dependency = file
            .and_then(|file| recording.files.get(file as usize))
            .is_some_and(|file| file.is_dependency && self.launch.just_my_code.unwrap_or(true));
        let end = site.filter(|site| site.end_col > 0);
        FrameBody {
            id,
            name: name.unwrap_or("a function that no map names").to_owned(),
            line: if source.is_some() { self.look.line(site.map_or(1, |site| site.line)) } else { 0 },
            column: if source.is_some() { self.look.column(site.map_or(1, |site| site.col)) } else { 0 },
            end_line: end.map(|site| self.look.line(site.end_line)),
            end_column: end.map(|site| self.look.column(site.end_col)),
            can_restart: frame.call.is_some(),
            presentation_hint: is_dependency.then_some("subtle"),
            source,
        }
    }

    /// The groups of variables of a call.
    pub(super) fn scopes(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: ScopesArgs = arguments(args)?;
        let (step, frame) = self.frame(recording, args.frame_id)?;
        let Some(Handle::Frame(lane, place)) = self.handles.get(args.frame_id) else {
            return Err(DapError::new("the frame is of an earlier stop"));
        };
        let values = recording.variables(frame.call, step);
        let parameters = values.iter().filter(|variable| variable.value.is_parameter).count();
        let about = self.about(recording, step, frame.call).len();
        let groups = [
            (ScopeKind::Arguments, "Arguments", Some("arguments"), parameters),
            (ScopeKind::Locals, "Locals", Some("locals"), (values.len() - parameters).max(1)),
            (ScopeKind::Step, "xhist", None, about),
        ];
        let mut scopes = Vec::new();
        for (kind, name, presentation_hint, named_variables) in groups {
            if kind == ScopeKind::Arguments && parameters == 0 {
                continue;
            }
            let variables_reference = self.handles.number(Handle::Scope(lane, place, kind))?;
            scopes.push(ScopeBody {
                name,
                presentation_hint,
                variables_reference,
                named_variables,
                expensive: false,
            });
        }
        body(&json!({"scopes": scopes}))
    }

    /// The variables of a group.
    pub(super) fn variables(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: VariablesArgs = arguments(args)?;
        let Some(Handle::Scope(lane, place, kind)) = self.handles.get(args.variables_reference) else {
            let number = args.variables_reference;
            return Err(DapError(format!(
                "variables {number} are of an earlier stop; ask for the scopes again"
            )));
        };
        let (step, frame) = self.frame_at(recording, lane, place)?;
        let all: Vec<VariableBody> = match kind {
            ScopeKind::Step => {
                let about = self.about(recording, step, frame.call);
                about.into_iter().map(|(name, value)| self.variable(name, value, None)).collect()
            }
            ScopeKind::Arguments | ScopeKind::Locals => {
                let found = recording.variables(frame.call, step);
                let is_parameter = kind == ScopeKind::Arguments;
                let own = found.iter().filter(|variable| variable.value.is_parameter == is_parameter);
                let own: Vec<_> = own.map(|variable| self.value(recording, variable)).collect();
                match own.is_empty() {
                    true => {
                        let text = if recording.values.is_empty() { NO_VALUES } else { NO_VALUES_HERE };
                        vec![self.variable("values", text.to_owned(), None)]
                    }
                    false => own,
                }
            }
        };
        let is_indexed = args.filter.as_deref() == Some("indexed");
        let shown = if is_indexed { &[] } else { page(&all, args.start, args.count) };
        body(&json!({"variables": shown}))
    }

    fn variable(&self, name: &str, value: String, type_name: Option<String>) -> VariableBody {
        VariableBody {
            name: name.to_owned(),
            value,
            type_name: type_name.filter(|_| self.look.shows_types),
            evaluate_name: None,
            variables_reference: 0,
            presentation_hint: ReadOnly::default(),
        }
    }

    fn value(&self, recording: &Recording, variable: &Variable) -> VariableBody {
        let name = recording.strings.get(variable.value.name);
        let text = recording.strings.get(variable.value.text).to_owned();
        let shown = self.variable(name, text, Some(type_text(recording, variable)));
        VariableBody { evaluate_name: Some(name.to_owned()), ..shown }
    }

    /// What the recording knows of a step.
    fn about(
        &self,
        recording: &Recording,
        step: StepId,
        call: Option<CallId>,
    ) -> Vec<(&'static str, String)> {
        let number = |step: StepId| recording.number(step);
        let mut about = Vec::new();
        if let Some(last) = recording.last() {
            about.push(("step", format!("{} of {}", number(step), number(last))));
        }
        let start = recording.times.first().map(|(_, time)| *time);
        if let Some((time, start)) = recording.time(step).zip(start) {
            let seconds = time.saturating_sub(start) as f64 / 1e9;
            about.push(("time", format!("{seconds:.6} s after the first recorded time")));
        }
        if let Some(lane) = recording.lane(recording.lane_of(step)) {
            about.push(("thread", lane.name.clone()));
            about.push(("thread at the end", lane.status.to_owned()));
        }
        if let Some(task) = recording.task_at(step) {
            about.push(("task", format!("{} {}", task.task, recording.strings.get(task.function))));
        }
        let site = recording.site_at(step);
        let text = site.and_then(|site| recording.file_of(site)?.line(recording.site(site)?.line));
        if let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) {
            about.push(("statement", text.to_owned()));
        }
        if let Some(event) = recording.event(step) {
            about.push(("event", recording.strings.get(event.text).to_owned()));
        }
        if let Some(call) = call.and_then(|call| recording.call(call)) {
            // The last step of a call that is open in a recording that grows is not known yet.
            let left = match call.last <= recording.last().unwrap_or_default() {
                true => format!(", {} at step {}", call.exit.name(), number(call.last)),
                false => ", open".to_owned(),
            };
            about.push(("call", format!("entered at step {}{left}", number(call.first))));
        }
        if recording.is_uncertain(step) {
            about.push(("order", "other threads may have run before this step".to_owned()));
        }
        about
    }

    /// The value of a name in a call; without a call in the innermost one of the current step.
    pub(super) fn value_of(
        &mut self,
        recording: &Recording,
        frame: Option<i64>,
        name: &str,
    ) -> Result<Option<Variable>, DapError> {
        let (step, call) = match frame {
            Some(id) => {
                let (step, frame) = self.frame(recording, id)?;
                (step, frame.call)
            }
            None => (self.at, recording.call_at(self.at)),
        };
        let found = recording.strings.find(name.trim());
        Ok(found.and_then(|name| recording.variable(call, step, name)))
    }

    /// Why a thread failed.
    pub(super) fn exception_info(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: ThreadArgs = arguments(args)?;
        let lane = DapSession::lane_of_thread(recording, args.thread_id)?;
        let step = self.step_of_lane(recording, lane);
        let failure = step.and_then(|step| failure_of(recording, step));
        let failure = failure.ok_or_else(|| DapError::new("this thread has not failed up to this step"))?;
        let stack = self.stack(recording, lane);
        let lines = stack.iter().take(100).map(|frame| frame_text(recording, frame));
        body(&json!({
            "exceptionId": failure.name,
            "description": failure.text,
            "breakMode": "unhandled",
            "details": {
                "message": failure.text,
                "typeName": failure.name,
                "stackTrace": lines.collect::<Vec<_>>().join("\n"),
            },
        }))
    }

    /// The stack in words, for the console.
    pub(super) fn stack_text(&mut self, recording: &Recording) -> String {
        let stack = self.stack(recording, recording.lane_of(self.at));
        let frames = stack.iter().take(100).enumerate();
        let lines = frames.map(|(place, frame)| format!("\n#{place} {}", frame_text(recording, frame)));
        format!("{}{}", step_text(recording, self.at), lines.collect::<String>())
    }
}

/// The type of a value, and the step that it was seen at.
pub fn type_text(recording: &Recording, variable: &Variable) -> String {
    let name = recording.strings.get(variable.value.type_name);
    let seen = format!("seen at step {}", recording.number(variable.value.step));
    if name.is_empty() { seen } else { format!("{name}, {seen}") }
}

/// A call in words: `parse src/lib.rs:7`.
fn frame_text(recording: &Recording, frame: &StackFrame) -> String {
    let function =
        recording.functions.get(frame.function.0 as usize).map_or("?", |function| function.name.as_str());
    let place = frame.site.and_then(|site| Some((recording.file_of(site)?, recording.site(site)?.line)));
    place.map_or_else(|| function.to_owned(), |(file, line)| format!("{function} {}:{line}", file.path))
}
