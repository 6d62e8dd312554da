//! Parses an expansion as the syntax of its position.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::visit::Visit;
use syn::{Block, Expr, ImplItem, Item, TraitItem};

/// The position of a macro call, which decides the syntax of its expansion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MacroPosition {
    Items,
    ImplItems,
    TraitItems,
    Statements,
    Expression,
}

/// A parsed expansion.
pub(super) enum ParsedExpansion {
    Items(Vec<Item>),
    ImplItems(Vec<ImplItem>),
    TraitItems(Vec<TraitItem>),
    Statements(Block),
    Expression(Expr),
}

impl ParsedExpansion {
    pub fn visit(&self, visitor: &mut impl for<'ast> Visit<'ast>) {
        match self {
            Self::Items(items) => items.iter().for_each(|item| visitor.visit_item(item)),
            Self::ImplItems(items) => items.iter().for_each(|item| visitor.visit_impl_item(item)),
            Self::TraitItems(items) => items.iter().for_each(|item| visitor.visit_trait_item(item)),
            Self::Statements(block) => visitor.visit_block(block),
            Self::Expression(expr) => visitor.visit_expr(expr),
        }
    }
}

impl MacroPosition {
    /// Parses fragments as units first. A block fragment may end a statement early; the second try, without invisible
    /// groups, then succeeds.
    pub fn parse(self, tokens: TokenStream) -> Option<ParsedExpansion> {
        self.parse_units(tokens.clone()).or_else(|| self.parse_units(flat(tokens)))
    }

    fn parse_units(self, tokens: TokenStream) -> Option<ParsedExpansion> {
        let statements = |tokens: TokenStream| {
            let stmts = Block::parse_within.parse2(tokens).ok()?;
            Some(ParsedExpansion::Statements(Block { brace_token: syn::token::Brace::default(), stmts }))
        };
        match self {
            Self::Items => list.parse2(tokens).ok().map(ParsedExpansion::Items),
            Self::ImplItems => list.parse2(tokens).ok().map(ParsedExpansion::ImplItems),
            Self::TraitItems => list.parse2(tokens).ok().map(ParsedExpansion::TraitItems),
            Self::Statements => statements(tokens),
            Self::Expression => match syn::parse2(tokens.clone()) {
                Ok(expr) => Some(ParsedExpansion::Expression(expr)),
                Err(_) => statements(tokens),
            },
        }
    }
}

fn list<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let mut found = Vec::new();
    while !input.is_empty() {
        found.push(input.parse()?);
    }
    Ok(found)
}

/// The tokens without invisible groups.
fn flat(tokens: TokenStream) -> TokenStream {
    let each = |token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat(group.stream()),
        TokenTree::Group(group) => {
            TokenTree::Group(Group::new(group.delimiter(), flat(group.stream()))).into()
        }
        token => token.into(),
    };
    tokens.into_iter().flat_map(each).collect()
}
