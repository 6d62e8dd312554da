//! A failure as an annotation shows it: the statement that ran last in the user's code, and how the program came there.

use xhist_history::recording::{Recording, SiteId, StepId};

/// Calls that a message names.
const FRAMES: usize = 8;

/// A test or a process that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnotatedFailure {
    /// Its name.
    pub name: String,
    /// `failed`, `died of SIGSEGV (signal 11)`.
    pub how: String,
    /// Its failing statement; `None` if nothing is recorded.
    pub place: Option<FailurePlace>,
    /// The statement and its callers, the innermost first: `src/lib.rs:15 twice_next: next * 2`.
    pub stack: Vec<String>,
    /// The newest statement of a call that had ended, if that ran behind the failing one; else empty.
    pub before: String,
    /// The command that shows its history.
    pub history: String,
}

/// Where a failure is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailurePlace {
    /// Path of the file in the map.
    pub path: String,
    /// The line.
    pub line: u32,
}

impl AnnotatedFailure {
    /// Takes the failing statement from a history: the innermost one in code that is not of a dependency. Returns are not
    /// recorded: behind the last statement of a function, a check in its caller fails rather than that statement.
    #[must_use]
    pub fn at_end_of(self, recording: &Recording) -> AnnotatedFailure {
        let Some(step) = recording.opening_step() else { return self };
        let frames = recording.failing_stack(step);
        let sites: Vec<SiteId> = frames.iter().filter_map(|frame| frame.site).collect();
        let newest = recording.site_at(step).filter(|newest| sites.first() != Some(newest));
        let before = newest.and_then(|site| frame(recording, step, site)).unwrap_or_default();
        let is_own = |site: &&SiteId| recording.file_of(**site).is_some_and(|file| !file.is_dependency);
        let failing = sites.iter().find(is_own).or(sites.first());
        let place = failing.and_then(|site| {
            let path = recording.file_of(*site)?.path.clone();
            Some(FailurePlace { path, line: recording.site(*site)?.line })
        });
        let mut stack: Vec<String> =
            sites.iter().take(FRAMES).filter_map(|site| frame(recording, step, *site)).collect();
        let more = sites.len().saturating_sub(FRAMES);
        if more > 0 {
            stack.push(format!("... {more} more calls"));
        }
        AnnotatedFailure { place, stack, before, ..self }
    }

    /// The title of the annotation.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.how)
    }

    /// The text of the annotation.
    pub fn message(&self) -> String {
        let ran = self.stack.iter().enumerate().map(|(index, line)| match index {
            0 => format!("failed here: {line}"),
            _ => format!("called from {line}"),
        });
        let before = (!self.before.is_empty()).then(|| format!("newest statement: {}", self.before));
        let history = (!self.history.is_empty()).then(|| format!("its history: {}", self.history));
        ran.chain(before).chain(history).collect::<Vec<_>>().join("\n")
    }
}

/// A statement of the stack in one line, with the values recorded behind it.
fn frame(recording: &Recording, step: StepId, site: SiteId) -> Option<String> {
    let (file, line) = (recording.file_of(site)?, recording.site(site)?.line);
    let text = file.line(line).filter(|_| !file.is_from_map).map_or("", str::trim);
    let function = recording.function_of(site);
    let is_here = recording.site_at(step) == Some(site);
    let values = recording.values_at(step).iter().filter(|_| is_here);
    let values: Vec<String> = values
        .map(|value| format!("{} = {}", recording.strings.get(value.name), recording.strings.get(value.text)))
        .collect();
    let values = if values.is_empty() { String::new() } else { format!("  ({})", values.join(", ")) };
    Some(format!("{}:{line} {function}: {text}{values}", file.path).trim_end_matches([' ', ':']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::recording::{EventKind, RecordingSample};

    #[test]
    fn the_failing_statement_is_the_last_one_before_the_panic() {
        let mut sample = RecordingSample::default();
        for line in [1, 2, 10] {
            sample.line(line);
        }
        sample.event(EventKind::Panic, "panicked here");
        sample.call(0, (0, 3), None);
        sample.call(1, (2, 3), Some(0));
        let failure =
            AnnotatedFailure { name: "a_test".into(), how: "failed".into(), ..AnnotatedFailure::default() };
        let failure = failure.at_end_of(&sample.recording);
        assert_eq!(failure.place, Some(FailurePlace { path: "src/main.rs".into(), line: 10 }));
        assert_eq!(failure.stack, ["src/main.rs:10 leaf: line 10", "src/main.rs:2 main: line 2"]);
    }
}
