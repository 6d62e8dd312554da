//! Trace events are shown in their place and by name: those that the options select and no others.

use xhist_report::format::by_name;
use xhist_report::{Layout, Options};

use crate::golden::check;
use crate::support::{Dir, Outcome, RingImage, report_with};

/// The owner of the events below.
const UART: u32 = 0x80_0123 << 8;

const FORMATS: &str = r#"
# an example
owner 0x800123 uart
uart:0x05 parity_error HW1 "port %u, status %#06x"
uart:0x06 overrun      *   # no text
profile 33 timer_fired "timer %u after %u us"
"#;

/// Statements and trace events of two threads.
fn busy() -> Vec<u8> {
    let main = RingImage { clock_hz: 1_000_000, ..RingImage::hosted(4096, 7, 7, "main") }
        .timed(1_000_000, 1, 10)
        .exception(1_000_010, 1, UART | 5, &[3, 0x14], None)
        .timed(1_000_020, 1, 11)
        .exception(1_000_030, 1, UART | 5, &[3, 20], Some(b"abc"))
        .exception(1_000_035, 7, 0x1234_5678, &[1, 2, 3, 4, 5, 6], Some(b"\x1b\n"))
        .exception(1_000_036, 5, 0x101, &[512], None)
        // Another application's record with the same id.
        .frame(118, &[0x40, 0xE2, 0x01, 0x00, 0x51, 7])
        .timed(1_000_060, 1, 12);
    let worker = RingImage { clock_hz: 1_000_000, ..RingImage::hosted(4096, 7, 8, "worker") }
        .timed(1_000_005, 2, 1)
        .profile(1_000_015, 33, 7, &[12, 99])
        .exception(1_000_040, 2, UART | 6, &[], None)
        .profile(1_000_050, 34, 0, &[])
        .frame(119, &[0x44, 0xE2, 0x01, 0x00, 0xD0, 35, 0x08, b'.', b'.', b'.', 0]);
    [main.build(), worker.build()].concat()
}

fn with_formats() -> Dir {
    let dir = Dir::new();
    dir.write("fmt/uart.fmt", FORMATS);
    dir.write("dump.bin", busy());
    dir
}

#[test]
fn a_width_of_time_stamps_other_than_that_of_the_ring_is_reported() {
    let dir = with_formats();
    let notes = dir.run(&["qspy", "-T2", "dump.bin"]).notes;
    let note =
        "ring 1 (thread main) declares time stamps of 4 bytes; QS records and trace events are read with -T2";
    assert_eq!(notes.matches(note).count(), 1, "{notes}");
    let same = dir.run(&["qspy", "-T4", "dump.bin"]);
    assert!(!same.notes.contains("time stamps of"), "{}", same.notes);
}

#[test]
fn every_format_shows_them_in_their_place() {
    let dir = with_formats();
    for (name, args) in [
        ("trace.history", ["history"].as_slice()),
        ("trace.columns", &["--time", "--thread"]),
        ("trace.lanes", &["--lanes"]),
        ("trace.json", &["--format", "json"]),
        ("trace.traceinfo", &["traceinfo"]),
        ("trace.traceinfo.thread", &["traceinfo", "--thread"]),
        ("trace.qspy", &["qspy"]),
    ] {
        let outcome = dir.run(&[args, &["dump.bin"]].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.notes);
        check(&format!("{name}.txt"), &outcome.out);
    }
}

#[test]
fn without_formats_all_numbers_are_shown() {
    let outcome = report_with(&busy(), &Options::default());
    for line in [
        "HW1 0x800123:0x05 3 20 buffer 61 62 63\n",
        "profile 33 data 7: 12 99\n",
        "SW3 0x123456:0x78 1 2 3 4 5 6 buffer 1b 0a\n",
        // Ours are always known.
        "SW1 xhist(0x000001) ring_overrun(0x01): 512 bytes were overwritten before they were read\n",
        "profile 35: (cut)\n",
    ] {
        assert!(outcome.out.contains(line), "{line}{}", outcome.out);
    }
    let layout = Layout { terminal: true, ..Layout::default() };
    let outcome = report_with(&busy(), &Options { layout, ..Options::default() });
    assert!(outcome.out.contains("HW1 0x800123:0x05 3 20\u{1b}"), "{}", outcome.out);
}

