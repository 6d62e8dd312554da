//! What the walk knows about values at the current position.

use crate::site::value_site::ValueSite;

/// What the walk knows about values.
#[derive(Default)]
pub(super) struct ValueState {
    /// Bindings that the next block or wrapped expression starts with.
    pub entry: Vec<ValueSite>,
    /// Values here may have several types.
    pub generic: bool,
    /// An enclosing `#[expect]` wants unused names or values.
    pub expects_unused: bool,
    /// The enclosing async body may wait.
    pub body_waits: bool,
}

impl ValueState {
    pub fn new(expects_unused: bool) -> Self {
        Self { expects_unused, ..Self::default() }
    }
}
