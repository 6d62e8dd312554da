//! Grows programs that compile and come to an end, from the seed of a generator of random numbers.

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
    /// With so many numbers to give it.
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
struct Target {
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
    targets: Vec<Target>,
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

    // Blocks and statements.

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

    /// The value of a block; with `cfg` there can be several.
    fn tail(&mut self, ty: Type, depth: u32) -> Vec<Stmt> {
        if depth > 0 && self.chance(8) {
            let mut alternatives: Vec<Stmt> = [Cfg::Kept, Cfg::Dropped]
                .map(|cfg| {
                    let expr = Expr::Block(self.block(ty, depth - 1));
                    Stmt { cfg: Some(cfg), ..self.stmt(Kind::Expr { expr, semi: false }) }
                })
                .into();
            if self.rng.bool() {
                alternatives.swap(0, 1);
            }
            return alternatives;
        }
        let expr = self.expr(ty, depth);
        let is_block_like = is_block_like(&expr);
        let mut tail = vec![self.stmt(Kind::Expr { expr, semi: false })];
        // Anything else ends with the block.
        if is_block_like && self.chance(10) {
            let expr = self.leaf(Type::Int);
            let dropped = self.expr_stmt(expr);
            tail.push(Stmt { cfg: Some(Cfg::Dropped), ..dropped });
        }
        if is_block_like && ty == Type::Unit && !self.constant && self.chance(10) {
            let function = self.scope(Self::function);
            tail.push(self.stmt(Kind::Function(function)));
        }
        tail
    }

    /// A statement, or several that belong together.
    fn statements(&mut self, depth: u32) -> Vec<Stmt> {
        self.left -= 1;
        if self.constant {
            return self.constant_statements(depth);
        }
        match self.rng.u32(..100) {
            0..22 => vec![self.let_value(depth)],
            22..27 => self.declared(depth),
            27..37 => vec![self.output(depth)],
            37..45 => self.assignment(depth).into_iter().collect(),
            45..50 => vec![self.named_closure(depth)],
            50..54 => vec![self.let_else(depth)],
            54..58 => self.under_cfg(depth),
            58..61 => self.switched_off(depth),
            61..65 => self.item(),
            // Behind something with a `;` of its own: this one would be taken for it.
            65..67 => vec![self.let_value(depth), self.stmt(Kind::Empty)],
            67..72 => self.jump(depth).into_iter().collect(),
            72..82 => self.repeated(depth),
            82..87 => {
                let ty = self.any_type();
                let expr = self.expr(ty, depth);
                vec![self.expr_stmt(expr)]
            }
            _ => vec![self.block_like_statement(depth)],
        }
    }

    fn constant_statements(&mut self, depth: u32) -> Vec<Stmt> {
        match self.rng.u32(..10) {
            0..4 => vec![self.let_value(depth)],
            4..6 => self.assignment(depth).into_iter().collect(),
            6 => self.declared(depth),
            7 => self.repeated(depth),
            _ => vec![self.block_like_statement(depth)],
        }
    }

    fn let_value(&mut self, depth: u32) -> Stmt {
        let ty = if self.constant { Type::Int } else { self.any_type() };
        let init = self.expr(ty, depth);
        let (name, mutable) = (self.name('v'), self.rng.bool());
        self.declare(&name, Is::Value(ty), mutable);
        let pattern = if mutable { Pattern::Mut(name) } else { Pattern::Name(name) };
        self.stmt(Kind::Let { pattern, init, otherwise: None })
    }

    /// `let x: T;`, and the statement that gives it a value.
    fn declared(&mut self, depth: u32) -> Vec<Stmt> {
        let (name, ty) = (self.name('v'), if self.constant { Type::Int } else { self.any_type() });
        let declaration = self.stmt(Kind::Declare(name.clone(), ty));
        let assign = |grower: &mut Self| {
            let value = Box::new(grower.expr(ty, depth.saturating_sub(1)));
            Expr::Assign(name.clone(), false, value)
        };
        let given = if self.rng.bool() {
            let expr = assign(self);
            self.expr_stmt(expr)
        } else {
            let cond = self.expr(Type::Bool, depth.saturating_sub(1));
            let [then, otherwise] = [(); 2].map(|()| {
                let expr = assign(self);
                let semi = self.rng.bool();
                let stmts = vec![self.stmt(Kind::Expr { expr, semi })];
                Block { at: self.at(), stmts }
            });
            let otherwise = Some(Else::Block(otherwise));
            let chain = If { at: self.at(), cond: Cond::Is(cond), then, otherwise };
            self.stmt(Kind::Expr { expr: Expr::If(Box::new(chain)), semi: false })
        };
        self.declare(&name, Is::Value(ty), false);
        vec![declaration, given]
    }

