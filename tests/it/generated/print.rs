//! Writes a program as text, in an unusual layout, and remembers the line of each place. All white space and all comments come from `Printer::gap`.

use fastrand::Rng;

use super::language::*;

/// Where a place is in the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    pub line: u32,
    /// No directive switches it off.
    pub is_on: bool,
}

/// The first lines of every program.
const HEAD: &str = "macro_rules! same { ($($t:tt)*) => { { let value = ($($t)*); value } } }";

/// Comments that look like something else.
const COMMENTS: [&str; 6] = ["/* } */", "/* a /* b; */ c */", "/**/", "// let x = { 1;\n", "// \"\n", "//\n"];

/// The text of a program, and where its places are.
pub fn print(program: &Program, rng: &mut Rng) -> (String, Vec<Place>) {
    let mut printer = Printer {
        text: String::new(),
        line: 1,
        places: vec![Place::default(); program.places],
        pending: Vec::new(),
        is_on: true,
        newline: [4, 50, 85, 97][rng.usize(..4)],
        odd: [0, 1, 3, 8][rng.usize(..4)],
        rng: rng.clone(),
        depth: 0,
        glued: false,
    };
    printer.token(HEAD);
    for function in &program.functions {
        printer.end_of_line();
        printer.function(function, if function.name == "run" { "pub fn" } else { "fn" });
    }
    assert!(printer.pending.is_empty());
    printer.text.push('\n');
    // Lines are what they were, and a string over two lines has the same value.
    let has_returns = rng.usize(..4) == 0;
    let text = if has_returns { printer.text.replace('\n', "\r\n") } else { printer.text };
    (text, printer.places)
}

struct Printer {
    text: String,
    line: u32,
    places: Vec<Place>,
    /// Places of the next token.
    pending: Vec<At>,
    is_on: bool,
    /// How many of 100 statements end their line.
    newline: u32,
    /// How many of 100 gaps within a statement are odd.
    odd: u32,
    rng: Rng,
    depth: usize,
    /// The next token follows this one without a space.
    glued: bool,
}

/// Where an expression is: what may follow a block there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spot {
    Free,
    Statement,
    Arm,
}

impl Printer {
    fn chance(&mut self, of_100: u32) -> bool {
        self.rng.u32(..100) < of_100
    }

    /// Notes that the next token is this place.
    fn mark(&mut self, at: At) {
        self.pending.push(at);
    }

    fn token(&mut self, token: &str) {
        if !std::mem::take(&mut self.glued) {
            self.gap(token);
        }
        for at in std::mem::take(&mut self.pending) {
            self.places[at] = Place { line: self.line, is_on: self.is_on };
        }
        self.push(token);
    }

    fn tokens(&mut self, tokens: &[&str]) {
        tokens.iter().for_each(|token| self.token(token));
    }

    /// A token with nothing behind it, not even a comment.
    fn glue(&mut self, token: &str) {
        self.token(token);
        self.glued = true;
    }

    fn push(&mut self, text: &str) {
        self.line += text.matches('\n').count() as u32;
        self.text.push_str(text);
    }

    fn gap(&mut self, next: &str) {
        if self.text.ends_with('\n') {
            self.push(&"    ".repeat(self.depth));
        } else if !self.text.is_empty() {
            let joins = |char: char| char.is_alphanumeric() || "_'\"".contains(char);
            let closed = |char: char| "()[]{};,".contains(char);
            let (last, first) = (self.text.chars().next_back(), next.chars().next());
            let (last, first) = (last.unwrap_or(' '), first.unwrap_or(' '));
            let may_touch = closed(last) || closed(first) || (joins(last) != joins(first));
            if !may_touch || last == ',' || self.chance(70) {
                self.push(" ");
            }
        }
        if self.chance(self.odd) {
            let comment = COMMENTS[self.rng.usize(..COMMENTS.len())];
            let text = if self.rng.bool() { "\n\n" } else { comment };
            self.push(text);
        }
    }

