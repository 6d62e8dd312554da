//! Signal handlers and interrupts: what they interrupted waits below them.

use super::activation::Moves;
use super::stack::CallStack;

impl CallStack<'_> {
    /// What comes next was recorded in this number of signal handlers, one inside the other, or in this interrupt. What it
    /// interrupted waits below it; handlers that are over are left.
    pub fn interrupted(&mut self, handlers: u8, interrupt: u16) -> &Moves {
        self.moves.clear();
        let level = match (handlers, interrupt) {
            (0, 0) => 0,
            (0, interrupt) => {
                let known = self.interrupts.iter().position(|known| *known == interrupt);
                known.unwrap_or_else(|| {
                    self.interrupts.push(interrupt);
                    self.interrupts.len() - 1
                }) + 1
            }
            (handlers, _) => usize::from(handlers),
        };
        self.interrupts.truncate(level);
        while self.floors.len() > level {
            let Some(floor) = self.floors.pop() else { break };
            self.leave_above(floor, false);
        }
        self.floors.resize(level, self.slots.len());
        &self.moves
    }

    /// The depth below which everything waits for a handler to end.
    pub(super) fn floor(&self) -> usize {
        self.floors.last().copied().unwrap_or(0)
    }
}