#[test]
fn names_of_opcodes_from_the_target_are_shown() {
    // The target info sets 2 bytes for time stamps; then a value of enumeration 5 gets its name.
    let info = [0xFF, 0xDD, 2, 0x22, 0x41, 0x22, 0x44, 2, 0x20, 0x13, 53, 26, 9, 14, 7, 23];
    let ring = RingImage::bare(512)
        .frame(64, &info)
        .frame(54, &[36, 5, b'i', b'r', b'q', 0])
        .frame(119, &[0x39, 0x30, 0xD0, 36, 0x05, 1, 0, 0, 0]);
    let format = by_name("traceinfo").unwrap();
    let outcome = report_with(&ring.build(), &Options { format, ..Options::default() });
    assert_eq!(
        (outcome.code, outcome.out.as_str()),
        (0, "             12345 profile irq(36): 1\n"),
        "{}",
        outcome.notes
    );
}

#[test]
fn a_report_without_trace_events_says_so() {
    let dir = Dir::new();
    dir.write("dump.bin", RingImage::bare(256).statements(&[(1, 1), (1, 2)]).build());
    let outcome = dir.run(&["traceinfo", "dump.bin"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, ""));
    assert_eq!(outcome.notes, "xhist-report: note: no trace event is among the 2 entries\n");
    let chosen = with_formats().run(&["traceinfo", "--severity", "hw0", "dump.bin"]);
    assert_eq!((chosen.code, chosen.out.as_str()), (0, ""));
    assert!(
        chosen.notes.contains("no trace event that was asked for is among the 13 entries"),
        "{}",
        chosen.notes
    );
}

/// The numbers that the lines of a listing of trace events are about.
fn events(outcome: &Outcome) -> Vec<&str> {
    outcome.out.lines().map(|line| line.split(['(', ':']).next().unwrap().trim()).collect()
}

#[test]
fn filters_choose_among_them() {
    let dir = with_formats();
    for (args, expected) in [
        (
            ["--severity", "HW2,sw"].as_slice(),
            ["1.000035000 SW3", "1.000036000 SW1", "1.000040000 HW2"].as_slice(),
        ),
        (&["--severity", "2.."], &["1.000035000 SW3", "1.000040000 HW2"]),
        (&["--major", "uart", "--severity", "hw1"], &["1.000010000 HW1", "1.000030000 HW1"]),
        (&["--minor", "overrun,ring_overrun"], &["1.000036000 SW1", "1.000040000 HW2"]),
        (
            &["--major", "0..0x20", "--opcode", "timer_fired"],
            &["1.000015000 profile timer_fired", "1.000036000 SW1"],
        ),
        (&["--opcode", "30..34", "--last", "1"], &["1.000050000 profile 34"]),
    ] {
        let outcome = dir.run(&[&["traceinfo", "dump.bin"], args].concat());
        assert_eq!((outcome.code, events(&outcome)), (0, expected.to_vec()), "{args:?} {}", outcome.notes);
    }
    // Statements and other records are not filtered, and --last counts what is shown.
    let history = dir.run(&["--major", "uart", "--minor", "6", "dump.bin"]);
    assert_eq!(history.out.lines().count(), 6, "{}", history.out);
    assert!(history.out.contains("5 HW2 uart(0x800123) overrun(0x06)\n"), "{}", history.out);
    let last = dir.run(&["--major", "uart", "--minor", "6", "dump.bin", "--last", "2"]);
    assert_eq!(last.out, "1 HW2 uart(0x800123) overrun(0x06)\n2 file#1:12\n");
}