    fn print(&mut self, depth: u32) -> Expr {
        let args = self.rng.usize(..3);
        let args = self.freeze(|grower| {
            grower.scope(|grower| {
                (0..args)
                    .map(|_| {
                        let ty = grower.any_type();
                        grower.expr(ty, depth)
                    })
                    .collect()
            })
        });
        Expr::Print { text: TEXTS[self.rng.usize(..TEXTS.len())], args, delimiter: self.delimiter() }
    }

    fn delimiter(&mut self) -> char {
        ['(', '(', '[', '{'][self.rng.usize(..4)]
    }

    fn output(&mut self, depth: u32) -> Stmt {
        let expr = self.print(depth);
        let semi = !matches!(expr, Expr::Print { delimiter: '{', .. });
        self.stmt(Kind::Expr { expr, semi })
    }

    fn assign(&mut self, depth: u32) -> Option<Expr> {
        let frozen = self.frozen;
        let may = self
            .variables
            .iter()
            .enumerate()
            .filter(|(index, variable)| *index >= frozen && variable.mutable);
        let may: Vec<Variable> = may.map(|(_, variable)| variable.clone()).collect();
        let variable = may.get(self.rng.usize(..may.len().max(1)))?;
        let Is::Value(ty) = variable.is else { return None };
        let adds = ty == Type::Int && self.rng.bool();
        let value = Box::new(self.expr(ty, depth.saturating_sub(1)));
        Some(Expr::Assign(variable.name.clone(), adds, value))
    }

    fn assignment(&mut self, depth: u32) -> Option<Stmt> {
        let expr = self.assign(depth)?;
        Some(self.expr_stmt(expr))
    }

    fn named_closure(&mut self, depth: u32) -> Stmt {
        let params = self.rng.usize(..3);
        let returns = self.any_type();
        let closure = self.closure(params, Form::Typed, returns, true, depth);
        let name = self.name('c');
        self.declare(&name, Is::Closure(params, returns), false);
        let init = Expr::Closure(Box::new(closure));
        self.stmt(Kind::Let { pattern: Pattern::Name(name), init, otherwise: None })
    }

    fn let_else(&mut self, depth: u32) -> Stmt {
        if self.chance(20) {
            return self.closure_before_else(depth);
        }
        let is_option = self.rng.bool();
        let init = self.expr(if is_option { Type::Option } else { Type::Result }, depth);
        let otherwise = self.leaving_block(depth);
        let name = self.name('v');
        self.declare(&name, Is::Value(Type::Int), false);
        let inner = Box::new(Pattern::Name(name));
        let pattern = if is_option { Pattern::Some(inner) } else { Pattern::Ok(inner) };
        self.stmt(Kind::Let { pattern, init, otherwise: Some(otherwise) })
    }

    /// `let c = |a: i64| a + 1 else { .. };`
    fn closure_before_else(&mut self, depth: u32) -> Stmt {
        let param = self.name('a');
        let arg = Box::new(Expr::Var(param.clone()));
        let right = Box::new(self.leaf(Type::Int));
        let body = Expr::Binary(Op::Add, arg, right);
        let params = vec![(param, Form::Typed)];
        let at = self.at();
        let closure = Closure { moved: true, params, returns: None, at, body, before_else: true };
        let otherwise = self.leaving_block(depth);
        let name = self.name('c');
        self.declare(&name, Is::Closure(1, Type::Int), false);
        let init = Expr::Closure(Box::new(closure));
        self.stmt(Kind::Let { pattern: Pattern::Name(name), init, otherwise: Some(otherwise) })
    }

    /// A block that control does not pass.
    fn leaving_block(&mut self, depth: u32) -> Block {
        let mut block = self.block(Type::Unit, depth.min(1));
        if let Some(Stmt { kind: Kind::Expr { semi, .. }, .. }) = block.stmts.last_mut() {
            *semi = true;
        }
        let leave = self.leave(depth);
        let semi = self.rng.bool();
        block.stmts.push(self.stmt(Kind::Expr { expr: leave, semi }));
        block
    }

