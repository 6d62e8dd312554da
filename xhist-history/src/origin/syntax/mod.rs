//! The syntax of Rust functions, read from the text of a file: as much of it as says where a value comes from.
//!
//! A name is looked up among the declarations around it; what a statement changes is looked up at its first byte, which is how
//! recorded statements are known.

mod file;
mod parse;
mod parser;
mod patterns;
mod scopes;
mod tree;

use crate::program::tokens::tokens;
pub use file::SyntaxFile;
pub use patterns::ERROR_FIELD;
pub use scopes::{Declaration, DeclaredBy, declarations, innermost, own_parts, points, resolve};
pub use tree::{Expression, ExpressionKind, SourceFunction, SyntaxBlock, SyntaxPart};

/// Reads one expression: `a`, `a.b`.
pub fn expression(text: &str) -> Option<Expression> {
    let tokens = tokens(text);
    let mut parser = parser::Parser::new(text, &tokens, 0..tokens.len());
    let read = parser.expression(true)?;
    parser.is_done().then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use syn::visit::{self, Visit};

    /// What both readers see of a body: declared names, methods, functions, closures, in no order.
    #[derive(Default, Debug, PartialEq)]
    struct Seen(Vec<String>);

    impl<'a> Visit<'a> for Seen {
        fn visit_item(&mut self, _: &'a syn::Item) {}

        fn visit_macro(&mut self, _: &'a syn::Macro) {}

        fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
            self.0.push(format!(".{}", call.method));
            visit::visit_expr_method_call(self, call);
        }

        fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
            if let syn::Expr::Path(path) = &*call.func {
                self.0.push(format!("{}()", path.path.segments.last().unwrap().ident));
            }
            visit::visit_expr_call(self, call);
        }

        fn visit_expr_try(&mut self, tried: &'a syn::ExprTry) {
            self.0.push("?".to_owned());
            visit::visit_expr_try(self, tried);
        }

        fn visit_expr_field(&mut self, field: &'a syn::ExprField) {
            self.0.push(match &field.member {
                syn::Member::Named(name) => format!("field {name}"),
                syn::Member::Unnamed(index) => format!("field {}", index.index),
            });
            visit::visit_expr_field(self, field);
        }

        fn visit_pat_ident(&mut self, name: &'a syn::PatIdent) {
            if name.ident.to_string().starts_with(|first: char| !first.is_uppercase()) {
                self.0.push(format!("let {}", name.ident));
            }
            visit::visit_pat_ident(self, name);
        }

        fn visit_expr_return(&mut self, value: &'a syn::ExprReturn) {
            self.0.push("return".to_owned());
            visit::visit_expr_return(self, value);
        }
    }

    fn seen(function: &SourceFunction) -> Seen {
        let mut found: Vec<String> = declarations(function)
            .iter()
            .filter(|declaration| !matches!(declaration.by, DeclaredBy::Parameter(_)))
            .map(|declaration| format!("let {}", declaration.name.name))
            .collect();
        for part in points(function).iter().filter_map(|point| point.value).flat_map(own_parts) {
            match &part.kind {
                ExpressionKind::Method(_, name, _) => found.push(format!(".{name}")),
                ExpressionKind::Field(_, name) => found.push(format!("field {name}")),
                ExpressionKind::Try(_) => found.push("?".to_owned()),
                ExpressionKind::Return(_) => found.push("return".to_owned()),
                ExpressionKind::Call(to, _) => {
                    if let ExpressionKind::Path(segments) = &to.kind {
                        found.push(format!("{}()", segments.last().unwrap()));
                    }
                }
                _ => {}
            }
        }
        Seen(found)
    }

    /// Functions of a file as syn reads them, with the line and the column of their bodies.
    struct Functions(Vec<(usize, usize, Seen)>);

    impl<'a> Visit<'a> for Functions {
        fn visit_block(&mut self, _: &'a syn::Block) {}

        fn visit_macro(&mut self, _: &'a syn::Macro) {}

        fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
            self.add(&function.block);
        }

        fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
            self.add(&function.block);
        }
    }

    impl Functions {
        fn add(&mut self, block: &syn::Block) {
            let start = block.brace_token.span.open().start();
            let mut seen = Seen::default();
            seen.visit_block(block);
            self.0.push((start.line, start.column + 1, seen));
        }
    }

    /// Reads all functions of a text.
    fn read(text: &str) {
        let mut file = SyntaxFile::new(text);
        for (at, _) in text.match_indices("fn ").take(99) {
            let body = text[at..].find('{').map_or(0, |open| at + open);
            if let Some(function) = file.function(body as u32) {
                let all = declarations(&function);
                for declaration in &all {
                    resolve(&all, &declaration.name.name, declaration.scope.start);
                }
                innermost(&function, at as u32);
            }
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_read(
            edits in proptest::collection::vec((0usize..6_000, 0usize..40, "[(){}<>|&!.:;,'\"#=aé ]{0,6}"), 1..8)
        ) {
            let mut text: String = include_str!("patterns.rs").chars().take(6_000).collect();
            for (at, len, put) in edits {
                let chars: Vec<char> = text.chars().collect();
                let (at, end) = (at.min(chars.len()), (at + len).min(chars.len()));
                let front: String = chars[..at].iter().collect();
                text = front + &put + &chars[end..].iter().collect::<String>();
            }
            read(&text);
        }
    }

    #[test]
    fn what_is_very_deep_or_very_long_is_read() {
        for (open, close) in [
            ("(", ")"),
            ("{", "}"),
            ("-", ""),
            ("&", ""),
            ("", ".a"),
            ("", "?"),
            ("", " + 1"),
            ("", " as u8"),
            ("if a { 1 } else ", ""),
            ("|a| ", ""),
            ("a!(", ")"),
            ("match a { b => ", "}"),
            ("[", ""),
            ("", ")"),
        ] {
            let (open, close) = (open.repeat(20_000), close.repeat(20_000));
            read(&format!("fn f() {{ let a = {open}1{close}; b({{}}); }}"));
        }
    }

    #[test]
    fn functions_are_read_as_syn_reads_them() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let (mut number, mut wrong) = (0, Vec::new());
        for folder in
            ["xhist-history/src", "xhist-report/src", "xhist-instrument/src", "qs-core/src", "qs-host/src"]
        {
            for entry in walkdir::WalkDir::new(root.join(folder)).sort_by_file_name() {
                let path = entry.unwrap().into_path();
                if path.extension().is_none_or(|kind| kind != "rs") {
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                let mut functions = Functions(Vec::new());
                functions.visit_file(&syn::parse_file(&text).unwrap());
                let mut file = SyntaxFile::new(&text);
                for (line, col, mut expected) in functions.0 {
                    number += 1;
                    let at = file.offset(line as u32, col as u32).unwrap();
                    let Some(function) = file.function(at) else {
                        wrong.push(format!("{}:{line}: not read", path.display()));
                        continue;
                    };
                    let mut found = seen(&function);
                    found.0.sort();
                    expected.0.sort();
                    // Alternatives of a pattern name the same value.
                    expected.0.dedup_by(|one, other| one == other && one.starts_with("let "));
                    // What is in macros is only read here.
                    let mut rest = found.0.iter();
                    let missing: Vec<&String> =
                        expected.0.iter().filter(|wanted| !rest.any(|found| found == *wanted)).collect();
                    if !missing.is_empty() {
                        wrong.push(format!("{}:{line}: not found: {missing:?}", path.display()));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} of {number}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(number > 1_000, "{number}");
    }
}
