//! The front-end port: what QUTest, QView and the like ask of a host, and what they are sent. Section "UDP front-end protocol" of QS. Packets in,
//! packets out; it must not know sockets, and is ready for any bytes.

mod tap;

use std::time::{Duration, Instant};

use qs_core::rx::id;

use crate::qs::{Class, Known, Request};
use crate::qspy::Beside;
pub use tap::{BINARY, Tap, Tapped};

/// The UDP port, as QSPY has it.
pub const PORT: u16 = 7701;

/// Ids of packets that are for the host; those below are for the target.
pub(crate) mod of {
    pub const ATTACH: u8 = 128;
    pub const DETACH: u8 = 129;
    pub const SAVE_DICTIONARIES: u8 = 130;
    pub const TEXT_FILE: u8 = 131;
    pub const BINARY_FILE: u8 = 132;
    pub const MATLAB_FILE: u8 = 133;
    pub const SEQUENCE_FILE: u8 = 134;
    pub const EVENT: u8 = 135;
    pub const AO_FILTER: u8 = 136;
    pub const CURRENT_OBJECT: u8 = 137;
    pub const COMMAND: u8 = 138;
    pub const TEST_PROBE: u8 = 139;
    pub const CLEAR_SCREEN: u8 = 140;
    pub const NOTE: u8 = 141;
}

/// A front-end that says nothing for this long gives its place to the next one that attaches.
pub const SILENCE: Duration = Duration::from_secs(30);
/// A note of a test and not of the user.
const TEST_NOTE: u8 = 0xFF;
/// Longest note that is shown, as lines are cut.
const MAX_NOTE: usize = 991;

/// What a packet asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To be sent to the target.
    Send(Request),
    /// The host shall end.
    Exit,
    /// All names into the dictionary file.
    SaveDictionaries,
    /// A file shall be written from now on, or no longer, or the other way round.
    Write(Beside, Option<bool>),
    /// The screen shall be cleared.
    ClearScreen,
}

/// What comes of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// To be sent back.
    pub reply: Option<Vec<u8>>,
    /// To be shown.
    pub line: Option<(Class, Vec<u8>)>,
    /// To be done.
    pub wish: Option<Wish>,
}

impl Answer {
    fn line(class: Class, line: impl Into<Vec<u8>>) -> Answer {
        Answer { line: Some((class, line.into())), ..Answer::default() }
    }

    fn wish(wish: Wish) -> Answer {
        Answer { wish: Some(wish), ..Answer::default() }
    }

    fn send(request: Request) -> Answer {
        Answer::wish(Wish::Send(request))
    }

    fn unknown(dictionary: &str, name: &[u8]) -> Answer {
        let mut line =
            format!("   <F-END> ERROR    {dictionary} Dictionary not found for Name=").into_bytes();
        line.extend_from_slice(name);
        Answer::line(Class::Error, line)
    }
}

/// What a host knows of its front-end, one at a time.
#[derive(Clone, Debug, Default)]
pub struct FrontEnd {
    /// The caller that attached.
    owner: Option<usize>,
    is_attached: bool,
    /// When it said something last.
    heard: Option<Instant>,
    /// Sequence numbers, of what came last and of what was sent last.
    came: u8,
    sent: u8,
    /// The state machine that names of signals are looked up for.
    machine: u64,
}

/// The fields of a packet, one after another.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A number; what is missing of it is zero.
    fn number(&mut self, len: usize) -> u64 {
        self.take(len).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).first().copied()
    }

    fn name(&mut self) -> &'a [u8] {
        let len = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        self.take(len)
    }
}

impl FrontEnd {
    /// Whether there is one.
    pub fn owner(&self) -> Option<usize> {
        self.owner
    }

    /// Takes the port from its owner when this packet attaches another caller, and the owner is gone or silent. Returns the old owner
    /// and the packet to send it.
    pub fn give_up(
        &mut self,
        from: usize,
        packet: &[u8],
        is_gone: impl FnOnce(usize) -> bool,
        tap: &mut Tap,
    ) -> Option<(usize, Vec<u8>)> {
        let owner = self.owner.filter(|owner| *owner != from)?;
        let attaches = matches!(packet, [_, of::ATTACH, ..]);
        let is_silent = self.heard.is_none_or(|heard| heard.elapsed() >= SILENCE);
        if !(attaches && (is_silent || is_gone(owner))) {
            return None;
        }
        let farewell = vec![self.next(), of::DETACH];
        self.forget(tap);
        Some((owner, farewell))
    }

    /// Takes a packet. Until a front-end attaches, packets of any caller are carried out.
    pub fn packet(&mut self, from: usize, packet: &[u8], known: &Known, tap: &mut Tap) -> Vec<Answer> {
        let [seq, id, ref payload @ ..] = *packet else { return Vec::new() };
        if self.owner.is_some_and(|owner| owner != from) {
            return vec![Answer::line(Class::Error, "   <F-END> WARN     UDP socket in use")];
        }
        if id == of::ATTACH {
            self.owner = Some(from);
        }
        self.heard = Some(Instant::now());
        let mut answers = Vec::new();
        let expected = self.came.wrapping_add(1);
        // Numbers start with the packet that attaches.
        if self.owner.is_some() && seq != expected && id != of::ATTACH {
            let line = format!("   <F-END> ERROR    Data Discontinuity Seq={expected}->{seq}");
            answers.push(Answer::line(Class::Error, line));
        }
        self.came = seq;
        answers.push(self.carry_out(id, &mut Rest(payload), known, tap));
        answers
    }

