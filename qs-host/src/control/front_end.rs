//! The protocol of the front-end port: packets of QUTest, QView and other front-ends, and the answers. See section "UDP front-end
//! protocol" of QS. Any bytes may arrive.

use std::time::{Duration, Instant};

use qs_core::rx::id;

pub use super::tap::{BINARY, Tap, Tapped};
use crate::side_file::SideFile;
use crate::{LineClass, Request, TargetSymbols};

/// The UDP port, as QSPY has it.
pub const PORT: u16 = 7701;

/// Ids of packets for the host; lower ids are for the target.
pub mod packet {
    /// A front-end attaches.
    pub const ATTACH: u8 = 128;
    /// It detaches.
    pub const DETACH: u8 = 129;
    /// Write the names of the target to a file.
    pub const SAVE_DICTIONARIES: u8 = 130;
    /// Write the lines to a file, or stop that.
    pub const TEXT_FILE: u8 = 131;
    /// Write the bytes to a file.
    pub const BINARY_FILE: u8 = 132;
    /// Write rows for Matlab to a file.
    pub const MATLAB_FILE: u8 = 133;
    /// Draw a sequence diagram in a file.
    pub const SEQUENCE_FILE: u8 = 134;
    /// An event for an active object, by name.
    pub const EVENT: u8 = 135;
    /// An active object for the filter, by name.
    pub const AO_FILTER: u8 = 136;
    /// The current object, by name.
    pub const CURRENT_OBJECT: u8 = 137;
    /// A command, by name.
    pub const COMMAND: u8 = 138;
    /// A test probe, by the name of its function.
    pub const TEST_PROBE: u8 = 139;
    /// Clear the screen.
    pub const CLEAR_SCREEN: u8 = 140;
    /// A note to show.
    pub const NOTE: u8 = 141;
}

/// A front-end that is silent for this long loses the port to the next one that attaches.
pub const SILENCE: Duration = Duration::from_secs(30);
/// Kind of a note of a test; other kinds are notes of the user.
const TEST_NOTE: u8 = 0xFF;
/// Longest note that is shown.
const MAX_NOTE: usize = 991;

/// What a packet requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrontEndRequest {
    /// Send a packet to the target.
    Send(Request),
    /// End the host.
    Exit,
    /// Write all names to the dictionary file.
    SaveDictionaries,
    /// Open or close a side file; `None`: the other state.
    Write(SideFile, Option<bool>),
    /// Clear the screen.
    ClearScreen,
}

/// The answer to a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontEndAnswer {
    /// A packet to send back.
    pub reply: Option<Vec<u8>>,
    /// A line to show.
    pub line: Option<(LineClass, Vec<u8>)>,
    /// A request to carry out.
    pub wish: Option<FrontEndRequest>,
}

impl FrontEndAnswer {
    fn line(class: LineClass, line: impl Into<Vec<u8>>) -> FrontEndAnswer {
        FrontEndAnswer { line: Some((class, line.into())), ..FrontEndAnswer::default() }
    }

    fn wish(wish: FrontEndRequest) -> FrontEndAnswer {
        FrontEndAnswer { wish: Some(wish), ..FrontEndAnswer::default() }
    }

    fn send(request: Request) -> FrontEndAnswer {
        FrontEndAnswer::wish(FrontEndRequest::Send(request))
    }

    fn unknown(dictionary: &str, name: &[u8]) -> FrontEndAnswer {
        let mut line =
            format!("   <F-END> ERROR    {dictionary} Dictionary not found for Name=").into_bytes();
        line.extend_from_slice(name);
        FrontEndAnswer::line(LineClass::Error, line)
    }
}

/// The front-end of a host: one at a time.
#[derive(Clone, Debug, Default)]
pub struct FrontEnd {
    /// The caller that attached, or spoke first.
    owner: Option<usize>,
    is_attached: bool,
    /// When its last packet arrived.
    heard: Option<Instant>,
    /// Sequence numbers of the last packets received and sent.
    received: u8,
    sent: u8,
    /// The state machine whose names of signals are used.
    machine: u64,
}

