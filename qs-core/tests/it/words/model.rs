//! A minimal recorder of words, with a ring in plain memory. It takes a snapshot at each step that another process could
//! observe, or at which the program could be killed.

#![allow(dead_code, reason = "two test programs use this file, each a part of it")]

use qs_core::frame::FLAG;
use qs_core::record::value::RecordedValue;
use qs_core::record::words::{UNIT, UnitRepetition, Word, digits, word_len};
use qs_core::record::{EventKind, RECORD_BASE, Statement};
use qs_core::ring::{CheckedPosition, Header, PROLOGUE_AT, PROLOGUE_OFFSET};

/// Length of the header: a page.
pub const PAGE: usize = 4096;
const CHUNK_ID: u8 = RECORD_BASE + 2;

/// A ring, and everything that was ever written to it.
#[derive(Clone, Debug)]
pub struct Model {
    pub size: usize,
    pub ring: Vec<u8>,
    /// Position behind the closed frames.
    pub head: u64,
    pub seq: u8,
    /// Length of the open chunk before its first word.
    pub open: usize,
    pub cursor: u64,
    pub zeroed: u64,
    pub limit: u64,
    pub trim: u64,
    pub trim_repetition: [u8; 8],
    /// Lane and level.
    pub lane: (u16, u16),
    pub open_time: u64,
    pub last_time: u64,
    pub pid: u32,
    pub tid: u32,
    pub number: u16,
    pub rings: u16,
    pub name: &'static str,
    pub map_hash: u64,
    /// The words of the newest frame, if it is a chunk.
    pub newest: Option<Vec<u8>>,
    /// All statements so far.
    pub truth: Vec<Statement>,
    /// Number of values so far.
    pub values: usize,
    /// Images, each with its number of statements, if wanted.
    pub snapshots: Option<Vec<(Vec<u8>, usize)>>,
    /// The number of steps between snapshots, and the number of steps so far.
    pub every: usize,
    pub steps: usize,
    /// Sizes of a chunk and of the slack in bytes.
    pub chunk: u64,
    pub slack: u64,
    /// No folding, as after a handler ran.
    pub is_plain: bool,
}

impl Model {
    /// An empty ring with an open chunk.
    pub fn new(size: usize) -> Model {
        let mut model = Model {
            size,
            ring: vec![0; size],
            head: 0,
            seq: 0,
            open: 0,
            cursor: 0,
            zeroed: 0,
            limit: 0,
            trim: 0,
            trim_repetition: [0; 8],
            lane: (0, 0),
            open_time: 1000,
            last_time: 1000,
            pid: 0,
            tid: 0,
            number: 0,
            rings: 0,
            name: "",
            map_hash: 0,
            newest: None,
            truth: Vec::new(),
            values: 0,
            snapshots: None,
            every: 1,
            steps: 0,
            chunk: (size as u64 / 4).min(16 << 10),
            slack: (size as u64 / 8).min(16 << 10),
            is_plain: false,
        };
        model.clear_ahead();
        model.publish(0, 0);
        model
    }

    fn put(&mut self, position: u64, bytes: &[u8]) {
        for (index, byte) in bytes.iter().enumerate() {
            self.ring[(position as usize + index) % self.size] = *byte;
        }
    }

    fn get(&self, from: u64, to: u64) -> Vec<u8> {
        (from..to).map(|at| self.ring[at as usize % self.size]).collect()
    }

    pub fn first(&self) -> u64 {
        self.head + self.open as u64
    }

    pub fn words(&self) -> Vec<u8> {
        self.get(self.first(), self.cursor)
    }

    pub fn repetition(&self) -> UnitRepetition {
        UnitRepetition::from_bytes(self.get(self.first() - 8, self.first()).try_into().unwrap())
            .expect("an again")
    }

    /// Whether the words have used half of the slack, so that a check must come before more of them.
    pub fn is_far(&self) -> bool {
        self.cursor > self.limit + self.slack / 2
    }

    fn set_repetition(&mut self, repetition: UnitRepetition) {
        self.put(self.first() - 8, &repetition.to_bytes());
    }

    pub fn snap(&mut self) {
        self.steps += 1;
        if self.steps.is_multiple_of(self.every)
            && let Some(mut snapshots) = self.snapshots.take()
        {
            snapshots.push((self.image(), self.truth.len()));
            self.snapshots = Some(snapshots);
        }
    }

