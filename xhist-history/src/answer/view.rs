//! Chooses what of a thread's calls is shown in a few lines: the open calls with the statements that they are at, the suspects
//! where they ran last, then the calls and statements nearest to the end. Everything else is counted.

mod measure;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use self::measure::{count, own_statements, step};
use super::activations::Activations;
use super::code::{Code, ListedStatement};
use super::content::{CallContent, FoldedCall, current};
use crate::calls::BodyId;
use crate::model::SuspectLine;

/// Lines that one step adds to a call, about, and what a step adds where there is less room.
const STEP: usize = 6;
const SMALL_STEP: usize = 2;
/// Where there are fewer lines than these, only small steps are made: few lines go to what ran last, however deep it is.
const FEW_LINES: usize = 14;
/// Calls of one function in each other that are opened where they have ended.
const ENDED_RECURSION: usize = 2;
/// Functions of a recursion that is shown by its first and its last round.
const LONGEST_RECURSION: usize = 12;
/// Open calls shown at most: the outermost few, and the innermost.
const OUTERMOST: usize = 3;
/// Lines that a call counts as more distant if it is of a usual trait, or if another call of its function is shown.
const LESS_NEWS: usize = 8;
/// Functions named that ran in a folded call.
const NAMED: usize = 4;
/// The number that the parts of a loop have.
const LOOP: u64 = u64::MAX - 1;
/// The number of the call around what ran before the outermost open call.
const BEFORE: u64 = u64::MAX;
/// That of the call around what ran before the ring has overwritten something.
const EARLY: u64 = u64::MAX - 2;

/// Parts of the lines that suspects take at most, with the calls that lead to them: 3 of 4.
const FOR_SUSPECTS: (usize, usize) = (3, 4);

/// The last rank of the suspects that no fold hides.
const NEVER_FOLDED: usize = 3;

/// Lines that the first suspects take beyond those wanted, if there is no room.
const BEYOND: usize = 4;

/// The outline of the outermost open call takes this part of the lines before calls are opened.
const OUTLINE: usize = 3;

/// Interruptions that are shown at most, and the parts around each.
const INTERRUPTIONS: usize = 3;
const AROUND_INTERRUPTION: usize = 2;

/// What an answer should show.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// About this number of lines.
    pub lines: usize,
    /// Lines to show where they ran last, the most suspicious first.
    pub suspects: &'w [SuspectLine],
    /// The thread of a test, by its name: the statements of its function are an outline, and the suspects are marked.
    pub test: Option<&'w str>,
}

/// A line of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Calls around it that are shown.
    pub depth: usize,
    /// How often it ran in a row.
    pub times: u64,
    /// Its rank among the suspects.
    pub rank: Option<usize>,
    /// When its statements ran last.
    pub runs: Vec<u64>,
    /// When they ran first, in a loop that is one round.
    pub firsts: Vec<u64>,
    /// The first statement of a call whose beginning has no lines, and when it ran: the arguments are behind it.
    pub entry: Option<(ListedStatement, u64)>,
    /// Statements that ran in its calls and have no lines.
    pub inside: u64,
    /// The interrupt that began with it; 0 for none.
    pub interrupt: u16,
    /// The line of it that a frame of the panic names.
    pub frame: Option<u32>,
    /// What it shows.
    pub kind: RowKind,
}

impl Row {
    /// A line with nothing beside it.
    pub fn new(depth: usize, times: u64, kind: RowKind) -> Row {
        Row {
            depth,
            times,
            rank: None,
            runs: Vec::new(),
            firsts: Vec::new(),
            entry: None,
            inside: 0,
            interrupt: 0,
            frame: None,
            kind,
        }
    }
}

