//! Shapes of histories: trees of what ran, in which loops have no count. Each distinct tree is stored once, so two parts of
//! histories ran alike exactly if their shapes have the same number.

use std::collections::HashMap;
use std::rc::Rc;

pub use xhist_history::calls::{BodyId, StatementId};

/// The code without statements that called the first bodies of a thread.
pub const OUTSIDE: BodyId = BodyId(u32::MAX);

/// The number of a shape. Shapes are numbered in the order in which they first ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShapeId(u32);

impl ShapeId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Why a history ends in the middle of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HistoryEnd {
    /// The thread panicked.
    Panic,
    /// A fatal signal arrived.
    Signal(u8),
    /// The program was killed, or is still running.
    Cut,
}

/// One step of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ShapeItem {
    /// A statement.
    Statement(StatementId),
    /// A body that was called: a sequence.
    Call(ShapeId),
    /// The iterations of a loop, or the calls of a statement.
    Repeated(ShapeId),
    /// The history ends here, or control flow left by a panic.
    End(HistoryEnd),
}

impl ShapeItem {
    /// The shape of what was called or repeated.
    pub fn shape(self) -> Option<ShapeId> {
        match self {
            ShapeItem::Call(shape) | ShapeItem::Repeated(shape) => Some(shape),
            ShapeItem::Statement(_) | ShapeItem::End(_) => None,
        }
    }
}

/// What a sequence is one run of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// Of a body.
    Body(BodyId),
    /// Of a round of repeated code.
    Round(Repeater),
}

/// Code that is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Repeater {
    /// A loop, by its number in the program.
    Loop(u32),
    /// A statement whose calls these are: a library may call a closure any number of times.
    Calls(Option<StatementId>),
}

/// A tree of what ran.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One run of a body, or one round of a loop.
    Sequence {
        /// Of what.
        owner: Owner,
        /// It began before the history does.
        is_cut: bool,
        /// What it did, in order.
        items: Box<[ShapeItem]>,
    },
    /// The distinct rounds of repeated code: sequences, by their numbers.
    Rounds {
        /// The code.
        of: Repeater,
        /// It began before the history does.
        is_cut: bool,
        /// Each distinct round, once.
        rounds: Box<[ShapeId]>,
    },
}

/// All shapes of the histories that are compared.
#[derive(Debug, Default)]
pub struct Shapes {
    all: Vec<Rc<Shape>>,
    numbers: HashMap<Rc<Shape>, ShapeId>,
}

impl Shapes {
    /// The number of a shape, which may be known already.
    pub fn number(&mut self, shape: Shape) -> ShapeId {
        if let Some(number) = self.numbers.get(&shape) {
            return *number;
        }
        let (shape, number) = (Rc::new(shape), ShapeId(self.all.len() as u32));
        self.all.push(Rc::clone(&shape));
        self.numbers.insert(shape, number);
        number
    }

    /// A shape.
    pub fn of(&self, number: ShapeId) -> &Shape {
        &self.all[number.0 as usize]
    }

    /// The steps of a sequence; none of rounds.
    pub fn items(&self, number: ShapeId) -> &[ShapeItem] {
        match self.of(number) {
            Shape::Sequence { items, .. } => items,
            Shape::Rounds { .. } => &[],
        }
    }

    /// What a sequence is one run of.
    pub fn owner(&self, number: ShapeId) -> Option<Owner> {
        match self.of(number) {
            Shape::Sequence { owner, .. } => Some(*owner),
            Shape::Rounds { .. } => None,
        }
    }

    /// The body of a call.
    pub fn body(&self, number: ShapeId) -> Option<BodyId> {
        match self.owner(number)? {
            Owner::Body(body) => Some(body),
            Owner::Round(_) => None,
        }
    }

    /// Repeated code and its distinct rounds.
    pub fn rounds(&self, number: ShapeId) -> Option<(Repeater, &[ShapeId])> {
        match self.of(number) {
            Shape::Rounds { of, rounds, .. } => Some((*of, rounds)),
            Shape::Sequence { .. } => None,
        }
    }

    /// Whether it began before the history does.
    pub fn is_cut(&self, number: ShapeId) -> bool {
        match self.of(number) {
            Shape::Sequence { is_cut, .. } | Shape::Rounds { is_cut, .. } => *is_cut,
        }
    }

    /// Of each shape, by its number, whether control flow never came back from it: a panic, a signal, the end of the history.
    pub fn ended(&self) -> Vec<bool> {
        let mut ended: Vec<bool> = Vec::with_capacity(self.all.len());
        // The parts of a shape are numbered before it.
        let is_ended = |ended: &[bool], part: ShapeId| ended.get(part.index()).copied().unwrap_or(false);
        for shape in &self.all {
            let is = match &**shape {
                Shape::Sequence { items, .. } => match items.last() {
                    Some(ShapeItem::End(_)) => true,
                    Some(ShapeItem::Call(part) | ShapeItem::Repeated(part)) => is_ended(&ended, *part),
                    Some(ShapeItem::Statement(_)) | None => false,
                },
                Shape::Rounds { rounds, .. } => rounds.iter().any(|round| is_ended(&ended, *round)),
            };
            ended.push(is);
        }
        ended
    }

    /// The shapes in a tree, each once, parents first.
    pub fn within(&self, root: ShapeId) -> Vec<ShapeId> {
        let mut seen = vec![false; self.all.len()];
        let (mut found, mut todo) = (Vec::new(), vec![root]);
        while let Some(shape) = todo.pop() {
            if std::mem::replace(&mut seen[shape.0 as usize], true) {
                continue;
            }
            found.push(shape);
            match self.of(shape) {
                Shape::Sequence { items, .. } => {
                    todo.extend(items.iter().rev().filter_map(|item| match item {
                        ShapeItem::Call(shape) | ShapeItem::Repeated(shape) => Some(*shape),
                        ShapeItem::Statement(_) | ShapeItem::End(_) => None,
                    }));
                }
                Shape::Rounds { rounds, .. } => todo.extend(rounds.iter().rev()),
            }
        }
        found
    }
}
