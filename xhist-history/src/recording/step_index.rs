//! The steps of each site and of events, so that a view finds the next or previous run of a line at once.

use super::cursor::Direction;
use super::ids::{SiteId, StepId};
use super::table::{RecordedStep, Recording};

/// The steps of each site and of events.
#[derive(Clone, Debug, Default)]
pub struct StepIndex {
    by_site: Vec<Vec<StepId>>,
    events: Vec<StepId>,
    /// Steps that are part of it.
    seen: usize,
}

impl StepIndex {
    /// Adds the steps that are new since the last time.
    pub fn extend(&mut self, recording: &Recording) {
        for (index, step) in recording.steps().enumerate().skip(self.seen) {
            let id = StepId(index as u32);
            match step {
                RecordedStep::Event(_) => self.events.push(id),
                RecordedStep::Statement(SiteId(site)) => {
                    let site = site as usize;
                    if site >= self.by_site.len() {
                        self.by_site.resize_with(site + 1, Vec::new);
                    }
                    self.by_site[site].push(id);
                }
            }
        }
        self.seen = recording.len();
    }

    /// The steps that run a site, rising.
    pub fn runs(&self, site: SiteId) -> &[StepId] {
        self.by_site.get(site.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The steps of events, rising.
    pub fn events(&self) -> &[StepId] {
        &self.events
    }
}

/// The first of some rising steps behind another one, or the last before it.
pub fn nearest(steps: &[StepId], from: StepId, direction: Direction) -> Option<StepId> {
    match direction {
        Direction::Forward => steps.get(steps.partition_point(|step| *step <= from)).copied(),
        Direction::Back => {
            steps.partition_point(|step| *step < from).checked_sub(1).map(|index| steps[index])
        }
    }
}

impl Recording {
    /// The first statement of a line, of each function that has the line. A line with several statements ran once when all of
    /// them did.
    pub fn line_sites(&self, file: u32, line: u32) -> Vec<SiteId> {
        let of_line =
            || self.sites.iter().enumerate().filter(|(_, site)| (site.file, site.line) == (file, line));
        let first = of_line().map(|(_, site)| site.col).min();
        of_line().filter(|(_, site)| Some(site.col) == first).map(|(id, _)| SiteId(id as u32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::EventKind;
    use super::super::sample::RecordingSample;
    use super::*;

    #[test]
    fn runs_of_a_line_are_found_also_after_the_recording_grew() {
        let mut sample = RecordingSample::calls();
        let mut index = StepIndex::default();
        index.extend(&sample.recording);
        sample.event(EventKind::Panic, "panicked");
        sample.line(10);
        index.extend(&sample.recording);
        let sites = sample.recording.line_sites(0, 10);
        let runs = index.runs(sites[0]);
        assert_eq!((sites.len(), runs), (1, &[StepId(2), StepId(4), StepId(8)][..]));
        assert_eq!(index.events(), [StepId(7)]);
        let at = |from, direction| nearest(runs, StepId(from), direction).map(|step| step.0);
        assert_eq!((at(4, Direction::Forward), at(4, Direction::Back)), (Some(8), Some(2)));
        assert_eq!((at(8, Direction::Forward), at(2, Direction::Back)), (None, None));
    }
}
