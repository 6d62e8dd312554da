//! A QS stream without a ring around it, in the formats that are not QSPY's: each record an entry. It must not know how they look.

use std::io::{self, Write};

use crate::console::Notes;
use crate::decode::Teller;
use crate::exit_code::ExitCode;
use crate::format::Format;
use crate::model::{Entry, Gap, Opening, Record, Ring, Subject, Totals};
use crate::options::Options;
use crate::qs::{Decoder, Event, Known, Listener, Text};
use crate::session::outcome;

/// So many bytes at the start tell whether it is one.
const LOOK: usize = 64 << 10;

/// Whether these bytes are a QS stream: most of what they start with are good records.
pub fn is_one(image: &[u8]) -> bool {
    #[derive(Default)]
    struct Good(usize);
    impl Listener for Good {
        fn event(&mut self, event: Event<'_>, _: &mut Known) {
            if let Event::Record(record) = event {
                // The flag is part of it.
                self.0 += record.raw.len + 1;
            }
        }
    }
    let start = &image[..image.len().min(LOOK)];
    let mut good = Good::default();
    Decoder::new(Default::default()).push(start, &mut good);
    2 * good.0 > start.len()
}

/// Tells the records of a stream.
pub fn run(image: &[u8], options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let ring = Ring { number: 1, size: image.len(), status: "stream", ..Ring::default() };
    let mut entries = Count(0);
    Decoder::new(options.qs.target).push(image, &mut entries);
    let shown = options.last.map_or(entries.0, |last| last.min(entries.0));
    let mut format = (options.format.make)(options.layout);
    let opening = Opening { rings: std::slice::from_ref(&ring), entries: shown };
    let result = format.start(&opening, out);
    let mut telling = Telling {
        format,
        ring: &ring,
        out,
        text: Text::default(),
        fields: options.format.fields,
        skip: entries.0 - shown,
        number: 0,
        gap: Gap::default(),
        losses: Gap::default(),
        result,
    };
    Decoder::new(options.qs.target).push(image, &mut telling);
    telling.tell_gap();
    let Telling { mut format, number, losses, result, out, .. } = telling;
    if !losses.is_empty() {
        notes.loss(format_args!("in the stream: {losses}"));
    }
    let complete = notes.finish() == ExitCode::Complete;
    let finished = result
        .and_then(|()| format.finish(&Totals { entries: number, complete }, out))
        .and_then(|()| out.flush());
    outcome(finished, notes)
}

struct Count(u64);

impl Listener for Count {
    fn event(&mut self, event: Event<'_>, _: &mut Known) {
        self.0 += u64::from(matches!(event, Event::Record(record) if record.is_shown()));
    }
}

struct Telling<'t> {
    format: Box<dyn Format>,
    ring: &'t Ring,
    out: &'t mut dyn Write,
    text: Text,
    fields: bool,
    skip: u64,
    number: u64,
    gap: Gap,
    losses: Gap,
    result: io::Result<()>,
}

impl Telling<'_> {
    fn tell_gap(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if self.result.is_ok() && !gap.is_empty() && self.skip == 0 {
            self.result = self.format.gap(self.ring, &gap, self.out);
        }
    }
}

impl Listener for Telling<'_> {
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        if self.result.is_err() {
            return;
        }
        match &event {
            Event::Jump(jump) => {
                self.gap.missing_frames += u64::from(jump.missing);
                self.losses.missing_frames += u64::from(jump.missing);
            }
            Event::Trouble(trouble) => {
                self.gap.add_damage(trouble.bytes, &trouble.fault);
                self.losses.add_damage(trouble.bytes, &trouble.fault);
            }
            Event::Record(record) if record.is_shown() => {
                self.tell_gap();
                if self.skip > 0 {
                    self.skip -= 1;
                    return;
                }
                self.number += 1;
                let mut teller =
                    Teller { text: &mut self.text, record: Record::default(), fields: self.fields };
                teller.event(event, known);
                let (subject, number) = (Subject::Record(&teller.record), self.number);
                let entry = Entry { number, ring: self.ring, time: None, uncertain: false, subject };
                self.result = self.format.entry(&entry, self.out);
            }
            _ => {}
        }
    }
}
