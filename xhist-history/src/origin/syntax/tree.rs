//! The syntax of a function's body, as far as values come from it.

use std::ops::Range;

/// An expression, with its place in the text in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Where it is.
    pub range: Range<u32>,
    /// What it is.
    pub kind: ExpressionKind,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionKind {
    /// `a`, `A::B`: its segments.
    Path(Vec<String>),
    /// A number, text or character.
    Literal,
    /// `a.b`, `a.0`.
    Field(Box<Expression>, String),
    /// `a[i]`.
    Index(Box<Expression>, Box<Expression>),
    /// `f(a)`.
    Call(Box<Expression>, Vec<Expression>),
    /// `a.f(b)`.
    Method(Box<Expression>, String, Vec<Expression>),
    /// `f!(a)`; `None` if what is in it is no list of expressions.
    Macro(String, Option<Vec<Expression>>),
    /// `&a`, and whether it is `&mut a`.
    Reference(bool, Box<Expression>),
    /// `*a`, `(a)`, `a.await`, `unsafe { a }`: the value of what is in it.
    Same(Box<Expression>),
    /// `a as T`.
    Cast(Box<Expression>),
    /// `a?`.
    Try(Box<Expression>),
    /// `-a`, `a + b`, `a..b`, `[a, b]`: made of these.
    Made(Vec<Expression>),
    /// `(a, b)`.
    Tuple(Vec<Expression>),
    /// `A { b: c, ..d }`.
    Struct(Vec<(String, Expression)>, Option<Box<Expression>>),
    /// `a = b`; the operator of `a += b`.
    Assign(Box<Expression>, Option<String>, Box<Expression>),
    /// A block.
    Block(SyntaxBlock),
    /// `if`, with the block for true and what is behind `else`.
    If(Box<Expression>, SyntaxBlock, Option<Box<Expression>>),
    /// `let a = b` in a condition.
    Let(NamedPattern, Box<Expression>),
    /// `match`.
    Match(Box<Expression>, Vec<SyntaxArm>),
    /// `loop`, and `while` with its condition.
    Loop(Option<Box<Expression>>, SyntaxBlock),
    /// `for a in b`.
    For(NamedPattern, Box<Expression>, SyntaxBlock),
    /// A closure or an async block: its parameters and its body.
    Closure(Vec<NamedPattern>, Box<Expression>),
    /// `return a`.
    Return(Option<Box<Expression>>),
    /// `break a`, `continue`.
    Jump(Option<Box<Expression>>),
}

/// An arm of a `match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxArm {
    /// Where it is, with its pattern.
    pub range: Range<u32>,
    /// Its names.
    pub pattern: NamedPattern,
    /// The condition behind `if`.
    pub guard: Option<Expression>,
    /// What it runs.
    pub body: Expression,
}

/// A block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyntaxBlock {
    /// Where it is, with its braces.
    pub range: Range<u32>,
    /// Its statements.
    pub statements: Vec<SyntaxStatement>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxStatement {
    /// Where it is.
    pub range: Range<u32>,
    /// The names of a `let`.
    pub pattern: Option<NamedPattern>,
    /// Its value; of a `let`, what is behind `=`. `None` for an item, and for what cannot be read.
    pub value: Option<Expression>,
    /// The block behind the `else` of a `let`.
    pub otherwise: Option<SyntaxBlock>,
    /// No semicolon is behind it.
    pub is_open: bool,
}

/// A pattern, as far as it names values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedPattern {
    /// The names, in the order of the text.
    pub names: Vec<BoundName>,
}

/// A name in a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundName {
    /// The name.
    pub name: String,
    /// Its first byte.
    pub at: u32,
    /// It is written with `mut`.
    pub is_mut: bool,
    /// The fields that lead to it in the value that the pattern takes apart; `None` if they are not known.
    pub fields: Option<Vec<String>>,
}

/// A function with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFunction {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<SourceParameter>,
    /// What it returns may be a reference by which what it got is changed later.
    pub lends: bool,
    /// Its body.
    pub body: SyntaxBlock,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceParameter {
    /// Its names.
    pub pattern: NamedPattern,
    /// What it refers to can be changed through it: `&mut self`, `a: &mut T`.
    pub is_mut_reference: bool,
}

impl SyntaxBlock {
    /// What is the value of the block.
    pub fn tail(&self) -> Option<&SyntaxStatement> {
        self.statements.last().filter(|last| last.is_open && last.pattern.is_none())
    }
}

/// A part of the syntax.
#[derive(Clone, Copy, Debug)]
pub enum SyntaxPart<'s> {
    /// An expression.
    Expression(&'s Expression),
    /// A block.
    Block(&'s SyntaxBlock),
    /// An arm.
    Arm(&'s SyntaxArm),
}

impl Expression {
    /// The parts of it, in the order of the text.
    pub fn parts(&self) -> Vec<SyntaxPart<'_>> {
        use ExpressionKind as Kind;
        use SyntaxPart as Part;
        match &self.kind {
            Kind::Path(_) | Kind::Literal | Kind::Macro(_, None) => Vec::new(),
            Kind::Return(None) | Kind::Jump(None) => Vec::new(),
            Kind::Field(part, _)
            | Kind::Reference(_, part)
            | Kind::Same(part)
            | Kind::Cast(part)
            | Kind::Try(part)
            | Kind::Let(_, part)
            | Kind::Closure(_, part)
            | Kind::Return(Some(part))
            | Kind::Jump(Some(part)) => vec![Part::Expression(part)],
            Kind::Index(first, second) | Kind::Assign(first, _, second) => {
                vec![Part::Expression(first), Part::Expression(second)]
            }
            Kind::Call(first, rest) | Kind::Method(first, _, rest) => {
                std::iter::once(&**first).chain(rest).map(Part::Expression).collect()
            }
            Kind::Macro(_, Some(parts)) | Kind::Made(parts) | Kind::Tuple(parts) => {
                parts.iter().map(Part::Expression).collect()
            }
            Kind::Struct(fields, rest) => {
                fields.iter().map(|(_, value)| value).chain(rest.as_deref()).map(Part::Expression).collect()
            }
            Kind::Block(block) => vec![Part::Block(block)],
            Kind::If(condition, then, otherwise) => {
                let otherwise = otherwise.as_deref().map(Part::Expression);
                [Part::Expression(condition), Part::Block(then)].into_iter().chain(otherwise).collect()
            }
            Kind::Match(on, arms) => {
                std::iter::once(Part::Expression(on)).chain(arms.iter().map(Part::Arm)).collect()
            }
            Kind::Loop(condition, body) => {
                let condition = condition.as_deref().map(Part::Expression);
                condition.into_iter().chain([Part::Block(body)]).collect()
            }
            Kind::For(_, over, body) => vec![Part::Expression(over), Part::Block(body)],
        }
    }
}
