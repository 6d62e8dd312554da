//! The history of a failed test: the order of its sites up to the panic, and the calls that were open there.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use qs_core::map::BodyKind;
use qs_core::record::Statement;
use qs_core::record::value::RecordedValue;
use qs_core::ring::Status;

use super::bits::SiteSet;
use super::program::{ProgramSites, Role};
use xhist_history::calls::{Activation, CallStack, Handler, Structure, ThreadEntry};
use xhist_history::events::{read_items, with_lanes};
use xhist_history::model::{CodePlace, Gap, Item, Names, PanicPlace, ProgramFiles, What};
use xhist_history::program::values::frames;
use xhist_history::ring::{Placed, RingSnapshot};
use xhist_history::{ProgramPlaces, ReadOptions};

/// A site that made a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maker {
    /// The site.
    pub site: u32,
    /// Bindings and calls between it and the failure.
    pub steps: u32,
}

/// What a method does to what it is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It takes `&self`.
    Reads,
    /// It takes `&mut self`.
    Changes,
}

/// No function.
pub const NO_CALL: u32 = u32::MAX;

/// The history of a failed test up to its failure.
#[derive(Clone, Debug, Default)]
pub struct FailureHistory {
    /// The sites in the order in which they ran, oldest first; loops that were folded once.
    pub order: Vec<u32>,
    /// For each of them the function that the test called and in which it ran; [`NO_CALL`] for statements of the test.
    pub called: Vec<u32>,
    /// For each of them how many calls were open.
    pub depths: Vec<u32>,
    /// The sites at which the open calls are, innermost first.
    pub open: Vec<u32>,
    /// The sites at which the newest calls of the innermost open one ended, innermost first.
    pub returned: Vec<u32>,
    /// The sites that made what the failed statement names, the nearest first.
    pub makers: Vec<Maker>,
    /// The sites that formatted the message of the panic and did nothing before; they are not in the order.
    pub message: SiteSet,
    /// Whether the ring still has the first statement.
    pub is_whole: bool,
    /// Whether it ends at a panic.
    pub has_panic: bool,
    /// The site that the panic came from, if it is one of the program.
    pub panic_site: Option<u32>,
    /// The line of it that the message of the panic names.
    pub panic_line: Option<u32>,
    /// Whether the line that panicked only checks a value.
    pub is_check: bool,
    /// Whether its last statement fails if another thread panicked, as `join` does.
    pub passes_on: bool,
    /// Values behind the last execution of each site that has any.
    pub values: HashMap<u32, Vec<RecordedValue>>,
}

impl FailureHistory {
    /// Reads the ring of a thread and those of its handlers up to the panic that ended it, without what formatted the message
    /// of the panic. `file`: the ring file. `is_test`: the thread is that of a failed test, which may have run code such as an
    /// allocator behind it.
    pub fn read(
        (file, rings): (&Path, &[Placed]),
        image: &[u8],
        (thread, is_test): (&Placed, bool),
        code: &TestedCode<'_>,
    ) -> FailureHistory {
        let placed = with_lanes(thread, rings.iter());
        let snapshots: Vec<RingSnapshot<'_>> =
            placed.iter().map(|placed| RingSnapshot::whole(placed, image)).collect();
        let mut history = Reading::new(code);
        let mut is_whole = thread.header.has_beginning();
        read_items(&placed, &snapshots, 0, &mut |gap, item| {
            // The newest entry of a program that was killed.
            is_whole &= Gap { torn: false, ..gap.clone() }.is_empty();
            let handler = item.map_or(Handler::default(), Handler::of);
            if let Some(Item { what: What::Panic(_, place), .. }) = item {
                history.panic_place = (**place).clone();
            }
            ThreadEntry::all(gap, item).for_each(|entry| history.take(handler, entry));
            history.values(item.map_or(&[], |item| &item.values));
        });
        let may_fail = is_test || matches!(thread.header.status, Status::Panicked | Status::Killed);
        let frames = |panic: &PanicPlace| frames(&thread.ring, panic, &code.options(file));
        FailureHistory { is_whole, ..history.finish(may_fail, &frames) }
    }

    /// The sites that ran.
    pub fn ran(&self) -> SiteSet {
        self.order.iter().copied().collect()
    }

