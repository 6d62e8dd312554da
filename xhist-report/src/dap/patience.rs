//! Ends a long search when the client asks for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps of a search between two looks at the client. A shorter search ends as if nothing had been asked: what a client sends ahead
/// does not change its result.
const STRIDE: u32 = 4096;

/// The client has ended the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Counts the steps of a search.
#[derive(Debug)]
pub struct Patience {
    steps: u32,
    stop: Arc<AtomicBool>,
}

impl Patience {
    /// Until this is set.
    pub fn new(stop: Arc<AtomicBool>) -> Patience {
        Patience { steps: 0, stop }
    }

    /// A step of the search.
    ///
    /// # Errors
    /// The client has ended the search.
    pub fn step(&mut self) -> Result<(), Interrupted> {
        self.steps = self.steps.wrapping_add(1);
        let is_over = self.steps.is_multiple_of(STRIDE) && self.stop.load(Ordering::Relaxed);
        if is_over { Err(Interrupted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_search_is_ended() {
        let stop = Arc::new(AtomicBool::new(true));
        let mut patience = Patience::new(Arc::clone(&stop));
        assert_eq!((1..).find(|_| patience.step().is_err()), Some(STRIDE));
        stop.store(false, Ordering::Relaxed);
        assert!((0..3 * STRIDE).all(|_| patience.step().is_ok()));
    }
}
