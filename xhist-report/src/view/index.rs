//! What the view derives from a recording once, so that each key is answered at once.

use xhist_history::recording::{Direction, Recording, SiteId, StepId, StepIndex, nearest};

/// What the view derives from a recording.
#[derive(Clone, Debug, Default)]
pub struct ViewIndex {
    steps: StepIndex,
    /// Where the lines of each file start.
    lines: Vec<Vec<u32>>,
    tasks: Vec<TaskLane>,
    /// Task spans that are part of it.
    spans: usize,
}

/// An async task, with its places among [`Recording::task_spans`].
#[derive(Clone, Debug)]
pub struct TaskLane {
    /// Its number, and the process id of its lanes.
    pub key: (u32, u32),
    /// Its spans.
    pub spans: Vec<usize>,
}

impl ViewIndex {
    /// Adds what is new since the last time.
    pub fn extend(&mut self, recording: &Recording) {
        self.steps.extend(recording);
        for file in recording.files.iter().skip(self.lines.len()) {
            let text = file.text.as_deref().unwrap_or_default();
            let starts = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
            let starts = std::iter::once(0).chain(starts).filter(|start| (*start as usize) < text.len());
            self.lines.push(starts.collect());
        }
        for (index, span) in recording.task_spans.iter().enumerate().skip(self.spans) {
            let pid = recording.lane(span.lane).map_or(0, |lane| lane.pid);
            let key = (pid, span.task);
            match self.tasks.binary_search_by_key(&key, |task| task.key) {
                Ok(found) => self.tasks[found].spans.push(index),
                Err(place) => self.tasks.insert(place, TaskLane { key, spans: vec![index] }),
            }
        }
        self.spans = recording.task_spans.len();
    }

    /// The async tasks, by their numbers.
    pub fn tasks(&self) -> &[TaskLane] {
        &self.tasks
    }

    /// The steps of events.
    pub fn events(&self) -> &[StepId] {
        self.steps.events()
    }

    /// How many lines of a file there are.
    pub fn line_count(&self, file: u32) -> usize {
        self.lines.get(file as usize).map_or(0, Vec::len)
    }

    /// A line of a file, counted from 1; empty if it is not there.
    pub fn line<'r>(&self, recording: &'r Recording, file: u32, line: u32) -> &'r str {
        let found = || {
            let text = recording.files.get(file as usize)?.text.as_deref()?;
            let start = *self.lines.get(file as usize)?.get((line as usize).checked_sub(1)?)?;
            text.get(start as usize..)?.lines().next()
        };
        found().unwrap_or_default()
    }

    /// The nearest step that runs one of the sites.
    pub fn nearest(&self, sites: &[SiteId], from: StepId, direction: Direction) -> Option<StepId> {
        let found = sites.iter().filter_map(|site| nearest(self.steps.runs(*site), from, direction));
        match direction {
            Direction::Forward => found.min(),
            Direction::Back => found.max(),
        }
    }

    /// How often the sites ran up to a step, and in all.
    pub fn runs(&self, sites: &[SiteId], step: StepId) -> (usize, usize) {
        sites.iter().map(|site| self.steps.runs(*site)).fold((0, 0), |(before, all), runs| {
            (before + runs.partition_point(|run| *run <= step), all + runs.len())
        })
    }
}
