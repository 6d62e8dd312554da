//! What the statements of a function do to one of its variables.

use std::collections::HashMap;

use super::syntax::{
    Declaration, DeclaredBy, Expression, ExpressionKind, SourceFunction, declarations, own_parts, points,
    resolve,
};

/// A variable, without a borrow of the syntax.
#[derive(Clone, Debug)]
pub struct KnownVariable {
    /// Its name.
    pub name: String,
    /// The first byte of its name.
    pub at: u32,
    /// The point that declares it.
    pub point: u32,
    /// A byte at which its name means it.
    pub at_scope: u32,
    /// The first point of each round of the loop that gives it its value.
    pub round: Option<u32>,
    /// The body that it is a name of.
    pub body: std::ops::Range<u32>,
    /// The fields that lead to it in what it is taken from.
    pub fields: Option<Vec<String>>,
    /// What gives it its value.
    pub by: GivenBy,
    /// It is written with `mut`, or refers to what can be changed.
    pub is_changeable: bool,
    /// It may be such a reference, so a function that gets it can change that.
    pub refers: bool,
}

/// What gives a variable its value.
#[derive(Clone, Debug)]
pub enum GivenBy {
    /// This expression; `None` for a `let` without one.
    Value(Option<Expression>),
    /// An element of this.
    Element(Expression),
    /// A parameter of the function, by its number.
    Parameter(usize),
    /// A parameter of a closure.
    ClosureParameter,
}

/// What a statement does to a variable.
#[derive(Clone, Debug)]
pub enum Change {
    /// It declares it.
    Declared,
    /// It begins a round of the loop that declares it.
    Begun,
    /// It assigns these fields of it; the operator of `+=`.
    Assigned(Vec<String>, Option<String>, Expression),
    /// It passes these fields of it to a function with this name, as this argument.
    Passed(String, usize, Vec<String>),
    /// It makes a reference that can change these fields of it, or passes it to a macro.
    Lent(Vec<String>),
}

/// The variable that a name at this byte means.
pub fn variable(function: &SourceFunction, name: &str, at: u32) -> Option<KnownVariable> {
    let all = declarations(function);
    let found = resolve(&all, name, at)?;
    Some(known(function, found))
}

/// The variable with this name that a statement declares or that is known behind it.
pub fn variable_behind(function: &SourceFunction, name: &str, point: u32) -> Option<KnownVariable> {
    let all = declarations(function);
    let end = points(function).iter().find(|known| known.range.start == point).map(|known| known.range.end);
    let declared = all.iter().rfind(|found| found.point == point && found.name.name == name);
    let found = end.and_then(|end| resolve(&all, name, end));
    Some(known(function, found.or(declared).or_else(|| resolve(&all, name, point))?))
}

fn known(function: &SourceFunction, found: &Declaration<'_>) -> KnownVariable {
    let lends = |value: &Expression| matches!(value.kind, ExpressionKind::Reference(true, _));
    let (by, refers) = match found.by {
        DeclaredBy::Value(value) => (GivenBy::Value(value.cloned()), value.is_some_and(lends)),
        DeclaredBy::For(over) => (GivenBy::Element(over.clone()), true),
        DeclaredBy::Parameter(number) => {
            let parameter = function.parameters.get(number);
            (GivenBy::Parameter(number), parameter.is_some_and(|parameter| parameter.is_mut_reference))
        }
        DeclaredBy::ClosureParameter => (GivenBy::ClosureParameter, true),
    };
    KnownVariable {
        name: found.name.name.clone(),
        at: found.name.at,
        point: found.point,
        at_scope: found.scope.start,
        round: found.round,
        body: found.body.clone(),
        fields: found.name.fields.clone(),
        by,
        is_changeable: found.name.is_mut || refers,
        refers,
    }
}

/// A place: a variable and fields of it. References to it and parentheses around it are left out.
pub fn place(expression: &Expression) -> Option<(&str, Vec<String>)> {
    let (mut at, mut fields) = (expression, Vec::new());
    loop {
        match &at.kind {
            ExpressionKind::Path(segments) if segments.len() == 1 => {
                fields.reverse();
                return Some((&segments[0], fields));
            }
            ExpressionKind::Field(of, name) => {
                fields.push(name.clone());
                at = of;
            }
            ExpressionKind::Same(of) | ExpressionKind::Reference(_, of) => at = of,
            // An element is a part of the whole.
            ExpressionKind::Index(of, _) => {
                fields.clear();
                fields.push("[]".to_owned());
                at = of;
            }
            _ => return None,
        }
    }
}

