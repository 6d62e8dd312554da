//! Values that the hooks record are read back: of all sizes and kinds, in optimised and in unoptimised code.

#![cfg(all(feature = "trace", feature = "std"))]

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use qs_core::record::value::RecordedValue;
use qs_core::ring::{Header, Item, Reader};

/// What was recorded in a thread: statements by line, and values.
#[derive(Debug, Default)]
struct History {
    values: Vec<RecordedValue>,
    /// The number of values before each statement.
    before: Vec<(u16, usize)>,
    repeated: u64,
    header: Option<Header>,
}

impl History {
    /// The bytes of the newest value of this place.
    fn bytes(&self, number: u32) -> &[u8] {
        let value = self.values.iter().rev().find(|value| value.number == number);
        value.unwrap_or_else(|| panic!("no value {number}")).bytes()
    }
}

/// Runs a program in a thread of its own, and reads what it recorded.
fn record(program: impl FnOnce() + Send + 'static) -> History {
    xhist_rt::mv::<7>();
    static THREADS: AtomicU32 = AtomicU32::new(0);
    let name = format!("thread {}", THREADS.fetch_add(1, Relaxed));
    let thread = std::thread::Builder::new().name(name.clone());
    let run = thread.spawn(move || {
        xhist_rt::el(xhist_rt::long(1, 1));
        program();
        xhist_rt::el(xhist_rt::long(1, 60_000));
        images()
    });
    let image = run.expect("a thread").join().expect("no panic");
    read(&image, &name)
}

/// The rings of the process, as bytes.
fn images() -> Vec<u8> {
    use std::io::{Read as _, Seek as _};
    use std::os::fd::AsRawFd as _;
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap();
    let mut file = tempfile();
    xhist_rt::xhist_logdev(file.as_raw_fd());
    xhist_rt::xhist_write();
    xhist_rt::xhist_logdev(-1);
    let mut image = Vec::new();
    file.rewind().expect("a file");
    file.read_to_end(&mut image).expect("a file");
    image
}

fn tempfile() -> std::fs::File {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("{}/rings-{}", env!("CARGO_TARGET_TMPDIR"), NUMBER.fetch_add(1, Relaxed));
    let options = std::fs::File::options().read(true).write(true).create(true).truncate(true).clone();
    let file = options.open(&name).expect("a file");
    std::fs::remove_file(name).expect("removed");
    file
}

fn read(image: &[u8], name: &str) -> History {
    let is_ours = |header: &Header| header.thread_name() == Some(name) && header.words.level == 0;
    let found = qs_core::ring::find(image)
        .filter_map(|found| Some((found.offset, found.header.ok()?)))
        .find(|(_, header)| is_ours(header));
    let (offset, header) = found.expect("the ring of the thread");
    let mut history = History { header: Some(header), ..History::default() };
    let mut reader = Reader::new(header, &image[offset..]);
    while let Some(item) = reader.next() {
        match item {
            Item::Statement(statement, _) => history.before.push((statement.line, history.values.len())),
            Item::Value(value, _) => history.values.push(value),
            Item::Repetition(again) => history.repeated += again.statements as u64 * again.times,
            Item::Frame(_) => {}
            other => panic!("{other:?}"),
        }
    }
    history
}

fn key<T>() -> u32 {
    xhist_rt::value::types::of_type::<T> as fn() -> &'static str as usize as u32
}

/// A structure with padding.
#[repr(C)]
struct Padded(u8, u32);