    /// The program's own sites that ran only since the last statement of the test, if that only read what an earlier call
    /// changed. None if a check of the program itself failed.
    pub fn only_read(&self, program: &ProgramSites, accesses: &HashMap<u32, Access>) -> SiteSet {
        let is_of_test = |site: &u32| program.sites[*site as usize].role == Role::Test;
        let is_check = self.has_panic && self.panic_site.is_none_or(|site| is_of_test(&site));
        let last = self.order.iter().rposition(is_of_test).filter(|_| is_check);
        let Some((before, behind)) = last.and_then(|last| self.called.split_at_checked(last + 1)) else {
            return SiteSet::default();
        };
        let is = |of: &u32, access| accesses.get(of) == Some(&access);
        if !behind.iter().all(|of| is(of, Access::Reads)) || !before.iter().any(|of| is(of, Access::Changes))
        {
            return SiteSet::default();
        }
        let (made, read) = self.order.split_at(before.len());
        // What changed the value may have run it, too.
        let changes = made.iter().zip(before).filter(|(_, of)| is(of, Access::Changes));
        let changes: HashSet<u32> = changes.map(|(site, _)| *site).collect();
        read.iter().copied().filter(|site| !changes.contains(site)).collect()
    }

    /// Each of the program's own sites once, by its last execution, newest first.
    pub fn newest_first(&self, program: &ProgramSites) -> Vec<u32> {
        let mut seen = HashSet::new();
        let own = |site: &u32| program.sites[*site as usize].role == Role::Own;
        self.order.iter().rev().copied().filter(|site| own(site) && seen.insert(*site)).collect()
    }
}

/// The program that the tests of a run are of.
pub struct TestedCode<'a> {
    /// Its sites.
    pub program: &'a ProgramSites,
    /// Its map.
    pub names: &'a Names,
    /// What its calls are found by.
    structure: Arc<Structure>,
    /// What the lines of frames are found by.
    files: ProgramFiles<'a>,
    /// Where its executables are.
    programs: &'a ProgramPlaces,
}

impl<'a> TestedCode<'a> {
    /// The program with these sites, which are those of this map.
    pub fn new(program: &'a ProgramSites, names: &'a Names, programs: &'a ProgramPlaces) -> TestedCode<'a> {
        let (structure, files) = (Arc::new(Structure::of(names)), ProgramFiles::of(names));
        TestedCode { program, names, structure, files, programs }
    }

    /// How a ring file is read.
    fn options(&self, file: &Path) -> ReadOptions {
        let programs = ProgramPlaces { source: Some(file.to_owned()), ..self.programs.clone() };
        ReadOptions { programs, ..ReadOptions::default() }
    }

    /// The site of the statement around a line that the compiler named.
    fn site_at(&self, place: &CodePlace) -> Option<u32> {
        let around = self.files.statement(place)?;
        self.program.at(around.file, around.span.line)
    }
}

/// A history that is being read.
struct Reading<'a> {
    code: &'a TestedCode<'a>,
    calls: CallStack,
    order: Vec<u32>,
    called: Vec<u32>,
    depths: Vec<u32>,
    /// The newest call of the test: its depth, and the function.
    newest_call: Option<(usize, u32)>,
    values: HashMap<u32, Vec<RecordedValue>>,
    /// The newest values are of the site that ran last.
    is_valued: bool,
    /// Number of sites before the test began to format something that it did not finish.
    before_message: usize,
    /// The depth at which the test called what formats a value, while that goes on.
    message: Option<usize>,
    /// The newest statement of the test makes a text of values itself: what formats makes what is checked, and no message.
    makes_text: bool,
    /// Where the next panic comes from.
    panic_place: PanicPlace,
    /// What was known at each panic that may have ended the thread.
    at_panic: Vec<AtPanic>,
    /// Panics so far.
    panics: usize,
}

/// What was known at a panic.
struct AtPanic {
    number: usize,
    place: PanicPlace,
    site: Option<u32>,
    /// Sites that had run.
    ran: usize,
    open: Vec<u32>,
    passes_on: bool,
    makes_text: bool,
    values: HashMap<u32, Vec<RecordedValue>>,
}