#[test]
fn wrong_options_exit_with_2() {
    let dir = with_formats();
    for (args, message) in [
        (["--severity", "HW5"].as_slice(), "--severity HW5: expected HW3"),
        (&["--major", "usb"], "a name from a .fmt file"),
        (&["--fmt", "none.fmt"], "cannot read the formats none.fmt"),
        (&["qspy", "--fmt", "fmt"], "unexpected argument '--fmt'"),
        (&["coverage", "--opcode", "1"], "unexpected argument '--opcode'"),
    ] {
        let outcome = dir.run(&[args, &["dump.bin"]].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?}");
        assert!(outcome.notes.contains(message), "{args:?}: {}", outcome.notes);
    }
}

#[test]
fn files_of_formats_are_found_and_their_errors_reported() {
    let dir = Dir::new();
    dir.write("dumps/dump.bin", busy());
    dir.write("dumps/fmt/a.fmt", FORMATS);
    dir.write("fmt/b.fmt", "owner 0x800123 serial\nprofile 34\nuart:5 x HW1\n");
    dir.write("fmt/other.txt", "no format");
    dir.write("more.fmt", "profile 34 late \"%u\" HW1\n\nprofile 35 soon\n");
    let args = ["traceinfo", "--fmt", "more.fmt", "dumps/dump.bin"];
    let outcome = dir.run(&args);
    assert_eq!(outcome.code, 1);
    for message in [
        "error: more.fmt:1:22: found `HW1`, expected the end of the line",
        "error: fmt/b.fmt:2:11: found the end of the line, expected a name",
        "error: fmt/b.fmt:3:1: found `uart`, expected a major code",
        "note: dumps/fmt/a.fmt:3: owner 0x800123 is something else in fmt/b.fmt:1, which is used",
    ] {
        assert!(outcome.notes.contains(message), "{message}\n{}", outcome.notes);
    }
    for line in ["serial(0x800123) parity_error(0x05): port 3, status 0x0014\n", "profile soon(35): (cut)\n"]
    {
        assert!(outcome.out.contains(line), "{line}{}", outcome.out);
    }
    // A ring below the build directory uses the formats of its project.
    dir.write("project/fmt/p.fmt", "owner 0x800123 project\n");
    dir.write("project/target/xhist/runs/1/ring.xhist", busy());
    let elsewhere = dir.path().join("env");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let mut command = dir.command(&["../project/target/xhist/runs/1/ring.xhist"]);
    let below = crate::support::outcome(command.current_dir(elsewhere).output().unwrap());
    assert!(below.out.contains(" project(0x800123) "), "{}", below.out);
    // What the environment names comes before what is just there.
    let env = dir.write("env/e.fmt", "owner 0x800123 first\n");
    let mut command = dir.command(&["traceinfo", "dumps/dump.bin"]);
    command.env("XHIST_FMT", format!(":{}:gone", env.parent().unwrap().display()));
    let outcome = crate::support::outcome(command.output().unwrap());
    assert!(outcome.out.contains(" first(0x800123) "), "{}", outcome.out);
    assert!(outcome.notes.contains("XHIST_FMT names gone: "), "{}", outcome.notes);
}

#[test]
fn files_of_formats_have_limits() {
    let dir = Dir::new();
    dir.write("dump.bin", busy());
    dir.write("big.fmt", vec![b'\n'; (1 << 20) + 1]);
    dir.write("bad.fmt", "x\n".repeat(100_000));
    (0..1005).for_each(|n| drop(dir.write(&format!("many/{n}.fmt"), "profile 1 x\n")));
    let outcome = dir.run(&["--fmt", "big.fmt", "--fmt", "bad.fmt", "--fmt", "many", "dump.bin"]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (1, 13));
    for message in ["big.fmt: longer than 1 MiB", "bad.fmt:19:1:", "and 99982 more such lines"] {
        assert!(outcome.notes.contains(message), "{message}\n{}", outcome.notes);
    }
    assert!(outcome.notes.lines().count() < 40, "{}", outcome.notes);
}

