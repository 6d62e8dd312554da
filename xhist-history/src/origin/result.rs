//! What is found out about the origin of a value.

use crate::recording::{SiteId, StepId};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueOrigin {
    /// What was asked for: `a.b`, or the text of an operand.
    pub name: String,
    /// The step at which it is asked for.
    pub step: StepId,
    /// Its value there, if one is recorded.
    pub value: Option<String>,
    /// The way back, the newest first.
    pub hops: Vec<OriginHop>,
    /// Where it ends.
    pub end: OriginEnd,
}

/// A statement that passed the value on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginHop {
    /// When it ran.
    pub step: StepId,
    /// The statement.
    pub site: SiteId,
    /// What it did with the value.
    pub kind: HopKind,
    /// What has the value here: a name, a field, an expression.
    pub name: String,
    /// The recorded value; `None`: this hop is known from the source text alone.
    pub value: Option<String>,
}

/// How a statement passed a value on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopKind {
    /// A `let`, a pattern.
    Bound,
    /// An assignment to a variable or a field.
    Assigned,
    /// The argument of a call.
    Argument,
    /// What a call returned.
    Returned,
    /// The end of the branch that ran.
    Branch,
}

impl HopKind {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            HopKind::Bound => "bound",
            HopKind::Assigned => "assigned",
            HopKind::Argument => "argument",
            HopKind::Returned => "returned",
            HopKind::Branch => "branch",
        }
    }
}

/// Where a way back ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginEnd {
    /// The value was made here, by this, of these.
    Made(String, Vec<Operand>),
    /// Why it does not go on.
    Unknown(String),
}

/// What a value was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// A name or a field.
    pub name: String,
    /// The step at which it had the value.
    pub step: StepId,
    /// Its recorded value.
    pub value: Option<String>,
}