impl<'a> Reading<'a> {
    fn new(code: &'a TestedCode<'a>) -> Reading<'a> {
        Reading {
            code,
            calls: CallStack::new(&code.structure),
            order: Vec::new(),
            called: Vec::new(),
            depths: Vec::new(),
            newest_call: None,
            values: HashMap::new(),
            is_valued: false,
            before_message: 0,
            message: None,
            makes_text: false,
            panic_place: PanicPlace::default(),
            at_panic: Vec::new(),
            panics: 0,
        }
    }

    fn take(&mut self, handler: Handler, entry: ThreadEntry) {
        let before = (entry == ThreadEntry::Panic).then(|| {
            let place = std::mem::take(&mut self.panic_place);
            let found = place.at.as_ref().and_then(|at| self.code.site_at(at));
            let role = found.map(|site| self.code.program.sites[site as usize].role);
            // What formats a message may panic itself.
            self.message = self.message.filter(|_| role != Some(Role::Own));
            ((place, found), self.here(true), self.passes_on())
        });
        self.calls.take(handler, entry);
        if let Some((from, here, passes_on)) = before {
            self.panic(from, here, passes_on);
        }
        if let ThreadEntry::Statement(statement) = entry {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: Statement) {
        self.is_valued = false;
        if let Some(site) = self.code.program.site(statement, self.code.names) {
            self.order.push(site);
            let called = self.called_by_test(site);
            self.called.push(called);
            self.depths.push(u32::try_from(self.calls.depth()).unwrap_or(u32::MAX));
            if self.is_of_test(site) {
                let structure = &self.code.structure;
                self.makes_text =
                    self.calls.top().is_some_and(|top| structure.panic_calls(top.statement).makes_text);
            }
        }
        let depth = self.calls.depth();
        // Another call of the test: what was formatted is a value of it, such as a text that is parsed again.
        let is_beside = self.message.is_some_and(|of| depth == of + 1) && !self.is_message();
        if is_beside || self.message.is_some_and(|of| depth <= of) {
            self.message = None;
        }
        if self.message.is_none() && self.is_message() {
            self.message = Some(self.calls.depth() - 1);
        }
        if self.message.is_none() {
            self.before_message = self.order.len();
        }
    }

    /// The function that the test called and in which a site runs.
    fn called_by_test(&mut self, site: u32) -> u32 {
        let site = &self.code.program.sites[site as usize];
        let depth = self.calls.depth();
        let is_inside =
            |(of, function): &(usize, u32)| depth > *of || depth == *of && *function == site.function;
        self.newest_call = match site.role {
            Role::Test => None,
            _ => self.newest_call.filter(is_inside).or(Some((depth, site.function))),
        };
        self.newest_call.map_or(NO_CALL, |(_, function)| function)
    }

    fn values(&mut self, recorded: &[RecordedValue]) {
        let Some(site) = self.order.last().filter(|_| self.calls.open_panics().is_empty()) else { return };
        if recorded.is_empty() {
            return;
        }
        let values = self.values.entry(*site).or_default();
        if !std::mem::replace(&mut self.is_valued, true) {
            values.clear();
        }
        values.extend_from_slice(recorded);
    }

    /// Whether the innermost call formats a value, for the test itself and not for the program.
    fn is_message(&self) -> bool {
        if self.makes_text {
            return false;
        }
        let mut stack = self.calls.stack().rev();
        let formats = stack.next().is_some_and(|top| {
            let body = self.code.structure.body(top.body);
            body.kind == BodyKind::Function && body.path.rsplit("::").next() == Some("fmt")
        });
        let caller = stack.next().filter(|_| formats).and_then(|caller| self.site_of(caller));
        caller.is_some_and(|site| self.is_of_test(site))
    }

    fn site_of(&self, activation: &Activation) -> Option<u32> {
        let (file, span) = self.code.structure.place(activation.statement);
        self.code.program.at(file, span.line)
    }

    /// The thread panicked. `here` and `passes_on` are of the moment before.
    fn panic(
        &mut self,
        (place, site): (PanicPlace, Option<u32>),
        (ran, open): (usize, Vec<u32>),
        passes_on: bool,
    ) {
        let (open_panics, caught) = (self.calls.open_panics(), self.calls.caught_panic());
        self.at_panic.retain(|at| {
            caught == Some(at.number) || open_panics.iter().any(|panic| panic.number == at.number)
        });
        self.at_panic.push(AtPanic {
            number: self.panics,
            place,
            site,
            ran,
            open,
            passes_on,
            makes_text: self.makes_text,
            values: self.values.clone(),
        });
        self.panics += 1;
    }

    fn passes_on(&self) -> bool {
        self.calls.top().is_some_and(|top| self.code.structure.panic_calls(top.statement).passes_on)
    }

    /// Removes the newest sites that are in functions `fmt`, or in calls of these.
    fn leave_out_formatting(&mut self) -> SiteSet {
        let (mut kept, mut lowest) = (self.order.len(), u32::MAX);
        for (index, site) in self.order.iter().enumerate().rev() {
            let depth = self.depths[index];
            match self.formats(*site) {
                true if depth < lowest => (kept, lowest) = (index, u32::MAX),
                _ => lowest = lowest.min(depth),
            }
            if self.is_of_test(*site) {
                break;
            }
        }
        self.order.drain(kept..).collect()
    }

    /// Removes the innermost calls up to the outermost function `fmt` that the test called. They are sites, innermost first.
    fn leave_out_calls_of_formatting(&self, calls: &mut Vec<u32>) {
        let called = calls.iter().position(|site| self.is_of_test(*site)).unwrap_or(calls.len());
        let outermost = calls[..called].iter().rposition(|site| self.formats(*site));
        calls.drain(..outermost.map_or(0, |outermost| outermost + 1));
    }

    fn formats(&self, site: u32) -> bool {
        let program = self.code.program;
        let path = &program.functions[program.sites[site as usize].function as usize].path;
        path.rsplit("::").next() == Some("fmt")
    }

    fn is_of_test(&self, site: u32) -> bool {
        self.code.program.sites[site as usize].role == Role::Test
    }

    /// The sites at which the open calls are, and those at which calls ended. The frames are certain, and so is the statement that
    /// panicked. What is concluded from the history is open around the outermost frame: frames have an end, and they lack what a
    /// handler interrupted. Inside the innermost one it has returned: the last statement of a call does not say so.
    fn open_at(
        &self,
        frames: &[CodePlace],
        site: Option<u32>,
        mut concluded: Vec<u32>,
    ) -> (Vec<u32>, Vec<u32>) {
        let mut open: Vec<u32> = frames.iter().filter_map(|frame| self.code.site_at(frame)).collect();
        let has_frames = !open.is_empty();
        if !has_frames {
            open.extend(site.filter(|site| concluded.contains(site)));
        }
        let Some((innermost, outermost)) = open.first().copied().zip(open.last().copied()) else {
            return (concluded, Vec::new());
        };
        let around = concluded.iter().rposition(|site| *site == outermost);
        let behind = concluded.split_off(around.map_or(concluded.len(), |at| at + 1));
        let function = |site: u32| self.code.program.sites[site as usize].function;
        let is_returned = |known: &u32| !open.contains(known) && function(*known) != function(innermost);
        let returned = concluded.iter().copied().take_while(is_returned).collect();
        open.extend(behind);
        (open, returned)
    }

    /// How many sites ran, and the sites at which the open calls are.
    fn here(&self, has_panic: bool) -> (usize, Vec<u32>) {
        let depth = self.message.unwrap_or(self.calls.depth());
        let mut open: Vec<u32> =
            self.calls.stack().take(depth).filter_map(|activation| self.site_of(activation)).collect();
        open.reverse();
        let ran = if self.message.is_some() && has_panic { self.before_message } else { self.order.len() };
        (ran, open)
    }

    /// `may_fail`: the thread panicked, got a fatal signal or was that of a failed test; a panic may have been caught. `frames`:
    /// the lines of a panic's frames, innermost first.
    fn finish(mut self, may_fail: bool, frames: &dyn Fn(&PanicPlace) -> Vec<CodePlace>) -> FailureHistory {
        let first = self.calls.open_panics().first().filter(|_| may_fail).map(|panic| panic.number);
        let at = self.at_panic.iter().position(|at| Some(at.number) == first);
        let at = at.map(|at| self.at_panic.swap_remove(at));
        let (has_panic, panic_site) = (at.is_some(), at.as_ref().and_then(|at| at.site));
        let panic_line = at.as_ref().and_then(|at| Some(at.place.at.as_ref()?.line));
        let makes_text = at.as_ref().is_some_and(|at| at.makes_text);
        let (ran, (mut open, mut returned), passes_on, values) = match at {
            Some(at) => {
                let frames = frames(&at.place);
                let open = match self.code.files.is_outside(&at.place, &frames) {
                    true => (Vec::new(), at.open),
                    false => self.open_at(&frames, at.site, at.open),
                };
                (at.ran, open, at.passes_on, at.values)
            }
            None => {
                let (ran, open) = self.here(false);
                (ran, (open, Vec::new()), self.passes_on(), std::mem::take(&mut self.values))
            }
        };
        let mut message: SiteSet = self.order.drain(ran..).collect();
        if has_panic && !makes_text && panic_site.is_some_and(|site| self.is_of_test(site)) {
            // A derived `fmt` is not recorded, so the one that it calls seems to be called by what ran before.
            message.extend(&self.leave_out_formatting());
            self.leave_out_calls_of_formatting(&mut open);
            self.leave_out_calls_of_formatting(&mut returned);
        }
        let ran: SiteSet = self.order.iter().copied().collect();
        self.called.truncate(self.order.len());
        self.depths.truncate(self.order.len());
        FailureHistory {
            called: self.called,
            depths: self.depths,
            message: message.iter().filter(|site| !ran.contains(*site)).collect(),
            order: self.order,
            open,
            returned,
            makers: Vec::new(),
            values,
            is_whole: true,
            has_panic,
            panic_site,
            panic_line,
            is_check: false,
            passes_on,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::calls::outline::{entry, map};

    const MAP: &str = r#"{"xhist":"map","version":3,"hash":"00000000000000ff","root":"/p","tool":"0"}
{"file":1,"path":"src/a.rs","base":0,"first":1,"room":9}
{"fn":1,"path":"f","at":"1:1","end":"3:2"}
{"fn":1,"path":"g","at":"5:1","end":"7:2"}
{"fn":1,"path":"tests::t","at":"8:1","end":"10:2"}
{"fn":1,"path":"A::fmt","at":"11:1","end":"12:2","trait":"Debug"}
{"stmt":1,"line":1,"col":5,"end":"1:6","kind":"expr","fn":"f","calls":"g format!"}
{"stmt":1,"line":2,"col":5,"end":"2:6","kind":"expr","fn":"f"}
{"stmt":1,"line":5,"col":5,"end":"5:6","kind":"expr","fn":"g"}
{"stmt":1,"line":6,"col":5,"end":"6:6","kind":"expr","fn":"g"}
{"stmt":1,"line":8,"col":5,"end":"8:6","kind":"expr","fn":"tests::t","calls":"f"}
{"stmt":1,"line":9,"col":5,"end":"9:6","kind":"macro","fn":"tests::t","calls":"assert_eq!"}
{"stmt":1,"line":11,"col":5,"end":"11:6","kind":"expr","fn":"A::fmt","calls":"g"}
"#;

    fn program() -> ProgramSites {
        ProgramSites::of(&Names::parse(MAP.as_bytes()))
    }

    #[test]
    fn each_site_counts_by_its_last_execution() {
        let history = FailureHistory { order: vec![0, 1, 4, 2, 1, 4, 3], ..FailureHistory::default() };
        assert_eq!(history.newest_first(&program()), [3, 1, 2, 0], "without those of the test");
    }

    #[test]
    fn what_only_reads_is_known_if_something_changed_what_it_read() {
        // The test calls `f`, and checks something of it by `g`, twice. The second check fails.
        let history = FailureHistory { has_panic: true, ..history("5 1 2 6 3 6 3 4") };
        let program = program();
        assert_eq!(history.called, [NO_CALL, 0, 0, NO_CALL, 1, NO_CALL, 1, 1]);
        let found = |history: &FailureHistory, accesses: &[(u32, Access)]| {
            let accesses = accesses.iter().copied().collect();
            history.only_read(&program, &accesses).iter().collect::<Vec<_>>()
        };
        let both = [(0, Access::Changes), (1, Access::Reads)];
        assert_eq!(found(&history, &both), [2, 3]);
        assert_eq!(found(&history, &both[..1]), [0; 0], "`g` does not only read");
        assert_eq!(found(&history, &both[1..]), [0; 0], "`f` made it, as `new` does");
        let panicked = FailureHistory { panic_site: Some(3), ..history.clone() };
        assert_eq!(found(&panicked, &both), [0; 0], "`g` panicked");
    }

    /// The history of these statements, by their numbers; `p` is a panic. `may_fail`: the ring says that the thread failed.
    fn read(entries: &str, may_fail: bool) -> FailureHistory {
        read_with(entries, may_fail, &[])
    }

    /// The same, where the panic has frames at these lines.
    fn read_with(entries: &str, may_fail: bool, frames: &[u32]) -> FailureHistory {
        let names = Names::parse(MAP.as_bytes());
        let program = ProgramSites::of(&names);
        let places = ProgramPlaces::default();
        let code = TestedCode::new(&program, &names, &places);
        let mut reading = Reading::new(&code);
        for word in entries.split_whitespace() {
            let entry = match word {
                "p" => ThreadEntry::Panic,
                number => ThreadEntry::Statement(Statement::numbered(number.parse().unwrap())),
            };
            reading.take(Handler::default(), entry);
        }
        let frame = |line: &u32| CodePlace { path: "src/a.rs".to_owned(), line: *line };
        reading.finish(may_fail, &|_| frames.iter().map(frame).collect())
    }

    /// The history of these statements up to a panic.
    fn history(numbers: &str) -> FailureHistory {
        read(&format!("{numbers} p 99"), true)
    }

    #[test]
    fn a_panic_that_was_caught_is_not_the_end() {
        let end = |entries: &str, may_fail| {
            let history = read(entries, may_fail);
            (history.has_panic, history.order)
        };
        assert_eq!(end("5 1 3 p", true), (true, vec![4, 0, 2]));
        assert_eq!(end("5 1 3 p 2", true), (false, vec![4, 0, 2, 1]), "its caller went on");
        assert_eq!(end("5 1 3 p", false), (false, vec![4, 0, 2]), "the ring says so");
    }

    /// The lines at which the open calls are after these entries, innermost first. Those with a `'` are of a signal handler.
    fn open(outline: &str, stream: &str) -> Vec<u32> {
        let names = map(outline);
        let program = ProgramSites::of(&names);
        let places = ProgramPlaces::default();
        let code = TestedCode::new(&program, &names, &places);
        let mut reading = Reading::new(&code);
        for word in stream.split_whitespace() {
            let known = word.trim_end_matches('\'');
            let handler = Handler { signals: (word.len() - known.len()) as u8, interrupt: 0 };
            reading.take(handler, entry(known));
        }
        reading
            .finish(true, &|_| Vec::new())
            .open
            .iter()
            .map(|site| program.sites[*site as usize].line)
            .collect()
    }

    #[test]
    fn what_a_handler_interrupted_is_open_below_it() {
        let outline = "\
fn test
  s add
  s
fn add
  s
  s
fn on_timer
  s add
  s
";
        assert_eq!(open(outline, "2 5 6 8' 5' p'"), [5, 8, 6, 2]);
        assert_eq!(open(outline, "2 5 6 8' 5' 6' 9' 3 p"), [3]);
    }

    #[test]
    fn a_task_that_waits_is_not_open_below_the_one_that_goes_on() {
        let outline = "\
fn outer asyncfn
  s
  s step await
fn step asyncfn
  s wait await
  s jump panic
";
        // `step` waits as a task of its own. Then `outer` waits in another `step`, and the first one goes on.
        assert_eq!(open(outline, "t1 5 t2 2 3 t3 5 t1r 6 p"), [6]);
        assert_eq!(open(outline, "t1 5 t2 2 3 t3 5 t3r 6 p"), [6, 3]);
    }

    #[test]
    fn what_formats_the_message_is_left_out() {
        let failed = history("5 1 2 6 7");
        assert_eq!((failed.order.as_slice(), failed.open.as_slice()), (&[4, 0, 1, 5][..], &[5][..]));
        let formatted = history("5 1 7 2");
        assert_eq!(formatted.order, [4, 0, 6, 1], "the program formats");
        let parsed = history("6 7 1 2");
        assert_eq!(parsed.order, [5, 6, 0, 1], "the test formats what it passes to `f`");
        assert_eq!(history("6 1 2 7 3 4 7").order, [5, 0, 1], "two values of the message");
    }

    /// The sites up to a panic at this line, those of the message, and those of the open calls.
    fn message(map: &str, numbers: &[u16], line: u32) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let names = Names::parse(map.as_bytes());
        let program = ProgramSites::of(&names);
        let places = ProgramPlaces::default();
        let code = TestedCode::new(&program, &names, &places);
        let mut reading = Reading::new(&code);
        for number in numbers.iter().copied() {
            reading.take(Handler::default(), ThreadEntry::Statement(Statement::numbered(number)));
        }
        let at = Some(CodePlace { path: "/p/src/a.rs".to_owned(), line });
        reading.panic_place = PanicPlace { at, ..PanicPlace::default() };
        reading.take(Handler::default(), ThreadEntry::Panic);
        let history = reading.finish(true, &|_| Vec::new());
        (history.order, history.message.iter().collect(), history.open)
    }

    #[test]
    fn formatting_behind_a_derived_fmt_is_left_out_if_a_check_of_the_test_failed() {
        let message = |numbers: &[u16], line| message(MAP, numbers, line);
        // `f` has returned, though nothing ran behind its last statement.
        assert_eq!(message(&[5, 6, 1, 2, 7], 9), (vec![4, 5, 0, 1], vec![6], vec![5]));
        assert_eq!(
            message(&[5, 6, 1, 2, 7], 11),
            (vec![4, 5, 0, 1, 6], vec![], vec![6, 5]),
            "it panicked itself"
        );
        // `A::fmt` calls `g`.
        assert_eq!(message(&[5, 6, 1, 2, 7, 3, 4], 9), (vec![4, 5, 0, 1], vec![2, 3, 6], vec![5]));
        // It has returned when `f` goes on, so it made a text for the program.
        assert_eq!(message(&[5, 6, 1, 7, 3, 4, 2], 9).0, [4, 5, 0, 6, 2, 3, 1]);
    }

    #[test]
    fn a_text_that_the_check_compares_is_no_message() {
        let map = MAP.replace(r#""calls":"assert_eq!""#, r#""calls":"assert_eq! f .to_string""#);
        assert_eq!(message(&map, &[5, 6, 1, 2, 7, 3, 4], 9), (vec![4, 5, 0, 1, 6, 2, 3], vec![], vec![5]));
        let map = MAP.replace(r#""calls":"assert_eq!""#, r#""calls":"assert! format!""#);
        assert_eq!(message(&map, &[6, 7], 9).0, [5, 6]);
    }

    #[test]
    fn frames_of_the_panic_say_which_calls_are_open() {
        let open = |frames: &[u32]| {
            let history = read_with("5 1 3 4 p", true, frames);
            (history.open, history.returned)
        };
        assert_eq!(open(&[]), (vec![3, 0, 4], vec![]));
        assert_eq!(open(&[1, 8]), (vec![0, 4], vec![3]), "nothing ran behind the last statement of g");
        assert_eq!(open(&[8]), (vec![4], vec![3, 0]), "f has returned, too");
        assert_eq!(open(&[5]), (vec![2], vec![]), "it is at another statement of g");
        assert_eq!(open(&[6]), (vec![3, 0, 4], vec![]), "what is around the outermost frame");
        assert_eq!(open(&[99]), (vec![], vec![3, 0, 4]), "all frames are of others");
        assert_eq!(open(&[99, 7]), (vec![3, 0, 4], vec![]), "the last line of `g`");
    }

    #[test]
    fn calls_are_open_until_a_caller_goes_on() {
        assert_eq!(history("5 1 3 4").open, [3, 0, 4]);
        assert_eq!(history("5 1 3 2").open, [1, 4]);
    }
}
