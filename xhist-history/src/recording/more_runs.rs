//! How often steps ran: a statement that the recorder folded ran more often than it has steps.

use std::collections::HashMap;

use super::{EventKind, LaneId, RecordedStep, Recording, SiteId, StepId};

/// How often steps ran besides the once that they are there.
#[derive(Debug, Default)]
pub struct MoreRuns(HashMap<StepId, u64>);

impl MoreRuns {
    /// Those of a recording.
    pub fn of(recording: &Recording) -> MoreRuns {
        let mut more: HashMap<StepId, u64> = HashMap::new();
        for (index, step) in recording.steps().enumerate() {
            let RecordedStep::Event(event) = step else { continue };
            let Some(EventKind::Repetition { statements, times }) =
                recording.events.get(event as usize).map(|event| event.kind)
            else {
                continue;
            };
            let id = StepId(index as u32);
            let LaneId(lane) = recording.lane_of(id);
            let Some(lane) = recording.lanes.get(lane as usize) else { continue };
            let before = lane.steps.partition_point(|other| *other < id);
            let is_statement =
                |step: &&StepId| matches!(recording.step(**step), Some(RecordedStep::Statement(_)));
            let statements = usize::try_from(statements).unwrap_or(usize::MAX);
            for step in lane.steps[..before].iter().rev().filter(is_statement).take(statements) {
                let runs = more.entry(*step).or_default();
                *runs = runs.saturating_add(times);
            }
        }
        MoreRuns(more)
    }

    /// How often a step ran.
    pub fn runs(&self, step: StepId) -> u64 {
        self.0.get(&step).copied().unwrap_or_default().saturating_add(1)
    }

    /// How often the sites of a recording ran.
    pub fn of_sites(&self, recording: &Recording) -> Vec<u64> {
        let mut runs = vec![0u64; recording.sites.len()];
        for (index, step) in recording.steps().enumerate() {
            if let RecordedStep::Statement(SiteId(site)) = step
                && let Some(runs) = runs.get_mut(site as usize)
            {
                *runs = runs.saturating_add(self.runs(StepId(index as u32)));
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::RecordingSample;

    #[test]
    fn folded_statements_ran_more_often() {
        let mut sample = RecordingSample::default();
        sample.line(1);
        sample.line(2);
        sample.line(3);
        sample.event(EventKind::Repetition { statements: 2, times: 9 }, "... lines 2-3 x 9");
        let more = MoreRuns::of(&sample.recording);
        assert_eq!([0, 1, 2].map(|step| more.runs(StepId(step))), [1, 10, 10]);
        assert_eq!(more.of_sites(&sample.recording).iter().sum::<u64>(), 21);
    }
}