/// What a line shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A statement.
    Statement(ListedStatement),
    /// A call that has ended, with the number of its statements, and the functions in it that have most of them.
    Call(BodyId, u64, Vec<BodyId>),
    /// Statements of a package of another project.
    Package(String, u64),
    /// Statements before the next line, in that function, and the functions called there that have most of them.
    Earlier(Option<BodyId>, u64, Vec<BodyId>),
    /// Statements behind the line before, in the same call, and the functions called there that have most of them.
    Later(u64, Vec<BodyId>),
    /// This number of statements, counted back, ran again.
    Repeated(u64),
    /// The ring has overwritten what ran here.
    Overwritten,
    /// Open calls that are not shown, and their functions.
    Open(usize, Vec<BodyId>),
    /// A frame of the panic that the history has no statement of.
    NotRecorded(Hole),
}

/// A frame that the history has no statement of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// What the code is, such as `const fn`; empty without a name for it.
    pub what: String,
    /// The file as a listing names it, and the line.
    pub place: String,
}

/// The lines for this history, at most about as many as wanted.
pub fn rows(activations: &Activations<'_>, code: &Code, wanted: Wanted<'_>) -> Vec<Row> {
    let around = |id, body: &[CallContent]| {
        let mut call = FoldedCall::default();
        (call.id, call.body) = (id, body.to_vec());
        call
    };
    let (before, early) = (around(BEFORE, activations.ended()), around(EARLY, activations.early()));
    let functions = RefCell::default();
    // Without suspects the room is for what ran last, whatever called it.
    let test = wanted.test.filter(|_| !wanted.suspects.is_empty());
    let outline = test.and_then(|test| outline_of(activations.open(), code, test));
    let mut view = View {
        outline: outline.map(|call| call.id),
        checked: outline
            .filter(|call| activations.open().last().map(|last| last.id) == Some(call.id))
            .and_then(newest_call),
        code,
        before: &before,
        early: &early,
        open: activations.open(),
        shown: HashMap::new(),
        islands: HashMap::new(),
        wanted,
        functions,
    };
    for call in view.open {
        view.shown.insert(call.id, at_least(&call.body));
    }
    view.add_outline();
    view.add_interruptions(activations);
    view.add_suspects();
    let lines = wanted.lines;
    loop {
        let Drawn { rows, choices, .. } = view.draw();
        let fits = choices.iter().filter_map(|choice| {
            let mut steps = choice.steps.into_iter().skip(usize::from(lines < FEW_LINES));
            let (shown, cost) = steps.find(|(_, cost)| rows.len() + cost <= lines)?;
            let distance = rows.len() - choice.row.min(rows.len()) + cost;
            Some((distance + if choice.has_less_news { LESS_NEWS } else { 0 }, choice.call, shown))
        });
        let Some((_, call, shown)) = fits.min_by_key(|(distance, ..)| *distance) else { return rows };
        view.shown.insert(call, shown);
    }
}

/// The parts of an open call since the statement that it is at.
fn at_least(body: &[CallContent]) -> usize {
    let is_at = |part: &CallContent| matches!(part, CallContent::Line { .. } | CallContent::Loop(_));
    body.iter().rposition(is_at).map_or(body.len().min(1), |at| body.len() - at)
}

/// The functions of a recursion that the recorder folded: those that are open again, or else the first one.
fn recurring(open: &[FoldedCall]) -> Vec<BodyId> {
    let mut functions: Vec<BodyId> = open.iter().filter_map(|call| call.function).collect();
    let first = functions.first().copied();
    functions.sort_unstable();
    let again: BTreeSet<BodyId> =
        functions.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    if again.is_empty() { first.into_iter().collect() } else { again.into_iter().collect() }
}

/// The open call of a test's function: the outermost of its name, since code outside the program may have called it, or else
/// the outermost of all.
fn outline_of<'a>(open: &'a [FoldedCall], code: &Code, test: &str) -> Option<&'a FoldedCall> {
    let name = test.rsplit("::").next().unwrap_or_default();
    let is_named = |call: &&FoldedCall| call.function.is_some_and(|body| code.is_of(body, name));
    let outline = open.iter().find(is_named).or(open.first());
    outline.filter(|call| call.function.is_some_and(|function| code.package(function).is_none()))
}

