//! Notes what the text calls, and where its bodies, loops and branches are.

use super::super::{edges, token_scan};
use super::Walker;
use crate::site::structure::{Body, BodyKind, CallNote, Place, Region};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use std::ops::Range;
use std::sync::Arc;
use syn::{Block, Expr, Label, Path};

impl Walker<'_> {
    /// Line and column of both ends.
    fn place(&self, range: &Range<usize>) -> Place {
        let (line, column) = self.code.lines.position(range.start);
        let (end_line, end_column) = self.code.lines.position(range.end);
        [line, column, end_line, end_column]
    }

    /// Bytes of an expression in the source.
    pub(super) fn source_range(&self, expr: &Expr) -> Option<Range<usize>> {
        let (first, last) = edges::first_token(expr).zip(edges::last_token(expr))?;
        let is_source = self.is_from_source(first) && self.is_from_source(last);
        is_source.then(|| self.start_of(first)..self.end_of(last))
    }

    /// Bytes of a block in the source, including braces.
    pub(super) fn block_range(&self, block: &Block) -> Option<Range<usize>> {
        let braces = &block.brace_token.span;
        self.is_from_source(braces.open()).then(|| self.start_of(braces.open())..self.end_of(braces.close()))
    }

    /// Notes a body with the path of the current function.
    pub(super) fn note_body(&mut self, range: Option<Range<usize>>, kind: BodyKind) {
        let Some(range) = range else { return };
        let of_trait = if kind.is_named() { self.of_trait.clone() } else { Arc::from("") };
        let (path, place) = (self.function.clone(), self.place(&range));
        self.found.structure.bodies.push(Body { path, place, range, kind, of_trait });
    }

    /// Notes a loop from its keyword or label to its last brace, and returns its offset.
    pub(super) fn note_loop(&mut self, keyword: &Span, label: Option<&Label>, body: &Block) -> Option<usize> {
        let first = label.map_or(*keyword, |label| label.name.apostrophe);
        let last = body.brace_token.span.close();
        if !self.is_from_source(first) || !self.is_from_source(last) {
            return None;
        }
        let range = self.start_of(first)..self.end_of(last);
        let place = self.place(&range);
        self.found.structure.regions.push(Region { place, past: None });
        Some(range.start)
    }

    /// Notes a branch of an expression that ends with this token.
    pub(super) fn note_branch(&mut self, range: Option<Range<usize>>, last: Option<Span>) {
        let last = last.filter(|last| self.is_from_source(*last)).map(|last| self.end_of(last));
        let Some((range, past)) = range.zip(last).filter(|(range, past)| range.end < *past) else { return };
        let (line, column) = self.code.lines.position(past);
        let place = self.place(&range);
        self.found.structure.regions.push(Region { place, past: Some([line, column]) });
    }

    /// Runs `work` on code that each iteration of a loop runs.
    pub(super) fn repeated(&mut self, from: Option<usize>, work: impl FnOnce(&mut Self)) {
        let outer = self.repeated_from;
        self.repeated_from = from.or(outer);
        work(self);
        self.repeated_from = outer;
    }

    /// Notes a call at this token.
    pub(super) fn note_call(&mut self, at: Span, name: String) {
        if self.is_from_source(at) {
            let (at, repeated_from) = (self.start_of(at), self.repeated_from);
            self.found.structure.calls.push(CallNote { at, name, repeated_from });
        }
    }

    /// Notes a call of this expression.
    pub(super) fn note_callee(&mut self, callee: &Expr) {
        match callee {
            Expr::Path(path) if path.path.get_ident().is_some_and(|name| self.is_local(name)) => {
                self.note_call(path.path.segments[0].ident.span(), "()".to_owned());
            }
            Expr::Path(path) => self.note_path(&path.path, ""),
            Expr::Paren(_) | Expr::Field(_) | Expr::Index(_) | Expr::Call(_) | Expr::MethodCall(_) => {
                if let Some(first) = edges::first_token(callee) {
                    self.note_call(first, "()".to_owned());
                }
            }
            _ => {}
        }
    }

    fn note_path(&mut self, path: &Path, mark: &str) {
        let mut segments = path.segments.iter().rev().map(|segment| &segment.ident);
        let Some(last) = segments.next() else { return };
        if let Some(name) = path_name(segments.next(), last, mark) {
            self.note_call(last.span(), name);
        }
    }

    /// Notes that a struct is made. Enums have two names in capitals.
    pub(super) fn note_struct(&mut self, path: &Path) {
        let mut segments = path.segments.iter().rev().map(|segment| &segment.ident);
        let Some(last) = segments.next() else { return };
        let is_enum = ["Some", "Ok", "Err"].iter().any(|name| last == name)
            || segments.next().is_some_and(|of| of.to_string().starts_with(char::is_uppercase));
        if !is_enum {
            self.note_call(last.span(), token_scan::unraw(last));
        }
    }

    /// Notes a path that may be the value of a struct without fields.
    pub(super) fn note_value(&mut self, path: &Path) {
        let Some(last) = path.segments.last() else { return };
        let name = last.ident.to_string();
        // Constants have no small letters.
        if name.starts_with(char::is_uppercase) && name != "None" && name.contains(char::is_lowercase) {
            self.note_struct(path);
        }
    }

    /// Notes the `?` operator.
    pub(super) fn note_question(&mut self, at: Span) {
        self.note_call(at, "?".to_owned());
    }

    /// Notes a variable of the current function.
    pub(super) fn note_local(&mut self, name: &Ident) {
        let name = name.to_string();
        if !self.locals.contains(&name) {
            self.locals.insert(name);
        }
    }

    pub(super) fn is_local(&self, name: &Ident) -> bool {
        self.locals.contains(&name.to_string())
    }

    pub(super) fn note_method(&mut self, name: &Ident) {
        self.note_call(name.span(), format!(".{}", token_scan::unraw(name)));
    }

    /// Notes the functions among the arguments of a call: `map(Self::parse)`.
    pub(super) fn note_arguments<'a>(&mut self, arguments: impl Iterator<Item = &'a Expr>) {
        for argument in arguments {
            if let Expr::Path(path) = argument
                && !path.path.get_ident().is_some_and(|name| self.is_local(name) || name == "self")
            {
                self.note_path(&path.path, "&");
            }
        }
    }

    /// Notes a call of a macro.
    pub(super) fn note_macro(&mut self, path: &Path) {
        if let Some(last) = path.segments.last() {
            self.note_call(last.ident.span(), format!("{}!", token_scan::unraw(&last.ident)));
        }
    }

    /// Notes the calls in tokens that are not parsed. A macro of unknown rules may repeat them.
    pub(super) fn note_tokens(&mut self, tokens: &TokenStream, may_repeat: bool) {
        let outer = self.repeated_from;
        if may_repeat && let Some(first) = tokens.clone().into_iter().next() {
            self.repeated_from =
                outer.or_else(|| self.is_from_source(first.span()).then(|| self.start_of(first.span())));
        }
        self.note_token_level(tokens);
        self.repeated_from = outer;
    }

    fn note_token_level(&mut self, tokens: &TokenStream) {
        let mut before: [Option<TokenTree>; 3] = [None, None, None];
        let mut trees = tokens.clone().into_iter().peekable();
        while let Some(tree) = trees.next() {
            match &tree {
                TokenTree::Group(group) => self.note_token_level(&group.stream()),
                TokenTree::Ident(word) => match trees.peek() {
                    Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                        self.note_token_call(word, &before);
                    }
                    // `a != b` has the mark, too, joined with the next.
                    Some(TokenTree::Punct(mark))
                        if mark.as_char() == '!' && mark.spacing() == proc_macro2::Spacing::Alone =>
                    {
                        self.note_call(word.span(), format!("{}!", token_scan::unraw(word)));
                    }
                    _ => {}
                },
                _ => {}
            }
            before.rotate_left(1);
            before[2] = Some(tree);
        }
    }

    /// A word before parentheses: `f(`, `.f(`, `T::f(`.
    fn note_token_call(&mut self, word: &Ident, before: &[Option<TokenTree>; 3]) {
        let is_mark = |tree: &Option<TokenTree>, mark: char| matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == mark);
        if is_mark(&before[2], '.') && !is_mark(&before[1], '.') {
            return self.note_method(word);
        }
        const KEYWORDS: [&str; 10] =
            ["if", "in", "for", "let", "loop", "match", "move", "return", "while", "fn"];
        if KEYWORDS.iter().any(|keyword| word == keyword)
            || matches!(&before[2], Some(TokenTree::Ident(fun)) if fun == "fn")
        {
            return;
        }
        let kind = match before {
            [Some(TokenTree::Ident(of)), colon, other] if is_mark(colon, ':') && is_mark(other, ':') => {
                Some(of)
            }
            _ => None,
        };
        if kind.is_none() && self.is_local(word) {
            self.note_call(word.span(), "()".to_owned());
        } else if let Some(name) = path_name(kind, word, "") {
            self.note_call(word.span(), name);
        }
    }
}

