//! Travel through the history: motions of a thread, and the way to the next or previous breakpoint.

use super::handles::thread_id;
use super::message::DapError;
use super::patience::Interrupted;
use super::points::{HitRange, PointHit};
use super::session::{DapSession, Phase};
use super::stops::StopReason;
use xhist_history::recording::{Cursor, Direction, LaneId, Motion, RecordedStep, Recording, StepId};

/// A motion that a client asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// How far.
    pub motion: Motion,
    /// Which way.
    pub direction: Direction,
    /// Stay in the line: `line` steps go on to the next one.
    pub by_line: bool,
}

impl DapSession {
    /// The lane of a thread.
    pub(super) fn lane_of_thread(recording: &Recording, thread: i64) -> Result<LaneId, DapError> {
        let lanes = (0..recording.lanes.len() as u32).map(LaneId);
        let found = lanes.into_iter().find(|lane| i64::from(thread_id(*lane)) == thread);
        found.ok_or_else(|| DapError(format!("this history has no thread {thread}")))
    }

    /// The step where a lane is while the session is at its step; `None` before its first.
    pub(super) fn step_of_lane(&self, recording: &Recording, lane: LaneId) -> Option<StepId> {
        let lane = recording.lane(lane)?;
        Some(lane.steps[lane.position(self.at)?])
    }

    /// Moves the thread of a lane, and says where it came to.
    pub(super) fn travel(&mut self, recording: &Recording, lane: LaneId, asked: Asked) {
        let Some(from) = self.step_of_lane(recording, lane) else {
            // Its first step is still to come.
            let first = recording.lane(lane).and_then(|lane| lane.steps.first().copied());
            let (step, reason) = match (asked.direction, first) {
                (Direction::Forward, Some(first)) => (first, StopReason::Step),
                _ => (self.at, StopReason::End("start")),
            };
            self.move_to(recording, step);
            return self.stopped(recording, reason);
        };
        let direction = asked.direction;
        let search = || -> Result<(Option<StepId>, Option<PointHit>), Interrupted> {
            let target = self.target(recording, statement_before(recording, from, direction), asked)?;
            let range = HitRange { from, direction, until: target, lane: Some(lane) };
            Ok((target, self.points.nearest(recording, range, self.patience())?))
        };
        let target = match search() {
            Ok((target, None)) => target,
            Ok((_, Some(hit))) => {
                self.move_to(recording, hit.step);
                return self.stopped(recording, StopReason::Hit(hit));
            }
            Err(Interrupted) => return self.stopped(recording, StopReason::Pause),
        };
        let ends = recording.lane(lane).map(|lane| match direction {
            Direction::Forward => (lane.steps.last().copied(), "end"),
            Direction::Back => (lane.steps.first().copied(), "start"),
        });
        let (step, reason) = match (target, ends) {
            (Some(target), _) => (target, StopReason::Step),
            (None, Some((Some(end), name))) => (end, StopReason::End(name)),
            (None, _) => (from, StopReason::Step),
        };
        self.move_to(recording, step);
        self.stopped(recording, reason);
    }

    /// Where a motion ends, if no breakpoint is before that.
    fn target(
        &self,
        recording: &Recording,
        from: StepId,
        asked: Asked,
    ) -> Result<Option<StepId>, Interrupted> {
        let mut patience = self.patience();
        let mut cursor = Cursor::new(recording, from);
        let skips = self.launch.just_my_code.unwrap_or(true);
        let place = |step: StepId| {
            let site = recording.site_at(step).and_then(|site| recording.site(site));
            site.map(|site| (recording.call_at(step), site.file, site.line))
        };
        let start = place(from);
        loop {
            patience.step()?;
            if !cursor.go(asked.motion, asked.direction) {
                return Ok(None);
            }
            let here = place(cursor.step());
            let file = here.and_then(|(_, file, _)| recording.files.get(file as usize));
            let is_skipped = skips && file.is_some_and(|file| file.is_dependency);
            if !(is_skipped || asked.by_line && here == start) {
                return Ok(Some(cursor.step()));
            }
        }
    }

    /// Goes to the next or previous breakpoint of any thread, or to the end. At the end of a history that still grows it waits.
    pub(super) fn go(&mut self, recording: &Recording, direction: Direction) {
        let range = HitRange { from: self.at, direction, until: None, lane: None };
        match self.points.nearest(recording, range, self.patience()) {
            Ok(None) => {}
            Ok(Some(hit)) => {
                self.move_to(recording, hit.step);
                return self.stopped(recording, StopReason::Hit(hit));
            }
            Err(Interrupted) => return self.stopped(recording, StopReason::Pause),
        }
        match direction {
            Direction::Back => {
                self.move_to(recording, StepId(0));
                self.stopped(recording, StopReason::End("start"));
            }
            Direction::Forward => {
                self.move_to(recording, recording.last().unwrap_or_default());
                match self.is_complete {
                    true => self.stopped(recording, StopReason::End("end")),
                    false => self.phase = Phase::Running,
                }
            }
        }
    }

    /// Looks at what came since the session began to wait.
    pub(super) fn go_on(&mut self, recording: &Recording) {
        self.go(recording, Direction::Forward);
    }

    /// Goes to a step.
    pub(super) fn jump(&mut self, recording: &Recording, step: StepId, reason: StopReason) {
        self.move_to(recording, step);
        self.stopped(recording, reason);
    }
}

/// A step back from a panic is a step back from its statement: the statement itself is where the client already is.
fn statement_before(recording: &Recording, from: StepId, direction: Direction) -> StepId {
    let is_event = matches!(recording.step(from), Some(RecordedStep::Event(_)));
    if direction == Direction::Forward || !is_event {
        return from;
    }
    let mut cursor = Cursor::new(recording, from);
    cursor.go(Motion::Into, Direction::Back);
    cursor.step()
}
