//! The names that a function declares and where each is known, and the points of a function, which are recorded as statements.

use std::ops::Range;

use super::tree::{
    BoundName, Expression, ExpressionKind, NamedPattern, SourceFunction, SyntaxBlock, SyntaxPart,
    SyntaxStatement,
};

/// A name that a function declares.
#[derive(Clone, Debug)]
pub struct Declaration<'s> {
    /// The name.
    pub name: &'s BoundName,
    /// Where it is known.
    pub scope: Range<u32>,
    /// What gives it its value.
    pub by: DeclaredBy<'s>,
    /// The body of the closure or function that it is a name of.
    pub body: Range<u32>,
    /// The point that declares it.
    pub point: u32,
    /// The first point in the body of the loop that gives it another value in each round.
    pub round: Option<u32>,
}

/// What gives a declared name its value.
#[derive(Clone, Copy, Debug)]
pub enum DeclaredBy<'s> {
    /// The value of a `let`, or what a `match`, an `if let` or a `while let` takes apart.
    Value(Option<&'s Expression>),
    /// What a `for` goes over.
    For(&'s Expression),
    /// A parameter of the function, by its number.
    Parameter(usize),
    /// A parameter of a closure.
    ClosureParameter,
}

/// What is recorded as one statement: a statement, the body of an arm, or that of a closure.
#[derive(Clone, Debug)]
pub struct Point<'s> {
    /// Where it is, with the `let` in front.
    pub range: Range<u32>,
    /// Its value.
    pub value: Option<&'s Expression>,
}

/// All names that a function declares.
pub fn declarations(function: &SourceFunction) -> Vec<Declaration<'_>> {
    let body = function.body.range.clone();
    let mut found = Vec::new();
    for (number, parameter) in function.parameters.iter().enumerate() {
        let declare = |name| Declaration {
            name,
            scope: body.clone(),
            by: DeclaredBy::Parameter(number),
            body: body.clone(),
            point: body.start,
            round: None,
        };
        found.extend(parameter.pattern.names.iter().map(declare));
    }
    let mut walk =
        ScopeWalk { found, body, point: function.body.range.start, points: Vec::new(), round: None };
    walk.block(&function.body);
    walk.found
}

/// All points of a function, in the order of the text.
pub fn points(function: &SourceFunction) -> Vec<Point<'_>> {
    let body = function.body.range.clone();
    let mut walk = ScopeWalk { found: Vec::new(), point: body.start, body, points: Vec::new(), round: None };
    walk.block(&function.body);
    walk.points
}

/// The declaration that a name at this byte means.
pub fn resolve<'d, 's>(
    declarations: &'d [Declaration<'s>],
    name: &str,
    at: u32,
) -> Option<&'d Declaration<'s>> {
    let is_it = |found: &&Declaration<'_>| found.name.name == name && found.scope.contains(&at);
    declarations.iter().filter(is_it).max_by_key(|found| (found.scope.start, found.name.at))
}

/// The body of the innermost closure that has this byte, or that of the function.
pub fn innermost(function: &SourceFunction, at: u32) -> Range<u32> {
    let mut bodies = vec![function.body.range.clone()];
    for point in points(function) {
        for part in point.value.into_iter().flat_map(own_parts) {
            if let ExpressionKind::Closure(_, body) = &part.kind
                && body.range.contains(&at)
            {
                bodies.push(body.range.clone());
            }
        }
    }
    bodies.into_iter().min_by_key(ExactSizeIterator::len).unwrap_or_default()
}

/// An expression and its parts that are of the same point: not those in blocks, arms and closures. Outer parts come first.
pub fn own_parts(expression: &Expression) -> Vec<&Expression> {
    let mut found = vec![expression];
    let mut next = 0;
    while next < found.len() {
        let part = found[next];
        next += 1;
        if matches!(part.kind, ExpressionKind::Closure(..)) {
            continue;
        }
        for inner in part.parts() {
            match inner {
                SyntaxPart::Expression(inner) => found.push(inner),
                SyntaxPart::Arm(arm) => found.extend(&arm.guard),
                SyntaxPart::Block(_) => {}
            }
        }
    }
    found
}