/// The last two segments of a path. `None` for the constructor of an enum.
fn path_name(of: Option<&Ident>, last: &Ident, mark: &str) -> Option<String> {
    let (of, last) = (of.map(token_scan::unraw), token_scan::unraw(last));
    let is_type = |name: &str| name.starts_with(char::is_uppercase);
    if is_type(&last) {
        let is_enum = ["Some", "Ok", "Err"].contains(&last.as_str()) || of.as_deref().is_some_and(is_type);
        return (!is_enum && mark.is_empty()).then_some(last);
    }
    Some(match of {
        Some(of) if !["self", "super", "crate"].contains(&of.as_str()) => format!("{mark}{of}::{last}"),
        _ => format!("{mark}{last}"),
    })
}

#[cfg(test)]
mod tests {
    use crate::site::structure::{BodyKind, Jump, Region};
    use crate::{Analysis, Options, analyze};

    fn analysis(text: &str) -> Analysis {
        analyze(text.as_bytes(), &Options::default()).unwrap()
    }

    /// Text and calls of the statements that call something.
    fn calls(text: &str) -> Vec<(String, String)> {
        let calls = analysis(text).sites.into_iter().filter(|site| !site.calls.is_empty());
        calls.map(|site| (text[site.range].replace('\n', " "), site.calls.into())).collect()
    }

