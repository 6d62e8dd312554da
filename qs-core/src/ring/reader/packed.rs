//! Reads a bare-metal ring, whose statements are in packed frames.

use crate::frame::{Cause, Damage, Decoder, ESCAPE, ESCAPE_XOR, Ended, FLAG, FrameWriter};
use crate::record::packed::{FrameRepetition, MAX_HEADER, PAGES, Packed, Step, Steps, WINDOW, step};
use crate::record::{Statement, TaskMark, ids};

use super::super::header::Header;
use super::super::repetition::Repetition;
use super::super::state::{Shown, State};
use crate::ring::Item;

/// Largest number of bytes of data in a packed frame.
const DATA: usize = 255;

/// See [`Reader`](super::Reader).
#[derive(Clone, Debug)]
pub(super) struct PackedReader<'a> {
    header: Header,
    bytes: &'a [u8],
    decoder: Decoder,
    /// Position of the next byte, counted from the first byte ever written.
    at: u64,
    stage: PackedStage,
    skip_to_flag: bool,
    newest_seq: Option<u8>,
    /// Position of the oldest byte.
    oldest: u64,
    /// Items that were shown before, and are skipped.
    shown: Shown,
    /// Position of the frame with the newest item.
    start: u64,
    /// Number of statements, marks and values in the open frame.
    open_statements: u16,
    /// Number of bytes missing in the image that are not reported yet, and whether any were reported.
    cut: u64,
    was_cut: bool,
    run: Run,
    /// The interrupt of the newest statement.
    interrupt: u16,
    /// Start positions of the newest packed frames, the newest last.
    starts: [u64; PAGES],
    /// Number of newest frames that are consecutive in the ring.
    unbroken: usize,
    /// This reader reads repeated frames a second time.
    is_replay: bool,
    /// Yields frames of statements as frames.
    whole_frames: bool,
}

/// The packed frame that is being read.
#[derive(Clone, Debug)]
struct Run {
    data: [u8; DATA],
    /// Length of the data up to what no recorder writes, and of all data.
    len: usize,
    end: usize,
    at: usize,
    steps: Steps,
    /// The time stamp of the next statement.
    stamp: Option<u32>,
    time: u32,
    /// Position of the frame, and of an open frame's data.
    start: u64,
    open_data: u64,
    has_items: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackedStage {
    Frames,
    Cut,
    Torn,
    Folded,
    Open,
    Done,
}

impl<'a> PackedReader<'a> {
    /// See [`Reader::resume`](super::Reader::resume). `bytes` are those behind the header.
    pub(super) fn new(
        header: Header,
        bytes: &'a [u8],
        from: u64,
        safe: u64,
        shown: Shown,
    ) -> PackedReader<'a> {
        let oldest = from.max(safe).max(header.kept());
        let mut reader = PackedReader {
            header,
            bytes,
            decoder: Decoder::new(),
            at: oldest,
            stage: PackedStage::Frames,
            skip_to_flag: oldest != from,
            newest_seq: None,
            oldest,
            shown,
            start: 0,
            open_statements: 0,
            cut: 0,
            was_cut: false,
            run: Run::empty(),
            interrupt: 0,
            starts: [0; PAGES],
            unbroken: 0,
            is_replay: false,
            whole_frames: false,
        };
        reader.decoder.set_offset(oldest);
        reader
    }

