//! Statements in the arguments of macros whose rules are known: the call is expanded, the expansion is walked, and what
//! is found there stands in the arguments. It is believed only when expanding the arguments with the calls in them gives
//! the same expansion with the same calls in it.

use super::super::by_example::{Definition, Expanded, known};
use super::super::tokens;
use super::{Walker, macros};
use crate::site::{Reason, Shape, Site, Skip};
use crate::splice;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::visit::Visit;
use syn::{Block, Expr, ImplItem, Item, Macro, Path, TraitItem};

/// Expansions inside expansions.
const DEEPEST: u32 = 64;
/// Tokens that the expansions of a call may have, for each byte of its arguments. Macros that eat their arguments token
/// by token take more, take long, and hold declarations rather than statements.
const BUDGET: usize = 4;
/// The same for any call.
const LEAST_BUDGET: usize = 1_000;

/// Where a call stands: what its expansion is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Items,
    ImplItems,
    TraitItems,
    Statements,
    Expression,
}

/// How bold one is in an expansion.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tier {
    /// Statements of the arguments count wherever they came to stand.
    Anywhere,
    /// Only inside braces that stand in the arguments too.
    InBraces,
}

/// Macros that were looked up, and the expansions under way.
pub(super) struct Expansions {
    /// By path, and by whether the text around the call decides.
    definitions: HashMap<(String, bool), Rc<[Definition]>>,
    /// Where the outermost call stands.
    at: usize,
    budget: usize,
    depth: u32,
    tier: Tier,
    /// Inside braces that the arguments brought.
    pub(super) in_braces: bool,
    /// Bytes of the arguments that something unknown sees as tokens.
    opaque: Vec<Range<usize>>,
    /// What the outermost call and the calls in it became.
    done: Vec<TokenStream>,
}

