//! The structure of a file's code: bodies, loops and branches. Maps list it, and reports derive calls from it.

pub use qs_core::map::{BodyKind, Jump};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// A place in the text: line and column of its first character, and those behind its last one, from 1.
pub(crate) type Place = [u32; 4];

/// The body of a function, a closure or an async block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Body {
    /// Path of the function, or of the function around it.
    pub path: Arc<str>,
    pub place: Place,
    /// The body in bytes.
    pub range: Range<usize>,
    #[serde(with = "super::map_word")]
    pub kind: BodyKind,
    /// Last segment of the trait that the function belongs to; empty for any other body.
    pub of_trait: Arc<str>,
}

/// A loop, or a branch that excludes the text behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Region {
    pub place: Place,
    /// For a branch: line and column of the end of its `if` or `match`. `None` for a loop.
    pub past: Option<[u32; 2]>,
}

/// A call in the text, before its statement is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct CallNote {
    /// Offset of the name.
    pub at: usize,
    /// The name as in maps, without the star of a repeated call.
    pub name: String,
    /// Start of the innermost loop around it whose every iteration runs the call.
    pub repeated_from: Option<usize>,
}

/// What a walk notes of the structure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Structure {
    /// Bodies, in the order of the text.
    pub bodies: Vec<Body>,
    /// Loops and branches, in the order of the text.
    pub regions: Vec<Region>,
    /// Calls. Empty behind the walk: statements have them then.
    pub calls: Vec<CallNote>,
    /// For each trait that types derive, the types in their fields.
    pub derived: BTreeMap<String, BTreeSet<String>>,
    /// Interrupts that run a task, with the priorities that attributes give them.
    pub priorities: BTreeMap<String, BTreeSet<u8>>,
}

impl Structure {
    /// Adds what another walk noted.
    pub fn extend(&mut self, other: Structure) {
        self.bodies.extend(other.bodies);
        self.regions.extend(other.regions);
        self.calls.extend(other.calls);
        for (of_trait, types) in other.derived {
            self.derived.entry(of_trait).or_default().extend(types);
        }
        for (interrupt, priorities) in other.priorities {
            self.priorities.entry(interrupt).or_default().extend(priorities);
        }
    }

    /// The derived traits, as the map lists them. A trait whose deriving types name no type is left out.
    pub fn derived_traits(&self) -> String {
        let filled = self.derived.iter().filter(|(_, types)| !types.is_empty());
        let list = |(of_trait, types): (&String, &BTreeSet<String>)| {
            let types: Vec<&str> = types.iter().map(String::as_str).collect();
            format!("{of_trait}:{}", types.join(","))
        };
        filled.map(list).collect::<Vec<_>>().join(" ")
    }

    /// The priorities, as the map lists them.
    pub fn listed_priorities(&self) -> String {
        let list = |(interrupt, priorities): (&String, &BTreeSet<u8>)| {
            priorities.iter().map(|priority| format!("{interrupt}:{priority}")).collect::<Vec<_>>()
        };
        self.priorities.iter().flat_map(list).collect::<Vec<_>>().join(" ")
    }

    /// Brings everything into the order of the text. Macro arguments may be walked several times.
    pub fn sort(&mut self) {
        self.bodies.sort_by_key(|body| (body.range.start, std::cmp::Reverse(body.range.end)));
        self.bodies.dedup();
        self.regions.sort_unstable();
        self.regions.dedup();
        self.calls.sort_unstable();
        // Of a call that was noted twice, the note of the loop is kept.
        self.calls.reverse();
        self.calls.dedup_by(|other, kept| (other.at, &other.name) == (kept.at, &kept.name));
        self.calls.reverse();
    }
}
