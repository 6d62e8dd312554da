//! Walks a syntax tree and notes sites, skips and files. The walk is split by what is walked: `items` and
//! `blocks` do the work, `visitor` says which syntax goes where.

mod blocks;
mod checks;
mod expansions;
mod items;
mod macros;
mod visitor;

use super::{Code, edges, wrap};
use crate::macros::OfFile;
use crate::options::{Detail, Options};
use crate::refusal::Refusal;
use crate::site::{Analysis, InlineMod, Reason, Shape, Site, SiteKind, Skip};
use checks::Checks;
use expansions::Expansions;
use proc_macro2::{LineColumn, Span};
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use syn::visit::Visit as _;
use syn::{Attribute, Block, Expr};

/// Tests of `else if` chains that become blocks inside each other. The compiler's stack has room for some 700.
const MOST_TESTS: u32 = 256;

/// State of the walk.
struct Walker<'c> {
    code: &'c Code<'c>,
    options: &'c Options,
    found: Analysis,
    /// Modules, types and functions around the current place.
    names: Vec<String>,
    /// `names`, joined.
    function: Arc<str>,
    /// `function` where the body around the current place starts.
    body: Arc<str>,
    /// Inline modules around the current place.
    inside: Vec<InlineMod>,
    /// The compiler evaluates this; closures and functions inside are free again.
    constant: Option<Reason>,
    /// Functions defined here are const without saying so.
    constant_items: bool,
    /// Everything in here is left alone, closures and nested functions too.
    hands_off: Option<Reason>,
    /// Where the initialiser of a let-else ends: no brace may stand there.
    before_else: Option<usize>,
    /// How many tests of `else if` chains are around the current place.
    tests: u32,
    /// The word `include` stands somewhere in the text.
    has_includes: bool,
    refusal: Option<Refusal>,
    /// What this file says about macros; looked up when somebody asks.
    scope: OnceCell<Rc<OfFile<'c>>>,
    expansions: Expansions,
    checks: Checks,
}

pub(super) fn walk(file: &syn::File, code: &Code<'_>, options: &Options) -> Result<Analysis, Refusal> {
    let mut walker = Walker {
        code,
        options,
        found: Analysis::default(),
        names: Vec::new(),
        function: Arc::from(""),
        body: Arc::from(""),
        inside: Vec::new(),
        constant: None,
        constant_items: false,
        before_else: None,
        tests: 0,
        hands_off: super::attributes::hands_off(&file.attrs),
        has_includes: memchr::memmem::find(code.text.as_bytes(), b"include").is_some(),
        refusal: None,
        scope: OnceCell::new(),
        expansions: Expansions::new(),
        checks: Checks::default(),
    };
    walker.visit_file(file);
    if let Some(refusal) = walker.refusal {
        return Err(refusal);
    }
    let mut found = walker.found;
    found.sites.sort_by_key(|site| site.range.start);
    check_behind_gaps(&mut found.sites, &code.directives.off);
    found.sites.iter_mut().for_each(|site| match options.detail {
        Detail::Statement => site.recorded = true,
        // Between two entries nothing is recorded, so each has to check.
        Detail::Function => site.checks = site.recorded,
    });
    found.functions.sort_by_key(|function| (function.body.start, std::cmp::Reverse(function.body.end)));
    // What stands in the arguments of macros is walked more than once.
    found.functions.dedup();
    found.skips.sort_by_key(|skip| (skip.line, skip.column));
    // Those of all files may be kept at once.
    found.sites.shrink_to_fit();
    found.skips.shrink_to_fit();
    found.debug_lines.clone_from(&code.directives.debug);
    found.tokens = code.tokens;
    found.is_off = code.directives.whole_file;
    if found.is_off {
        found.main_at.clear();
    }
    found.lines = code.lines.count(code.text.len());
    Ok(found)
}

/// The first statement behind lines that are switched off checks.
fn check_behind_gaps(sites: &mut [Site], off: &[Range<u32>]) {
    for gap in off {
        let behind = sites.iter().position(|site| site.line >= gap.end).unwrap_or(sites.len());
        for site in &mut sites[behind..] {
            site.checks = true;
            if !site.may_vanish() {
                break;
            }
        }
    }
}

impl<'c> Walker<'c> {
    /// What this file says about macros.
    fn scope(&self) -> Rc<OfFile<'c>> {
        self.scope.get_or_init(|| Rc::new(OfFile::new(self.code.text, self.code.macros))).clone()
    }
}

