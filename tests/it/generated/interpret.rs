//! Runs a program of the small language: what it prints, and the lines that its history must hold.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::language::*;
use super::print::Place;
use super::rules;

/// Where a call is relative to its statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Before,
    After,
}

/// What a run of `run()` leaves.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub printed: String,
    pub lines: Vec<u32>,
}

/// Runs the program; nothing when that takes too long.
pub fn run(program: &Program, places: &[Place], when: When) -> Option<Ran> {
    let ran = Ran { printed: String::new(), lines: Vec::new() };
    let functions = program.functions.iter().map(|function| (&*function.name, (function, true))).collect();
    let mut machine = Interpreter {
        places,
        when,
        ran,
        functions,
        constants: HashMap::new(),
        variables: Vec::new(),
        is_on: true,
        steps: 30_000,
        depth: 40,
    };
    match machine.call("run", Vec::new()) {
        Err(Jump::TooLong) => None,
        Ok(_) | Err(_) => Some(machine.ran),
    }
}

#[derive(Clone)]
enum Value<'p> {
    Unit,
    Int(i64),
    Bool(bool),
    Option(Option<i64>),
    Result(Result<i64, i64>),
    Closure(Bound<'p>),
}

/// A closure that was evaluated, with copies of all it may use.
#[derive(Clone)]
struct Bound<'p> {
    closure: &'p Closure,
    variables: Vec<(&'p str, Value<'p>)>,
    is_on: bool,
}

/// Control that leaves.
enum Jump<'p> {
    Break(&'p Label, Value<'p>),
    Continue(&'p Label),
    Return(Value<'p>),
    Panic,
    TooLong,
}

type Flow<'p> = Result<Value<'p>, Jump<'p>>;

struct Interpreter<'p> {
    places: &'p [Place],
    when: When,
    ran: Ran,
    /// Functions, and whether recording is on where they are.
    functions: HashMap<&'p str, (&'p Function, bool)>,
    constants: HashMap<&'p str, Value<'p>>,
    variables: Vec<(&'p str, Value<'p>)>,
    /// Calls may be in this code: it is not a const context and not an argument of a macro.
    is_on: bool,
    steps: u32,
    depth: u32,
}

impl<'p> Value<'p> {
    fn int(self) -> i64 {
        let Value::Int(value) = self else { panic!("a number") };
        value
    }

    fn truth(self) -> bool {
        let Value::Bool(value) = self else { panic!("a truth") };
        value
    }

    fn write(&self, out: &mut String) {
        let written = match self {
            Value::Int(value) => write!(out, "{value:?}"),
            Value::Bool(value) => write!(out, "{value:?}"),
            Value::Option(value) => write!(out, "{value:?}"),
            Value::Result(value) => write!(out, "{value:?}"),
            Value::Unit => write!(out, "()"),
            Value::Closure(_) => panic!("closures are not printed"),
        };
        written.expect("memory");
    }
}

/// Whether a jump to this label is for the loop or block that has this one.
fn is_for(target: &Label, label: &Label) -> bool {
    target.is_none() || target == label
}

impl<'p> Interpreter<'p> {
    fn can_record(&self, at: At) -> bool {
        self.is_on && self.places[at].is_on
    }

    fn record(&mut self, at: At) {
        if self.can_record(at) {
            self.ran.lines.push(self.places[at].line);
        }
    }

