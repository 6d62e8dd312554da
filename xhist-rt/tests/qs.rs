//! The QS target as a program uses it, hosted and on bare metal: records on the link are those that the program sent.

#![cfg(feature = "trace")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use qs_core::frame::{Decoder, FrameWriter, Outcome};
use qs_core::record::{Predefined, TargetInfo, element::Data};
use xhist_rt::qs::{self, Callbacks, Channel, Fun, Group, Info, Obj, Objects, Records, SIZES, Sig, To};
use xhist_rt::qs_record;

/// The program has one stream, so tests run one after another.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    qs::global_off(Records::All);
    qs::local_on(Objects::All);
    sent();
    turn
}

/// Ids and payloads of the records since the last call, without those that name the sender.
fn sent() -> Vec<(u8, Vec<u8>)> {
    qs::flush();
    let mut decoder = Decoder::new();
    let mut records = Vec::new();
    while let Some(byte) = qs::get_byte() {
        match decoder.push(byte) {
            Outcome::More => {}
            Outcome::Frame(frame) => records.push((frame.id, frame.payload.to_vec())),
            Outcome::Damaged(damage) => panic!("{damage:?}"),
        }
    }
    assert_eq!(decoder.pending(), 0, "whole frames");
    records.retain(|(id, _)| *id != 123);
    records
}

fn read(record: &(u8, Vec<u8>)) -> Predefined<'_> {
    let (id, payload) = record;
    Predefined::parse(*id, payload, &SIZES).unwrap_or_else(|| panic!("{record:?}")).1
}

/// Elements of an application record, behind its time stamp.
fn elements(record: &(u8, Vec<u8>)) -> &[u8] {
    &record.1[SIZES.time.into()..]
}

#[test]
fn records_pass_if_both_filters_have_them() {
    let _alone = alone();
    let take = qs::SemTake { obj: Obj(0x7E7D), thread: 5, count: 1 };
    qs::record(3, &take);
    assert!(sent().is_empty(), "all groups are off at start");
    qs::global_on(Records::Group(Group::Sem));
    qs::record(3, &take);
    qs::local_off(Objects::Id(3));
    qs::record(3, &take);
    qs::record(4, &take);
    let sent = sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(read(&sent[0]), Predefined::SemTake(take));
    qs::global_off(Records::Id(71));
    qs::record(4, &take);
    assert!(self::sent().is_empty());
}

#[test]
fn concurrent_filter_changes_are_not_lost() {
    let _alone = alone();
    let switch = |id| {
        for _ in 0..20_000 {
            qs::global_on(Records::Id(id));
            assert!(qs::global().has(id));
            qs::global_off(Records::Id(id));
            assert!(!qs::global().has(id));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| switch(71));
        switch(72);
    });
}

#[test]
fn filtered_statements_stay_out_when_recording_starts() {
    const STATEMENTS: u8 = 122;
    let _alone = alone();
    let comes = || {
        xhist_rt::e(xhist_rt::short(1, 7, 1));
        sent().iter().any(|(id, _)| *id == STATEMENTS)
    };
    qs::global_off(Records::Id(STATEMENTS));
    assert!(!comes());
    xhist_rt::stop();
    xhist_rt::start();
    assert!(!comes());
    qs::global_on(Records::Id(STATEMENTS));
    assert!(comes());
}

#[test]
fn stopped_recording_stays_stopped_with_any_filter() {
    const STATEMENTS: u8 = 122;
    let _alone = alone();
    qs::global_on(Records::All);
    let comes = || {
        qs_record!(100, 0; u8 1);
        xhist_rt::s(xhist_rt::short(1, 7, 1));
        sent().into_iter().map(|(id, _)| id).filter(|id| [100, STATEMENTS].contains(id)).collect::<Vec<_>>()
    };
    xhist_rt::stop();
    assert_eq!(comes(), []);
    qs::global_off(Records::Id(STATEMENTS));
    assert_eq!(comes(), []);
    qs::global_on(Records::Id(STATEMENTS));
    assert_eq!(comes(), []);
    xhist_rt::start();
    assert_eq!(comes(), [100, STATEMENTS]);
}

