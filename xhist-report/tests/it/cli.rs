//! Does the program behave as its help says?

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::support::{Dir, RingImage, listing, map_text, outcome};

fn ten() -> Vec<u8> {
    (1..=10).fold(RingImage::bare(512), |ring, line| ring.statement(1, line)).build()
}

fn all() -> String {
    listing(&(1..=10).map(|line| (1, line)).collect::<Vec<_>>())
}

#[test]
fn a_file_and_standard_input_give_the_same() {
    let dir = Dir::new();
    dir.write("dump.bin", ten());
    let from_file = dir.run(&["dump.bin"]);
    assert_eq!((from_file.code, from_file.out), (0, all()));
    let mut command = dir.command(&["-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&ten()).unwrap();
    let from_stdin = outcome(child.wait_with_output().unwrap());
    assert_eq!((from_stdin.code, from_stdin.out), (0, all()));
}

#[test]
fn last_keeps_the_newest_and_counts_from_one() {
    let dir = Dir::new();
    dir.write("dump.bin", ten());
    assert_eq!(dir.run(&["dump.bin", "--last", "2"]).out, "1 file#1:9\n2 file#1:10\n");
    assert_eq!(dir.run(&["dump.bin", "--last", "99"]).out, all());
    let none = dir.run(&["dump.bin", "--last", "0"]);
    assert_eq!((none.code, none.out.as_str()), (0, ""));
}

#[test]
fn without_a_source_the_newest_run_of_the_project_is_read() {
    let dir = Dir::new();
    let old = dir.write("target/xhist/runs/b.xhist", ten());
    dir.write("target/xhist/a.xhist", RingImage::bare(256).statement(7, 7).build());
    dir.write("target/xhist/newest.txt", "");
    dir.write("src/deep/file", "");
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    std::fs::File::options().write(true).open(old).unwrap().set_modified(hour_ago).unwrap();
    let outcome = outcome(dir.command(&[]).current_dir(dir.path().join("src/deep")).output().unwrap());
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "1 file#7:7\n"));
    assert!(outcome.notes.contains("a.xhist"), "{}", outcome.notes);
}

#[test]
fn source_text_is_printed_beside_the_statement() {
    let dir = Dir::new();
    let root = dir.path().join("project");
    let (map, hash) =
        map_text(root.to_str().unwrap(), &[(1, "src/a.rs", 0), (2, "gone.rs", 0), (3, "here.rs", 0)]);
    dir.write("project/src/a.rs", "fn main() {\n    let x = 1;\n}\n");
    dir.write("here.rs", "static A: u8 = 1;\n");
    dir.write("xhist.map", map);
    let ring = RingImage { map_hash: hash, ..RingImage::bare(256) }.statements(&[
        (1, 2),
        (2, 1),
        (2, 2),
        (3, 1),
        (1, 99),
    ]);
    dir.write("dump.bin", ring.build());
    let outcome = dir.run(&["dump.bin", "--source"]);
    assert_eq!(outcome.code, 0);
    assert_eq!(
        outcome.out,
        "1 src/a.rs:2\tlet x = 1;\n2 gone.rs:1\t\n3 gone.rs:2\t\n4 here.rs:1\tstatic A: u8 = 1;\n5 src/a.rs:99\t\n"
    );
    assert_eq!(outcome.notes.matches("gone.rs").count(), 1, "{}", outcome.notes);
}

