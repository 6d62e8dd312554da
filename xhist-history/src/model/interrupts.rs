//! Names of a core's interrupts.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Names by number, and priorities by name; empty where no program has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterruptNames(Arc<Known>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    /// `None` where programs differ.
    names: BTreeMap<u16, Option<String>>,
    priorities: BTreeMap<String, u8>,
}

impl InterruptNames {
    /// Takes numbers with their names.
    pub fn new(names: BTreeMap<u16, String>) -> InterruptNames {
        InterruptNames::with_priorities(names, BTreeMap::new())
    }

    /// The same, with the priorities that the program's source gives to names.
    pub fn with_priorities(names: BTreeMap<u16, String>, priorities: BTreeMap<String, u8>) -> InterruptNames {
        let names = names.into_iter().map(|(number, name)| (number, Some(name))).collect();
        InterruptNames(Arc::new(Known { names, priorities }))
    }

    /// The name of an interrupt, if it is known.
    pub fn name(&self, interrupt: u16) -> Option<&str> {
        self.0.names.get(&interrupt)?.as_deref()
    }

    /// With those of another program of the same build, whose priorities are the same: a number with two names has none.
    #[must_use]
    pub fn agreed(&self, other: &InterruptNames) -> InterruptNames {
        let mut names = self.0.names.clone();
        for (number, name) in &other.0.names {
            let known = names.entry(*number).or_insert_with(|| name.clone());
            *known = known.take().filter(|known| Some(known) == name.as_ref());
        }
        InterruptNames(Arc::new(Known { names, priorities: self.0.priorities.clone() }))
    }

    /// Its priority, if the program's source gives one.
    pub fn priority(&self, interrupt: u16) -> Option<u8> {
        self.0.priorities.get(self.name(interrupt)?).copied()
    }

    /// `interrupt 30 UART0, priority 2`, as much of it as is known.
    pub fn text_with_priority(&self, interrupt: u16) -> String {
        let priority = self.priority(interrupt).map(|priority| format!(", priority {priority}"));
        self.text(interrupt) + &priority.unwrap_or_default()
    }

    /// `interrupt 30 UART0`, or `interrupt 30`.
    pub fn text(&self, interrupt: u16) -> String {
        match self.name(interrupt) {
            Some(name) => format!("interrupt {interrupt} {name}"),
            None => format!("interrupt {interrupt}"),
        }
    }
}