    /// It has gone, or can no longer be reached.
    pub fn forget(&mut self, tap: &mut Tap) {
        *self = FrontEnd::default();
        tap.channels = 0;
    }

    /// What is sent when the host ends.
    pub fn farewell(&mut self) -> Option<Vec<u8>> {
        self.owner.is_some().then(|| vec![self.next(), of::DETACH])
    }

    /// A packet of what the target sent.
    pub fn forwarded(&mut self, tapped: Tapped) -> Vec<u8> {
        match tapped {
            Tapped::Binary(record) => record,
            Tapped::Text(id, text) => [&[self.next(), 0, id], &text[..]].concat(),
        }
    }

    fn next(&mut self) -> u8 {
        self.sent = self.sent.wrapping_add(1);
        self.sent
    }

    fn carry_out(&mut self, id: u8, rest: &mut Rest<'_>, known: &Known, tap: &mut Tap) -> Answer {
        match id {
            0..=127 => Answer::send(Request { id, payload: rest.0.to_vec() }),
            of::ATTACH => self.attach(rest.byte(), tap),
            of::DETACH => self.detach(rest.byte().is_some(), tap),
            of::SAVE_DICTIONARIES => Answer::wish(Wish::SaveDictionaries),
            of::TEXT_FILE => Answer::write(Beside::Text, rest),
            of::BINARY_FILE => Answer::write(Beside::Binary, rest),
            of::MATLAB_FILE => Answer::write(Beside::Matlab, rest),
            of::SEQUENCE_FILE => Answer::write(Beside::Sequence, rest),
            of::EVENT => self.event(rest, known),
            of::AO_FILTER | of::CURRENT_OBJECT => self.object(id, rest, known),
            of::COMMAND => {
                rest.take(1);
                let params = std::array::from_fn(|_| rest.number(4) as u32);
                let name = rest.name();
                match known.command_named(name) {
                    Some(command) => Answer::send(Request::command(command, params)),
                    None => Answer::unknown("Command", name),
                }
            }
            of::TEST_PROBE => {
                let data = rest.number(4) as u32;
                rest.take(known.target.sizes.fun.into());
                let name = rest.name();
                match known.functions.key_of(name) {
                    Some(function) => Answer::send(Request::probe(data, function, known)),
                    None => Answer::unknown("Function", name),
                }
            }
            of::CLEAR_SCREEN => Answer::wish(Wish::ClearScreen),
            of::NOTE => {
                let class = if rest.byte() == Some(TEST_NOTE) { Class::TestNote } else { Class::UserNote };
                let text = rest.name();
                Answer::line(class, &text[..text.len().min(MAX_NOTE)])
            }
            id => Answer::line(Class::Error, format!("   <F-END> ERROR    Unrecognized command Rec={id}")),
        }
    }

    fn attach(&mut self, channels: Option<u8>, tap: &mut Tap) -> Answer {
        let channels = channels.unwrap_or(1);
        tap.channels = channels;
        self.sent = 1;
        let is_new = !std::mem::replace(&mut self.is_attached, true);
        let line =
            is_new.then(|| (Class::Info, format!("   <F-END> Attached Chan={channels:08b}").into_bytes()));
        Answer { reply: Some(vec![self.sent, of::ATTACH]), line, wish: None }
    }

    fn detach(&mut self, to_exit: bool, tap: &mut Tap) -> Answer {
        let (what, marks, wish) = match to_exit {
            true => ("Forced EXIT", 35, Some(Wish::Exit)),
            false => ("Detached", 38, None),
        };
        if !to_exit {
            self.forget(tap);
        }
        let line = format!("   <F-END> {what} {}", "#".repeat(marks));
        Answer { reply: None, line: Some((Class::Info, line.into_bytes())), wish }
    }

    fn event(&self, rest: &mut Rest<'_>, known: &Known) -> Answer {
        let prio = rest.byte().unwrap_or(0);
        rest.take(known.target.sizes.sig.into());
        let len = rest.number(2) as usize;
        let params = rest.take(len);
        let name = rest.name();
        match known.signal_named(name, self.machine) {
            Some(signal) => Answer::send(Request::event(prio, signal, params, known)),
            None => Answer::unknown("Signal", name),
        }
    }

    fn object(&mut self, packet: u8, rest: &mut Rest<'_>, known: &Known) -> Answer {
        let kind = rest.byte().unwrap_or(0);
        rest.take(known.target.sizes.obj.into());
        let name = rest.name();
        let Some(object) = known.objects.key_of(name) else { return Answer::unknown("Object", name) };
        if packet == of::CURRENT_OBJECT && [0, 1, 6].contains(&kind) {
            self.machine = object;
        }
        let id = if packet == of::AO_FILTER { id::AO_FILTER } else { id::CURRENT_OBJECT };
        Answer::send(Request::object(id, kind, object, known))
    }
}

impl Answer {
    fn write(output: Beside, rest: &mut Rest<'_>) -> Answer {
        let wanted = match rest.byte() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        };
        Answer::wish(Wish::Write(output, wanted))
    }
}

#[cfg(test)]
mod tests;