/// What the points of a function do to a variable, by their first bytes, in the order of the text.
pub fn changes(function: &SourceFunction, variable: &KnownVariable) -> HashMap<u32, Vec<Change>> {
    let all = declarations(function);
    let of_variable = |expression: &Expression| -> Option<Vec<String>> {
        let (name, fields) = place(expression)?;
        let found = (name == variable.name).then(|| resolve(&all, name, expression.range.start))??;
        (found.name.at == variable.at).then_some(fields)
    };
    let mut found: HashMap<u32, Vec<Change>> = HashMap::new();
    found.entry(variable.point).or_default().push(Change::Declared);
    // What a point changes comes behind what begins with it.
    variable.round.iter().for_each(|round| found.entry(*round).or_default().push(Change::Begun));
    for point in points(function) {
        let changes = found.entry(point.range.start).or_default();
        for part in point.value.into_iter().flat_map(own_parts) {
            match &part.kind {
                ExpressionKind::Assign(to, operator, value) => {
                    match of_variable(to) {
                        Some(fields) => {
                            changes.push(Change::Assigned(fields, operator.clone(), (**value).clone()));
                        }
                        // `*a.slot() = b`.
                        None if place(to).is_none() => {
                            changes
                                .extend(own_parts(to).into_iter().filter_map(of_variable).map(Change::Lent));
                        }
                        None => {}
                    }
                }
                ExpressionKind::Method(of, name, arguments) => {
                    for (number, argument) in std::iter::once(&**of).chain(arguments).enumerate() {
                        let is_lent = number == 0 || may_lend(argument, variable);
                        if let Some(fields) = of_variable(argument).filter(|_| is_lent) {
                            changes.push(Change::Passed(name.clone(), number, fields));
                        }
                    }
                }
                ExpressionKind::Call(to, arguments) => {
                    let name = match &to.kind {
                        ExpressionKind::Path(segments) => segments.last().cloned().unwrap_or_default(),
                        _ => String::new(),
                    };
                    for (number, argument) in arguments.iter().enumerate() {
                        if let Some(fields) = of_variable(argument).filter(|_| may_lend(argument, variable)) {
                            changes.push(Change::Passed(name.clone(), number, fields));
                        }
                    }
                }
                ExpressionKind::Macro(name, arguments) => {
                    let reads = READING_MACROS.contains(&&**name);
                    let arguments = arguments.iter().flatten();
                    changes.extend(arguments.filter_map(of_variable).filter(|_| !reads).map(Change::Lent));
                }
                ExpressionKind::Reference(true, of) if !is_argument(&point.value, part) => {
                    changes.extend(of_variable(of).map(Change::Lent));
                }
                _ => {}
            }
        }
        // What is on the right of `=` runs before it assigns.
        changes.sort_by_key(|change| matches!(change, Change::Assigned(..)));
    }
    found
}

/// Macros that do not change what they get.
const READING_MACROS: [&str; 20] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "println",
    "print",
    "eprintln",
    "eprint",
    "format",
    "panic",
    "dbg",
    "vec",
    "matches",
    "todo",
    "unreachable",
    "format_args",
    "unimplemented",
    "concat",
];

/// Whether the called function may change what it gets: `&mut a`, or `a`, which may be such a reference.
fn may_lend(argument: &Expression, variable: &KnownVariable) -> bool {
    match argument.kind {
        ExpressionKind::Reference(is_mut, _) => is_mut,
        _ => variable.refers,
    }
}

/// Whether an expression is an argument of a call in a statement.
fn is_argument(statement: &Option<&Expression>, wanted: &Expression) -> bool {
    let is_among = |arguments: &[Expression]| arguments.iter().any(|argument| argument.range == wanted.range);
    statement.iter().flat_map(|statement| own_parts(statement)).any(|part| match &part.kind {
        ExpressionKind::Call(_, arguments) | ExpressionKind::Method(_, _, arguments) => is_among(arguments),
        _ => false,
    })
}