/// A structure of which no value is recorded, or a reference, but through its pointers.
#[derive(Clone, Copy)]
struct Large(#[expect(dead_code, reason = "its bytes are read")] [u16; 50]);

/// The target of the newest value of this place.
impl History {
    fn target(&self, number: u32) -> (&[u8], Option<u32>) {
        let value = self.values.iter().rev().find(|value| value.number == number);
        let value = value.unwrap_or_else(|| panic!("no value {number}"));
        (value.bytes(), value.target_len)
    }
}

macro_rules! each_target {
    ($hooks:path) => {{
        use $hooks as hooks;
        fn generic<T>(value: T, reference: &T) {
            hooks::vtg::<1, _>(&value);
            hooks::vrg::<2, _>(&reference);
        }
        let history = record(|| {
            generic("generic", &"reference");
            generic(5u8, &6);
            hooks::vr::<3, _>(&&Padded(7, 0x8000_0001));
            hooks::vr::<4, _>(&&mut [1u16, 2, 3]);
            hooks::vr::<5, _>(&&String::from("owned"));
            hooks::vr::<6, _>(&&());
            let object: &dyn Fn() = &|| ();
            hooks::vr::<7, _>(&object);
            hooks::vt::<8, _>(&Some("some"));
            hooks::vt::<9, _>(&None::<&str>);
            hooks::vt::<10, _>(&std::rc::Rc::<str>::from("counted"));
            hooks::vt::<11, _>(&Box::new(-1i64));
            hooks::vt::<12, _>(&u64::MAX);
            hooks::vt::<13, _>(&[9u8; 100]);
            hooks::vt::<14, _>(&std::borrow::Cow::Borrowed("cow"));
            hooks::vt::<15, _>(&(1usize, 64usize));
            hooks::vt::<16, _>(&Some(vec![1u8, 2]));
            hooks::vt::<17, _>(&std::path::Path::new("a/b"));
            hooks::vt::<18, _>(&core::ptr::null::<u8>());
            let word = core::sync::atomic::AtomicU32::new(0x8182_8384);
            hooks::vr::<19, _>(&&word);
            hooks::vt::<20, _>(&Box::<[u16]>::from([7, 0x8001]));
            hooks::vr::<21, _>(&&mut [0x8182_8384u32, 1][..]);
        });
        assert_eq!(history.target(1), (&[5][..], None));
        assert_eq!(history.target(2), (&[6][..], Some(1)));
        let first = |number| history.values.iter().find(|value| value.number == number).expect("a value");
        assert_eq!((first(1).bytes(), first(1).target_len), (&b"generic"[..], Some(7)));
        assert_eq!((first(2).bytes(), first(2).target_len), (&b"reference"[..], Some(9)));
        assert!(history.values[..4].iter().all(|value| value.type_key.is_some()));
        let (bytes, one) = history.target(3);
        assert_eq!((bytes[0], &bytes[4..], one), (7, &[1, 0, 0, 0x80][..], Some(1)));
        assert_eq!(history.target(4), (&[1, 0, 2, 0, 3, 0][..], Some(1)));
        assert_eq!(history.target(5), (&b"owned"[..], Some(5)));
        assert_eq!(history.target(6), (&[][..], Some(1)));
        assert_eq!((history.target(7).0.len(), history.target(7).1), (16, None));
        assert_eq!(history.target(8), (&b"some"[..], Some(4)));
        assert_eq!((history.target(9).0.len(), history.target(9).1), (16, None));
        assert_eq!(history.target(10), (&b"counted"[..], Some(7)));
        assert_eq!(history.target(11), (&[0xFF; 8][..], Some(1)));
        assert_eq!(history.target(12), (&[0xFF; 8][..], None));
        assert_eq!(history.target(13), (&[9; 64][..], None));
        assert_eq!(history.target(14), (&b"cow"[..], Some(3)));
        assert_eq!(history.target(15).1, None);
        assert_eq!(history.target(16), (&[1, 2][..], Some(2)));
        assert_eq!(history.target(17), (&b"a/b"[..], Some(3)));
        assert_eq!(history.target(18), (&[0; 8][..], None));
        assert_eq!(history.target(19), (&[0x84, 0x83, 0x82, 0x81][..], Some(1)));
        assert_eq!(history.target(20), (&[7, 0, 1, 0x80][..], Some(2)));
        assert_eq!(history.target(21), (&[0x84, 0x83, 0x82, 0x81, 1, 0, 0, 0][..], Some(2)));
    }};
}

#[test]
#[cfg(target_arch = "x86_64")]
fn targets_are_read_back() {
    each_target!(xhist_rt);
    each_target!(xhist_rt::unoptimised);
}

/// The size behind a pointer is known from the first value of the type on, also to threads that asked before.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_pointer_leads_to_its_target_once_the_size_of_that_is_known() {
    let history = record(|| {
        let large = Large([0x8182; 50]);
        let boxed = Box::new(large);
        xhist_rt::vt::<1, _>(&boxed);
        xhist_rt::vt::<2, _>(&large);
        xhist_rt::vt::<3, _>(&boxed);
        xhist_rt::vt::<4, _>(&Some(1u8).map(|_| &large).expect("a reference"));
        // Not one of its pointers.
        xhist_rt::vt::<5, _>(&core::ptr::NonNull::from(&large));
        xhist_rt::vt::<6, _>(&std::rc::Rc::new(large));
    });
    let kept = [0x82, 0x81].repeat(32);
    assert_eq!((history.target(1).0.len(), history.target(1).1), (8, None));
    assert_eq!(history.target(2), (&kept[..], None));
    for number in [3, 4] {
        assert_eq!(history.target(number), (&kept[..], Some(1)), "{number}");
    }
    for number in [5, 6] {
        assert_eq!((history.target(number).0.len(), history.target(number).1), (8, None), "{number}");
    }
}

