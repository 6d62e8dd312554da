//! The small language: a part of Rust in which every value is `Copy` and every name means one thing.
//! Plain data; what it looks like is `print`'s business, what it does `interpret`'s.

/// A place in the text whose line the printer remembers.
pub type At = usize;

/// What an expression can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Unit,
    /// `i64`
    Int,
    Bool,
    /// `Option<i64>`
    Option,
    /// `Result<i64, i64>`
    Result,
}

/// One module; its last function is `run`.
pub struct Program {
    pub edition: &'static str,
    pub functions: Vec<Function>,
    /// How many places there are.
    pub places: usize,
}

pub struct Function {
    pub name: String,
    pub constant: bool,
    /// All are `i64`.
    pub params: Vec<String>,
    pub returns: Type,
    pub body: Block,
}

pub struct Block {
    /// Its opening brace.
    pub at: At,
    pub stmts: Vec<Stmt>,
}

pub struct Stmt {
    /// The first token behind the attributes.
    pub at: At,
    /// `#[cfg(all())]` or `#[cfg(any())]`.
    pub cfg: Option<Cfg>,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cfg {
    Kept,
    Dropped,
}

pub enum Kind {
    /// `let`, `let .. else`.
    Let {
        pattern: Pattern,
        init: Expr,
        otherwise: Option<Block>,
    },
    /// `let x: T;`
    Declare(String, Type),
    Expr {
        expr: Expr,
        semi: bool,
    },
    Function(Function),
    Const(String, Expr),
    /// A `;` alone.
    Empty,
    /// `// xhist instrument TRUE` or `FALSE`.
    Directive(bool),
}

pub enum Pattern {
    Any,
    Name(String),
    Mut(String),
    Int(i64),
    Either(i64, i64),
    /// Both ends included.
    Range(i64, i64),
    Bool(bool),
    Some(Box<Pattern>),
    None,
    Ok(Box<Pattern>),
    Err(Box<Pattern>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Less,
    Equal,
    And,
    Or,
}

pub type Label = Option<String>;

pub enum Expr {
    Int(i64),
    Bool(bool),
    Unit,
    Var(String),
    Some(Box<Expr>),
    None,
    Ok(Box<Expr>),
    Err(Box<Expr>),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `=`, or `+=` when true.
    Assign(String, bool, Box<Expr>),
    /// `[a, b][n]`
    Index(Vec<Expr>, usize),
    Block(Block),
    Unsafe(Block),
    Labelled(String, Block),
    If(Box<If>),
    Match(Box<Expr>, Vec<Arm>),
    While(Label, Box<Cond>, Block),
    For(Label, String, Box<[Expr; 2]>, Block),
    Loop(Label, Block),
    Break(Label, Option<Box<Expr>>),
    Continue(Label),
    Return(Option<Box<Expr>>),
    Try(Box<Expr>),
    /// A function, or a closure that has a name.
    Call(String, Vec<Expr>),
    Closure(Box<Closure>),
    /// `(|a| ..)(x)`
    CallNow(Box<Closure>, Vec<Expr>),
    /// `f(x)` of a closure that an expression gives.
    Apply(Box<Expr>, Box<Expr>),
    /// A method of options or results.
    Method(Box<Expr>, &'static str, Vec<Expr>),
    /// `(from..to).map(..).filter(..).sum::<i64>()`
    Chain(Box<Chain>),
    /// Whether the closure, run at once, does not panic.
    Catch(Box<Closure>),
    Panic,
    /// The text as it is in the source, and the values that follow it.
    Print {
        text: &'static str,
        args: Vec<Expr>,
        delimiter: char,
    },
    /// `same!(..)`: a macro by example of the program itself.
    Same(Box<Expr>),
    /// `matches!(x, pattern)`: a macro of the standard library whose arguments are left alone.
    Matches(Box<Expr>, Pattern, char),
}

pub struct If {
    /// Its `if`.
    pub at: At,
    pub cond: Cond,
    pub then: Block,
    pub otherwise: Option<Else>,
}

pub enum Else {
    Block(Block),
    If(Box<If>),
}

pub enum Cond {
    Is(Expr),
    /// `let Some(x) = ..`
    Let(String, Expr),
    /// `let Some(x) = .. && ..`
    LetAnd(String, Expr, Expr),
}

pub struct Arm {
    pub cfg: Option<Cfg>,
    pub pattern: Pattern,
    pub guard: Option<Expr>,
    /// The first token of the body.
    pub at: At,
    pub body: Expr,
}

pub struct Closure {
    /// It takes copies of what it uses.
    pub moved: bool,
    pub params: Vec<(String, Form)>,
    /// Written out; the body is then a block.
    pub returns: Option<Type>,
    /// The first token of the body.
    pub at: At,
    pub body: Expr,
    /// It ends in front of the `else` of a let-else.
    pub before_else: bool,
}

/// How a parameter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Bare,
    Typed,
    Reference,
}

pub struct Chain {
    pub from: Expr,
    pub to: Expr,
    pub stages: Vec<Stage>,
    pub end: End,
}

pub enum Stage {
    Map(Closure),
    Filter(Closure),
}

pub enum End {
    Sum,
    Fold(Expr, Closure),
    Any(Closure),
}

/// The block of a body that is one: an arm or closure with it needs no other.
pub fn own_block(body: &Expr) -> Option<&Block> {
    match body {
        Expr::Block(block) | Expr::Unsafe(block) | Expr::Labelled(_, block) => Some(block),
        _ => None,
    }
}

/// Ends with a brace, and ends a statement where it begins one.
pub fn is_block_like(expr: &Expr) -> bool {
    use Expr as E;
    matches!(
        expr,
        E::Block(_)
            | E::Unsafe(_)
            | E::Labelled(..)
            | E::If(_)
            | E::Match(..)
            | E::While(..)
            | E::For(..)
            | E::Loop(..)
    )
}
