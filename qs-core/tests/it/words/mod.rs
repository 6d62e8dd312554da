//! Words rings: everything that a recorder writes is read back exactly, at each of its steps and by any number of readers.

mod model;
mod prologue;

use model::{Model, PAGE};
use proptest::collection::vec;
use proptest::prelude::*;
use qs_core::record::chunk::{CutWords, MAX_CUT};
use qs_core::record::value::RecordedValue;
use qs_core::record::words::{UNIT, Words};
use qs_core::record::{EventKind, Numbers, RECORD_BASE, Statement, XhistRecord, ids};
use qs_core::ring::{Header, Item, PAUSES_OFFSET, Reader, Shown, Trim, find};

/// Statements that have numbers.
const NUMBERED: u16 = 60;

fn table() -> Vec<Option<Statement>> {
    (0..NUMBERED).map(|n| (n > 0).then_some(Statement { file: n / 20, line: n })).collect()
}

/// A statement and its number. Only the first few have one.
fn statement(which: u16) -> (Statement, u32) {
    match which {
        1..NUMBERED => (Statement { file: which / 20, line: which }, which.into()),
        _ => (Statement { file: 7 + which % 3, line: which }, 0),
    }
}

/// What is a value instead of a statement.
const VALUES: std::ops::Range<u16> = 600..690;

/// A value, whose number determines everything else.
fn value(number: u32) -> RecordedValue {
    let bytes: Vec<u8> = (0..64).map(|at| (number * 77 + at * 31) as u8).collect();
    let len = [0, 1, 2, 4, 8, 9, 33, 64][number as usize % 8];
    let mut value = RecordedValue::new(number, &bytes[..len]);
    value.type_key = number.is_multiple_of(11).then_some(number << 20);
    value.target_len = number.is_multiple_of(7).then_some(number);
    value
}

/// The items that a reader yields from an image.
#[derive(Debug, Default, Clone, PartialEq)]
struct Given {
    /// Every execution of a statement.
    statements: Vec<Statement>,
    /// Number of values.
    values: usize,
    wrong_values: usize,
    events: Vec<(EventKind, usize)>,
    /// Number of repetitions.
    folds: u64,
    losses: usize,
    overrun: bool,
}

impl Given {
    /// Takes the items up to what is overwritten behind the prologue. Returns the number of its bytes.
    fn take(&mut self, reader: &mut Reader<'_>) -> Option<u64> {
        while let Some(item) = reader.next() {
            match item {
                Item::Overwritten { bytes } => return Some(bytes),
                Item::Statement(statement, _) => self.statements.push(statement),
                Item::Value(found, _) => {
                    self.values += 1;
                    self.wrong_values += usize::from(found != value(found.number));
                }
                Item::Repetition(repetition) => {
                    self.folds += repetition.times;
                    // A reader that was not given the round, because it was shown before, gets only how often it ran again.
                    if let Some(first) = self.statements.len().checked_sub(repetition.statements) {
                        let round = self.statements[first..].to_vec();
                        (0..repetition.times).for_each(|_| self.statements.extend(&round));
                    }
                }
                Item::Frame(frame) => match XhistRecord::parse(&frame, RECORD_BASE) {
                    Some(XhistRecord::Event { kind, .. }) if frame.missing == 0 => {
                        self.events.push((kind, self.statements.len()));
                    }
                    _ => self.losses += 1,
                },
                Item::Overrun => self.overrun = true,
                _ => self.losses += 1,
            }
        }
        None
    }
}

fn read(image: &[u8]) -> Given {
    let (table, mut given) = (table(), Given::default());
    let header = Header::parse(image).expect("a header");
    given.take(&mut Reader::new(header, image).with_numbers(Numbers::new(&table)));
    given
}

