//! Builds the shape of a thread's history from what its statements did to the call stack.

use std::collections::{HashMap, HashSet};

use super::shape::{
    BodyId, HistoryEnd, OUTSIDE, Owner, Repeater, Shape, ShapeId, ShapeItem, Shapes, StatementId,
};

/// The order of statements in the text, and the loops around them.
pub trait TextOrder {
    /// A number that grows along the text of a body.
    fn position(&self, site: StatementId) -> u64;

    /// The loops of its body around a statement, outermost first.
    fn loops(&self, site: StatementId) -> &[u32];
}

/// Builds a shape.
pub struct ShapeBuilder<'s, T: TextOrder> {
    text: &'s T,
    shapes: &'s mut Shapes,
    /// The bodies that run, outermost first; the first is the code outside.
    stack: Vec<Running>,
    runs: HashMap<StatementId, StatementRuns>,
    order: Vec<StatementId>,
    /// Counts what ran.
    now: u64,
    failure: Option<Failure>,
}

/// A panic or a fatal signal, the last one so far.
#[derive(Clone, Copy)]
struct Failure {
    at: u64,
    /// Statements that were known then.
    known: usize,
}

/// When a statement ran.
#[derive(Clone, Copy, Default)]
struct StatementRuns {
    count: u64,
    last: u64,
    /// The last time before the failure that preceded `last`.
    before_failure: u64,
}

/// The shape of a history, and how often each statement ran.
#[derive(Debug)]
pub struct Built {
    /// The run of the code outside, with all that it called.
    pub root: ShapeId,
    /// How often each statement ran.
    pub counts: HashMap<StatementId, u64>,
    /// The statements in the order in which they first ran.
    pub order: Vec<StatementId>,
    /// How many of them are from before the last panic; all without one.
    pub before_panic: usize,
    /// For each statement that ran before the failure, how many ran between its last run and the failure. Empty without one.
    pub distances: HashMap<StatementId, u64>,
}

/// A body that runs.
struct Running {
    body: BodyId,
    is_cut: bool,
    items: Vec<ShapeItem>,
    /// The loops that run, outermost first.
    loops: Vec<RunningLoop>,
    last: Option<StatementId>,
    calls: CallRounds,
}

struct RunningLoop {
    number: u32,
    is_cut: bool,
    /// The round under way began before the history does.
    in_cut_round: bool,
    rounds: HashSet<ShapeId>,
    items: Vec<ShapeItem>,
}

/// The calls of the newest statement.
#[derive(Default)]
struct CallRounds {
    is_cut: bool,
    in_cut_round: bool,
    rounds: HashSet<ShapeId>,
    /// The calls of the round under way, each of another body.
    round: Vec<(BodyId, ShapeId)>,
}