impl Walker<'_> {
    /// Bytes of the file that a token covers.
    fn bytes(&self, span: Span) -> Range<usize> {
        self.start_of(span)..self.end_of(span)
    }

    /// Where a token starts.
    fn start_of(&self, span: Span) -> usize {
        self.byte(span.start()).unwrap_or_else(|| span.byte_range().start + self.code.start)
    }

    /// Where a token ends.
    fn end_of(&self, span: Span) -> usize {
        self.byte(span.end()).unwrap_or_else(|| span.byte_range().end + self.code.start)
    }

    /// The parser finds a byte in a map that grows with every question; a line and column it finds at once.
    fn byte(&self, place: LineColumn) -> Option<usize> {
        // The first line it has seen starts where the code does.
        let line = if place.line == 1 { self.code.start } else { self.code.lines.start(place.line) };
        self.code.lines.byte(line, place.column)
    }

    /// Whether a token stands in the source: those that a macro brings stand nowhere.
    fn is_written(&self, span: Span) -> bool {
        !self.expansions.is_under_way() || expansions::is_written(span)
    }

    /// Where the statement with these attributes and this first token starts.
    fn start(&self, attributes: &[&Attribute], first: usize) -> usize {
        let starts = attributes.iter().map(|attribute| self.start_of(attribute.pound_token.span));
        starts.chain([first]).min().unwrap_or(first)
    }

    /// Where an expression ends.
    fn end_of_expr(&self, expr: &Expr) -> Option<usize> {
        edges::last_token(expr).map(|last| self.end_of(last))
    }

    fn skip(&mut self, at: usize, reason: Reason, statements: u32) {
        let (line, column) = self.code.lines.position(at);
        self.found.skips.push(Skip { line, column, reason, statements });
    }

    /// Notes a site, or why it is none; where it is among the sites, if it will be recorded.
    fn site(&mut self, kind: SiteKind, range: Range<usize>, shape: Result<Shape, Reason>) -> Option<usize> {
        if !self.expansions.allows() {
            return None;
        }
        let (line, column) = self.code.lines.position(range.start);
        let reason = self.hands_off.or(self.constant);
        let reason = reason.or(self.code.directives.is_off(line).then_some(Reason::Directive));
        let shape = match (reason, shape) {
            (Some(reason), _) | (None, Err(reason)) => {
                self.skip(range.start, reason, 1);
                return None;
            }
            (None, Ok(shape)) => shape,
        };
        let (end_line, end_column) = self.code.lines.position(range.end);
        let function = self.function.clone();
        let checks = self.checks.next(self.options.records_after());
        let (recorded, awaits) = (false, false);
        self.found.sites.push(Site {
            kind,
            line,
            column,
            end_line,
            end_column,
            function,
            range,
            shape,
            recorded,
            checks,
            awaits,
        });
        Some(self.found.sites.len() - 1)
    }

    /// A block that says it was entered even when none of its own statements does.
    fn entered_block(&mut self, block: &Block, attributes: &[Attribute], kind: SiteKind) {
        if kind == SiteKind::Loop {
            return self.round(|walker| walker.entered(block, attributes, kind));
        }
        self.branch(|walker| walker.entered(block, attributes, kind));
    }

    fn entered(&mut self, block: &Block, attributes: &[Attribute], kind: SiteKind) {
        let is_entry = self.checks.is_entry;
        if !self.block(block) && self.is_written(block.brace_token.span.open()) {
            let braces = &block.brace_token.span;
            let range = self.start_of(braces.open())..self.end_of(braces.close());
            let at = self.behind_head(block, attributes);
            let site = self.site(kind, range, Ok(Shape::Call { at, attributes: None }));
            self.note_entry(site.filter(|_| is_entry));
        }
    }

    /// Behind the opening brace and the inner attributes.
    fn behind_head(&self, block: &Block, attributes: &[Attribute]) -> usize {
        let brace = self.end_of(block.brace_token.span.open());
        let inner = attributes.iter().filter(|attribute| !super::attributes::is_outer(attribute));
        let ends = inner.map(|attribute| self.end_of(attribute.bracket_token.span.close()));
        let end = ends.chain([brace]).max().unwrap_or(brace);
        let last_line = self.code.text[..end].rfind('\n').map_or(0, |newline| newline + 1);
        // An inner doc comment reaches to the end of its line: what is put there would belong to it.
        let is_comment =
            end > brace && self.code.text[last_line.max(brace)..end].trim_start().starts_with("//!");
        let newline = self.code.text[end..].find('\n');
        end + newline.filter(|_| is_comment).map_or(0, |newline| newline + 1)
    }

    /// The body of an arm or closure.
    fn body(&mut self, body: &Expr, kind: SiteKind) {
        if let Some((block, attributes)) = wrap::own_block(body) {
            self.entered_block(block, attributes, kind);
            return;
        }
        self.wrapped(body, None, kind);
    }

    /// An expression that becomes a block, and what is in it. What is shown of it ends with `shown`, or with itself.
    fn wrapped(&mut self, expr: &Expr, shown: Option<&Expr>, kind: SiteKind) {
        // A closure without a block is a part of its statement.
        self.checks.is_entry = false;
        let site = self.block_around(expr, shown, kind);
        // The block has nothing in front of its call.
        self.checks.is_due &= site.is_none();
        let awaits = self.checks.awaits;
        self.visit_expr(expr);
        self.note_awaits(site, awaits);
    }

    fn block_around(&mut self, expr: &Expr, shown: Option<&Expr>, kind: SiteKind) -> Option<usize> {
        let (first, last) = edges::first_token(expr).zip(edges::last_token(expr))?;
        if !self.is_written(first) || !self.is_written(last) {
            return None;
        }
        let (first, end) = (self.start_of(first), self.end_of(last));
        let start = self.start(&edges::leading_attributes(expr), first);
        let shape = if self.before_else == Some(end) {
            Err(Reason::LetElse)
        } else if kind == SiteKind::Test && self.tests > MOST_TESTS {
            Err(Reason::LongChain)
        } else {
            Ok(Shape::Wrap { range: start..end, parens: wrap::needs_parens(expr) })
        };
        let shown = shown.and_then(|shown| self.end_of_expr(shown)).unwrap_or(end);
        self.site(kind, first..shown, shape)
    }

    /// Runs `work` with `name` around it.
    fn named(&mut self, name: String, work: impl FnOnce(&mut Self)) {
        self.names.push(name);
        let outer = std::mem::replace(&mut self.function, Arc::from(self.names.join("::")));
        work(self);
        self.function = outer;
        self.names.pop();
    }

    /// Runs `work` on something that the compiler evaluates, or that runs although it stands in such a place.
    fn constant(&mut self, constant: bool, work: impl FnOnce(&mut Self)) {
        self.constant_as(constant.then_some(Reason::ConstContext), work);
    }

    /// The same, with what it is.
    fn constant_as(&mut self, constant: Option<Reason>, work: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.constant, constant);
        work(self);
        self.constant = outer;
    }
}
