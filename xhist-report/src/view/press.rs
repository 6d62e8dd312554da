//! What each key does to the state of the view.

use std::path::PathBuf;

use super::index::ViewIndex;
use super::keys::{Action, action};
use super::layout::page;
use super::panes::{Scene, looked_at, rows, step_of};
use super::row::RowTarget;
use super::search::Search;
use super::state::{LetterUse, Mode, PaneId, Prompt, ViewState};
use super::whole::WholeAnswer;
use xhist_history::notes::typed;
use xhist_history::recording::{Cursor, Direction, Motion, Recording, SiteId, StepId};

/// Columns of a move sideways.
const SHIFT: usize = 8;
/// How often the axis of time can be halved.
const MAX_AXIS: u32 = 30;

/// What the caller has to do after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Draw.
    Draw,
    /// Draw every cell again.
    Redraw,
    /// Open a file at a line.
    Edit(PathBuf, u32),
    /// Stop until the shell continues the process.
    Suspend,
    /// End.
    Quit,
}

impl ViewState {
    /// Does what a key says.
    pub fn press(&mut self, key: &str, recording: &Recording, index: &ViewIndex) -> Effect {
        self.message.clear();
        let mode = std::mem::replace(&mut self.mode, Mode::Keys);
        let mut press = Press { state: self, recording, index };
        match mode {
            Mode::Keys => press.key(key),
            // Ctrl-C ends the view whatever is shown.
            _ if action(key) == Some(Action::Quit) && key.starts_with("Ctrl-") => Effect::Quit,
            Mode::Help => Effect::Draw,
            Mode::Whole(answer) => press.answering(answer, key),
            Mode::Typing(prompt, text) => press.typed(prompt, text, key),
            Mode::Letter(of) => press.letter(of, key),
        }
    }
}

/// A key that is being carried out.
struct Press<'p> {
    state: &'p mut ViewState,
    recording: &'p Recording,
    index: &'p ViewIndex,
}

