//! Records as a sequence diagram in text, as QSPY draws it: a lane for each object of a list.

use std::fmt;

use crate::format_number as put;
use crate::stream::decoded::DecodedRecord;
use crate::symbols::target_symbols::TargetSymbols;

/// Most lanes, and the longest list of their names.
pub const MAX_LANES: usize = 10;
pub const MAX_LIST: usize = 299;

/// Columns from lane to lane, the centre of the first, and from a centre to the edge of its box.
const PITCH: usize = 20;
const FIRST: usize = 19;
const HALF: usize = 8;
/// Longest label, and that of some rows.
const LABEL: usize = 15;
const LONG_LABEL: usize = 16;
/// Lines between two heads.
const PAGE: u32 = 100;
const HEAD_LINES: u32 = 3;
/// Columns of a time stamp, and of a tick's text.
const TIME: usize = 10;
const TICK: usize = 34;
/// The lane of all objects that have none of their own.
const SYSTEM: &[u8] = b"?";

/// Most objects with a lane at a time, as in QSPY: a tenth is not drawn.
const MAX_OBJECTS: usize = 9;

/// A list of too many objects, or one that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceError {
    /// Objects of the list.
    pub objects: usize,
    /// Bytes of the list.
    pub len: usize,
}

impl fmt::Display for SequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a sequence diagram has at most {MAX_LANES} objects, named in at most {MAX_LIST} characters; \
             this list has {} in {}",
            self.objects, self.len
        )
    }
}

impl std::error::Error for SequenceError {}

impl From<SequenceError> for String {
    fn from(error: SequenceError) -> String {
        error.to_string()
    }
}

/// Draws the diagram.
#[derive(Clone, Debug)]
pub struct Sequence {
    list: String,
    /// Names of the lanes.
    lanes: Vec<Vec<u8>>,
    /// Objects and their lanes. Several objects with one name share a lane.
    objects: Vec<(u64, usize)>,
    system: Option<usize>,
    lines: u32,
    row: Vec<u8>,
    label: Vec<u8>,
}

impl Sequence {
    /// Creates a diagram with a lane for each name of a comma-separated list.
    ///
    /// # Errors
    /// The list has too many names, or is too long.
    pub fn new(list: &str) -> Result<Sequence, SequenceError> {
        let lanes: Vec<Vec<u8>> = list.split(',').map(|name| name.as_bytes().to_vec()).collect();
        if lanes.len() > MAX_LANES || list.len() > MAX_LIST {
            return Err(SequenceError { objects: lanes.len(), len: list.len() });
        }
        let system = lanes.iter().position(|name| name == SYSTEM);
        let list = list.to_owned();
        Ok(Sequence {
            list,
            lanes,
            objects: Vec::new(),
            system,
            lines: 0,
            row: Vec::new(),
            label: Vec::new(),
        })
    }

    /// The text before the first row.
    pub fn opening(&mut self) -> Vec<u8> {
        let mut opening = format!("-g {}\n\n", self.list).into_bytes();
        self.head(&mut opening);
        opening
    }

    /// Gives an object a name. If no lane has the name, the object keeps the lane of its previous name.
    pub fn learn(&mut self, object: u64, name: &[u8]) {
        let Some(lane) = self.lanes.iter().position(|lane| lane == name) else { return };
        match self.objects.iter().position(|(known, _)| *known == object) {
            Some(index) => self.objects[index].1 = lane,
            None if self.objects.len() < MAX_OBJECTS => self.objects.push((object, lane)),
            None => {}
        }
    }

    /// Forgets all names except that of the null object.
    pub fn forget(&mut self) {
        self.objects.clear();
        self.learn(0, b"NULL");
    }

    /// Takes the names of the objects from the symbols.
    pub fn learn_all(&mut self, known: &TargetSymbols) {
        self.objects.clear();
        known.objects.iter().for_each(|(object, name)| self.learn(object, name));
    }

