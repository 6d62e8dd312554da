//! Walks a syntax tree and notes sites, skips and files. `visitor` dispatches on the syntax; `items`, `blocks`,
//! `bodies` and `macro_calls` handle it.

mod blocks;
mod bodies;
mod call_diff;
mod callers;
mod calls;
mod derives;
mod expansion_state;
mod expansions;
mod findings;
mod items;
mod macro_calls;
mod parsed_expansion;
mod reexpansion;
mod room_checks;
mod rules;
mod value_search;
mod value_state;
mod values;
mod visitor;

use super::attributes::MainBy;
use super::{Code, edges, wrap};
use crate::macros::FileMacros;
use crate::options::{Detail, Options};
use crate::refusal::Refusal;
use crate::site::analysis::Analysis;
use crate::site::{InlineMod, Insertion, Reason, Site, SiteKind, Skip};
use expansion_state::ExpansionState;
use proc_macro2::{LineColumn, Span};
use room_checks::RoomChecks;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use syn::visit::Visit as _;
use syn::{Attribute, Block, Expr};
use value_state::ValueState;

/// Tests of an `else if` chain that become nested blocks. The compiler's stack has room for some 700.
const MAX_NESTED_TESTS: u32 = 256;

/// State of the walk.
struct Walker<'c> {
    code: &'c Code<'c>,
    options: &'c Options,
    found: Analysis,
    /// Names of the enclosing modules, types and functions.
    names: Vec<String>,
    /// `names`, joined.
    function: Arc<str>,
    /// Last segment of the trait that functions here implement; empty outside such impls.
    of_trait: Arc<str>,
    /// Variables of the current function.
    locals: HashSet<String>,
    /// Start of the loop that repeats the code here.
    repeated_from: Option<usize>,
    /// Enclosing inline modules.
    inside: Vec<InlineMod>,
    /// The reason why code here is const; closures and functions inside are not.
    constant: Option<Reason>,
    /// Functions defined here are const without the keyword.
    constant_items: bool,
    /// The macro of the module here, which writes `main`.
    main_by: Option<MainBy>,
    /// The reason to skip all code here, closures and nested functions included.
    skipped_as: Option<Reason>,
    /// End of the initialiser of a let-else, where the grammar forbids a brace.
    before_else: Option<usize>,
    /// Number of enclosing tests of `else if` chains.
    tests: u32,
    /// The text contains the word `include`.
    has_includes: bool,
    refusal: Option<Refusal>,
    /// The macros of this file, on first use.
    macros: OnceCell<Rc<FileMacros<'c>>>,
    expansions: ExpansionState,
    checks: RoomChecks,
    values: ValueState,
    /// Why the last statement is skipped.
    last_reason: Option<Reason>,
    /// Starts of the sites of the current async body before which its task may have waited.
    resumes: Vec<usize>,
}

pub(super) fn walk(file: &syn::File, code: &Code<'_>, options: &Options) -> Result<Analysis, Refusal> {
    let mut walker = Walker::new(file, code, options);
    walker.visit_file(file);
    walker.found.first_item = walker.first_item(file);
    match walker.refusal {
        Some(refusal) => Err(refusal),
        None => Ok(finished(walker.found, code, options)),
    }
}

/// The analysis in its final order, with the properties of the whole file.
fn finished(mut found: Analysis, code: &Code<'_>, options: &Options) -> Analysis {
    found.sites.sort_by_key(|site| site.range.start);
    check_after_gaps(&mut found.sites, &code.directives.off);
    found.sites.iter_mut().for_each(|site| match options.detail {
        Detail::Statement => site.recorded = true,
        // Nothing is recorded between two entries, so each one has to check.
        Detail::Function => site.checks = site.recorded,
    });
    found.values.sort_by_key(|value| (value.line, value.column));
    found.value_skips.sort_by_key(|skip| (skip.line, skip.column, skip.reason));
    found.value_skips.dedup();
    found.record_hosts();
    found.structure.sort();
    callers::give_to_statements(&mut found.sites, &mut found.structure, code.text);
    found.skips.sort_by_key(|skip| (skip.line, skip.column));
    found.tasks.sort_by_key(|task| task.at);
    found.rules.sort_by_key(|body| body.start);
    found.tasks.iter_mut().for_each(|task| task.resumes.sort_unstable());
    // The analyses of all files may be in memory at once.
    found.sites.shrink_to_fit();
    found.skips.shrink_to_fit();
    found.values.shrink_to_fit();
    found.value_skips.shrink_to_fit();
    found.debug_lines.clone_from(&code.directives.debug);
    found.tokens = code.tokens;
    found.is_off = code.directives.whole_file;
    if found.is_off {
        found.main_at.clear();
    }
    found.lines = code.lines.count(code.text.len());
    found
}