/// Reads the items since `from` and `shown`, and moves these.
fn read_on(given: &mut Given, image: &[u8], (from, shown): &mut (u64, Shown), is_folding: bool) {
    let table = table();
    let header = Header::parse(image).expect("a header");
    let reader = Reader::resume(header, image, *from, 0, *shown).with_numbers(Numbers::new(&table));
    let mut reader = if is_folding { reader.without_open_words() } else { reader };
    given.take(&mut reader);
    (*from, *shown) = (reader.resume_from(), reader.shown());
}

/// An action of a program.
#[derive(Clone, Debug)]
enum Act {
    /// Statements in a row.
    Run(Vec<u16>),
    /// A loop over statements, with a check at the head of each iteration.
    Loop(Vec<u16>, usize),
    /// A record.
    Event,
    /// An export.
    Close,
}

fn act() -> impl Strategy<Value = Act> {
    let near = || prop_oneof![6 => 1u16..12, 2 => 1u16..400, 1 => VALUES, 1 => Just(VALUES.start)];
    prop_oneof![
        4 => vec(near(), 1..60).prop_map(Act::Run),
        4 => (vec(near(), 1..40), 1usize..700).prop_map(|(mut round, times)| {
            // A value follows the statement that it belongs to.
            if round.iter().all(|which| VALUES.contains(which)) {
                round[0] = 1;
            }
            Act::Loop(round, times)
        }),
        1 => Just(Act::Event),
        1 => Just(Act::Close),
    ]
}

fn perform(model: &mut Model, act: &Act) {
    let one = |model: &mut Model, which: u16| {
        if model.is_far() {
            model.check();
        }
        if VALUES.contains(&which) {
            return model.value(&value(which.into()));
        }
        let (statement, number) = statement(which);
        model.statement(statement, number);
    };
    match act {
        Act::Run(all) => {
            model.check();
            all.iter().for_each(|which| one(model, *which));
        }
        Act::Loop(round, times) => {
            for _ in 0..*times {
                model.check();
                round.iter().for_each(|which| one(model, *which));
            }
        }
        Act::Event => model.event(EventKind::Started, 0),
        Act::Close => {
            model.close();
            model.clear_ahead();
        }
    }
    model.snap();
}

