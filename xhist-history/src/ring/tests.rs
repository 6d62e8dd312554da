//! Rings in images, whole and damaged: what is found, what is said, and which of them are copies.

use std::cell::Cell;

use super::*;
use crate::model::Gap;
use qs_core::record::value::{MARK, MAX_WORD};
use qs_core::record::words::{REPETITION, UnitRepetition, byte_of, digits, head_len};
use qs_core::record::{EventKind, RECORD_BASE, Statement};
use qs_core::ring::executed as bitmap;
use qs_core::ring::{BYTE_ORDER_MARK, Flags, Item, MAGIC, Reader, State, check_word};

/// Length of a header, and of a ring behind it.
const PAGE: usize = 4096;

/// A words ring with events only, which no chunk is open in.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub(crate) image: Vec<u8>,
    head: usize,
    seq: u8,
}

impl Recorder {
    pub(crate) fn new(pid: u32, number: u16) -> Recorder {
        let mut recorder = Recorder { image: vec![0; 2 * PAGE], head: 0, seq: 0 };
        let facts = u32::from_ne_bytes([4, 4, RECORD_BASE, 32]);
        let mut len = [0; 4];
        len[..2].copy_from_slice(&(PAGE as u16).to_ne_bytes());
        let words = [BYTE_ORDER_MARK, facts, u32::from_ne_bytes(len), PAGE as u32];
        recorder.image[..8].copy_from_slice(&MAGIC);
        words.iter().enumerate().for_each(|(index, word)| recorder.put(8 + 4 * index, &word.to_ne_bytes()));
        recorder.put(36, &check_word(words).to_ne_bytes());
        recorder.put(120, &pid.to_ne_bytes());
        recorder.put(124, &(pid + 1).to_ne_bytes());
        recorder.put(132, &number.to_ne_bytes());
        recorder
    }

    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) {
        self.image[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn event(mut self, value: u64) -> Recorder {
        self.seq = self.seq.wrapping_add(1);
        let mut frame = Vec::new();
        EventKind::Signal
            .emit(self.seq, RECORD_BASE, 10 * u32::from(self.seq), value, |byte| frame.push(byte));
        for byte in frame {
            self.image[PAGE + self.head % PAGE] = byte;
            self.head += 1;
        }
        self.put(40, &State::closed(self.head as u64, self.seq).0.to_ne_bytes());
        self.put(72, &(self.head as u64).to_ne_bytes());
        self
    }

    pub(crate) fn events(self, values: std::ops::Range<u64>) -> Recorder {
        values.fold(self, Recorder::event)
    }
}

fn found(image: &[u8]) -> Findings {
    find(image, None, &mut |_| {})
}

/// What is said of the rings of an image that no program writes.
fn said(image: &[u8]) -> Vec<String> {
    let mut findings = found(image);
    check(&mut findings, image, &|_| false);
    findings.damaged.first
}

#[test]
fn rings_are_found_by_the_magic_or_by_the_mark_behind_a_damaged_one() {
    let ring = Recorder::new(7, 0).events(0..3).image;
    let mut broken = ring.clone();
    broken[0] ^= 1;
    let mut version = ring.clone();
    version[12] = 9;
    let image = [&[5; 100], &ring[..], &broken, &version].concat();
    let findings = found(&image);
    let offsets: Vec<_> = findings.rings.iter().map(|placed| placed.ring.offset).collect();
    assert_eq!(offsets, [100, 100 + 2 * PAGE]);
    assert_eq!(findings.rings.iter().map(|placed| placed.ring.number).collect::<Vec<_>>(), [1, 2]);
    assert!(findings.rings[0].damage.is_none() && findings.rings[1].damage.is_some());
    assert_eq!((findings.unreadable.first[0].offset, findings.unreadable.first.len()), (100 + 4 * PAGE, 1));
    assert_eq!((findings.doubtful.first.len(), findings.left_out), (0, 0));
    // Of pieces that may hold anything, each place is found once.
    let pieces = [0..50, 50..100, 100..101, 101..PAGE, 3 * PAGE..9 * PAGE];
    let findings = find(&image, Some(&pieces), &mut |_| {});
    assert_eq!((findings.rings.len(), findings.unreadable.first.len()), (1, 1));
}

#[test]
fn the_first_places_that_are_no_rings_are_kept_and_the_others_counted() {
    let mut image = vec![0; 64 * 14];
    (0..13).for_each(|place| image[64 * place..][..8].copy_from_slice(&MAGIC));
    let findings = found(&image);
    let offsets: Vec<_> = findings.doubtful.first.iter().map(|place| place.offset).collect();
    assert_eq!(offsets, (0..10).map(|place| 64 * place).collect::<Vec<_>>());
    assert_eq!((findings.doubtful.more, findings.unreadable.first.len()), (3, 0));
}

#[test]
fn rings_that_overlap_too_often_are_left_out() {
    let (mut held, image) = (0, [0; 10]);
    let taken = [30, 10, 1, 0].map(|more| locate::take_room(&mut held, more, &image));
    assert_eq!((taken, held), ([true, true, false, true], 40));
    assert!(!locate::take_room(&mut held, usize::MAX, &image));
}

#[test]
fn a_snapshot_reads_what_is_not_cleared() {
    let mut ring = Recorder::new(7, 0).events(0..3);
    let cleared = qs_core::ring::Shown { position: ring.head as u64, ..Default::default() };
    for (index, word) in cleared.words().into_iter().enumerate() {
        ring.put(176 + 8 * index, &word.to_ne_bytes());
    }
    let image = [&[1; 64][..], &ring.event(3).image].concat();
    let findings = found(&image);
    let snapshot = RingSnapshot::whole(&findings.rings[0], &image);
    assert_eq!(frames(&mut snapshot.reader()), [4]);
    assert_eq!(frames(&mut snapshot.with_cleared().reader()), [1, 2, 3, 4]);
    assert_eq!(snapshot.frontier(), snapshot.header.state.head());
}

/// The sequence numbers of the frames that are left.
fn frames(reader: &mut Reader<'_>) -> Vec<u8> {
    let mut seqs = Vec::new();
    while let Some(item) = reader.next() {
        if let Item::Frame(frame) = item {
            seqs.push(frame.seq);
        }
    }
    seqs
}

/// What a follower of a ring at offset 64 finds: its frames, and bytes and entries that were overtaken.
type Look = Option<(Vec<u8>, Option<(u64, u64)>)>;

fn look(follower: &mut RingFollower, ring: &Recorder, is_last: bool) -> Look {
    let read = |at: usize, bytes: &mut [u8]| {
        let from = at.checked_sub(64).and_then(|at| ring.image.get(at..at + bytes.len()));
        from.map(|from| bytes.copy_from_slice(from)).is_some()
    };
    let gap = follower.look(&read, is_last)?;
    let mut reader = follower.snapshot().reader();
    let seqs = frames(&mut reader);
    let place = (reader.resume_from(), reader.shown());
    follower.go_on(place, Clock::default(), seqs.len() as u64);
    Some((seqs, gap.overtaken.map(|lost| (lost.bytes, lost.entries))))
}

#[test]
fn a_follower_reads_what_is_new_and_counts_what_was_overtaken() {
    let ring = Recorder::new(7, 0).events(0..3);
    let image = [&[1; 64][..], &ring.image].concat();
    let mut follower = RingFollower::new(found(&image).rings.remove(0), ring.image.len());
    assert_eq!(look(&mut follower, &ring, false), Some((vec![1, 2, 3], None)));
    assert_eq!(look(&mut follower, &ring, false), None);
    assert_eq!(look(&mut follower, &ring, true), Some((vec![], None)));
    let ring = ring.event(3);
    assert_eq!(look(&mut follower, &ring, false), Some((vec![4], None)));
    // The ring wraps, and some frames stay unread.
    let shown = ring.head as u64;
    let ring = ring.events(4..800);
    let (seqs, overtaken) = look(&mut follower, &ring, false).expect("frames");
    let bytes = (ring.head - PAGE) as u64 - shown;
    assert_eq!(overtaken, Some((bytes, (bytes as f64 * 4.0 / shown as f64) as u64)));
    assert!(seqs.len() > 200 && seqs.ends_with(&[ring.seq - 1, ring.seq]) && follower.is_mostly_read());
    // Another thread has the ring, and what the first one wrote meanwhile is lost.
    let mut other = Recorder::new(8, 0).events(0..2);
    other.put(136, &(ring.head as u64 + 1000).to_ne_bytes());
    let (seqs, overtaken) = look(&mut follower, &other, false).expect("frames");
    assert_eq!((seqs, overtaken.map(|(bytes, _)| bytes)), (vec![1, 2], Some(1000)));
    follower.refresh();
    assert_eq!((follower.placed.ring.pid, follower.placed.ring.offset), (8, 64));
}

#[test]
fn words_of_a_loop_that_is_being_folded_are_left_for_a_later_look() {
    let mut ring = Recorder::new(7, 0).events(0..3);
    ring.put(40, &State::closed(ring.head as u64, 3).with_open(16).0.to_ne_bytes());
    ring.put(72, &(ring.head as u64 + 64).to_ne_bytes());
    let mut follower = RingFollower::new(found(&ring.image).rings.remove(0), ring.image.len());
    // Whether something was new, the loop was being folded, and the open chunk can be read.
    let mut look = |times: u64, is_last: bool, moved: Option<u64>| {
        let again = UnitRepetition { period: 1, times, is_counted: false };
        ring.put(PAGE + ring.head + 16 - REPETITION, &again.to_bytes());
        let headers = Cell::new(0);
        let read = |at: usize, bytes: &mut [u8]| {
            bytes.copy_from_slice(&ring.image[at..at + bytes.len()]);
            headers.set(headers.get() + u32::from(at == 0));
            if let Some(state) = moved.filter(|_| at == 0 && headers.get() > 1) {
                bytes[40..48].copy_from_slice(&state.to_ne_bytes());
            }
            true
        };
        let is_new = follower.look(&read, is_last).is_some();
        (is_new, follower.snapshot().is_folding, follower.placed.header.state.open().is_some())
    };
    assert_eq!(look(0, false, None), (true, false, true));
    assert!(!look(0, false, None).0);
    assert_eq!(look(5, false, None), (true, true, true));
    assert_eq!(look(5, false, None), (true, false, true));
    assert!(!look(5, false, None).0);
    assert_eq!(look(6, true, None), (true, false, true));
    // The writer closes the chunk during the look.
    assert_eq!(look(6, true, Some(0)), (true, false, false));
}

#[test]
fn each_damage_of_a_header_is_said() {
    let whole = Recorder::new(7, 0).events(0..300);
    assert!(whole.head > PAGE && said(&whole.image).is_empty());
    let short = Recorder::new(7, 0).events(0..3);
    assert_eq!(said(&short.image), Vec::<String>::new());
    let damaged = |recorder: &Recorder, at: usize, bytes: &[u8], what: &str| {
        let mut recorder = recorder.clone();
        recorder.put(at, bytes);
        let said = said(&recorder.image);
        assert!(said.len() == 1 && said[0].ends_with(what), "{what}: {said:?}");
        assert!(said[0].starts_with("ring 1 (thread 8) at offset 0x0: "), "{said:?}");
        // While the process runs, its header may be older than its frames.
        let mut findings = found(&recorder.image);
        check(&mut findings, &recorder.image, &|pid| pid == 7);
        findings.damaged.first.len()
    };
    let state = |head: usize, seq: u8| State::closed(head as u64, seq).0.to_ne_bytes();
    let none = "the state word of its header is damaged: it counts frames and has none";
    assert_eq!(damaged(&short, 40, &state(0, 3), none), 0);
    let newest = "no frame ends where its header says that the newest does";
    assert_eq!(damaged(&short, 40, &state(short.head - 1, 3), newest), 0);
    let mut later = Recorder::new(7, 0);
    later.seq = 8;
    let older = "the state word of its header is damaged: older frames than it counts are here";
    assert_eq!(damaged(&later.events(0..3), 0, &MAGIC, older), 0);
    let mut timed = short.clone();
    timed.put(64, &9u64.to_ne_bytes());
    let empty = "the state word of its header is damaged: it is empty, and there are frames";
    assert_eq!(damaged(&timed, 40, &state(0, 0), empty), 0);
    let mut more = short.clone();
    more.put(72, &(PAGE as u64 + 32).to_ne_bytes());
    let counts = "the state word of its header is damaged: it counts more than was ever written";
    assert_eq!(damaged(&more, 40, &state(PAGE + 32, 3), counts), 0);
    let bits = (State::closed(short.head as u64, 3).0 | 1 << 53).to_ne_bytes();
    assert_eq!(damaged(&short, 40, &bits, "the state word of its header is damaged"), 1);
    let zeroed = (short.head as u64 + PAGE as u64 + 1).to_ne_bytes();
    let ahead = "its header is damaged where it says how much is zeroed for what comes";
    assert_eq!(damaged(&short, 72, &zeroed, ahead), 0);
    let level = "its header is damaged where it says whether signal handlers wrote it";
    assert_eq!(damaged(&short, 98, &1u16.to_ne_bytes(), level), 0);
    assert_eq!(damaged(&short, 18, &300u16.to_ne_bytes(), "says how far a long record may reach"), 1);
    let shown = "its header is damaged where it says what was shown before, so all of it is shown";
    assert_eq!(damaged(&short, 176, &[1; 8], shown), 1);
    let begin = "its header is damaged where it says where the history begins, so all of it is shown";
    assert_eq!(damaged(&short, 160, &[1; 8], begin), 1);
}

#[test]
fn each_damage_of_an_open_chunk_is_said() {
    let short = Recorder::new(7, 0).events(0..3);
    let open = head_len(short.head as u64, short.seq + 1);
    // Words of two digits, and what is behind them, in a chunk that the state word may know.
    let with_words_of = |ring: &Recorder, open: usize, known: usize, behind: &[u8]| {
        let mut ring = ring.clone();
        let first = PAGE + ring.head + open;
        ring.put(first, &[byte_of(3); 10]);
        ring.put(first + 10, behind);
        ring.put(40, &State::closed(ring.head as u64, ring.seq).with_open(known).0.to_ne_bytes());
        ring.put(72, &(ring.head as u64 + 200).to_ne_bytes());
        said(&ring.image).concat()
    };
    let with_words = |open, known, behind: &[u8]| with_words_of(&short, open, known, behind);
    assert_eq!(with_words(open, open, &[]), "");
    assert!(with_words(open + 1, open + 1, &[]).ends_with("its open chunk cannot start there"));
    assert!(with_words(open + 8, open + 8, &[]).ends_with("its open chunk cannot start there"));
    let damaged = "its open chunk is damaged, so what was recorded behind that is not shown";
    assert!(with_words(open, open, &[0, 0, 0, 3]).ends_with(damaged));
    assert!(with_words(open, open, &[0, 0, 0, 0, 3]).ends_with(damaged));
    assert!(with_words(open, 0, &[]).ends_with("a chunk is open that it does not know"));
    // The mark of a value is stored last.
    let mut valued = short.clone();
    valued.image[15] |= Flags::VALUES.0;
    let with_words = |behind: &[u8]| with_words_of(&valued, open, open, behind);
    assert_eq!(with_words(&[&[0; MARK][..], &[3; MAX_WORD - MARK]].concat()), "");
    assert!(with_words(&[&[0; MARK][..], &[3; MAX_WORD - MARK + 1]].concat()).ends_with(damaged));
    assert!(with_words(&[0, 0, 0, 3]).ends_with(damaged));
}

/// `docs/limits.md` has these shares.
#[test]
fn damage_of_an_open_chunk_is_said_unless_it_looks_like_words() {
    const CASES: usize = 400;
    /// Statements of the program.
    const KNOWN: usize = 277;
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let short = Recorder::new(7, 0).events(0..3);
    let open = head_len(short.head as u64, short.seq + 1);
    // What is shown, and whether something is said or a statement has no name.
    let read = |image: &[u8]| {
        let mut reader = Reader::new(found(image).rings[0].header, image);
        let (mut shown, mut is_noted) = (Vec::new(), !said(image).is_empty());
        while let Some(item) = reader.next() {
            is_noted |= match item {
                Item::Statement(statement, _) => statement.number().is_none_or(|at| usize::from(at) > KNOWN),
                Item::Frame(_) => false,
                _ => true,
            };
            shown.push(format!("{item:?}"));
        }
        (shown, is_noted)
    };
    let any: Vec<u8> = (0..=255).collect();
    for (with, most, percent) in
        [(&any[..], 1, 55), (&any, 8, 10), (b"text as in a log", 8, 10), (&[0], 8, 5)]
    {
        let mut silent = 0;
        for _ in 0..CASES {
            let mut ring = short.clone();
            let len = 2 * (100 + random(400));
            for at in (0..len).step_by(2) {
                let word = digits::<2>(1 + random(KNOWN) as u64);
                ring.put(PAGE + ring.head + open + at, &word);
            }
            ring.put(40, &State::closed(ring.head as u64, ring.seq).with_open(open).0.to_ne_bytes());
            ring.put(72, &(ring.head as u64 + 2000).to_ne_bytes());
            let before = read(&ring.image);
            assert_eq!(before, (before.0.clone(), false));
            let count = 1 + random(most);
            let first = PAGE + ring.head + random(open + len - count);
            (first..first + count).for_each(|at| ring.put(at, &[with[random(with.len())]]));
            let (shown, is_noted) = read(&ring.image);
            silent += usize::from(shown != before.0 && !is_noted);
        }
        assert!(silent * 100 <= CASES * percent, "{silent} of {CASES} with up to {most} bytes");
    }
}

#[test]
fn a_source_that_ends_within_a_ring_is_said() {
    let ring = Recorder::new(7, 0).events(0..3).image;
    let cut = said(&ring[..ring.len() - 5]);
    assert_eq!(cut, ["ring 1 (thread 8) at offset 0x0: the source ends 5 bytes before the ring does"]);
}

#[test]
fn rings_of_a_process_that_are_missing_are_counted() {
    let rings_beside = |numbers: &[u16], made: u16, other: u8| {
        let mut image = Vec::new();
        for number in 0..=numbers.iter().copied().max().unwrap_or(0) {
            let mut ring = Recorder::new(7, number).events(0..3);
            ring.put(134, &made.to_ne_bytes());
            if !numbers.contains(&number) {
                ring.image.fill(other);
            }
            image.extend(ring.image);
        }
        said(&image)
    };
    let rings = |numbers: &[u16], made: u16| rings_beside(numbers, made, 0xEE);
    assert_eq!(rings(&[0, 1, 2], 3), Vec::<String>::new());
    let two = "process 7 has made 5 rings, and numbers 1 and 4 are not here, so what their threads recorded is missing: \
               their headers are damaged, or the source was cut";
    assert_eq!(rings(&[0, 2, 3], 5), [two]);
    let one = "process 7 has made 3 rings, and number 0 is not here, so what its thread recorded is missing: its header is \
               damaged, or the source was cut";
    assert_eq!(rings(&[1, 2], 3), [one]);
    // A thread takes its number before it lays out its ring, whose place is still zero. The first ring counts it after that.
    assert_eq!(rings_beside(&[0, 2], 1, 0), Vec::<String>::new());
    assert_eq!((rings_beside(&[0, 2], 2, 0).len(), rings(&[0, 2], 1).len()), (1, 1));
    let many = rings(&[0], 12);
    assert!(
        many[0].contains("12 rings, and numbers 1, 2, 3, 4, 5, 6, 7, 8 and 3 more are not here"),
        "{many:?}"
    );
}

#[test]
fn an_earlier_copy_of_a_ring_has_its_later_one() {
    let early = Recorder::new(7, 0).events(0..3);
    let late = early.clone().events(3..5);
    let copies = |rings: &[&Recorder]| {
        let image = rings.iter().flat_map(|ring| ring.image.clone()).collect::<Vec<u8>>();
        duplicates(&found(&image).rings, &image).into_iter().collect::<Vec<_>>()
    };
    assert_eq!(copies(&[&early, &late]), [(0, 1)]);
    assert_eq!(copies(&[&late, &early]), [(1, 0)]);
    let last = late.clone().event(9);
    assert_eq!(copies(&[&early, &last, &late]), [(0, 2), (2, 1)]);
    // Another thread, another level of handlers, and a ring that went on in another way.
    let with = |at: usize, bytes: &[u8]| {
        let mut other = late.clone();
        other.put(at, bytes);
        copies(&[&early, &other])
    };
    assert!([124, 98, PAGE + early.head - 1].iter().all(|at| with(*at, &[99]).is_empty()));
    assert_eq!(with(PAGE + early.head, &[1]), [(0, 1)]);
    // The ring has overwritten what the earlier copy ends with.
    assert!(copies(&[&early, &early.clone().events(3..600)]).is_empty());
    // Without a process the owner is not known.
    let ownerless = Recorder::new(0, 0).events(0..3);
    assert!(copies(&[&ownerless, &ownerless.clone().event(3)]).is_empty());
}

#[test]
fn executed_statements_are_those_of_all_bitmaps_of_a_map() {
    let one = |map: u64, lost: u32, line: u16, present: usize| {
        let mut image = Vec::from(bitmap::header(4, map, 9));
        image[bitmap::LOST_AT..][..4].copy_from_slice(&lost.to_ne_bytes());
        let page = qs_core::record::packed::Page::of(Statement { file: 1, line });
        let (word, mask) = bitmap::bit(line);
        let mut slot = [0u32; 4];
        (slot[0], slot[1 + word]) = (bitmap::key(page), mask);
        image.extend(slot.iter().flat_map(|word| word.to_ne_bytes()));
        image.resize(bitmap::HEADER_LEN + present * bitmap::SLOT_LEN, 0);
        image
    };
    let image = [one(5, 2, 10, 4), one(6, 3, 30, 4), one(5, 4, 20, 3)].concat();
    let found = executed(&image);
    let lines = |map: u64| {
        let mut lines: Vec<_> = found.by_map[&map].iter().map(|statement| statement.line).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!((lines(5), lines(6), found.known.len()), (vec![10, 20], vec![30], 2));
    assert_eq!((found.lost, found.cut, found.left_out), (9, 1, 0));
}

#[test]
fn what_is_missing_between_items_is_added_up() {
    let mut gap = Gap::default();
    for _ in 0..2 {
        add_missing(&mut gap, &Item::Missing(3));
        add_missing(&mut gap, &Item::Cut { missing: 5 });
        add_missing(&mut gap, &Item::Overwritten { bytes: 7 });
    }
    add_missing(&mut gap, &Item::Statement(Statement { file: 1, line: 1 }, None));
    assert_eq!((gap.missing_frames, gap.cut_bytes, gap.overwritten_bytes), (6, 10, 14));
    assert!(!gap.torn && !gap.overrun && gap.damaged.is_none());
    add_missing(&mut gap, &Item::Torn { expected: 1 });
    add_missing(&mut gap, &Item::Overrun);
    assert!(gap.torn && gap.overrun);
}