impl Expansions {
    pub fn new() -> Self {
        Self {
            definitions: HashMap::new(),
            at: 0,
            budget: 0,
            depth: 0,
            tier: Tier::Anywhere,
            in_braces: false,
            opaque: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Whether what is walked now is an expansion.
    pub fn is_under_way(&self) -> bool {
        self.depth > 0
    }

    /// Whether a statement that the arguments brought may be recorded at this place.
    pub fn allows(&self) -> bool {
        self.depth == 0 || self.in_braces || self.tier == Tier::Anywhere
    }
}

/// Whether a token stands in the source: those that a macro brings stand nowhere.
pub(super) fn is_written(span: Span) -> bool {
    !span.byte_range().is_empty()
}

/// What an expansion shows of the arguments.
#[derive(PartialEq)]
struct Seen {
    sites: Vec<Site>,
    skips: Vec<Skip>,
    /// Where the hash of the map goes, in a `main` among the arguments.
    main_at: Vec<usize>,
}

impl Walker<'_> {
    /// Walks the arguments of a call as the code that they become. False when that cannot be told.
    pub(super) fn expanded(&mut self, mac: &Macro, place: Place) -> bool {
        // Names alone may become modules in other files.
        let may_lead = place == Place::Items && !self.expansions.is_under_way();
        if self.expansions.depth >= DEEPEST || !(may_lead || holds_code(&mac.tokens)) {
            return false;
        }
        if let (false, Some(segment)) = (self.expansions.is_under_way(), mac.path.segments.first()) {
            self.expansions.at = self.start_of(segment.ident.span());
        }
        let Some(definitions) = self.definitions(&mac.path) else {
            let name = mac.path.segments.last().map(|segment| tokens::unraw(&segment.ident));
            self.found.unknown_macros.extend(name);
            return false;
        };
        if self.expansions.is_under_way() {
            // The outermost call proves them all.
            return self.agreed(mac, place, &definitions).map(|seen| self.accept(seen)).is_some();
        }
        let brackets = mac.delimiter.span();
        let arguments = self.end_of(brackets.open())..self.start_of(brackets.close());
        for tier in [Tier::Anywhere, Tier::InBraces] {
            self.expansions.budget = LEAST_BUDGET + BUDGET * arguments.len();
            self.expansions.tier = tier;
            self.expansions.done.clear();
            self.expansions.opaque.clear();
            let Some(seen) = self.agreed(mac, place, &definitions) else { return false };
            let opaque = std::mem::take(&mut self.expansions.opaque);
            let seen = seen.without(&opaque);
            if self.is_proved(mac, &arguments, place, &seen.sites) {
                self.accept(seen);
                return true;
            }
        }
        false
    }

    fn accept(&mut self, seen: Seen) {
        self.found.sites.extend(seen.sites);
        self.found.skips.extend(seen.skips);
        self.found.main_at.extend(seen.main_at);
    }

    /// The macros that may be meant: of the program, or known by name.
    fn definitions(&mut self, path: &Path) -> Option<Rc<[Definition]>> {
        let segments: Vec<String> =
            path.segments.iter().map(|segment| tokens::unraw(&segment.ident)).collect();
        let (name, inside) = segments.split_last()?;
        // `log::info!` is not the program's own `info!`.
        let may_be_own = inside.iter().all(|segment| ["crate", "self", "super"].contains(&segment.as_str()));
        let scope = self.scope();
        let is_own = may_be_own && scope.has(name);
        let meant = match inside {
            _ if !is_own => None,
            [] => scope.meant(name, self.expansions.at),
            path => scope.meant_by_path(path, name),
        };
        if is_own && meant.is_none() {
            return None;
        }
        let is_assumed = meant.as_ref().is_some_and(|meant| meant.is_assumed);
        if is_assumed {
            self.found.assumed_macros.insert(name.clone());
        }
        let key = (segments.join("::"), is_assumed);
        if let Some(known) = self.expansions.definitions.get(&key) {
            return (!known.is_empty()).then(|| known.clone());
        }
        let definitions: Option<Vec<Definition>> = match &meant {
            Some(meant) => meant.rules.iter().map(|rules| Definition::parse(rules)).collect(),
            None => known::rules(path, self.code.text).and_then(Definition::parse).map(|found| vec![found]),
        };
        let definitions: Rc<[Definition]> = definitions.unwrap_or_default().into();
        self.expansions.definitions.insert(key, definitions.clone());
        (!definitions.is_empty()).then_some(definitions)
    }

    /// What every definition that fits shows; nothing when they differ.
    fn agreed(&mut self, mac: &Macro, place: Place, definitions: &[Definition]) -> Option<Seen> {
        let mut agreed: Option<Seen> = None;
        for definition in definitions {
            let seen = match definition.expand(mac.tokens.clone(), &mut self.expansions.budget) {
                Expanded::NoRule => continue,
                Expanded::Unsure => return None,
                Expanded::Tokens(tokens) => {
                    self.expansions.done.push(tokens.clone());
                    self.look_into(&place.parse(tokens)?)
                }
            };
            agreed = match agreed {
                None => Some(seen),
                Some(agreed) => Some(seen.agreed(agreed)?),
            };
        }
        agreed
    }

    /// Walks an expansion, apart from everything else.
    fn look_into(&mut self, syntax: &Syntax) -> Seen {
        let outer = std::mem::take(&mut self.found);
        let in_braces = std::mem::replace(&mut self.expansions.in_braces, false);
        self.expansions.depth += 1;
        self.arguments(|walker| syntax.visit(walker));
        self.expansions.depth -= 1;
        self.expansions.in_braces = in_braces;
        let found = std::mem::replace(&mut self.found, outer);
        self.found.unknown_macros.extend(found.unknown_macros);
        self.found.assumed_macros.extend(found.assumed_macros);
        self.found.functions.extend(found.functions);
        self.found.modules.extend(found.modules);
        Seen { sites: found.sites, skips: found.skips, main_at: found.main_at }.once()
    }

    /// Notes tokens that are not seen as code.
    pub(super) fn opaque(&mut self, tokens: &TokenStream) {
        if self.expansions.is_under_way() {
            tokens.clone().into_iter().for_each(|token| self.opaque_token(&token));
        }
    }

    fn opaque_token(&mut self, token: &TokenTree) {
        if !is_written(token.span()) {
            if let TokenTree::Group(group) = token {
                self.opaque(&group.stream());
            }
            return;
        }
        let range = self.bytes(token.span());
        match self.expansions.opaque.last_mut() {
            // One range from the first token to the last: what is put between them is seen too.
            Some(last) if last.end <= range.start && is_blank(&self.code.text[last.end..range.start]) => {
                last.end = range.end;
            }
            _ => self.expansions.opaque.push(range),
        }
    }

    /// Whether the macro does the same with the calls in its arguments.
    fn is_proved(&mut self, mac: &Macro, arguments: &Range<usize>, place: Place, sites: &[Site]) -> bool {
        if sites.is_empty() {
            return true;
        }
        let plain = std::mem::take(&mut self.expansions.done);
        let triggers = self.options.triggers;
        let mut proves = |triggers| {
            let text = splice::part(self.code.text, arguments.clone(), sites, triggers);
            text.is_some_and(|text| self.does_the_same(mac, &text, place, &plain))
        };
        proves(false) && (!triggers || proves(true))
    }

    /// Whether the macro becomes the same with these arguments, calls aside.
    fn does_the_same(&mut self, mac: &Macro, arguments: &str, place: Place, plain: &[TokenStream]) -> bool {
        let Ok(with_calls) = arguments.parse::<TokenStream>() else { return false };
        self.expansions.budget = LEAST_BUDGET + BUDGET * arguments.len();
        let mut each = Expand { walker: self, expansions: Vec::new(), is_sure: true, calls: plain.len() > 1 };
        each.call(&mac.path, with_calls, place);
        let with_calls = each.expansions;
        if !each.is_sure {
            return false;
        }
        plain.len() == with_calls.len()
            && plain.iter().zip(&with_calls).all(|(a, b)| macros::differ_by_calls(a, b))
    }
}

impl Seen {
    /// What both show; nothing when they differ. Who finds that a statement has to check is right.
    fn agreed(mut self, other: Self) -> Option<Self> {
        let sites = other.sites.into_iter();
        self.sites.iter_mut().zip(sites.clone()).for_each(|(site, other)| site.note_of(&other));
        let sites = sites.zip(&self.sites).map(|(mut other, site)| {
            other.note_of(site);
            other
        });
        let other = Self { sites: sites.collect(), ..other };
        (self == other).then_some(self)
    }