    /// See [`Reader::whole_frames`](super::Reader::whole_frames).
    pub(super) fn whole_frames(self) -> PackedReader<'a> {
        PackedReader { whole_frames: true, ..self }
    }

    /// See [`Reader::shown`](super::Reader::shown).
    pub(super) fn shown(&self) -> Shown {
        let position = self.header.state.head();
        let (repeats, _) = self.header.folded.at(position);
        Shown { position, statements: self.open_statements, repeats }
    }

    /// See [`Reader::resume_from`](super::Reader::resume_from).
    pub(super) fn resume_from(&self) -> u64 {
        match self.unbroken {
            0 => self.header.state.head(),
            frames => self.starts[PAGES - frames].min(self.header.state.head()),
        }
    }

    pub(super) const fn header(&self) -> &Header {
        &self.header
    }

    pub(super) const fn interrupt(&self) -> u16 {
        self.interrupt
    }

    pub(super) const fn item_position(&self) -> u64 {
        self.start
    }

    /// The next item, oldest first.
    #[allow(clippy::should_implement_trait, reason = "items borrow the reader's buffer")]
    pub(super) fn next(&mut self) -> Option<Item<'_>> {
        loop {
            let found = self.step()?;
            if self.start < self.shown.position
                && !matches!(found, PackedItem::Item(Item::Cut { .. } | Item::Torn { .. }))
            {
                continue;
            }
            match found {
                PackedItem::Item(ref item)
                    if self.start == self.shown.position
                        && self.shown.statements > 0
                        && self.is_counted(item) =>
                {
                    self.shown.statements -= 1;
                }
                PackedItem::Item(Item::Repetition(repetition)) if self.start == self.shown.position => {
                    let times = repetition.times.saturating_sub(core::mem::take(&mut self.shown.repeats));
                    if times > 0 {
                        // The shown statements of the frame were one of the repetitions.
                        self.shown.statements = 0;
                        return Some(Item::Repetition(repetition.with_times(times)));
                    }
                }
                PackedItem::Item(item) => return Some(item),
                PackedItem::Frame(end) => return Some(Item::Frame(self.decoder.frame(end))),
            }
        }
    }

    /// Whether this item of an open frame counts as one of its statements. Damage in it is shown once, too.
    fn is_counted(&self, item: &Item<'_>) -> bool {
        match item {
            Item::Statement(..) | Item::Task(..) | Item::Value(..) => true,
            Item::Damaged(_) => self.stage == PackedStage::Done,
            _ => false,
        }
    }

    /// The next item, shown before or not.
    fn step(&mut self) -> Option<PackedItem> {
        loop {
            if let Some(item) = self.next_of_run() {
                return Some(PackedItem::Item(item));
            }
            match self.stage {
                PackedStage::Frames => match self.next_frame() {
                    Some(Framed::Item(found)) => return Some(found),
                    Some(Framed::Run(0)) => {}
                    Some(Framed::Run(missing)) => return Some(PackedItem::Item(Item::Missing(missing))),
                    None => self.stage = PackedStage::Cut,
                },
                PackedStage::Cut => {
                    self.stage = PackedStage::Torn;
                    if self.cut > 0 {
                        self.was_cut = true;
                        return Some(PackedItem::Item(Item::Cut { missing: core::mem::take(&mut self.cut) }));
                    }
                }
                PackedStage::Torn => {
                    self.stage = PackedStage::Folded;
                    let state = self.header.state;
                    let expected = state.seq();
                    let has_frames = state.head() > self.oldest && !self.was_cut;
                    if has_frames && self.newest_seq == Some(expected.wrapping_add(1)) {
                        // The target was halted between the two halves of the state word: the frame is closed, and the
                        // second half is still the old one.
                        self.header.state = state.without_open();
                    } else if has_frames && self.newest_seq != Some(expected) {
                        return Some(PackedItem::Item(Item::Torn { expected }));
                    }
                }
                PackedStage::Folded => {
                    self.stage = PackedStage::Open;
                    self.start = self.header.state.head();
                    let (times, _) = self.header.folded.at(self.start);
                    if let Some(repetition) =
                        self.repetition(FrameRepetition { frames: 1, times }, self.start)
                    {
                        return Some(PackedItem::Item(Item::Repetition(repetition)));
                    }
                }
                PackedStage::Open => {
                    self.stage = PackedStage::Done;
                    let state = self.header.state;
                    let Some(head_len) = state.open() else { continue };
                    let (_, is_counted) = self.header.folded.at(state.head());
                    if state.head() < self.oldest || is_counted {
                        continue;
                    }
                    match self.open_frame(state.head(), head_len) {
                        Some(Framed::Item(found)) => return Some(found),
                        Some(Framed::Run(_)) => {}
                        None => {
                            let expected = state.seq().wrapping_add(1);
                            return Some(PackedItem::Item(Item::Torn { expected }));
                        }
                    }
                }
                PackedStage::Done => return None,
            }
        }
    }

    /// The next item of the current packed frame.
    fn next_of_run(&mut self) -> Option<Item<'static>> {
        let run = &mut self.run;
        while run.at < run.len {
            let step = run.steps.next(&run.data[..run.len], &mut run.at);
            let is_open = self.stage == PackedStage::Done;
            if is_open && matches!(step, Some(Step::Statement(_) | Step::Value(_))) {
                self.open_statements += 1;
            }
            match step {
                Some(Step::Statement(statement)) => {
                    run.has_items = true;
                    self.interrupt = run.steps.interrupt();
                    let stamp = run.stamp.take();
                    return Some(match TaskMark::of(statement) {
                        Some(mark) => Item::Task(mark, stamp),
                        None => Item::Statement(statement, stamp),
                    });
                }
                Some(Step::Value(value)) => {
                    run.has_items = true;
                    self.interrupt = run.steps.interrupt();
                    return Some(Item::Value(value, run.stamp.take()));
                }
                Some(Step::Time(ticks)) => {
                    run.time = run.time.wrapping_add(ticks as u32);
                    run.stamp = Some(run.time);
                }
                // Reported before the frame's statements.
                Some(Step::Repetition(_)) => {}
                None => break,
            }
        }
        if run.len < run.end {
            self.open_statements += 1;
            return Some(Item::Damaged(run.skip_damage(self.whole_frames)));
        }
        if core::mem::take(&mut run.has_items) {
            self.starts.rotate_left(1);
            self.starts[PAGES - 1] = run.start;
            self.unbroken = (self.unbroken + 1).min(PAGES);
        }
        (run.len, run.end) = (0, 0);
        None
    }

    fn next_frame(&mut self) -> Option<Framed> {
        let ended = loop {
            let piece = self.piece()?;
            let (used, ended) = self.decoder.take_slice(piece);
            self.at += used as u64;
            if let Some(ended) = ended {
                break ended;
            }
        };
        let end = match ended {
            Ended::Damaged(damage) => {
                self.unbroken = 0;
                self.start = damage.offset;
                return Some(Framed::Item(PackedItem::Item(Item::Damaged(damage))));
            }
            Ended::Frame(end) => end,
        };
        let base = self.header.record_base;
        let frame = self.decoder.frame(end);
        self.newest_seq = Some(frame.seq);
        self.start = frame.offset;
        if frame.missing > 0 {
            self.unbroken = 0;
        }
        if self.whole_frames {
            return Some(Framed::Item(PackedItem::Frame(end)));
        }
        if frame.id.checked_sub(base) == Some(ids::PACKED)
            && let Some(packed) = Packed::parse(frame.payload)
        {
            let (missing, start, repetition) = (frame.missing, frame.offset, packed.repetition());
            self.run = Run::of(&packed, start, self.header.time_width > 0);
            if let Some(repetition) = repetition.and_then(|repetition| self.repetition(repetition, start)) {
                return Some(Framed::Item(PackedItem::Item(Item::Repetition(repetition))));
            }
            return Some(Framed::Run(missing));
        }
        self.unbroken = 0;
        Some(Framed::Item(PackedItem::Frame(end)))
    }

    /// The statements of a repetition, whose frames end at `end`. `None` if these frames are no longer in the ring.
    fn repetition(&self, repetition: FrameRepetition, end: u64) -> Option<Repetition> {
        let frames = usize::try_from(repetition.frames).ok().filter(|frames| *frames <= self.unbroken)?;
        if frames == 0 || self.is_replay {
            return None;
        }
        let mut replay = PackedReader {
            is_replay: true,
            stage: PackedStage::Frames,
            run: Run::empty(),
            shown: Shown::default(),
            ..self.clone()
        };
        replay.at = self.starts[PAGES - frames];
        replay.decoder.restart();
        replay.decoder.set_offset(replay.at);
        replay.header.state = State::closed(end, 0);
        Repetition::new(Replay(replay), repetition.times)
    }

    /// Reads the open frame: as the current frame, or as a whole frame. `None` if the bytes are not a frame.
    fn open_frame(&mut self, head: u64, head_len: usize) -> Option<Framed> {
        let mut fields = [0u8; MAX_HEADER];
        let (mut len, mut escape) = (0, false);
        for position in head..head + head_len as u64 {
            match self.byte(position) {
                Some(ESCAPE) if !escape => escape = true,
                Some(byte) if len < fields.len() => {
                    fields[len] = if escape { byte ^ ESCAPE_XOR } else { byte };
                    (len, escape) = (len + 1, false);
                }
                _ => return None,
            }
        }
        let [seq, id, ref payload @ .., _] = fields[..len] else { return None };
        let open_data = head + head_len as u64;
        let mut data = [0u8; DATA];
        let mut present = 0;
        while let Some(slot) = data.get_mut(present)
            && let Some(byte) = self.byte(open_data + present as u64)
        {
            *slot = byte;
            present += 1;
        }
        let end = Steps::written(&data[..present]);
        let sound = Steps::sound(&data[..end], 0, 1);
        let mut open = [0u8; MAX_HEADER + DATA];
        let room = open.get_mut(..payload.len() + 1 + sound)?;
        room[..payload.len()].copy_from_slice(payload);
        room[payload.len()] = sound as u8;
        room[payload.len() + 1..].copy_from_slice(&data[..sound]);
        let packed = Packed::parse(room)?;
        if id.checked_sub(self.header.record_base) != Some(ids::PACKED)
            || seq != self.header.state.seq().wrapping_add(1)
            || !packed.page.base.is_multiple_of(WINDOW)
        {
            return None;
        }
        let at = if self.whole_frames { sound } else { 0 };
        let run = Run::of(&packed, head, self.header.time_width > 0);
        self.run = Run { data, end, at, open_data, ..run };
        if !self.whole_frames {
            return Some(Framed::Run(0));
        }
        self.decoder.set_offset(head);
        let mut ended = None;
        FrameWriter::new(seq, id, |byte| ended = self.decoder.take(byte)).bytes(room).finish();
        match ended {
            Some(Ended::Frame(end)) => Some(Framed::Item(PackedItem::Frame(end))),
            _ => None,
        }
    }

    fn byte(&self, position: u64) -> Option<u8> {
        let index = (position % self.header.size as u64) as usize;
        self.bytes.get(index).copied()
    }

    /// The next contiguous bytes.
    fn piece(&mut self) -> Option<&'a [u8]> {
        let end = self.header.state.head();
        if self.skip_to_flag && self.at < end {
            self.skip_to_flag = false;
            self.skip_partial_frame();
        }
        if self.at >= end {
            return None;
        }
        let size = self.header.size as u64;
        let start = (self.at % size) as usize;
        let len = (end - self.at).min(size - start as u64) as usize;
        let piece = self.bytes.get(start..).unwrap_or(&[]);
        let piece = &piece[..piece.len().min(len)];
        if piece.is_empty() {
            // The image ends here. Continue where the ring wraps.
            let next = (self.at + (size - start as u64)).min(end);
            self.cut += next - self.at;
            self.at = next;
            self.unbroken = 0;
            self.decoder.restart();
            self.decoder.set_offset(self.at);
            self.skip_to_flag = self.at < end;
            return self.piece();
        }
        Some(piece)
    }

    fn skip_partial_frame(&mut self) {
        let end = self.header.state.head();
        while self.at < end {
            let byte = self.byte(self.at);
            self.at += 1;
            if byte == Some(FLAG) {
                break;
            }
        }
        self.decoder.set_offset(self.at);
    }
}