/// Number of cases. Each reads many images of a ring, and a usual run has a few.
fn cases(usual: u32) -> ProptestConfig {
    let is_long = std::env::var_os("XHIST_LONG").is_some_and(|long| long != "0");
    ProptestConfig::with_cases(if is_long { 8 * usual } else { usual })
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn statements_written_are_the_statements_read_at_each_step(acts in vec(act(), 1..30), bits in 12u32..15, every in 1usize..60) {
        let mut model = Model { snapshots: Some(Vec::new()), every, ..Model::new(1 << bits) };
        acts.iter().for_each(|act| perform(&mut model, act));
        let snapshots = model.snapshots.take().unwrap();
        for (image, len) in snapshots {
            let given = read(&image);
            let truth = &model.truth[..len];
            prop_assert_eq!((given.losses, given.overrun, given.wrong_values), (0, false, 0));
            match Header::parse(&image).unwrap().kept() {
                0 => prop_assert_eq!(&given.statements[..], truth),
                _ => prop_assert!(truth.ends_with(&given.statements)),
            }
        }
        let whole = read(&model.image());
        let is_whole = whole.folds == 0 && Header::parse(&model.image()).unwrap().kept() == 0;
        prop_assert!(whole.values <= model.values && whole.wrong_values == 0 && (!is_whole || whole.values == model.values));
        prop_assert!(model.truth.ends_with(&whole.statements) && !whole.statements.is_empty() || model.truth.is_empty() || whole.statements.is_empty() && model.is_empty());
    }

    #[test]
    fn a_resumed_reader_gives_each_statement_once(
        acts in vec(act(), 1..16),
        looks in vec((any::<bool>(), any::<bool>()), 1..50),
        every in 1usize..60,
    ) {
        let model = Model::new(1 << 17);
        let mut model = Model { snapshots: Some(Vec::new()), every, chunk: 1024, slack: 4096, ..model };
        (model.limit, model.cursor) = (0, model.first());
        acts.iter().for_each(|act| perform(&mut model, act));
        let snapshots = model.snapshots.take().unwrap();
        let (mut given, mut place, mut looks) = (Given::default(), (0, Shown::default()), looks.iter().cycle());
        for (image, len) in &snapshots {
            let (is_look, is_folding) = *looks.next().unwrap();
            if !is_look {
                continue;
            }
            read_on(&mut given, image, &mut place, is_folding);
            let truth = &model.truth[..*len];
            prop_assert!(given.statements.len() <= truth.len() && truth.starts_with(&given.statements), "{} of {}", given.statements.len(), truth.len());
            prop_assert!(is_folding || given.statements.len() == truth.len());
            // Cleared items are not given again to any reader.
            let mut image = image.clone();
            let [first, second] = place.1.words();
            image[176..184].copy_from_slice(&first.to_ne_bytes());
            image[184..192].copy_from_slice(&second.to_ne_bytes());
            let repetition = read(&image);
            prop_assert!(is_folding || repetition.statements.is_empty(), "{:?}", repetition);
        }
        read_on(&mut given, &model.image(), &mut place, false);
        prop_assert!(given.values == model.values || given.folds > 0 && given.values < model.values);
        prop_assert_eq!((given.losses, given.wrong_values, given.statements), (0, 0, model.truth));
    }

    #[test]
    fn any_damage_is_survived_and_damage_of_closed_frames_is_reported(
        acts in vec(act(), 1..30),
        noise in vec((any::<prop::sample::Index>(), 0u32..8), 1..4),
        words in vec((5usize..16, any::<u64>(), 0u32..64), 0..4),
    ) {
        let mut model = Model::new(1 << 14);
        acts.iter().for_each(|act| perform(&mut model, act));
        let whole = model.image();
        let mut image = whole.clone();
        let (at, bit) = &noise[0];
        let at = PAGE + at.index(model.size);
        image[at] ^= 1 << bit;
        let (before, after) = (read(&whole), read(&image));
        let header = Header::parse(&whole).unwrap();
        let first = model.first() as usize % model.size;
        let ahead = (at - PAGE).wrapping_sub(first) % model.size;
        let is_open = ahead < (model.zeroed - model.first()) as usize || ahead >= model.size - model.open;
        let is_old = (header.kept() > 0) && !is_open && before.statements.len() < model.truth.len();
        if before != after && !is_open && !is_old {
            prop_assert!(after.losses > 0, "byte {} bit {}", at, bit);
        }
        for (at, bit) in &noise {
            image[PAGE + at.index(model.size)] ^= 1 << bit;
        }
        for (word, value, shift) in words {
            image[8 * word..8 * word + 8].copy_from_slice(&(value >> shift).to_ne_bytes());
        }
        if Header::parse(&image).is_ok() {
            let header = Header::parse(&image).unwrap();
            let mut reader = Reader::new(header, &image);
            let mut items = 0usize;
            while reader.next().is_some() {
                items += 1;
                prop_assert!(items <= 4 * model.size);
            }
            let _ = (reader.shown(), reader.resume_from());
            let mut frames = Reader::new(header, &image).whole_frames();
            while frames.next().is_some() {}
        }
        prop_assert!(find(&image).count() >= 1);
    }

    #[test]
    fn any_bytes_are_valid_input(bytes in vec(any::<u8>(), 4096), words in vec((8usize..15, any::<u64>(), 0u32..64), 0..8), state: u64, shift in 0u32..64, counted: u64) {
        let mut model = Model::new(4096);
        model.ring = bytes;
        let mut image = model.image();
        for (word, value, shift) in words {
            image[8 * word..8 * word + 8].copy_from_slice(&(value >> shift).to_ne_bytes());
        }
        image[40..48].copy_from_slice(&(state >> shift).to_ne_bytes());
        let header = Header::parse(&image).unwrap();
        let shown = Shown { position: state >> shift & 0xFFFF_FFFF_FFFF, statements: counted as u16, repeats: counted };
        for mut reader in [Reader::new(header, &image), Reader::resume(header, &image, 0, 0, shown), Reader::new(header, &image).whole_frames()] {
            let mut items = 0usize;
            while reader.next().is_some() {
                items += 1;
                prop_assert!(items <= 5 * 4096);
            }
        }
    }

    #[test]
    fn an_image_cut_short_gives_what_it_has(acts in vec(act(), 1..30), cut: prop::sample::Index) {
        let mut model = Model::new(1 << 13);
        acts.iter().for_each(|act| perform(&mut model, act));
        let image = model.image();
        let len = PAGE + cut.index(model.size);
        let given = read_statements(&image[..len]);
        let whole = read_statements(&image);
        let mut rest = whole.iter();
        prop_assert!(given.iter().all(|statement| rest.any(|other| other == statement)));
    }

    #[test]
    fn the_records_of_a_stream_have_the_same_statements(acts in vec(act(), 1..30), steps in any::<prop::sample::Index>()) {
        let mut model = Model { snapshots: Some(Vec::new()), every: 7, ..Model::new(1 << 16) };
        acts.iter().for_each(|act| perform(&mut model, act));
        let snapshots = model.snapshots.take().unwrap();
        prop_assume!(!snapshots.is_empty());
        let (image, len) = &snapshots[steps.index(snapshots.len())];
        let header = Header::parse(image).unwrap();
        let mut reader = Reader::new(header, image).whole_frames();
        let (table, mut units, mut statements, mut last) = (table(), Vec::<Option<Statement>>::new(), Vec::new(), None);
        let mut starts = Vec::new();
        while let Some(item) = reader.next() {
            let Item::Frame(frame) = item else { panic!("{item:?}") };
            prop_assert!(last.is_none_or(|last: u8| last.wrapping_add(1) == frame.seq));
            last = Some(frame.seq);
            if let Some(cut) = CutWords::parse(frame.payload).filter(|_| frame.id == RECORD_BASE + ids::PACKED) {
                prop_assert!(cut.words.len() <= MAX_CUT);
                let mut words = Words::new(cut.words);
                let mut at = 0;
                while let Some(word) = words.next() {
                    let statement = Numbers::new(&table).statement(word);
                    statements.extend(statement.ok());
                    units.push(statement.ok());
                    starts.push((words.at() - at) / 2);
                    at = words.at();
                }
                prop_assert_eq!(at, cut.words.len());
            } else if let Some(XhistRecord::Event { kind: EventKind::Repetition, value, .. }) = XhistRecord::parse(&frame, RECORD_BASE) {
                let mut left = (value & 0xFFFF) as usize;
                let mut first = units.len();
                while left > 0 && first > 0 {
                    first -= 1;
                    left -= starts[first];
                }
                // The words of a repetition may be no longer in the ring.
                prop_assert!(left == 0 || header.kept() > 0);
                let round = units[first..].to_vec();
                (0..value >> 16).for_each(|_| statements.extend(round.iter().flatten()));
            }
        }
        if header.kept() == 0 {
            prop_assert_eq!(&statements[..], &model.truth[..*len]);
        }
    }
}

