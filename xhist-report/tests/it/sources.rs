//! Which bytes does a report read: of a file that is cut meanwhile, of standard input, of the run that failed last?

use std::io::{Read, Seek, SeekFrom, Write};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use crate::support::{Dir, RingImage, outcome};

/// Enough statements to fill every pipe with the listing.
fn long_ring() -> RingImage {
    let lines: Vec<_> = (0..200).map(|line| (1, line % 90)).collect();
    (0..4000).fold(RingImage { rings: 1, ..RingImage::hosted(1 << 20, 1 << 30, 1, "main") }, |ring, _| {
        ring.packed(0, &lines)
    })
}

#[cfg(unix)]
#[test]
fn a_file_that_is_truncated_while_it_is_read_ends_the_report_with_a_message() {
    let dir = Dir::new();
    // Long enough to be mapped, and mostly a hole.
    let path = dir.write("huge.bin", b"");
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(300 << 20).unwrap();
    file.seek(SeekFrom::Start(290 << 20)).unwrap();
    file.write_all(&long_ring().build()).unwrap();
    for (name, is_short) in [("huge.bin", false), ("short.bin", true)] {
        if is_short {
            dir.write("short.bin", long_ring().build());
        }
        let mut command = dir.command(&[name]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 10]).unwrap();
        std::fs::File::options().write(true).open(dir.path().join(name)).unwrap().set_len(0).unwrap();
        let mut rest = Vec::new();
        out.read_to_end(&mut rest).unwrap();
        let mut notes = String::new();
        child.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
        let code = child.wait().unwrap().code();
        // A short one was copied.
        assert_eq!(code, Some(if is_short { 0 } else { 1 }), "{name}: {notes}");
        assert_eq!(notes.contains("huge.bin was cut while it was read"), !is_short, "{notes}");
    }
}

fn ring(line: u16) -> Vec<u8> {
    RingImage { rings: 1, status: 3, ..RingImage::hosted(4096, 1 << 30, 1, "main") }.timed(9, 1, line).build()
}

fn with_status(line: u16, status: u32) -> Vec<u8> {
    RingImage { rings: 1, status, ..RingImage::hosted(4096, 1 << 30, 1, "main") }.timed(9, 1, line).build()
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64
}

/// What `cargo xhist` leaves of a run that ended `minutes` ago.
fn record(minutes: u64, failed: bool, rings: &[&str]) -> String {
    let ended = now_ms() - minutes * 60_000;
    format!(
        "{{\"version\":1,\"command\":\"cargo xhist test\",\"started_ms\":{},\"ended_ms\":{ended},\
         \"exit\":{},\"signal\":null,\"failed\":{failed},\"failed_rings\":{rings:?}}}",
        ended - 5000,
        if failed { 101 } else { 0 }
    )
}

#[test]
fn the_run_that_failed_last_is_read() {
    let dir = Dir::new();
    for (name, line) in
        [("1/old-1.xhist", 1), ("2/good-1.xhist", 2), ("2/bad-2.xhist", 3), ("2/child-3.xhist", 4)]
    {
        dir.write(&format!("target/xhist/runs/{name}"), ring(line));
    }
    dir.write("target/xhist/runs/3/fine-4.xhist", ring(5));
    dir.write("target/xhist/runs/1/run.json", record(60, true, &["old-1.xhist"]));
    dir.write(
        "target/xhist/runs/2/run.json",
        record(7, true, &["gone.xhist", "../1/old-1.xhist", "bad-2.xhist"]),
    );
    dir.write("target/xhist/runs/3/run.json", record(2, false, &[]));
    let outcome = dir.run(&[]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "1 file#1:3\n"), "{}", outcome.notes);
    for said in [
        "reading target/xhist/runs/2/bad-2.xhist of `cargo xhist test`, which failed 7m",
        "(exit code 101)",
        "other ring files of that run: target/xhist/runs/2/",
        "a newer run ended well 2m",
        "this reads it: xhist-report target/xhist/runs/3/fine-4.xhist",
    ] {
        assert!(outcome.notes.contains(said), "{said}: {}", outcome.notes);
    }
    // Where none failed, the newest.
    dir.write("target/xhist/runs/1/run.json", record(60, false, &[]));
    dir.write("target/xhist/runs/2/run.json", record(7, false, &[]));
    let outcome = dir.run(&[]);
    assert_eq!(outcome.out, "1 file#1:5\n");
    assert!(!outcome.notes.contains("newer"), "{}", outcome.notes);
}

