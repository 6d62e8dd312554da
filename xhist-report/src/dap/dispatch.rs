//! Answers messages: finds the row of each request, and looks at what other threads did meanwhile.

use serde_json::{Value, json};

use super::loading::LoadEnd;
use super::message::{DapError, DapRequest, Outgoing, Reply, short};
use super::requests::{RequestRun, row};
use super::session::{DapSession, Phase};
use xhist_history::ExitCode;
use xhist_history::notes::typed;
use xhist_history::recording::SharedRecording;

impl DapSession {
    /// Answers the bytes of a message.
    pub fn handle(&mut self, bytes: &[u8]) -> Vec<Value> {
        match serde_json::from_slice::<DapRequest>(bytes) {
            Ok(request) if request.kind == "request" => self.request(request),
            Ok(_) => Vec::new(),
            Err(error) => {
                // Without its number there is nothing to respond to.
                let text =
                    format!("a message is not a request of the protocol: {}\n", short(&error.to_string()));
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
            notes.lines().map(|line| line.strip_prefix(typed::prefix()).unwrap_or(line)).collect();
        let text = if text.is_empty() { "nothing was recorded".to_owned() } else { text.join("\n") };
        match self.opening.take().filter(|_| is_opening) {
            Some((seq, command)) => self.send(Outgoing::Response(seq, command, Err(DapError(text)))),
            None => self.event("output", &json!({"category": "important", "output": format!("{text}\n")})),
        }
    }
}
