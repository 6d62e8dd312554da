//! The stream of a hosted program with several threads: all frames of each thread, in order. If the link is too slow, exactly
//! the reported number of frames is missing.

#![cfg(all(feature = "trace", feature = "std"))]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex, PoisonError};

use qs_core::frame::{Decoder, Outcome};
use qs_core::record::trace::Code;
use qs_core::record::{EventKind, RECORD_BASE, XhistRecord};
use xhist_rt::qs_record;
use xhist_rt::{qs, trace};

/// The program has one stream, so tests run one after another.
static TURN: Mutex<()> = Mutex::new(());

/// The stream of the link.
#[derive(Default)]
struct Stream {
    decoder: Decoder,
    /// The sender of the following frames.
    ring: u64,
    /// The numbers of each sender, by ring.
    numbers: BTreeMap<(u64, u8), Vec<u32>>,
    statements: usize,
    missing: u64,
}

impl Stream {
    /// Takes all available bytes.
    fn take(&mut self) -> bool {
        let mut block = [0; 1000];
        let len = qs::get_block(&mut block);
        for byte in &block[..len] {
            match self.decoder.push(*byte) {
                Outcome::More => {}
                Outcome::Damaged(damage) => panic!("{damage:?}"),
                Outcome::Frame(frame) => {
                    self.missing += u64::from(frame.missing);
                    match (XhistRecord::parse(&frame, RECORD_BASE), frame.payload) {
                        (Some(XhistRecord::Event { kind: EventKind::Thread, value, .. }), _) => {
                            self.ring = value
                        }
                        (None, [_, _, _, _, 1, sender, 5, number @ ..]) if frame.id == 100 => {
                            let number = u32::from_le_bytes(number.try_into().expect("four bytes"));
                            self.numbers.entry((self.ring, *sender)).or_default().push(number);
                        }
                        _ => self.statements += usize::from(frame.id == 122),
                    }
                }
            }
        }
        len > 0
    }
}

fn send(sender: u8, numbers: std::ops::Range<u32>, statements: bool) {
    for number in numbers {
        qs_record!(100, 0; u8 sender, u32 number);
        if statements && number.is_multiple_of(7) {
            xhist_rt::at(1, number as u16);
        }
    }
}

/// Runs concurrent senders. Takes the stream while they run, or only at the end.
fn run(senders: u8, each: u32, meanwhile: bool, statements: bool) -> Stream {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let first = RUNS.fetch_add(1, Relaxed) as u8 * 10;
    qs::global_on(qs::Records::User(0));
    let mut stream = Stream::default();
    while stream.take() {}
    stream = Stream::default();
    std::thread::scope(|scope| {
        let work = |sender| move || send(first + sender, 0..each, statements);
        let threads: Vec<_> = (0..senders).map(|sender| scope.spawn(work(sender))).collect();
        while meanwhile && threads.iter().any(|thread| !thread.is_finished()) {
            stream.take();
        }
    });
    while stream.take() {}
    assert_eq!(stream.decoder.pending(), 0, "whole frames");
    stream
}

#[test]
fn all_frames_of_each_thread_come_in_order() {
    for statements in [false, true] {
        let stream = run(4, 8_000, true, statements);
        assert_eq!(stream.missing, 0);
        let lens: Vec<_> = stream.numbers.iter().map(|(key, numbers)| (*key, numbers.len())).collect();
        assert_eq!(stream.numbers.len(), 4, "each from a ring of its own: {lens:?}");
        assert!(stream.numbers.values().all(|numbers| numbers.iter().copied().eq(0..8_000)));
        assert_eq!(stream.statements > 0, statements);
    }
}

#[test]
fn overwritten_frames_are_missing_and_counted() {
    let stream = run(2, 100_000, false, false);
    for numbers in stream.numbers.values() {
        assert!(numbers.len() > 10_000 && numbers.last() == Some(&99_999), "{:?}", numbers.last());
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "only the oldest are missing");
    }
    // Sequence numbers have 8 bits, so gaps and their sum are known modulo 256.
    let lost: usize = stream.numbers.values().map(|numbers| 100_000 - numbers.len()).sum();
    assert!(lost > 0, "the rings went round");
    assert_eq!(stream.missing % 256, lost as u64 % 256, "{lost} records are lost");
}

#[test]
fn losses_in_reused_rings_are_counted() {
    static REPORTED: AtomicU64 = AtomicU64::new(0);
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // At some times of day, a byte of the time is escaped in every record.
    qs::start(qs::Info { time: Some(|| 1), ..Default::default() });
    qs::global_on(qs::Records::User(0));
    let mut stream = Stream::default();
    while stream.take() {}
    trace::set_logger(Some(|event| {
        if let trace::Class::Exception { code: Code::RING_OVERRUN, .. } = event.class {
            REPORTED.fetch_add(event.args[0].bits(), Relaxed);
        }
    }));
    let mut lost = Vec::new();
    for threads in [100, 1, 300] {
        (stream, _) = (Stream::default(), REPORTED.store(0, Relaxed));
        for _ in 0..threads {
            std::thread::spawn(|| send(200, 0..100, false)).join().expect("it ends");
        }
        while stream.take() {}
        let taken: usize = stream.numbers.values().map(Vec::len).sum();
        // Each takes 15 bytes, or more with escapes. The end of a thread adds an event.
        let missing = 100 * threads - taken as u64;
        let reported = REPORTED.load(Relaxed);
        assert!(
            (missing * 15..=missing * 16).contains(&reported),
            "{missing} are missing, {reported} bytes are reported"
        );
        assert_eq!(stream.missing > 0, missing > 0);
        lost.push(missing);
    }
    trace::set_logger(None);
    assert!(lost[0] > 0 && lost[1] == 0 && lost[2] > 20_000, "{lost:?}");
}

#[test]
fn a_concurrent_filter_change_does_not_start_stopped_recording() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let packed = qs::Records::Id(RECORD_BASE + 2);
    for round in 0..500 {
        let begun = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                begun.wait();
                for _ in 0..50 {
                    qs::global_off(packed);
                    qs::global_on(packed);
                }
            });
            begun.wait();
            (0..round * 20).for_each(|_| std::hint::spin_loop());
            xhist_rt::stop();
        });
        let mut stream = Stream::default();
        while stream.take() {}
        (0..50).for_each(|line| xhist_rt::at(2, line));
        qs::flush();
        stream = Stream::default();
        while stream.take() {}
        assert_eq!(stream.statements, 0, "round {round}");
        xhist_rt::start();
    }
}