/// Reads the fields of a packet one after another.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A number; missing bytes are zero.
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
    /// The caller that attached.
    pub fn owner(&self) -> Option<usize> {
        self.owner
    }

    /// Takes the port from its owner if the packet attaches another caller and the owner is gone or silent. Returns the old owner
    /// and the packet that detaches it.
    pub fn give_up(
        &mut self,
        from: usize,
        packet: &[u8],
        is_gone: impl FnOnce(usize) -> bool,
        tap: &mut Tap,
    ) -> Option<(usize, Vec<u8>)> {
        let owner = self.owner.filter(|owner| *owner != from)?;
        let attaches = matches!(packet, [_, packet::ATTACH, ..]);
        let is_silent = self.heard.is_none_or(|heard| heard.elapsed() >= SILENCE);
        if !(attaches && (is_silent || is_gone(owner))) {
            return None;
        }
        let farewell = vec![self.next(), packet::DETACH];
        self.forget(tap);
        Some((owner, farewell))
    }

    /// Handles a packet. Until a front-end attaches, packets of any caller are carried out.
    pub fn packet(
        &mut self,
        from: usize,
        packet: &[u8],
        known: &TargetSymbols,
        tap: &mut Tap,
    ) -> Vec<FrontEndAnswer> {
        let [seq, id, ref payload @ ..] = *packet else { return Vec::new() };
        if self.owner.is_some_and(|owner| owner != from) {
            return vec![FrontEndAnswer::line(LineClass::Error, "   <F-END> WARN     UDP socket in use")];
        }
        if id == packet::ATTACH {
            self.owner = Some(from);
        }
        self.heard = Some(Instant::now());
        let mut answers = Vec::new();
        let expected = self.received.wrapping_add(1);
        // The packet that attaches starts the numbers.
        if self.owner.is_some() && seq != expected && id != packet::ATTACH {
            let line = format!("   <F-END> ERROR    Data Discontinuity Seq={expected}->{seq}");
            answers.push(FrontEndAnswer::line(LineClass::Error, line));
        }
        self.received = seq;
        answers.push(self.carry_out(id, &mut Rest(payload), known, tap));
        answers
    }

    /// Forgets the front-end: it left, or cannot be reached.
    pub fn forget(&mut self, tap: &mut Tap) {
        *self = FrontEnd::default();
        tap.channels = 0;
    }

    /// The packet to send when the host ends.
    pub fn farewell(&mut self) -> Option<Vec<u8>> {
        self.owner.is_some().then(|| vec![self.next(), packet::DETACH])
    }

    /// The packet for something that was collected from the stream.
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

    fn carry_out(
        &mut self,
        id: u8,
        rest: &mut Rest<'_>,
        known: &TargetSymbols,
        tap: &mut Tap,
    ) -> FrontEndAnswer {
        match id {
            0..=127 => FrontEndAnswer::send(Request { id, payload: rest.0.to_vec() }),
            packet::ATTACH => self.attach(rest.byte(), tap),
            packet::DETACH => self.detach(rest.byte().is_some(), tap),
            packet::SAVE_DICTIONARIES => FrontEndAnswer::wish(FrontEndRequest::SaveDictionaries),
            packet::TEXT_FILE => FrontEndAnswer::write(SideFile::Text, rest),
            packet::BINARY_FILE => FrontEndAnswer::write(SideFile::Binary, rest),
            packet::MATLAB_FILE => FrontEndAnswer::write(SideFile::Matlab, rest),
            packet::SEQUENCE_FILE => FrontEndAnswer::write(SideFile::Sequence, rest),
            packet::EVENT => self.event(rest, known),
            packet::AO_FILTER | packet::CURRENT_OBJECT => self.object(id, rest, known),
            packet::COMMAND => {
                rest.take(1);
                let params = std::array::from_fn(|_| rest.number(4) as u32);
                let name = rest.name();
                match known.command_named(name) {
                    Some(command) => FrontEndAnswer::send(Request::command(command, params)),
                    None => FrontEndAnswer::unknown("Command", name),
                }
            }
            packet::TEST_PROBE => {
                let data = rest.number(4) as u32;
                rest.take(known.target.sizes.fun.into());
                let name = rest.name();
                match known.functions.key_of(name) {
                    Some(function) => FrontEndAnswer::send(Request::probe(data, function, known)),
                    None => FrontEndAnswer::unknown("Function", name),
                }
            }
            packet::CLEAR_SCREEN => FrontEndAnswer::wish(FrontEndRequest::ClearScreen),
            packet::NOTE => {
                let class =
                    if rest.byte() == Some(TEST_NOTE) { LineClass::TestNote } else { LineClass::UserNote };
                let text = rest.name();
                FrontEndAnswer::line(class, &text[..text.len().min(MAX_NOTE)])
            }
            id => FrontEndAnswer::line(
                LineClass::Error,
                format!("   <F-END> ERROR    Unrecognized command Rec={id}"),
            ),
        }
    }

    fn attach(&mut self, channels: Option<u8>, tap: &mut Tap) -> FrontEndAnswer {
        let channels = channels.unwrap_or(1);
        tap.channels = channels;
        self.sent = 1;
        let is_new = !std::mem::replace(&mut self.is_attached, true);
        let line = is_new
            .then(|| (LineClass::Info, format!("   <F-END> Attached Chan={channels:08b}").into_bytes()));
        FrontEndAnswer { reply: Some(vec![self.sent, packet::ATTACH]), line, wish: None }
    }

    fn detach(&mut self, to_exit: bool, tap: &mut Tap) -> FrontEndAnswer {
        let (what, marks, wish) = match to_exit {
            true => ("Forced EXIT", 35, Some(FrontEndRequest::Exit)),
            false => ("Detached", 38, None),
        };
        if !to_exit {
            self.forget(tap);
        }
        let line = format!("   <F-END> {what} {}", "#".repeat(marks));
        FrontEndAnswer { reply: None, line: Some((LineClass::Info, line.into_bytes())), wish }
    }

    fn event(&self, rest: &mut Rest<'_>, known: &TargetSymbols) -> FrontEndAnswer {
        let prio = rest.byte().unwrap_or(0);
        rest.take(known.target.sizes.sig.into());
        let len = rest.number(2) as usize;
        let params = rest.take(len);
        let name = rest.name();
        match known.signal_named(name, self.machine) {
            Some(signal) => FrontEndAnswer::send(Request::event(prio, signal, params, known)),
            None => FrontEndAnswer::unknown("Signal", name),
        }
    }

    fn object(&mut self, packet: u8, rest: &mut Rest<'_>, known: &TargetSymbols) -> FrontEndAnswer {
        let kind = rest.byte().unwrap_or(0);
        rest.take(known.target.sizes.obj.into());
        let name = rest.name();
        let Some(object) = known.objects.key_of(name) else { return FrontEndAnswer::unknown("Object", name) };
        if packet == packet::CURRENT_OBJECT && [0, 1, 6].contains(&kind) {
            self.machine = object;
        }
        let id = if packet == packet::AO_FILTER { id::AO_FILTER } else { id::CURRENT_OBJECT };
        FrontEndAnswer::send(Request::object(id, kind, object, known))
    }
}

impl FrontEndAnswer {
    fn write(output: SideFile, rest: &mut Rest<'_>) -> FrontEndAnswer {
        let wanted = match rest.byte() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        };
        FrontEndAnswer::wish(FrontEndRequest::Write(output, wanted))
    }
}

#[cfg(test)]
mod tests;