    /// An expression that control does not pass.
    fn leave(&mut self, depth: u32) -> Expr {
        let depth = depth.saturating_sub(1);
        if let Some(target) = self.target()
            && self.chance(70)
        {
            if target.is_loop && self.chance(40) {
                return Expr::Continue(target.label);
            }
            let value = (target.gives != Type::Unit).then(|| Box::new(self.expr(target.gives, depth)));
            return Expr::Break(target.label, value);
        }
        let panics = self.chance(5);
        match self.returns {
            _ if panics => Expr::Panic,
            Some(Type::Unit) => Expr::Return(None),
            Some(ty) => Expr::Return(Some(Box::new(self.expr(ty, depth)))),
            None => Expr::Panic,
        }
    }

    /// Something that a jump may leave from here, with the label needed for it.
    fn target(&mut self) -> Option<Target> {
        let may: Vec<Target> = self.targets.iter().filter(|target| target.label.is_some()).cloned().collect();
        let innermost = self.targets.last().filter(|target| target.is_loop).cloned();
        match innermost {
            Some(target) if may.is_empty() || self.rng.bool() => Some(Target { label: None, ..target }),
            _ => may.get(self.rng.usize(..may.len().max(1))).cloned(),
        }
    }

    fn under_cfg(&mut self, depth: u32) -> Vec<Stmt> {
        let cfg = if self.rng.bool() { Cfg::Kept } else { Cfg::Dropped };
        let variables = self.variables.len();
        let stmt = match self.rng.u32(..4) {
            0 => Some(self.let_value(depth)),
            // No assignment: the attribute would be one of its left side.
            1 => self.call(Type::Int, depth.saturating_sub(1)).map(|call| self.expr_stmt(call)),
            2 => {
                let expr = Expr::Block(self.block(Type::Unit, depth.saturating_sub(1)));
                Some(self.stmt(Kind::Expr { expr, semi: false }))
            }
            _ => Some(self.output(depth)),
        };
        if cfg == Cfg::Dropped {
            self.variables.truncate(variables);
        }
        stmt.map(|stmt| Stmt { cfg: Some(cfg), ..stmt }).into_iter().collect()
    }

    fn switched_off(&mut self, depth: u32) -> Vec<Stmt> {
        let mut stmts = vec![self.stmt(Kind::Directive(false))];
        for _ in 0..self.rng.usize(1..3) {
            stmts.extend(self.statements(depth));
        }
        stmts.push(self.stmt(Kind::Directive(true)));
        stmts
    }

    fn item(&mut self) -> Vec<Stmt> {
        if self.rng.bool() {
            let function = self.function();
            return vec![self.stmt(Kind::Function(function))];
        }
        let name = self.name('K');
        // Numbers of a constant that overflow are errors: none that grow.
        let value = self.elsewhere(|grower| {
            grower.constant = true;
            let inner = grower.name('v');
            let init = Expr::Int(grower.rng.i64(0..9));
            let given = Kind::Let { pattern: Pattern::Name(inner.clone()), init, otherwise: None };
            let cond = Cond::Is(less(Expr::Var(inner.clone()), Expr::Int(4)));
            let [then, otherwise] = [1, 2].map(|more| {
                let (left, right) = (Box::new(Expr::Var(inner.clone())), Box::new(Expr::Int(more)));
                let expr = Expr::Binary(Op::Add, left, right);
                let stmts = vec![grower.stmt(Kind::Expr { expr, semi: false })];
                Block { at: grower.at(), stmts }
            });
            let otherwise = Some(Else::Block(otherwise));
            let expr = Expr::If(Box::new(If { at: grower.at(), cond, then, otherwise }));
            let stmts = vec![grower.stmt(given), grower.stmt(Kind::Expr { expr, semi: false })];
            Expr::Block(Block { at: grower.at(), stmts })
        });
        self.declare(&name, Is::Value(Type::Int), false);
        vec![self.stmt(Kind::Const(name, value))]
    }

