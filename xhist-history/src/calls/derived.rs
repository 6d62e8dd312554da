//! Derived code is not recorded, and calls what the types of fields implement. Which entries may come from there.

use super::callee::{CallKind, Implicit};
use super::structure::{BodyId, StatementId, Structure};

/// Whether derived code called a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThroughDerived {
    /// The text of the caller's statement has no other way to it.
    Certain,
    /// The statement may call it directly, too: the map knows no types of operands.
    Possible,
}

impl ThroughDerived {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ThroughDerived::Certain => "certain",
            ThroughDerived::Possible => "possible",
        }
    }

    /// The words in reports.
    pub fn text(self) -> &'static str {
        match self {
            ThroughDerived::Certain => "through derived code",
            ThroughDerived::Possible => "perhaps through derived code",
        }
    }
}

impl Structure {
    /// Whether derived code called this body while the statement ran. `None` if no type that derives the trait has a field
    /// of the body's type, or if the statement names the function with its type.
    pub fn through_derived(&self, from: StatementId, body: BodyId) -> Option<ThroughDerived> {
        let name = self.body(body).name;
        let (of_type, of_trait) = (name.parent?, name.of_trait?);
        if !self.derived.contains(&(of_trait, of_type)) {
            return None;
        }
        let caller = self.name_of_caller(self.body_of(from));
        let calls = self.calls(from);
        let is_meant = |of| self.types.contains(&of);
        let is_named = |kind: CallKind| match kind {
            CallKind::Of(of) => of == of_type,
            CallKind::OfSelf => caller.parent == Some(of_type),
            _ => false,
        };
        if calls.iter().any(|call| name.is_meant(*call, caller, is_meant) && is_named(call.kind)) {
            return None;
        }
        let may_call = calls.iter().any(|call| match call.kind {
            CallKind::Operator(of) => self.body(body).implicit == Implicit::ByOperator(of),
            CallKind::Struct | CallKind::Question => false,
            _ => {
                call.is_unknown() || call.kind == CallKind::StdMacro || name.is_meant(*call, caller, is_meant)
            }
        });
        Some(if may_call { ThroughDerived::Possible } else { ThroughDerived::Certain })
    }
}