impl<'s, T: TextOrder> ShapeBuilder<'s, T> {
    /// `is_cut`: the history began earlier.
    pub fn new(text: &'s T, shapes: &'s mut Shapes, is_cut: bool) -> ShapeBuilder<'s, T> {
        let outside = Running::new(OUTSIDE, is_cut);
        let (stack, runs, order) = (vec![outside], HashMap::new(), Vec::new());
        ShapeBuilder { text, shapes, stack, runs, order, now: 0, failure: None }
    }

    /// A body was called by the newest one that runs.
    pub fn enter(&mut self, body: BodyId) {
        self.stack.push(Running::new(body, false));
    }

    /// A body runs that was called before the history begins. All that ran so far ran in it.
    pub fn enclose(&mut self, body: BodyId) {
        while self.stack.len() > 1 {
            self.leave();
        }
        self.stack[0].is_cut = true;
        let mut running = Running::new(body, true);
        running.calls = std::mem::take(&mut self.stack[0].calls);
        let has_calls = !running.calls.round.is_empty() || !running.calls.rounds.is_empty();
        running.calls.is_cut = has_calls;
        running.calls.in_cut_round |= has_calls && running.calls.rounds.is_empty();
        self.stack.push(running);
    }

    /// A statement of the newest body ran.
    pub fn statement(&mut self, site: StatementId) {
        self.count(site, 1);
        let (text, shapes) = (self.text, &mut *self.shapes);
        let Some(running) = self.stack.last_mut() else { return };
        running.end_calls(shapes);
        running.move_to(site, text, shapes);
        running.push(ShapeItem::Statement(site));
        running.last = Some(site);
    }

    /// A statement ran this number of times, at places that are not known or that were given before.
    pub fn count(&mut self, site: StatementId, times: u64) {
        let order = &mut self.order;
        let runs = self.runs.entry(site).or_insert_with(|| {
            order.push(site);
            StatementRuns::default()
        });
        runs.count = runs.count.saturating_add(times);
        if self.failure.is_some_and(|failure| runs.last <= failure.at) {
            runs.before_failure = runs.last;
        }
        self.now += 1;
        runs.last = self.now;
    }

    /// The newest body ended.
    pub fn leave(&mut self) {
        if self.stack.len() < 2 {
            return;
        }
        let Some(running) = self.stack.pop() else { return };
        let (body, is_cut) = (running.body, running.is_cut);
        let shape = running.end(self.shapes);
        if let Some(caller) = self.stack.last_mut() {
            caller.calls.add(body, shape, is_cut, caller.last, self.shapes);
        }
    }

    /// The newest body was left in the middle, or the history ends in it.
    pub fn end(&mut self, end: HistoryEnd) {
        if end != HistoryEnd::Cut {
            self.failure = Some(Failure { at: self.now, known: self.order.len() });
        }
        if let Some(running) = self.stack.last_mut() {
            running.end_calls(self.shapes);
            running.push(ShapeItem::End(end));
        }
    }

    /// Something is missing here: what follows is a history that began earlier. Counts stay. Returns the shape of what ran so
    /// far.
    pub fn restart(&mut self) -> ShapeId {
        self.end(HistoryEnd::Cut);
        let outside = self.outside();
        self.stack = vec![Running::new(OUTSIDE, true)];
        outside.end(self.shapes)
    }

    /// Ends what runs, up to the code outside.
    fn outside(&mut self) -> Running {
        while self.stack.len() > 1 {
            self.leave();
        }
        self.stack.remove(0)
    }

    /// The number of bodies that run.
    #[cfg(test)]
    pub fn depth(&self) -> usize {
        self.stack.len() - 1
    }

    /// The shape of all that ran.
    pub fn finish(mut self) -> Built {
        let outside = self.outside();
        let before_panic = self.failure.map_or(self.order.len(), |failure| failure.known);
        let distance = |(site, runs): (&StatementId, &StatementRuns)| {
            let at = self.failure?.at;
            let last = if runs.last <= at { runs.last } else { runs.before_failure };
            (last > 0).then(|| (*site, at - last))
        };
        Built {
            distances: self.runs.iter().filter_map(distance).collect(),
            counts: self.runs.into_iter().map(|(site, runs)| (site, runs.count)).collect(),
            root: outside.end(self.shapes),
            order: self.order,
            before_panic,
        }
    }
}

impl Running {
    fn new(body: BodyId, is_cut: bool) -> Running {
        let (items, loops) = (Vec::new(), Vec::new());
        Running { body, is_cut, items, loops, last: None, calls: CallRounds::default() }
    }

    /// Adds a step to the innermost loop.
    fn push(&mut self, item: ShapeItem) {
        self.loops.last_mut().map_or(&mut self.items, |innermost| &mut innermost.items).push(item);
    }

