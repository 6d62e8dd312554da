//! A QS stream without a ring around it, whole, in the formats that are not QSPY's: statements and records are entries. It must not know
//! how they look.

use std::io::Write;

use qs_core::frame::{FLAG, MAX_RECORD};

use crate::console::Notes;
use crate::decode::{Incoming, Items};
use crate::exit_code::ExitCode;
use crate::map::Maps;
use crate::model::{Gap, Item, Opening, Ring, What};
use crate::options::Options;
use crate::qs::{Decoder, Event, Known, Listener};
use crate::session::outcome;
use crate::target::{Target, Teller};
use crate::telling::Telling;

/// So many bytes at the start tell whether it is one.
const LOOK: usize = 64 << 10;
/// Between two of these nobody looks whether the output still takes anything.
const PIECE: usize = 64 << 10;

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
    Decoder::new(Known::new(Default::default())).push(start, &mut good);
    // The first frame and the last may be cut, and few others be there.
    let flags = (memchr::memchr(FLAG, start), memchr::memrchr(FLAG, start));
    let (Some(first), Some(last)) = flags else { return false };
    let cut = (first + 1).min(MAX_RECORD) + (start.len() - last - 1).min(MAX_RECORD);
    2 * good.0 > start.len().saturating_sub(cut)
}

/// Tells what is in a stream.
pub fn run(image: &[u8], options: &Options, out: &mut dyn Write, notes: &mut Notes<'_>) -> ExitCode {
    let mut seen = Seen { options, entries: 0, files: Vec::new() };
    incoming(options, true).push(image, &mut seen);
    let mut ring = Ring { number: 1, size: image.len(), status: "stream", ..Ring::default() };
    ring.origin.clone_from(&options.origin);
    let shown = options.last.map_or(seen.entries, |last| last.min(seen.entries));
    let mut telling = Telling::new(options, Maps::default(), seen.entries - shown);
    seen.files.iter().for_each(|(file, path)| telling.name_file(&ring, *file, path, notes));
    let mut format = telling.format();
    let mut result = format.start(&Opening { rings: std::slice::from_ref(&ring), entries: shown }, out);
    let (mut target, mut rings, mut stream) = (Target::new(ring), 1, incoming(options, true));
    let pieces = image.chunks(PIECE).map(Some).chain([None]);
    for piece in pieces {
        let (telling, format, target, rings) = (&mut telling, &mut *format, &mut target, &mut rings);
        let mut teller =
            Teller { telling, format, target, rings, out: &mut *out, notes: &mut *notes, also: None, result };
        match piece {
            Some(piece) => stream.push(piece, &mut teller),
            None => {
                stream.close();
                teller.tell(None, stream.end(), None);
            }
        }
        result = teller.result;
        if result.is_err() {
            break;
        }
    }
    outcome(result.and_then(|()| telling.finish(&mut *format, out, notes)), notes)
}

/// What decodes a stream as the options say. `is_whole`: it is here from its start.
pub fn incoming(options: &Options, is_whole: bool) -> Incoming {
    let longest = if options.layout.terminal { 0 } else { options.format.writes_out };
    Incoming::new(options.qs.known(), options.format.fields, longest, is_whole)
}

/// What is in a stream.
struct Seen<'o> {
    options: &'o Options,
    entries: u64,
    files: Vec<(u16, String)>,
}

impl Items for Seen<'_> {
    fn item(&mut self, _: Option<u64>, _: Gap, item: Item) {
        let is_told = !matches!(item.what, What::Again(_)) && self.options.tells(&item.what);
        self.entries += u64::from(is_told);
    }

    fn file(&mut self, file: u16, path: &str) {
        if !self.files.iter().any(|(known, _)| *known == file) {
            self.files.push((file, path.to_owned()));
        }
    }
}