/// The source says that a value is a reference at one place, and not at another that was passed before.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_written_reference_leads_to_its_target_though_the_type_had_none() {
    #[expect(dead_code, reason = "its bytes are read")]
    struct Unseen([u8; 3]);
    let history = record(|| {
        let reference = &Unseen([1, 0x82, 3]);
        xhist_rt::vt::<1, _>(&reference);
        xhist_rt::vr::<2, _>(&reference);
        xhist_rt::vt::<3, _>(&reference);
    });
    assert_eq!((history.target(1).0.len(), history.target(1).1), (8, None));
    for number in [2, 3] {
        assert_eq!(history.target(number), (&[1, 0x82, 3][..], Some(1)), "{number}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    #[test]
    fn targets_survive_a_round_trip(
        text in "[a-zé€]{0,90}",
        numbers in proptest::collection::vec(proptest::prelude::any::<u64>(), 0..20),
        array in proptest::prelude::any::<[u8; 29]>(),
    ) {
        let (given, list) = (text.clone(), numbers.clone());
        let history = record(move || {
            xhist_rt::vt::<1, _>(&given);
            xhist_rt::vtg::<2, _>(&given.as_str());
            xhist_rt::vt::<3, _>(&list);
            xhist_rt::vr::<4, _>(&&list[..]);
            xhist_rt::vr::<5, _>(&&array);
            xhist_rt::vt::<6, _>(&array);
        });
        let most = |bytes: &[u8]| bytes[..bytes.len().min(64)].to_vec();
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        for (number, bytes, elements) in [
            (1, text.as_bytes(), Some(text.len())),
            (2, text.as_bytes(), Some(text.len())),
            (3, &bytes, Some(numbers.len())),
            (4, &bytes, Some(numbers.len())),
            (5, &array, Some(1)),
            (6, &array, None),
        ] {
            let (found, count) = history.target(number);
            proptest::prop_assert_eq!(found, most(bytes));
            proptest::prop_assert_eq!(count, elements.map(|elements| elements as u32));
        }
    }
}

macro_rules! each_value {
    ($hooks:path) => {{
        use $hooks as hooks;
        let history = record(|| {
            hooks::v::<1, _>(&());
            hooks::v::<2, _>(&0xFEu8);
            hooks::v::<3, _>(&0x8001u16);
            hooks::v::<4, _>(&[0x80u8, 1, 0xFF]);
            hooks::v::<5, _>(&0xDEAD_BEEFu32);
            hooks::v::<6, _>(&[1u8, 0x82, 3, 0x84, 0xF5]);
            hooks::v::<7, _>(&[0x8001u16, 2, 0xFFFF]);
            hooks::v::<8, _>(&[1u8, 0x82, 3, 0x84, 0xF5, 6, 0x87]);
            hooks::v::<9, _>(&u64::MAX);
            hooks::v::<10, _>(&0x0102_8304_0506_87F8u64);
            hooks::v::<11, _>(&u128::MAX);
            hooks::v::<12, _>(&true);
            hooks::v::<13, _>(&-1i8);
            hooks::v::<14, _>(&Padded(7, 0x8000_0001));
            hooks::v::<300, _>(&0u32);
            hooks::v::<16_000_000, _>(&0x7D7E_0000u32);
            hooks::vw::<20, _>(&[0x8182_8384u32; 3]);
            hooks::vw::<21, _>(&[9u8; 40]);
            hooks::vw::<22, _>(&5u8);
            hooks::vg::<23, _>(&5u16);
            hooks::vg::<23, _>(&5u64);
            hooks::vg::<40, _>(&());
            hooks::vg::<41, _>(&[0x80u8, 2, 0xFF]);
            hooks::vg::<42, _>(&[0xFFu8, 2, 0x80, 4, 0x81]);
            hooks::vg::<43, _>(&u64::MAX);
            hooks::vg::<44, _>(&0x80u8);
            hooks::vwg::<24, _>(&[1u64; 4]);
            hooks::vt::<25, _>(&"a text with \u{e9}");
            hooks::vt::<26, _>(&String::from("owned"));
            hooks::vt::<27, _>(&[1u16, 0xFFFF].as_slice());
            hooks::vt::<28, _>(&vec![0x8000_0000u32; 100]);
            hooks::vt::<29, _>(&6u32);
            hooks::vtg::<30, _>(&"generic");
            hooks::vt::<31, _>(&vec![Some(1u8)]);
        });
        assert_eq!(history.bytes(1), []);
        assert_eq!(history.bytes(2), [0xFE]);
        assert_eq!(history.bytes(3), [1, 0x80]);
        assert_eq!(history.bytes(4), [0x80, 1, 0xFF, 0]);
        assert_eq!(history.bytes(5), 0xDEAD_BEEFu32.to_le_bytes());
        assert_eq!(history.bytes(6), [1, 0x82, 3, 0x84, 0xF5, 0, 0, 0]);
        assert_eq!(history.bytes(7), [1, 0x80, 2, 0, 0xFF, 0xFF, 0, 0]);
        assert_eq!(history.bytes(8), [1, 0x82, 3, 0x84, 0xF5, 6, 0x87, 0]);
        assert_eq!(history.bytes(9), [0xFF; 8]);
        assert_eq!(history.bytes(10), 0x0102_8304_0506_87F8u64.to_le_bytes());
        assert_eq!(history.bytes(11), [0xFF; 8]);
        assert_eq!((history.bytes(12), history.bytes(13)), (&[1][..], &[0xFF][..]));
        assert_eq!((history.bytes(14)[0], &history.bytes(14)[4..]), (7, &[1, 0, 0, 0x80][..]));
        assert_eq!(history.bytes(300), [0; 4]);
        assert_eq!(history.bytes(16_000_000), 0x7D7E_0000u32.to_le_bytes());
        assert_eq!(history.bytes(20), [0x84, 0x83, 0x82, 0x81].repeat(3));
        assert_eq!(history.bytes(21), [9; 32]);
        assert_eq!(history.bytes(22), [5]);
        let generic: Vec<_> = history.values.iter().filter(|value| value.number == 23).collect();
        assert_eq!((generic[0].bytes(), generic[1].bytes().len()), (&[5, 0][..], 8));
        assert!(generic.iter().all(|value| value.type_key.is_some()));
        let keys = [generic[0].type_key, generic[1].type_key];
        assert_eq!(keys, [Some(key::<u16>()), Some(key::<u64>())]);
        assert_ne!(keys[0], keys[1]);
        assert_eq!((history.bytes(40), history.bytes(41)), (&[][..], &[0x80, 2, 0xFF][..]));
        assert_eq!((history.bytes(42), history.bytes(43)), (&[0xFF, 2, 0x80, 4, 0x81][..], &[0xFF; 8][..]));
        assert_eq!(history.bytes(44), [0x80]);
        assert_eq!(history.bytes(24).len(), 32);
        let target = |number: u32| {
            let value = history.values.iter().find(|value| value.number == number).expect("a value");
            (value.bytes().to_vec(), value.target_len)
        };
        let text = "a text with \u{e9}";
        assert_eq!(target(25), (text.as_bytes().to_vec(), Some(text.len() as u32)));
        assert_eq!(target(26), (b"owned".to_vec(), Some(5)));
        assert_eq!(target(27), (vec![1, 0, 0xFF, 0xFF], Some(2)));
        assert_eq!(target(28), ([0, 0, 0, 0x80].repeat(16), Some(100)));
        assert_eq!(target(29), (vec![6, 0, 0, 0], None));
        assert_eq!(target(30), (b"generic".to_vec(), Some(7)));
        assert_eq!((target(31).0.len(), target(31).1), (24, None));
        let header = history.header.expect("a header");
        assert!(header.has_values() && header.map_hash == 7);
        assert_eq!(header.anchor, xhist_rt::value::types::anchor as fn() as usize as u64);
    }};
}

#[test]
fn values_of_all_sizes_are_read_back() {
    each_value!(xhist_rt);
}

#[test]
fn values_of_unoptimised_code_are_read_back() {
    each_value!(xhist_rt::unoptimised);
}

#[test]
#[cfg(target_os = "linux")]
fn the_program_has_a_row_for_each_place_and_type() {
    let program = std::fs::read("/proc/self/exe").expect("the program");
    let row = |number: u32, size: u32| {
        let start = [number.to_ne_bytes(), size.to_ne_bytes()].concat();
        let rows = program.windows(16).enumerate().filter(|(_, row)| row.starts_with(&start));
        let names = rows.filter_map(|(at, _)| {
            let name = program[at + 16..].split(|byte| *byte == 0).next()?;
            Some(core::str::from_utf8(name).ok()?.contains("5value5types").then_some(()))
        });
        names.flatten().count()
    };
    assert!(row(16_000_000, 4) > 0 && row(23, 2) > 0 && row(23, 8) > 0 && row(0, 0) > 0);
    assert_eq!(row(16_000_000, 8), 0);
}

#[test]
fn values_are_behind_their_statements() {
    let history = record(|| {
        for round in 0..3000u32 {
            xhist_rt::el(xhist_rt::long(1, 2));
            xhist_rt::v::<1, _>(&round);
            xhist_rt::sl(xhist_rt::long(1, 3));
            xhist_rt::vw::<2, _>(&[round; 8]);
            xhist_rt::vt::<3, _>(&format!("round {round}"));
        }
    });
    let first = history.values[0].number;
    assert!(first <= 3 && history.values.len() > 300 && history.repeated == 0);
    for pair in history.values.windows(2) {
        let next = if pair[0].number == 3 { 1 } else { pair[0].number + 1 };
        assert_eq!(pair[1].number, next);
    }
    let newest = history.values.iter().rev().take(3).collect::<Vec<_>>();
    assert_eq!(newest[0].bytes(), b"round 2999");
    assert_eq!(newest[1].bytes(), 2999u32.to_le_bytes().repeat(8));
    assert_eq!(newest[2].bytes(), 2999u32.to_le_bytes());
    // Between a statement and the next one are its values.
    for pair in history.before.windows(2).rev().take(200) {
        let values = pair[1].1 - pair[0].1;
        assert_eq!(values, if pair[0].0 == 2 { 1 } else { 2 }, "{pair:?}");
    }
}

#[test]
fn a_loop_with_the_same_values_is_folded() {
    let history = record(|| {
        for _ in 0..100_000 {
            xhist_rt::el(xhist_rt::long(1, 2));
            xhist_rt::v::<1, _>(&0x8080_8080u32);
            xhist_rt::sl(xhist_rt::long(1, 3));
            xhist_rt::v::<2, _>(&0xFFFF_FFFF_FFFFu64);
        }
    });
    assert!(history.repeated > 150_000, "{}", history.repeated);
    let all = history.before.len() as u64 + history.repeated;
    assert_eq!(all, 200_002);
    assert_eq!(history.bytes(2), 0xFFFF_FFFF_FFFFu64.to_le_bytes());
}

static RECORD_IN_HANDLER: AtomicU32 = AtomicU32::new(0);

extern "C" fn handler(_: i32) {
    xhist_rt::el(xhist_rt::long(2, 1));
    xhist_rt::v::<90, _>(&RECORD_IN_HANDLER.fetch_add(1, Relaxed));
}

#[test]
fn a_handler_records_values() {
    // SAFETY: the handler is async-signal-safe, as all hooks are.
    unsafe { libc::signal(libc::SIGUSR2, handler as extern "C" fn(i32) as usize) };
    let history = record(|| {
        for round in 0..200u32 {
            xhist_rt::el(xhist_rt::long(1, 2));
            xhist_rt::v::<1, _>(&round);
            if round % 10 == 0 {
                // SAFETY: the handler of this signal is set.
                unsafe { libc::raise(libc::SIGUSR2) };
            }
        }
    });
    let values: Vec<_> = history.values.iter().filter(|value| value.number == 1).collect();
    assert_eq!(values.len(), 200);
    assert!(values.iter().zip(0u32..).all(|(value, round)| value.bytes() == round.to_le_bytes()));
    assert!(RECORD_IN_HANDLER.load(Relaxed) >= 20);
}

#[test]
fn values_are_recorded_in_each_mode() {
    let modes: [(&str, &str, &[&str]); 5] = [
        ("XHIST_FRAMES", "single", &["values_of", "values_are_behind", "a_handler"]),
        ("XHIST_FRAMES", "exact", &["values_of", "values_are_behind", "a_handler"]),
        ("XHIST_TIME", "on", &["values_of", "values_are_behind", "a_handler"]),
        ("XHIST_SIZE", "4096", &["values_of", "a_loop", "a_handler", "hooks"]),
        ("XHIST", "off", &["hooks"]),
    ];
    for (setting, value, tests) in modes {
        let program = std::env::current_exe().expect("a path");
        let done = std::process::Command::new(program).args(tests).env(setting, value).output();
        let done = done.expect("a process");
        assert!(done.status.success(), "{setting}={value}: {}", String::from_utf8_lossy(&done.stdout));
    }
}

#[test]
fn hooks_need_no_ring() {
    for round in 0..100_000u64 {
        xhist_rt::el(xhist_rt::long(1, 2));
        xhist_rt::v::<1, _>(&round);
        xhist_rt::vt::<2, _>(&"text");
    }
}

#[test]
fn a_watched_value_stops_recording() {
    if std::env::var_os("XHIST_WATCH_TEST").is_none() {
        let program = std::env::current_exe().expect("a path");
        let done = std::process::Command::new(program)
            .args(["--exact", "a_watched_value_stops_recording"])
            .env("XHIST_WATCH_TEST", "1")
            .output()
            .expect("a process");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
        return;
    }
    let watched = |expected: &'static str, is_text: bool| {
        xhist_rt::start();
        let history = record(move || {
            for round in 0..100u32 {
                xhist_rt::el(xhist_rt::long(1, 2));
                xhist_rt::v::<1, _>(&round);
                let text = format!("{round}");
                match is_text {
                    true => xhist_rt::watch(1, 0, Some(expected), &text.as_str()),
                    false => xhist_rt::watch(0, 0, Some(expected), &round),
                }
            }
        });
        u32::from_le_bytes(history.bytes(1).try_into().expect("four bytes"))
    };
    assert_eq!((watched("41", false), watched("42", true)), (41, 42));
}
