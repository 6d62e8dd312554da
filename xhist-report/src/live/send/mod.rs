//! `xhist-report send`: sends a command to a target and prints the answer.

mod args;
mod error;
mod wire;

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use qs_core::record::{PeekData, QueryData, Record, RxStatus, TargetDone, TargetInfo};
use qs_core::rx::{fault, id};

pub use args::SendArgs;
use args::SendCommand;
use error::SendError;
use wire::Wire;

use qs_host::{DecodedRecord, LineFormatter, Listener, Request, StreamEvent, TargetSymbols};
use xhist_history::ExitCode;
use xhist_history::model::visible;
use xhist_history::notes::Notes;

/// This bit of a status means that the target refused.
const REFUSED: u8 = 0x80;
/// The target counted packets of an earlier sender; it still accepts this one.
const OUT_OF_SEQUENCE: u8 = REFUSED | fault::SEQUENCE;
/// How long to wait for the end of an acknowledged command. A longer one goes on without us.
const SOON: Duration = Duration::from_millis(500);

/// Sends a command and prints the answer.
pub fn run(args: &SendArgs, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let checked = args.what.check();
    if let (Ok(()), Some(warning)) = (&checked, args.what.warning()) {
        notes.note(format_args!("{warning}"));
    }
    let wire =
        checked.map_err(SendError::Command).and_then(|()| Wire::open(&args.link, args.target.target()));
    let sent = wire.and_then(|wire| Sender { wire, timeout: args.timeout() }.send(&args.what, out, notes));
    match sent {
        Ok(()) => ExitCode::Complete,
        Err(error) if error.is_usage() => {
            notes.error(format_args!("{error}"));
            ExitCode::Usage
        }
        Err(error) => {
            notes.error(format_args!("{}: {error}", args.link));
            ExitCode::Incomplete
        }
    }
}

struct Sender {
    wire: Wire,
    timeout: Duration,
}

/// The answers of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Info,
    Acknowledged,
    Done,
    Data,
    Refused,
}

impl Sender {
    fn send(
        &mut self,
        what: &SendCommand,
        out: &mut dyn Write,
        notes: &mut Notes<'_>,
    ) -> Result<(), SendError> {
        let connected = self.wire.connect(Instant::now() + self.timeout, notes);
        connected?;
        if what.needs_target() {
            self.learn(what)?;
        } else if what.needs_sizes() && !self.ask()? {
            notes.note(format_args!(
                "the target does not say what it is: no answer to `info`; its answer is read with the sizes given by -T, -O and \
                 the others"
            ));
        }
        let request = what.request(self.wire.known())?;
        self.wire.send(&request)?;
        let awaited = match request.id {
            id::INFO => Answer::Info,
            id::PEEK | id::QUERY_CURRENT => Answer::Data,
            id::RESET => return self.await_reset(out),
            _ => Answer::Acknowledged,
        };
        self.wait(&request, awaited, self.timeout, out)?.then_some(()).ok_or(SendError::NoAnswer)?;
        if matches!(request.id, id::COMMAND | id::TICK | id::EVENT) {
            self.wait(&request, Answer::Done, SOON.min(self.timeout), out)?;
        }
        Ok(())
    }

    /// Asks for the names of the target, and waits for the one that the command needs.
    fn learn(&mut self, what: &SendCommand) -> Result<(), SendError> {
        if !self.ask()? {
            return Err(SendError::NoNames);
        }
        // Names follow the answer. A target that sends much may take a while to send the last one.
        let end = Instant::now() + self.timeout;
        let mut silent = Instant::now();
        while what.request(self.wire.known()).is_err() && Instant::now() < end && silent.elapsed() < SOON {
            if self.wire.take(Duration::from_millis(20), &mut ())? {
                silent = Instant::now();
            }
        }
        Ok(())
    }

    /// Asks the target for its target info, which has its sizes. Returns whether it answered.
    fn ask(&mut self) -> Result<bool, SendError> {
        let ask = Request::bare(id::INFO);
        self.wire.send(&ask)?;
        self.wait(&ask, Answer::Info, self.timeout, &mut io::sink())
    }

    /// Waits for the answer to a packet. Returns whether it came in time.
    fn wait(
        &mut self,
        request: &Request,
        awaited: Answer,
        within: Duration,
        out: &mut dyn Write,
    ) -> Result<bool, SendError> {
        let end = Instant::now() + within;
        let mut answers =
            Answers { id: request.id, text: LineFormatter::default(), awaited, got: None, lines: Vec::new() };
        while answers.got.is_none() && Instant::now() < end {
            self.wire.take(Duration::from_millis(20), &mut answers)?;
        }
        out.write_all(&answers.lines)?;
        out.flush()?;
        match answers.got {
            Some(Answer::Refused) => Err(SendError::Refused),
            got => Ok(got.is_some()),
        }
    }

    /// Waits for a reset: the target closes the link or starts a new session.
    fn await_reset(&mut self, out: &mut dyn Write) -> Result<(), SendError> {
        let reset = Request::bare(id::RESET);
        match self.wait(&reset, Answer::Info, self.timeout, out) {
            Ok(true) => Ok(()),
            Err(error) if !error.is_usage() && self.wire.is_lost() => Ok(()),
            Ok(false) => Err(SendError::NoReset),
            Err(error) => Err(error),
        }
    }
}

/// Picks the answers to one packet.
struct Answers {
    id: u8,
    text: LineFormatter,
    awaited: Answer,
    got: Option<Answer>,
    lines: Vec<u8>,
}

impl Answers {
    fn meaning(&self, record: &DecodedRecord<'_>) -> Option<Answer> {
        let first = record.values[0] as u8;
        match record.id() {
            TargetInfo::ID => Some(Answer::Info),
            RxStatus::ID if first == self.id => Some(Answer::Acknowledged),
            RxStatus::ID if first == OUT_OF_SEQUENCE => None,
            RxStatus::ID if first & REFUSED != 0 => Some(Answer::Refused),
            TargetDone::ID if first == self.id => Some(Answer::Done),
            PeekData::ID if self.id == id::PEEK => Some(Answer::Data),
            QueryData::ID if self.id == id::QUERY_CURRENT => Some(Answer::Data),
            _ => None,
        }
    }
}

impl Listener for Answers {
    fn event(&mut self, event: StreamEvent<'_>, known: &mut TargetSymbols) {
        let StreamEvent::Record(record) = event else { return };
        let Some(answer) = self.meaning(record).filter(|_| self.got.is_none()) else { return };
        if answer != self.awaited && answer != Answer::Refused {
            return;
        }
        self.got = Some(answer);
        let lines = &mut self.lines;
        let is_terminal = io::stdout().is_terminal();
        let mut put = |_: qs_host::LineClass, line: &[u8]| {
            match is_terminal {
                true => lines.extend_from_slice(visible(&String::from_utf8_lossy(line)).as_bytes()),
                false => lines.extend_from_slice(line),
            }
            lines.push(b'\n');
        };
        self.text.record(record, known, &mut put);
    }
}