    /// The state with an open chunk behind `head`.
    fn publish(&mut self, head: u64, seq: u8) {
        self.head = head;
        self.seq = seq;
        self.open = open_len(head, seq.wrapping_add(1));
        self.cursor = self.first();
        self.open_time = self.last_time;
    }

    /// Records a statement with this number, 0 = no number.
    pub fn statement(&mut self, statement: Statement, number: u32) {
        match Word::new(statement, number).expect("a word") {
            Word::Short(bytes) => {
                self.put(self.cursor, &bytes);
                self.cursor += 2;
            }
            Word::Long(bytes) => {
                self.put(self.cursor, &bytes);
                self.cursor += 4;
            }
        }
        self.truth.push(statement);
    }

    /// Records a value.
    pub fn value(&mut self, value: &RecordedValue) {
        let (word, len) = value.to_word();
        self.put(self.cursor, &word[..len]);
        self.cursor += len as u64;
        self.values += 1;
    }

    /// The check at a function entry or at the head of a loop.
    pub fn check(&mut self) {
        if self.cursor >= self.limit {
            self.turn();
        }
    }

    pub fn turn(&mut self) {
        self.last_time += 10;
        let words = self.words();
        if let Some(period) = self.whole_period(&words) {
            self.fold(&words, period);
            self.open_time = self.last_time;
        } else if let Some((kept, period)) = self.tail_period(&words) {
            self.split(&words, kept, period);
        } else {
            self.close();
        }
        self.snap();
        self.clear_ahead();
    }

    pub fn clear_ahead(&mut self) {
        let (from, to) = (self.zeroed, self.cursor + self.chunk + self.slack);
        self.limit = self.cursor + self.chunk;
        if to <= from {
            return;
        }
        let from = from.max(self.cursor);
        self.zeroed = to;
        self.snap();
        let middle = (from + to) / 2;
        self.put(from, &vec![0; (middle - from) as usize]);
        self.snap();
        self.put(middle, &vec![0; (to - middle) as usize]);
        self.snap();
    }

    fn whole_period(&self, words: &[u8]) -> Option<usize> {
        let repetition = self.repetition();
        let newest = self.newest.as_ref()?;
        let units: Vec<_> = words.chunks(UNIT).collect();
        let is_start = starts(words);
        let newest_is_start = starts(newest);
        (1..=units.len() / 2)
            .find(|period| {
                let before = newest.len().checked_sub(period * UNIT);
                let is_basis = match repetition.times {
                    0 => before.is_some_and(|at| {
                        newest_is_start[at / UNIT] && newest[at..] == words[..period * UNIT]
                    }),
                    _ => {
                        repetition.period as usize == *period
                            && before.is_some_and(|at| newest[at..] == words[..period * UNIT])
                    }
                };
                is_basis
                    && is_start[*period]
                    && (*period..units.len()).all(|at| units[at] == units[at - period])
            })
            .filter(|_| !self.is_plain)
    }

    fn tail_period(&self, words: &[u8]) -> Option<(usize, usize)> {
        let units: Vec<_> = words.chunks(UNIT).collect();
        let is_start = starts(words);
        let mut best: Option<(usize, usize)> = None;
        for period in 1..=units.len() / 2 {
            let mut first = units.len();
            while first > period && units[first - 1] == units[first - 1 - period] {
                first -= 1;
            }
            while first < units.len() && !(is_start[first] && is_start[first - period]) {
                first += 1;
            }
            if units.len() - first >= period.max(64)
                && first >= period
                && best.is_none_or(|(known, _)| first < known)
            {
                best = Some((first, period));
            }
        }
        best.filter(|_| !self.is_plain)
    }

    fn fold(&mut self, words: &[u8], period: usize) {
        let n = words.len() / UNIT;
        let old = self.repetition();
        let repetition = UnitRepetition {
            period: period as u32,
            times: old.times + (n / period) as u64,
            is_counted: true,
        };
        let rest = self.first() + (n % period * UNIT) as u64;
        self.snap();
        self.set_repetition(repetition);
        self.snap();
        self.put(rest, &[0; UNIT]);
        self.snap();
        let middle = (rest + self.cursor) / 2;
        self.put(rest, &vec![0; (middle - rest) as usize]);
        self.snap();
        self.put(rest, &vec![0; (self.cursor - rest) as usize]);
        self.snap();
        self.set_repetition(UnitRepetition { is_counted: false, ..repetition });
        self.cursor = rest;
    }

