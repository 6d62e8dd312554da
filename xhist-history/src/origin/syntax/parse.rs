//! Reads the expressions and statements of a body. What it cannot read is `None`, or a statement without a value.

use super::parser::Parser;
use super::patterns::pattern;
use super::tree::{Expression, ExpressionKind, SyntaxArm, SyntaxBlock, SyntaxStatement};
use crate::program::tokens::TokenKind;

/// Expressions inside each other that are read.
const DEEPEST: u32 = 120;

/// Calls, fields and the like behind one another that are read.
const LONGEST_CHAIN: u32 = 1_000;

/// Words that begin an item.
const ITEMS: [&str; 14] = [
    "fn",
    "struct",
    "enum",
    "union",
    "impl",
    "use",
    "const",
    "static",
    "mod",
    "trait",
    "type",
    "extern",
    "macro_rules",
    "pub",
];

impl Parser<'_> {
    /// What a body in braces consists of.
    pub fn block(&mut self) -> Option<SyntaxBlock> {
        let start = self.here();
        let mut inner = self.group(b'{')?;
        let range = start..self.behind();
        inner.depth = self.depth + 1;
        if inner.depth > DEEPEST {
            return None;
        }
        let mut statements = Vec::new();
        loop {
            while inner.take(";") {}
            if inner.is_done() {
                return Some(SyntaxBlock { range, statements });
            }
            statements.push(inner.statement());
        }
    }

    fn statement(&mut self) -> SyntaxStatement {
        self.attributes();
        let start = self.here();
        let before = self.clone();
        if self.skip_item() {
            return self.statement_of(start, None);
        }
        let is_let = self.take("let");
        let read = if is_let { self.rest_of_let(start) } else { self.rest_of_expression(start) };
        read.unwrap_or_else(|| {
            // Goes on behind what it cannot read.
            *self = before;
            self.skip_statement();
            self.statement_of(start, None)
        })
    }

    fn statement_of(&self, start: u32, value: Option<Expression>) -> SyntaxStatement {
        let range = start..self.behind().max(start);
        SyntaxStatement { range, pattern: None, value, otherwise: None, is_open: false }
    }

    fn rest_of_let(&mut self, start: u32) -> Option<SyntaxStatement> {
        let pattern = pattern(self, &["=", ":", ";"])?;
        if self.take(":") {
            self.type_until(&["=", ";"]);
        }
        let value = if self.take("=") { Some(self.expression(true)?) } else { None };
        let otherwise = if self.take("else") { Some(self.block()?) } else { None };
        self.take(";").then_some(())?;
        let statement = self.statement_of(start, value);
        Some(SyntaxStatement { pattern: Some(pattern), otherwise, ..statement })
    }

    fn rest_of_expression(&mut self, start: u32) -> Option<SyntaxStatement> {
        let is_block = self.begins_block();
        let value = if is_block { self.block_statement()? } else { self.expression(true)? };
        let is_open = !self.take(";");
        // What is behind an expression without a semicolon is the end, unless that is a block or a macro with braces.
        let ends_in_brace = self.text.as_bytes().get(self.behind() as usize - 1) == Some(&b'}');
        if is_open && !self.is_done() && !ends_in_brace {
            return None;
        }
        let is_open = is_open && self.is_done();
        Some(SyntaxStatement { is_open, ..self.statement_of(start, Some(value)) })
    }

    /// Whether a statement begins with an expression that ends with its block.
    fn begins_block(&self) -> bool {
        let word = if self.token(0).is_some_and(|token| token.kind == TokenKind::Lifetime) {
            self.word(2)
        } else {
            self.word(0)
        };
        matches!(word, "if" | "match" | "loop" | "while" | "for" | "{")
            || word == "unsafe" && self.word(1) == "{"
    }

    fn block_statement(&mut self) -> Option<Expression> {
        let value = self.primary(true)?;
        match self.operator() {
            "." | "?" => self.postfix(value),
            _ => Some(value),
        }
    }

    /// Takes an item, if one is next.
    fn skip_item(&mut self) -> bool {
        let word = self.word(0);
        let next = self.word(1);
        let is_item = match word {
            "const" => next != "{" && next != "|" && next != "move",
            "union" => self.is_name(1),
            "macro_rules" => next == "!",
            "unsafe" => matches!(next, "fn" | "impl" | "trait" | "extern"),
            "async" => next == "fn",
            _ => ITEMS.contains(&word),
        };
        if is_item {
            self.skip_statement();
        }
        is_item
    }

    /// Takes tokens up to a semicolon or behind a block.
    fn skip_statement(&mut self) {
        while !self.is_done() {
            match self.token(0).map(|token| token.kind) {
                Some(TokenKind::Open(bracket, close)) => {
                    self.at = (close as usize + 1).min(self.end);
                    if bracket == b'{' && self.word(0) != "else" && self.word(0) != "." {
                        self.take(";");
                        return;
                    }
                }
                Some(TokenKind::Mark(b';')) => {
                    self.skip();
                    return;
                }
                _ => self.skip(),
            }
        }
    }

    /// An expression. `structs`: `A { .. }` may be one, which is not so in a condition.
    pub fn expression(&mut self, structs: bool) -> Option<Expression> {
        self.depth += 1;
        let read = if self.depth > DEEPEST { None } else { self.assignment(structs) };
        self.depth -= 1;
        read
    }

    fn assignment(&mut self, structs: bool) -> Option<Expression> {
        let place = self.range(structs)?;
        let operator = match self.operator() {
            "=" => None,
            operator if operator.ends_with('=') && binding_power(operator).is_none() => {
                Some(operator.to_owned())
            }
            _ => return Some(place),
        };
        self.at += operator.as_ref().map_or(1, String::len);
        let value = self.expression(structs)?;
        let range = place.range.start..value.range.end;
        Some(Expression { range, kind: ExpressionKind::Assign(Box::new(place), operator, Box::new(value)) })
    }

    fn range(&mut self, structs: bool) -> Option<Expression> {
        let start = self.here();
        let mut parts = Vec::new();
        if !matches!(self.operator(), ".." | "..=") {
            let first = self.binary(structs, 0)?;
            if !matches!(self.operator(), ".." | "..=") {
                return Some(first);
            }
            parts.push(first);
        }
        self.at += self.operator().len();
        if !self.ends_operand(structs) {
            parts.push(self.binary(structs, 0)?);
        }
        Some(Expression { range: start..self.behind(), kind: ExpressionKind::Made(parts) })
    }

    /// Whether no operand is next.
    fn ends_operand(&self, structs: bool) -> bool {
        self.is_done() || matches!(self.word(0), "," | ";" | "=") || !structs && self.word(0) == "{"
    }

    fn binary(&mut self, structs: bool, least: u8) -> Option<Expression> {
        let mut left = self.cast(structs)?;
        let mut is_chain = false;
        loop {
            let operator = self.operator();
            let Some(power) = binding_power(operator).filter(|power| *power > least) else {
                return Some(left);
            };
            self.at += operator.len();
            let right = self.binary(structs, power)?;
            let range = left.range.start..right.range.end;
            // `a + b + c` is made of three.
            let mut parts = match left.kind {
                ExpressionKind::Made(parts) if is_chain => parts,
                _ => vec![left],
            };
            parts.push(right);
            is_chain = true;
            left = Expression { range, kind: ExpressionKind::Made(parts) };
        }
    }

    fn cast(&mut self, structs: bool) -> Option<Expression> {
        let mut value = self.unary(structs)?;
        for _ in 0..DEEPEST {
            if self.word(0) != "as" {
                return Some(value);
            }
            self.skip();
            self.cast_type();
            let range = value.range.start..self.behind();
            value = Expression { range, kind: ExpressionKind::Cast(Box::new(value)) };
        }
        None
    }

    fn unary(&mut self, structs: bool) -> Option<Expression> {
        let start = self.here();
        let prefix = self.word(0);
        if !matches!(prefix, "&" | "*" | "-" | "!") {
            let value = self.primary(structs)?;
            return self.postfix(value);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        self.skip();
        let is_mut = prefix == "&" && self.take("mut");
        if prefix == "&" && self.word(0) == "raw" && matches!(self.word(1), "const" | "mut") {
            self.at += 2;
        }
        let value = self.unary(structs)?;
        self.depth -= 1;
        let kind = match prefix {
            "&" => ExpressionKind::Reference(is_mut, Box::new(value)),
            "*" => ExpressionKind::Same(Box::new(value)),
            _ => ExpressionKind::Made(vec![value]),
        };
        Some(Expression { range: start..self.behind(), kind })
    }

    fn postfix(&mut self, mut value: Expression) -> Option<Expression> {
        for _ in 0..LONGEST_CHAIN {
            let start = value.range.start;
            let kind = match self.token(0).map(|token| token.kind) {
                Some(TokenKind::Mark(b'?')) => {
                    self.skip();
                    ExpressionKind::Try(Box::new(value))
                }
                Some(TokenKind::Open(b'(', _)) => {
                    ExpressionKind::Call(Box::new(value), self.group(b'(')?.list()?)
                }
                Some(TokenKind::Open(b'[', _)) => {
                    let index = self.group(b'[')?.expression(true)?;
                    ExpressionKind::Index(Box::new(value), Box::new(index))
                }
                Some(TokenKind::Mark(b'.')) if self.operator() == "." => {
                    self.skip();
                    self.member(value)?
                }
                _ => return Some(value),
            };
            value = Expression { range: start..self.behind(), kind };
        }
        None
    }

    /// What is behind a dot.
    fn member(&mut self, of: Expression) -> Option<ExpressionKind> {
        let (name, kind) = (self.word(0), self.token(0)?.kind);
        self.skip();
        let (range, of) = (of.range.start..self.behind(), Box::new(of));
        match kind {
            TokenKind::Literal => {
                // `a.0.1` looks like a number.
                let (first, second) = name.split_once('.').map_or((name, None), |(a, b)| (a, Some(b)));
                let field = ExpressionKind::Field(of, first.to_owned());
                let Some(second) = second else { return Some(field) };
                let inner = Box::new(Expression { range, kind: field });
                Some(ExpressionKind::Field(inner, second.to_owned()))
            }
            TokenKind::Name if name == "await" => Some(ExpressionKind::Same(of)),
            TokenKind::Name => {
                if self.take_operator("::") {
                    self.generics();
                }
                match self.group(b'(') {
                    Some(mut inner) => Some(ExpressionKind::Method(of, name.to_owned(), inner.list()?)),
                    None => Some(ExpressionKind::Field(of, name.to_owned())),
                }
            }
            _ => None,
        }
    }

    /// Expressions with commas between them, up to the end.
    pub fn list(&mut self) -> Option<Vec<Expression>> {
        let mut list = Vec::new();
        while !self.is_done() {
            self.attributes();
            list.push(self.expression(true)?);
            if !self.take(",") && !self.is_done() {
                return None;
            }
        }
        Some(list)
    }

    fn primary(&mut self, structs: bool) -> Option<Expression> {
        let start = self.here();
        let token = self.token(0)?;
        let kind = match token.kind {
            TokenKind::Literal => {
                self.skip();
                ExpressionKind::Literal
            }
            TokenKind::Open(b'(', _) => {
                let mut inner = self.group(b'(')?;
                let has_comma = inner.has_comma();
                let mut list = inner.list()?;
                match list.pop() {
                    Some(only) if list.is_empty() && !has_comma => ExpressionKind::Same(Box::new(only)),
                    last => {
                        list.extend(last);
                        ExpressionKind::Tuple(list)
                    }
                }
            }
            TokenKind::Open(b'[', _) => ExpressionKind::Made(self.array()?),
            TokenKind::Open(_, _) => ExpressionKind::Block(self.block()?),
            TokenKind::Mark(b'|') => self.closure(structs)?,
            TokenKind::Mark(b'<') => {
                self.generics();
                self.path(structs)?
            }
            TokenKind::Mark(b':') => self.path(structs)?,
            TokenKind::Lifetime if self.word(1) == ":" => {
                self.at += 2;
                return self.primary(structs);
            }
            TokenKind::Name => self.keyword(structs)?,
            _ => return None,
        };
        Some(Expression { range: start..self.behind(), kind })
    }

    fn array(&mut self) -> Option<Vec<Expression>> {
        let mut inner = self.group(b'[')?;
        let mut list = Vec::new();
        while !inner.is_done() {
            inner.attributes();
            list.push(inner.expression(true)?);
            if !inner.take(",") && !inner.take(";") && !inner.is_done() {
                return None;
            }
        }
        Some(list)
    }

    fn keyword(&mut self, structs: bool) -> Option<ExpressionKind> {
        match (self.word(0), self.word(1)) {
            ("if", _) => self.condition(),
            ("let", _) => {
                self.skip();
                let pattern = pattern(self, &["="])?;
                self.take("=").then_some(())?;
                // `&&` goes on with another condition.
                let value = self.binary(false, 2)?;
                Some(ExpressionKind::Let(pattern, Box::new(value)))
            }
            ("match", _) => self.arms(),
            ("unsafe" | "const", "{") | ("loop", _) => {
                let is_loop = self.take("loop");
                if !is_loop {
                    self.skip();
                }
                let body = self.block()?;
                Some(if is_loop { ExpressionKind::Loop(None, body) } else { ExpressionKind::Block(body) })
            }
            ("while", _) => {
                self.skip();
                let condition = self.expression(false)?;
                Some(ExpressionKind::Loop(Some(Box::new(condition)), self.block()?))
            }
            ("for", next) if next != "<" => {
                self.skip();
                let pattern = pattern(self, &["in"])?;
                self.take("in").then_some(())?;
                let over = self.expression(false)?;
                Some(ExpressionKind::For(pattern, Box::new(over), self.block()?))
            }
            ("async", _) | ("move" | "static", "|" | "async" | "move") => {
                while matches!(self.word(0), "async" | "move" | "static") {
                    self.skip();
                }
                if self.word(0) == "|" {
                    return self.closure(structs);
                }
                let start = self.here();
                let block = self.block()?;
                let body = Expression { range: start..self.behind(), kind: ExpressionKind::Block(block) };
                Some(ExpressionKind::Closure(Vec::new(), Box::new(body)))
            }
            (word @ ("return" | "break" | "continue"), _) => {
                self.skip();
                if self.token(0).is_some_and(|token| token.kind == TokenKind::Lifetime) {
                    self.skip();
                }
                let ends = self.ends_operand(structs) || word == "continue" || self.operator() == "=>";
                let value = if ends { None } else { Some(Box::new(self.expression(structs)?)) };
                Some(if word == "return" {
                    ExpressionKind::Return(value)
                } else {
                    ExpressionKind::Jump(value)
                })
            }
            ("else" | "in" | "as" | "where" | "fn", _) => None,
            _ => self.path(structs),
        }
    }

    fn condition(&mut self) -> Option<ExpressionKind> {
        self.skip();
        let condition = Box::new(self.expression(false)?);
        let then = self.block()?;
        if !self.take("else") {
            return Some(ExpressionKind::If(condition, then, None));
        }
        let start = self.here();
        self.depth += 1;
        let kind = match self.word(0) {
            _ if self.depth > DEEPEST => return None,
            "if" => self.condition()?,
            _ => ExpressionKind::Block(self.block()?),
        };
        self.depth -= 1;
        let otherwise = Expression { range: start..self.behind(), kind };
        Some(ExpressionKind::If(condition, then, Some(Box::new(otherwise))))
    }

    fn arms(&mut self) -> Option<ExpressionKind> {
        self.skip();
        let on = self.expression(false)?;
        let mut inner = self.group(b'{')?;
        inner.depth = self.depth + 1;
        let mut arms = Vec::new();
        while !inner.is_done() {
            inner.attributes();
            let start = inner.here();
            let pattern = pattern(&mut inner, &["=>", "if"])?;
            let guard = if inner.take("if") { Some(inner.expression(false)?) } else { None };
            inner.take_operator("=>").then_some(())?;
            let body =
                if inner.begins_block() { inner.block_statement()? } else { inner.expression(true)? };
            arms.push(SyntaxArm { range: start..inner.behind(), pattern, guard, body });
            inner.take(",");
        }
        Some(ExpressionKind::Match(Box::new(on), arms))
    }

    fn closure(&mut self, structs: bool) -> Option<ExpressionKind> {
        let mut parameters = Vec::new();
        if !self.take_operator("||") {
            self.take("|").then_some(())?;
            while !self.take("|") {
                parameters.push(pattern(self, &[",", "|", ":"])?);
                if self.take(":") {
                    self.type_until(&[",", "|"]);
                }
                if !self.take(",") && self.word(0) != "|" {
                    return None;
                }
            }
        }
        if self.take_operator("->") {
            self.type_until(&["{"]);
        }
        Some(ExpressionKind::Closure(parameters, Box::new(self.expression(structs)?)))
    }

    /// A path, and what it may begin: a struct or a macro.
    fn path(&mut self, structs: bool) -> Option<ExpressionKind> {
        let mut segments = Vec::new();
        self.take_operator("::");
        loop {
            if self.word(0) == "<" {
                self.generics();
            } else if self.is_name(0) {
                segments.push(self.word(0).to_owned());
                self.skip();
            } else {
                return None;
            }
            if !self.take_operator("::") {
                break;
            }
        }
        let name = segments.last().cloned().unwrap_or_default();
        if self.word(0) == "!" && self.operator() == "!" && matches!(self.word(1), "(" | "[" | "{") {
            self.skip();
            let bracket = self.word(0).as_bytes()[0];
            let inner = self.group(bracket)?;
            return Some(ExpressionKind::Macro(name, inner.macro_arguments()));
        }
        let is_type = name.starts_with(|first: char| first.is_ascii_uppercase());
        if structs && is_type && self.word(0) == "{" {
            self.fields()
        } else {
            Some(ExpressionKind::Path(segments))
        }
    }

    /// The arguments of a macro, if they are a list of expressions: `a, b`, `a; n`, `"{x}", x = y`.
    fn macro_arguments(mut self) -> Option<Vec<Expression>> {
        let mut list = Vec::new();
        while !self.is_done() {
            list.push(self.expression(true)?);
            if !self.take(",") && !self.take(";") && !self.is_done() {
                return None;
            }
        }
        Some(list)
    }

    fn fields(&mut self) -> Option<ExpressionKind> {
        let mut inner = self.group(b'{')?;
        let (mut fields, mut rest) = (Vec::new(), None);
        while !inner.is_done() {
            inner.attributes();
            if inner.take_operator("..") {
                rest = if inner.is_done() { None } else { Some(Box::new(inner.expression(true)?)) };
                break;
            }
            let (name, range) = (inner.word(0).to_owned(), inner.here());
            inner.skip();
            let value = if inner.take(":") {
                inner.expression(true)?
            } else {
                Expression { range: range..inner.behind(), kind: ExpressionKind::Path(vec![name.clone()]) }
            };
            fields.push((name, value));
            if !inner.take(",") && !inner.is_done() {
                return None;
            }
        }
        Some(ExpressionKind::Struct(fields, rest))
    }
}

/// How strongly an operator of two operands binds.
fn binding_power(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "==" | "!=" | "<" | ">" | "<=" | ">=" => 3,
        "|" => 4,
        "^" => 5,
        "&" => 6,
        "<<" | ">>" => 7,
        "+" | "-" => 8,
        "*" | "/" | "%" => 9,
        _ => return None,
    })
}