#[test]
fn an_application_record_has_its_elements() {
    const STAT: u8 = 100;
    let _alone = alone();
    qs::global_on(Records::User(0));
    let mut computed = 0;
    let mut next = || {
        computed += 1;
        computed
    };
    let name = String::from("thinking");
    qs_record!(STAT, 1; u8[3] next(), str &name, i16 -2, x32 0xDEAD_BEEF, enum[2] 7, f64 0.5, mem &[1, 0x7D],
        obj Obj(9), sig (Sig(4), Obj(9)), fun Fun(8), hex[4] 10, u64 1 << 40,);
    qs_record!(STAT, 1);
    qs::global_off(Records::User(0));
    qs_record!(STAT, 1; u8 next());
    assert_eq!(computed, 1, "computed once, and only for a record that is sent");
    let sent = sent();
    assert_eq!(sent.iter().map(|record| record.0).collect::<Vec<_>>(), [STAT, STAT]);
    let address = |value: usize| value.to_le_bytes()[..SIZES.obj.into()].to_vec();
    let parts: [&[u8]; 17] = [
        &[0x31, 1],
        b"\x08thinking\0",
        &[0x02, 0xFE, 0xFF],
        &[0xF5, 0xEF, 0xBE, 0xAD, 0xDE],
        &[0xA0, 7],
        &[0x07],
        &0.5f64.to_le_bytes(),
        &[0x09, 2, 1, 0x7D],
        &[0x0B],
        &address(9),
        &[0x0A, 4, 0],
        &address(9),
        &[0x0C],
        &address(8),
        &[0x4F, 10, 0, 0, 0],
        &[0x0E],
        &(1u64 << 40).to_le_bytes(),
    ];
    assert_eq!(elements(&sent[0]), parts.concat());
    assert!(elements(&sent[1]).is_empty());
}

#[test]
fn a_long_record_is_cut_with_a_mark() {
    let _alone = alone();
    qs::global_on(Records::User(0));
    let long = "long ".repeat(60);
    qs_record!(100, 0; str &long);
    qs_record!(100, 0; u8 1, str &long, str &long, u8 2);
    qs_record!(100, 0; u8 1, mem &[2; 250], mem &[3; 250], u8 4);
    qs::name_user(100, &"name ".repeat(200));
    qs_record!(100, 0; u8 1);
    let sent = sent();
    assert_eq!(sent.len(), 5);
    assert_eq!(elements(&sent[0]), [b"\x08", long.as_bytes(), b"\0"].concat());
    let cut = elements(&sent[1]);
    assert!(
        sent[1].1.len() <= 509 && cut.starts_with(&[1, 1, 8]) && cut.ends_with(b"...\0\x01\x02"),
        "{cut:?}"
    );
    let cut = elements(&sent[2]);
    assert!(cut.starts_with(&[1, 1, 9, 250, 2]) && cut.ends_with(b"\x02\x08...\0"), "{cut:?}");
    let Predefined::UsrDict(name) = read(&sent[3]) else { panic!("{:?}", sent[3]) };
    assert!(name.name.starts_with("name ") && name.name.ends_with("...") && name.name.len() > 450);
    assert_eq!(elements(&sent[4]), [1, 1]);
}

#[test]
fn every_length_comes_out_whole() {
    let _alone = alone();
    qs::global_on(Records::User(0));
    for len in 0..400 {
        let bytes: Vec<u8> = (0..len).map(|index| if len % 3 == 0 { 0x7E } else { index as u8 }).collect();
        qs_record!(100, 0; mem &bytes);
        let sent = sent();
        let data: Vec<u8> = bytes
            .chunks(255)
            .chain(bytes.is_empty().then_some(&[][..]))
            .flat_map(|block| [&[Data::Memory.format(0), block.len() as u8], block].concat())
            .collect();
        assert_eq!(elements(&sent[0]), data, "{len}");
    }
}