    fn only(text: &str) -> String {
        let found = calls(&format!("fn f() {{ {text} }}"));
        let names: Vec<String> = found.into_iter().map(|(_, names)| names).collect();
        names.join(" / ")
    }

    #[test]
    fn names_are_as_written() {
        assert_eq!(only("let x = a(b::c(1), d::e::G::<T>::h());"), "a b::c G::h");
        assert_eq!(only("x.y().z::<T>(self.k)(2);"), "() .y .z");
        assert_eq!(only("fib(n - 1) + fib(n - 2)"), "fib @Sub @Add fib");
        assert_eq!(
            only("<T as D>::make(Some(1), Ok::<A, B>(q()?), S { f: g() }, m::U(E::V));"),
            "D::make q ? S g U"
        );
        assert_eq!(only("crate::a(); self::b(); super::c(); Self::d();"), "a / b / c / Self::d");
        assert_eq!(only("r#match(r#fn.r#do());"), "match .do");
        assert_eq!(only("let g = || h(); for k in l { k(g()); } f();"), "h / () () / f");
        assert_eq!(only("let g = Unit; h(g, k, Own, MAX, None, E::V, self);"), "Unit / h &k Own");
        assert_eq!(only("v.iter().map(Self::g).fold(0, k);"), ".iter .map &Self::g .fold &k");
    }

