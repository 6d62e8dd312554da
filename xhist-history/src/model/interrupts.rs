//! Names of a core's interrupts.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Names by number; empty where no program names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterruptNames(Arc<BTreeMap<u16, String>>);

impl InterruptNames {
    /// Takes numbers with their names.
    pub fn new(names: BTreeMap<u16, String>) -> InterruptNames {
        InterruptNames(Arc::new(names))
    }

    /// The name of an interrupt, if it is known.
    pub fn name(&self, interrupt: u16) -> Option<&str> {
        self.0.get(&interrupt).map(String::as_str)
    }

    /// `interrupt 30 UART0`, or `interrupt 30`.
    pub fn text(&self, interrupt: u16) -> String {
        match self.name(interrupt) {
            Some(name) => format!("interrupt {interrupt} {name}"),
            None => format!("interrupt {interrupt}"),
        }
    }
}