/// The newest call that a body made and that has ended.
fn newest_call(call: &FoldedCall) -> Option<u64> {
    call.body.iter().rev().find_map(|part| match part {
        CallContent::Call(call) => Some(call.id),
        _ => None,
    })
}

struct View<'v> {
    /// The open call of the test: its statements are an outline, a line each, with what they called.
    outline: Option<u64>,
    /// The newest call in it, if none is open: what the failed check called.
    checked: Option<u64>,
    code: &'v Code,
    /// What ran before the outermost open call.
    before: &'v FoldedCall,
    /// What ran before the ring has overwritten something. Only suspects in it are shown.
    early: &'v FoldedCall,
    open: &'v [FoldedCall],
    /// Parts shown of each call, the newest; the others are folded.
    shown: HashMap<u64, usize>,
    /// Parts of each call that are shown before those.
    islands: HashMap<u64, BTreeSet<usize>>,
    wanted: Wanted<'v>,
    /// Functions whose statements are shown.
    functions: RefCell<HashSet<BodyId>>,
}

/// A part of the call of this number, and the parts around it.
type FoundPart = (u64, usize, RangeInclusive<usize>);

/// Lines, and what could be shown in addition.
#[derive(Default)]
struct Drawn {
    rows: Vec<Row>,
    choices: Vec<RowChoice>,
    /// The functions of the ended calls around the next row.
    around: Vec<Option<BodyId>>,
}

/// More of a call.
struct RowChoice {
    call: u64,
    /// Parts of it that are shown then, and the lines that this adds: a step, and a small one.
    steps: [(usize, usize); 2],
    /// Where.
    row: usize,
    has_less_news: bool,
}

