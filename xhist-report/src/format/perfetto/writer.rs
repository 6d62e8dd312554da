//! Writes packets of a Perfetto trace, and gives each name a number when it is first used.

use std::collections::HashMap;
use std::io::{self, Write};

use prost::Message;

use super::messages::{
    AnnotationValue, DebugAnnotation, EventType, InternedData, InternedName, TracePacket, TrackDescriptor,
    TrackEvent,
};

/// The one sequence of the file.
const SEQUENCE: u32 = 1;
/// Flags of the first packet: no name has a number, and names have numbers; of all others.
const FLAGS: [u32; 2] = [3, 2];

/// The field `packet` of the message `Trace`: number 1, with a length.
const PACKET: u8 = 1 << 3 | 2;

/// Names and their numbers.
#[derive(Default)]
struct NameTable(HashMap<String, u64>);

impl NameTable {
    /// The number of a name; a new one is added to `new`.
    fn of(&mut self, name: &str, new: &mut Vec<InternedName>) -> u64 {
        if let Some(iid) = self.0.get(name) {
            return *iid;
        }
        let iid = self.0.len() as u64 + 1;
        self.0.insert(name.to_owned(), iid);
        new.push(InternedName { iid: Some(iid), name: Some(name.to_owned()) });
        iid
    }
}

/// An event as the mapping gives it.
pub struct SliceEvent<'e> {
    /// In nanoseconds.
    pub time: u64,
    /// Its track.
    pub track: u64,
    /// What it is.
    pub event_type: EventType,
    /// Its name; empty for an end.
    pub name: &'e str,
    /// What kind of thing it shows.
    pub category: &'e str,
    /// Its arguments.
    pub arguments: Vec<(&'e str, AnnotationValue)>,
}

/// Writes packets.
pub struct PacketWriter<'w> {
    out: &'w mut dyn Write,
    buffer: Vec<u8>,
    is_first: bool,
    categories: NameTable,
    names: NameTable,
    arguments: NameTable,
}

impl<'w> PacketWriter<'w> {
    /// Writes to `out`.
    pub fn new(out: &'w mut dyn Write) -> PacketWriter<'w> {
        PacketWriter {
            out,
            buffer: Vec::new(),
            is_first: true,
            categories: NameTable::default(),
            names: NameTable::default(),
            arguments: NameTable::default(),
        }
    }

    /// Writes a packet.
    fn packet(&mut self, mut packet: TracePacket) -> io::Result<()> {
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        packet.sequence_flags = Some(FLAGS[usize::from(!std::mem::take(&mut self.is_first))]);
        self.buffer.clear();
        self.buffer.push(PACKET);
        packet.encode_length_delimited(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }

    /// Writes a track.
    pub fn track(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })
    }

    /// Writes an event.
    pub fn event(&mut self, event: SliceEvent<'_>) -> io::Result<()> {
        let mut new = InternedData::default();
        let mut written = TrackEvent {
            event_type: Some(event.event_type.into()),
            track_uuid: Some(event.track),
            ..TrackEvent::default()
        };
        if !event.name.is_empty() {
            written.name_iid = Some(self.names.of(event.name, &mut new.event_names));
        }
        if !event.category.is_empty() {
            written.category_iids.push(self.categories.of(event.category, &mut new.event_categories));
        }
        for (name, value) in event.arguments {
            let name_iid = Some(self.arguments.of(name, &mut new.debug_annotation_names));
            written.debug_annotations.push(DebugAnnotation { name_iid, value: Some(value) });
        }
        self.packet(TracePacket {
            timestamp: Some(event.time),
            track_event: Some(written),
            interned_data: (new != InternedData::default()).then_some(new),
            ..TracePacket::default()
        })
    }

    /// Writes a value of a counter.
    pub fn counter(&mut self, time: u64, track: u64, value: super::messages::CounterValue) -> io::Result<()> {
        let event = TrackEvent {
            event_type: Some(EventType::Counter.into()),
            track_uuid: Some(track),
            counter_value: Some(value),
            ..TrackEvent::default()
        };
        self.packet(TracePacket { timestamp: Some(time), track_event: Some(event), ..TracePacket::default() })
    }
}