/// Makes the first statement after switched-off lines check for room.
fn check_after_gaps(sites: &mut [Site], off: &[Range<u32>]) {
    for gap in off {
        let after = sites.iter().position(|site| site.line >= gap.end).unwrap_or(sites.len());
        for site in &mut sites[after..] {
            site.checks = true;
            if !site.may_vanish() {
                break;
            }
        }
    }
}

impl<'c> Walker<'c> {
    fn new(file: &syn::File, code: &'c Code<'c>, options: &'c Options) -> Self {
        Self {
            code,
            options,
            found: Analysis::default(),
            names: Vec::new(),
            function: Arc::from(""),
            of_trait: Arc::from(""),
            locals: HashSet::new(),
            repeated_from: None,
            inside: Vec::new(),
            constant: None,
            constant_items: false,
            main_by: None,
            before_else: None,
            tests: 0,
            skipped_as: super::attributes::skip_reason(&file.attrs),
            has_includes: memchr::memmem::find(code.text.as_bytes(), b"include").is_some(),
            refusal: None,
            macros: OnceCell::new(),
            expansions: ExpansionState::new(),
            checks: RoomChecks::default(),
            values: ValueState::new(super::attributes::expects_unused(&file.attrs)),
            last_reason: None,
            resumes: Vec::new(),
        }
    }

    /// The macros of this file.
    fn macros(&self) -> Rc<FileMacros<'c>> {
        self.macros.get_or_init(|| Rc::new(FileMacros::new(self.code.text, self.code.macros))).clone()
    }
}