#[test]
fn print_then_clear() {
    let dir = Dir::new();
    let ring =
        RingImage::hosted(4096, u32::MAX - 7, 1, "main").timed(10, 1, 1).exception(20, 1, UART, &[], None);
    let path = dir.write("run.xhist", ring.build());
    let first = dir.run(&["traceinfo", "run.xhist", "-c"]);
    assert_eq!(
        (first.code, first.out.as_str()),
        (0, "                20 HW1 (expected hardware error) 0x800123:0x00\n")
    );
    assert_eq!(dir.run(&["run.xhist"]).code, 3);
    let mut image = ring.exception(30, 2, UART | 1, &[], None).build();
    image[176..192].copy_from_slice(&std::fs::read(&path).unwrap()[176..192]);
    std::fs::write(&path, image).unwrap();
    let next = dir.run(&["traceinfo", "run.xhist", "-c"]);
    assert_eq!((next.code, events(&next)), (0, vec!["30 HW2"]));
    let empty = dir.run(&["traceinfo", "run.xhist", "-c"]);
    assert_eq!((empty.code, empty.out.as_str()), (0, ""), "{}", empty.notes);
}

/// What docs/fmt-files.md shows is what there is.
#[test]
fn the_page_is_right() {
    let page = include_str!("../../../docs/fmt-files.md");
    let mut blocks = page.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap().1);
    let (file, shown) = (blocks.next().unwrap(), blocks.next().unwrap());
    let uart = qs_core::record::trace::Code::major_of("uart") << 8;
    let ring = RingImage { clock_hz: 1_000_000, ..RingImage::hosted(4096, 7, 7, "main") }
        .timed(1_000_000, 1, 40)
        .exception(1_000_010, 1, uart | 5, &[3, 0x14], None)
        .timed(1_000_020, 1, 44)
        .exception(1_000_030, 1, UART | 5, &[3, 20], Some(b"abc"))
        .profile(1_000_040, 33, 7, &[12, 99]);
    let dir = Dir::new();
    let (map, hash) = crate::support::map_text("/project", &[(1, "src/uart.rs", 0)]);
    dir.write("xhist.map", map);
    dir.write("fmt/uart.fmt", file);
    dir.write("ring.xhist", RingImage { map_hash: hash, ..ring }.build());
    let (history, events) = (dir.run(&["ring.xhist"]), dir.run(&["traceinfo", "ring.xhist"]));
    assert_eq!((history.code, history.notes.as_str()), (0, ""));
    let expected = format!(
        "$ xhist-report ring.xhist\n{}$ xhist-report traceinfo ring.xhist\n{}",
        history.out, events.out
    );
    assert_eq!(shown, expected);
    let json = dir.run(&["ring.xhist", "--format", "json"]).out;
    let traces: Vec<&str> = json.lines().filter(|line| line.contains("\"trace\"")).collect();
    assert_eq!(blocks.nth(1).unwrap().lines().collect::<Vec<_>>(), traces);
}

#[test]
fn a_stream_and_a_pipe_show_them_too() {
    let dir = Dir::new();
    let ring =
        RingImage::bare(1024).statement(1, 1).exception(20, 1, UART | 5, &[3], None).profile(30, 33, 0, &[]);
    dir.write("stream.bin", &ring.stream);
    let lines =
        "                20 HW1 (expected hardware error) 0x800123:0x05 3\n                30 profile 33\n";
    let whole = dir.run(&["traceinfo", "stream.bin"]);
    assert_eq!((whole.code, whole.out.as_str(), whole.notes.as_str()), (0, lines, ""));
    let last = dir.run(&["traceinfo", "--severity", "hw", "--last", "1", "stream.bin"]);
    assert_eq!(last.out, lines.lines().next().unwrap().to_owned() + "\n");
    let piped = std::fs::File::open(dir.path().join("stream.bin")).unwrap();
    let mut command = dir.command(&["traceinfo", "-", "--follow"]);
    let piped = crate::support::outcome(command.stdin(piped).output().unwrap());
    assert_eq!((piped.code, piped.out.as_str()), (0, lines), "{}", piped.notes);
}
