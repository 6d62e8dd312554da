//! Where threads and async tasks were when the history ended: the answer to why a program hangs.

use super::ids::{SiteId, StepId};
use super::table::Recording;
use crate::model::{LiveTask, TaskPlace};
use crate::notes::typed;

/// Lines of [`Recording::ends`] at most.
const MAX_LINES: usize = 20;

impl Recording {
    /// The place of a statement: `src/main.rs:7`.
    pub fn place(&self, site: SiteId) -> String {
        let file = self.file_of(site).map_or("?", |file| &file.path);
        format!("{file}:{}", self.site(site).map_or(0, |site| site.line))
    }

    /// The place and the text of a statement: `src/main.rs:7 parse: let x = 1;`.
    pub fn place_text(&self, site: SiteId) -> Option<String> {
        let (place, file) = (self.site(site)?, self.file_of(site)?);
        let text = file.line(place.line).unwrap_or_default();
        Some(joined(&file.path, place.line, self.function_of(site), text))
    }

    /// The async tasks that are parked: first those that await no other task, because they keep the others waiting.
    pub fn parked_tasks(&self) -> Vec<&LiveTask> {
        let live = self.tasks.iter().flat_map(|tasks| &tasks.live);
        let mut parked: Vec<&LiveTask> = live.filter(|task| task.parked).collect();
        parked.sort_by_key(|task| !task.is_leaf);
        parked
    }

    /// Whether a thread panicked, or a fatal signal was recorded, where a view opens.
    pub fn opens_at_failure(&self) -> bool {
        use super::event::EventKind::{Panic, Signal};
        let event = self.opening_step().and_then(|step| self.event(step));
        event.is_some_and(|event| matches!(event.kind, Panic | Signal))
    }

    /// The newest statement of each thread that has not ended, and of each parked task: a line each.
    pub fn ends(&self) -> Vec<String> {
        let has_ended = |status: &str| matches!(status, "ended" | "exited");
        let lanes = self.lanes.iter().filter(|lane| lane.interrupt == 0 && !has_ended(lane.status));
        let threads = lanes.filter_map(|lane| {
            let newest: StepId = *lane.steps.last()?;
            Some(format!("thread {}: {}", lane.name, self.place_text(self.site_at(newest)?)?))
        });
        let tasks = self.parked_tasks().into_iter().filter_map(|task| {
            let around = task.around.iter().map(|around| {
                let place = around.at.as_ref().map_or_else(String::new, |at| format!(" at {}", short(at)));
                format!(", {} by task {}{place}", around.link.name(), around.number)
            });
            let at = task.at.as_ref()?;
            Some(format!("parked task {}: {}{}", task.number, at.text(), around.collect::<String>()))
        });
        let mut lines: Vec<String> = threads.chain(tasks).take(MAX_LINES + 1).collect();
        if lines.len() > MAX_LINES {
            lines[MAX_LINES] =
                format!("more: {} lists tasks, `history --lanes` lists threads", typed::command("tasks"));
        }
        lines
    }
}

impl TaskPlace {
    /// The same for the statement of a task.
    pub fn text(&self) -> String {
        let path = self.path.as_deref().unwrap_or("?");
        joined(path, self.line, &self.function, self.source.as_deref().unwrap_or_default())
    }
}

fn short(at: &TaskPlace) -> String {
    format!("{}:{}", at.path.as_deref().unwrap_or("?"), at.line)
}

/// Empty parts are left out.
fn joined(path: &str, line: u32, function: &str, text: &str) -> String {
    let function = if function.is_empty() { String::new() } else { format!(" {function}") };
    let text = match text.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    };
    format!("{path}:{line}{function}{text}")
}

#[cfg(test)]
mod tests {
    use super::super::event::EventKind;
    use super::super::sample::RecordingSample;
    use crate::model::{LiveTask, TaskAround, TaskLink, TaskPlace, TaskSummary};

    fn task(number: u32, line: u32, around: Vec<TaskAround>, is_leaf: bool) -> LiveTask {
        let at = place(line);
        LiveTask {
            number,
            pid: 0,
            parked: true,
            or_parked_at: None,
            at: Some(at),
            thread: "main".to_owned(),
            interrupt: None,
            for_at_least: None,
            until: None,
            around,
            is_leaf,
            before: Vec::new(),
        }
    }

    fn place(line: u32) -> TaskPlace {
        TaskPlace { path: Some("src/main.rs".to_owned()), line, function: "leaf".to_owned(), source: None }
    }

    #[test]
    fn threads_and_parked_tasks_have_a_line_each() {
        let mut sample = RecordingSample::calls();
        let recording = &mut sample.recording;
        recording.lanes[0].status = "running or killed";
        let outer = TaskAround { number: 1, link: TaskLink::Awaits, at: Some(place(3)) };
        let live = vec![task(1, 3, Vec::new(), false), task(2, 11, vec![outer], true)];
        recording.tasks = Some(TaskSummary { live, ..TaskSummary::default() });
        assert_eq!(
            recording.ends(),
            [
                "thread main: src/main.rs:3 main: line 3",
                "parked task 2: src/main.rs:11 leaf, awaited by task 1 at src/main.rs:3",
                "parked task 1: src/main.rs:3 leaf",
            ]
        );
        recording.lanes[0].status = "ended";
        recording.tasks = None;
        assert!(recording.ends().is_empty() && !recording.opens_at_failure());
    }

    #[test]
    fn a_panic_is_a_failure_where_views_open() {
        let mut sample = RecordingSample::calls();
        sample.event(EventKind::Panic, "panicked");
        assert!(sample.recording.opens_at_failure());
    }

    #[test]
    fn a_crowd_of_threads_is_cut() {
        let mut sample = RecordingSample::calls();
        let lane = sample.recording.lanes[0].clone();
        sample.recording.lanes.extend(vec![lane; 30]);
        let lines = sample.recording.ends();
        assert!(lines.len() == 21 && lines[20].starts_with("more: "), "{lines:?}");
    }
}