    #[test]
    fn tokens_of_macros_are_searched() {
        assert_eq!(only(r#"println!("{}", a(b.c()));"#), "println! a .c");
        assert_eq!(only("assert!(x != (y) && d::e(1));"), "assert! d::e");
        assert_eq!(only("custom!(a => b(), c!(d), if (e) {});"), "custom! *b *c!");
        assert_eq!(
            only(r#"let s = format!("{}", v.iter().map(|x| g(x)).count());"#),
            "format! .iter .map .count / g"
        );
    }

    #[test]
    fn statements_and_bodies_inside_keep_their_calls() {
        assert_eq!(only("if a() { b(); } else if c() { d() } else { e(); }"), "a / b / c / d / e");
        assert_eq!(only("match a() { 1 if g() => b(), _ => { c(); } }"), "a g / b / c");
        assert_eq!(only("let f = |x| g(x); h(async move { i().await });"), "g / h / i");
        assert_eq!(only("fn inner() { a() } b();"), "a / b");
        // A closure without a statement is a part of its statement, and may run several times.
        assert_eq!(only("v.find(const |x| g(x)).h();"), ".find *g .h");
    }

    #[test]
    fn a_loop_repeats_its_condition_and_not_its_header() {
        assert_eq!(only("while a(1) { b(); }"), "*a / b");
        assert_eq!(only("for x in a() { b(x); }"), "a / b");
        assert_eq!(only("loop { if c() { break; } }"), "c");
        assert_eq!(only("while a() { let y = || b(); }"), "*a / b");
    }

    #[test]
    fn parameters_are_values_in_their_function_only() {
        let text = "fn f(g: impl Fn(), (h, k): (A, B)) { g(); h(); || k(); println!(\"{}\", g()); }\nfn l() { g(); }";
        let found: Vec<String> = calls(text).into_iter().map(|(_, names)| names).collect();
        assert_eq!(found, ["()", "()", "()", "println! ()", "g"]);
    }

    #[test]
    fn jumps_are_noted() {
        let text = "fn f() { if a { return 1; } loop { if c { break 'a; } } match b { 1 => panic!(), \
                    2 => unreachable!{}, _ => returned } }";
        let jumps: Vec<_> = analysis(text).sites.into_iter().filter_map(|site| site.jump).collect();
        assert_eq!(jumps, [Jump::Return, Jump::Label, Jump::Panic, Jump::Panic]);
        let text = "fn f() { loop { if a { break } continue; } }";
        let jumps: Vec<_> = analysis(text).sites.into_iter().filter_map(|site| site.jump).collect();
        assert_eq!(jumps, [Jump::Break, Jump::Continue]);
    }

    #[test]
    fn bodies_loops_and_branches_are_noted() {
        let text = "impl fmt::Display for A { fn fmt() { fn g() {} } }\ntrait T { fn d() { async {} } fn e(); }\n\
                    async fn h() { async || 1; }";
        let bodies = analysis(text).structure.bodies;
        let bodies: Vec<_> = bodies.iter().map(|body| (&*body.path, body.kind, &*body.of_trait)).collect();
        assert_eq!(
            bodies,
            [
                ("A::fmt", BodyKind::Function, "Display"),
                ("A::fmt::g", BodyKind::Function, ""),
                ("T::d", BodyKind::Function, "T"),
                ("T::d", BodyKind::AsyncBlock, ""),
                ("h", BodyKind::AsyncFunction, ""),
                ("h", BodyKind::AsyncClosure, ""),
            ]
        );
        let text =
            "fn f() { if a {} else { b } }\nfn g() { match c { 1 => 2, _ => 3 } }\nfn h() { 'a: loop {} }";
        assert_eq!(
            analysis(text).structure.regions,
            [
                Region { place: [1, 15, 1, 17], past: Some([1, 28]) },
                Region { place: [2, 25, 2, 26], past: Some([2, 36]) },
                Region { place: [3, 10, 3, 21], past: None },
            ]
        );
    }

    #[test]
    fn arguments_of_a_known_macro_are_noted_once() {
        let text =
            "macro_rules! twice { ($b:block) => { $b; $b }; }\nfn f() { twice!({ a(); while b() {} }); }";
        let found: Vec<String> = calls(text).into_iter().map(|(_, names)| names).collect();
        assert_eq!(found, ["twice!", "a", "*b"]);
        assert_eq!(analysis(text).structure.regions.len(), 1);
    }
}