#[test]
fn a_session_starts_with_info_and_dictionaries_and_repeats_them_on_request() {
    fn dictionaries() {
        static PHILO: [u8; 2] = [0; 2];
        qs::name_obj(Obj::of(&PHILO), "&PHILO");
        qs::name_obj_of(Obj::of(&PHILO[1]), "PHILO[n].super", 105);
        qs::name_obj_of(Obj::of(&PHILO[0]), "PHILO", 0);
        qs::name_fun(Fun(0x100), "eating");
        qs::name_sig(Sig(5), Obj::NULL, "EAT~SIG");
        qs::name_user(100, "STAT");
        qs::name_enum(2, 3, "RED");
    }
    let _alone = alone();
    qs::start(Info { max_active: 8, dictionaries: Some(dictionaries), ..Info::default() });
    let first = sent();
    assert_eq!(first.iter().map(|record| record.0).collect::<Vec<_>>(), [0, 64, 61, 61, 61, 62, 60, 63, 54]);
    let info = TargetInfo::parse(&first[1].1).expect("target info");
    assert_eq!((info.reset, info.sizes, info.max_active), (0xFF, SIZES, 8));
    let names = ["PHILO", "PHILO[105].super", "PHILO0", "eating", "EAT~SIG", "STAT", "RED"];
    for (name, record) in names.iter().zip(&first[2..]) {
        let record = format!("{:?}", read(record));
        assert!(record.contains(&format!("name: \"{name}\"")), "{record}");
    }
    let mut channel = Channel::<32>::new();
    FrameWriter::new(1, 0, |byte| channel.byte(byte, &mut Nothing)).finish();
    let again = sent();
    assert_eq!(TargetInfo::parse(&again[0].1).map(|info| info.reset), Some(0));
    assert_eq!(again[1..], first[2..]);
}

#[test]
fn any_name_is_a_name() {
    let _alone = alone();
    let name_of = |record: &(u8, Vec<u8>)| match read(record) {
        Predefined::ObjDict(entry) => entry.name.to_owned(),
        Predefined::UsrDict(entry) => entry.name.to_owned(),
        other => panic!("{other:?}"),
    };
    let names = [
        ("", "7"),
        ("&", "7"),
        ("[]", "[7]"),
        ("a[", "a[7"),
        ("a]b[c]", "a]b[7]"),
        ("a\0b[n]", "a7"),
        ("\0", "7"),
        ("a[n]\0b", "a[7]"),
        ("a[\0]", "a[7"),
        ("ä~[ö].ü}", "ä~[7].ü}"),
    ];
    for (name, indexed) in names {
        qs::name_obj_of(Obj(1), name, 7);
        qs::name_user(100, name);
        let sent = sent();
        assert_eq!(name_of(&sent[0]), indexed);
        assert_eq!(name_of(&sent[1]), name.split('\0').next().expect("a part"));
    }
    // A long name is cut between characters, and the object stays.
    for len in 450..520 {
        let name = format!("{}{}", "n".repeat(len), "€".repeat(20));
        qs::name_user(100, &name);
        qs::name_obj_of(Obj(0x0506), &name, 7);
        qs::name_obj_of(Obj(0x0506), &format!("{name}[n]b"), 7);
        qs::name_obj_of(Obj(0x0506), &format!("a[n]{name}"), 7);
        for record in sent() {
            let read = name_of(&record);
            // Then without the index.
            if let Some(start) = read.strip_suffix("...") {
                assert!(name.starts_with(start.strip_prefix("a[n]").unwrap_or(start)), "{read}");
            }
            assert!(read.len() > 450);
            if let Predefined::ObjDict(entry) = self::read(&record) {
                assert_eq!(entry.obj, Obj(0x0506));
            }
        }
    }
}