    /// Behind a statement or an opening brace.
    fn end_of_line(&mut self) {
        if self.chance(self.newline) {
            if self.chance(5) {
                self.push(" // }");
            }
            self.push("\n");
        }
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.token(",");
            }
            each(self, item);
        }
    }

    fn function(&mut self, function: &Function, keyword: &str) {
        if function.constant {
            self.token("const");
        }
        self.tokens(&[keyword, &function.name, "("]);
        self.list(&function.params, |printer, name| printer.tokens(&[name, ":", "i64"]));
        self.token(")");
        if function.returns != Type::Unit {
            self.tokens(&["->", name_of(function.returns)]);
        }
        self.block(&function.body);
    }

    fn block(&mut self, block: &Block) {
        self.mark(block.at);
        self.token("{");
        self.depth += 1;
        if !block.stmts.is_empty() {
            self.end_of_line();
        }
        for stmt in &block.stmts {
            self.statement(stmt);
            self.end_of_line();
        }
        self.depth -= 1;
        self.token("}");
    }

    fn cfg(&mut self, cfg: Option<Cfg>) {
        let Some(cfg) = cfg else { return };
        let forms = match cfg {
            Cfg::Kept => ["#[cfg(all())]", "#[cfg(all( // not any\n))]", "#[cfg_attr(any(), cfg(any()))]"],
            Cfg::Dropped => ["#[cfg(any())]", "#[cfg(any( // not all\n))]", "#[cfg(not(all()))]"],
        };
        let form = forms[self.rng.usize(..3)];
        self.token(form);
        self.end_of_line();
    }

    fn statement(&mut self, stmt: &Stmt) {
        if let Kind::Directive(on) = stmt.kind {
            return self.directive(on);
        }
        self.cfg(stmt.cfg);
        if matches!(stmt.kind, Kind::Let { .. }) && self.chance(self.odd) {
            self.token("/// documented; {\n");
        }
        self.mark(stmt.at);
        match &stmt.kind {
            Kind::Let { pattern, init, otherwise } => {
                self.token("let");
                self.pattern(pattern);
                self.token("=");
                match otherwise {
                    None => self.expr(init, Spot::Free),
                    Some(otherwise) => {
                        self.in_parens(init, !may_precede_else(init), Spot::Free);
                        self.token("else");
                        self.block(otherwise);
                    }
                }
                self.token(";");
            }
            Kind::Declare(name, ty) => self.tokens(&["let", name, ":", name_of(*ty), ";"]),
            Kind::Expr { expr, semi } => {
                self.expr(expr, Spot::Statement);
                if *semi {
                    self.token(";");
                }
            }
            Kind::Function(function) => self.function(function, "fn"),
            Kind::Const(name, init) => {
                self.tokens(&["const", name, ":", "i64", "="]);
                self.expr(init, Spot::Free);
                self.token(";");
            }
            Kind::Empty => self.token(";"),
            Kind::Directive(_) => {}
        }
    }

    /// A comment alone on its line.
    fn directive(&mut self, on: bool) {
        if !self.text.ends_with('\n') {
            self.push("\n");
        }
        self.is_on = on;
        self.push(if on { "/* xhist instrument TRUE */\n" } else { "  // xhist instrument FALSE\n" });
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Any => self.token("_"),
            Pattern::Name(name) => self.token(name),
            Pattern::Mut(name) => self.tokens(&["mut", name]),
            Pattern::Int(value) => self.token(&format!("{value}i64")),
            Pattern::Either(one, other) => self.tokens(&[&format!("{one}"), "|", &format!("{other}")]),
            Pattern::Range(first, last) => self.tokens(&[&format!("{first}"), "..=", &format!("{last}")]),
            Pattern::Bool(value) => self.token(&value.to_string()),
            Pattern::None => self.token("None"),
            Pattern::Some(inner) => self.around("Some", inner),
            Pattern::Ok(inner) => self.around("Ok", inner),
            Pattern::Err(inner) => self.around("Err", inner),
        }
    }

    fn around(&mut self, name: &str, inner: &Pattern) {
        self.tokens(&[name, "("]);
        self.pattern(inner);
        self.token(")");
    }

    fn in_parens(&mut self, expr: &Expr, parens: bool, otherwise: Spot) {
        if parens {
            self.token("(");
            self.expr(expr, Spot::Free);
            self.token(")");
        } else {
            self.expr(expr, otherwise);
        }
    }

    /// An operand of something that binds this tightly; a left one may start a statement.
    fn operand(&mut self, expr: &Expr, tightness: u32, spot: Spot) {
        self.in_parens(expr, self::tightness(expr) < tightness, spot);
    }

    fn call(&mut self, name: &str, args: &[Expr]) {
        self.tokens(&[name, "("]);
        self.list(args, |printer, arg| printer.expr(arg, Spot::Free));
        self.token(")");
    }

    fn one(&mut self, name: &str, arg: &Expr) {
        self.call(name, std::slice::from_ref(arg));
    }

    fn label(&mut self, label: &Label) {
        if let Some(label) = label {
            self.tokens(&[&format!("'{label}"), ":"]);
        }
    }

    fn jump(&mut self, word: &str, label: &Label, value: Option<&Expr>) {
        self.token(word);
        if let Some(label) = label {
            self.token(&format!("'{label}"));
        }
        if let Some(value) = value {
            // `break 'a: {}` is not what it looks like.
            self.in_parens(value, starts_with_label(value), Spot::Free);
        }
    }

    fn expr(&mut self, expr: &Expr, spot: Spot) {
        if falls_apart(expr, spot) {
            return self.in_parens(expr, true, Spot::Free);
        }
        match expr {
            Expr::Int(value @ ..0) => self.tokens(&["(", &format!("{value}i64"), ")"]),
            Expr::Int(value) => self.token(&format!("{value}i64")),
            Expr::Bool(value) => self.token(&value.to_string()),
            Expr::Unit => self.tokens(&["(", ")"]),
            Expr::Var(name) => self.token(name),
            Expr::Some(inner) => self.one("Some", inner),
            Expr::None => self.token("None::<i64>"),
            Expr::Ok(inner) => self.one("Ok::<i64, i64>", inner),
            Expr::Err(inner) => self.one("Err::<i64, i64>", inner),
            Expr::Not(inner) | Expr::Minus(inner) => {
                self.token(if matches!(expr, Expr::Not(_)) { "!" } else { "-" });
                self.operand(inner, UNARY, Spot::Free);
            }
            Expr::Binary(op, left, right) => {
                let (sign, own) = operator(*op);
                // Comparisons cannot be chained.
                let left_at_least = if own == COMPARISON { own + 1 } else { own };
                self.operand(left, left_at_least, spot);
                self.token(sign);
                self.operand(right, own + 1, Spot::Free);
            }
            Expr::Assign(name, adds, value) => {
                self.tokens(&[name, if *adds { "+=" } else { "=" }]);
                self.expr(value, Spot::Free);
            }
            Expr::Index(values, index) => {
                self.token("[");
                self.list(values, |printer, value| printer.expr(value, Spot::Free));
                self.tokens(&["]", "[", &index.to_string(), "]"]);
            }
            Expr::Block(block) => self.block(block),
            Expr::Unsafe(block) => {
                self.token("unsafe");
                self.block(block);
            }
            Expr::Labelled(label, block) => {
                self.label(&Some(label.clone()));
                self.block(block);
            }
            Expr::If(chain) => self.chain_of_ifs(chain),
            Expr::Match(of, arms) => self.match_expr(of, arms),
            Expr::While(label, cond, body) => {
                self.label(label);
                self.token("while");
                self.cond(cond);
                self.block(body);
            }
            Expr::For(label, name, range, body) => {
                self.label(label);
                self.tokens(&["for", name, "in"]);
                self.range(&range[0], &range[1]);
                self.block(body);
            }
            Expr::Loop(label, body) => {
                self.label(label);
                self.token("loop");
                self.block(body);
            }
            Expr::Break(label, value) => self.jump("break", label, value.as_deref()),
            Expr::Continue(label) => self.jump("continue", label, None),
            Expr::Return(value) => self.jump("return", &None, value.as_deref()),
            Expr::Try(inner) => {
                self.operand(inner, ATOM, spot);
                self.token("?");
            }
            Expr::Call(name, args) => self.call(name, args),
            Expr::Closure(closure) => self.closure(closure),
            Expr::CallNow(closure, args) => {
                self.token("(");
                self.closure(closure);
                self.token(")");
                self.call("", args);
            }
            Expr::Apply(of, arg) => {
                self.operand(of, ATOM, spot);
                self.one("", arg);
            }
            Expr::Method(of, name, args) => {
                self.operand(of, ATOM, spot);
                self.glue(".");
                self.call(name, args);
            }
            Expr::Chain(chain) => self.chain(chain),
            Expr::Catch(closure) => {
                self.tokens(&["std::panic::catch_unwind", "(", "std::panic::AssertUnwindSafe", "("]);
                self.closure(closure);
                self.tokens(&[")", ")", ".is_ok()"]);
            }
            Expr::Panic => self.token("panic!(\"as planned; {{\")"),
            Expr::Print { text, args, delimiter } => {
                let close = close(*delimiter);
                self.tokens(&["println!", &delimiter.to_string()]);
                self.token(&format!("\"{text}{}\"", " {:?}".repeat(args.len())));
                for arg in args {
                    self.token(",");
                    self.expr(arg, Spot::Free);
                }
                self.token(close);
            }
            Expr::Same(inner) => self.one("same!", inner),
            Expr::Matches(of, pattern, delimiter) => {
                self.tokens(&["matches!", &delimiter.to_string()]);
                self.expr(of, Spot::Free);
                self.token(",");
                self.pattern(pattern);
                self.token(close(*delimiter));
            }
        }
    }

    fn range(&mut self, from: &Expr, to: &Expr) {
        self.operand(from, UNARY, Spot::Free);
        self.token("..");
        // In front of a body, `..{` has no end.
        self.in_parens(to, is_block_like(leftmost(to)) || tightness(to) < UNARY, Spot::Free);
    }

    fn cond(&mut self, cond: &Cond) {
        let (name, of) = match cond {
            Cond::Is(cond) => return self.expr(cond, Spot::Free),
            Cond::Let(name, of) | Cond::LetAnd(name, of, _) => (name, of),
        };
        self.tokens(&["let", "Some", "(", name, ")", "="]);
        self.operand(of, UNARY, Spot::Free);
        if let Cond::LetAnd(_, _, and) = cond {
            self.token("&&");
            self.operand(and, COMPARISON, Spot::Free);
        }
    }

    fn chain_of_ifs(&mut self, chain: &If) {
        self.mark(chain.at);
        self.token("if");
        self.cond(&chain.cond);
        self.block(&chain.then);
        let Some(otherwise) = &chain.otherwise else { return };
        self.token("else");
        match otherwise {
            Else::Block(block) => self.block(block),
            Else::If(next) => self.chain_of_ifs(next),
        }
    }

    fn match_expr(&mut self, of: &Expr, arms: &[Arm]) {
        self.token("match");
        self.expr(of, Spot::Free);
        self.token("{");
        for arm in arms {
            self.end_of_line();
            self.cfg(arm.cfg);
            self.pattern(&arm.pattern);
            if let Some(guard) = &arm.guard {
                self.token("if");
                self.expr(guard, Spot::Free);
            }
            self.token("=>");
            self.mark(arm.at);
            self.expr(&arm.body, Spot::Arm);
            if !is_block_like(&arm.body) || self.rng.bool() {
                self.token(",");
            }
        }
        self.token("}");
    }

    fn closure(&mut self, closure: &Closure) {
        if closure.moved {
            self.token("move");
        }
        self.token("|");
        self.list(&closure.params, |printer, (name, form)| match form {
            Form::Bare => printer.token(name),
            Form::Typed => printer.tokens(&[name, ":", "i64"]),
            Form::Reference => printer.tokens(&["&", name]),
        });
        self.token("|");
        if let Some(returns) = closure.returns {
            self.tokens(&["->", name_of(returns)]);
        }
        self.mark(closure.at);
        self.expr(&closure.body, Spot::Free);
    }

    fn chain(&mut self, chain: &Chain) {
        self.token("(");
        self.range(&chain.from, &chain.to);
        self.token(")");
        for stage in &chain.stages {
            self.end_of_line();
            let (name, closure) = match stage {
                Stage::Map(closure) => (".map", closure),
                Stage::Filter(closure) => (".filter", closure),
            };
            self.with_closure(name, None, closure);
        }
        match &chain.end {
            End::Sum => self.token(".sum::<i64>()"),
            End::Fold(init, closure) => self.with_closure(".fold", Some(init), closure),
            End::Any(closure) => self.with_closure(".any", None, closure),
        }
    }

    fn with_closure(&mut self, name: &str, init: Option<&Expr>, closure: &Closure) {
        self.tokens(&[name, "("]);
        if let Some(init) = init {
            self.expr(init, Spot::Free);
            self.token(",");
        }
        self.closure(closure);
        self.token(")");
    }
}

