//! A session: takes requests, answers them, and knows where in the history the client stands.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::handles::Handles;
use super::launch::LaunchArgs;
use super::loading::{LoadEnd, Loading, Opener};
use super::message::{DapError, DapRequest, Outgoing, Reply, short};
use super::patience::Patience;
use super::points::Points;
use super::requests::{RequestRun, row};
use super::sources::ClientLook;
use super::stops::thread_id;
use crate::exit_code::ExitCode;
use crate::recording::{LaneId, Recording, SharedRecording, StackFrame, StepId};

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No history is open.
    New,
    /// A history is being read.
    Loading,
    /// The client may set breakpoints.
    Configuring,
    /// The session stands at a step.
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
    later: Vec<Outgoing>,
    seq: i64,
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

    /// Answers the bytes of a message.
    pub fn handle(&mut self, bytes: &[u8]) -> Vec<Value> {
        match serde_json::from_slice::<DapRequest>(bytes) {
            Ok(request) if request.kind == "request" => self.request(request),
            Ok(_) => Vec::new(),
            Err(error) => {
                // Without its number there is nothing to respond to.
                let text =
                    format!("a message is no request of the protocol: {}\n", short(&error.to_string()));
                self.event("output", &json!({"category": "important", "output": text}));
                self.numbered(None)
            }
        }
    }

    fn request(&mut self, request: DapRequest) -> Vec<Value> {
        let DapRequest { seq, command, arguments, .. } = request;
        let reply = match row(&command).map(|row| row.run) {
            None => Err(DapError(format!("the request `{}` is not known here", short(&command)))),
            Some(RequestRun::Always(run)) => {
                if matches!(command.as_str(), "launch" | "attach") && self.opening.is_none() {
                    self.opening = Some((seq, command.clone()));
                }
                run(self, arguments)
            }
            Some(RequestRun::OnHistory(run)) => match self.recording() {
                Some(recording) => {
                    let recording = &recording.lock();
                    self.points.grow(recording, &self.look);
                    run(self, recording, arguments)
                }
                None => Err(DapError::new("no history is open yet; send `launch` first")),
            },
        };
        let response = match reply {
            Ok(Reply::Later) => None,
            Ok(Reply::Body(body)) => Some(Outgoing::Response(seq, command, Ok(body))),
            Err(error) => {
                self.opening.take_if(|(opening, _)| *opening == seq);
                Some(Outgoing::Response(seq, command, Err(error)))
            }
        };
        self.numbered(response)
    }

    /// The response and what follows it, with their numbers.
    fn numbered(&mut self, response: Option<Outgoing>) -> Vec<Value> {
        let messages: Vec<Outgoing> = response.into_iter().chain(std::mem::take(&mut self.later)).collect();
        messages
            .into_iter()
            .map(|message| {
                self.seq += 1;
                message.with_number(self.seq)
            })
            .collect()
    }

    /// The recording, once it may be read.
    fn recording(&self) -> Option<SharedRecording> {
        let is_open = !matches!(self.phase, Phase::New | Phase::Loading | Phase::Over);
        self.loading.as_ref().filter(|_| is_open).map(|loading| loading.recording.clone())
    }

    /// Looks at what other threads did meanwhile.
    pub fn tick(&mut self) -> Vec<Value> {
        let Some(loading) = &self.loading else { return Vec::new() };
        let end = if self.is_complete { None } else { loading.end.try_recv().ok() };
        let is_live = loading.is_live;
        let shared = loading.recording.clone();
        if let Some(LoadEnd { code, notes }) = end {
            self.is_complete = true;
            let is_empty = shared.lock().is_empty();
            if code >= ExitCode::Usage || self.phase == Phase::Loading && is_empty {
                self.fail(&notes);
                return self.numbered(None);
            }
            if !notes.is_empty() {
                self.event("output", &json!({"category": "console", "output": notes}));
            }
        }
        let recording = &shared.lock();
        let is_there = self.is_complete || is_live && !recording.is_empty();
        if self.phase == Phase::Loading && is_there {
            self.phase = Phase::Configuring;
            self.send(Outgoing::Event("initialized", json!({})));
        }
        if is_live && matches!(self.phase, Phase::Stopped | Phase::Running) {
            self.points.grow(recording, &self.look);
            self.answer_logpoints(recording);
            if self.phase == Phase::Running {
                self.go_on(recording);
            }
        }
        self.numbered(None)
    }

    /// The history cannot be read.
    fn fail(&mut self, notes: &str) {
        self.loading = None;
        let is_opening = self.phase == Phase::Loading;
        self.phase = Phase::New;
        let text: Vec<&str> =
            notes.lines().map(|line| line.strip_prefix("xhist-report: ").unwrap_or(line)).collect();
        let text = if text.is_empty() { "nothing was recorded".to_owned() } else { text.join("\n") };
        match self.opening.take().filter(|_| is_opening) {
            Some((seq, command)) => self.send(Outgoing::Response(seq, command, Err(DapError(text)))),
            None => self.event("output", &json!({"category": "important", "output": format!("{text}\n")})),
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