impl Walker<'_> {
    /// Bytes of a token.
    fn bytes(&self, span: Span) -> Range<usize> {
        self.start_of(span)..self.end_of(span)
    }

    /// Offset of a token.
    fn start_of(&self, span: Span) -> usize {
        self.byte(span.start()).unwrap_or_else(|| span.byte_range().start + self.code.start)
    }

    /// End of a token.
    fn end_of(&self, span: Span) -> usize {
        self.byte(span.end()).unwrap_or_else(|| span.byte_range().end + self.code.start)
    }

    /// Offset of a line and column. The parser's own `byte_range` is slow: it searches a map that grows with every
    /// query.
    fn byte(&self, place: LineColumn) -> Option<usize> {
        // The parser's first line starts where the code does.
        let line = if place.line == 1 { self.code.start } else { self.code.lines.start(place.line) };
        self.code.lines.byte(line, place.column)
    }

    /// Whether a token comes from the source, not from the rules of a macro.
    fn is_from_source(&self, span: Span) -> bool {
        !self.expansions.is_under_way() || expansion_state::is_from_source(span)
    }

    /// Offset of a statement with these attributes and this first token.
    fn start(&self, attributes: &[&Attribute], first: usize) -> usize {
        let starts = attributes.iter().map(|attribute| self.start_of(attribute.pound_token.span));
        starts.chain([first]).min().unwrap_or(first)
    }

    /// End of an expression.
    fn end_of_expr(&self, expr: &Expr) -> Option<usize> {
        edges::last_token(expr).map(|last| self.end_of(last))
    }

    fn skip(&mut self, at: usize, reason: Reason, statements: u32) {
        let (line, column) = self.code.lines.position(at);
        self.found.skips.push(Skip { line, column, reason, statements });
    }

    /// Notes a site, or the reason to skip it. Returns its index if it is noted as a site.
    fn site(
        &mut self,
        kind: SiteKind,
        range: Range<usize>,
        insertion: Result<Insertion, Reason>,
    ) -> Option<usize> {
        self.last_reason = None;
        if !self.expansions.allows() {
            return None;
        }
        let (line, column) = self.code.lines.position(range.start);
        let reason = self.skipped_as.or(self.constant);
        let reason = reason.or(self.code.directives.is_off(line).then_some(Reason::Directive));
        let insertion = match (reason, insertion) {
            (Some(reason), _) | (None, Err(reason)) => {
                self.skip(range.start, reason, 1);
                self.last_reason = Some(reason);
                return None;
            }
            (None, Ok(insertion)) => insertion,
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
            insertion,
            recorded,
            checks,
            awaits,
            text: 0,
            calls: Box::default(),
            jump: None,
        });
        Some(self.found.sites.len() - 1)
    }

    /// Walks a block. If none of its own statements is recorded, the block itself becomes a site.
    fn entered_block(&mut self, block: &Block, attributes: &[Attribute], kind: SiteKind) {
        if kind == SiteKind::Loop {
            return self.loop_body(Some(block), |walker| walker.entered(block, attributes, kind));
        }
        self.branch(|walker| walker.entered(block, attributes, kind));
    }

    fn entered(&mut self, block: &Block, attributes: &[Attribute], kind: SiteKind) {
        let is_entry = self.checks.is_entry;
        let is_recorded = self.block(block);
        let entry = self.take_entry();
        if !is_recorded && self.is_from_source(block.brace_token.span.open()) {
            let braces = &block.brace_token.span;
            let range = self.start_of(braces.open())..self.end_of(braces.close());
            let at = self.after_head(block, attributes);
            let site = self.site(kind, range, Ok(Insertion::Call { at, attributes: None }));
            self.note_entry(site.filter(|_| is_entry));
            let reason = self.last_reason;
            self.attach_entry(entry, site, reason);
        } else {
            self.attach_entry(entry, None, None);
        }
    }

    /// Offset before the first item of a file.
    fn first_item(&self, file: &syn::File) -> Option<usize> {
        let (head, code) = self.code.text.split_at(self.code.start);
        // The code starts before the newline of a shebang.
        let newline = code.find('\n').filter(|_| head.contains("#!"));
        let start = head.len() + newline.map_or(0, |newline| newline + 1);
        let at = self.after_inner(start, &file.attrs);
        // An item alone in a line would look like one that a formatter moved there.
        let blank = self.code.text[at..].len() - self.code.text[at..].trim_start().len();
        (!file.items.is_empty()).then_some(at + blank)
    }

    /// Offset after the opening brace and the inner attributes.
    fn after_head(&self, block: &Block, attributes: &[Attribute]) -> usize {
        self.after_inner(self.end_of(block.brace_token.span.open()), attributes)
    }

    /// Offset after these inner attributes, or after what precedes them.
    fn after_inner(&self, brace: usize, attributes: &[Attribute]) -> usize {
        let inner = attributes.iter().filter(|attribute| !super::attributes::is_outer(attribute));
        let ends = inner.map(|attribute| self.end_of(attribute.bracket_token.span.close()));
        let end = ends.chain([brace]).max().unwrap_or(brace);
        let last_line = self.code.text[..end].rfind('\n').map_or(0, |newline| newline + 1);
        // Text after an inner doc comment would belong to the comment: skip to the next line.
        let is_comment =
            end > brace && self.code.text[last_line.max(brace)..end].trim_start().starts_with("//!");
        let newline = self.code.text[end..].find('\n');
        end + newline.filter(|_| is_comment).map_or(0, |newline| newline + 1)
    }

    /// Walks the body of an arm or closure.
    fn body(&mut self, body: &Expr, kind: SiteKind) {
        if let Some((block, attributes)) = wrap::existing_block(body) {
            self.entered_block(block, attributes, kind);
            return;
        }
        self.wrapped(body, None, kind);
    }

    /// Walks an expression that becomes a block. The site ends with `shown`, or with the expression.
    fn wrapped(&mut self, expr: &Expr, shown: Option<&Expr>, kind: SiteKind) {
        // A closure without a block is a part of its statement.
        self.checks.is_entry = false;
        let entry = self.take_entry();
        self.last_reason = None;
        let site = self.block_around(expr, shown, kind);
        let reason = self.last_reason;
        self.attach_entry(entry, site, reason);
        // Nothing runs between the start of the block and its call.
        self.checks.is_due &= site.is_none();
        if let Some(site) = site {
            self.note_resume(site, false);
        }
        let awaits = self.checks.awaits_passed();
        self.visit_expr(expr);
        self.note_awaits(site, awaits);
    }

    fn block_around(&mut self, expr: &Expr, shown: Option<&Expr>, kind: SiteKind) -> Option<usize> {
        let (first, last) = edges::first_token(expr).zip(edges::last_token(expr))?;
        if !self.is_from_source(first) || !self.is_from_source(last) {
            return None;
        }
        let (first, end) = (self.start_of(first), self.end_of(last));
        let start = self.start(&edges::leading_attributes(expr), first);
        let shape = if self.before_else == Some(end) {
            Err(Reason::LetElse)
        } else if kind == SiteKind::Test && self.tests > MAX_NESTED_TESTS {
            Err(Reason::LongChain)
        } else {
            Ok(Insertion::Wrap { range: start..end, parens: wrap::needs_parens(expr) })
        };
        let shown = shown.and_then(|shown| self.end_of_expr(shown)).unwrap_or(end);
        self.site(kind, first..shown, shape)
    }

    /// Runs `work` inside an item of this name.
    fn named(&mut self, name: String, work: impl FnOnce(&mut Self)) {
        self.names.push(name);
        let outer = std::mem::replace(&mut self.function, Arc::from(self.names.join("::")));
        work(self);
        self.function = outer;
        self.names.pop();
    }

    /// Runs `work` on code that is const, or on code in a const context that is not.
    fn constant(&mut self, constant: bool, work: impl FnOnce(&mut Self)) {
        self.constant_as(constant.then_some(Reason::ConstContext), work);
    }

    /// Runs `work` with this reason why the code is const.
    fn constant_as(&mut self, constant: Option<Reason>, work: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.constant, constant);
        work(self);
        self.constant = outer;
    }
}
