//! A QS stream without a ring around it as a source: all of it is here.

use std::io;

use qs_core::frame::{FLAG, MAX_RECORD};

use super::source::{EventSource, Progress, Step, TakeStep};
use super::stream_decoder::{StreamDecoder, StreamSink};
use super::target::{StreamTarget, TargetSink};
use crate::events::context::Context;
use crate::model::{Gap, Item, Opening, Ring};
use crate::options::ReadOptions;
use qs_host::{Decoder, Listener, OtherBuild, StreamEvent, TargetSymbols};

/// Number of bytes at the start that show whether it is a stream.
const LOOK: usize = 64 << 10;
/// Bytes that are decoded before the output is checked for errors.
const PIECE: usize = 64 << 10;

/// Whether these bytes are a QS stream: most of the first bytes are good records.
pub fn looks_like_qs_stream(image: &[u8]) -> bool {
    #[derive(Default)]
    struct GoodBytes(usize);
    impl Listener for GoodBytes {
        fn event(&mut self, event: StreamEvent<'_>, _: &mut TargetSymbols) {
            if let StreamEvent::Record(record) = event {
                // With its flag.
                self.0 += record.raw.len + 1;
            }
        }
    }
    let start = &image[..image.len().min(LOOK)];
    let mut good = GoodBytes::default();
    Decoder::new(TargetSymbols::new(Default::default())).push(start, &mut good);
    // The first frame and the last one may be cut, and there may be few others.
    let flags = (memchr::memchr(FLAG, start), memchr::memrchr(FLAG, start));
    let (Some(first), Some(last)) = flags else { return false };
    let cut = (first + 1).min(MAX_RECORD) + (start.len() - last - 1).min(MAX_RECORD);
    2 * good.0 > start.len().saturating_sub(cut)
}

/// A decoder for the report that the options ask for. `is_whole`: the first byte is the first one of the stream.
pub fn decoder_for(options: &ReadOptions, is_whole: bool) -> StreamDecoder {
    StreamDecoder::new(options.known(), options.entries, is_whole)
}

/// The items of a stream.
pub struct StreamHistory<'i> {
    pieces: std::slice::Chunks<'i, u8>,
    decoder: StreamDecoder,
    target: StreamTarget,
    rings: usize,
    /// Entries that are shown, once it is known how many are not.
    shown: u64,
    /// Entries that are not shown, until that is given.
    skip: Option<u64>,
}

impl<'i> StreamHistory<'i> {
    /// Counts the entries, and names the files of all of them.
    pub fn new(image: &'i [u8], context: &mut Context<'_, '_>) -> StreamHistory<'i> {
        let options = context.options;
        let mut found = StreamSurvey { options, entries: 0, files: Vec::new(), other_build: None };
        decoder_for(options, true).push(image, &mut found);
        let mut ring = Ring { number: 1, size: image.len(), status: "stream", ..Ring::default() };
        ring.origin.clone_from(&options.origin);
        let shown = options.last_at_source().map_or(found.entries, |last| last.min(found.entries));
        found.files.iter().for_each(|(file, path)| context.name_file(&ring, *file, path));
        let mut known = options.known();
        if let Some(builds) = found.other_build {
            context.notes.note(format_args!("{ring}: {builds}"));
            // Records before the target info have no name of it either.
            known = TargetSymbols::new(options.target);
        }
        StreamHistory {
            pieces: image.chunks(PIECE),
            decoder: StreamDecoder::new(known, options.entries, true),
            target: StreamTarget::new(ring),
            rings: 1,
            shown,
            skip: Some(found.entries - shown),
        }
    }
}

impl EventSource for StreamHistory<'_> {
    fn opening(&self) -> Opening<'_> {
        Opening { rings: std::slice::from_ref(&self.target.ring), entries: self.shown }
    }

    fn read(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<Progress> {
        if let Some(skip) = self.skip.take() {
            take(Step::Skip(skip), context)?;
        }
        let StreamHistory { pieces, decoder, target, rings, .. } = self;
        let mut sink = TargetSink { target, rings, take, context, tap: None, result: Ok(()) };
        let Some(piece) = pieces.next() else {
            decoder.close();
            sink.give(None, decoder.end(), None);
            return sink.result.map(|()| Progress::End);
        };
        decoder.push(piece, &mut sink);
        sink.result.map(|()| Progress::More)
    }
}

/// The bytes of a stream.
pub struct StreamBytes<'i> {
    /// All of them.
    pub bytes: &'i [u8],
}

impl EventSource for StreamBytes<'_> {
    fn opening(&self) -> Opening<'_> {
        Opening { rings: &[], entries: 0 }
    }

    fn read(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<Progress> {
        take(Step::Bytes(self.bytes), context)?;
        take(Step::StreamEnd, context)?;
        Ok(Progress::End)
    }
}

/// What is in a stream.
struct StreamSurvey<'o> {
    options: &'o ReadOptions,
    entries: u64,
    files: Vec<(u16, String)>,
    /// The names of the options are of another build.
    other_build: Option<OtherBuild>,
}

impl StreamSink for StreamSurvey<'_> {
    fn item(&mut self, _: Option<u64>, _: Gap, item: Item) {
        let is_shown = item.what.is_entry() && self.options.shows(&item.what);
        self.entries += u64::from(is_shown);
    }

    fn file(&mut self, file: u16, path: &str) {
        if !self.files.iter().any(|(known, _)| *known == file) {
            self.files.push((file, path.to_owned()));
        }
    }

    fn event(&mut self, event: &StreamEvent<'_>, _: &mut TargetSymbols) {
        if let StreamEvent::OtherBuild(builds) = event {
            self.other_build = Some(*builds);
        }
    }
}