impl View<'_> {
    fn draw(&self) -> Drawn {
        let mut drawn = Drawn::default();
        if self.islands.contains_key(&EARLY) {
            self.tail(self.early, 0, 1, &mut drawn);
            drawn.push(0, 1, RowKind::Overwritten);
        }
        self.tail(self.before, 0, 1, &mut drawn);
        let mut depth = 0;
        let mut left_out: Vec<&FoldedCall> = Vec::new();
        let is_shown = self.shown_open();
        for (index, call) in self.open.iter().enumerate() {
            if !is_shown[index] {
                left_out.push(call);
                continue;
            }
            if !left_out.is_empty() || call.folded > 0 {
                let mut functions: Vec<BodyId> = left_out.iter().filter_map(|call| call.function).collect();
                functions.sort_unstable();
                functions.dedup();
                let all = left_out.iter().chain([&call]);
                let folded: u64 = all.map(|call| call.folded).sum();
                if functions.is_empty() {
                    functions = recurring(&self.open[index..]);
                }
                drawn.push(depth, 1, RowKind::Open(left_out.len() + folded as usize, functions));
                left_out.clear();
                depth += 1;
            }
            // The innermost call is shown wherever it is.
            if let Some(package) = self.package(call).filter(|_| index + 1 < self.open.len()) {
                drawn.package(package, own_statements(call), depth);
                continue;
            }
            let row = drawn.rows.len();
            self.tail(call, depth, 1, &mut drawn);
            drawn.began(row, call);
            depth += 1;
        }
        drawn
    }

    /// Which open calls are shown: of a recursion its first and its last round, and of many the outermost and the innermost.
    fn shown_open(&self) -> Vec<bool> {
        let calls: Vec<_> = self.open.iter().map(|call| (call.function, current(&call.body))).collect();
        let repeats = |index: usize| {
            let is_inside = |round: &usize| index >= *round && index + round < calls.len();
            (1..=LONGEST_RECURSION)
                .filter(is_inside)
                .any(|round| calls[index] == calls[index - round] && calls[index] == calls[index + round])
        };
        // The recorder folded calls around this one: it is not the first round.
        let is_later = |index: usize| self.open[index].folded > 0 && calls.get(index + 1) == calls.get(index);
        let mut is_shown: Vec<bool> =
            (0..calls.len()).map(|index| !repeats(index) && !is_later(index)).collect();
        self.show_alone(&mut is_shown);
        let most = (self.wanted.lines / 2).max(OUTERMOST + 3);
        let shown: Vec<usize> = (0..calls.len()).filter(|index| is_shown[*index]).collect();
        if shown.len() > most {
            let at = |index: usize| calls[index].1.map(|statement| self.code.place(statement));
            let rank = |index: usize| at(index).and_then(|(file, span)| self.rank((file, span.line)));
            let is_first = |index: usize| rank(index).is_some_and(|rank| rank <= NEVER_FOLDED);
            let between = &shown[OUTERMOST..shown.len() - (most - OUTERMOST)];
            between.iter().for_each(|index| is_shown[*index] = is_first(*index));
            self.show_alone(&mut is_shown);
        }
        is_shown
    }

    /// Shows open calls that would be left out alone: the line in their place would say less.
    fn show_alone(&self, is_shown: &mut [bool]) {
        let hidden: Vec<bool> = is_shown.iter().map(|is_shown| !is_shown).collect();
        for (index, is_shown) in is_shown.iter_mut().enumerate() {
            let beside = [index.checked_sub(1), Some(index + 1)].into_iter().flatten();
            *is_shown |= self.open[index].folded == 0
                && !beside.into_iter().any(|other| hidden.get(other) == Some(&true));
        }
    }

    fn package(&self, call: &FoldedCall) -> Option<&str> {
        self.code.package(call.function?)
    }

    /// Shows the newest statements of the outline.
    fn add_outline(&mut self) {
        let Some(call) = self.open.iter().find(|call| Some(call.id) == self.outline) else { return };
        let (parts, _) = step(&call.body, true, self.wanted.lines / OUTLINE);
        let shown = self.shown.entry(call.id).or_default();
        *shown = parts.max(*shown);
    }

    /// Shows where handlers came, in the calls that they interrupted: what was entered again first.
    fn add_interruptions(&mut self, activations: &Activations<'_>) {
        let reentries = activations.reentries().into_iter().map(|reentry| reentry.since);
        let most = self.wanted.lines * FOR_SUSPECTS.0 / FOR_SUSPECTS.1;
        for since in reentries.chain(activations.handlers()).take(INTERRUPTIONS) {
            let mut path = Vec::new();
            let calls = self.open.iter().rev().chain([self.before, self.early]);
            let is_it =
                |part: &CallContent| matches!(part, CallContent::Line { since: at, .. } if *at == since);
            if !calls.into_iter().any(|call| self.find(&call.body, call.id, &is_it, &mut path)) {
                continue;
            }
            let islands = self.islands.clone();
            for (handler, (call, _, parts)) in path.into_iter().enumerate() {
                // The function, its handler, and what that interrupted.
                let more = if handler < 3 { AROUND_INTERRUPTION } else { 0 };
                let (first, last) = (parts.start().saturating_sub(more), parts.end() + more);
                let len = self.len_of(call);
                self.islands.entry(call).or_default().extend(first..=last.min(len.saturating_sub(1)));
            }
            if self.draw().rows.len() > most {
                self.islands = islands;
            }
        }
    }

    /// Parts of a call.
    fn len_of(&self, id: u64) -> usize {
        self.open.iter().chain([self.before, self.early]).find_map(|call| call.len_of(id)).unwrap_or(0)
    }

    /// Shows suspects where they ran last: the first ones alone, because no fold hides them, and then each with the statements
    /// that led to it, while there is room.
    fn add_suspects(&mut self) {
        let lines = self.wanted.lines;
        let most = lines * FOR_SUSPECTS.0 / FOR_SUSPECTS.1;
        let found = self.wanted.suspects.iter().map(|suspect| (suspect.rank, self.last_run(suspect)));
        let found: Vec<(usize, Vec<FoundPart>)> = found.collect();
        let is_first = |rank: usize| rank <= NEVER_FOLDED;
        for (_, path) in found.iter().filter(|(rank, _)| is_first(*rank)) {
            // The innermost call comes first. A call of the outline comes with the statement that made it.
            let first = |(inside, (call, part, _)): (usize, &FoundPart)| {
                let is_made = inside > 0 && Some(*call) == self.outline;
                (*call, part.saturating_sub(usize::from(is_made))..=*part)
            };
            let alone: Vec<_> = path.iter().enumerate().map(first).collect();
            self.add(alone.into_iter(), lines + BEYOND);
        }
        for (rank, path) in &found {
            let most = if is_first(*rank) { lines } else { most };
            self.add(path.iter().map(|(call, _, around)| (*call, around.clone())), most);
        }
    }

    /// Shows parts, unless there are more lines than these then.
    fn add(&mut self, parts: impl Iterator<Item = (u64, RangeInclusive<usize>)>, most: usize) {
        let islands = self.islands.clone();
        for (call, parts) in parts {
            self.islands.entry(call).or_default().extend(parts);
        }
        if self.draw().rows.len() > most {
            self.islands = islands;
        }
    }

    /// The way to the newest run of a suspect; empty if it did not run.
    fn last_run(&self, suspect: &SuspectLine) -> Vec<FoundPart> {
        let place = (suspect.file, suspect.line);
        let mut path = Vec::new();
        let calls = self.open.iter().rev().chain([self.before, self.early]);
        let is_it = |part: &CallContent| match part {
            CallContent::Line { statement, .. } => {
                let (file, span) = self.code.place(*statement);
                (file, span.line) == place
            }
            _ => false,
        };
        let _ = calls.into_iter().any(|call| self.find(&call.body, call.id, &is_it, &mut path));
        path
    }

    /// The parts that lead to the newest such line, by the number of their call: the innermost first.
    fn find(
        &self,
        body: &[CallContent],
        id: u64,
        is_it: &dyn Fn(&CallContent) -> bool,
        path: &mut Vec<FoundPart>,
    ) -> bool {
        for (index, part) in body.iter().enumerate().rev() {
            let is_here = match part {
                CallContent::Line { .. } => is_it(part),
                CallContent::Call(call) => {
                    self.package(call).is_none() && self.find(&call.body, call.id, is_it, path)
                }
                // A loop is shown whole.
                CallContent::Loop(round) => self.find(&round.body, LOOP, is_it, path),
                CallContent::Repeated { .. } | CallContent::Counted(_) => false,
            };
            if is_here {
                let is_call = matches!(part, CallContent::Call(_));
                // The statement that called it, or that led to it, and what followed.
                let first = index.saturating_sub(1);
                let last = if is_call { index } else { (index + 1).min(body.len() - 1) };
                if id != LOOP {
                    path.push((id, index, first..=last));
                }
                return true;
            }
        }
        false
    }

    /// The parts of a call that are shown: the newest, and those on the way to suspects.
    fn tail(&self, call: &FoldedCall, depth: usize, times: u64, drawn: &mut Drawn) {
        let none = BTreeSet::new();
        let islands = self.islands.get(&call.id).unwrap_or(&none);
        let shown = self.shown.get(&call.id).copied().unwrap_or(0).min(call.body.len());
        let mut first = call.body.len() - shown;
        while first > 0 && islands.contains(&(first - 1)) {
            first -= 1;
        }
        if shown > 0 || !islands.is_empty() {
            self.functions.borrow_mut().extend(call.function);
        }
        let is_outline = self.outline == Some(call.id);
        let mut next = 0;
        for island in islands.range(..first).copied().chain([first]) {
            let hidden = &call.body[next..island];
            if !hidden.is_empty() {
                let statements = hidden.iter().map(CallContent::statements).sum();
                let inside = self.heaviest(hidden, call.function);
                let is_last = island == call.body.len();
                let row = drawn.rows.len();
                let kind = if is_last && next > 0 {
                    RowKind::Later(statements, inside)
                } else {
                    RowKind::Earlier(call.function, statements, inside)
                };
                drawn.push(depth, 1, kind);
                if next == 0 {
                    drawn.entered(row, hidden);
                }
                if island == first && !matches!(hidden, [CallContent::Counted(_)]) {
                    let steps = [STEP, SMALL_STEP].map(|most| {
                        let (more, cost) = step(hidden, is_outline, most);
                        (call.body.len() - first + more, cost)
                    });
                    drawn.choices.push(RowChoice { call: call.id, steps, row, has_less_news: false });
                }
            }
            if island < first {
                self.parts(&call.body[island..=island], is_outline, (depth, times), drawn);
            }
            next = island + 1;
        }
        self.parts(&call.body[first..], is_outline, (depth, times), drawn);
    }

    fn parts(
        &self,
        parts: &[CallContent],
        is_outline: bool,
        (depth, times): (usize, u64),
        drawn: &mut Drawn,
    ) {
        for part in parts {
            match part {
                CallContent::Line { statement, times: own, first, since } => {
                    let line = |statement: ListedStatement| {
                        let (file, span) = self.code.place(statement);
                        (file, span.line)
                    };
                    // A line of several statements is shown once.
                    if let Some(Row {
                        depth: before,
                        kind: RowKind::Statement(other),
                        times: known,
                        runs,
                        firsts,
                        ..
                    }) = drawn.rows.last_mut()
                        && (line(*other), *before) == (line(*statement), depth)
                    {
                        let times = times.max(*own);
                        // The same statement again: the calls between are not opened.
                        *known = if *other == *statement {
                            known.saturating_add(times)
                        } else {
                            times.max(*known)
                        };
                        runs.push(*since);
                        firsts.push(*first);
                        continue;
                    }
                    drawn.push(depth, times.max(*own), RowKind::Statement(*statement));
                    if let Some(row) = drawn.rows.last_mut() {
                        row.rank = self.rank(line(*statement));
                        (row.runs, row.firsts) = (vec![*since], vec![*first]);
                    }
                }
                CallContent::Loop(round) => {
                    self.parts(&round.body, is_outline, (depth, times.max(round.times)), drawn)
                }
                CallContent::Repeated { statements, times, .. } => {
                    drawn.push(depth, *times, RowKind::Repeated(*statements));
                }
                CallContent::Counted(statements) => {
                    drawn.push(depth, 1, RowKind::Earlier(None, *statements, Vec::new()))
                }
                CallContent::Call(call)
                    if is_outline && self.is_folded(call) && drawn.count(call, depth, times) => {}
                CallContent::Call(call) => {
                    let row = drawn.rows.len();
                    self.call(call, depth, times, drawn);
                    drawn.began(row, call);
                }
            }
        }
    }

    /// Whether a call of the outline is not opened.
    fn is_folded(&self, call: &FoldedCall) -> bool {
        let is_shown = self.shown.contains_key(&call.id) || self.islands.contains_key(&call.id);
        !is_shown && self.checked != Some(call.id)
    }

    fn call(&self, call: &FoldedCall, depth: usize, times: u64, drawn: &mut Drawn) {
        if let Some(package) = self.package(call) {
            return drawn.package(package, call.statements, depth + 1);
        }
        // One line either way.
        let is_shown = self.shown.contains_key(&call.id) || self.islands.contains_key(&call.id);
        if is_shown || matches!(call.body[..], [CallContent::Line { .. }]) {
            if !is_shown {
                return self.parts(&call.body, false, (depth + 1, times), drawn);
            }
            drawn.around.push(call.function);
            self.tail(call, depth + 1, times, drawn);
            drawn.around.pop();
            return;
        }
        let row = drawn.rows.len();
        let kind = match call.function {
            Some(function) => {
                RowKind::Call(function, call.statements, self.heaviest(&call.body, call.function))
            }
            None => RowKind::Earlier(None, call.statements, Vec::new()),
        };
        drawn.push(depth + 1, times, kind);
        drawn.entered(row, &call.body);
        let is_same = |function: &&Option<BodyId>| **function == call.function;
        let is_recursion = drawn.around.iter().filter(is_same).count() >= ENDED_RECURSION;
        if !call.body.is_empty() && !is_recursion {
            let steps = [STEP, SMALL_STEP].map(|most| step(&call.body, false, most));
            let name = call.function.map_or("", |function| self.code.short_name(function));
            let is_usual = matches!(name, "drop" | "clone" | "fmt" | "deref" | "deref_mut" | "hash");
            let has_less_news = is_usual || self.is_shown(call.function);
            drawn.choices.push(RowChoice { call: call.id, steps, row, has_less_news });
        }
    }

    fn rank(&self, place: (u16, u32)) -> Option<usize> {
        let mut suspects = self.wanted.suspects.iter().filter(|_| self.wanted.test.is_some());
        suspects.find(|suspect| (suspect.file, suspect.line) == place).map(|suspect| suspect.rank)
    }

    /// Whether a call of this function is shown already.
    fn is_shown(&self, function: Option<BodyId>) -> bool {
        function.is_some_and(|function| self.functions.borrow().contains(&function))
    }

    /// The functions called in these parts of a function that have most of their statements.
    fn heaviest(&self, parts: &[CallContent], own: Option<BodyId>) -> Vec<BodyId> {
        let mut counts: HashMap<BodyId, u64> = HashMap::new();
        count(parts, &mut counts);
        let mut counts: Vec<(BodyId, u64)> = counts.into_iter().collect();
        counts.retain(|(function, _)| {
            let is_own = self.code.package(*function).is_none();
            Some(*function) != own && self.code.is_named(*function) && is_own
        });
        counts.sort_by_key(|(function, statements)| (std::cmp::Reverse(*statements), *function));
        counts.into_iter().take(NAMED).map(|(function, _)| function).collect()
    }
}