/// The statements of repeated frames.
#[derive(Clone)]
struct Replay<'a>(PackedReader<'a>);

impl Iterator for Replay<'_> {
    type Item = Statement;

    fn next(&mut self) -> Option<Statement> {
        loop {
            if let Item::Statement(statement, _) = self.0.next()? {
                return Some(statement);
            }
        }
    }
}

/// An item that does not borrow its frame yet.
enum PackedItem {
    Item(Item<'static>),
    Frame(crate::frame::FrameEnd),
}

/// The contents of a frame.
enum Framed {
    Item(PackedItem),
    /// Statements, now in the run. With the number of frames missing before them.
    Run(u8),
}

impl Run {
    const fn empty() -> Run {
        let steps = Steps::new(crate::record::packed::Page { file: 0, base: 0 });
        Run {
            data: [0; DATA],
            len: 0,
            end: 0,
            at: 0,
            steps,
            stamp: None,
            time: 0,
            start: 0,
            open_data: 0,
            has_items: false,
        }
    }

    fn of(packed: &Packed<'_>, start: u64, has_clock: bool) -> Run {
        let mut run = Run { steps: Steps::new(packed.page), time: packed.time, start, ..Run::empty() };
        run.len = packed.data.len().min(DATA);
        run.end = run.len;
        run.data[..run.len].copy_from_slice(&packed.data[..run.len]);
        run.stamp = (has_clock && packed.time != 0).then_some(packed.time);
        run
    }

    /// Takes what no recorder writes in an open frame. The page behind it is not certain until a step names one, so the data go
    /// on there, unless this is their end.
    fn skip_damage(&mut self, is_end: bool) -> Damage {
        let from = self.len;
        let data = &self.data[..self.end];
        let names_page = |at: &usize| data[*at] == step::PAGE && Steps::sound(data, *at, 0) > *at;
        self.at = (from + 1..self.end).find(|at| !is_end && names_page(at)).unwrap_or(self.end);
        self.len = Steps::sound(data, self.at, 0);
        self.stamp = None;
        Damage { offset: self.open_data + from as u64, len: (self.at - from) as u64, cause: Cause::Layout }
    }
}
