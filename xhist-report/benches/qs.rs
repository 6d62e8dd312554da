//! How fast QS streams are decoded, in MB of stream a second of processor time, on one core:
//! `[XHIST_QSPY=PROGRAM] cargo bench -p xhist-report --bench qs [-- FILE...]`.
//!
//! Then how fast memory is searched for rings, beside reading it from a file.
//!
//! Without files, on a stream of the usual records: posts, gets, dispatches, transitions, ticks, application records. With a QSPY, both
//! programs print the same file to nowhere as well, in turns.

use std::hint::black_box;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use qs_core::frame::FrameWriter;
use qs_host::{Decoder, Listener, Receiver, StreamEvent, TargetSymbols};
use xhist_report::format::by_name;
use xhist_report::{Options, report};

/// Records of a small target, as hexadecimal ids and payloads.
const RECORDS: &str = include_str!("../tests/expected/qs-records.tsv");
/// Those that come most.
const USUAL: [u8; 12] = [1, 2, 6, 8, 14, 16, 17, 24, 25, 30, 31, 32];
const SIZE: usize = 32 << 20;
/// Bytes of memory that are searched.
const IMAGE: usize = 256 << 20;
const AT_LEAST: Duration = Duration::from_secs(1);

struct BlackBox;

impl Listener for BlackBox {
    fn event(&mut self, event: StreamEvent<'_>, _: &mut TargetSymbols) {
        black_box(&event);
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("a byte")).collect()
}

fn usual() -> Vec<u8> {
    let frames: Vec<Vec<u8>> =
        RECORDS.lines().map(|row| bytes(row.split('\t').next().unwrap_or(""))).collect();
    let frames: Vec<&Vec<u8>> = frames.iter().filter(|frame| USUAL.contains(&frame[1])).collect();
    let mut stream = Vec::with_capacity(SIZE + 600);
    let mut seq = 0u8;
    while stream.len() < SIZE {
        for frame in &frames {
            seq = seq.wrapping_add(1);
            // These frames hold nothing that was escaped.
            let payload = &frame[2..frame.len() - 2];
            FrameWriter::new(seq, frame[1], |byte| stream.push(byte)).bytes(payload).finish();
        }
        seq = seq.wrapping_add(1);
        let user = [7, 0, 0, 0, 0x05, 1, 2, 3, 4, 0x08, b'h', b'i', 0];
        FrameWriter::new(seq, 100, |byte| stream.push(byte)).bytes(&user).finish();
    }
    stream
}

/// Processor time of this thread: others may be busy too.
fn used() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Processor time of all child programs, in steps of 10 ms.
fn used_by_programs() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let ticks = |index: usize| -> u64 {
        let fields = stat.rsplit(") ").next().unwrap_or("");
        fields.split(' ').nth(index).and_then(|field| field.parse().ok()).expect("a number")
    };
    Duration::from_millis(10 * (ticks(13) + ticks(14)))
}

/// Both programs on a file.
fn beside(qspy: &str, stream: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    (0..4).for_each(|_| file.write_all(stream).expect("room for it"));
    let name = file.path().to_str().expect("a name");
    let ours = [env!("CARGO_BIN_EXE_xhist-report"), "--format", "qspy", "-r", "c0", name];
    let theirs = [qspy, "-k", "-u0", "-rc0", "-f", name];
    let mut best = [Duration::MAX; 2];
    for _ in 0..5 {
        for (best, program) in best.iter_mut().zip([&ours[..], &theirs]) {
            let before = used_by_programs();
            let mut command = Command::new(program[0]);
            command.args(&program[1..]).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().expect("it runs");
            *best = (*best).min(used_by_programs() - before);
        }
    }
    let rate = |time: Duration| 4.0 * stream.len() as f64 / 1e6 / time.as_secs_f64();
    println!("{:<24} {:8.0} MB/s", "xhist-report", rate(best[0]));
    println!("{:<24} {:8.0} MB/s, a ratio of {:.1}", "QSPY", rate(best[1]), rate(best[0]) / rate(best[1]));
}

/// Reading a file of memory, and searching it for rings.
fn search() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_xhist-report")).expect("it was built");
    let mut image = Vec::with_capacity(IMAGE + program.len());
    while image.len() < IMAGE {
        // As much that is zero as that is not.
        image.extend_from_slice(&program);
        image.resize(image.len() + program.len(), 0);
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&image).expect("room for it");
    let mut into = vec![0; 1 << 17];
    println!("memory without a ring, {} MB", image.len() / 1_000_000);
    measure("read from a file", &image, |_| {
        let mut file = std::fs::File::open(file.path()).expect("the file");
        while file.read(&mut into).expect("it is read") > 0 {}
    });
    measure("searched for rings", &image, |image| {
        black_box(report(image, &Options::default(), &mut std::io::sink(), &mut std::io::sink()));
    });
}

fn measure(what: &str, stream: &[u8], mut run: impl FnMut(&[u8])) {
    let (start, mut rounds) = (Instant::now(), 0u32);
    let mut best = Duration::MAX;
    while start.elapsed() < AT_LEAST || rounds < 3 {
        let before = used();
        run(stream);
        best = best.min(used() - before);
        rounds += 1;
    }
    println!("{what:<24} {:8.0} MB/s", stream.len() as f64 / 1e6 / best.as_secs_f64());
}

fn main() {
    // Cargo adds an argument of its own.
    let files: Vec<String> = std::env::args().skip(1).filter(|name| name != "--bench").collect();
    let streams: Vec<(String, Vec<u8>)> = match files.is_empty() {
        true => vec![("usual records".to_owned(), usual())],
        false => files
            .into_iter()
            .map(|name| {
                let once = std::fs::read(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
                let times = (SIZE / once.len().max(1)).max(1);
                (name, once.repeat(times))
            })
            .collect(),
    };
    search();
    for (name, stream) in &streams {
        println!("{name}, {} MB", stream.len() / 1_000_000);
        measure("frames", stream, |stream| {
            let (mut receiver, mut at) = (Receiver::default(), 0);
            while at < stream.len() {
                let (used, received) = receiver.take(&stream[at..]);
                at += used;
                black_box(received);
            }
        });
        measure("records", stream, |stream| {
            Decoder::new(TargetSymbols::new(Default::default())).push(stream, &mut BlackBox);
        });
        let options = Options { format: by_name("qspy").expect("a format"), ..Options::default() };
        measure("text", stream, |stream| {
            let code = report(stream, &options, &mut std::io::sink(), &mut std::io::sink());
            black_box(code);
        });
        if let Ok(qspy) = std::env::var("XHIST_QSPY") {
            beside(&qspy, stream);
        }
    }
}