    /// A way out, most often under a condition.
    fn jump(&mut self, depth: u32) -> Option<Stmt> {
        self.target().is_some().then_some(()).or(self.returns.map(|_| ()))?;
        let expr = self.leave(depth);
        // What follows in this block never runs.
        if self.chance(8) {
            return Some(self.expr_stmt(expr));
        }
        let semi = self.rng.bool();
        let then = Block { at: self.at(), stmts: vec![self.stmt(Kind::Expr { expr, semi })] };
        let cond = Cond::Is(self.expr(Type::Bool, depth.saturating_sub(1)));
        let expr = Expr::If(Box::new(If { at: self.at(), cond, then, otherwise: None }));
        Some(self.stmt(Kind::Expr { expr, semi: false }))
    }

    /// A loop, and the counter that ends it.
    fn repeated(&mut self, depth: u32) -> Vec<Stmt> {
        let depth = depth.saturating_sub(1);
        if !self.constant && self.chance(40) {
            let expr = self.for_loop(depth);
            return vec![self.stmt(Kind::Expr { expr, semi: false })];
        }
        let (counter, counted) = self.counter();
        let label = self.label();
        let expr = if self.rng.bool() {
            let body = self.loop_body(&label, Type::Unit, &counter, depth);
            Expr::Loop(label, body)
        } else {
            self.while_loop(label, &counter, depth)
        };
        let semi = self.chance(20);
        vec![counted, self.stmt(Kind::Expr { expr, semi })]
    }

    /// `let mut n = 2;`
    fn counter(&mut self) -> (String, Stmt) {
        let name = self.name('n');
        let init = Expr::Int(self.rng.i64(0..4));
        let stmt = self.stmt(Kind::Let { pattern: Pattern::Mut(name.clone()), init, otherwise: None });
        self.declare(&name, Is::Value(Type::Int), false);
        (name, stmt)
    }

    fn label(&mut self) -> Label {
        self.rng.bool().then(|| self.name('l'))
    }

    fn while_loop(&mut self, label: Label, counter: &str, depth: u32) -> Expr {
        if self.chance(40) {
            return self.counting_while(label, counter, depth);
        }
        self.scope(|grower| {
            let cond = grower.without_targets(|grower| grower.cond(depth));
            let body = grower.loop_body(&label, Type::Unit, counter, depth);
            Expr::While(label, Box::new(cond), body)
        })
    }

    /// `while { n += -1; 0 < n } {}`
    fn counting_while(&mut self, label: Label, counter: &str, depth: u32) -> Expr {
        let down = Expr::Assign(counter.to_owned(), true, Box::new(Expr::Int(-1)));
        let expr = less(Expr::Int(0), Expr::Var(counter.to_owned()));
        let stmts = vec![self.expr_stmt(down), self.stmt(Kind::Expr { expr, semi: false })];
        let cond = Cond::Is(Expr::Block(Block { at: self.at(), stmts }));
        self.targets.push(Target { label: label.clone(), is_loop: true, gives: Type::Unit });
        let body = self.block(Type::Unit, depth);
        self.targets.pop();
        Expr::While(label, Box::new(cond), body)
    }

    fn for_loop(&mut self, depth: u32) -> Expr {
        let label = self.label();
        let from = Expr::Int(self.rng.i64(0..3));
        let to = self.without_targets(|grower| match grower.chance(10) {
            true => grower.expr(Type::Int, depth),
            false => Expr::Int(grower.rng.i64(0..5)),
        });
        let name = self.name('i');
        let body = self.scope(|grower| {
            grower.declare(&name, Is::Value(Type::Int), false);
            grower.targets.push(Target { label: label.clone(), is_loop: true, gives: Type::Unit });
            let body = grower.block(Type::Unit, depth);
            grower.targets.pop();
            body
        });
        Expr::For(label, name, Box::new([from, to]), body)
    }

    /// A body that ends its loop when the counter has come to nothing.
    fn loop_body(&mut self, label: &Label, gives: Type, counter: &str, depth: u32) -> Block {
        self.targets.push(Target { label: label.clone(), is_loop: true, gives });
        let mut body = self.block(Type::Unit, depth);
        let down = Expr::Assign(counter.to_owned(), true, Box::new(Expr::Int(-1)));
        let down = self.expr_stmt(down);
        let value = (gives != Type::Unit).then(|| Box::new(self.leaf(gives)));
        let leave = self.expr_stmt(Expr::Break(None, value));
        self.targets.pop();
        let then = Block { at: self.at(), stmts: vec![leave] };
        let cond = Cond::Is(less(Expr::Var(counter.to_owned()), Expr::Int(0)));
        let stop = Expr::If(Box::new(If { at: self.at(), cond, then, otherwise: None }));
        let stop = self.stmt(Kind::Expr { expr: stop, semi: false });
        body.stmts.splice(0..0, [down, stop]);
        body
    }

