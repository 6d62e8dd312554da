//! Numbers for the things of one stop. They die when the session moves on.

use std::collections::HashMap;

use super::message::DapError;
use xhist_history::recording::{LaneId, StepId};

/// The id of a thread.
pub fn thread_id(lane: LaneId) -> i32 {
    i32::try_from(lane.0).unwrap_or(i32::MAX - 1) + 1
}

/// Things of one stop at most.
const MAX_HANDLES: usize = 1 << 20;
/// Numbers stay below 2^31; here they begin again.
const WRAP: i32 = 1 << 30;

/// Something that the client names by a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    /// A call on the stack of a lane, by its place from the innermost.
    Frame(LaneId, usize),
    /// A group of variables of such a call.
    Scope(LaneId, usize, ScopeKind),
    /// A step to go to.
    Target(StepId),
}

/// The groups of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScopeKind {
    /// Parameters.
    Arguments,
    /// Other names.
    Locals,
    /// What the recording knows of the step.
    Step,
}

/// The numbers of one stop.
#[derive(Debug)]
pub struct Handles {
    first: i32,
    things: Vec<Handle>,
    numbers: HashMap<Handle, i32>,
}

impl Default for Handles {
    fn default() -> Handles {
        Handles { first: 1, things: Vec::new(), numbers: HashMap::new() }
    }
}

impl Handles {
    /// Forgets all; the next numbers are new ones.
    pub fn clear(&mut self) {
        self.first += self.things.len() as i32;
        if self.first > WRAP {
            self.first = 1;
        }
        self.things.clear();
        self.numbers.clear();
    }

    /// The number of a thing.
    ///
    /// # Errors
    /// There are too many.
    pub fn number(&mut self, thing: Handle) -> Result<i32, DapError> {
        if let Some(number) = self.numbers.get(&thing) {
            return Ok(*number);
        }
        if self.things.len() >= MAX_HANDLES {
            return Err(DapError::new("too many frames and targets at one step; step to forget them"));
        }
        let number = self.first + self.things.len() as i32;
        self.things.push(thing);
        self.numbers.insert(thing, number);
        Ok(number)
    }

    /// The thing with a number.
    pub fn get(&self, number: i64) -> Option<Handle> {
        let place = number.checked_sub(i64::from(self.first))?;
        self.things.get(usize::try_from(place).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_die_at_the_next_stop() {
        let mut handles = Handles::default();
        let thing = Handle::Frame(LaneId(0), 0);
        let number = handles.number(thing).unwrap();
        assert_eq!((handles.number(thing).unwrap(), handles.get(number.into())), (number, Some(thing)));
        handles.clear();
        assert_eq!(handles.get(number.into()), None);
        assert_ne!(handles.number(thing).unwrap(), number);
        assert_eq!((handles.get(i64::MIN), handles.get(i64::MAX)), (None, None));
    }
}
