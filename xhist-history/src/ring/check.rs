//! Detects contradictions in the rings of an image: words of headers that contradict the frames, and rings that are missing.
//! The magic and the check word of a header cover only its first half, so the other half is compared with the bytes behind it.

use std::collections::{BTreeMap, BTreeSet};

use qs_core::frame::{Decoder, FLAG, Outcome, needs_escape};
use qs_core::record::chunk::MIN_OPEN;
use qs_core::record::value::{MARK, MAX_WORD};
use qs_core::record::words::{REPETITION, UNIT, UnitRepetition, digit_of};
use qs_core::ring::{Causes, Header, Item, Reader, SPARE_NUMBER, Shown};

use super::locate::{Findings, Placed};

/// Free bytes at the end of a ring that was never full.
const FREE: [u8; 8] = [0; 8];
/// Rings of a file start a page.
const PAGE: usize = 4096;
/// Bytes behind the newest word that are checked: fewer than any recorder zeroes ahead.
const AHEAD: u64 = 64;
/// Words start at a multiple of this.
const ALIGN: u64 = 8;

/// Adds to the findings what is damaged or missing. While a process runs, its rings are being written, so their bytes may be
/// newer than their headers.
pub fn check(findings: &mut Findings, image: &[u8], is_running: &dyn Fn(u32) -> bool) {
    let mut running: BTreeMap<u32, bool> = BTreeMap::new();
    for placed in &mut findings.rings {
        let pid = placed.header.pid;
        let is_still = !*running.entry(pid).or_insert_with(|| is_running(pid));
        let ring = placed.ring.clone();
        let mut wrong = Wrong { found: Vec::new() };
        if let Some(damage) = placed.damage {
            wrong.say(format!("its header is damaged: {damage}"));
        }
        wrong.look(&mut placed.header, &image[ring.offset..], is_still);
        for what in wrong.found {
            findings.damaged.push(format!("{ring} at offset 0x{:x}: {what}", ring.offset));
        }
    }
    missing_rings(findings, image);
}

/// What is wrong with one ring.
struct Wrong {
    found: Vec<String>,
}

impl Wrong {
    fn say(&mut self, what: impl Into<String>) {
        self.found.push(what.into());
    }

    fn look(&mut self, header: &mut Header, image: &[u8], is_still: bool) {
        self.look_at_length(header, image);
        if header.is_cleared_damaged {
            self.say("its header is damaged where it says what was shown before, so all of it is shown");
        }
        if header.words.is_begin_damaged {
            self.say("its header is damaged where it says where the history begins, so all of it is shown");
        }
        if header.words.is_prologue_damaged {
            self.say("its header is damaged where it says how much of the first statements it keeps, so they are not shown");
        }
        if header.state.0 >> 53 & 0x7 != 0 {
            self.say("the state word of its header is damaged");
        }
        let bytes = image.get(header.header_len..).unwrap_or(&[]);
        let bytes = &bytes[..bytes.len().min(header.size)];
        self.look_at_ahead(header, image);
        if is_still && header.has_words() {
            self.look_at_state(header, bytes);
            look_at_words(header, bytes, &mut |what| self.say(what));
        }
    }

    /// A source that ends within a ring may lack other rings behind it. Readers report missing frames themselves.
    fn look_at_length(&mut self, header: &Header, image: &[u8]) {
        let end = header.header_len + header.size;
        let present = image.len().saturating_sub(header.header_len) as u64;
        if image.len() < end && header.state.head() <= present {
            self.say(format!("the source ends {} bytes before the ring does", end - image.len()));
        }
    }

    /// A long record under way may have overwritten old frames. Where it has not, they are shown.
    fn look_at_ahead(&mut self, header: &mut Header, image: &[u8]) {
        if header.ahead > header.size as u64 {
            self.say("its header is damaged where it says how far a long record may reach");
            header.ahead = 0;
            return;
        }
        let mut untouched = *header;
        untouched.ahead = 0;
        let (from, to) = (untouched.kept(), header.kept());
        if from == to {
            return;
        }
        let mut reader = Reader::resume(untouched, image, 0, 0, Shown::default()).whole_frames();
        let is_whole = loop {
            match reader.next() {
                Some(Item::Frame(frame)) if frame.missing > 0 => break false,
                Some(Item::Frame(frame)) if frame.offset >= to => break true,
                Some(Item::Frame(_)) => {}
                None => break true,
                Some(_) => break false,
            }
        };
        if is_whole {
            header.ahead = 0;
        }
    }

