//! The steps of each statement and the entries of each function: where breakpoints are hit, without a walk through the history.

use xhist_history::recording::{
    Direction, EventKind, FunctionId, RecordedStep, Recording, SiteId, StepId, nearest,
};

/// The steps of statements, entries and failures, each rising.
#[derive(Debug, Default)]
pub struct HitIndex {
    by_site: Vec<Vec<StepId>>,
    by_function: Vec<Vec<StepId>>,
    panics: Vec<StepId>,
    signals: Vec<StepId>,
    steps: usize,
    calls: usize,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HitPlace {
    /// One of these statements.
    Sites(Vec<SiteId>),
    /// The entry of one of these functions.
    Entries(Vec<FunctionId>),
    /// A panic.
    Panics,
    /// A signal.
    Signals,
}

impl HitIndex {
    /// Adds what a recording has got since the last time.
    pub fn grow(&mut self, recording: &Recording) {
        self.by_site.resize_with(recording.sites.len().max(self.by_site.len()), Vec::new);
        self.by_function.resize_with(recording.functions.len().max(self.by_function.len()), Vec::new);
        for index in self.steps..recording.len() {
            let id = StepId(index as u32);
            match recording.step(id) {
                Some(RecordedStep::Statement(site)) => {
                    if let Some(steps) = self.by_site.get_mut(site.0 as usize) {
                        steps.push(id);
                    }
                }
                Some(RecordedStep::Event(_)) => match recording.event(id).map(|event| event.kind) {
                    Some(EventKind::Panic) => self.panics.push(id),
                    Some(EventKind::Signal) => self.signals.push(id),
                    _ => {}
                },
                None => {}
            }
        }
        self.steps = recording.len();
        for call in recording.calls.get(self.calls..).unwrap_or_default() {
            if !call.is_resumed
                && !call.entered_before
                && let Some(steps) = self.by_function.get_mut(call.function.0 as usize)
            {
                steps.push(call.first);
            }
        }
        self.calls = recording.calls.len();
    }

    /// The nearest hit behind or before a step.
    pub fn next(&self, place: &HitPlace, from: StepId, direction: Direction) -> Option<StepId> {
        let found = self.lists(place).filter_map(|steps| nearest(steps, from, direction));
        match direction {
            Direction::Forward => found.min(),
            Direction::Back => found.max(),
        }
    }

    /// How often it was hit up to a step.
    pub fn count(&self, place: &HitPlace, until: StepId) -> u64 {
        self.lists(place).map(|steps| steps.partition_point(|step| *step <= until) as u64).sum()
    }

    fn lists<'i>(&'i self, place: &'i HitPlace) -> Box<dyn Iterator<Item = &'i [StepId]> + 'i> {
        match place {
            HitPlace::Sites(sites) => {
                Box::new(sites.iter().filter_map(|site| Some(self.by_site.get(site.0 as usize)?.as_slice())))
            }
            HitPlace::Entries(functions) => Box::new(
                functions.iter().filter_map(|id| Some(self.by_function.get(id.0 as usize)?.as_slice())),
            ),
            HitPlace::Panics => Box::new(std::iter::once(self.panics.as_slice())),
            HitPlace::Signals => Box::new(std::iter::once(self.signals.as_slice())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::recording::RecordingSample;

    #[test]
    fn hits_are_found_in_both_directions_and_counted() {
        let sample = RecordingSample::calls();
        let mut index = HitIndex::default();
        index.grow(&sample.recording);
        index.grow(&sample.recording);
        let line = sample.recording.sites.iter().position(|site| site.line == 10).unwrap();
        let line = HitPlace::Sites(vec![SiteId(line as u32)]);
        let leaf = HitPlace::Entries(vec![FunctionId(1)]);
        for place in [&line, &leaf] {
            assert_eq!(index.next(place, StepId(0), Direction::Forward), Some(StepId(2)));
            assert_eq!(index.next(place, StepId(2), Direction::Forward), Some(StepId(4)));
            assert_eq!(index.next(place, StepId(4), Direction::Forward), None);
            assert_eq!(index.next(place, StepId(4), Direction::Back), Some(StepId(2)));
            assert_eq!((index.count(place, StepId(1)), index.count(place, StepId(9))), (0, 2));
        }
        assert_eq!(index.next(&HitPlace::Panics, StepId(0), Direction::Forward), None);
    }
}