/// Bare metal only: a hosted link takes whole frames.
#[cfg(not(feature = "std"))]
#[test]
fn an_overwritten_frame_does_not_damage_another_one() {
    let _alone = alone();
    qs::global_on(Records::User(0));
    let whole = |stream: &[u8]| {
        let mut decoder = Decoder::new();
        stream.iter().filter(|byte| matches!(decoder.push(**byte), Outcome::Frame(_))).count()
    };
    // Some of many frames have a valid sum at the cut.
    for (first, len) in (0..64).flat_map(|first| (1..30).map(move |len| (first, len))) {
        let mut taken = vec![0; len];
        // The link is empty, so these bytes belong to the first record.
        (0..xhist_rt::RING_SIZE / 16).for_each(|number| {
            qs_record!(100, 0; u32 first + number as u32, mem &[0x7E; 8]);
            if number == 0 {
                assert_eq!(qs::get_block(&mut taken), len);
            }
        });
        let (mut rest, mut block) = (Vec::new(), [0; 50]);
        while let len @ 1.. = qs::get_block(&mut block) {
            rest.extend_from_slice(&block[..len]);
        }
        let alone: usize = rest.split_inclusive(|byte| *byte == 0x7E).skip(1).map(whole).sum();
        assert_eq!(whole(&[taken, rest].concat()), alone, "{first} {len}");
        assert!(alone > 80, "{alone} frames");
    }
}

struct Nothing;

impl Callbacks for Nothing {}

#[derive(Default)]
struct Application {
    calls: Vec<String>,
}

impl Callbacks for Application {
    fn command(&mut self, command: u8, params: [u32; 3]) {
        self.calls.push(format!("command {command} {params:?}"));
        qs_record!(101, 0; u8 command);
    }

    fn event(&mut self, to: To, sig: Sig, params: &[u8]) -> bool {
        self.calls.push(format!("event {to:?} {sig:?} {params:?}"));
        sig == Sig(4)
    }
}

#[test]
fn commands_are_executed_and_answered() {
    let _alone = alone();
    qs::global_on(Records::User(0));
    let (mut channel, mut application, mut seq) = (Channel::<64>::new(), Application::default(), 0);
    let mut say = |id: u8, payload: &[u8], application: &mut Application| {
        seq += 1;
        FrameWriter::new(seq, id, |byte| channel.byte(byte, application)).bytes(payload).finish();
        sent().into_iter().map(|(id, payload)| (id, payload.last().copied())).collect::<Vec<_>>()
    };
    // The acknowledgement, the application's own record, the end of the command.
    assert_eq!(say(1, &[9, 1, 0, 0, 0], &mut application), [(66, Some(1)), (101, Some(9)), (65, Some(1))]);
    assert_eq!(say(16, &[3, 4, 0, 1, 0, 42], &mut application), [(66, Some(16)), (65, Some(16))]);
    assert_eq!(say(16, &[3, 5, 0, 0, 0], &mut application), [(66, Some(16)), (66, Some(0x80 | 16))]);
    assert_eq!(application.calls[1..], ["event Priority(3) Sig(4) [42]", "event Priority(3) Sig(5) []"]);
    // Filters at run time. Statements are a record, too.
    let mut filter = [0xFF; 17];
    filter[0] = 16;
    assert_eq!(say(10, &filter, &mut application), [(66, Some(10))]);
    assert!(qs::global().has(1) && qs::global().has(122) && !qs::global().has(125));
    filter[1..].fill(0);
    assert_eq!(say(10, &filter, &mut application), [(66, Some(10))]);
    assert!(!qs::global().has(1) && qs::global().has(66));
    xhist_rt::s(xhist_rt::short(1, 2, 1));
    assert!(sent().is_empty(), "statements are filtered out");
    qs::global_on(Records::Id(122));
    xhist_rt::s(xhist_rt::short(1, 2, 1));
    assert!(sent().iter().any(|(id, _)| *id == 122));
    // Memory is not accessible without permission of the program.
    let object = [&[5][..], &0x1000usize.to_le_bytes()[..SIZES.obj.into()]].concat();
    assert_eq!(say(13, &object, &mut application), [(66, Some(13))]);
    assert_eq!(say(4, &[0, 0, 1, 4], &mut application), [(66, Some(0x80 | 4))]);
}

