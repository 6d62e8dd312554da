//! Which request is being answered, and which ones the client has taken back.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// Requests that were taken back before their turn, at most. Those before them are answered.
const MOST: usize = 64;

/// What the thread that reads requests and the one that answers them share.
#[derive(Debug, Default)]
pub struct Requests {
    state: Mutex<RequestState>,
}

#[derive(Debug, Default)]
struct RequestState {
    /// The request that is being answered.
    current: Option<Value>,
    is_cancelled: bool,
    /// Requests that were taken back while another was being answered.
    others: VecDeque<Value>,
}

impl Requests {
    fn state(&self) -> MutexGuard<'_, RequestState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client needs no answer to the request with this id.
    pub(super) fn cancel(&self, id: Value) {
        let mut state = self.state();
        if state.current.as_ref() == Some(&id) {
            state.is_cancelled = true;
        } else if state.current.is_some() {
            state.others.push_back(id);
            if state.others.len() > MOST {
                state.others.pop_front();
            }
        }
    }

    /// The turn of a request. False: it was taken back.
    pub(super) fn begin(&self, id: Option<&Value>) -> bool {
        let mut state = self.state();
        state.is_cancelled = false;
        state.current = Some(id.cloned().unwrap_or_default());
        let known = id.and_then(|id| state.others.iter().position(|other| other == id));
        known.map(|at| state.others.remove(at)).is_none()
    }

    /// The request is answered. False: it was taken back meanwhile.
    pub(super) fn end(&self) -> bool {
        let mut state = self.state();
        state.current = None;
        !state.is_cancelled
    }

    /// Whether the request that is being answered was taken back.
    pub(super) fn is_cancelled(&self) -> bool {
        self.state().is_cancelled
    }
}
