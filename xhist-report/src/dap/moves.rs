//! The requests that open a history, move through it, and leave it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::handles::Handle;
use super::launch::{LaunchArgs, StopAt};
use super::look::SourceArg;
use super::message::{DapError, Outgoing, Reply, arguments, body, done};
use super::requests::capabilities;
use super::session::{DapSession, Phase};
use super::stops::StopReason;
use super::travel::Asked;
use xhist_history::recording::{Direction, Motion, Recording, StepId};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeArgs {
    #[serde(default = "yes")]
    lines_start_at1: bool,
    #[serde(default = "yes")]
    columns_start_at1: bool,
    path_format: Option<String>,
    #[serde(default)]
    supports_variable_type: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MoveArgs {
    thread_id: i64,
    granularity: Option<String>,
}

#[derive(Deserialize)]
struct GotoTargetsArgs {
    source: SourceArg,
    line: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GotoArgs {
    target_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameArgs {
    frame_id: i64,
}

impl DapSession {
    /// What the client can do, and what this adapter can.
    pub(super) fn initialize(&mut self, args: Value) -> Result<Reply, DapError> {
        let args: InitializeArgs = arguments(args)?;
        self.look.first_line = i64::from(args.lines_start_at1);
        self.look.first_column = i64::from(args.columns_start_at1);
        self.look.has_uris = args.path_format.as_deref() == Some("uri");
        self.look.shows_types = args.supports_variable_type;
        Ok(Reply::Body(capabilities()))
    }

    /// Opens a history. The response follows when the client has set its breakpoints.
    pub(super) fn open(&mut self, args: Value) -> Result<Reply, DapError> {
        if self.phase != Phase::New {
            return Err(DapError::new("a history is already open; disconnect first"));
        }
        let launch: LaunchArgs = arguments(args)?;
        launch.stop_at().map_err(DapError)?;
        let loading = (self.opener)(&launch).map_err(DapError)?;
        self.look.source_map =
            launch.source_map.iter().flatten().map(|(from, to)| (from.clone(), to.clone())).collect();
        // The longest directory is the most exact one.
        self.look.source_map.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        self.launch = launch;
        self.loading = Some(loading);
        self.is_complete = false;
        self.phase = Phase::Loading;
        self.choose_failures(&|_| true);
        Ok(Reply::Later)
    }

    /// The client has set its breakpoints: the session opens where the configuration says.
    pub(super) fn configuration_done(&mut self, recording: &Recording, _: Value) -> Result<Reply, DapError> {
        if self.phase != Phase::Configuring {
            return done();
        }
        self.respond_to_opening();
        let step = match self.launch.stop_at() {
            Ok(StopAt::Start) => Some(StepId(0)),
            Ok(StopAt::Number(number)) => recording.by_number(number),
            _ => recording.opening_step(),
        };
        self.move_to(recording, step.unwrap_or_default());
        self.answer_logpoints(recording);
        self.say_how_it_ended(recording);
        self.stopped(recording, StopReason::Opening);
        done()
    }

    fn step(
        &mut self,
        recording: &Recording,
        args: Value,
        motion: Motion,
        direction: Direction,
    ) -> Result<Reply, DapError> {
        let args: MoveArgs = arguments(args)?;
        let lane = DapSession::lane_of_thread(recording, args.thread_id)?;
        let asked = match args.granularity.as_deref() {
            Some("instruction") if motion != Motion::Out => {
                Asked { motion: Motion::Into, direction, by_line: false }
            }
            granularity => Asked { motion, direction, by_line: granularity == Some("line") },
        };
        self.travel(recording, lane, asked);
        done()
    }

    /// To the next line, over calls.
    pub(super) fn next(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        self.step(recording, args, Motion::Over, Direction::Forward)
    }

    /// To the next statement, also in another call.
    pub(super) fn step_in(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        self.step(recording, args, Motion::Into, Direction::Forward)
    }

    /// Behind the call.
    pub(super) fn step_out(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        self.step(recording, args, Motion::Out, Direction::Forward)
    }

    /// To the line before, over calls.
    pub(super) fn step_back(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        self.step(recording, args, Motion::Over, Direction::Back)
    }

    /// To the next breakpoint.
    pub(super) fn go_forward(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let _: MoveArgs = arguments(args)?;
        self.go(recording, Direction::Forward);
        body(&json!({"allThreadsContinued": true}))
    }

    /// To the breakpoint before.
    pub(super) fn go_back(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let _: MoveArgs = arguments(args)?;
        self.go(recording, Direction::Back);
        done()
    }

    /// Stops the wait for more.
    pub(super) fn pause(&mut self, recording: &Recording, _: Value) -> Result<Reply, DapError> {
        self.clear_interrupt();
        let step = if self.phase == Phase::Running { recording.last().unwrap_or_default() } else { self.at };
        let (sent, was_running) = (self.sent(), self.phase == Phase::Running);
        self.jump(recording, step, StopReason::Pause);
        if !was_running {
            self.announce_move(sent);
        }
        done()
    }

    /// The times that a line ran.
    pub(super) fn goto_targets(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: GotoTargetsArgs = arguments(args)?;
        let line = self.look.own_line(args.line);
        let files = self.look.files(recording, &args.source);
        let place = files.first().and_then(|file| self.line_place(recording, *file, line));
        let Some(place) = place else { return body(&json!({"targets": []})) };
        let index = &self.points.index;
        let first = match index.count(&place, StepId(0)) {
            0 => index.next(&place, StepId(0), Direction::Forward),
            _ => Some(StepId(0)),
        };
        let found = [
            ("previous time", index.next(&place, self.at, Direction::Back)),
            ("next time", index.next(&place, self.at, Direction::Forward)),
            ("first time", first),
            ("last time", index.next(&place, StepId(u32::MAX), Direction::Back)),
        ];
        let mut targets: Vec<Value> = Vec::new();
        for (name, step) in found {
            let Some(step) = step else { continue };
            let id = self.handles.number(Handle::Target(step))?;
            let label = format!("{name}: step {}", recording.number(step));
            // The first time may be the previous one too.
            if targets.iter().all(|target| target["id"] != id) {
                targets.push(json!({"id": id, "label": label, "line": args.line}));
            }
        }
        body(&json!({"targets": targets}))
    }

    /// To one of these times.
    pub(super) fn goto(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: GotoArgs = arguments(args)?;
        match self.handles.get(args.target_id) {
            Some(Handle::Target(step)) => self.jump(recording, step, StopReason::Goto),
            _ => return Err(DapError::new("the target is of an earlier stop; ask for `gotoTargets` again")),
        }
        done()
    }

    /// To the first step.
    pub(super) fn restart(&mut self, recording: &Recording, _: Value) -> Result<Reply, DapError> {
        self.jump(recording, StepId(0), StopReason::End("start"));
        done()
    }

    /// To the entry of a call.
    pub(super) fn restart_frame(&mut self, recording: &Recording, args: Value) -> Result<Reply, DapError> {
        let args: FrameArgs = arguments(args)?;
        let (_, frame) = self.frame(recording, args.frame_id)?;
        let call = frame.call.and_then(|call| recording.call(call));
        let call = call.ok_or_else(|| DapError::new("the entry of this call was not recorded"))?;
        self.jump(recording, call.first, StopReason::Restart);
        done()
    }

    /// Whatever goes on ends.
    pub(super) fn cancel(&mut self, _: Value) -> Result<Reply, DapError> {
        self.clear_interrupt();
        done()
    }

    /// The client leaves the history.
    pub(super) fn terminate(&mut self, _: Value) -> Result<Reply, DapError> {
        self.clear_interrupt();
        self.close();
        done()
    }

    /// The client leaves.
    pub(super) fn disconnect(&mut self, _: Value) -> Result<Reply, DapError> {
        self.close();
        self.phase = Phase::Over;
        done()
    }

    fn close(&mut self) {
        if let Some((seq, command)) = self.opening.take() {
            self.send(Outgoing::Response(seq, command, Err(DapError::new("cancelled"))));
        }
        if self.loading.take().is_some() {
            self.send(Outgoing::Event("terminated", json!({})));
        }
        self.handles.clear();
        self.stacks.clear();
        self.points = Default::default();
        self.phase = Phase::New;
    }
}