fn name_of(ty: Type) -> &'static str {
    match ty {
        Type::Unit => "()",
        Type::Int => "i64",
        Type::Bool => "bool",
        Type::Option => "Option<i64>",
        Type::Result => "Result<i64, i64>",
    }
}

fn close(open: char) -> &'static str {
    match open {
        '(' => ")",
        '[' => "]",
        _ => "}",
    }
}

const COMPARISON: u32 = 3;
const UNARY: u32 = 6;
const ATOM: u32 = 7;

fn operator(op: Op) -> (&'static str, u32) {
    match op {
        Op::Or => ("||", 1),
        Op::And => ("&&", 2),
        Op::Less => ("<", COMPARISON),
        Op::Equal => ("==", COMPARISON),
        Op::Add => ("+", 4),
        Op::Sub => ("-", 4),
        Op::Mul => ("*", 5),
    }
}

fn tightness(expr: &Expr) -> u32 {
    match expr {
        Expr::Assign(..) | Expr::Return(_) | Expr::Break(..) | Expr::Continue(_) | Expr::Closure(_) => 0,
        Expr::Binary(op, ..) => operator(*op).1,
        Expr::Not(_) | Expr::Minus(_) => UNARY,
        _ => ATOM,
    }
}

/// A block ends the statement that it starts: what goes on needs parentheses.
fn falls_apart(expr: &Expr, spot: Spot) -> bool {
    let ends = |expr: &Expr| {
        is_block_like(expr) || (spot == Spot::Statement && matches!(expr, Expr::Matches(.., '{')))
    };
    match expr {
        _ if spot == Spot::Free => false,
        // Its left operand gets parentheses of its own when it binds less tightly.
        Expr::Binary(_, left, _) => ends(left) || falls_apart(left, spot),
        Expr::Method(of, ..) | Expr::Try(of) => matches!(**of, Expr::Matches(..)) || falls_apart(of, spot),
        _ => false,
    }
}

/// The `else` of a let-else may not follow a brace.
fn may_precede_else(init: &Expr) -> bool {
    match init {
        Expr::Closure(closure) => closure.before_else,
        Expr::Var(_) | Expr::Some(_) | Expr::None | Expr::Call(..) | Expr::Method(..) => true,
        _ => false,
    }
}

fn starts_with_label(expr: &Expr) -> bool {
    matches!(
        leftmost(expr),
        Expr::Labelled(..) | Expr::Loop(Some(_), _) | Expr::While(Some(_), ..) | Expr::For(Some(_), ..)
    )
}

/// The expression with the first token.
fn leftmost(expr: &Expr) -> &Expr {
    match expr {
        Expr::Binary(_, of, _) | Expr::Method(of, ..) | Expr::Try(of) => leftmost(of),
        expr => expr,
    }
}
