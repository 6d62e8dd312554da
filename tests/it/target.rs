//! Does the target's side of QS do what QP's own does: filters, and each packet of the receive channel?

use std::cell::RefCell;
use std::path::PathBuf;

use qs_core::filter::{Filter, Objects, Records};
use qs_core::frame::{Decoder, FLAG, FrameWriter, Outcome};
use qs_core::record::{
    BuildTime, Fun, Group, PeekData, Predefined, RECORDS, Record, Sizes, TargetInfo, emit,
};
use qs_core::rx::{Callbacks, Executor, Port, Probes};
use xhist_tests::{Case, Need};

const STREAMS: &[Need] = &[Need::QsStreams];

pub const CASES: &[Case] = &[
    Case::needing("filters", STREAMS, filters),
    Case::needing("vectors", STREAMS, vectors),
    Case::needing("receive-a", STREAMS, || receive("rx-A", "", false)),
    Case::needing("receive-b", STREAMS, || receive("rx-B", WIDE, false)),
    Case::needing("receive-c", STREAMS, || receive("rx-C", WIDEST, false)),
    Case::needing("receive-u", STREAMS, || receive("rx-U", WIDE, true)),
];

const WIDE: &str = "O8 F8";
const WIDEST: &str = "T2 O8 F8 S4 E4 Q4 P4 B4 C2";

fn rows(name: &str) -> Vec<Vec<String>> {
    let path: PathBuf = Need::qs_streams().expect("they are there").join(name);
    let text = std::fs::read_to_string(path).expect("a table");
    text.lines().skip(1).map(|row| row.split('\t').map(str::to_owned).collect()).collect()
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
    (0..text.len() / 2).map(|at| digit(2 * at)).collect()
}

/// What a number of QP's filter calls means.
fn records(number: u8) -> Records {
    use Group::*;
    match number {
        0xF0 => Records::All,
        0xF1..=0xF9 => Records::Group([Sm, Ao, Eq, Mp, Te, Qf, Sc, Sem, Mtx][usize::from(number - 0xF1)]),
        0xFA..=0xFE => Records::User(number - 0xFA),
        0xFF => Records::Group(Usr),
        id => Records::Id(id),
    }
}

fn objects(number: u8) -> Objects {
    match number {
        0x80 => Objects::Active,
        0xC0 => Objects::Pools,
        0xD0 => Objects::Queues,
        0xE0 => Objects::Application,
        0xF0 => Objects::All,
        id => Objects::Id(id),
    }
}

fn filters() {
    let (mut global, mut local) = (Filter::ALWAYS, Filter::EVERY_OBJECT);
    let mut before = (String::new(), true);
    for row in rows("filters.tsv") {
        let [call, argument, global_then, local_then] = &row[..] else { panic!("{row:?}") };
        let argument: i32 = argument.parse().expect("a number");
        let number = argument.unsigned_abs() as u8;
        // Each of the table's parts with single ones starts from nothing.
        let part = (call.clone(), number < 0x80);
        match call.as_str() {
            _ if part == before || !part.1 => {}
            "glb" => global = Filter::ALWAYS,
            "loc" => local = Filter::NONE.object_off(Objects::All),
            _ => {}
        }
        before = part;
        match (call.as_str(), argument > 0) {
            ("glb", true) => global = global.on(records(number)),
            ("glb", false) => global = global.off(records(number)),
            ("loc", true) => local = local.object_on(objects(number)),
            ("loc", false) => local = local.object_off(objects(number)),
            _ => {}
        }
        assert_eq!(global.to_bytes()[..], hex(global_then), "{row:?}");
        assert_eq!(local.to_bytes()[..], hex(local_then), "{row:?}");
    }
}

/// The target that the packets were fed to.
struct Fixture {
    sizes: Sizes,
    /// Test fixtures count instead of reading a clock.
    counts: bool,
    time: u32,
    seq: u8,
    sent: Vec<u8>,
    object: usize,
    memory: Vec<u8>,
    global: Filter,
    local: Filter,
    probes: Probes<16>,
}

