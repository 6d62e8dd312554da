//! A value to follow, on its way back.

use super::frames::{OwnStep, SyntaxFrame};
use super::syntax::Expression;
use crate::recording::StepId;

/// A value to follow: that of some fields of an expression.
#[derive(Clone)]
pub struct Quest {
    /// The expression.
    pub expression: Expression,
    /// Where its names are looked up.
    pub at: u32,
    /// The fields of it that are followed.
    pub fields: Vec<String>,
    /// The call that evaluates it.
    pub frame: SyntaxFrame,
    /// The statement that does.
    pub own: OwnStep,
    /// Changes before this step count.
    pub before: StepId,
    /// The statement evaluates it before this step. The head of a loop does so again in each round, and is recorded once.
    pub limit: StepId,
    /// The value of the fields, if it is recorded.
    pub known: Option<String>,
}

impl Quest {
    /// The value of an expression that a statement has, as that statement makes it.
    pub fn new(expression: Expression, frame: SyntaxFrame, own: OwnStep) -> Quest {
        let (at, before) = (expression.range.start, own.step);
        Quest { expression, at, fields: Vec::new(), frame, own, before, limit: before, known: None }
    }

    /// The same value, as that of another expression of the same statement.
    pub fn of(self, expression: &Expression) -> Quest {
        Quest { expression: expression.clone(), ..self }
    }

    /// The same for a field of that.
    pub fn field_of(mut self, expression: &Expression, field: &str) -> Quest {
        self.fields.insert(0, field.to_owned());
        self.of(expression)
    }

    /// That of the rest of the fields, behind the first.
    pub fn inner(mut self) -> Quest {
        self.fields.remove(0);
        self
    }

    /// The same value as that of what `Some` or `Ok` has in it; `None` if it may be an error or nothing.
    pub fn inner_value(&self) -> Option<Quest> {
        let known = match (self.fields.first(), self.known.as_deref()) {
            (Some(first), _) if first == "0" => return Some(self.clone()),
            (None, Some(known)) => ["Some", "Ok"].iter().find_map(|name| wrapped(known, name))?,
            _ => return None,
        };
        Some(Quest { fields: vec!["0".to_owned()], known: Some(known.to_owned()), ..self.clone() })
    }
}

/// Of the value `Some(3)` and the name `Some` the `3`.
pub fn wrapped<'k>(known: &'k str, name: &str) -> Option<&'k str> {
    known.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}