#[test]
fn without_records_the_headers_say_which_run_failed() {
    let dir = Dir::new();
    dir.write("target/xhist/runs/1/a.xhist", with_status(1, 3));
    dir.write("target/xhist/runs/1/b.xhist", with_status(2, 4));
    dir.write("target/xhist/runs/1/c.xhist", with_status(3, 3));
    dir.write("target/xhist/runs/1/run.json", "{ not json");
    assert_eq!(dir.run(&[]).out, "1 file#1:2\n", "the thread that panicked");
    // A process that left its ring alive has died.
    dir.write("target/xhist/runs/2/d.xhist", with_status(4, 1));
    assert_eq!(dir.run(&[]).out, "1 file#1:4\n");
    dir.write("target/xhist/runs/2/d.xhist", with_status(4, 3));
    let outcome = dir.run(&[]);
    assert_eq!(outcome.out, "1 file#1:2\n");
    assert!(outcome.notes.contains("a newer run ended well just now"), "{}", outcome.notes);
    // A program that runs is what a user asks about, and the only one to follow.
    let running =
        RingImage { pid: std::process::id(), ..RingImage::hosted(4096, 1, 1, "main") }.timed(9, 1, 6);
    dir.write("target/xhist/runs/3/e.xhist", running.build());
    assert_eq!(dir.run(&[]).out, "1 file#1:6\n");
}

#[test]
fn cargo_says_where_the_target_directory_is() {
    let dir = Dir::new();
    dir.write("target/xhist/runs/1/a.xhist", ring(1));
    dir.write("ws/member/src/lib.rs", "");
    dir.write("ws/.cargo/config.toml", "[build]\ntarget-dir = \"../configured\"\n");
    dir.write("configured/xhist/runs/1/b.xhist", ring(2));
    dir.write("given/xhist/runs/1/c.xhist", ring(3));
    dir.write("also/xhist/runs/1/d.xhist", ring(4));
    let run = |from: &str, set: &[(&str, &str)]| {
        let mut command = dir.command(&[]);
        for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
            command.env_remove(name);
        }
        command.env("CARGO_HOME", dir.path()).envs(set.iter().copied()).current_dir(dir.path().join(from));
        outcome(command.stdin(Stdio::null()).output().unwrap()).out
    };
    assert_eq!(run("ws/member/src", &[]), "1 file#1:2\n");
    let given = dir.path().join("given").display().to_string();
    assert_eq!(run("ws/member", &[("CARGO_TARGET_DIR", &given)]), "1 file#1:3\n");
    assert_eq!(run("", &[("CARGO_BUILD_TARGET_DIR", "also")]), "1 file#1:4\n");
    assert_eq!(run("", &[("CARGO_TARGET_DIR", "given"), ("CARGO_BUILD_TARGET_DIR", "also")]), "1 file#1:3\n");
    assert_eq!(run("", &[]), "1 file#1:1\n");
}

#[cfg(unix)]
#[test]
fn without_a_source_standard_input_is_read() {
    let dir = Dir::new();
    dir.write("target/xhist/runs/1/a.xhist", ring(1));
    let path = dir.write("dump.bin", ring(2));
    let with = |stdin: Stdio| outcome(dir.command(&[]).stdin(stdin).output().unwrap());
    assert_eq!(with(Stdio::null()).out, "1 file#1:1\n");
    assert_eq!(with(std::fs::File::open(&path).unwrap().into()).out, "1 file#1:2\n");
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&ring(3)).unwrap();
    drop(writer);
    assert_eq!(with(reader.into()).out, "1 file#1:3\n");
    // Its first byte may take a while.
    let (reader, mut writer) = std::io::pipe().unwrap();
    let slow = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        writer.write_all(&ring(4)).unwrap();
    });
    assert_eq!(with(reader.into()).out, "1 file#1:4\n");
    slow.join().unwrap();
    // Closed pipes and files without a byte bring nothing.
    assert_eq!(with(std::io::pipe().unwrap().0.into()).out, "1 file#1:1\n");
    let empty = dir.write("empty", "");
    assert_eq!(with(std::fs::File::open(empty).unwrap().into()).out, "1 file#1:1\n");
    let (socket, other) = std::os::unix::net::UnixStream::pair().unwrap();
    drop(other);
    assert_eq!(with(std::os::fd::OwnedFd::from(socket).into()).out, "1 file#1:1\n");
    let (reader, _open) = std::io::pipe().unwrap();
    let started = Instant::now();
    let held = with(reader.into());
    assert_eq!(held.out, "1 file#1:1\n");
    assert!(
        held.notes.contains("nothing came for 1 s, so it is not read; `xhist-report -` waits"),
        "{}",
        held.notes
    );
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

