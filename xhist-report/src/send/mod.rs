//! `xhist-report send`: a command to a target, and its answer. It must not know how commands are typed or links work.

mod args;
mod filter;
mod wire;

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use qs_core::record::{PeekData, QueryData, Record, RxStatus, TargetDone, TargetInfo};
use qs_core::rx::{fault, id};

pub use args::SendArgs;
use args::What;
use wire::Wire;

use crate::console::Notes;
use crate::exit_code::ExitCode;
use crate::model::visible;
use crate::qs::{Decoded, Event, Known, Listener, Request, Text};

/// Set in a status that refuses.
const REFUSED: u8 = 0x80;
/// The target has counted packets of an earlier sender; it takes this one all the same.
const OUT_OF_SEQUENCE: u8 = REFUSED | fault::SEQUENCE;
/// An acknowledged command that is not done after this is still going on, and may take as long as it likes.
const SOON: Duration = Duration::from_millis(500);

/// Sends, and prints what comes back.
pub fn run(args: &SendArgs, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let checked = args.what.check();
    if let (Ok(()), Some(warning)) = (&checked, args.what.warning()) {
        notes.note(format_args!("{warning}"));
    }
    let wire = checked.and_then(|()| Wire::open(&args.link, args.target.target()));
    let sent = wire
        .map_err(Failed::Usage)
        .and_then(|wire| Sender { wire, timeout: args.timeout() }.send(&args.what, out, notes));
    match sent {
        Ok(()) => ExitCode::Complete,
        Err(Failed::Usage(why)) => {
            notes.error(format_args!("{why}"));
            ExitCode::Usage
        }
        Err(Failed::Answer(why)) => {
            notes.error(format_args!("{}: {why}", args.link));
            ExitCode::Incomplete
        }
    }
}

/// Why nothing came of it.
pub enum Failed {
    /// It could not even be sent as it was typed.
    Usage(String),
    /// The target said no, or nothing.
    Answer(String),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::Answer(error.to_string())
    }
}

struct Sender {
    wire: Wire,
    timeout: Duration,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Info,
    Acknowledged,
    Done,
    Data,
    Refused,
}

impl Sender {
    fn send(&mut self, what: &What, out: &mut dyn Write, notes: &mut Notes<'_>) -> Result<(), Failed> {
        let connected = self.wire.connect(Instant::now() + self.timeout, notes);
        connected.map_err(Failed::Answer)?;
        if what.needs_target() {
            self.learn(what)?;
        } else if what.needs_sizes() && !self.ask()? {
            notes.note(format_args!(
                "the target does not say what it is: no answer to `info`; its answer is read with the sizes given by -T, -O and \
                 the others"
            ));
        }
        let request = what.request(self.wire.known()).map_err(Failed::Usage)?;
        self.wire.send(&request)?;
        let awaited = match request.id {
            id::INFO => Answer::Info,
            id::PEEK | id::QUERY_CURRENT => Answer::Data,
            id::RESET => return self.await_reset(out),
            _ => Answer::Acknowledged,
        };
        self.wait(&request, awaited, self.timeout, out)?
            .then_some(())
            .ok_or_else(|| Failed::Answer("no answer; is the target's receive channel read?".to_owned()))?;
        if matches!(request.id, id::COMMAND | id::TICK | id::EVENT) {
            self.wait(&request, Answer::Done, SOON.min(self.timeout), out)?;
        }
        Ok(())
    }

    /// Asks for the names of the target, until the one in question is told.
    fn learn(&mut self, what: &What) -> Result<(), Failed> {
        if !self.ask()? {
            return Err(Failed::Answer("the target does not tell its names: no answer to `info`".to_owned()));
        }
        // They follow the answer; a target that sends much may take a while to come to the last.
        let end = Instant::now() + self.timeout;
        let mut silent = Instant::now();
        while what.request(self.wire.known()).is_err() && Instant::now() < end && silent.elapsed() < SOON {
            if self.wire.take(Duration::from_millis(20), &mut Ignore)? {
                silent = Instant::now();
            }
        }
        Ok(())
    }

    /// Asks the target for its target info, which has its sizes. Whether it answers.
    fn ask(&mut self) -> Result<bool, Failed> {
        let ask = Request::bare(id::INFO);
        self.wire.send(&ask)?;
        self.wait(&ask, Answer::Info, self.timeout, &mut io::sink())
    }

    /// Takes records until the answer to a packet comes; whether it came in time.
    fn wait(
        &mut self,
        request: &Request,
        awaited: Answer,
        within: Duration,
        out: &mut dyn Write,
    ) -> Result<bool, Failed> {
        let end = Instant::now() + within;
        let mut answers =
            Answers { id: request.id, text: Text::default(), awaited, got: None, lines: Vec::new() };
        while answers.got.is_none() && Instant::now() < end {
            self.wire.take(Duration::from_millis(20), &mut answers)?;
        }
        out.write_all(&answers.lines)?;
        out.flush()?;
        match answers.got {
            Some(Answer::Refused) => Err(Failed::Answer("the target refused".to_owned())),
            got => Ok(got.is_some()),
        }
    }

    /// A target that does as it is told has gone, or starts a new session.
    fn await_reset(&mut self, out: &mut dyn Write) -> Result<(), Failed> {
        let reset = Request::bare(id::RESET);
        match self.wait(&reset, Answer::Info, self.timeout, out) {
            Ok(true) => Ok(()),
            Err(Failed::Answer(_)) if self.wire.is_lost() => Ok(()),
            Ok(false) => Err(Failed::Answer("no sign of a reset".to_owned())),
            Err(error) => Err(error),
        }
    }
}

/// Nobody wants to know.
struct Ignore;

impl Listener for Ignore {
    fn event(&mut self, _: Event<'_>, _: &mut Known) {}
}

/// Picks the answers to one packet.
struct Answers {
    id: u8,
    text: Text,
    awaited: Answer,
    got: Option<Answer>,
    lines: Vec<u8>,
}

impl Answers {
    fn meaning(&self, record: &Decoded<'_>) -> Option<Answer> {
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
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        let Event::Record(record) = event else { return };
        let Some(answer) = self.meaning(record).filter(|_| self.got.is_none()) else { return };
        if answer != self.awaited && answer != Answer::Refused {
            return;
        }
        self.got = Some(answer);
        let lines = &mut self.lines;
        let is_terminal = io::stdout().is_terminal();
        let mut put = |_: crate::qs::Class, line: &[u8]| {
            match is_terminal {
                true => lines.extend_from_slice(visible(&String::from_utf8_lossy(line)).as_bytes()),
                false => lines.extend_from_slice(line),
            }
            lines.push(b'\n');
        };
        self.text.record(record, known, &mut put);
    }
}