    fn look_at_state(&mut self, header: &Header, bytes: &[u8]) {
        let (state, size) = (header.state, header.size as u64);
        let first = first_frame(bytes);
        if state.head() == 0 && state.seq() != 0 {
            self.say("the state word of its header is damaged: it counts frames and has none");
        } else if state.head() == 0 && state.open().is_none() && header.last_time != 0 && first == Some(1) {
            self.say("the state word of its header is damaged: it is empty, and there are frames");
        } else if state.head() > 0 && header.kept() == 0 && first.is_some_and(|seq| seq != 1) {
            self.say("the state word of its header is damaged: older frames than it counts are here");
        } else if state.head() >= size && first == Some(1) && bytes.ends_with(&FREE) {
            self.say("the state word of its header is damaged: it counts more than was ever written");
        } else if ends_in(bytes, state.head(), size).is_some_and(|byte| byte != FLAG) {
            self.say("no frame ends where its header says that the newest does");
        }
    }
}

/// The last byte before a position.
fn ends_in(bytes: &[u8], position: u64, size: u64) -> Option<u8> {
    bytes.get((position.checked_sub(1)? % size) as usize).copied()
}

/// Sequence number of the good frame at the start of the ring, if there is one.
fn first_frame(bytes: &[u8]) -> Option<u8> {
    match Decoder::new().push_slice(bytes).1 {
        Outcome::Frame(frame) => Some(frame.seq),
        _ => None,
    }
}

/// The rings of a process are numbered, and the first one counts them.
fn missing_rings(findings: &mut Findings, image: &[u8]) {
    let mut by_process: BTreeMap<u32, Vec<&Placed>> = BTreeMap::new();
    let is_numbered = |placed: &&Placed| placed.header.pid != 0 && placed.header.number != SPARE_NUMBER;
    for placed in findings.rings.iter().filter(is_numbered) {
        by_process.entry(placed.header.pid).or_default().push(placed);
    }
    for (pid, rings) in by_process {
        let numbers: BTreeSet<u16> = rings.iter().map(|placed| placed.header.number).collect();
        let newest = numbers.last().copied().unwrap_or_default();
        let made = rings.iter().map(|placed| placed.header.rings).max().unwrap_or_default();
        // Rings of threads that have not run since the file was emptied have no header yet.
        let was_emptied = rings.iter().any(|placed| placed.header.words.begin.is_some());
        let is_missing = |number: &u16| match numbers.contains(number) {
            true => false,
            false if was_emptied => !has_place(&rings, *number, image, &|bytes| bytes[..12] == [0; 12]),
            false => {
                *number < made
                    || !has_place(&rings, *number, image, &|bytes| bytes.iter().all(|byte| *byte == 0))
            }
        };
        let missing: Vec<u16> = (0..made.max(newest)).filter(is_missing).collect();
        if missing.is_empty() {
            continue;
        }
        findings.damaged.push(format!(
            "process {pid} has made {} rings, and {} not here, so what {} recorded is missing: {}",
            made.max(newest + 1),
            listed(&missing),
            if missing.len() == 1 { "its thread" } else { "their threads" },
            match missing.len() {
                _ if rings.iter().any(|placed| placed.header.words.causes.has(Causes::FILE_CLOSED)) =>
                    "the program closed the descriptor of the ring file before, so it stayed in memory",
                1 => "its header is damaged, or the source was cut",
                _ => "their headers are damaged, or the source was cut",
            },
        ));
    }
}