    /// Ends and begins loops and rounds between the last statement and this one.
    fn move_to<T: TextOrder>(&mut self, site: StatementId, text: &T, shapes: &mut Shapes) {
        let around = text.loops(site);
        let common = self.loops.iter().zip(around).take_while(|(running, number)| running.number == **number);
        let common = common.count();
        while self.loops.len() > common {
            self.end_loop(shapes);
        }
        let is_back = self.last.is_some_and(|last| text.position(site) <= text.position(last));
        if is_back && let Some(innermost) = self.loops.last_mut() {
            innermost.end_round(shapes);
        }
        // In a body that began before the history, the first statement may be anywhere in its loops.
        let is_cut = self.is_cut && self.last.is_none();
        for number in &around[common..] {
            let mut begun = RunningLoop {
                number: *number,
                is_cut,
                in_cut_round: is_cut,
                rounds: HashSet::new(),
                items: Vec::new(),
            };
            if is_cut {
                // What ran before belongs to the round that was cut.
                begun.items =
                    std::mem::take(self.loops.last_mut().map_or(&mut self.items, |of| &mut of.items));
            }
            self.loops.push(begun);
        }
    }

    fn end_loop(&mut self, shapes: &mut Shapes) {
        let Some(mut ended) = self.loops.pop() else { return };
        ended.end_round(shapes);
        let of = Repeater::Loop(ended.number);
        let shape = rounds(of, ended.is_cut, ended.rounds, shapes);
        self.push(ShapeItem::Repeated(shape));
    }

    fn end_calls(&mut self, shapes: &mut Shapes) {
        let of = Repeater::Calls(self.last);
        if let Some(shape) = std::mem::take(&mut self.calls).end(of, shapes) {
            self.push(ShapeItem::Repeated(shape));
        }
    }

    fn end(mut self, shapes: &mut Shapes) -> ShapeId {
        self.end_calls(shapes);
        while !self.loops.is_empty() {
            self.end_loop(shapes);
        }
        let (owner, items) = (Owner::Body(self.body), self.items.into());
        shapes.number(Shape::Sequence { owner, is_cut: self.is_cut, items })
    }
}

impl RunningLoop {
    fn end_round(&mut self, shapes: &mut Shapes) {
        let owner = Owner::Round(Repeater::Loop(self.number));
        let is_cut = std::mem::take(&mut self.in_cut_round);
        let items = std::mem::take(&mut self.items).into();
        self.rounds.insert(shapes.number(Shape::Sequence { owner, is_cut, items }));
    }
}

impl CallRounds {
    fn add(
        &mut self,
        body: BodyId,
        shape: ShapeId,
        is_cut: bool,
        of: Option<StatementId>,
        shapes: &mut Shapes,
    ) {
        if self.round.iter().any(|(other, _)| *other == body) {
            self.end_round(Repeater::Calls(of), shapes);
        }
        self.is_cut |= is_cut;
        self.in_cut_round |= is_cut;
        self.round.push((body, shape));
    }

    fn end_round(&mut self, of: Repeater, shapes: &mut Shapes) {
        let items = self.round.drain(..).map(|(_, shape)| ShapeItem::Call(shape)).collect();
        let (owner, is_cut) = (Owner::Round(of), std::mem::take(&mut self.in_cut_round));
        self.rounds.insert(shapes.number(Shape::Sequence { owner, is_cut, items }));
    }

    /// The shape of all calls; `None` without any.
    fn end(mut self, of: Repeater, shapes: &mut Shapes) -> Option<ShapeId> {
        if !self.round.is_empty() {
            self.end_round(of, shapes);
        }
        (!self.rounds.is_empty()).then(|| rounds(of, self.is_cut, self.rounds, shapes))
    }
}

/// Rounds in the order of their numbers: their order in time, and how often each ran, make no difference.
fn rounds(of: Repeater, is_cut: bool, rounds: HashSet<ShapeId>, shapes: &mut Shapes) -> ShapeId {
    let mut rounds: Vec<ShapeId> = rounds.into_iter().collect();
    rounds.sort_unstable();
    shapes.number(Shape::Rounds { of, is_cut, rounds: rounds.into() })
}
