//! A position in a recording, and the motions of a debugger from there, forward and back.

use super::ids::{CallId, LaneId, SiteId, StepId};
use super::span::CallSpan;
use super::table::{RecordedStep, Recording};

/// The way of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To newer steps.
    Forward,
    /// To older steps.
    Back,
}

/// How far a motion goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Motion {
    /// To the next statement of the thread, also in another call.
    Into,
    /// To the next line of this call, or of the one that it returns to: over calls.
    Over,
    /// Forward behind the call; back to the statement that entered it.
    Out,
    /// To the next statement of any thread.
    Step,
}

/// A position in a recording.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'r> {
    recording: &'r Recording,
    step: StepId,
}

impl<'r> Cursor<'r> {
    /// At a step; at the newest one, if there is no such step.
    pub fn new(recording: &'r Recording, step: StepId) -> Cursor<'r> {
        Cursor { recording, step: recording.last().map_or(step, |last| step.min(last)) }
    }

    /// Where it is.
    pub fn step(&self) -> StepId {
        self.step
    }

    /// Its lane.
    pub fn lane(&self) -> LaneId {
        self.recording.lane_of(self.step)
    }

    /// Moves. `false`, and no move, at the end of the history.
    pub fn go(&mut self, motion: Motion, direction: Direction) -> bool {
        let found = match motion {
            Motion::Step => self.nearest(direction, &mut |_, _| true),
            Motion::Into => self.in_lane(direction, &mut |_, _| true),
            Motion::Over => self.over(direction),
            Motion::Out => self.out(direction),
        };
        self.step = found.unwrap_or(self.step);
        found.is_some()
    }

    /// Moves to the next or previous statement for which `is_it` holds, in any lane. Without one it returns `false` and stays.
    pub fn find(&mut self, direction: Direction, is_it: &mut dyn FnMut(StepId, SiteId) -> bool) -> bool {
        let found = self.nearest(direction, is_it);
        self.step = found.unwrap_or(self.step);
        found.is_some()
    }

    /// Moves to the next or previous time that the current line runs, in any lane.
    pub fn same_line(&mut self, direction: Direction) -> bool {
        let Some(here) = self.recording.site_at(self.step).and_then(|site| self.recording.site(site)) else {
            return false;
        };
        let (file, line) = (here.file, here.line);
        // A line with several statements ran once when all of them did.
        let first = self.recording.sites.iter().filter(|site| (site.file, site.line) == (file, line));
        let first = first.map(|site| site.col).min().unwrap_or_default();
        let recording = self.recording;
        self.find(direction, &mut |_, site| {
            recording.site(site).is_some_and(|site| (site.file, site.line, site.col) == (file, line, first))
        })
    }

    /// The nearest statement of all lanes that is chosen.
    fn nearest(&self, direction: Direction, is_it: &mut dyn FnMut(StepId, SiteId) -> bool) -> Option<StepId> {
        let mut chosen = |index: u32| match self.recording.step(StepId(index)) {
            Some(RecordedStep::Statement(site)) => is_it(StepId(index), site),
            _ => false,
        };
        let found = match direction {
            Direction::Forward => (self.step.0 + 1..self.recording.len() as u32).find(|index| chosen(*index)),
            Direction::Back => (0..self.step.0).rev().find(|index| chosen(*index)),
        };
        found.map(StepId)
    }

    /// The nearest statement of this lane that is chosen.
    fn in_lane(&self, direction: Direction, is_it: &mut dyn FnMut(StepId, SiteId) -> bool) -> Option<StepId> {
        let lane = self.recording.lane(self.lane())?;
        let behind = lane.steps.partition_point(|step| *step <= self.step);
        let before = lane.steps.partition_point(|step| *step < self.step);
        let mut chosen = |step: &&StepId| match self.recording.step(**step) {
            Some(RecordedStep::Statement(site)) => is_it(**step, site),
            _ => false,
        };
        match direction {
            Direction::Forward => lane.steps[behind..].iter().find(|step| chosen(step)).copied(),
            Direction::Back => lane.steps[..before].iter().rev().find(|step| chosen(step)).copied(),
        }
    }

    /// The nearest line of this call, or what is behind or before it in its caller. An async body goes on where its task does.
    fn over(&self, direction: Direction) -> Option<StepId> {
        let recording = self.recording;
        let own: Vec<CallId> = recording.ancestors(recording.call_at(self.step)).map(|(id, _)| id).collect();
        let task = own.first().and_then(|call| recording.call(*call)).filter(|call| call.task.is_some());
        let mut at = *self;
        loop {
            let Some(next) = at.in_lane(direction, &mut |_, _| true) else {
                return task.and_then(|call| self.task_goes_on(call, direction));
            };
            at.step = next;
            let there: Vec<CallId> = recording.ancestors(recording.call_at(next)).map(|(id, _)| id).collect();
            if there.first() == own.first() {
                if self.is_other_line(next, direction) {
                    return Some(next);
                }
                continue;
            }
            if there.first().is_none_or(|call| own.contains(call)) {
                return Some(next);
            }
            // The outermost call that is not around this one.
            let others = there.iter().take_while(|call| !own.contains(call));
            let Some(other) = others.last().and_then(|call| recording.call(*call)) else { return Some(next) };
            if other.parent.is_none() {
                return task.and_then(|call| self.task_goes_on(call, direction)).or(Some(next));
            }
            at.step = match direction {
                Direction::Forward => other.last,
                Direction::Back => other.first,
            };
        }
    }

    /// Whether a statement of the same call is in another line, or begins the line again.
    fn is_other_line(&self, next: StepId, direction: Direction) -> bool {
        let site = |step| self.recording.site_at(step).and_then(|site| self.recording.site(site));
        let Some((from, to)) = site(self.step).zip(site(next)) else { return true };
        let is_again = match direction {
            Direction::Forward => to.col <= from.col,
            Direction::Back => to.col >= from.col,
        };
        (from.file, from.line) != (to.file, to.line) || is_again
    }

    /// The step where a parked async body goes on, or from where it came, in any lane.
    fn task_goes_on(&self, call: &CallSpan, direction: Direction) -> Option<StepId> {
        let calls = &self.recording.calls;
        let is_it = |other: &&CallSpan| (other.task, other.function) == (call.task, call.function);
        match direction {
            Direction::Forward => {
                let behind = calls.partition_point(|other| other.first <= call.last);
                calls[behind..].iter().find(is_it).map(|other| other.first)
            }
            Direction::Back => {
                let before = calls.partition_point(|other| other.first < call.first);
                let found = calls[..before].iter().rev().find(is_it)?;
                let own = |step: &&StepId| {
                    let is_statement =
                        matches!(self.recording.step(**step), Some(RecordedStep::Statement(_)));
                    let of = self.recording.call_at(**step).and_then(|call| self.recording.call(call));
                    is_statement && of == Some(found)
                };
                let lane = self.recording.lane(found.lane)?;
                let steps = &lane.steps[..=lane.position(found.last)?];
                steps.iter().rev().find(own).copied()
            }
        }
    }

    /// The next statement behind this call, or the one that entered it.
    fn out(&self, direction: Direction) -> Option<StepId> {
        let recording = self.recording;
        let call = recording.call(recording.call_at(self.step)?)?;
        match direction {
            Direction::Forward => self.in_lane(direction, &mut |step, _| step > call.last),
            Direction::Back => self.in_lane(direction, &mut |step, _| {
                step < call.first && (call.parent.is_none() || recording.call_at(step) == call.parent)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::RecordingSample;
    use super::*;

    /// The lines that a motion passes from a step on.
    fn lines(sample: &RecordingSample, from: u32, motion: Motion, direction: Direction) -> Vec<u32> {
        let recording = &sample.recording;
        let mut cursor = Cursor::new(recording, StepId(from));
        let mut lines = Vec::new();
        while cursor.go(motion, direction) && lines.len() < 20 {
            lines.push(recording.site(recording.site_at(cursor.step()).unwrap()).unwrap().line);
        }
        lines
    }

    #[test]
    fn motions_go_into_over_and_out_of_calls() {
        // main (1, 2, 3) calls leaf (10, 11) in line 2, twice.
        let sample = RecordingSample::calls();
        use Direction::{Back, Forward};
        assert_eq!(lines(&sample, 0, Motion::Into, Forward), [2, 10, 11, 10, 11, 3]);
        assert_eq!(lines(&sample, 0, Motion::Over, Forward), [2, 3]);
        assert_eq!(lines(&sample, 6, Motion::Over, Back), [2, 1]);
        assert_eq!(lines(&sample, 6, Motion::Into, Back), [11, 10, 11, 10, 2, 1]);
        // Out of the first call of the leaf, and back to the statement that entered the second.
        assert_eq!(lines(&sample, 2, Motion::Out, Forward), [10, 3]);
        assert_eq!(lines(&sample, 5, Motion::Out, Back), [2]);
    }

    #[test]
    fn a_line_is_found_again_in_both_directions() {
        let sample = RecordingSample::calls();
        let mut cursor = Cursor::new(&sample.recording, StepId(2));
        assert!(cursor.same_line(Direction::Forward) && cursor.step() == StepId(4));
        assert!(!cursor.same_line(Direction::Forward) && cursor.step() == StepId(4));
        assert!(cursor.same_line(Direction::Back) && cursor.step() == StepId(2));
    }
}
