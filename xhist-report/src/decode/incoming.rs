//! A QS stream as items: bytes in any pieces, from a link or from a file without a ring. It must not know where they come from.

use qs_core::frame::Frame;
use qs_core::record::{EnumDict, FILES, Record as _};

use super::frame::{Kind, marked};
use super::records::{Teller, Told};
use super::threads::{Framed, Threads};
use crate::model::{Gap, Item, What};
use crate::qs::{CUT_FIRST, CUT_LAST, Decoded, Decoder, Event, Known, Listener, Text};

/// Who is told of items.
pub trait Items {
    /// What comes next, of this thread where the stream tells of several; what is missing before it.
    fn item(&mut self, thread: Option<u64>, gap: Gap, item: Item);

    /// The target says how a file is called.
    fn file(&mut self, file: u16, path: &str) {
        let _ = (file, path);
    }

    /// All that happens, before it is told as an item.
    fn event(&mut self, event: &Event<'_>, known: &mut Known) {
        let _ = (event, known);
    }
}

/// A stream that is being decoded.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Bytes to records, and what they name.
    pub decoder: Decoder,
    threads: Threads,
    text: Text,
    with_fields: bool,
    /// What is missing before the next item.
    gap: Gap,
    /// The stream is here from its start, so its first frame should be whole.
    is_whole: bool,
}

impl Incoming {
    /// With what is known before the first byte; fields of records are told when somebody wants them, and repetitions of up to `longest`
    /// statements are written out. `is_whole`: the first byte is the stream's, and not only the first that was seen of it.
    pub fn new(known: Known, with_fields: bool, longest: u64, is_whole: bool) -> Incoming {
        Incoming {
            decoder: Decoder::new(known),
            threads: Threads::new(longest),
            text: Text::default(),
            with_fields,
            gap: Gap::default(),
            is_whole,
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8], to: &mut dyn Items) {
        let Incoming { decoder, threads, text, with_fields, gap, is_whole } = self;
        let fields = *with_fields;
        decoder.push(bytes, &mut Sorter { threads, text, fields, gap, is_whole: *is_whole, to });
    }

    /// Another target, or the same one anew, is at the other end now.
    pub fn restart(&mut self) {
        self.decoder.restart();
        self.threads.restart();
    }

    /// Nothing more comes of this stream, or of its connection: a frame that has begun is cut.
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

struct Sorter<'s> {
    threads: &'s mut Threads,
    text: &'s mut Text,
    fields: bool,
    gap: &'s mut Gap,
    is_whole: bool,
    to: &'s mut dyn Items,
}

impl Listener for Sorter<'_> {
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        self.to.event(&event, known);
        match &event {
            Event::Jump(jump) => {
                self.gap.missing_frames += u64::from(jump.missing);
                self.threads.lost();
            }
            Event::Lead(bytes) if self.is_whole => self.gap.add_damage(*bytes, &CUT_FIRST),
            Event::Trouble(trouble) => {
                self.gap.add_damage(trouble.bytes, &trouble.fault);
                self.threads.lost();
            }
            Event::Clear => self.threads.lost(),
            Event::TargetInfo => known.widen(),
            Event::Record(record) => self.record(record, known),
            _ => {}
        }
    }
}

impl Sorter<'_> {
    fn record(&mut self, record: &Decoded<'_>, known: &mut Known) {
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
        let Sorter { threads, gap, to, .. } = self;
        let thread = threads.now();
        let framed = threads.take(&frame, &mut |item| to.item(thread, std::mem::take(*gap), item));
        let Framed::Record(kind, time) = framed else { return };
        if !record.is_shown() {
            return;
        }
        let mut teller = Teller { text: self.text, told: Told::default(), fields: self.fields };
        teller.event(Event::Record(record), known);
        let what = match kind {
            Kind::Panic(_) => What::Panic(teller.told.record),
            Kind::Signal(signal, _) => What::Signal(signal, teller.told.record),
            Kind::Mark(kind, value) => What::Record(marked(teller.told.record, kind, value)),
            _ => teller.told.what(),
        };
        self.to.item(thread, std::mem::take(self.gap), Item { what, time, interrupt: 0 });
    }
}
