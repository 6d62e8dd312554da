//! A stream's bytes to records, and what records change: names, sizes, version. Whoever listens is told of everything as it
//! comes, so bytes may arrive in pieces of any size. It must not know what is made of records.

use qs_core::frame::MAX_RECORD;
use qs_core::record::{Empty, EnumDict, FunDict, ObjDict, QfRun, Record, SigDict, TargetInfo, UsrDict};

use super::decoded::{Decoded, Shape};
use super::known::Known;
use super::plain::Plain;
use super::receive::{Jump, Raw, Received, Receiver, Trouble};
use super::take::Short;

/// What is wrong with bytes before the first good record.
pub const CUT_FIRST: &str = "the stream starts within a frame";
/// What is wrong with bytes behind the last flag.
pub const CUT_LAST: &str = "the stream ends within a frame, whose closing flag is missing";

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Bytes were no good record.
    Trouble(Trouble),
    /// The stream starts within a frame: the number of bytes before the first good record, which comes next.
    Lead(u64),
    /// Records are missing before the one that comes next.
    Jump(Jump),
    /// A record; what it changes is changed behind this.
    Record(&'a Decoded<'a>),
    /// The target is another than the one that told its names.
    OtherTarget,
    /// All names but those of enumerations are forgotten now.
    Clear,
    /// The target told sizes that no target has; they were not believed.
    OddSizes,
    /// The target told what it is.
    TargetInfo,
    /// The target has told all its names, and runs.
    Run,
}

/// Who is told what happened.
pub trait Listener {
    /// It may add to what is known: dictionary files.
    fn event(&mut self, event: Event<'_>, known: &mut Known);
}

/// Decodes a stream.
#[derive(Clone, Debug)]
pub struct Decoder {
    /// What is known so far.
    pub known: Known,
    receiver: Receiver,
    shorts: Vec<Short>,
    has_started: bool,
    /// How records of the target's version are taken apart.
    plans: Plain,
}

impl Decoder {
    /// With what is known before the first byte.
    pub fn new(known: Known) -> Decoder {
        Decoder {
            plans: Plain::new(&known.target),
            known,
            receiver: Receiver::default(),
            shorts: Vec::new(),
            has_started: false,
        }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8], listener: &mut impl Listener) {
        let mut at = 0;
        while at < bytes.len() {
            let (used, received) = self.receiver.take(&bytes[at..]);
            at += used;
            match received {
                None => {}
                Some(Received::Trouble(trouble)) => {
                    listener.event(Event::Trouble(trouble), &mut self.known);
                }
                Some(Received::Record(jump)) => {
                    let lead = self.receiver.take_lead();
                    if lead > 0 {
                        listener.event(Event::Lead(lead), &mut self.known);
                    }
                    if let Some(jump) = jump {
                        listener.event(Event::Jump(jump), &mut self.known);
                    }
                    let Decoder { known, receiver, shorts, plans, .. } = self;
                    decode(receiver.record(), known, shorts, plans, listener);
                }
            }
        }
    }

    /// Takes a record that came in another way than as a frame of a stream.
    pub fn push_unframed(&mut self, seq: u8, id: u8, payload: &[u8], listener: &mut impl Listener) {
        let mut buffer = [0; MAX_RECORD];
        (buffer[0], buffer[1]) = (seq, id);
        // In place of the checksum, which was right, a zero stays.
        let room = buffer[2..MAX_RECORD - 1].iter_mut();
        room.zip(payload).for_each(|(to, byte)| *to = *byte);
        let len = MAX_RECORD.min(payload.len() + 3);
        decode(Raw { buffer: &buffer, len }, &mut self.known, &mut self.shorts, &mut self.plans, listener);
    }

    /// Another target is at the other end of the link now.
    pub fn restart(&mut self) {
        self.receiver.restart();
    }

    /// Another stream comes now, of which nothing is missing before its first record.
    pub fn start_anew(&mut self) {
        self.has_started |= self.receiver.has_started();
        self.receiver = Receiver::default();
    }

    /// Bytes of a frame whose closing flag does not come any more.
    pub fn take_rest(&mut self) -> u64 {
        self.receiver.take_rest()
    }

    /// Whether a good record came already.
    pub fn has_started(&self) -> bool {
        self.has_started || self.receiver.has_started()
    }
}

#[inline]
fn decode(
    raw: Raw<'_>,
    known: &mut Known,
    shorts: &mut Vec<Short>,
    plans: &mut Plain,
    listener: &mut impl Listener,
) {
    if !plans.is_of(&known.target) {
        *plans = Plain::new(&known.target);
    }
    let record = Decoded::new(raw, &known.target, plans, shorts);
    listener.event(Event::Record(&record), known);
    if record.left == 0 && matches!(record.shape, Shape::Fields(_)) {
        learn(&record, known, listener);
    }
}

/// What a good record changes.
#[inline(never)]
fn learn(record: &Decoded<'_>, known: &mut Known, listener: &mut impl Listener) {
    let name = || record.shown_text();
    let [first, second, ..] = record.values;
    match record.id() {
        Empty::ID => clear(known, listener),
        EnumDict::ID => known.enums[second as usize & 7].define(first, name()),
        SigDict::ID => known.signals.define(first as u32, second, name()),
        ObjDict::ID => {
            let name = record.object_name(known);
            known.objects.define(first, &name);
        }
        FunDict::ID => known.functions.define(first, name()),
        UsrDict::ID => known.users.define(first, name()),
        TargetInfo::ID => believe(record.raw.payload(), known, listener),
        QfRun::ID => listener.event(Event::Run, known),
        _ => {}
    }
}

fn believe(payload: &[u8], known: &mut Known, listener: &mut impl Listener) {
    let Some(info) = TargetInfo::parse(payload) else { return };
    let was_known = known.target.is_known();
    let (changed, believed) = known.target.update(&info);
    if !believed {
        listener.event(Event::OddSizes, known);
    }
    if changed && was_known {
        listener.event(Event::OtherTarget, known);
        clear(known, listener);
    }
    if info.reset != 0 {
        clear(known, listener);
    }
    listener.event(Event::TargetInfo, known);
}

fn clear(known: &mut Known, listener: &mut impl Listener) {
    listener.event(Event::Clear, known);
    known.clear();
}
