//! The state of a session: where in the history the client is, and what is sent to it.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::handles::{Handles, thread_id};
use super::launch::LaunchArgs;
use super::loading::{Loading, Opener};
use super::look::ClientLook;
use super::message::Outgoing;
use super::patience::Patience;
use super::points::Points;
use xhist_history::recording::{LaneId, Recording, StackFrame, StepId};

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No history is open.
    New,
    /// A history is being read.
    Loading,
    /// The client may set breakpoints.
    Configuring,
    /// The session is stopped at a step.
    Stopped,
    /// The session waits for what the program records next.
    Running,
    /// The client has left.
    Over,
}

/// A session with one client.
pub struct DapSession {
    pub(super) opener: Opener,
    pub(super) look: ClientLook,
    pub(super) launch: LaunchArgs,
    pub(super) loading: Option<Loading>,
    pub(super) phase: Phase,
    /// Nothing more will come.
    pub(super) is_complete: bool,
    pub(super) at: StepId,
    /// The thread of that step.
    thread: i32,
    pub(super) handles: Handles,
    pub(super) stacks: HashMap<LaneId, Rc<[StackFrame]>>,
    pub(super) points: Points,
    /// The request that opened the history, as long as it has no response.
    pub(super) opening: Option<(i64, String)>,
    interrupted: Arc<AtomicBool>,
    /// What follows the response to the current request.
    pub(super) later: Vec<Outgoing>,
    /// The number of the newest message.
    pub(super) seq: i64,
}

impl DapSession {
    /// A session that opens histories this way.
    pub fn new(opener: &Opener) -> DapSession {
        DapSession {
            opener: Rc::clone(opener),
            look: ClientLook::default(),
            launch: LaunchArgs::default(),
            loading: None,
            phase: Phase::New,
            is_complete: false,
            at: StepId(0),
            thread: 1,
            handles: Handles::default(),
            stacks: HashMap::new(),
            points: Points::default(),
            opening: None,
            interrupted: Arc::default(),
            later: Vec::new(),
            seq: 0,
        }
    }

    /// Whatever sets this ends a search through the history.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupted)
    }

    /// For a search that may take long.
    pub(super) fn patience(&self) -> Patience {
        Patience::new(self.interrupt())
    }

    /// A search may go on again.
    pub(super) fn clear_interrupt(&self) {
        self.interrupted.store(false, Ordering::Relaxed);
    }

    /// Whether the client has left.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether [`DapSession::tick`] has something to do before the next message.
    pub fn wants_ticks(&self) -> bool {
        self.phase == Phase::Loading || self.loading.is_some() && !self.is_complete
    }

    /// Sends this behind the response to the current request.
    pub(super) fn send(&mut self, message: Outgoing) {
        self.later.push(message);
    }

    /// Sends an event.
    pub(super) fn event(&mut self, event: &'static str, body: &impl serde::Serialize) {
        self.send(Outgoing::Event(event, serde_json::to_value(body).unwrap_or_default()));
    }

    /// How much is sent so far.
    pub(super) fn sent(&self) -> usize {
        self.later.len()
    }

    /// Says that the session went on since then, for requests from which a client does not conclude it. nvim-dap answers a stop
    /// at a stop with `continue`.
    pub(super) fn announce_move(&mut self, sent: usize) {
        let stop =
            self.later.iter().skip(sent).position(|event| matches!(event, Outgoing::Event("stopped", _)));
        if stop.is_some() || self.phase == Phase::Running {
            let body = json!({"threadId": self.thread, "allThreadsContinued": true});
            self.later.insert(sent + stop.unwrap_or_default(), Outgoing::Event("continued", body));
        }
    }

    /// Responds to the request that opened the history.
    pub(super) fn respond_to_opening(&mut self) {
        if let Some((seq, command)) = self.opening.take() {
            self.send(Outgoing::Response(seq, command, Ok(Value::Null)));
        }
    }

    /// Moves to a step: everything of the stop before is forgotten.
    pub(super) fn move_to(&mut self, recording: &Recording, step: StepId) {
        self.at = recording.last().map_or(step, |last| step.min(last));
        self.thread = thread_id(recording.lane_of(self.at));
        self.handles.clear();
        self.stacks.clear();
        self.phase = Phase::Stopped;
    }
}