    /// Appends the row of a record, if it has one.
    pub fn push_row(&mut self, record: &DecodedRecord<'_>, known: &TargetSymbols, to: &mut Vec<u8>) {
        if record.good_plan().is_none_or(|plan| plan.ops.is_empty()) {
            return;
        }
        let value = |name: &str| record.value(name).unwrap_or(0);
        let is_drawn = match record.id() {
            6 => self.transition(record.time, value("obj"), value("target"), known),
            10 => self.note(record.time, value("obj"), b"Defer", *b"()"),
            11 if record.value("sig").is_some() => self.note(record.time, value("obj"), b"RCall", *b"()"),
            18 if record.value("queue").is_some() => self.note(record.time, value("obj"), b"RCallA", *b"()"),
            14 | 45 => {
                self.signal(known, value("sig"), value("obj"));
                let marks = if record.id() == 14 { Marks::POST } else { Marks::ATTEMPT };
                self.post(record.time, value("sender"), value("obj"), marks)
            }
            15 => {
                self.signal(known, value("sig"), value("obj"));
                self.post_lifo(record.time, value("obj"))
            }
            26 => {
                self.signal(known, value("sig"), 0);
                self.publish(record.time, value("sender"))
            }
            31 => self.tick(value("rate"), value("ctr")),
            _ => false,
        };
        if is_drawn {
            if self.lines.is_multiple_of(PAGE) {
                self.head(to);
            }
            to.extend_from_slice(&self.row);
            to.push(b'\n');
            self.lines += 1;
        }
    }

    fn head(&mut self, to: &mut Vec<u8>) {
        self.lines += HEAD_LINES;
        for is_middle in [false, true, false] {
            let start = to.len();
            for (index, name) in self.lanes.iter().enumerate() {
                let left = centre(index) - HALF;
                to.resize(start + left, b' ');
                if is_middle {
                    let name = &name[..name.len().min(LABEL)];
                    to.push(b'|');
                    to.resize(start + left + 1 + (LABEL - name.len()) / 2, b' ');
                    to.extend_from_slice(name);
                    to.resize(start + left + 2 * HALF, b' ');
                    to.push(b'|');
                } else {
                    to.extend_from_slice(b"+-------+-------+");
                }
            }
            to.push(b'\n');
        }
    }

    fn lane(&self, object: u64) -> Option<usize> {
        self.objects.iter().find(|(known, _)| *known == object).map(|(_, lane)| *lane)
    }

    /// Starts a row: the time and the lanes.
    fn base(&mut self, time: u64) {
        self.row.clear();
        put::padded(&mut self.row, time, TIME);
        for index in 0..self.lanes.len() {
            self.set(centre(index), b"|");
        }
    }

    fn set(&mut self, column: usize, text: &[u8]) {
        let end = column + text.len();
        if self.row.len() < end {
            self.row.resize(end, b' ');
        }
        self.row[column..end].copy_from_slice(text);
    }

    fn mark_system(&mut self) {
        if let Some(system) = self.system {
            self.set(centre(system), b"/");
        }
    }

    fn signal(&mut self, known: &TargetSymbols, sig: u64, object: u64) {
        self.label.clear();
        known.push_signal(sig, object, &mut self.label);
    }

    fn short_label(&self, longest: usize) -> Vec<u8> {
        self.label[..self.label.len().min(longest)].to_vec()
    }

    fn post(&mut self, time: u64, from: u64, to: u64, marks: Marks) -> bool {
        let (from, to) = (self.lane(from), self.lane(to));
        if from.is_none() && to.is_none() {
            return false;
        }
        let (Some(from), Some(to)) = (from.or(self.system), to.or(self.system)) else { return false };
        self.base(time);
        let label = self.short_label(LABEL);
        let (source, target) = (centre(from), centre(to));
        if from == to {
            return self.post_to_itself(from, marks, &label);
        }
        for column in source.min(target)..source.max(target) {
            let line = if is_centre(column) { b'+' } else { marks.line };
            self.set(column, &[line]);
        }
        if from < to {
            self.set(target - 1, b">");
            self.set(source + 3, &label);
        } else {
            self.set(target, b"|<");
            self.set(source - 2 - label.len(), &label);
        }
        self.mark_system();
        self.set(source, &[marks.origin]);
        true
    }

