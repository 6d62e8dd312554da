//! A QS stream as items: bytes in any pieces, from a link or from a file without a ring.

use qs_core::frame::Frame;
use qs_core::record::{EnumDict, FILES, Record as _};

use super::records::RecordBuilder;
use super::statements::{StreamThreads, Taken};
use crate::model::{Gap, Item};
use crate::options::EntryChoice;
use qs_host::{
    CUT_FIRST, CUT_LAST, DecodedRecord, Decoder, LineFormatter, Listener, StreamEvent, TargetSymbols,
};

/// Takes the items of a stream.
pub trait StreamSink {
    /// The next item, of this thread if the stream names threads, and what is missing before the item.
    fn item(&mut self, thread: Option<u64>, gap: Gap, item: Item);

    /// The target names a file.
    fn file(&mut self, file: u16, path: &str) {
        let _ = (file, path);
    }

    /// An event of the decoder, before the item made of it.
    fn event(&mut self, event: &StreamEvent<'_>, known: &mut TargetSymbols) {
        let _ = (event, known);
    }
}

/// A stream that is being decoded.
#[derive(Clone, Debug)]
pub struct StreamDecoder {
    /// Bytes to records, and what they name.
    pub decoder: Decoder,
    threads: StreamThreads,
    text: LineFormatter,
    entries: EntryChoice,
    /// What is missing before the next item.
    gap: Gap,
    /// The first byte is the first one of the stream, so the first frame should be whole.
    is_whole: bool,
}

impl StreamDecoder {
    /// With what is known before the first byte. `is_whole`: the first byte is the first one of the stream, and not only the
    /// first one that was received.
    pub fn new(known: TargetSymbols, entries: EntryChoice, is_whole: bool) -> StreamDecoder {
        StreamDecoder {
            decoder: Decoder::new(known),
            threads: StreamThreads::new(entries.written_out),
            text: LineFormatter::default(),
            entries,
            gap: Gap::default(),
            is_whole,
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8], to: &mut dyn StreamSink) {
        let StreamDecoder { decoder, threads, text, entries, gap, is_whole } = self;
        let entries = *entries;
        decoder.push(bytes, &mut RecordSorter { threads, text, entries, gap, is_whole: *is_whole, to });
    }

    /// Another target is at the other end now, or the same one after a restart.
    pub fn restart(&mut self) {
        self.decoder.restart();
        self.threads.restart();
    }

    /// The stream or its connection has ended: an open frame is cut.
    pub fn close(&mut self) {
        let rest = self.decoder.take_rest();
        // Before the first good record on a link there is only noise.
        if rest > 0 && (self.is_whole || self.decoder.has_started()) {
            self.gap.add_damage(rest, &CUT_LAST);
        }
    }

    /// What is missing behind the last item.
    pub fn end(&mut self) -> Gap {
        std::mem::take(&mut self.gap)
    }
}

struct RecordSorter<'s> {
    threads: &'s mut StreamThreads,
    text: &'s mut LineFormatter,
    entries: EntryChoice,
    gap: &'s mut Gap,
    is_whole: bool,
    to: &'s mut dyn StreamSink,
}

impl Listener for RecordSorter<'_> {
    fn event(&mut self, event: StreamEvent<'_>, known: &mut TargetSymbols) {
        self.to.event(&event, known);
        match &event {
            StreamEvent::Jump(jump) => {
                self.gap.missing_frames += u64::from(jump.missing);
                self.threads.lost();
            }
            StreamEvent::Lead(bytes) if self.is_whole => self.gap.add_damage(*bytes, &CUT_FIRST),
            StreamEvent::Trouble(trouble) => {
                self.gap.add_damage(trouble.bytes, &trouble.fault);
                self.threads.lost();
            }
            StreamEvent::Clear => self.threads.lost(),
            StreamEvent::TargetInfo => known.widen(),
            StreamEvent::Record(record) => self.record(record, known),
            _ => {}
        }
    }
}

impl RecordSorter<'_> {
    fn record(&mut self, record: &DecodedRecord<'_>, known: &mut TargetSymbols) {
        if record.id() == EnumDict::ID && record.left == 0 && record.values[1] == u64::from(FILES) {
            self.to.file(record.values[0] as u16, &String::from_utf8_lossy(record.text));
        }
        let frame = Frame {
            offset: 0,
            seq: record.raw.seq(),
            id: record.id(),
            payload: record.raw.payload(),
            missing: 0,
        };
        let RecordSorter { threads, gap, to, .. } = self;
        let thread = threads.now();
        let taken = threads.take(&frame, &mut |item| to.item(thread, std::mem::take(*gap), item));
        let Taken::Record(kind, time) = taken else { return };
        if !record.is_shown() {
            return;
        }
        let mut builder = RecordBuilder::new(self.text, self.entries);
        builder.event(StreamEvent::Record(record), known);
        let item = Item::new(builder.built.entry(kind, frame.payload), time);
        self.to.item(thread, std::mem::take(self.gap), item);
    }
}