/// The executor asks for sizes when it is compiled.
struct Narrow<'a>(&'a RefCell<Fixture>);
struct Wide<'a>(&'a RefCell<Fixture>);
struct Widest<'a>(&'a RefCell<Fixture>);
struct Unit<'a>(&'a RefCell<Fixture>);

impl Fixture {
    fn next_time(&mut self) -> u32 {
        if self.counts {
            self.time += 1;
        }
        self.time
    }

    fn next_seq(&mut self) -> u8 {
        self.seq = self.seq.wrapping_add(1);
        self.seq
    }

    fn send<R: Record>(&mut self, record: &R) {
        let time = if R::TIMED { self.next_time() } else { 0 };
        let (seq, sizes) = (self.next_seq(), self.sizes);
        emit(record, seq, time, sizes, |byte| self.sent.push(byte));
    }

    fn send_info(&mut self, reset: u8) {
        let build = BuildTime { second: 53, minute: 26, hour: 9, day: 14, month: 7, year: 23 };
        let (max_active, max_pools, max_rates) = (32, 3, 1);
        let sizes = self.sizes;
        self.send(&TargetInfo {
            reset,
            version: 733,
            big_endian: false,
            sizes,
            max_active,
            max_pools,
            max_rates,
            build,
        });
    }

    fn place(&self, address: usize, len: usize) -> Option<std::ops::Range<usize>> {
        let start = address.checked_sub(self.object)?;
        (start + len <= self.memory.len()).then_some(start..start + len)
    }

    /// An application record with these elements.
    fn application(&mut self, id: u8, elements: &[u8]) {
        let (seq, time) = (self.next_seq(), self.next_time().to_le_bytes());
        let time = &time[..usize::from(self.sizes.time)];
        FrameWriter::new(seq, id, |byte| self.sent.push(byte)).bytes(time).bytes(elements).finish();
    }
}

macro_rules! port {
    ($name:ident, $sizes:expr, $tests:expr) => {
        impl Port for $name<'_> {
            const SIZES: Sizes = $sizes;
            const TESTS: bool = $tests;

            fn add_probe(&mut self, fun: Fun, data: u32) -> bool {
                self.0.borrow_mut().probes.add(fun, data)
            }

            fn clear_probes(&mut self) {
                self.0.borrow_mut().probes.clear();
            }

            fn send(&mut self, record: &impl Record) {
                self.0.borrow_mut().send(record);
            }

            fn send_info(&mut self, reset: u8) {
                self.0.borrow_mut().send_info(reset);
            }

            fn set_global(&mut self, filter: Filter) {
                self.0.borrow_mut().global = filter;
            }

            fn set_local(&mut self, change: impl FnOnce(Filter) -> Filter) {
                let mut fixture = self.0.borrow_mut();
                fixture.local = change(fixture.local);
            }

            fn peek(&mut self, address: usize, answer: PeekData<'_>) -> bool {
                let mut fixture = self.0.borrow_mut();
                let Some(place) = fixture.place(address, answer.len()) else { return false };
                let data = fixture.memory[place].to_vec();
                fixture.send(&PeekData { data: &data, ..answer });
                true
            }

            fn poke(&mut self, address: usize, _size: u8, data: &[u8], times: u8) -> bool {
                let mut fixture = self.0.borrow_mut();
                let data = data.repeat(times.into());
                let Some(place) = fixture.place(address, data.len()) else { return false };
                fixture.memory[place].copy_from_slice(&data);
                true
            }
        }
    };
}

port!(Narrow, Sizes::DEFAULT, false);
port!(Wide, Sizes::DEFAULT.with(WIDE), false);
port!(Unit, Sizes::DEFAULT.with(WIDE), true);
port!(Widest, Sizes::DEFAULT.with(WIDEST), false);

/// What the application of that target does.
struct Application<'a>(&'a RefCell<Fixture>);

