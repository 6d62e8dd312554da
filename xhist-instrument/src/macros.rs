//! The `macro_rules!` definitions of a program, by name: they tell which arguments of a call are plain code.

use std::collections::{HashMap, HashSet};

/// Definitions found in any number of texts.
#[derive(Clone, Debug, Default)]
pub struct Macros {
    by_name: HashMap<Box<str>, Vec<Box<str>>>,
    /// Those that other crates may import.
    exported: HashSet<Box<str>>,
}

impl Macros {
    /// Adds the definitions of one source text. What is not Rust adds nothing.
    pub fn add(&mut self, text: &[u8]) {
        let Ok(text) = str::from_utf8(text) else { return };
        for crate::text::MacroDefinition { name, rules, exported } in crate::text::macro_definitions(text) {
            if exported {
                self.exported.insert(name.into());
            }
            let known = self.by_name.entry(name.into()).or_default();
            if !known.iter().any(|known| **known == *rules) {
                known.push(rules.into());
            }
        }
    }

    /// Together with those of another collection.
    #[must_use]
    pub fn merged(mut self, other: Macros) -> Macros {
        for (name, rules) in other.by_name {
            let known = self.by_name.entry(name).or_default();
            for rules in rules {
                if !known.contains(&rules) {
                    known.push(rules);
                }
            }
        }
        self.exported.extend(other.exported);
        self
    }

    /// Whether a macro of this name may be imported from another crate of the program.
    pub(crate) fn is_exported(&self, name: &str) -> bool {
        self.exported.contains(name)
    }

    /// The rules of every macro of this name, as text.
    pub(crate) fn named(&self, name: &str) -> &[Box<str>] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}
