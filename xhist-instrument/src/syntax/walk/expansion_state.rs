//! The state of macro expansion during a walk: definitions looked up, limits, and expansions made so far.

use super::super::macro_expander::MacroDefinition;
use proc_macro2::{Span, TokenStream};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// The places in an expansion at which statements of the arguments are accepted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SitePolicy {
    /// Every place.
    Anywhere,
    /// Only blocks whose braces come from the arguments.
    InBraces,
}

/// Deepest expansion inside other expansions.
const MAX_DEPTH: u32 = 64;
/// Tokens that the expansions of a call may have, for each byte of its arguments. Macros that take their arguments token
/// by token need more, are slow to expand, and hold declarations rather than statements.
const TOKENS_PER_BYTE: usize = 4;
/// Tokens that the expansions of any call may have.
const MIN_BUDGET: usize = 1_000;

/// Definitions looked up, and the current expansion.
pub(super) struct ExpansionState {
    /// By path, and by whether the meaning of the path is assumed.
    pub definitions: HashMap<(String, bool), Rc<[MacroDefinition]>>,
    /// Offset of the outermost call.
    pub at: usize,
    /// Tokens that the current expansion may still have.
    pub budget: usize,
    pub depth: u32,
    /// The walk is in the rules of a macro. Arguments of macros are tokens there.
    pub in_rules: bool,
    policy: SitePolicy,
    /// The innermost block has its braces from the arguments.
    pub in_braces: bool,
    /// Bytes of the arguments that an unknown macro or an attribute sees as tokens.
    pub opaque: Vec<Range<usize>>,
    /// Expansions of the outermost call and of the calls in it.
    pub done: Vec<TokenStream>,
}

impl ExpansionState {
    pub fn new() -> Self {
        Self {
            definitions: HashMap::new(),
            at: 0,
            budget: 0,
            depth: 0,
            in_rules: false,
            policy: SitePolicy::Anywhere,
            in_braces: false,
            opaque: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Starts the expansion of an outermost call with arguments of this many bytes.
    pub fn restart(&mut self, policy: SitePolicy, arguments: usize) {
        self.policy = policy;
        self.done.clear();
        self.opaque.clear();
        self.set_budget(arguments);
    }

    /// Allows as many tokens as arguments of this many bytes may expand to.
    pub fn set_budget(&mut self, arguments: usize) {
        self.budget = MIN_BUDGET + TOKENS_PER_BYTE * arguments;
    }

    /// Whether the expansions are nested as deep as they may be.
    pub fn is_too_deep(&self) -> bool {
        self.depth >= MAX_DEPTH
    }

    /// Whether the walk is inside an expansion.
    pub fn is_under_way(&self) -> bool {
        self.depth > 0
    }

    /// Whether a statement of the arguments is accepted at the current place.
    pub fn allows(&self) -> bool {
        self.depth == 0 || self.in_braces || self.policy == SitePolicy::Anywhere
    }
}

/// Whether a token comes from the source; tokens from the rules of a macro have an empty span.
pub(super) fn is_from_source(span: Span) -> bool {
    !span.byte_range().is_empty()
}