impl Callbacks for Application<'_> {
    fn command(&mut self, command: u8, params: [u32; 3]) {
        let mut elements = vec![1, command];
        for param in params {
            elements.push(5);
            elements.extend(param.to_le_bytes());
        }
        self.0.borrow_mut().application(120, &elements);
    }

    fn test_setup(&mut self) {
        self.0.borrow_mut().time = 0;
        self.0.borrow_mut().application(121, b"\x08setup\0");
    }

    fn test_teardown(&mut self) {
        self.0.borrow_mut().application(121, b"\x08teardown\0");
    }
}

/// Packets in which QP takes the checksum for a field that is missing.
const SHORT: [&str; 5] = [
    "command 2 params",
    "command 1 param",
    "command no params",
    "command no id",
    "peek no num (checksum taken as num)",
];

/// Where a packet ends early QP takes its checksum for data. Ours takes zero, or refuses the packet.
#[track_caller]
fn assert_short(ours: &[u8], qp: &[u8], note: &str) {
    let frames = |bytes: &[u8]| -> Vec<(u8, Vec<u8>)> {
        let mut decoder = Decoder::default();
        let outcomes = bytes.iter().filter_map(|byte| match decoder.push(*byte) {
            Outcome::Frame(frame) => Some((frame.id, frame.payload.to_vec())),
            _ => None,
        });
        outcomes.collect()
    };
    let (ours, qp) = (frames(ours), frames(qp));
    match &ours[..] {
        [(STATUS, refused)] => assert!(refused.len() == 1 && refused[0] >= REFUSED, "{note}: {refused:?}"),
        _ => {
            assert_eq!(ours.len(), qp.len(), "{note}");
            let bytes = |frames: &[(u8, Vec<u8>)]| -> Vec<u8> {
                frames.iter().flat_map(|(id, payload)| [&[*id], &payload[..]].concat()).collect()
            };
            let (ours, qp) = (bytes(&ours), bytes(&qp));
            assert_eq!(ours.len(), qp.len(), "{note}");
            let differ: Vec<_> = ours.iter().zip(&qp).filter(|(ours, qp)| ours != qp).collect();
            assert!(differ.len() <= 1 && differ.iter().all(|(ours, _)| **ours == 0), "{note}: {differ:?}");
        }
    }
}

/// The record that acknowledges or refuses a packet, and its bit for the latter.
const STATUS: u8 = 66;
const REFUSED: u8 = 0x80;

fn receive(name: &str, sizes: &str, tests: bool) {
    let table = rows(&format!("{name}.tsv"));
    let fixture = RefCell::new(Fixture {
        sizes: Sizes::DEFAULT.with(sizes),
        counts: tests,
        time: if tests { 0 } else { 0x1122_3344 },
        seq: 3,
        sent: Vec::new(),
        object: usize::from_str_radix(&table[0][1], 16).expect("an address"),
        memory: hex(&table[1][1]),
        global: Filter::ALWAYS,
        local: Filter::EVERY_OBJECT,
        probes: Probes::new(),
    });
    let mut executor = Executor::<400>::new();
    let mut application = Application(&fixture);
    let mut packets = 0;
    for row in &table[2..] {
        let [note, sent, expected, ..] = &row[..] else { panic!("{row:?}") };
        if let Some(function) = note.strip_prefix("#getprobe 0x") {
            let function = Fun(usize::from_str_radix(function, 16).expect("an address"));
            let mut probes = fixture.borrow().probes.clone();
            let data = probes.use_one(function, &mut Wide(&fixture));
            fixture.borrow_mut().probes = probes;
            assert_eq!(data.to_string(), *sent, "{note}");
        } else if note == "#flt" {
            assert_eq!(fixture.borrow().global.to_bytes()[..], hex(sent), "{note}");
            assert_eq!(fixture.borrow().local.to_bytes()[..], hex(expected), "{note}");
        } else if note.contains("short") && note.starts_with('#') {
            // Where data is missing, QP has written what was there before it found out.
            fixture.borrow_mut().memory = hex(sent);
        } else if note.starts_with('#') {
            assert_eq!(fixture.borrow().memory, hex(sent), "{note}");
        } else {
            fixture.borrow_mut().sent.clear();
            for byte in hex(sent) {
                match (tests, sizes) {
                    (true, _) => executor.byte(byte, &mut Unit(&fixture), &mut application),
                    (_, WIDE) => executor.byte(byte, &mut Wide(&fixture), &mut application),
                    (_, WIDEST) => executor.byte(byte, &mut Widest(&fixture), &mut application),
                    _ => executor.byte(byte, &mut Narrow(&fixture), &mut application),
                }
            }
            if SHORT.contains(&note.as_str()) {
                let qp = hex(expected);
                assert_short(&fixture.borrow().sent, &qp, note);
                // A refusal is one record, where QP sends several.
                let frames = qp.iter().filter(|byte| **byte == FLAG).count();
                let ours = fixture.borrow().sent.iter().filter(|byte| **byte == FLAG).count();
                fixture.borrow_mut().seq += (frames - ours) as u8;
                let stamps = stamped(&qp) - stamped(&fixture.borrow().sent);
                fixture.borrow_mut().time += if tests { stamps } else { 0 };
                continue;
            }
            assert_eq!(fixture.borrow().sent, hex(expected), "{note}");
            packets += 1;
        }
    }
    assert!(packets > 80, "{packets}");
}