/// The statements in the ring, those of repetitions once.
fn read_statements(image: &[u8]) -> Vec<Statement> {
    let mut reader = Reader::new(Header::parse(image).expect("a header"), image);
    let mut statements = Vec::new();
    while let Some(item) = reader.next() {
        if let Item::Statement(statement, _) = item {
            statements.push(statement);
        }
    }
    statements
}

#[test]
fn a_loop_takes_one_chunk_and_a_count() {
    let mut model = Model::new(1 << 14);
    perform(&mut model, &Act::Run(vec![300, 301, 302]));
    perform(&mut model, &Act::Loop(vec![3, 4, 300, 5], 100_000));
    let given = read(&model.image());
    assert_eq!(given.statements, model.truth);
    assert!(given.folds > 90_000 && model.head < 1 << 13, "{} {}", given.folds, model.head);
}

/// A reader that leaves open words out gives the rounds that were folded since words were shown, and the next reader the
/// words behind them.
#[test]
fn readers_with_and_without_open_words_take_turns_in_a_loop() {
    let model = Model::new(1 << 17);
    let mut model = Model { snapshots: Some(Vec::new()), every: 3, chunk: 1024, slack: 4096, ..model };
    (model.limit, model.cursor) = (0, model.first());
    perform(&mut model, &Act::Run(vec![1, 2, 300]));
    perform(&mut model, &Act::Loop(vec![3, 4, 301], 4000));
    let snapshots = model.snapshots.take().unwrap();
    let (mut folds, mut tried) = (0, 0);
    for gap in [1, 5, 17, 40] {
        for first in 0..snapshots.len().saturating_sub(2 * gap) {
            let (mut given, mut place) = (Given::default(), (0, Shown::default()));
            for (look, is_folding) in [(first, false), (first + gap, true), (first + 2 * gap, false)] {
                read_on(&mut given, &snapshots[look].0, &mut place, is_folding);
            }
            let truth = &model.truth[..snapshots[first + 2 * gap].1];
            assert!(given.statements == truth, "looks {first} and {gap} behind each other");
            (folds, tried) = (folds + given.folds, tried + 1);
        }
    }
    assert!(folds > 0 && tried > 20, "{folds} rounds folded in {tried} turns");
}

