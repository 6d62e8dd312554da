//! Records as a sequence diagram in text, as QSPY draws it: a lane for each object of a list. It must not know files.

use super::decoded::Decoded;
use super::known::Known;
use super::put;

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
/// The head is drawn again when so many lines are behind it.
const PAGE: u32 = 100;
const HEAD_LINES: u32 = 3;
/// Columns of a time stamp, and of a tick's text.
const TIME: usize = 10;
const TICK: usize = 34;
/// The lane that stands for every object without one.
const SYSTEM: &[u8] = b"?";

/// Most objects that lanes are known of; a dictionary has no more.
const MAX_OBJECTS: usize = 255;

/// Draws the diagram.
#[derive(Clone, Debug)]
pub struct Sequence {
    list: String,
    /// Names of the lanes.
    lanes: Vec<Vec<u8>>,
    /// Objects of lanes. A lane has several when its name was told of several.
    objects: Vec<(u64, usize)>,
    system: Option<usize>,
    lines: u32,
    row: Vec<u8>,
    label: Vec<u8>,
}

impl Sequence {
    /// With a lane for each name of the list, which commas part.
    ///
    /// # Errors
    /// The list has too many names, or is too long.
    pub fn new(list: &str) -> Result<Sequence, String> {
        let lanes: Vec<Vec<u8>> = list.split(',').map(|name| name.as_bytes().to_vec()).collect();
        if lanes.len() > MAX_LANES || list.len() > MAX_LIST {
            return Err(format!(
                "a sequence diagram has at most {MAX_LANES} objects, named in at most {MAX_LIST} characters; \
                 this list has {} in {}",
                lanes.len(),
                list.len()
            ));
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

    /// What stands before the first row.
    pub fn opening(&mut self) -> Vec<u8> {
        let mut opening = format!("-g {}\n\n", self.list).into_bytes();
        self.head(&mut opening);
        opening
    }

    /// An object has this name. When that is no lane's, the lane of its last name stays its own.
    pub fn learn(&mut self, object: u64, name: &[u8]) {
        let Some(lane) = self.lanes.iter().position(|lane| lane == name) else { return };
        match self.objects.iter().position(|(known, _)| *known == object) {
            Some(index) => self.objects[index].1 = lane,
            None if self.objects.len() < MAX_OBJECTS => self.objects.push((object, lane)),
            None => {}
        }
    }

    /// All names were forgotten, but that of no object.
    pub fn forget(&mut self) {
        self.objects.clear();
        self.learn(0, b"NULL");
    }

    /// Takes the names of the objects from what is known.
    pub fn learn_all(&mut self, known: &Known) {
        self.objects.clear();
        known.objects.iter().for_each(|(object, name)| self.learn(object, name));
    }

    /// Appends the row of a record, if it has one.
    pub fn push_row(&mut self, record: &Decoded<'_>, known: &Known, to: &mut Vec<u8>) {
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

    /// A row with nothing but the time and the lanes.
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

    fn signal(&mut self, known: &Known, sig: u64, object: u64) {
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
        // A rate of more than one digit takes the place of the counter's last ones.
        self.row.truncate(TICK);
        self.fill(TICK, *b"' ");
        self.mark_system();
        true
    }

    /// Fills the rest of the row: the lanes, and between them these on even and odd columns.
    fn fill(&mut self, from: usize, between: [u8; 2]) {
        for column in from..PITCH * self.lanes.len() + 7 {
            let mark = if is_centre(column) { b'|' } else { between[column % 2] };
            self.set(column, &[mark]);
        }
    }

    fn transition(&mut self, time: u64, object: u64, state: u64, known: &Known) -> bool {
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

/// How a post is drawn.
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