#[test]
fn wrong_arguments_exit_with_2_and_say_what_to_do() {
    let dir = Dir::new();
    dir.write("dump.bin", ten());
    for (args, message) in [
        (&["missing.bin"][..], "cannot read missing.bin"),
        (&["."], "is a directory"),
        (&[], "cargo xhist run"),
        (&["http://localhost:6601"], "unknown source"),
        (&["tcp://localhost"], "a host and a port"),
        (&["serial:///dev/null?baud=fast"], "no setting `baud=fast`"),
        (&["tcp://localhost:6601", "--last", "3"], "--last needs the end"),
        (&["serial:///dev/null"], "/dev/null is not a serial line"),
        (&["serial://dump.bin"], "dump.bin is not a serial line"),
        (&["serial://."], ". is not a serial line"),
        (&["serial://dump.bin/tty"], "dump.bin/tty is not a serial line"),
        (&["send", "serial:///dev/null", "info"], "/dev/null is not a serial line"),
        (&["dump.bin", "-u"], "-u is about front-ends of a live link"),
        (&["dump.bin", "--qp8"], "--qp8 is about front-ends of a live link"),
        (&["tcp://localhost:6601", "--qp8"], "there is no port for them"),
        (&["qspy", "tcp://localhost:6601", "--qp8", "-u", "0"], "there is no port for them"),
        (&["qspy", "dump.bin", "--map", "xhist.map"], "unexpected argument '--map'"),
        (&["tcp://localhost:6601", "dump.bin", "-c"], "--clear: dump.bin is read as a stream"),
        (&["coverage", "dump.bin", "--follow"], "unexpected argument '--follow'"),
        (&["coverage", "dump.bin", "-c"], "unexpected argument '-c'"),
        (&["coverage", "dump.bin", "--ring", "1"], "unexpected argument '--ring'"),
        (&["tasks", "dump.bin", "--last", "3"], "unexpected argument '--last'"),
        (&["tasks", "tcp://localhost:6601"], "a live link has no end"),
        (&["dump.bin", "dump.bin", "--follow"], "--follow is about one ring file"),
        (&["tcp://localhost:6601", "--map", "."], "cannot read the map .: not a regular file"),
        (&["send", "dump.bin", "info"], "not a link to a target"),
        (&["send", "tcp://localhost:6601", "filter", "global", "xx"], "`xx`: expected a record"),
        (&["send", "dump.bin", "-d", "names.dic", "info"], "unexpected argument '-d'"),
        (&["--format", "xml", "dump.bin"], "possible values: text, json"),
        (&["--last", "x", "dump.bin"], "invalid value"),
        (&["--wrong"], "unexpected argument"),
        (&["dump.bin", "--ring", "2"], "ring 2 does not exist; this source has ring 1 only"),
    ] {
        let outcome = dir.run(args);
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?}");
        assert!(outcome.notes.contains(message), "{args:?}: {}", outcome.notes);
    }
}

#[test]
fn version_and_help_are_there() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["-V"]).out, concat!("xhist-report ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = dir.run(&["--help"]);
    assert_eq!(help.code, 0);
    assert!(help.out.contains("Exit codes:") && help.out.contains("--map"), "{}", help.out);
    // What is written here as lines is not broken into other lines.
    assert!(help.out.contains("\nof a .fmt file is wrong; 2 wrong arguments"), "{}", help.out);
    let send = dir.run(&["send", "--help"]);
    assert!(send.out.contains("\nit is qspy://HOST[:7701]"), "{}", send.out);
}