#[test]
fn words_beyond_what_was_zeroed_are_not_certain() {
    let mut model = Model::new(4096);
    for which in 0..3000u16 {
        model.check();
        let (statement, number) = statement(60 + which % 1000);
        model.statement(statement, number);
    }
    let reached = (model.zeroed - model.cursor) / 4;
    for _ in 0..reached + 10 {
        let (statement, number) = statement(70);
        model.statement(statement, number);
    }
    let given = read(&model.image());
    assert!(given.overrun && given.losses == 0);
    let certain = &model.truth[..model.truth.len() - 10];
    assert!(certain.ends_with(&given.statements) && given.statements.len() > 100);
}

/// Far beyond that, words overwrite the head of their own chunk and then their own first words.
#[test]
fn words_that_have_overwritten_their_own_chunk_are_not_read() {
    for (far, is_odd) in (10..4000).step_by(97).flat_map(|far| [(far, false), (far, true)]) {
        let mut model = Model::new(4096);
        for which in 0..3000u16 {
            model.check();
            let (statement, number) = statement(60 + which % 1000);
            model.statement(statement, number);
        }
        model.zeroed -= u64::from(is_odd);
        let reached = (model.zeroed - model.cursor) / 4;
        for which in 0..reached as u16 + far {
            let (statement, number) = statement(60 + which * 7 % 1000);
            model.statement(statement, number);
        }
        let given = read(&model.image());
        assert!(given.overrun, "{far}");
        let is_true =
            model.truth.windows(given.statements.len().max(1)).any(|truth| truth == given.statements);
        assert!(given.statements.is_empty() || is_true, "{far}: {}", given.statements.len());
    }
}

#[test]
fn the_time_of_a_chunk_is_that_of_its_first_statement() {
    let mut model = Model::new(1 << 14);
    for time in [5000, 6000] {
        (model.last_time, model.open_time) = (time, time);
        perform(&mut model, &Act::Run(vec![1, 2, 300]));
        model.close();
    }
    (model.last_time, model.open_time) = (0x1_0000_0007, 0x1_0000_0007);
    perform(&mut model, &Act::Run(vec![3, 4]));
    let image = model.image();
    let mut reader = Reader::new(Header::parse(&image).unwrap(), &image);
    let mut stamps = Vec::new();
    while let Some(item) = reader.next() {
        let Item::Statement(_, stamp) = item else { panic!("{item:?}") };
        stamps.push(stamp);
    }
    assert_eq!(stamps, [Some(5000), None, None, Some(6000), None, None, Some(7), None]);
}

