//! Why a rule of a macro does not apply to a call.

/// Why a rule does not apply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mismatch {
    /// The tokens differ.
    Different,
    /// The expander does not support this syntax, so the answer is unknown.
    Unsupported,
}