/// `ring 3 is`, `rings 0, 2 and 3 are`; counted from 0 as recorders do.
fn listed(missing: &[u16]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = missing.iter().take(SHOWN).map(u16::to_string).collect();
    match (shown.as_slice(), missing.len().saturating_sub(SHOWN)) {
        ([one], _) => format!("number {one} is"),
        ([some @ .., last], 0) => format!("numbers {} and {last} are", some.join(", ")),
        (some, more) => format!("numbers {} and {more} more are", some.join(", ")),
    }
}

/// Whether the bytes of a ring without a header pass the check. A thread takes a number before it lays out its ring: its
/// place in the file is still zero.
fn has_place(rings: &[&Placed], number: u16, image: &[u8], check: &dyn Fn(&[u8]) -> bool) -> bool {
    let Some(first) = rings.iter().min_by_key(|placed| placed.ring.offset) else { return false };
    let len = first.header.header_len + first.header.size;
    let known = rings.iter().find_map(|other| {
        let numbers = usize::from(other.header.number.checked_sub(first.header.number)?);
        (other.ring.offset - first.ring.offset).checked_div(numbers)
    });
    let stride = known.unwrap_or(len.next_multiple_of(PAGE));
    let place = |number: usize| {
        let before = usize::from(first.header.number).checked_mul(stride)?;
        (first.ring.offset + number.checked_mul(stride)?).checked_sub(before)
    };
    let bytes = place(usize::from(number)).and_then(|start| image.get(start..start.checked_add(len)?));
    bytes.is_some_and(check)
}

/// Reports contradictions in the header and the open chunk of a words ring that no program writes.
fn look_at_words(header: &Header, bytes: &[u8], say: &mut dyn FnMut(&str)) {
    let byte = |position: u64| bytes.get((position % header.size as u64) as usize).copied().unwrap_or(0);
    let (head, zeroed) = (header.state.head(), header.words.zeroed);
    if zeroed > head.saturating_add(header.size as u64) {
        say("its header is damaged where it says how much is zeroed for what comes");
    }
    let limit = zeroed.clamp(head, head.saturating_add(header.size as u64));
    let is_written = |from: u64, to: u64| (from..to.min(limit)).any(|at| byte(at) != 0);
    let is_empty = head == 0 && header.state.open().is_none_or(|open| byte(open as u64) == 0);
    if !is_empty && header.words.parent.is_some() != (header.words.level > 0) {
        say("its header is damaged where it says whether signal handlers wrote it");
    }
    // The recorder pads no more than it has to.
    let least = MIN_OPEN + usize::from(needs_escape(header.state.seq().wrapping_add(1)));
    let Some(open) = header.state.open() else {
        let first = (head + least as u64).next_multiple_of(ALIGN);
        // A record that is being written starts with bytes that an open chunk does not have.
        let is_record = is_written(head, first - REPETITION as u64);
        if !is_record && is_written(first - REPETITION as u64, first + AHEAD) {
            say("the state word of its header is damaged: a chunk is open that it does not know");
        }
        return;
    };
    let first = head + open as u64;
    if !first.is_multiple_of(ALIGN) || open >= least + ALIGN as usize {
        say("the state word of its header is damaged: its open chunk cannot start there");
        return;
    }
    let again: [u8; REPETITION] = std::array::from_fn(|index| byte(first - (REPETITION - index) as u64));
    // A recorder that was stopped while it folded, split or closed the chunk leaves more behind the words.
    let is_counted = UnitRepetition::from_bytes(again).is_none_or(|again| again.is_counted);
    let is_at_work = is_written(head, first - REPETITION as u64) || header.words.trim.at(head).is_some();
    if is_counted || is_at_work {
        return;
    }
    let is_unit = |at: u64| (0..UNIT as u64).all(|index| digit_of(byte(at + index)).is_some());
    let mut end = first;
    while end < limit && is_unit(end) {
        end += UNIT as u64;
    }
    // A recorder stores the mark of a value behind its payload.
    let may_be_value = header.has_values() && !is_written(end, end + MARK as u64);
    let end = if may_be_value { end + MAX_WORD as u64 } else { end };
    if is_written(end, end + AHEAD) {
        say("its open chunk is damaged, so what was recorded behind that is not shown");
    }
}