#[test]
fn a_statement_without_a_table_keeps_its_number() {
    let mut model = Model::new(4096);
    perform(&mut model, &Act::Run(vec![7, 300]));
    let numbers: Vec<_> =
        read_statements(&model.image()).iter().map(|statement| statement.number()).collect();
    assert_eq!(numbers, [Some(7), None]);
}

#[test]
fn words_that_are_being_moved_are_read_from_the_header() {
    let mut model = Model::new(1 << 14);
    perform(&mut model, &Act::Run((1..40).collect()));
    let (words, whole) = (model.words(), model.image());
    let in_stream = |image: &[u8]| {
        let mut reader = Reader::new(Header::parse(image).expect("a header"), image).whole_frames();
        let mut words = Vec::<u8>::new();
        while let Some(item) = reader.next() {
            let Item::Frame(frame) = item else { panic!("{item:?}") };
            words.extend(CutWords::parse(frame.payload).expect("words").words);
        }
        words
    };
    for kept in [0u16, 5, 38] {
        let (stay, moved) = words.split_at(usize::from(kept) * UNIT);
        let trim = Trim::new(model.head, kept, (moved.len() / UNIT) as u16).0 | Trim::MOVED;
        let mut image = whole.clone();
        image[80..88].copy_from_slice(&trim.to_ne_bytes());
        image[576..576 + moved.len()].copy_from_slice(moved);
        image[PAGE + model.first() as usize + stay.len()..][..moved.len()].fill(0);
        assert_eq!(read_statements(&image), read_statements(&whole), "{kept} words stay");
        assert_eq!(in_stream(&image), words, "{kept} words stay");
    }
}

/// The frames of a stream from this image: sequence number, missing frames before it, and the value of an event.
fn frames(image: &[u8]) -> Vec<(u8, u8, Option<u64>)> {
    let mut reader = Reader::new(Header::parse(image).expect("a header"), image).whole_frames();
    let mut frames = Vec::new();
    while let Some(item) = reader.next() {
        let Item::Frame(frame) = item else { panic!("{item:?}") };
        let value = match XhistRecord::parse(&frame, RECORD_BASE) {
            Some(XhistRecord::Event { value, .. }) => Some(value),
            _ => None,
        };
        frames.push((frame.seq, frame.missing, value));
    }
    frames
}

#[test]
fn numbers_of_a_stream_go_on_behind_255_also_over_a_gap() {
    let mut model = Model::new(1 << 16);
    for round in 0..300 {
        perform(&mut model, &Act::Run(vec![1, 2, 300]));
        model.event(EventKind::Started, round);
    }
    let seqs: Vec<u8> = frames(&model.image()).iter().map(|(seq, _, _)| *seq).collect();
    let expected: Vec<u8> = (1..=600u32).map(|number| number as u8).collect();
    assert_eq!(seqs, expected);

    let mut model = Model::new(1 << 14);
    model.event(EventKind::Started, 0);
    model.seq = 250;
    model.event(EventKind::Started, 1);
    model.seq = model.seq.wrapping_add(9);
    model.event(EventKind::Started, 2);
    model.event(EventKind::Started, 3);
    let expected = [(1, 0, Some(0)), (251, 249, Some(1)), (5, 9, Some(2)), (6, 0, Some(3))];
    assert_eq!(frames(&model.image()), expected);
}

