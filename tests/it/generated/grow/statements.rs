//! Statements of every kind, and what of them belongs together.

use super::super::language::*;
use super::{Grower, Is, JumpTarget, TEXTS, Variable, less};

impl Grower {
    /// The value of a block; with `cfg` there can be several.
    pub(super) fn tail(&mut self, ty: Type, depth: u32) -> Vec<Stmt> {
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
    pub(super) fn statements(&mut self, depth: u32) -> Vec<Stmt> {
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

    pub(super) fn constant_statements(&mut self, depth: u32) -> Vec<Stmt> {
        match self.rng.u32(..10) {
            0..4 => vec![self.let_value(depth)],
            4..6 => self.assignment(depth).into_iter().collect(),
            6 => self.declared(depth),
            7 => self.repeated(depth),
            _ => vec![self.block_like_statement(depth)],
        }
    }

    pub(super) fn let_value(&mut self, depth: u32) -> Stmt {
        let ty = if self.constant { Type::Int } else { self.any_type() };
        let init = self.expr(ty, depth);
        let (name, mutable) = (self.name('v'), self.rng.bool());
        self.declare(&name, Is::Value(ty), mutable);
        let pattern = if mutable { Pattern::Mut(name) } else { Pattern::Name(name) };
        self.stmt(Kind::Let { pattern, init, otherwise: None })
    }

    /// `let x: T;`, and the statement that gives it a value.
    pub(super) fn declared(&mut self, depth: u32) -> Vec<Stmt> {
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

    pub(super) fn print(&mut self, depth: u32) -> Expr {
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

    pub(super) fn delimiter(&mut self) -> char {
        ['(', '(', '[', '{'][self.rng.usize(..4)]
    }

    pub(super) fn output(&mut self, depth: u32) -> Stmt {
        let expr = self.print(depth);
        let semi = !matches!(expr, Expr::Print { delimiter: '{', .. });
        self.stmt(Kind::Expr { expr, semi })
    }

    pub(super) fn assign(&mut self, depth: u32) -> Option<Expr> {
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

    pub(super) fn assignment(&mut self, depth: u32) -> Option<Stmt> {
        let expr = self.assign(depth)?;
        Some(self.expr_stmt(expr))
    }

    pub(super) fn named_closure(&mut self, depth: u32) -> Stmt {
        let params = self.rng.usize(..3);
        let returns = self.any_type();
        let closure = self.closure(params, Form::Typed, returns, true, depth);
        let name = self.name('c');
        self.declare(&name, Is::Closure(params, returns), false);
        let init = Expr::Closure(Box::new(closure));
        self.stmt(Kind::Let { pattern: Pattern::Name(name), init, otherwise: None })
    }

    pub(super) fn let_else(&mut self, depth: u32) -> Stmt {
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
    pub(super) fn closure_before_else(&mut self, depth: u32) -> Stmt {
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
    pub(super) fn leaving_block(&mut self, depth: u32) -> Block {
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
    pub(super) fn leave(&mut self, depth: u32) -> Expr {
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
    pub(super) fn target(&mut self) -> Option<JumpTarget> {
        let may: Vec<JumpTarget> =
            self.targets.iter().filter(|target| target.label.is_some()).cloned().collect();
        let innermost = self.targets.last().filter(|target| target.is_loop).cloned();
        match innermost {
            Some(target) if may.is_empty() || self.rng.bool() => Some(JumpTarget { label: None, ..target }),
            _ => may.get(self.rng.usize(..may.len().max(1))).cloned(),
        }
    }

    pub(super) fn under_cfg(&mut self, depth: u32) -> Vec<Stmt> {
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

    pub(super) fn switched_off(&mut self, depth: u32) -> Vec<Stmt> {
        let mut stmts = vec![self.stmt(Kind::Directive(false))];
        for _ in 0..self.rng.usize(1..3) {
            stmts.extend(self.statements(depth));
        }
        stmts.push(self.stmt(Kind::Directive(true)));
        stmts
    }

    pub(super) fn item(&mut self) -> Vec<Stmt> {
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
    pub(super) fn jump(&mut self, depth: u32) -> Option<Stmt> {
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
    pub(super) fn repeated(&mut self, depth: u32) -> Vec<Stmt> {
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
    pub(super) fn counter(&mut self) -> (String, Stmt) {
        let name = self.name('n');
        let init = Expr::Int(self.rng.i64(0..4));
        let stmt = self.stmt(Kind::Let { pattern: Pattern::Mut(name.clone()), init, otherwise: None });
        self.declare(&name, Is::Value(Type::Int), false);
        (name, stmt)
    }

    pub(super) fn label(&mut self) -> Label {
        self.rng.bool().then(|| self.name('l'))
    }

    pub(super) fn while_loop(&mut self, label: Label, counter: &str, depth: u32) -> Expr {
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
    pub(super) fn counting_while(&mut self, label: Label, counter: &str, depth: u32) -> Expr {
        let down = Expr::Assign(counter.to_owned(), true, Box::new(Expr::Int(-1)));
        let expr = less(Expr::Int(0), Expr::Var(counter.to_owned()));
        let stmts = vec![self.expr_stmt(down), self.stmt(Kind::Expr { expr, semi: false })];
        let cond = Cond::Is(Expr::Block(Block { at: self.at(), stmts }));
        self.targets.push(JumpTarget { label: label.clone(), is_loop: true, gives: Type::Unit });
        let body = self.block(Type::Unit, depth);
        self.targets.pop();
        Expr::While(label, Box::new(cond), body)
    }

    pub(super) fn for_loop(&mut self, depth: u32) -> Expr {
        let label = self.label();
        let from = Expr::Int(self.rng.i64(0..3));
        let to = self.without_targets(|grower| match grower.chance(10) {
            true => grower.expr(Type::Int, depth),
            false => Expr::Int(grower.rng.i64(0..5)),
        });
        let name = self.name('i');
        let body = self.scope(|grower| {
            grower.declare(&name, Is::Value(Type::Int), false);
            grower.targets.push(JumpTarget { label: label.clone(), is_loop: true, gives: Type::Unit });
            let body = grower.block(Type::Unit, depth);
            grower.targets.pop();
            body
        });
        Expr::For(label, name, Box::new([from, to]), body)
    }

    /// A body that ends its loop when the counter has come to nothing.
    pub(super) fn loop_body(&mut self, label: &Label, gives: Type, counter: &str, depth: u32) -> Block {
        self.targets.push(JumpTarget { label: label.clone(), is_loop: true, gives });
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
    pub(super) fn block_like_statement(&mut self, depth: u32) -> Stmt {
        let expr = self.compound(Type::Unit, depth);
        let semi = !is_block_like(&expr) || self.chance(20);
        self.stmt(Kind::Expr { expr, semi })
    }
}