/// An ELF core of these pieces of memory, each with its address, in this order.
fn core(pieces: &[(u64, &[u8])]) -> Vec<u8> {
    let mut core = b"\x7fELF\x02\x01\x01".to_vec();
    core.resize(16, 0);
    let half = |core: &mut Vec<u8>, number: u16| core.extend(number.to_le_bytes());
    let word = |core: &mut Vec<u8>, number: u32| core.extend(number.to_le_bytes());
    // Type, machine, version; entry, program headers, section headers; flags; sizes and counts.
    half(&mut core, 4);
    half(&mut core, 62);
    word(&mut core, 1);
    [0u64, 64, 0].iter().for_each(|number| core.extend(number.to_le_bytes()));
    word(&mut core, 0);
    [64, 56, pieces.len() as u16, 64, 0, 0].iter().for_each(|number| half(&mut core, *number));
    let mut at = core.len() + 56 * pieces.len();
    for (address, bytes) in pieces {
        word(&mut core, 1);
        word(&mut core, 6);
        let len = bytes.len() as u64;
        [at as u64, *address, 0, len, len, 1].iter().for_each(|number| core.extend(number.to_le_bytes()));
        at += bytes.len();
    }
    pieces.iter().for_each(|(_, bytes)| core.extend_from_slice(bytes));
    core
}

#[test]
fn a_ring_that_a_core_has_in_two_places_is_read() {
    let ring = (0..60u16)
        .fold(RingImage { rings: 1, ..RingImage::hosted(4096, 1 << 30, 1, "main") }, |ring, n| {
            ring.packed(100 + u64::from(n), &[(1, n), (1, 70)])
        });
    let dir = Dir::new();
    dir.write("whole.bin", ring.build());
    let whole = dir.run(&["whole.bin"]);
    assert_eq!(whole.code, 0, "{}", whole.notes);
    let image = ring.build();
    let (first, second) = image.split_at(700);
    let other = [0x55; 5000];
    for pieces in [
        [(0x1000, first), (0x1000 + 700, second), (0x9000, &other[..])],
        [(0x9000, &other[..]), (0x1000 + 700, second), (0x1000, first)],
        [(0x1000, first), (0x9000, &other[..]), (0x1000 + 700, second)],
    ] {
        dir.write("core", core(&pieces));
        let outcome = dir.run(&["core"]);
        assert_eq!((outcome.code, &outcome.out), (0, &whole.out), "{}", outcome.notes);
    }
}

#[test]
fn a_dump_in_another_form_names_the_command_that_reads_it() {
    let dir = Dir::new();
    let ring = (1..=10).fold(RingImage::bare(512), |ring, line| ring.statement(1, line)).build();
    let reversed =
        |len: usize| ring.chunks(len).flat_map(|word| word.iter().rev().copied()).collect::<Vec<u8>>();
    let (words4, words2) = (reversed(4), reversed(2));
    let encoded: String = ring.iter().map(|byte| char::from(*byte)).collect();
    let lossy = String::from_utf8_lossy(&ring);
    let base64 = "fnhIaXN0px0".repeat(9);
    let forms: &[(&str, &[u8], &str)] = &[
        ("dump.gz", &[0x1F, 0x8B, 8, 0, 0, 0, 0, 0], "`gzip -dc dump.gz | xhist-report -`"),
        ("it's.zst", &[0x28, 0xB5, 0x2F, 0xFD, 0, 0], r"`zstd -dc 'it'\''s.zst' | xhist-report -`"),
        ("words4", &words4, "--reverse-bytes=4 words4 dump.bin && xhist-report dump.bin`"),
        ("words2", &words2, "--reverse-bytes=2 words2 dump.bin && xhist-report dump.bin`"),
        ("utf8", encoded.as_bytes(), "copy the dump again, as binary"),
        ("lossy", lossy.as_bytes(), "copy the dump again, as binary"),
        ("base64", base64.as_bytes(), "`base64 -d base64 | xhist-report -`"),
        (
            "hex",
            b"00000000: 7e78 4869 7374 a71d 0d0c 0b0a 0000 0000  ~xHist..........\n",
            "`xxd -r hex | xhist-report -`",
        ),
    ];
    for (name, bytes, expected) in forms {
        dir.write(name, bytes);
        let outcome = dir.run(&[name]);
        assert_eq!(outcome.code, 3, "{name}: {}", outcome.notes);
        assert!(outcome.notes.contains(expected), "{name}: {}", outcome.notes);
    }
}
