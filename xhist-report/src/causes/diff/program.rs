//! The statements of a program as histories are compared by: their places, their bodies, and the loops around them.

use std::sync::Arc;

use qs_core::record::Statement;

use super::align::Parting;
use super::build::TextOrder;
use super::shape::OUTSIDE;
use crate::causes::suspects::{Role, role};
use xhist_history::calls::{Body, BodyId, StatementId, Structure};
use xhist_history::model::{Names, Span};

/// The statements of a program.
pub struct ComparedProgram {
    /// Its bodies and statements.
    pub structure: Arc<Structure>,
    /// The loops around each statement, outermost first.
    loops_around: Vec<Vec<u32>>,
    /// File id and line of each loop.
    loops: Vec<(u16, u32)>,
    /// Whose code each body is.
    roles: Vec<Role>,
}

impl ComparedProgram {
    /// The program that a map describes.
    pub fn of(names: &Names) -> ComparedProgram {
        let structure = Arc::new(Structure::of(names));
        let of = |body: &Body| role(names.path(body.file).unwrap_or_default(), &body.path);
        let roles = structure.bodies().iter().map(of).collect();
        let mut program = ComparedProgram { structure, loops_around: Vec::new(), loops: Vec::new(), roles };
        program.add_loops(names);
        program
    }

    /// Finds the loops of all statements, which are in the order of their text, file by file.
    fn add_loops(&mut self, names: &Names) {
        let has_loops = names.has_calls();
        let (mut file, mut nested, mut first) = (None, Nested::default(), 0);
        for id in 0..self.structure.unknown().0 {
            let id = StatementId(id);
            let (of, span) = self.structure.place(id);
            if file != Some(of) {
                file = Some(of);
                first = self.loops.len() as u32;
                let code = names.code(of).filter(|_| has_loops);
                nested = Nested::new(code.map_or(&[][..], |code| &code.loops));
                self.loops.extend(nested.all.iter().map(|span| (of, span.line)));
            }
            let body = self.structure.body(self.structure.body_of(id)).span;
            let is_own = |of: &Span| start(*of) < start(span) && (body.line == 0 || body.contains(of));
            let around = nested.around(span).into_iter().filter(|(_, of)| is_own(of));
            self.loops_around.push(around.map(|(number, _)| first + number as u32).collect());
            if !has_loops {
                // Any statement may be a loop.
                nested.push(span);
                self.loops.push((of, span.line));
            }
        }
    }

    /// The statement that was recorded; `None` if the map does not have it. `before` is the newest one.
    pub fn find(&self, recorded: Statement, before: Option<StatementId>) -> Option<StatementId> {
        let found = self.structure.statement(recorded, before);
        (found != self.structure.unknown()).then_some(found)
    }

    /// File id and line of a statement.
    pub fn place(&self, statement: StatementId) -> (u16, u32) {
        let (file, span) = self.structure.place(statement);
        (file, span.line)
    }

    /// Name of a body; empty for the code outside.
    pub fn body_name(&self, body: BodyId) -> String {
        if body == OUTSIDE { String::new() } else { self.structure.body(body).name() }
    }

    /// Whose code a parting is in.
    pub fn role(&self, parting: &Parting) -> Role {
        parting.stack.last().map_or(Role::Own, |level| self.role_of(level.body))
    }

    /// Whose code a body is.
    pub fn role_of(&self, body: BodyId) -> Role {
        self.roles.get(body.0 as usize).copied().unwrap_or(Role::Own)
    }

    /// File id and line of a loop.
    pub fn loop_place(&self, number: u32) -> (u16, u32) {
        self.loops[number as usize]
    }

    /// Whether there is any statement.
    pub fn is_empty(&self) -> bool {
        self.structure.unknown().0 == 0
    }
}

impl TextOrder for ComparedProgram {
    fn position(&self, statement: StatementId) -> u64 {
        u64::from(statement.0)
    }

    fn loops(&self, statement: StatementId) -> &[u32] {
        self.loops_around.get(statement.0 as usize).map_or(&[], Vec::as_slice)
    }
}

fn start(span: Span) -> (u32, u32) {
    (span.line, span.col)
}

/// Places that contain each other or are apart.
#[derive(Default)]
struct Nested {
    /// In the order of the text, outer ones first.
    all: Vec<Span>,
    next: usize,
    /// Those around the newest place that was asked for, outermost first.
    open: Vec<usize>,
}

impl Nested {
    fn new(all: &[Span]) -> Nested {
        let mut all = all.to_vec();
        all.sort_by_key(|span| (start(*span), std::cmp::Reverse((span.end_line, span.end_col))));
        Nested { all, ..Nested::default() }
    }

    /// Adds a place, the last one in the order of the text so far.
    fn push(&mut self, span: Span) {
        self.all.push(span);
    }

    /// The places around this one, outermost first. Must be asked for in the order of the text.
    fn around(&mut self, inner: Span) -> Vec<(usize, Span)> {
        while let Some(next) = self.all.get(self.next).copied()
            && start(next) <= start(inner)
        {
            self.close(next);
            self.open.push(self.next);
            self.next += 1;
        }
        self.close(inner);
        self.open.iter().map(|open| (*open, self.all[*open])).collect()
    }

    fn close(&mut self, inner: Span) {
        while self.open.last().is_some_and(|open| !self.all[*open].contains(&inner)) {
            self.open.pop();
        }
    }
}