#[cfg(all(feature = "memory", target_pointer_width = "64"))]
#[test]
fn a_host_reads_and_writes_what_the_program_names() {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use xhist_rt::qs::Range;

    static OPEN: [AtomicU32; 2] = [AtomicU32::new(0x0403_0201), AtomicU32::new(5)];
    let _alone = alone();
    let address = OPEN.as_ptr().expose_provenance();
    // SAFETY: the range is an array of atomics in a static, which any thread may read and write at any time.
    let ranges = Box::leak(Box::new([unsafe { Range::writable(address, 8) }]));
    qs::allow_memory(ranges);
    let mut channel = Channel::<64>::new();
    let mut seq = 0;
    let mut say = |id: u8, payload: &[u8]| {
        seq += 1;
        FrameWriter::new(seq, id, |byte| channel.byte(byte, &mut Nothing)).bytes(payload).finish();
        sent()
    };
    say(13, &[&[5][..], &address.to_le_bytes()].concat());
    let peeked = say(4, &[1, 0, 2, 2]);
    assert_eq!(peeked[0].1[4..], [1, 0, 2, 2, 2, 3, 4, 5]);
    assert_eq!(say(5, &[4, 0, 4, 1, 9, 0, 0, 0])[0], (66, vec![5]));
    assert_eq!(OPEN[1].load(Relaxed), 9);
    assert_eq!(say(6, &[0, 0, 1, 8, 0xAA])[0], (66, vec![6]));
    assert_eq!(OPEN[0].load(Relaxed), 0xAAAA_AAAA);
    for outside in [[5, 0, 4, 1], [8, 0, 1, 1], [0, 0, 1, 9]] {
        assert_eq!(say(4, &outside)[0], (66, vec![0x84]), "{outside:?}");
    }
    // A write beyond the range writes nothing.
    assert_eq!(say(6, &[0, 0, 1, 9, 0xBB])[0], (66, vec![0x86]));
    assert_eq!(say(6, &[2, 0, 4, 255, 1, 2, 3, 4])[0], (66, vec![0x86]));
    assert_eq!(say(5, &[6, 0, 1, 3, 1, 2, 3])[0], (66, vec![0x85]));
    assert!(OPEN.iter().all(|word| word.load(Relaxed) == 0xAAAA_AAAA));
    assert_eq!(say(6, &[1, 0, 2, 3, 0x0D, 0xF0])[0], (66, vec![6]));
    assert_eq!(OPEN.each_ref().map(|word| word.load(Relaxed)), [0x0DF0_0DAA, 0xAAF0_0DF0]);
}

