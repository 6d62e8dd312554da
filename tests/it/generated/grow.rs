//! Grows programs that compile and come to an end, from the seed of a generator of random numbers.

mod expressions;
mod statements;

use fastrand::Rng;

use super::interpret::{self, When};
use super::language::*;
use super::print::{Place, print};

const EDITIONS: [&str; 4] = ["2015", "2018", "2021", "2024"];

/// Texts for output: as the source has them.
const TEXTS: [&str; 4] = ["out", "; }} else {{ //", "two\nlines", "é /* ' */"];

/// Histories that are neither empty nor endless.
const LENGTHS: std::ops::Range<usize> = 20..3000;

/// One program as it is and as it looks.
pub struct Grown {
    pub program: Program,
    pub text: String,
    pub places: Vec<Place>,
}

/// The program of a seed.
pub fn grow(seed: u64) -> Grown {
    let mut rng = Rng::with_seed(seed);
    loop {
        let program = Grower::new(rng.fork()).program();
        let (text, places) = print(&program, &mut rng.fork());
        // What runs long is not tried.
        let ran = interpret::run(&program, &places, When::Before);
        if ran.is_some_and(|ran| LENGTHS.contains(&ran.lines.len())) {
            return Grown { program, text, places };
        }
    }
}

/// Something with a name that an expression may use.
#[derive(Clone)]
struct Variable {
    name: String,
    is: Is,
    mutable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    Value(Type),
    /// With this many numbers as arguments.
    Closure(usize, Type),
}

/// A function that may be called from here on.
#[derive(Clone)]
struct Callable {
    name: String,
    params: usize,
    returns: Type,
    constant: bool,
    /// Its first number counts down.
    recursive: bool,
}

/// What `break` and `continue` can leave here.
#[derive(Clone)]
struct JumpTarget {
    label: Label,
    is_loop: bool,
    gives: Type,
}

struct Grower {
    rng: Rng,
    edition: &'static str,
    places: usize,
    names: usize,
    /// How much may still grow.
    left: i32,
    functions: Vec<Callable>,
    variables: Vec<Variable>,
    /// Variables before this one may be read only.
    frozen: usize,
    targets: Vec<JumpTarget>,
    /// What `return` gives here, where there may be one.
    returns: Option<Type>,
    /// The compiler may evaluate this.
    constant: bool,
    /// The recursive function that this is the body of.
    own: Option<String>,
}

impl Grower {
    fn new(mut rng: Rng) -> Self {
        let edition = EDITIONS[rng.usize(..EDITIONS.len())];
        Grower {
            rng,
            edition,
            places: 0,
            names: 0,
            left: 0,
            functions: Vec::new(),
            variables: Vec::new(),
            frozen: 0,
            targets: Vec::new(),
            returns: None,
            constant: false,
            own: None,
        }
    }

    fn program(mut self) -> Program {
        let mut functions = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            self.left = 60;
            functions.push(self.function());
        }
        self.left = 200;
        let mut body = Vec::new();
        for _ in 0..self.rng.usize(3..9) {
            body.extend(self.statements(4));
        }
        let body = Block { at: self.at(), stmts: body };
        functions.push(Function {
            name: "run".to_owned(),
            constant: false,
            params: Vec::new(),
            returns: Type::Unit,
            body,
        });
        Program { edition: self.edition, functions, places: self.places }
    }

    fn chance(&mut self, of_100: u32) -> bool {
        self.rng.u32(..100) < of_100
    }

    fn at(&mut self) -> At {
        self.places += 1;
        self.places - 1
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn any_type(&mut self) -> Type {
        [Type::Int, Type::Int, Type::Bool, Type::Option, Type::Result][self.rng.usize(..5)]
    }

    fn stmt(&mut self, kind: Kind) -> Stmt {
        Stmt { at: self.at(), cfg: None, kind }
    }

    fn expr_stmt(&mut self, expr: Expr) -> Stmt {
        self.stmt(Kind::Expr { expr, semi: true })
    }

    fn declare(&mut self, name: &str, is: Is, mutable: bool) {
        self.variables.push(Variable { name: name.to_owned(), is, mutable });
    }

    // Functions.

    /// A function of its own world; it can be called from then on.
    fn function(&mut self) -> Function {
        let name = self.name('f');
        let constant = self.chance(10);
        let recursive = !constant && self.chance(30);
        let returns = match constant {
            true => Type::Int,
            false if self.chance(15) => Type::Unit,
            false => self.any_type(),
        };
        let params: Vec<String> =
            (0..self.rng.usize(usize::from(recursive)..3)).map(|_| self.name('p')).collect();
        let callable = Callable { name: name.clone(), params: params.len(), returns, constant, recursive };
        if recursive {
            self.functions.push(callable.clone());
        }
        let own = recursive.then(|| name.clone());
        let body = self.elsewhere(|grower| {
            (grower.constant, grower.returns, grower.own) = (constant, Some(returns), own);
            params.iter().for_each(|param| grower.declare(param, Is::Value(Type::Int), false));
            let mut body = grower.block(returns, 4);
            if recursive {
                let stop = grower.recursion_stop(&params[0], returns);
                body.stmts.insert(0, stop);
            }
            body
        });
        if !recursive {
            self.functions.push(callable);
        }
        Function { name, constant, params, returns, body }
    }

    /// `if p < 1 { return x; }`
    fn recursion_stop(&mut self, counter: &str, returns: Type) -> Stmt {
        let value = (returns != Type::Unit).then(|| Box::new(self.leaf(returns)));
        let stop = self.expr_stmt(Expr::Return(value));
        let cond = Cond::Is(less(Expr::Var(counter.to_owned()), Expr::Int(1)));
        let then = Block { at: self.at(), stmts: vec![stop] };
        let expr = Expr::If(Box::new(If { at: self.at(), cond, then, otherwise: None }));
        self.stmt(Kind::Expr { expr, semi: false })
    }

    /// With no variable, jump or place around it.
    fn elsewhere<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let variables = std::mem::take(&mut self.variables);
        let targets = std::mem::take(&mut self.targets);
        let (frozen, returns, constant) = (self.frozen, self.returns, self.constant);
        let own = self.own.take();
        self.frozen = 0;
        let result = work(self);
        self.variables = variables;
        self.targets = targets;
        (self.frozen, self.returns, self.constant, self.own) = (frozen, returns, constant, own);
        result
    }

    // Blocks.

    /// What grows in it is not seen behind it.
    fn scope<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let (variables, functions) = (self.variables.len(), self.functions.len());
        let result = work(self);
        self.variables.truncate(variables);
        self.functions.truncate(functions);
        result
    }

    /// Its outer variables may not be changed.
    fn freeze<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.frozen, self.variables.len());
        let result = work(self);
        self.frozen = outer;
        result
    }

    fn without_targets<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let targets = std::mem::take(&mut self.targets);
        let result = work(self);
        self.targets = targets;
        result
    }

    fn block(&mut self, ty: Type, depth: u32) -> Block {
        let at = self.at();
        let stmts = self.scope(|grower| {
            let mut stmts = Vec::new();
            for _ in 0..grower.rng.usize(..4) {
                if grower.left > 0 && depth > 0 {
                    stmts.extend(grower.statements(depth - 1));
                }
            }
            if ty != Type::Unit || (grower.left > 0 && grower.chance(20)) {
                stmts.extend(grower.tail(ty, depth));
            }
            stmts
        });
        Block { at, stmts }
    }
}

fn less(left: Expr, right: Expr) -> Expr {
    Expr::Binary(Op::Less, Box::new(left), Box::new(right))
}