    /// The bytes of a closed chunk's head and behind its words.
    fn ends(&self, words: &[u8]) -> (Vec<u8>, Vec<u8>) {
        ends(self.head, self.seq.wrapping_add(1), self.open_time as u32, self.repetition(), words)
    }

    pub fn is_empty(&self) -> bool {
        self.cursor == self.first() && self.repetition().times == 0
    }

    /// Closes the open chunk and opens another.
    pub fn close(&mut self) {
        if self.is_empty() {
            self.publish(self.head, self.seq);
            return;
        }
        let words = self.words();
        let (head, tail) = self.ends(&words);
        self.snap();
        self.put(self.head, &head);
        self.snap();
        self.put(self.cursor, &tail);
        self.snap();
        self.newest = Some(words);
        self.publish(self.cursor + tail.len() as u64, self.seq.wrapping_add(1));
    }

    fn split(&mut self, words: &[u8], kept: usize, period: usize) {
        let n = words.len() / UNIT;
        let (times, residue) = ((n - kept) / period, (n - kept) % period);
        let repetition = UnitRepetition { period: period as u32, times: times as u64, is_counted: false };
        let end = self.cursor;
        self.snap();
        self.trim_repetition = repetition.to_bytes();
        self.snap();
        self.trim = 1 << 63 | (residue as u64) << 40 | (kept as u64) << 24 | self.head & 0xFF_FFFF;
        self.snap();
        let (head, tail) = self.ends(&words[..kept * UNIT]);
        let behind = self.first() + (kept * UNIT) as u64;
        self.put(self.head, &head);
        self.snap();
        self.put(behind, &tail);
        self.snap();
        let next = behind + tail.len() as u64;
        let first = next + open_len(next, self.seq.wrapping_add(2)) as u64;
        self.put(next, &vec![0; (first - next) as usize]);
        self.snap();
        self.put(first - 8, &repetition.to_bytes());
        self.snap();
        let start = (kept - period) * UNIT;
        self.put(first, &words[start..start + residue * UNIT]);
        self.snap();
        let cursor = first + (residue * UNIT) as u64;
        if cursor < end {
            let middle = (cursor + end) / 2;
            self.put(cursor, &vec![0; (middle - cursor) as usize]);
            self.snap();
            self.put(cursor, &vec![0; (end - cursor) as usize]);
            self.snap();
        }
        self.newest = Some(words[..kept * UNIT].to_vec());
        self.publish(next, self.seq.wrapping_add(1));
        self.cursor = cursor;
        self.snap();
        self.trim = 0;
    }

    /// Writes one of xhist's own events.
    pub fn event(&mut self, kind: EventKind, value: u64) {
        let time = self.last_time as u32;
        let seq = if self.is_empty() { self.seq } else { self.seq.wrapping_add(1) }.wrapping_add(1);
        let mut frame = Vec::new();
        kind.emit(seq, RECORD_BASE, time, value, |byte| frame.push(byte));
        self.record(&frame);
    }

    /// Writes a frame with the next sequence number.
    pub fn record(&mut self, frame: &[u8]) {
        self.close();
        self.clear_ahead();
        // With a chunk open there, the frame's bytes would look like words.
        self.open = 0;
        for len in 0..frame.len() {
            self.put(self.head, &frame[..len]);
            if len < 12 || len + 2 > frame.len() {
                self.snap();
            }
        }
        // The sequence number may come last.
        self.put(self.head, frame);
        self.put(self.head, &[0]);
        self.snap();
        self.put(self.head, frame);
        self.snap();
        self.newest = None;
        self.publish(self.head + frame.len() as u64, self.seq.wrapping_add(1));
        self.snap();
        self.clear_ahead();
    }

