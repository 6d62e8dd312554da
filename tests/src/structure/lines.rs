//! Lines of a source file: how many are code, how many are comments, and how long its longest function is.

use std::collections::BTreeSet;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, Signature, TraitItemFn};

use super::product_text;

/// A function and its lines, from `fn` to the closing brace.
#[derive(Default)]
pub struct LongFunction {
    /// Its lines.
    pub lines: usize,
    /// Its name.
    pub name: String,
}

/// What a source file holds, its unit tests left out.
pub struct FileLines {
    /// All its lines.
    pub all: usize,
    /// Lines with code.
    pub code: usize,
    /// Lines with nothing but a comment.
    pub comments: usize,
    /// Its longest function.
    pub longest_function: LongFunction,
}

impl FileLines {
    /// Reads a file.
    pub fn read(file: &Path) -> FileLines {
        let text =
            std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let fail = |error: &dyn std::fmt::Display| -> ! { panic!("{}: {error}", file.display()) };
        FileLines::of(product_text(&text)).unwrap_or_else(|error| fail(&error))
    }

    fn of(text: &str) -> syn::Result<FileLines> {
        let mut in_strings = BTreeSet::new();
        add_strings(text.parse()?, &mut in_strings);
        let mut lines = FileLines { all: 0, code: 0, comments: 0, longest_function: LongFunction::default() };
        let mut depth = 0;
        for (number, line) in (1..).zip(text.lines()) {
            lines.all += 1;
            let line = line.trim();
            let is_string = in_strings.contains(&number);
            let opens = !is_string && line.starts_with("/*");
            if opens || depth > 0 {
                depth += line.matches("/*").count();
                depth = depth.saturating_sub(line.matches("*/").count());
                lines.comments += 1;
            } else if !is_string && line.starts_with("//") {
                lines.comments += 1;
            } else if !line.is_empty() {
                lines.code += 1;
            }
        }
        let mut longest = Longest(LongFunction::default());
        longest.visit_file(&syn::parse_file(text)?);
        lines.longest_function = longest.0;
        Ok(lines)
    }
}

/// Lines that begin inside a string.
fn add_strings(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => add_strings(group.stream(), lines),
            // The string of a comment has the comment's span.
            TokenTree::Literal(literal) if !is_comment(&literal) => {
                lines.extend(literal.span().start().line + 1..=literal.span().end().line);
            }
            _ => {}
        }
    }
}

fn is_comment(literal: &proc_macro2::Literal) -> bool {
    literal.span().source_text().is_some_and(|text| text.starts_with('/'))
}

/// The longest function met so far.
struct Longest(LongFunction);

impl Longest {
    fn meet(&mut self, signature: &Signature, block: &Block) {
        let first = signature.fn_token.span.start().line;
        let lines = block.brace_token.span.close().end().line + 1 - first;
        if lines > self.0.lines {
            self.0 = LongFunction { lines, name: signature.ident.to_string() };
        }
    }
}

impl<'ast> Visit<'ast> for Longest {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.meet(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.meet(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.meet(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::FileLines;

    #[test]
    fn strings_are_code_and_comments_are_not() {
        let text = "//! A.\n\nfn a() {\n    // b\n    c(\"\n// d\n\n\"); /* e */\n}\n/* f\n/* g */ h\n*/\n\
                    /// I.\nfn j() {}\n#[cfg(test)]\nmod tests { fn k() {} }\n";
        let lines = FileLines::of(super::product_text(text)).expect("Rust");
        assert_eq!((lines.all, lines.code, lines.comments), (14, 6, 6));
        assert_eq!((lines.longest_function.lines, lines.longest_function.name.as_str()), (7, "a"));
    }
}