impl Drawn {
    fn push(&mut self, depth: usize, times: u64, kind: RowKind) {
        self.rows.push(Row::new(depth, times, kind));
    }

    /// The lines of a call begin at this row.
    fn began(&mut self, row: usize, call: &FoldedCall) {
        if let Some(row) = self.rows.get_mut(row) {
            row.interrupt = call.interrupt;
        }
    }

    /// This row has the beginning of a call.
    fn entered(&mut self, row: usize, body: &[CallContent]) {
        if let (Some(row), Some(CallContent::Line { statement, since, .. })) =
            (self.rows.get_mut(row), body.first())
        {
            row.entry = Some((*statement, *since));
        }
    }

    /// Counts a call beside the statement that made it; false if that has no line.
    fn count(&mut self, call: &FoldedCall, depth: usize, times: u64) -> bool {
        let row = self.rows.last_mut().filter(|row| row.depth == depth);
        let Some(row) = row.filter(|row| matches!(row.kind, RowKind::Statement(_))) else { return false };
        row.inside = row.inside.saturating_add(call.statements.saturating_mul(times));
        true
    }

    /// Statements of one package in a row are one line.
    fn package(&mut self, package: &str, statements: u64, depth: usize) {
        if let Some(Row { kind: RowKind::Package(known, more), .. }) = self.rows.last_mut()
            && known == package
        {
            *more = more.saturating_add(statements);
            return;
        }
        self.push(depth, 1, RowKind::Package(package.to_owned(), statements));
    }
}