/// A record has at most an eighth of the ring. `XHIST_RING_SIZE=256` at compile time makes that small on bare metal.
#[cfg(feature = "memory")]
#[test]
fn what_does_not_fit_in_a_small_ring_is_refused_or_cut() {
    use std::sync::atomic::AtomicU32;
    use xhist_rt::qs::Range;

    let _alone = alone();
    let ring = option_env!("XHIST_RING_SIZE").filter(|_| cfg!(not(feature = "std")));
    let ring: usize = ring.map_or(4096, |size| size.parse().expect("bytes"));
    static OPEN: [AtomicU32; 128] = [const { AtomicU32::new(0x0403_0201) }; 128];
    let address = OPEN.as_ptr().expose_provenance();
    // SAFETY: the range is an array of atomics in a static, which any thread may read and write at any time.
    let ranges = Box::leak(Box::new([unsafe { Range::readable(address, size_of_val(&OPEN)) }]));
    qs::allow_memory(ranges);
    let mut channel = Channel::<64>::new();
    let mut seq = 0u8;
    let mut say = |id: u8, payload: &[u8]| {
        seq = seq.wrapping_add(1);
        FrameWriter::new(seq, id, |byte| channel.byte(byte, &mut Nothing)).bytes(payload).finish();
        sent()
    };
    say(13, &[&[5][..], &address.to_le_bytes()[..SIZES.obj.into()]].concat());
    let room = (ring / 8).clamp(64, 512) - 2 - 2 - usize::from(SIZES.time) - 4;
    for count in 0..=255 {
        let expected = match usize::from(count) <= room {
            true => (68, [&[0, 0, 1, count][..], &[1, 2, 3, 4].repeat(64)[..count.into()]].concat()),
            false => (66, vec![0x84]),
        };
        let (id, payload) = &say(4, &[0, 0, 1, count])[0];
        let time = if *id == 68 { SIZES.time.into() } else { 0 };
        assert_eq!((*id, payload[time..].to_vec()), expected, "{count}");
    }
    let name = "application::table::philosophers[n].super.active.object";
    qs::name_obj_of(Obj(5), name, 7);
    let sent = sent();
    let Predefined::ObjDict(entry) = read(&sent[0]) else { panic!("{sent:?}") };
    let expected = match ring {
        // A cut name keeps its first letter.
        256 => "application::table::philosophers[n].super.a...".into(),
        _ => name.replace("[n]", "[7]"),
    };
    assert_eq!((entry.name, entry.obj), (&*expected, Obj(5)));
}

/// A clock may count its calls, like those of tests.
#[test]
fn each_record_reads_the_clock_once() {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static CALLS: AtomicU32 = AtomicU32::new(0);

    let _alone = alone();
    qs::global_on(Records::All);
    let time: fn() -> u32 = || CALLS.fetch_add(1, Relaxed) + 1;
    qs::start(Info { time: Some(time), ..Info::default() });
    sent();
    for begin in [0, 0, 1 << 30, 100] {
        // Start the clock at another value.
        CALLS.store(begin, Relaxed);
        for number in 1..5u32 {
            qs_record!(100, 0; u8 0);
            let (_, payload) = &sent()[0];
            assert_eq!(payload[..4], (begin + number).to_le_bytes());
        }
    }
}

#[cfg(feature = "qutest")]
#[test]
fn a_test_probe_is_used_once() {
    let _alone = alone();
    let function = Fun(0x2000);
    assert_eq!(qs::test_probe(function), 0);
    let mut channel = Channel::<64>::new();
    let payload = [&7u32.to_le_bytes()[..], &0x2000usize.to_le_bytes()[..SIZES.fun.into()]].concat();
    FrameWriter::new(1, 9, |byte| channel.byte(byte, &mut Nothing)).bytes(&payload).finish();
    assert_eq!(sent(), [(66, vec![9])]);
    assert_eq!((qs::test_probe(function), qs::test_probe(function)), (7, 0));
    let used = qs::TestProbeGet { fun: function, data: 7 };
    assert_eq!(read(&sent()[0]), Predefined::TestProbeGet(used));
}

#[test]
fn a_record_is_cut_between_elements() {
    let _alone = alone();
    qs::global_on(Records::User(0));
    for len in 0..60 {
        let bytes = vec![0x41; len];
        qs_record!(100, 0; mem &[1; 250], mem &[2; 200], mem &bytes, u8 3, u64 4, u16 5, u64 6, u8 7, x64 8);
        let sent = sent();
        let mut rest = elements(&sent[0]);
        let mut count = 0;
        while let [format, behind @ ..] = rest {
            let len = match Data::of(*format) {
                Data::Int(len) | Data::Uint(len) => len.into(),
                Data::Memory => 1 + usize::from(behind[0]),
                Data::Text => {
                    assert_eq!(behind, b"...\0", "{len}");
                    4
                }
                other => panic!("{other:?} at {len}"),
            };
            (count, rest) = (count + 1, &behind[len..]);
        }
        assert!(count >= 3, "{len}");
    }
}
