//! The program clears its history while its threads record, wait, or have ended.

#![cfg(all(feature = "trace", feature = "std"))]

use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use qs_core::ring::{Header, Item, Reader};

/// The number of the newest statement of the busy thread. It is stored before the statement is recorded.
static BEGUN: AtomicU32 = AtomicU32::new(0);
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Lines of a file.
const LINES: u32 = 4000;

/// Records a statement of this number. No two have the same place, so none are folded.
fn record(file: u16, number: u32) {
    xhist_rt::at(file + (number / LINES) as u16, (1 + number % LINES) as u16);
}

/// The statements of each ring, as numbers behind those of `file`.
fn shown(file: u16) -> Vec<Vec<u32>> {
    let (mut from, to) = std::io::pipe().expect("a pipe");
    let reading = thread::spawn(move || {
        let mut image = Vec::new();
        from.read_to_end(&mut image).expect("a pipe");
        image
    });
    xhist_rt::xhist_logdev(to.as_raw_fd());
    xhist_rt::xhist_write();
    xhist_rt::xhist_logdev(-1);
    drop(to);
    let image = reading.join().expect("no panic");
    let first = Header::parse(&image).expect("a ring");
    let rings = image.chunks(first.header_len + first.size).map(|ring| {
        let mut reader = Reader::new(Header::parse(ring).expect("a ring"), ring);
        let mut numbers = Vec::new();
        while let Some(item) = reader.next() {
            match item {
                Item::Statement(place, _) if (file..file + 100).contains(&place.file) => {
                    numbers.push(u32::from(place.file - file) * LINES + u32::from(place.line) - 1);
                }
                Item::Statement(..) | Item::Frame(_) => {}
                other => panic!("{other:?}"),
            }
        }
        numbers
    });
    rings.filter(|numbers| !numbers.is_empty()).collect()
}

#[test]
fn what_was_recorded_before_is_not_shown_and_what_comes_after_is() {
    let (go_on, goes_on) = channel::<()>();
    let (ready, is_ready) = channel();
    let waiting = thread::spawn(move || {
        (0..50).for_each(|number| record(100, number));
        ready.send(()).expect("it lives");
        goes_on.recv().expect("it lives");
        (50..53).for_each(|number| record(100, number));
    });
    thread::spawn(|| (0..50).for_each(|number| record(200, number))).join().expect("no panic");
    is_ready.recv().expect("it lives");
    let busy = thread::spawn(|| {
        for number in 1.. {
            BEGUN.store(number, Ordering::SeqCst);
            record(300, number);
            if IS_OVER.load(Ordering::Relaxed) {
                return number;
            }
            (0..300).for_each(|_| std::hint::spin_loop());
        }
        0
    });
    (0..10).for_each(|number| record(400, number));
    let mut limits = 0..0;
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(1));
        limits.start = BEGUN.load(Ordering::SeqCst);
        xhist_rt::clear();
        limits.end = BEGUN.load(Ordering::SeqCst) + 2;
    }
    (10..13).for_each(|number| record(400, number));
    go_on.send(()).expect("it lives");
    waiting.join().expect("no panic");
    IS_OVER.store(true, Ordering::Relaxed);
    let newest = busy.join().expect("no panic");
    assert_eq!(shown(400), [[10, 11, 12]], "the thread that has cleared");
    assert_eq!(shown(100), [[50, 51, 52]], "a thread that waited");
    assert_eq!(shown(200), [[0; 0]; 0], "a thread that had ended");
    let [numbers] = &shown(300)[..] else { panic!("one busy thread") };
    assert!(limits.contains(&numbers[0]), "{} is not in {limits:?}", numbers[0]);
    let expected: Vec<u32> = (numbers[0]..=newest).collect();
    assert_eq!(*numbers, expected, "a thread that was busy");
}
