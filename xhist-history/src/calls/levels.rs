//! Signal handlers and interrupts: what they interrupted waits below them.

use super::stack::CallStack;
use super::structure::StatementId;
use crate::model::Item;

/// What interrupted a thread when it recorded an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Handler {
    /// Signal handlers, one inside the other.
    pub signals: u8,
    /// The number of an interrupt; 0 for none.
    pub interrupt: u16,
}

impl Handler {
    /// Of an item.
    pub fn of(item: &Item) -> Handler {
        Handler { signals: item.handlers, interrupt: item.interrupt }
    }

    /// Of an item, where each interrupt has a stack of its own.
    pub fn of_signals(item: &Item) -> Handler {
        Handler { interrupt: 0, ..Handler::of(item) }
    }

    /// Whether something interrupted the thread.
    pub fn is_any(self) -> bool {
        self != Handler::default()
    }
}

impl CallStack {
    /// The newest statement of a handler, or of what it interrupts if it has none so far.
    pub fn newest(&self, handler: Handler) -> Option<StatementId> {
        let depth = self.floors.get(self.level_of(handler)).copied().unwrap_or(self.slots.len());
        self.slots.get(depth.checked_sub(1)?).map(|slot| slot.activation.statement)
    }

    /// What comes next was recorded in this handler. What it interrupted waits below it; handlers that are over are left.
    pub(super) fn go_to(&mut self, handler: Handler) {
        let level = self.level_of(handler);
        if handler.signals == 0 && level > self.interrupts.len() {
            self.interrupts.push(handler.interrupt);
        }
        self.interrupts.truncate(level);
        while self.floors.len() > level {
            let Some(floor) = self.floors.pop() else { break };
            self.leave_above(floor, false);
        }
        self.floors.resize(level, self.slots.len());
    }

    /// How many handlers run, one inside the other, while this one does.
    fn level_of(&self, Handler { signals, interrupt }: Handler) -> usize {
        match (signals, interrupt) {
            (0, 0) => 0,
            (0, interrupt) => {
                let known = self.interrupts.iter().position(|known| *known == interrupt);
                known.unwrap_or(self.interrupts.len()) + 1
            }
            (signals, _) => usize::from(signals),
        }
    }

    /// The depth below which everything waits for a handler to end.
    pub(super) fn floor(&self) -> usize {
        self.floors.last().copied().unwrap_or(0)
    }
}