    /// A block, branch or the like that gives nothing.
    fn block_like_statement(&mut self, depth: u32) -> Stmt {
        let expr = self.compound(Type::Unit, depth);
        let semi = !is_block_like(&expr) || self.chance(20);
        self.stmt(Kind::Expr { expr, semi })
    }

    // Expressions.

    /// A value that needs no room.
    fn leaf(&mut self, ty: Type) -> Expr {
        let known: Vec<&Variable> =
            self.variables.iter().filter(|variable| variable.is == Is::Value(ty)).collect();
        if ty != Type::Unit && !known.is_empty() && self.rng.u32(..100) < 60 {
            return Expr::Var(known[self.rng.usize(..known.len())].name.clone());
        }
        match ty {
            Type::Unit => Expr::Unit,
            Type::Int => Expr::Int(self.rng.i64(-3..9)),
            Type::Bool => Expr::Bool(self.rng.bool()),
            Type::Option if self.rng.bool() => Expr::None,
            Type::Option => Expr::Some(Box::new(self.leaf(Type::Int))),
            Type::Result if self.rng.bool() => Expr::Err(Box::new(self.leaf(Type::Int))),
            Type::Result => Expr::Ok(Box::new(self.leaf(Type::Int))),
        }
    }

    fn expr(&mut self, ty: Type, depth: u32) -> Expr {
        self.left -= 1;
        if depth == 0 || self.left <= 0 || self.chance(15) {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        if self.chance(35) {
            return self.compound(ty, depth);
        }
        if self.chance(20)
            && let Some(call) = self.call(ty, depth)
        {
            return call;
        }
        if self.constant {
            return match ty {
                Type::Int => self.arithmetic(depth),
                Type::Bool => self.comparison(depth),
                ty => self.leaf(ty),
            };
        }
        if self.chance(6) {
            return Expr::Same(Box::new(self.expr(ty, depth)));
        }
        match (ty, self.rng.u32(..100)) {
            (Type::Unit, 0..50) => self.print(depth),
            (Type::Unit, _) => self.assign(depth).unwrap_or(Expr::Unit),
            (Type::Int, 0..40) => self.arithmetic(depth),
            (Type::Int, 40..55) => self.chain(Type::Int, depth),
            (Type::Int, 55..65) => self.call_now(ty, depth),
            (Type::Int, 65..75) => self.try_value(depth),
            (Type::Int, 75..80) => {
                let values = [(); 2].map(|()| self.expr(Type::Int, depth));
                Expr::Index(values.into(), self.rng.usize(..2))
            }
            (Type::Int, _) => self.unwrapped(depth),
            (Type::Bool, 0..45) => self.comparison(depth),
            (Type::Bool, 45..55) => self.chain(Type::Bool, depth),
            (Type::Bool, 55..65) => {
                let closure = self.closure(0, Form::Bare, Type::Int, false, depth);
                Expr::Catch(Box::new(closure))
            }
            (Type::Bool, 65..80) => self.matches(depth),
            (Type::Bool, 80..90) => {
                let option = Box::new(self.expr(Type::Option, depth));
                Expr::Method(option, "is_some", Vec::new())
            }
            (Type::Bool, _) => {
                let result = Box::new(self.expr(Type::Result, depth));
                Expr::Method(result, "is_ok", Vec::new())
            }
            (Type::Option, 0..30) => Expr::Some(Box::new(self.expr(Type::Int, depth))),
            (Type::Option, 30..45) => self.call_now(ty, depth),
            (Type::Option, 45..55) => {
                let result = Box::new(self.expr(Type::Result, depth));
                Expr::Method(result, "ok", Vec::new())
            }
            (Type::Option, kind) => {
                let of = Box::new(self.expr(Type::Option, depth));
                let (name, gives) = if kind < 80 { ("map", Type::Int) } else { ("and_then", Type::Option) };
                let closure = self.closure(1, Form::Bare, gives, true, depth);
                Expr::Method(of, name, vec![Expr::Closure(Box::new(closure))])
            }
            (Type::Result, 0..35) => Expr::Ok(Box::new(self.expr(Type::Int, depth))),
            (Type::Result, 35..60) => Expr::Err(Box::new(self.expr(Type::Int, depth))),
            (Type::Result, 60..75) => self.call_now(ty, depth),
            (Type::Result, _) => {
                let of = Box::new(self.expr(Type::Option, depth));
                Expr::Method(of, "ok_or", vec![self.expr(Type::Int, depth)])
            }
        }
    }

    /// Blocks, branches and loops that give a value.
    fn compound(&mut self, ty: Type, depth: u32) -> Expr {
        if depth == 0 {
            return Expr::Block(self.block(ty, 0));
        }
        let depth = depth - 1;
        match self.rng.u32(..100) {
            0..10 => Expr::Block(self.block(ty, depth)),
            10..15 => Expr::Unsafe(self.block(ty, depth)),
            15..25 => {
                let label = self.name('l');
                self.targets.push(Target { label: Some(label.clone()), is_loop: false, gives: ty });
                let block = self.block(ty, depth);
                self.targets.pop();
                Expr::Labelled(label, block)
            }
            25..60 => {
                let must_end = ty != Type::Unit;
                Expr::If(Box::new(self.if_chain(ty, must_end, depth)))
            }
            60..90 => self.match_expr(ty, depth),
            _ => {
                let at = self.at();
                let stmts = self.scope(|grower| {
                    let (counter, counted) = grower.counter();
                    let label = grower.label();
                    let body = grower.loop_body(&label, ty, &counter, depth);
                    vec![counted, grower.stmt(Kind::Expr { expr: Expr::Loop(label, body), semi: false })]
                });
                Expr::Block(Block { at, stmts })
            }
        }
    }

    fn if_chain(&mut self, ty: Type, must_end: bool, depth: u32) -> If {
        self.left -= 1;
        let at = self.at();
        let (cond, then) = self.scope(|grower| (grower.cond(depth), grower.block(ty, depth)));
        let otherwise = match self.rng.u32(..100) {
            0..35 if self.left > 0 => Some(Else::If(Box::new(self.if_chain(ty, must_end, depth)))),
            35..70 => Some(Else::Block(self.block(ty, depth))),
            _ if must_end => Some(Else::Block(self.block(ty, depth))),
            _ => None,
        };
        If { at, cond, then, otherwise }
    }

    fn cond(&mut self, depth: u32) -> Cond {
        if self.constant || self.chance(70) {
            return Cond::Is(self.expr(Type::Bool, depth));
        }
        let of = self.expr(Type::Option, depth);
        let name = self.name('v');
        self.declare(&name, Is::Value(Type::Int), false);
        // Chains of `let` came with edition 2024.
        if self.edition == "2024" && self.rng.bool() {
            let and = self.expr(Type::Bool, depth);
            return Cond::LetAnd(name, of, and);
        }
        Cond::Let(name, of)
    }

    fn match_expr(&mut self, ty: Type, depth: u32) -> Expr {
        let over = match self.rng.u32(..10) {
            _ if self.constant => Type::Int,
            0..5 => Type::Int,
            5..7 => Type::Bool,
            7..9 => Type::Option,
            _ => Type::Result,
        };
        let of = Box::new(self.expr(over, depth));
        let mut arms = Vec::new();
        for _ in 0..self.rng.usize(..4) {
            let arm = self.scope(|grower| {
                let (pattern, name) = grower.pattern(over);
                if let Some(name) = name {
                    grower.declare(&name, Is::Value(Type::Int), false);
                }
                let guard = (!grower.constant && grower.chance(40))
                    .then(|| grower.freeze(|grower| grower.expr(Type::Bool, depth + 1)));
                let cfg = match grower.rng.u32(..100) {
                    0..6 => Some(Cfg::Dropped),
                    6..10 => Some(Cfg::Kept),
                    _ => None,
                };
                let leaves = !grower.constant && grower.chance(8);
                let body = if leaves { grower.leave(depth) } else { grower.expr(ty, depth) };
                Arm { cfg, pattern, guard, at: grower.at(), body }
            });
            arms.push(arm);
        }
        let body = self.expr(ty, depth);
        arms.push(Arm { cfg: None, pattern: Pattern::Any, guard: None, at: self.at(), body });
        Expr::Match(of, arms)
    }

    /// A pattern, and the number that it gives a name.
    fn pattern(&mut self, ty: Type) -> (Pattern, Option<String>) {
        let low = self.rng.i64(-3..6);
        let value = match self.rng.u32(..4) {
            _ if ty == Type::Bool => (Pattern::Bool(self.rng.bool()), None),
            0 => (Pattern::Int(low), None),
            1 => (Pattern::Either(low, low + 2), None),
            2 => (Pattern::Range(low, low + self.rng.i64(1..4)), None),
            _ => {
                let name = self.name('v');
                (Pattern::Name(name.clone()), Some(name))
            }
        };
        match (ty, value) {
            (Type::Option, _) if self.chance(30) => (Pattern::None, None),
            (Type::Option, (inner, name)) => (Pattern::Some(Box::new(inner)), name),
            (Type::Result, (inner, name)) if self.rng.bool() => (Pattern::Ok(Box::new(inner)), name),
            (Type::Result, (inner, name)) => (Pattern::Err(Box::new(inner)), name),
            (_, value) => value,
        }
    }

    fn matches(&mut self, depth: u32) -> Expr {
        let ty = [Type::Int, Type::Option][self.rng.usize(..2)];
        let of = Box::new(self.expr(ty, depth));
        let (pattern, _) = self.pattern(ty);
        Expr::Matches(of, pattern, self.delimiter())
    }

    fn arithmetic(&mut self, depth: u32) -> Expr {
        if self.chance(10) {
            return Expr::Minus(Box::new(self.expr(Type::Int, depth)));
        }
        let op = [Op::Add, Op::Sub, Op::Mul][self.rng.usize(..3)];
        self.binary(op, Type::Int, depth)
    }

    fn comparison(&mut self, depth: u32) -> Expr {
        match self.rng.u32(..10) {
            0 => Expr::Not(Box::new(self.expr(Type::Bool, depth))),
            1 | 2 => self.binary(Op::And, Type::Bool, depth),
            3 => self.binary(Op::Or, Type::Bool, depth),
            4..7 => self.binary(Op::Equal, Type::Int, depth),
            _ => self.binary(Op::Less, Type::Int, depth),
        }
    }

    fn binary(&mut self, op: Op, ty: Type, depth: u32) -> Expr {
        let [left, right] = [(); 2].map(|()| Box::new(self.expr(ty, depth)));
        Expr::Binary(op, left, right)
    }

    fn unwrapped(&mut self, depth: u32) -> Expr {
        let ty = [Type::Option, Type::Result][self.rng.usize(..2)];
        let of = Box::new(self.expr(ty, depth));
        match self.rng.u32(..10) {
            0 if ty == Type::Option => Expr::Method(of, "unwrap", Vec::new()),
            1..4 if ty == Type::Option => {
                let closure = self.closure(0, Form::Bare, Type::Int, true, depth);
                Expr::Method(of, "unwrap_or_else", vec![Expr::Closure(Box::new(closure))])
            }
            _ => Expr::Method(of, "unwrap_or", vec![self.expr(Type::Int, depth)]),
        }
    }

    /// `x?`, where what is around it can give the failure back.
    fn try_value(&mut self, depth: u32) -> Expr {
        match self.returns {
            Some(ty @ (Type::Option | Type::Result)) => Expr::Try(Box::new(self.expr(ty, depth))),
            _ => self.unwrapped(depth),
        }
    }

    /// A function or named closure that gives this.
    fn call(&mut self, ty: Type, depth: u32) -> Option<Expr> {
        let constant = self.constant;
        let functions = self.functions.iter().filter(|function| function.returns == ty);
        let functions = functions.filter(|function| function.constant || !constant);
        let mut may: Vec<Callable> = functions.cloned().collect();
        may.extend(self.variables.iter().filter_map(|variable| match variable.is {
            Is::Closure(params, returns) if returns == ty => Some(Callable {
                name: variable.name.clone(),
                params,
                returns,
                constant: false,
                recursive: false,
            }),
            _ => None,
        }));
        let callable = may.get(self.rng.usize(..may.len().max(1)))?;
        let mut args: Vec<Expr> = (0..callable.params).map(|_| self.expr(Type::Int, depth)).collect();
        if callable.recursive {
            args[0] = match self.own.as_ref() == Some(&callable.name) {
                true => {
                    let counter = Box::new(Expr::Var(self.variables[0].name.clone()));
                    Expr::Binary(Op::Sub, counter, Box::new(Expr::Int(1)))
                }
                false => Expr::Int(self.rng.i64(0..4)),
            };
        }
        Some(Expr::Call(callable.name.clone(), args))
    }

    /// A closure. One that is not moved may change what is around it and must be called at once.
    fn closure(&mut self, params: usize, form: Form, returns: Type, moved: bool, depth: u32) -> Closure {
        let targets = std::mem::take(&mut self.targets);
        let (outer_returns, frozen, own) = (self.returns.take(), self.frozen, self.own.clone());
        if moved {
            self.frozen = self.variables.len();
        }
        // `return` and `?` need to know what they give.
        let written = self.chance(35);
        self.returns = written.then_some(returns);
        let params: Vec<(String, Form)> = (0..params).map(|_| (self.name('a'), form)).collect();
        let at = self.at();
        let body = self.scope(|grower| {
            params.iter().for_each(|(name, _)| grower.declare(name, Is::Value(Type::Int), false));
            match written {
                true => Expr::Block(grower.block(returns, depth)),
                false => grower.expr(returns, depth),
            }
        });
        self.targets = targets;
        (self.returns, self.frozen, self.own) = (outer_returns, frozen, own);
        let returns = written.then_some(returns);
        Closure { moved, params, returns, at, body, before_else: false }
    }

    /// `(move |a: i64| move |b: i64| ..)(x)(y)`
    fn closure_in_closure(&mut self, ty: Type, depth: u32) -> Expr {
        let name = self.name('a');
        let inner = self.scope(|grower| {
            grower.declare(&name, Is::Value(Type::Int), false);
            grower.closure(1, Form::Typed, ty, true, depth)
        });
        let body = Expr::Closure(Box::new(inner));
        let params = vec![(name, Form::Typed)];
        let at = self.at();
        let outer = Closure { moved: true, params, returns: None, at, body, before_else: false };
        let [first, second] = [(); 2].map(|()| self.expr(Type::Int, depth));
        let inner = Expr::CallNow(Box::new(outer), vec![first]);
        Expr::Apply(Box::new(inner), Box::new(second))
    }

    fn call_now(&mut self, ty: Type, depth: u32) -> Expr {
        if self.chance(30) {
            return self.closure_in_closure(ty, depth);
        }
        let params = self.rng.usize(..2);
        // With arguments it would still hold what they change.
        let closure = self.closure(params, Form::Typed, ty, params > 0, depth);
        let args = (0..params).map(|_| self.expr(Type::Int, depth)).collect();
        Expr::CallNow(Box::new(closure), args)
    }

    fn chain(&mut self, ty: Type, depth: u32) -> Expr {
        let chain = self.freeze(|grower| {
            let from = Expr::Int(grower.rng.i64(-2..3));
            let to = Expr::Int(grower.rng.i64(0..6));
            let mut stages = Vec::new();
            for _ in 0..grower.rng.usize(..3) {
                let moved = grower.rng.bool();
                stages.push(match grower.rng.bool() {
                    true => Stage::Map(grower.closure(1, Form::Bare, Type::Int, moved, depth)),
                    false => Stage::Filter(grower.closure(1, Form::Reference, Type::Bool, moved, depth)),
                });
            }
            let end = match (ty, grower.rng.bool()) {
                (Type::Bool, _) => End::Any(grower.closure(1, Form::Bare, Type::Bool, true, depth)),
                (_, true) => End::Sum,
                (_, false) => {
                    let init = grower.expr(Type::Int, depth);
                    End::Fold(init, grower.closure(2, Form::Bare, Type::Int, true, depth))
                }
            };
            Chain { from, to, stages, end }
        });
        Expr::Chain(Box::new(chain))
    }
}

fn less(left: Expr, right: Expr) -> Expr {
    Expr::Binary(Op::Less, Box::new(left), Box::new(right))
}