    fn post_to_itself(&mut self, lane: usize, marks: Marks, label: &[u8]) -> bool {
        let column = centre(lane);
        self.set(column + 1, &[b'<', marks.into_itself]);
        self.set(column + 3, label);
        self.set(column + 3 + label.len(), b"]");
        self.mark_system();
        self.set(column, &[marks.origin]);
        true
    }

    fn post_lifo(&mut self, time: u64, object: u64) -> bool {
        let Some(lane) = self.lane(object) else { return false };
        self.base(time);
        let label = self.short_label(LONG_LABEL);
        self.post_to_itself(lane, Marks::LIFO, &label)
    }

    fn publish(&mut self, time: u64, sender: u64) -> bool {
        let Some(lane) = self.lane(sender).or(self.system) else { return false };
        self.base(time);
        self.fill(TIME, *b" .");
        let (column, label) = (centre(lane), self.short_label(LONG_LABEL));
        let is_last = lane + 1 == self.lanes.len();
        let start = if is_last { column - 2 - label.len().min(LABEL) } else { column + 3 };
        self.set(start, &label);
        self.mark_system();
        self.set(column, b"*");
        true
    }

    fn tick(&mut self, rate: u64, ctr: u64) -> bool {
        self.row.clear();
        self.row.extend_from_slice(b"##########  Tick<");
        put::number(&mut self.row, rate);
        self.row.extend_from_slice(b"> Ctr=");
        put::padded(&mut self.row, ctr, 10);
        // A rate of more than one digit pushes out the last digits of the counter.
        self.row.truncate(TICK);
        self.fill(TICK, *b"' ");
        self.mark_system();
        true
    }

    /// Fills the rest of the row: the lanes, and between them one mark on even columns and one on odd columns.
    fn fill(&mut self, from: usize, between: [u8; 2]) {
        for column in from..PITCH * self.lanes.len() + 7 {
            let mark = if is_centre(column) { b'|' } else { between[column % 2] };
            self.set(column, &[mark]);
        }
    }

    fn transition(&mut self, time: u64, object: u64, state: u64, known: &TargetSymbols) -> bool {
        let mut name = Vec::new();
        known.push_function(state, &mut name);
        let start = (0..name.len()).find_map(|at| match &name[at..] {
            [b'_', ..] => Some(at + 1),
            [b':', b':', ..] => Some(at + 2),
            _ => None,
        });
        self.note(time, object, &name[start.unwrap_or(0)..], *b"<>")
    }

    fn note(&mut self, time: u64, object: u64, text: &[u8], [open, close]: [u8; 2]) -> bool {
        let Some(lane) = self.lane(object) else { return false };
        self.base(time);
        let text = &text[..text.len().min(LABEL)];
        let start = centre(lane) - text.len().div_ceil(2);
        self.set(start, &[open]);
        self.set(start + 1, text);
        self.set(start + 1 + text.len(), &[close]);
        self.mark_system();
        true
    }
}

/// Characters that a post is drawn with.
#[derive(Clone, Copy, Debug)]
struct Marks {
    line: u8,
    origin: u8,
    into_itself: u8,
}

impl Marks {
    const POST: Marks = Marks { line: b'-', origin: b'*', into_itself: b'-' };
    const ATTEMPT: Marks = Marks { line: b'~', origin: b'A', into_itself: b'-' };
    const LIFO: Marks = Marks { line: b'-', origin: b'*', into_itself: b'=' };
}

fn centre(lane: usize) -> usize {
    FIRST + PITCH * lane
}

fn is_centre(column: usize) -> bool {
    column >= FIRST && (column - FIRST).is_multiple_of(PITCH)
}