    /// Everything once, in the order of the text, and no statement that is something else at another place.
    fn once(mut self) -> Self {
        let mut by_place: BTreeMap<(usize, usize), Site> = BTreeMap::new();
        let mut torn = Vec::new();
        for site in self.sites {
            let skipped = self.skips.iter().any(|skip| (skip.line, skip.column) == (site.line, site.column));
            let key = (site.range.start, site.range.end);
            let other = by_place.get(&key).is_some_and(|other| other.shape != site.shape);
            if skipped || other {
                torn.push(key);
            }
            by_place.entry(key).and_modify(|known| known.note_of(&site)).or_insert(site);
        }
        torn.iter().for_each(|key| drop(by_place.remove(key)));
        self.sites = by_place.into_values().collect();
        self.skips.sort_by_key(|skip| (skip.line, skip.column, skip.reason));
        self.skips.dedup();
        self.main_at.sort_unstable();
        self.main_at.dedup();
        self
    }

    /// Leaves out what something unknown sees too.
    fn without(mut self, opaque: &[Range<usize>]) -> Self {
        let is_inside = |at: usize| opaque.iter().any(|range| (range.start..=range.end).contains(&at));
        let is_seen = |site: &Site| match &site.shape {
            Shape::Call { at, .. } => is_inside(*at),
            Shape::Wrap { range, .. } => is_inside(range.start) || is_inside(range.end),
        };
        let (hidden, sites): (Vec<Site>, Vec<Site>) = self.sites.into_iter().partition(is_seen);
        // The macro that sees them has counted them already, as far as they end with a semicolon.
        let is_counted = self.skips.iter().any(|skip| skip.reason == Reason::MacroArguments);
        let hidden = hidden.iter().filter(|_| !is_counted).map(|site| Skip {
            line: site.line,
            column: site.column,
            reason: Reason::MacroArguments,
            statements: 1,
        });
        self.skips.extend(hidden);
        // What takes the call of a statement takes another one beside it.
        let takes = |at: &usize| {
            sites.iter().any(|site| matches!(&site.shape, Shape::Call { at: call, .. } if call == at))
        };
        let main_at = self.main_at.into_iter().filter(takes).collect();
        Self { sites, skips: self.skips, main_at }
    }
}

/// A parsed expansion.
enum Syntax {
    Items(Vec<Item>),
    ImplItems(Vec<ImplItem>),
    TraitItems(Vec<TraitItem>),
    Statements(Block),
    Expression(Expr),
}

impl Syntax {
    fn visit(&self, visitor: &mut impl for<'ast> Visit<'ast>) {
        match self {
            Self::Items(items) => items.iter().for_each(|item| visitor.visit_item(item)),
            Self::ImplItems(items) => items.iter().for_each(|item| visitor.visit_impl_item(item)),
            Self::TraitItems(items) => items.iter().for_each(|item| visitor.visit_trait_item(item)),
            Self::Statements(block) => visitor.visit_block(block),
            Self::Expression(expr) => visitor.visit_expr(expr),
        }
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}

impl Place {
    /// A block in place of an expression may end a statement: then the fragments are no units.
    fn parse(self, tokens: TokenStream) -> Option<Syntax> {
        self.parse_units(tokens.clone()).or_else(|| self.parse_units(macros::flat(tokens)))
    }