impl Press<'_> {
    fn key(&mut self, key: &str) -> Effect {
        if let Ok(digit) = key.parse::<u8>()
            && key.len() == 1
            && (digit > 0 || self.state.count.is_some())
        {
            let count = self.state.count.unwrap_or_default().saturating_mul(10).saturating_add(digit.into());
            self.state.count = Some(count);
            return Effect::Draw;
        }
        let count = self.state.count.take();
        let Some(action) = action(key) else {
            self.state.message = format!("{key} does nothing; ? shows the keys");
            return Effect::Draw;
        };
        self.act(action, count)
    }

    fn act(&mut self, action: Action, count: Option<u64>) -> Effect {
        match action {
            Action::Go(motion, direction) => self.times(count, |press| press.go(motion, direction)),
            Action::SameLine(direction) => self.times(count, |press| press.same_line(direction)),
            Action::Continue(direction) => self.times(count, |press| press.go_on(direction)),
            Action::Match(direction) => self.times(count, |press| press.next_match(direction)),
            Action::Breakpoint => self.breakpoint(),
            Action::Thread(direction) => self.thread(direction),
            Action::Failure => self.state.go_to(self.state.opened),
            Action::Row(direction) => self.rows(direction, usize_of(count.unwrap_or(1))),
            Action::Page(direction) => self.rows(direction, page(self.state)),
            Action::End(direction) => match count {
                Some(number) => self.go_to_number(number),
                None => self.rows(direction, usize::MAX),
            },
            Action::Shift(Direction::Forward) => self.state.shift += SHIFT,
            Action::Shift(Direction::Back) => self.state.shift = self.state.shift.saturating_sub(SHIFT),
            Action::AskNumber => self.state.mode = Mode::Typing(Prompt::Number, String::new()),
            Action::AskText => self.state.mode = Mode::Typing(Prompt::Text, String::new()),
            Action::Mark => self.state.mode = Mode::Letter(LetterUse::Set),
            Action::GoToMark => self.state.mode = Mode::Letter(LetterUse::Go),
            Action::Pane(direction) => {
                let at = PaneId::ALL.iter().position(|pane| *pane == self.state.focus).unwrap_or_default();
                let len = PaneId::ALL.len();
                let step = if direction == Direction::Forward { 1 } else { len - 1 };
                self.state.focus(PaneId::ALL[(at + step) % len]);
            }
            Action::Zoom => self.state.is_zoomed = !self.state.is_zoomed,
            Action::Choose => self.choose(),
            Action::WholeCall => self.whole_call(),
            Action::Origin => self.origin(),
            Action::Axis(direction) => {
                let axis = self.state.axis;
                self.state.axis = match direction {
                    Direction::Forward => (axis + 1).min(MAX_AXIS),
                    Direction::Back => axis.saturating_sub(1),
                };
            }
            Action::Edit => return self.edit(),
            Action::Help => self.state.mode = Mode::Help,
            Action::Cancel => {}
            Action::Redraw => return Effect::Redraw,
            Action::Suspend => return Effect::Suspend,
            Action::Quit => return Effect::Quit,
        }
        Effect::Draw
    }

    /// Repeats a motion until it cannot go on.
    fn times(&mut self, count: Option<u64>, mut go: impl FnMut(&mut Self) -> bool) {
        for _ in 0..count.unwrap_or(1) {
            if !go(self) {
                break;
            }
        }
    }

    fn go(&mut self, motion: Motion, direction: Direction) -> bool {
        let mut cursor = Cursor::new(self.recording, self.state.step);
        let moved = cursor.go(motion, direction);
        match moved {
            true => self.state.go_to(cursor.step()),
            false => {
                let lane = self.recording.lane(cursor.lane()).map_or("", |lane| &lane.name);
                let (word, way) = match direction {
                    Direction::Forward => ("last", "a capital letter goes back"),
                    Direction::Back => ("first", "a small letter goes forward"),
                };
                self.state.message =
                    format!("this is the {word} statement of thread {lane} for this key; {way}");
            }
        }
        moved
    }

    /// The file and line that keys are about: the selected one of the source, else the current one.
    fn line(&self) -> Option<(u32, u32)> {
        let scene = self.scene();
        let site = self.recording.site(looked_at(&scene)?.site?)?;
        let selected = self.state.selected(PaneId::Source).map_or(site.line, |row| row as u32 + 1);
        Some((site.file, selected))
    }

    fn same_line(&mut self, direction: Direction) -> bool {
        let Some((file, line)) = self.line() else { return false };
        let sites = self.recording.line_sites(file, line);
        let found = self.index.nearest(&sites, self.state.step, direction);
        let (_, runs) = self.index.runs(&sites, self.state.step);
        self.arrive(found, || match (runs, direction) {
            (0, _) => format!("line {line} did not run in this history"),
            (_, Direction::Forward) => format!("line {line} does not run again; L goes to its previous run"),
            (_, Direction::Back) => format!("line {line} did not run before; l goes to its next run"),
        })
    }

    fn go_on(&mut self, direction: Direction) -> bool {
        let breakpoints = self.state.breakpoints.iter();
        let sites: Vec<SiteId> =
            breakpoints.flat_map(|(file, line)| self.recording.line_sites(*file, *line)).collect();
        let found = self.index.nearest(&sites, self.state.step, direction);
        self.arrive(found, || match (sites.is_empty(), direction) {
            (true, _) => "no breakpoint is on a line that ran; B sets one on this line".to_owned(),
            (_, Direction::Forward) => "no breakpoint is met after this; C goes back".to_owned(),
            (_, Direction::Back) => "no breakpoint is met before this; c goes forward".to_owned(),
        })
    }

    /// Goes to what was found, or says why nothing was.
    fn arrive(&mut self, found: Option<StepId>, why: impl FnOnce() -> String) -> bool {
        match found {
            Some(step) => self.state.go_to(step),
            None => self.state.message = why(),
        }
        found.is_some()
    }

    fn breakpoint(&mut self) {
        let Some((file, line)) = self.line() else { return };
        self.state.message = match self.state.breakpoints.remove(&(file, line)) {
            true => format!("the breakpoint on line {line} is removed"),
            false => {
                self.state.breakpoints.insert((file, line));
                let (_, runs) = self.index.runs(&self.recording.line_sites(file, line), self.state.step);
                format!("breakpoint on line {line}, which ran {runs} times; c and C go to it")
            }
        };
    }

    fn thread(&mut self, direction: Direction) {
        let lanes = &self.recording.lanes;
        let at = self.recording.lane_of(self.state.step).0 as usize;
        let others: Vec<usize> = (1..lanes.len()).map(|by| (at + by) % lanes.len()).collect();
        let has_steps = |lane: &&usize| !lanes[**lane].steps.is_empty();
        let next = match direction {
            Direction::Forward => others.iter().find(has_steps),
            Direction::Back => others.iter().rev().find(has_steps),
        };
        let found = next.and_then(|lane| step_of(&lanes[*lane], self.state.step));
        self.arrive(found, || "there is no other thread".to_owned());
    }

    fn go_to_number(&mut self, number: u64) {
        let found = self.recording.by_number(number);
        if self.arrive(found, String::new) && self.recording.number(self.state.step) != number {
            self.state.message = format!("there is no step {number}; this is the nearest one");
        }
    }

    fn rows(&mut self, direction: Direction, by: usize) {
        let pane = self.state.focus;
        let rows = rows(&self.scene(), pane, usize::from(self.state.size.0));
        let (len, selected) = (rows.len, rows.selected);
        drop(rows);
        let Some(last) = len.checked_sub(1) else { return };
        let row = match direction {
            Direction::Forward => selected.saturating_add(by).min(last),
            Direction::Back => selected.saturating_sub(by),
        };
        self.state.select(pane, row);
    }

    fn choose(&mut self) {
        let pane = self.state.focus;
        let rows = rows(&self.scene(), pane, usize::from(self.state.size.0));
        let target = if rows.len > 0 { (rows.row)(rows.selected).target } else { RowTarget::Nothing };
        drop(rows);
        match target {
            RowTarget::Step(step) => self.state.go_to(step),
            RowTarget::Frame(frame) => {
                self.times(Some(frame as u64), |press| press.go(Motion::Out, Direction::Back))
            }
            RowTarget::LastRun(path, line) => self.last_run(&path, line),
            RowTarget::Nothing if pane == PaneId::Source => {
                self.same_line(Direction::Back);
            }
            RowTarget::Nothing => self.state.message = "this row leads nowhere".to_owned(),
        }
    }

    fn whole_call(&mut self) {
        match looked_at(&self.scene()).and_then(|frame| frame.call) {
            Some(call) => {
                let answer = WholeAnswer::of_call(self.recording, call, self.state.step);
                self.state.mode = Mode::Whole(answer);
            }
            None => self.state.message = "the call of this step is not known".to_owned(),
        }
    }

    /// Of the selected row of Values, else of its first.
    fn origin(&mut self) {
        let call = looked_at(&self.scene()).and_then(|frame| frame.call);
        let values = self.recording.variables(call, self.state.step);
        let selected = self.state.selected(PaneId::Values).unwrap_or_default();
        let Some(value) = values.get(selected).or(values.first()).map(|variable| variable.value) else {
            let command = typed::command(format!("origin NAME@{}", self.recording.number(self.state.step)));
            self.state.message = format!("no value of this call is recorded; {command} goes by the sources");
            return;
        };
        let name = self.recording.strings.get(value.name);
        match WholeAnswer::of_value(self.recording, name, self.state.step) {
            Ok(answer) => self.state.mode = Mode::Whole(answer),
            Err(why) => self.state.message = why,
        }
    }

    /// A key while an answer is shown: chooses a row, goes to its step, or leaves.
    fn answering(&mut self, mut answer: WholeAnswer, key: &str) -> Effect {
        let last = answer.len().saturating_sub(1);
        let mut go = |direction, by: usize| {
            answer.selected = match direction {
                Direction::Forward => answer.selected.saturating_add(by).min(last),
                Direction::Back => answer.selected.saturating_sub(by),
            };
        };
        match action(key) {
            Some(Action::Row(direction)) => go(direction, 1),
            Some(Action::Page(direction)) => go(direction, page(self.state)),
            Some(Action::End(direction)) => go(direction, usize::MAX),
            Some(Action::Choose) => {
                match answer.step() {
                    Some(step) => self.state.go_to(step),
                    None => self.state.message = "this row leads nowhere".to_owned(),
                }
                return Effect::Draw;
            }
            _ => return Effect::Draw,
        }
        self.state.mode = Mode::Whole(answer);
        Effect::Draw
    }

    fn last_run(&mut self, path: &str, line: u32) {
        let files = self.recording.files.iter().enumerate().filter(|(_, file)| file.path == path);
        let sites: Vec<SiteId> =
            files.flat_map(|(file, _)| self.recording.line_sites(file as u32, line)).collect();
        let behind = StepId(self.recording.len() as u32);
        let found = self.index.nearest(&sites, behind, Direction::Back);
        if self.arrive(found, || format!("{path}:{line} did not run in this history")) {
            let (_, runs) = self.index.runs(&sites, self.state.step);
            self.state.message =
                format!("the last of {runs} runs of {path}:{line}; L goes to the one before");
        }
    }

    fn typed(&mut self, prompt: Prompt, mut text: String, key: &str) -> Effect {
        match key {
            "Esc" => return Effect::Draw,
            "Enter" if text.is_empty() && prompt == Prompt::Text => {
                self.next_match(Direction::Forward);
                return Effect::Draw;
            }
            "Enter" => {
                match prompt {
                    Prompt::Text => self.search(&text),
                    Prompt::Number => match text.trim().trim_start_matches('#').parse() {
                        Ok(number) => self.go_to_number(number),
                        Err(_) => self.search(text.trim()),
                    },
                }
                return Effect::Draw;
            }
            "Backspace" if text.pop().is_none() => return Effect::Draw,
            "Space" => text.push(' '),
            key if key.chars().count() == 1 => text.push_str(key),
            _ => {}
        }
        self.state.mode = Mode::Typing(prompt, text);
        Effect::Draw
    }

    fn search(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut search = Search::new(text, self.recording, self.index);
        let mut nearest = |direction| {
            search.direction = direction;
            search.nearest(self.index, self.state.step, direction)
        };
        let ahead = nearest(Direction::Forward);
        // Views open at the end, so there is often nothing ahead.
        let found = ahead.or_else(|| nearest(Direction::Back));
        self.state.search = Some(search);
        self.arrive(found, || {
            format!("{text:?} is in no other step: no line, place, function, event or value has it")
        });
        if ahead.is_none() && found.is_some() {
            self.state.message = "not found after this step, but before it; n goes on that way".to_owned();
        }
    }

    /// Goes on in the way of the search, or against it.
    fn next_match(&mut self, way: Direction) -> bool {
        let Some(search) = self.state.search.take() else {
            self.state.message = "no search yet; / asks for a text".to_owned();
            return false;
        };
        let search = search.renewed(self.recording, self.index);
        let direction = if way == Direction::Forward { search.direction } else { other(search.direction) };
        let found = search.nearest(self.index, self.state.step, direction);
        let text = search.text.clone();
        self.state.search = Some(search);
        self.arrive(found, || match way {
            Direction::Forward => format!("no further step has {text:?}; N goes the other way"),
            Direction::Back => format!("no further step has {text:?}; n goes the other way"),
        })
    }

    fn letter(&mut self, of: LetterUse, key: &str) -> Effect {
        let mut chars = key.chars();
        let (Some(letter), None) = (chars.next(), chars.next()) else { return Effect::Draw };
        match of {
            LetterUse::Set => {
                self.state.marks.insert(letter, self.state.step);
                self.state.message = format!("this step has the mark {letter}; '{letter} goes to it");
            }
            LetterUse::Go => {
                let found = self.state.marks.get(&letter).copied();
                self.arrive(found, || format!("no step has the mark {letter}; m{letter} sets it here"));
            }
        }
        Effect::Draw
    }

    fn edit(&mut self) -> Effect {
        let Some((file, line)) = self.line() else { return Effect::Draw };
        let Some(file) = self.recording.files.get(file as usize) else { return Effect::Draw };
        match &file.found {
            Some(path) => Effect::Edit(path.clone(), line),
            None => {
                self.state.message = format!(
                    "{} is not here or has changed; --source-root DIR looks for it below DIR",
                    file.path
                );
                Effect::Draw
            }
        }
    }

    fn scene(&self) -> Scene<'_> {
        Scene { recording: self.recording, index: self.index, state: self.state }
    }
}

fn other(direction: Direction) -> Direction {
    match direction {
        Direction::Forward => Direction::Back,
        Direction::Back => Direction::Forward,
    }
}

fn usize_of(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