    pub fn image(&self) -> Vec<u8> {
        let mut header = vec![0x7E, b'x', b'H', b'i', b's', b't', 0xA7, 0x1D];
        header.extend(0x0A0B_0C0D_u32.to_ne_bytes());
        header.extend([4, 4, RECORD_BASE, 32]);
        header.extend((PAGE as u16).to_ne_bytes());
        header.extend([0; 2]);
        header.extend((self.size as u32).to_ne_bytes());
        header.extend(self.map_hash.to_ne_bytes());
        header.extend(1_000_000u32.to_ne_bytes());
        let word = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().unwrap());
        let check = qs_core::ring::check_word([word(8), word(12), word(16), word(20)]);
        header.extend(check.to_ne_bytes());
        let state = self.head | (self.open as u64) << 48 | u64::from(self.seq) << 56;
        header.extend(state.to_ne_bytes());
        header.resize(64, 0);
        header.extend(self.last_time.to_ne_bytes());
        header.extend(self.zeroed.to_ne_bytes());
        header.extend(self.trim.to_ne_bytes());
        header.extend(self.trim_repetition);
        header.extend(self.lane.0.to_ne_bytes());
        header.extend(self.lane.1.to_ne_bytes());
        header.extend([0; 4]);
        header.extend(self.open_time.to_ne_bytes());
        header.extend([0; 8]);
        header.extend(self.pid.to_ne_bytes());
        header.extend(self.tid.to_ne_bytes());
        header.extend(1u32.to_ne_bytes());
        header.extend(self.number.to_ne_bytes());
        header.extend(self.rings.to_ne_bytes());
        header.resize(192, 0);
        header.extend(self.name.as_bytes());
        header.resize(PAGE, 0);
        header.extend(&self.ring);
        header
    }
}

/// Copies the closed frames of an earlier image, of a ring that has overwritten nothing, into the prologue of a later one, as a
/// recorder does. Returns false if no frame was closed.
pub fn keep_prologue(early: &[u8], image: &mut [u8]) -> bool {
    let closed = Header::parse(early).expect("a header").state.head() as usize;
    let closed = &early[PAGE..][..closed.min(PAGE - PROLOGUE_AT)];
    let Some(flag) = closed.iter().rposition(|byte| *byte == FLAG) else { return false };
    image[PROLOGUE_AT..=PROLOGUE_AT + flag].copy_from_slice(&closed[..=flag]);
    let word = CheckedPosition::at(flag as u64 + 1).0;
    image[PROLOGUE_OFFSET..][..8].copy_from_slice(&word.to_ne_bytes());
    true
}

/// Length of a chunk's head from this position on, so that its first word is aligned.
pub fn open_len(position: u64, seq: u8) -> usize {
    let least = position as usize + seq_bytes(seq).len() + 1 + 1 + 5 + 8;
    least.next_multiple_of(8) - position as usize
}

/// The bytes of a closed chunk's head at this position, and those behind its words.
pub fn ends(
    position: u64,
    seq: u8,
    time: u32,
    repetition: UnitRepetition,
    words: &[u8],
) -> (Vec<u8>, Vec<u8>) {
    let mut head = seq_bytes(seq);
    let pad = open_len(position, seq) - head.len() - 1 - 1 - 5 - 8;
    head.extend([CHUNK_ID, pad as u8 + 1]);
    head.resize(head.len() + pad, 1);
    head.extend(digits::<5>(u64::from(time)));
    head.extend(repetition.to_bytes());
    let escaped = head[0] == 0x7D;
    let sum = head[usize::from(escaped)..].iter().chain(words).fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    let sum = if escaped { sum.wrapping_sub(head[1]).wrapping_add(seq) } else { sum };
    let tail = match !sum {
        byte @ (0x7D | 0x7E) => vec![0x7D, byte ^ 0x20, 0x7E],
        byte => vec![byte, 0x7E],
    };
    (head, tail)
}

fn seq_bytes(seq: u8) -> Vec<u8> {
    match seq {
        0x7D | 0x7E => vec![0x7D, seq ^ 0x20],
        _ => vec![seq],
    }
}

/// The indices of units that start a word, and the index behind the last unit.
fn starts(words: &[u8]) -> Vec<bool> {
    let mut starts = vec![false; words.len() / UNIT + 1];
    let mut at = 0;
    while at <= words.len() {
        starts[at / UNIT] = true;
        at += word_len(&words[at..]).unwrap_or(UNIT);
    }
    starts
}