/// Where the image ends before the ring does, the reader goes on at the first byte of the ring: each frame behind the first
/// flag there is given.
#[test]
fn a_cut_ring_goes_on_where_it_wraps() {
    let mut places = std::collections::BTreeSet::new();
    for start in 0..40 {
        let mut model = Model::new(4096);
        (0..start).for_each(|_| model.event(EventKind::Started, 1 << 40));
        // An event has its value in few or many bytes, so that frames begin at any byte of the ring.
        (0..start % 7).for_each(|shift| model.event(EventKind::Started, 0x7E << (8 * shift)));
        let mut number = 1000;
        while model.head < 4096 + 300 {
            number += 1;
            model.event(EventKind::Started, number);
        }
        let image = model.image();
        let ring = &image[PAGE..];
        let behind = &ring[..model.head as usize % model.size];
        let flags = behind.iter().filter(|byte| **byte == 0x7E).count() as u64;
        places.insert(behind.iter().position(|byte| *byte == 0x7E).expect("a flag"));
        let mut reader = Reader::new(Header::parse(&image).unwrap(), &image[..PAGE + 3000]);
        let (mut values, mut cuts) = (Vec::new(), 0);
        while let Some(item) = reader.next() {
            match item {
                Item::Cut { missing } => cuts += missing,
                Item::Frame(frame) => match XhistRecord::parse(&frame, RECORD_BASE) {
                    Some(XhistRecord::Event { value, .. }) => values.push(value),
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(cuts, 4096 - 3000, "{start}");
        let expected: Vec<u64> = (number + 2 - flags..=number).collect();
        assert!(values.ends_with(&expected), "{start}: {expected:?} in {values:?}");
    }
    assert!(places.contains(&0) && places.contains(&1), "no frame ended at the first bytes: {places:?}");
}

/// The items of an image, short: a statement with its line and time, an event with its value.
fn short(image: &[u8]) -> Vec<String> {
    let mut reader = Reader::new(Header::parse(image).expect("a header"), image);
    let mut items = Vec::new();
    while let Some(item) = reader.next() {
        items.push(match item {
            Item::Statement(statement, time) => format!("{:?} {time:?}", statement.number()),
            Item::Frame(frame) => match XhistRecord::parse(&frame, RECORD_BASE) {
                Some(XhistRecord::Event { kind, value, .. }) => format!("{kind:?} {value}"),
                other => format!("{other:?}"),
            },
            other => format!("{other:?}"),
        });
    }
    items
}

#[test]
fn pauses_of_the_open_chunk_are_in_their_place_and_date_the_word_behind() {
    let mut model = Model::new(1 << 14);
    perform(&mut model, &Act::Run(vec![1, 2, 3, 4]));
    let mut image = model.image();
    // In any order, also through the second mapping of the ring. The last one is behind all words. An invalid one is left out.
    let (first, later) = (model.first(), 5 << 32);
    let pauses = [
        (7, first + 8, 0, later),
        (1, first + 4 + (1 << 14), 2000, 3000),
        (3, first + 6, 2500, 4000),
        (4, first + 10, 2500, 3500),
        (5, first + 3, 2500, 3500),
    ];
    for (slot, at, since, until) in pauses {
        let words = [at + 1, since, until, !until];
        let bytes = words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect::<Vec<u8>>();
        image[PAUSES_OFFSET + 32 * slot..][..32].copy_from_slice(&bytes);
    }
    let expected = [
        "Some(1) Some(1000)",
        "Some(2) None",
        "Until 2000",
        "Until 3000",
        "Some(3) Some(3000)",
        "Until 4000",
        "Some(4) Some(4000)",
    ];
    let items = short(&image);
    assert_eq!(items[..7], expected, "{items:?}");
    assert_eq!(items[7..], [format!("Time {later}")], "{items:?}");
}

#[test]
fn a_chunk_of_an_unknown_time_has_no_stamp() {
    let mut model = Model::new(1 << 14);
    (model.last_time, model.open_time) = (0, 0);
    perform(&mut model, &Act::Run(vec![1, 2]));
    assert_eq!(short(&model.image()), ["Some(1) None", "Some(2) None"]);
}
