//! `--tasks`: the async tasks that have not ended, and where they are; and where tasks were cancelled.

use std::io;

use crate::format::entries::Totals;
use crate::options::Options;
use xhist_history::ExitCode;
use xhist_history::events::Step;
use xhist_history::events::context::Context;
use xhist_history::model::{Opening, Ring};
use xhist_history::reading::report::{Report, Summary};
use xhist_history::tasks::TaskTracker;

/// Follows tasks, and shows those that have not ended.
pub struct Tasks<'o> {
    options: &'o Options,
    tracker: TaskTracker,
    rings: Vec<Ring>,
}

impl<'o> Tasks<'o> {
    /// With the sources of these options.
    pub fn new(options: &'o Options) -> Tasks<'o> {
        Tasks { options, tracker: TaskTracker::new(&options.read), rings: Vec::new() }
    }
}

impl Report for Tasks<'_> {
    fn start(&mut self, opening: &Opening<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        self.rings = opening.rings.to_vec();
        if context.options.is_whole() {
            self.tracker.count(opening.rings);
        }
        Ok(())
    }

    fn step(&mut self, step: Step<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        let Step::Event(ring, event) = step else { return Ok(()) };
        if !event.gap.is_empty() {
            context.notes.missing(&event.gap, format_args!("{ring}: {}", event.gap));
        }
        self.tracker.gap(ring, &event.gap);
        if let Some(item) = &event.item {
            self.tracker.take(ring, item, context.maps);
        }
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary> {
        let tracker = std::mem::replace(&mut self.tracker, TaskTracker::new(context.options));
        let has_marks = tracker.has_marks();
        let tasks = tracker.summary(context.maps);
        match (has_marks, tasks.live.is_empty() && tasks.unlisted == 0) {
            (false, _) => context.notes.note(format_args!(
                "no async task is recorded here: no async body with an `.await` ran, or the build has `tasks` off"
            )),
            (true, true) if context.options.is_whole() => {
                context.notes.note(format_args!("every async task has ended"));
            }
            (true, true) => {
                context.notes.note(format_args!("every async task of the chosen statements has ended"));
            }
            (true, false) => {}
        }
        let mut format = self.options.make_format();
        let complete = context.notes.finish() == ExitCode::Complete;
        format.start(&Opening { rings: &self.rings, entries: 0 }, context.out)?;
        format.tasks(&tasks, context.out)?;
        format.finish(&Totals { entries: 0, complete }, context.out)?;
        context.out.flush()?;
        Ok(Summary { code: context.notes.finish(), entries: 0 })
    }
}