    fn parse_units(self, tokens: TokenStream) -> Option<Syntax> {
        let statements = |tokens: TokenStream| {
            let stmts = Block::parse_within.parse2(tokens).ok()?;
            Some(Syntax::Statements(Block { brace_token: syn::token::Brace::default(), stmts }))
        };
        match self {
            Self::Items => all.parse2(tokens).ok().map(Syntax::Items),
            Self::ImplItems => all.parse2(tokens).ok().map(Syntax::ImplItems),
            Self::TraitItems => all.parse2(tokens).ok().map(Syntax::TraitItems),
            Self::Statements => statements(tokens),
            Self::Expression => match syn::parse2(tokens.clone()) {
                Ok(expr) => Some(Syntax::Expression(expr)),
                Err(_) => statements(tokens),
            },
        }
    }
}

fn all<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let mut found = Vec::new();
    while !input.is_empty() {
        found.push(input.parse()?);
    }
    Ok(found)
}

/// Whether anything in the tokens may be a statement.
fn holds_code(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace || holds_code(&group.stream()),
        TokenTree::Punct(punct) => matches!(punct.as_char(), '|' | ';' | '='),
        _ => false,
    })
}

/// Expands a call, and the calls in its expansion, in the order of the walk.
struct Expand<'a, 'c> {
    walker: &'a mut Walker<'c>,
    expansions: Vec<TokenStream>,
    is_sure: bool,
    /// There are calls in the expansion.
    calls: bool,
}

impl Expand<'_, '_> {
    fn call(&mut self, path: &Path, tokens: TokenStream, place: Place) {
        if let Some(arguments) = self.walker.expressions_of(path, &tokens) {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
            return;
        }
        if self.walker.expansions.depth >= DEEPEST || !holds_code(&tokens) {
            return;
        }
        let Some(definitions) = self.walker.definitions(path) else { return };
        for definition in &*definitions {
            let tokens = match definition.expand(tokens.clone(), &mut self.walker.expansions.budget) {
                Expanded::NoRule => continue,
                Expanded::Unsure => return self.is_sure = false,
                Expanded::Tokens(tokens) => tokens,
            };
            self.expansions.push(tokens.clone());
            if !self.calls {
                continue;
            }
            let Some(syntax) = place.parse(tokens) else { return self.is_sure = false };
            self.walker.expansions.depth += 1;
            syntax.visit(self);
            self.walker.expansions.depth -= 1;
        }
    }
}

impl<'ast> Visit<'ast> for Expand<'_, '_> {
    fn visit_item_macro(&mut self, node: &'ast syn::ItemMacro) {
        if node.ident.is_none() {
            self.call(&node.mac.path, node.mac.tokens.clone(), Place::Items);
        }
    }

    fn visit_impl_item_macro(&mut self, node: &'ast syn::ImplItemMacro) {
        self.call(&node.mac.path, node.mac.tokens.clone(), Place::ImplItems);
    }

    fn visit_trait_item_macro(&mut self, node: &'ast syn::TraitItemMacro) {
        self.call(&node.mac.path, node.mac.tokens.clone(), Place::TraitItems);
    }

    fn visit_stmt_macro(&mut self, node: &'ast syn::StmtMacro) {
        self.call(&node.mac.path, node.mac.tokens.clone(), Place::Statements);
    }

    fn visit_expr_macro(&mut self, node: &'ast syn::ExprMacro) {
        self.call(&node.mac.path, node.mac.tokens.clone(), Place::Expression);
    }
}