    /// Loops, arms, closures and branches show that they were entered.
    fn body(&mut self, block: &'p Block) -> Flow<'p> {
        if !rules::shows_itself(block, |stmt| self.can_record(stmt.at)) {
            self.record(block.at);
        }
        self.block(block)
    }

    fn block(&mut self, block: &'p Block) -> Flow<'p> {
        self.step()?;
        let depth = self.variables.len();
        self.items(block)?;
        let mut value = Ok(Value::Unit);
        for (index, stmt) in block.stmts.iter().enumerate().filter(|(_, stmt)| rules::is_kept(stmt.cfg)) {
            value = self.statement(stmt, self.when == When::After && rules::comes_after(block, index));
            if value.is_err() {
                break;
            }
        }
        self.variables.truncate(depth);
        value
    }

    /// Items are there from the start of their block on.
    fn items(&mut self, block: &'p Block) -> Result<(), Jump<'p>> {
        for stmt in block.stmts.iter().filter(|stmt| rules::is_kept(stmt.cfg)) {
            match &stmt.kind {
                Kind::Function(function) => {
                    self.functions.insert(&function.name, (function, self.is_on));
                }
                Kind::Const(name, init) => {
                    let value = self.unrecorded(|machine| machine.expr(init))?;
                    self.constants.insert(name, value);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The value of a statement is that of its expression, when that has no `;`.
    fn statement(&mut self, stmt: &'p Stmt, after: bool) -> Flow<'p> {
        let executes = rules::executes(stmt);
        if executes && !after {
            self.record(stmt.at);
        }
        let value = match &stmt.kind {
            Kind::Let { pattern, init, otherwise } => {
                let value = self.expr(init)?;
                match (self.binds(pattern, &value), otherwise) {
                    (true, _) => {}
                    (false, Some(otherwise)) => return self.body(otherwise),
                    (false, None) => panic!("a pattern that always binds"),
                }
                Value::Unit
            }
            Kind::Declare(name, _) => {
                self.variables.push((name, Value::Unit));
                Value::Unit
            }
            Kind::Expr { expr, semi } => {
                let value = self.expr(expr)?;
                if *semi { Value::Unit } else { value }
            }
            Kind::Function(_) | Kind::Const(..) | Kind::Empty | Kind::Directive(_) => Value::Unit,
        };
        if executes && after {
            self.record(stmt.at);
        }
        Ok(value)
    }

    fn binds(&mut self, pattern: &'p Pattern, value: &Value<'p>) -> bool {
        match (pattern, value) {
            (Pattern::Any, _) => true,
            (Pattern::Name(name) | Pattern::Mut(name), _) => {
                self.variables.push((name, value.clone()));
                true
            }
            (Pattern::Int(own), Value::Int(value)) => own == value,
            (Pattern::Either(one, other), Value::Int(value)) => value == one || value == other,
            (Pattern::Range(first, last), Value::Int(value)) => (first..=last).contains(&value),
            (Pattern::Bool(own), Value::Bool(value)) => own == value,
            (Pattern::Some(inner), Value::Option(Some(value))) => self.binds(inner, &Value::Int(*value)),
            (Pattern::None, Value::Option(None)) => true,
            (Pattern::Ok(inner), Value::Result(Ok(value))) => self.binds(inner, &Value::Int(*value)),
            (Pattern::Err(inner), Value::Result(Err(value))) => self.binds(inner, &Value::Int(*value)),
            _ => false,
        }
    }

    fn unrecorded<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.is_on, false);
        let result = work(self);
        self.is_on = outer;
        result
    }

    fn call(&mut self, name: &str, args: Vec<Value<'p>>) -> Flow<'p> {
        let bound = self.variables.iter().rev().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
        if let Some(Value::Closure(bound)) = bound {
            return self.call_bound(bound, args);
        }
        let (function, is_on) = self.functions[name];
        let variables = function.params.iter().map(String::as_str).zip(args).collect();
        self.elsewhere(variables, is_on && !function.constant, |machine| machine.block(&function.body))
    }

    fn call_bound(&mut self, bound: Bound<'p>, args: Vec<Value<'p>>) -> Flow<'p> {
        let closure = bound.closure;
        self.elsewhere(bound.variables, bound.is_on, |machine| machine.run_closure(closure, args))
    }

    /// With other variables; `return` ends here.
    fn elsewhere(
        &mut self,
        variables: Vec<(&'p str, Value<'p>)>,
        is_on: bool,
        work: impl FnOnce(&mut Self) -> Flow<'p>,
    ) -> Flow<'p> {
        self.depth = self.depth.checked_sub(1).ok_or(Jump::TooLong)?;
        let outer = std::mem::replace(&mut self.variables, variables);
        let outer_is_on = std::mem::replace(&mut self.is_on, is_on);
        let flow = work(self);
        self.variables = outer;
        self.is_on = outer_is_on;
        self.depth += 1;
        match flow {
            Err(Jump::Return(value)) => Ok(value),
            flow => flow,
        }
    }

    fn run_closure(&mut self, closure: &'p Closure, args: Vec<Value<'p>>) -> Flow<'p> {
        let names = closure.params.iter().map(|(name, _)| name.as_str());
        self.variables.extend(names.zip(args));
        self.arm_or_closure(closure.at, &closure.body, closure.before_else)
    }

    /// A body with a block of its own shows what that shows, any other the line it starts on.
    fn arm_or_closure(&mut self, at: At, body: &'p Expr, before_else: bool) -> Flow<'p> {
        match own_block(body) {
            Some(block) => {
                let flow = self.body(block);
                self.end_labelled(body, flow)
            }
            None => {
                // The `else` of a let-else may not follow a brace.
                if !before_else {
                    self.record(at);
                }
                self.expr(body)
            }
        }
    }

    fn end_labelled(&self, expr: &'p Expr, flow: Flow<'p>) -> Flow<'p> {
        match (expr, flow) {
            (Expr::Labelled(label, _), Err(Jump::Break(Some(target), value))) if label == target => Ok(value),
            (_, flow) => flow,
        }
    }

    /// Runs a closure at once, on the variables that are there.
    fn in_place(&mut self, closure: &'p Closure, args: Vec<Value<'p>>) -> Flow<'p> {
        let depth = self.variables.len();
        let flow = self.run_closure(closure, args);
        self.variables.truncate(depth);
        match flow {
            Err(Jump::Return(value)) => Ok(value),
            flow => flow,
        }
    }

    fn bind(&self, closure: &'p Closure) -> Bound<'p> {
        Bound { closure, variables: self.variables.clone(), is_on: self.is_on }
    }

    fn args(&mut self, args: &'p [Expr]) -> Result<Vec<Value<'p>>, Jump<'p>> {
        args.iter().map(|arg| self.expr(arg)).collect()
    }

    fn step(&mut self) -> Result<(), Jump<'p>> {
        self.steps = self.steps.checked_sub(1).ok_or(Jump::TooLong)?;
        Ok(())
    }

    fn expr(&mut self, expr: &'p Expr) -> Flow<'p> {
        self.step()?;
        Ok(match expr {
            Expr::Int(value) => Value::Int(*value),
            Expr::Bool(value) => Value::Bool(*value),
            Expr::Unit => Value::Unit,
            Expr::Var(name) => self.variable(name),
            Expr::Some(inner) => Value::Option(Some(self.expr(inner)?.int())),
            Expr::None => Value::Option(None),
            Expr::Ok(inner) => Value::Result(Ok(self.expr(inner)?.int())),
            Expr::Err(inner) => Value::Result(Err(self.expr(inner)?.int())),
            Expr::Not(inner) => Value::Bool(!self.expr(inner)?.truth()),
            Expr::Minus(inner) => Value::Int(self.expr(inner)?.int().wrapping_neg()),
            Expr::Binary(op, left, right) => return self.binary(*op, left, right),
            Expr::Assign(name, adds, value) => {
                let value = self.expr(value)?;
                let variable = self.variables.iter_mut().rev().find(|(own, _)| own == name);
                let (_, variable) = variable.expect("a variable");
                *variable = match (adds, &*variable, value) {
                    (true, Value::Int(old), Value::Int(value)) => Value::Int(old.wrapping_add(value)),
                    (_, _, value) => value,
                };
                Value::Unit
            }
            Expr::Index(values, index) => self.args(values)?.swap_remove(*index),
            Expr::Block(block) | Expr::Unsafe(block) | Expr::Labelled(_, block) => {
                let flow = self.block(block);
                return self.end_labelled(expr, flow);
            }
            Expr::If(chain) => return self.branch(chain),
            Expr::Match(of, arms) => return self.choose(of, arms),
            Expr::While(label, cond, body) => loop {
                let depth = self.variables.len();
                let flow = self.holds(cond).and_then(|holds| match holds {
                    true => self.body(body).map(|_| true),
                    false => Ok(false),
                });
                self.variables.truncate(depth);
                match flow {
                    Ok(false) => break Value::Unit,
                    Ok(true) => {}
                    Err(jump) => {
                        if let Some(value) = end_loop(jump, label)? {
                            break value;
                        }
                    }
                }
            },
            Expr::For(label, name, range, body) => {
                let (from, to) = (self.expr(&range[0])?.int(), self.expr(&range[1])?.int());
                for index in from..to {
                    self.variables.push((name, Value::Int(index)));
                    let flow = self.body(body);
                    self.variables.pop();
                    if let Err(jump) = flow
                        && end_loop(jump, label)?.is_some()
                    {
                        break;
                    }
                }
                Value::Unit
            }
            Expr::Loop(label, body) => loop {
                if let Err(jump) = self.body(body)
                    && let Some(value) = end_loop(jump, label)?
                {
                    break value;
                }
            },
            Expr::Break(label, value) => {
                let value = self.optional(value)?;
                return Err(Jump::Break(label, value));
            }
            Expr::Continue(label) => return Err(Jump::Continue(label)),
            Expr::Return(value) => {
                let value = self.optional(value)?;
                return Err(Jump::Return(value));
            }
            Expr::Try(inner) => match self.expr(inner)? {
                Value::Option(Some(value)) | Value::Result(Ok(value)) => Value::Int(value),
                failed => return Err(Jump::Return(failed)),
            },
            Expr::Call(name, args) => {
                let args = self.args(args)?;
                return self.call(name, args);
            }
            Expr::Closure(closure) => Value::Closure(self.bind(closure)),
            Expr::CallNow(closure, args) => {
                let args = self.args(args)?;
                return self.in_place(closure, args);
            }
            Expr::Apply(of, arg) => {
                let Value::Closure(bound) = self.expr(of)? else { panic!("a closure") };
                let arg = self.expr(arg)?;
                return self.call_bound(bound, vec![arg]);
            }
            Expr::Method(of, name, args) => {
                let of = self.expr(of)?;
                let args = self.args(args)?;
                return self.method(of, name, args);
            }
            Expr::Chain(chain) => return self.chain(chain),
            Expr::Catch(closure) => match self.in_place(closure, Vec::new()) {
                Ok(_) => Value::Bool(true),
                Err(Jump::Panic) => Value::Bool(false),
                Err(jump) => return Err(jump),
            },
            Expr::Panic => return Err(Jump::Panic),
            Expr::Print { text, args, .. } => {
                let args = self.args(args)?;
                self.ran.printed.push_str(&text.replace("{{", "{").replace("}}", "}"));
                for arg in args {
                    self.ran.printed.push(' ');
                    arg.write(&mut self.ran.printed);
                }
                self.ran.printed.push('\n');
                Value::Unit
            }
            // The program's own macro: its argument is code as any other.
            Expr::Same(inner) => return self.expr(inner),
            Expr::Matches(of, pattern, _) => {
                let of = self.unrecorded(|machine| machine.expr(of))?;
                let depth = self.variables.len();
                let matches = self.binds(pattern, &of);
                self.variables.truncate(depth);
                Value::Bool(matches)
            }
        })
    }

    fn variable(&self, name: &str) -> Value<'p> {
        let variable = self.variables.iter().rev().find(|(own, _)| *own == name).map(|(_, value)| value);
        variable.unwrap_or_else(|| &self.constants[name]).clone()
    }

    fn optional(&mut self, value: &'p Option<Box<Expr>>) -> Flow<'p> {
        value.as_ref().map_or(Ok(Value::Unit), |value| self.expr(value))
    }

    fn binary(&mut self, op: Op, left: &'p Expr, right: &'p Expr) -> Flow<'p> {
        let left = self.expr(left)?;
        if let (Op::And, Value::Bool(false)) | (Op::Or, Value::Bool(true)) = (op, &left) {
            return Ok(left);
        }
        Ok(match (op, left, self.expr(right)?) {
            (Op::Add, Value::Int(a), Value::Int(b)) => Value::Int(a.wrapping_add(b)),
            (Op::Sub, Value::Int(a), Value::Int(b)) => Value::Int(a.wrapping_sub(b)),
            (Op::Mul, Value::Int(a), Value::Int(b)) => Value::Int(a.wrapping_mul(b)),
            (Op::Less, Value::Int(a), Value::Int(b)) => Value::Bool(a < b),
            (Op::Equal, Value::Int(a), Value::Int(b)) => Value::Bool(a == b),
            (Op::And | Op::Or, _, right) => right,
            _ => panic!("operands of the right type"),
        })
    }

    fn branch(&mut self, chain: &'p If) -> Flow<'p> {
        let depth = self.variables.len();
        let flow = match self.holds(&chain.cond) {
            Ok(true) => self.body(&chain.then),
            Ok(false) => {
                self.variables.truncate(depth);
                match &chain.otherwise {
                    None => Ok(Value::Unit),
                    Some(Else::Block(block)) => self.body(block),
                    Some(Else::If(next)) => {
                        // A chain says which test it came to.
                        self.record(next.at);
                        self.branch(next)
                    }
                }
            }
            Err(jump) => Err(jump),
        };
        self.variables.truncate(depth);
        flow
    }

    fn holds(&mut self, cond: &'p Cond) -> Result<bool, Jump<'p>> {
        let (name, of) = match cond {
            Cond::Is(cond) => return Ok(self.expr(cond)?.truth()),
            Cond::Let(name, of) | Cond::LetAnd(name, of, _) => (name, of),
        };
        let Value::Option(Some(value)) = self.expr(of)? else { return Ok(false) };
        self.variables.push((name, Value::Int(value)));
        match cond {
            Cond::LetAnd(_, _, and) => Ok(self.expr(and)?.truth()),
            _ => Ok(true),
        }
    }

    fn choose(&mut self, of: &'p Expr, arms: &'p [Arm]) -> Flow<'p> {
        let value = self.expr(of)?;
        let depth = self.variables.len();
        for arm in arms.iter().filter(|arm| rules::is_kept(arm.cfg)) {
            let chosen = self.binds(&arm.pattern, &value)
                && match &arm.guard {
                    None => true,
                    Some(guard) => self.expr(guard)?.truth(),
                };
            if chosen {
                let flow = self.arm_or_closure(arm.at, &arm.body, false);
                self.variables.truncate(depth);
                return flow;
            }
            self.variables.truncate(depth);
        }
        panic!("an arm for everything")
    }

    fn method(&mut self, of: Value<'p>, name: &str, mut args: Vec<Value<'p>>) -> Flow<'p> {
        let arg = args.pop();
        Ok(match (name, of, arg) {
            ("is_some", Value::Option(value), _) => Value::Bool(value.is_some()),
            ("is_ok", Value::Result(value), _) => Value::Bool(value.is_ok()),
            ("unwrap", Value::Option(Some(value)), _) => Value::Int(value),
            ("unwrap", Value::Option(None), _) => return Err(Jump::Panic),
            ("ok", Value::Result(value), _) => Value::Option(value.ok()),
            ("unwrap_or", Value::Option(value), Some(arg)) => Value::Int(value.unwrap_or(arg.int())),
            ("unwrap_or", Value::Result(value), Some(arg)) => Value::Int(value.unwrap_or(arg.int())),
            ("ok_or", Value::Option(value), Some(arg)) => Value::Result(value.ok_or(arg.int())),
            ("map", Value::Option(Some(value)), Some(Value::Closure(bound))) => {
                Value::Option(Some(self.call_bound(bound, vec![Value::Int(value)])?.int()))
            }
            ("and_then", Value::Option(Some(value)), Some(Value::Closure(bound))) => {
                self.call_bound(bound, vec![Value::Int(value)])?
            }
            ("map" | "and_then", none @ Value::Option(None), _) => none,
            ("unwrap_or_else", Value::Option(None), Some(Value::Closure(bound))) => {
                self.call_bound(bound, Vec::new())?
            }
            ("unwrap_or_else", Value::Option(Some(value)), _) => Value::Int(value),
            _ => panic!("a method that is known: {name}"),
        })
    }

    /// One item after the other goes through all stages.
    fn chain(&mut self, chain: &'p Chain) -> Flow<'p> {
        let (from, to) = (self.expr(&chain.from)?.int(), self.expr(&chain.to)?.int());
        let mut result = match &chain.end {
            End::Sum => Value::Int(0),
            End::Fold(init, _) => self.expr(init)?,
            End::Any(_) => Value::Bool(false),
        };
        'items: for item in from..to {
            let mut item = Value::Int(item);
            for stage in &chain.stages {
                match stage {
                    Stage::Map(closure) => item = self.in_place(closure, vec![item])?,
                    Stage::Filter(closure) => {
                        if !self.in_place(closure, vec![item.clone()])?.truth() {
                            continue 'items;
                        }
                    }
                }
            }
            result = match &chain.end {
                End::Sum => Value::Int(result.int().wrapping_add(item.int())),
                End::Fold(_, closure) => self.in_place(closure, vec![result, item])?,
                End::Any(closure) => self.in_place(closure, vec![item])?,
            };
            if let (End::Any(_), Value::Bool(true)) = (&chain.end, &result) {
                break;
            }
        }
        Ok(result)
    }
}

/// What a jump out of a body means for its loop: it ends with a value, goes on, or is left.
fn end_loop<'p>(jump: Jump<'p>, label: &Label) -> Result<Option<Value<'p>>, Jump<'p>> {
    match jump {
        Jump::Break(target, value) if is_for(target, label) => Ok(Some(value)),
        Jump::Continue(target) if is_for(target, label) => Ok(None),
        jump => Err(jump),
    }
}
