//! What is found out about the origin of a value.

use crate::recording::{Recording, SiteId, StepId};

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

impl ValueOrigin {
    /// How it ends: `made in src/lib.rs:7 by ..`, or why it is not known.
    pub fn end_text(&self, recording: &Recording) -> String {
        let last = self.hops.last().map_or(self.step, |hop| hop.step);
        match &self.end {
            OriginEnd::Unknown(why) => format!("it is not known further back: {why}"),
            OriginEnd::Made(what, operands) => {
                let shown: Vec<String> = operands.iter().map(Operand::text).collect();
                let of = if shown.is_empty() { String::new() } else { format!(", of {}", shown.join(", ")) };
                let place = recording.site_at(last).map_or_else(String::new, |site| recording.place(site));
                format!("made in {place} by {what}{of}")
            }
        }
    }
}

impl Operand {
    fn text(&self) -> String {
        let value = self.value.as_ref().map_or(String::new(), |value| format!(" = {value}"));
        format!("{}{value}", self.name)
    }
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