#[test]
fn an_empty_file_is_reported() {
    let dir = Dir::new();
    dir.write("empty.bin", "");
    let outcome = dir.run(&["empty.bin"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (3, ""));
    assert!(outcome.notes.contains("the source is empty"), "{}", outcome.notes);
}

#[test]
fn a_name_is_one_line_beside_each_entry() {
    let dir = Dir::new();
    for name in ["a\n\u{1b}[31m.bin", "b.bin"] {
        dir.write(name, RingImage::bare(256).statement(1, 1).build());
    }
    let outcome = dir.run(&["a\n\u{1b}[31m.bin", "b.bin"]);
    assert_eq!(outcome.out, "1 file#1:1\ta\\n\\u{1b}[31m.bin\n1 file#1:1\tb.bin\n");
}

#[test]
fn a_name_is_one_line_in_messages() {
    let dir = Dir::new();
    let name = "a\n\u{1b}[31m.hex";
    dir.write(name, ":0000000000\n");
    for args in [&[name][..], &["missing\n\u{1b}[31m.bin"]] {
        let notes = dir.run(args).notes;
        assert_eq!((notes.lines().count(), notes.contains('\u{1b}')), (1, false), "{args:?}: {notes}");
    }
}

/// The kernel's own files, and those of some file systems.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_mapped_is_read() {
    let outcome = Dir::new().run(&["/proc/version"]);
    assert_eq!(outcome.code, 3, "{}", outcome.notes);
    assert!(outcome.notes.contains("no xhist ring in "), "{}", outcome.notes);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let dir = Dir::new();
    let ring = (0..60_000).fold(RingImage::bare(1 << 20), |ring, line| ring.statement(1, line));
    dir.write("dump.bin", ring.build());
    let mut command = dir.command(&["dump.bin"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 10]).unwrap();
    drop(stdout);
    assert_eq!(outcome(child.wait_with_output().unwrap()).code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let dir = Dir::new();
    dir.write("dump.bin", ten());
    dir.write("firmware.elf", firmware(0x2000_0000, 4_096));
    for args in [&["dump.bin"][..], &["--how-to-dump", "firmware.elf"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let outcome = outcome(dir.command(args).stdout(full).output().unwrap());
        assert_eq!(outcome.code, 1, "{args:?}: {}", outcome.notes);
        assert!(outcome.notes.contains("cannot write the report"), "{args:?}: {}", outcome.notes);
    }
}

/// An ELF file of 64 bits that has nothing but the symbol of a ring.
fn firmware(address: u64, len: u64) -> Vec<u8> {
    let names = b"\0XHIST_RING\0\0\0\0\0";
    let section = |kind: u32, offset: u64, size: u64, link: u32, entry: u64| {
        let head = [0u32, kind].map(u32::to_le_bytes).concat();
        let place = [0u64, 0, offset, size].map(u64::to_le_bytes).concat();
        [head, place, [link, 1].map(u32::to_le_bytes).concat(), [8u64, entry].map(u64::to_le_bytes).concat()]
            .concat()
    };
    let mut file = b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([2u16, 183, 1, 0].map(u16::to_le_bytes).concat());
    file.extend([0u64, 0, 64 + 16 + 48].map(u64::to_le_bytes).concat());
    file.extend([0u16, 0, 64, 0, 0, 64, 3, 1].map(u16::to_le_bytes).concat());
    file.extend(names);
    file.extend([0; 24]);
    file.extend([1, 0, 0, 0, 0x11, 0, 0xF1, 0xFF]);
    file.extend([address, len].map(u64::to_le_bytes).concat());
    file.extend(section(0, 0, 0, 0, 0));
    file.extend(section(3, 64, 16, 0, 0));
    file.extend(section(2, 64 + 16, 48, 1, 24));
    file
}

#[test]
fn how_to_dump_prints_the_debugger_commands() {
    let dir = Dir::new();
    dir.write("firmware.elf", firmware(0x2000_0000, 4_160));
    let printed = dir.run(&["--how-to-dump", "firmware.elf"]);
    assert!(
        printed.out.contains("dump.bin 0x20000000 0x20001040' firmware.elf\n"),
        "{}{}",
        printed.out,
        printed.notes
    );
    dir.write("it's new.elf", firmware(0x2000_0000, 4_160));
    let printed = dir.run(&["--how-to-dump", "it's new.elf"]);
    assert!(printed.out.contains(" 'it'\\''s new.elf'\n"), "{}", printed.out);
    dir.write("last.elf", firmware(u64::MAX - 99, 100));
    assert_eq!(dir.run(&["--how-to-dump", "last.elf"]).code, 0);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = dir.command(&["--how-to-dump", "firmware.elf"]);
    assert!(command.stdout(writer).status().unwrap().success());
}