fn first_point(body: &SyntaxBlock) -> Option<u32> {
    let is_point = |statement: &&SyntaxStatement| statement.value.is_some() || statement.pattern.is_some();
    body.statements.iter().find(is_point).map(|first| first.range.start)
}

/// Walks through a function.
struct ScopeWalk<'s> {
    found: Vec<Declaration<'s>>,
    points: Vec<Point<'s>>,
    body: Range<u32>,
    point: u32,
    round: Option<u32>,
}

impl<'s> ScopeWalk<'s> {
    fn declare(&mut self, pattern: &'s NamedPattern, scope: Range<u32>, by: DeclaredBy<'s>) {
        let (body, point, round) = (self.body.clone(), self.point, self.round);
        let declare = |name| Declaration { name, scope: scope.clone(), by, body: body.clone(), point, round };
        self.found.extend(pattern.names.iter().map(declare));
    }

    fn block(&mut self, block: &'s SyntaxBlock) {
        let (outer, round) = (self.point, self.round.take());
        for statement in &block.statements {
            self.point = statement.range.start;
            let value = statement.value.as_ref();
            if value.is_some() || statement.pattern.is_some() {
                self.points.push(Point { range: statement.range.clone(), value });
            }
            if let Some(value) = value {
                self.expression(value, statement.range.end);
            }
            if let Some(otherwise) = &statement.otherwise {
                self.block(otherwise);
                self.point = statement.range.start;
            }
            if let Some(pattern) = &statement.pattern {
                let scope = statement.range.end..block.range.end;
                self.declare(pattern, scope, DeclaredBy::Value(value));
            }
        }
        (self.point, self.round) = (outer, round);
    }

    /// `end`: behind what the names in a condition are known in.
    fn expression(&mut self, expression: &'s Expression, end: u32) {
        match &expression.kind {
            ExpressionKind::Let(pattern, value) => {
                self.declare(pattern, expression.range.end..end, DeclaredBy::Value(Some(value)));
                self.expression(value, end);
            }
            ExpressionKind::If(condition, then, otherwise) => {
                self.expression(condition, then.range.end);
                self.block(then);
                otherwise.iter().for_each(|otherwise| self.expression(otherwise, end));
            }
            ExpressionKind::Loop(condition, body) => {
                let outer = std::mem::replace(&mut self.round, first_point(body));
                condition.iter().for_each(|condition| self.expression(condition, body.range.end));
                self.round = outer;
                self.block(body);
            }
            ExpressionKind::For(pattern, over, body) => {
                self.expression(over, end);
                let outer = std::mem::replace(&mut self.round, first_point(body));
                self.declare(pattern, body.range.clone(), DeclaredBy::For(over));
                self.round = outer;
                self.block(body);
            }
            ExpressionKind::Match(on, arms) => {
                self.expression(on, end);
                for arm in arms {
                    self.declare(&arm.pattern, arm.range.clone(), DeclaredBy::Value(Some(on)));
                    arm.guard.iter().for_each(|guard| self.expression(guard, arm.range.end));
                    self.point_of(&arm.body, arm.range.end);
                }
            }
            ExpressionKind::Closure(parameters, body) => {
                let outer = std::mem::replace(&mut self.body, body.range.clone());
                let statement = std::mem::replace(&mut self.point, body.range.start);
                for parameter in parameters {
                    self.declare(parameter, body.range.clone(), DeclaredBy::ClosureParameter);
                }
                self.point = statement;
                self.point_of(body, body.range.end);
                self.body = outer;
            }
            _ => {
                for part in expression.parts() {
                    match part {
                        SyntaxPart::Expression(part) => self.expression(part, end),
                        SyntaxPart::Block(block) => self.block(block),
                        SyntaxPart::Arm(_) => {}
                    }
                }
            }
        }
    }

    /// An expression that is a point of its own.
    fn point_of(&mut self, expression: &'s Expression, end: u32) {
        let outer = std::mem::replace(&mut self.point, expression.range.start);
        self.points.push(Point { range: expression.range.clone(), value: Some(expression) });
        self.expression(expression, end);
        self.point = outer;
    }
}
