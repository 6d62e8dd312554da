//! Values: which bindings and assignments are recorded, and behind which call.
//!
//! Each value follows the call of a *host*, a statement of its own block. The values of parameters and patterns follow the
//! call of the first statement, directly. Others are behind the semicolon of their statement. So no value is recorded in
//! a body that did not check for room.

use super::super::{attributes, bindings, diverge};
use super::Walker;
use super::value_search::{block_waits, statements_wait};
use crate::options::Values;
use crate::site::value_site::{ValueKind, ValueReason, ValueSite, ValueSkip};
use crate::site::{Insertion, Reason};
use bindings::Bound;
use diverge::Certainty;
use proc_macro2::{Ident, Span};
use syn::{
    BinOp, Block, Expr, FnArg, GenericParam, Generics, Item, Local, Pat, ReceiverKind, Signature, Stmt,
};

impl Walker<'_> {
    /// Runs `work` inside an item with these attributes, whose values have several types if `generic`.
    pub(super) fn with_values<R>(
        &mut self,
        attributes: &[syn::Attribute],
        generic: bool,
        work: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let outer = (self.values.generic, self.values.expects_unused);
        self.values.generic = generic;
        self.values.expects_unused |= self.options.finds_values() && attributes::expects_unused(attributes);
        let result = work(self);
        (self.values.generic, self.values.expects_unused) = outer;
        result
    }

    /// Runs `work` on an async body.
    pub(super) fn with_waits<R>(
        &mut self,
        waits: impl FnOnce() -> bool,
        work: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let waits = self.options.finds_values() && waits();
        let outer = std::mem::replace(&mut self.values.body_waits, waits);
        let result = work(self);
        self.values.body_waits = outer;
        result
    }

    /// The body that is walked next starts with these parameters.
    pub(super) fn enter_with_parameters(&mut self, signature: &Signature) {
        if !self.options.finds_values() {
            return;
        }
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(receiver) => {
                    let (is_reference, copies) = match &receiver.kind {
                        ReceiverKind::Reference(_, _, mutability) => (true, mutability.is_none()),
                        ReceiverKind::Typed(_, of) => (bindings::is_reference(of), bindings::is_copy(of)),
                        _ => (false, false),
                    };
                    // Its address alone says nothing.
                    if !is_reference || self.options.values == Values::Targets {
                        let refused = (!receiver.attrs.is_empty()).then_some(ValueReason::Attributes);
                        let refused = refused.or(self.wait_reason(copies));
                        let first = self.values.entry.len();
                        self.enter_with_name("self", receiver.self_token.span, refused);
                        self.describe_entry(first, is_reference, copies);
                    }
                }
                FnArg::Typed(typed) => {
                    let is_name = matches!(&*typed.pat, Pat::Ident(name) if name.subpat.is_none());
                    let copies = is_name && bindings::is_copy(&typed.ty);
                    let refused = (!typed.attrs.is_empty()).then_some(ValueReason::Attributes);
                    let refused = refused.or(self.wait_reason(copies));
                    let mut names = Vec::new();
                    bindings::bound(&typed.pat, &mut names);
                    let first = self.values.entry.len();
                    self.enter_with_names(ValueKind::Param, names, refused);
                    self.describe_entry(first, is_name && bindings::is_reference(&typed.ty), copies);
                }
            }
        }
    }

    /// Says of the names from `first` on whether they are references, and whether their values are copied.
    fn describe_entry(&mut self, first: usize, is_reference: bool, copies: bool) {
        let copies = copies && self.checks.is_async && self.values.body_waits;
        for value in &mut self.values.entry[first..] {
            (value.is_reference, value.copies) = (is_reference, copies);
        }
    }

    fn wait_reason(&self, copies: bool) -> Option<ValueReason> {
        (self.checks.is_async && self.values.body_waits && !copies).then_some(ValueReason::Await)
    }

    fn enter_with_name(&mut self, name: &str, span: Span, refused: Option<ValueReason>) {
        let value = self.value(ValueKind::Param, name, span, refused);
        self.values.entry.extend(value);
    }

    /// The block or expression that is walked next starts with the names of these patterns. `waits`: whether it may wait.
    pub(super) fn enter_with<'a>(
        &mut self,
        kind: ValueKind,
        patterns: impl IntoIterator<Item = &'a Pat>,
        waits: impl FnOnce() -> bool,
    ) {
        if self.options.finds_values() {
            let mut names = Vec::new();
            patterns.into_iter().for_each(|pattern| bindings::bound(pattern, &mut names));
            let waits = self.checks.is_async && !names.is_empty() && waits();
            self.enter_with_names(kind, names, waits.then_some(ValueReason::Await));
        }
    }

    /// [`Walker::enter_with`] for the `let`s of a condition.
    pub(super) fn enter_with_condition(&mut self, kind: ValueKind, condition: &Expr, block: &Block) {
        if self.options.finds_values() {
            let mut names = Vec::new();
            bindings::in_condition(condition, &mut names);
            let waits = self.checks.is_async && !names.is_empty() && block_waits(block);
            self.enter_with_names(kind, names, waits.then_some(ValueReason::Await));
        }
    }

    fn enter_with_names(&mut self, kind: ValueKind, names: Vec<Bound<'_>>, refused: Option<ValueReason>) {
        for Bound { ident, refused: own } in names {
            let value = self.value(kind, &ident.to_string(), ident.span(), own.or(refused));
            self.values.entry.extend(value);
        }
    }

    /// The names that the block here starts with.
    pub(super) fn take_entry(&mut self) -> Vec<ValueSite> {
        std::mem::take(&mut self.values.entry)
    }

    /// Leaves the names that the block starts with to the site of the block itself.
    pub(super) fn keep_entry(&mut self, entry: Vec<ValueSite>) {
        self.values.entry = entry;
    }

    /// Records the names that a block starts with behind the call of this statement. Returns those that wait for a later one.
    pub(super) fn enter_at(
        &mut self,
        mut entry: Vec<ValueSite>,
        stmt: &Stmt,
        site: Option<usize>,
        reason: Option<Reason>,
    ) -> Vec<ValueSite> {
        match stmt {
            Stmt::Item(item) => self.hide_names(&mut entry, &item_name(item).into_iter().collect::<Vec<_>>()),
            Stmt::Local(Local { init: None, pat, .. }) => {
                let mut names = Vec::new();
                bindings::bound(pat, &mut names);
                self.hide_names(&mut entry, &names.iter().map(|name| name.ident).collect::<Vec<_>>());
            }
            _ => self.attach_entry(std::mem::take(&mut entry), site, reason),
        }
        entry
    }

    /// Drops values whose names mean something else behind an item or a `let`.
    fn hide_names(&mut self, entry: &mut Vec<ValueSite>, names: &[&Ident]) {
        let skips = &mut self.found.value_skips;
        entry.retain(|value| {
            let is_hidden = names.iter().any(|name| **name == *value.name);
            if is_hidden {
                skips.push(value.skip(ValueReason::Shadowed));
            }
            !is_hidden
        });
    }

    /// Records the names that a block starts with behind the call of this site.
    pub(super) fn attach_entry(
        &mut self,
        entry: Vec<ValueSite>,
        site: Option<usize>,
        reason: Option<Reason>,
    ) {
        if !entry.is_empty() {
            self.checks.start_values();
            self.attach(entry, site, reason, None);
        }
    }

    /// Records values behind the call of a site: directly, or at an offset. Without a site they are left alone.
    pub(super) fn attach(
        &mut self,
        values: Vec<ValueSite>,
        site: Option<usize>,
        reason: Option<Reason>,
        at: Option<usize>,
    ) {
        let Some(site) = site else {
            let reason = reason.map_or(ValueReason::NoStatement, ValueReason::Code);
            self.found.value_skips.extend(values.iter().map(|value| value.skip(reason)));
            return;
        };
        let site = &self.found.sites[site];
        let attributes = match &site.insertion {
            Insertion::Call { attributes, .. } if at.is_some() => attributes.clone(),
            _ => None,
        };
        let host = site.range.start;
        for value in values {
            let room = self.checks.take_room(self.options.values.cost());
            match room {
                true => {
                    self.found.values.push(ValueSite { host, at, attributes: attributes.clone(), ..value })
                }
                false => self.found.value_skips.push(value.skip(ValueReason::TooMany)),
            }
        }
    }

    /// The values that a statement binds or assigns; `rest` follows it in its block.
    pub(super) fn values_behind(
        &mut self,
        stmt: &Stmt,
        site: Option<usize>,
        reason: Option<Reason>,
        rest: &[Stmt],
    ) {
        if !self.options.finds_values() {
            return;
        }
        self.checks.start_values();
        match stmt {
            Stmt::Local(local) => self.values_of_let(local, site, reason, rest),
            Stmt::Expr(expr, semi) => {
                let left = match expr {
                    Expr::Assign(assign) => &assign.left,
                    Expr::Binary(binary) if assigns(&binary.op) => &binary.left,
                    _ => return,
                };
                let Expr::Path(path) = &**left else { return };
                let Some(name) = path.path.get_ident().filter(|name| self.is_local(name)) else { return };
                let refused = self.expects(super::super::edges::attributes(expr));
                let refused = refused.or(self.wait_reason(false));
                let refused = refused.or(semi.is_none().then_some(ValueReason::NoSemicolon));
                let value = self.value(ValueKind::Assign, &name.to_string(), name.span(), refused);
                let at = semi.as_ref().map(|semi| self.end_of(semi.span));
                self.attach(value.into_iter().collect(), site, reason, at);
            }
            Stmt::Item(_) | Stmt::Macro(_) => {}
        }
    }

    fn values_of_let(&mut self, local: &Local, site: Option<usize>, reason: Option<Reason>, rest: &[Stmt]) {
        let mut names = Vec::new();
        bindings::bound(&local.pat, &mut names);
        let value = local.init.as_ref().map(|init| &*init.expr);
        let copied = bindings::is_copied(&local.pat, value);
        let waits = self.checks.is_async && !names.is_empty() && statements_wait(rest);
        let diverges = || value.is_some_and(|value| diverge::expression(value, Certainty::Certainly));
        let refused = match value {
            None => Some(ValueReason::Uninitialised),
            Some(_) if diverges() => Some(ValueReason::Code(Reason::Unreachable)),
            Some(_) => self.expects(&local.attrs),
        };
        let refused = refused.or((waits && !copied).then_some(ValueReason::Await));
        let values = names.iter().filter_map(|Bound { ident, refused: own }| {
            self.value(ValueKind::Let, &ident.to_string(), ident.span(), own.or(refused))
        });
        let is_reference = bindings::is_bound_to_reference(&local.pat, value);
        let values: Vec<_> = values.map(|value| ValueSite { copies: waits, is_reference, ..value }).collect();
        let at = self.end_of(local.semi_token.span);
        self.attach(values, site, reason, Some(at));
    }

    fn expects(&self, attributes: &[syn::Attribute]) -> Option<ValueReason> {
        attributes::expects_unused(attributes).then_some(ValueReason::Expectation)
    }

    /// A value that is not attached yet, or why it was left out.
    fn value(
        &mut self,
        kind: ValueKind,
        name: &str,
        span: Span,
        refused: Option<ValueReason>,
    ) -> Option<ValueSite> {
        if !self.is_from_source(span) {
            return None;
        }
        let (line, column) = self.code.lines.position(self.start_of(span));
        let value = ValueSite {
            kind,
            line,
            column,
            name: name.into(),
            function: self.function.clone(),
            host: 0,
            at: None,
            attributes: None,
            copies: false,
            generic: self.values.generic,
            targets: self.options.values == Values::Targets,
            is_reference: false,
            recorded: self.options.values != Values::Off,
        };
        let in_macro = self.expansions.is_under_way().then_some(Reason::MacroArguments);
        let skipped = self.skipped_as.or(self.constant).or(in_macro).map(ValueReason::Code);
        let off = self.code.directives.is_without_values(line).then_some(ValueReason::Directive);
        let expected = self.values.expects_unused.then_some(ValueReason::Expectation);
        match refused.filter(|reason| !reason.is_loss()).or(skipped).or(off).or(refused).or(expected) {
            Some(reason) => {
                let ValueSite { name, function, .. } = value;
                self.found.value_skips.push(ValueSkip { line, column, name, function, reason });
                None
            }
            None => Some(value),
        }
    }
}

/// Whether generic parameters give values several types.
pub(super) fn is_generic(generics: &Generics) -> bool {
    generics.params.iter().any(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
}

/// Whether a function has values of several types by itself.
pub(super) fn is_generic_function(signature: &Signature) -> bool {
    use syn::visit::Visit;
    struct ImplTrait(bool);
    impl<'ast> Visit<'ast> for ImplTrait {
        fn visit_type_impl_trait(&mut self, _: &'ast syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut search = ImplTrait(false);
    signature.inputs.iter().for_each(|input| search.visit_fn_arg(input));
    search.0 || is_generic(&signature.generics)
}

/// The name of an item that hides a variable.
fn item_name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Static(item) => Some(&item.ident),
        _ => None,
    }
}

fn assigns(op: &BinOp) -> bool {
    use BinOp::{AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign, MulAssign};
    use BinOp::{RemAssign, ShlAssign, ShrAssign, SubAssign};
    matches!(
        op,
        AddAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | BitXorAssign(_)
            | DivAssign(_)
            | MulAssign(_)
            | RemAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
            | SubAssign(_)
    )
}