/// How many of these frames are records with a time stamp.
fn stamped(stream: &[u8]) -> u32 {
    let mut decoder = Decoder::default();
    let mut count = 0;
    for byte in stream {
        if let Outcome::Frame(frame) = decoder.push(*byte) {
            count += u32::from(!matches!(frame.id, 64 | 66));
        }
    }
    count
}

/// Every frame of every stream that QP sent, read and written again.
fn vectors() {
    let mut seen = [0u32; 128];
    let table = rows("index.tsv");
    for row in table.iter().filter(|row| is_well_formed(&row[0])) {
        let options: String = row[1]
            .split_whitespace()
            .filter(|option| is_size(option.as_bytes()))
            .map(|option| format!("{} ", &option[1..]))
            .collect();
        let path = Need::qs_streams().expect("they are there").join(format!("{}.bin", row[0]));
        vectors_of(&std::fs::read(path).expect("a stream"), Sizes::DEFAULT.with(&options), &mut seen);
    }
    let missing: Vec<_> =
        RECORDS.iter().filter(|row| row.layout.is_some() && seen[usize::from(row.id)] == 0).collect();
    assert!(missing.is_empty(), "no stream has {missing:?}");
}

/// As `-T4`.
fn is_size(option: &[u8]) -> bool {
    matches!(option, [b'-', letter, b'1'..=b'8'] if b"TOFSEQPBC".contains(letter))
}

/// Streams of QP 6.2 to 7.3.
fn is_well_formed(name: &str) -> bool {
    ["cap-", "gen-fw", "gen-pre", "gen-tst", "gen-dict-", "gen-rx", "live-"]
        .iter()
        .any(|kind| name.starts_with(kind))
}

fn vectors_of(stream: &[u8], mut sizes: Sizes, seen: &mut [u32; 128]) {
    let mut decoder = Decoder::default();
    let mut start = 0;
    for (at, byte) in stream.iter().enumerate() {
        let outcome = decoder.push(*byte);
        if matches!(outcome, Outcome::More) {
            continue;
        }
        let raw = &stream[std::mem::replace(&mut start, at + 1)..=at];
        let Outcome::Frame(frame) = outcome else { continue };
        if frame.id == TargetInfo::ID {
            sizes = TargetInfo::parse(frame.payload).map_or(sizes, |info| info.sizes);
        }
        let Some((time, record)) = Predefined::parse(frame.id, frame.payload, &sizes) else { continue };
        let mut again = Vec::new();
        record.emit(frame.seq, time.unwrap_or(0), sizes, |byte| again.push(byte));
        assert_eq!(again, raw, "{record:?}");
        seen[usize::from(frame.id)] += 1;
    }
}
