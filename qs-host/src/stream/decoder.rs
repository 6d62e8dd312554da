//! Decodes a stream into records and applies what they change: names, sizes, version. A listener gets every event at once, so bytes
//! may arrive in pieces of any size.

use qs_core::frame::MAX_RECORD;
use qs_core::record::{Empty, EnumDict, FunDict, ObjDict, QfRun, Record, SigDict, TargetInfo, UsrDict};

use super::decoded::{DecodedRecord, RecordShape};
use super::field_reader::MissingBytes;
use super::fixed_layout::FixedLayouts;
use super::receiver::{BadFrame, RawRecord, Received, Receiver, SequenceJump};
use crate::symbols::target_symbols::{OtherBuild, TargetSymbols};

/// The fault of bytes before the first good record.
pub const CUT_FIRST: &str = "the stream starts within a frame";
/// The fault of bytes behind the last flag.
pub const CUT_LAST: &str = "the stream ends within a frame, whose closing flag is missing";

/// An event of a stream.
#[derive(Clone, Copy, Debug)]
pub enum StreamEvent<'a> {
    /// A frame was not a good record.
    Trouble(BadFrame),
    /// The stream starts within a frame: the number of bytes before the first good record, which comes next.
    Lead(u64),
    /// Records are missing before the next one.
    Jump(SequenceJump),
    /// A record. Its changes are applied after this event.
    Record(&'a DecodedRecord<'a>),
    /// The target is another build than the one whose names are known.
    OtherTarget,
    /// The names that the user gave are of another build, and were forgotten.
    OtherBuild(OtherBuild),
    /// All names except those of enumerations are about to be forgotten.
    Clear,
    /// A target info had impossible sizes; they were ignored.
    OddSizes,
    /// A target info was applied.
    TargetInfo,
    /// The target has sent all its names and runs.
    Run,
}

/// Receives the events of a stream.
pub trait Listener {
    /// Receives an event. It may add symbols: those of a dictionary file.
    fn event(&mut self, event: StreamEvent<'_>, known: &mut TargetSymbols);
}

/// Ignores all events.
impl Listener for () {
    fn event(&mut self, _: StreamEvent<'_>, _: &mut TargetSymbols) {}
}

/// Decodes a stream.
#[derive(Clone, Debug)]
pub struct Decoder {
    /// The symbols of the target.
    pub known: TargetSymbols,
    receiver: Receiver,
    shorts: Vec<MissingBytes>,
    has_started: bool,
    /// How records of the target are decoded.
    plans: FixedLayouts,
}

impl Decoder {
    /// Creates a decoder with the symbols that are known before the first byte.
    pub fn new(known: TargetSymbols) -> Decoder {
        Decoder {
            plans: FixedLayouts::new(&known.target),
            known,
            receiver: Receiver::default(),
            shorts: Vec::new(),
            has_started: false,
        }
    }

    /// Decodes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8], listener: &mut impl Listener) {
        let mut at = 0;
        while at < bytes.len() {
            let (used, received) = self.receiver.take(&bytes[at..]);
            at += used;
            match received {
                None => {}
                Some(received) => self.received(received, listener),
            }
        }
    }

    /// Decodes the next record of the stream, which came without a frame: that of a ring. Returns `false`, and does nothing, if the
    /// record is too long for a frame of a stream.
    pub fn push_frame(&mut self, seq: u8, id: u8, payload: &[u8], listener: &mut impl Listener) -> bool {
        let received = self.receiver.take_unframed(seq, id, payload);
        received.map(|received| self.received(received, listener)).is_some()
    }

    #[inline(always)]
    fn received(&mut self, received: Received, listener: &mut impl Listener) {
        let jump = match received {
            Received::Trouble(trouble) => {
                return listener.event(StreamEvent::Trouble(trouble), &mut self.known);
            }
            Received::Record(jump) => jump,
        };
        let lead = self.receiver.take_lead();
        if lead > 0 {
            listener.event(StreamEvent::Lead(lead), &mut self.known);
        }
        if let Some(jump) = jump {
            listener.event(StreamEvent::Jump(jump), &mut self.known);
        }
        let Decoder { known, receiver, shorts, plans, .. } = self;
        decode(receiver.record(), known, shorts, plans, listener);
    }

    /// Decodes a record that is not part of the stream; its sequence number is not checked.
    pub fn push_unframed(&mut self, seq: u8, id: u8, payload: &[u8], listener: &mut impl Listener) {
        let mut buffer = [0; MAX_RECORD];
        (buffer[0], buffer[1]) = (seq, id);
        // A zero in place of the checksum, which was verified before.
        let room = buffer[2..MAX_RECORD - 1].iter_mut();
        room.zip(payload).for_each(|(to, byte)| *to = *byte);
        let len = MAX_RECORD.min(payload.len() + 3);
        decode(
            RawRecord { buffer: &buffer, len },
            &mut self.known,
            &mut self.shorts,
            &mut self.plans,
            listener,
        );
    }

    /// Drops an incomplete frame: another target is connected now.
    pub fn restart(&mut self) {
        self.receiver.restart();
    }

    /// Starts another stream. Nothing is missing before its first record.
    pub fn start_stream(&mut self) {
        self.has_started |= self.receiver.has_started();
        self.receiver = Receiver::default();
    }

    /// Takes the count of bytes of a last frame without its end.
    pub fn take_rest(&mut self) -> u64 {
        self.receiver.take_rest()
    }

    /// Whether a good record was received.
    pub fn has_started(&self) -> bool {
        self.has_started || self.receiver.has_started()
    }
}

#[inline]
fn decode(
    raw: RawRecord<'_>,
    known: &mut TargetSymbols,
    shorts: &mut Vec<MissingBytes>,
    plans: &mut FixedLayouts,
    listener: &mut impl Listener,
) {
    if !plans.is_of(&known.target) {
        *plans = FixedLayouts::new(&known.target);
    }
    let record = DecodedRecord::new(raw, &known.target, plans, shorts);
    listener.event(StreamEvent::Record(&record), known);
    if record.left == 0 && matches!(record.shape, RecordShape::Fields(_)) {
        learn(&record, known, listener);
    }
}

/// Applies the changes of a good record.
#[inline(never)]
fn learn(record: &DecodedRecord<'_>, known: &mut TargetSymbols, listener: &mut impl Listener) {
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
        TargetInfo::ID => apply_target_info(record.raw.payload(), known, listener),
        QfRun::ID => listener.event(StreamEvent::Run, known),
        _ => {}
    }
}

fn apply_target_info(payload: &[u8], known: &mut TargetSymbols, listener: &mut impl Listener) {
    let Some(info) = TargetInfo::parse(payload) else { return };
    let was_known = known.target.is_known();
    let (changed, believed) = known.target.update(&info);
    if !believed {
        listener.event(StreamEvent::OddSizes, known);
    }
    if let Some(builds) = known.check_build(info.build) {
        listener.event(StreamEvent::OtherBuild(builds), known);
    }
    if changed && was_known {
        listener.event(StreamEvent::OtherTarget, known);
        clear(known, listener);
    }
    if info.reset != 0 {
        clear(known, listener);
    }
    listener.event(StreamEvent::TargetInfo, known);
}

fn clear(known: &mut TargetSymbols, listener: &mut impl Listener) {
    listener.event(StreamEvent::Clear, known);
    known.clear();
}
