//! Expressions of a type that is wanted, closures among them.

use super::super::language::*;
use super::{Callable, Grower, Is, JumpTarget, Variable};

impl Grower {
    /// A value that needs no room.
    pub(super) fn leaf(&mut self, ty: Type) -> Expr {
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

    pub(super) fn expr(&mut self, ty: Type, depth: u32) -> Expr {
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
    pub(super) fn compound(&mut self, ty: Type, depth: u32) -> Expr {
        if depth == 0 {
            return Expr::Block(self.block(ty, 0));
        }
        let depth = depth - 1;
        match self.rng.u32(..100) {
            0..10 => Expr::Block(self.block(ty, depth)),
            10..15 => Expr::Unsafe(self.block(ty, depth)),
            15..25 => {
                let label = self.name('l');
                self.targets.push(JumpTarget { label: Some(label.clone()), is_loop: false, gives: ty });
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

    pub(super) fn if_chain(&mut self, ty: Type, must_end: bool, depth: u32) -> If {
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

    pub(super) fn cond(&mut self, depth: u32) -> Cond {
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

    pub(super) fn match_expr(&mut self, ty: Type, depth: u32) -> Expr {
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
    pub(super) fn pattern(&mut self, ty: Type) -> (Pattern, Option<String>) {
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

    pub(super) fn matches(&mut self, depth: u32) -> Expr {
        let ty = [Type::Int, Type::Option][self.rng.usize(..2)];
        let of = Box::new(self.expr(ty, depth));
        let (pattern, _) = self.pattern(ty);
        Expr::Matches(of, pattern, self.delimiter())
    }

    pub(super) fn arithmetic(&mut self, depth: u32) -> Expr {
        if self.chance(10) {
            return Expr::Minus(Box::new(self.expr(Type::Int, depth)));
        }
        let op = [Op::Add, Op::Sub, Op::Mul][self.rng.usize(..3)];
        self.binary(op, Type::Int, depth)
    }

    pub(super) fn comparison(&mut self, depth: u32) -> Expr {
        match self.rng.u32(..10) {
            0 => Expr::Not(Box::new(self.expr(Type::Bool, depth))),
            1 | 2 => self.binary(Op::And, Type::Bool, depth),
            3 => self.binary(Op::Or, Type::Bool, depth),
            4..7 => self.binary(Op::Equal, Type::Int, depth),
            _ => self.binary(Op::Less, Type::Int, depth),
        }
    }

    pub(super) fn binary(&mut self, op: Op, ty: Type, depth: u32) -> Expr {
        let [left, right] = [(); 2].map(|()| Box::new(self.expr(ty, depth)));
        Expr::Binary(op, left, right)
    }

    pub(super) fn unwrapped(&mut self, depth: u32) -> Expr {
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
    pub(super) fn try_value(&mut self, depth: u32) -> Expr {
        match self.returns {
            Some(ty @ (Type::Option | Type::Result)) => Expr::Try(Box::new(self.expr(ty, depth))),
            _ => self.unwrapped(depth),
        }
    }

    /// A function or named closure that gives this.
    pub(super) fn call(&mut self, ty: Type, depth: u32) -> Option<Expr> {
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
    pub(super) fn closure(
        &mut self,
        params: usize,
        form: Form,
        returns: Type,
        moved: bool,
        depth: u32,
    ) -> Closure {
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
    pub(super) fn closure_in_closure(&mut self, ty: Type, depth: u32) -> Expr {
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

    pub(super) fn call_now(&mut self, ty: Type, depth: u32) -> Expr {
        if self.chance(30) {
            return self.closure_in_closure(ty, depth);
        }
        let params = self.rng.usize(..2);
        // With arguments it would still hold what they change.
        let closure = self.closure(params, Form::Typed, ty, params > 0, depth);
        let args = (0..params).map(|_| self.expr(Type::Int, depth)).collect();
        Expr::CallNow(Box::new(closure), args)
    }

    pub(super) fn chain(&mut self, ty: Type, depth: u32) -> Expr {
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
