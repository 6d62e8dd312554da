//! Is a ring file read while it is written, completely and without touching it?

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::support::{Dir, RingImage, listing, outcome};
use crate::words_model::PAGE;

/// A process that is gone.
const GONE: u32 = u32::MAX - 7;

/// A process that does nothing but run.
struct Running(Child);

impl Running {
    fn new() -> Running {
        Running(std::process::Command::new("sleep").arg("60").spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn end(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ring(pid: u32, tid: u32, name: &'static str) -> RingImage {
    RingImage { time_width: 0, ..RingImage::hosted(4096, pid, tid, name) }
}

/// Writes as a recorder does: the bytes, then the words that announce them.
fn write(path: &Path, offset: u64, image: &[u8]) {
    let mut file = File::options().write(true).open(path).unwrap();
    let put = |file: &mut File, from: usize, to: usize| {
        file.seek(SeekFrom::Start(offset + from as u64)).unwrap();
        file.write_all(&image[from..to]).unwrap();
    };
    put(&mut file, PAGE, image.len());
    put(&mut file, 0, PAGE);
}

fn lines(child: &mut Child) -> BufReader<std::process::ChildStdout> {
    BufReader::new(child.stdout.take().unwrap())
}

fn next(out: &mut impl BufRead, count: usize) -> String {
    let mut text = String::new();
    for _ in 0..count {
        out.read_line(&mut text).unwrap();
    }
    text
}

#[test]
fn several_readers_print_entries_as_they_are_recorded() {
    let dir = Dir::new();
    let mut program = Running::new();
    let pid = program.pid();
    let first = ring(pid, 1, "main").packed(0, &[(1, 1), (1, 2)]).open(0, &[(1, 3)]);
    let path = dir.write("run.xhist", first.build());
    let spawn = || {
        dir.command(&["run.xhist", "--follow"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut readers = [spawn(), spawn()];
    let mut outs = readers.each_mut().map(lines);
    for out in &mut outs {
        assert_eq!(next(out, 3), listing(&[(1, 1), (1, 2), (1, 3)]));
    }
    // The open frame grows, then it is closed and another is open.
    let open = ring(pid, 1, "main").packed(0, &[(1, 1), (1, 2)]).open(0, &[(1, 3), (1, 4)]);
    write(&path, 0, &open.build());
    for out in &mut outs {
        assert_eq!(next(out, 1), "4 file#1:4\n");
    }
    let closed = ring(pid, 1, "main").packed(0, &[(1, 1), (1, 2)]).packed(0, &[(1, 3), (1, 4), (1, 5)]);
    write(&path, 0, &closed.clone().open(0, &[(1, 6)]).build());
    for out in &mut outs {
        assert_eq!(next(out, 2), "5 file#1:5\n6 file#1:6\n");
    }
    // A second thread, behind the first.
    let other = ring(pid, 2, "worker").packed(0, &[(2, 1)]);
    File::options().append(true).open(&path).unwrap().write_all(&other.build()).unwrap();
    for out in &mut outs {
        assert_eq!(next(out, 1), "7 file#2:1\n");
    }
    program.end();
    for (mut out, reader) in outs.into_iter().zip(readers) {
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let outcome = outcome(reader.wait_with_output().unwrap());
        assert_eq!((outcome.code, rest.as_str()), (0, ""), "{}", outcome.notes);
    }
}

#[test]
fn a_reader_that_was_overtaken_says_by_how_much() {
    let dir = Dir::new();
    let mut program = Running::new();
    let many =
        |count: u16| (0..count).fold(ring(program.pid(), 1, "main"), |ring, n| ring.packed(0, &[(1, n); 40]));
    let path = dir.write("run.xhist", many(2).build());
    let mut command = dir.command(&["run.xhist", "--follow"]);
    let mut reader = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = lines(&mut reader);
    next(&mut out, 80);
    write(&path, 0, &many(300).build());
    std::thread::sleep(Duration::from_millis(200));
    program.end();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let outcome = outcome(reader.wait_with_output().unwrap());
    assert_eq!(outcome.code, 1);
    assert!(outcome.notes.contains("ring 1 (thread main): overtaken: "), "{}", outcome.notes);
    assert!(
        outcome.notes.contains("were overwritten before they were read, before entry 81"),
        "{}",
        outcome.notes
    );
    assert!(rest.ends_with(" file#1:299\n") && !outcome.notes.contains("damaged"), "{}", outcome.notes);
}

/// More threads come and go between two looks than there are rings.
#[test]
fn what_other_threads_left_in_a_ring_between_two_looks_is_reported() {
    let dir = Dir::new();
    let mut program = Running::new();
    let pid = program.pid();
    let of = |tid, name, earlier| RingImage { earlier, ..ring(pid, tid, name) };
    let first = of(1, "first", 0).packed(0, &[(1, 1), (1, 2)]);
    let (seen, left) = (first.stream.len() as u64, 70);
    let path = dir.write("run.xhist", first.build());
    let mut command = dir.command(&["run.xhist", "--follow"]);
    let mut reader = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = lines(&mut reader);
    assert_eq!(next(&mut out, 2), listing(&[(1, 1), (1, 2)]));
    write(&path, 0, &of(3, "third", seen + left).packed(0, &[(3, 1)]).build());
    assert_eq!(next(&mut out, 1), "3 file#3:1\n");
    // All that the third thread wrote was read.
    let third = of(3, "third", seen + left).packed(0, &[(3, 1)]).stream.len() as u64;
    write(&path, 0, &of(4, "fourth", seen + left + third).packed(0, &[(4, 1)]).build());
    assert_eq!(next(&mut out, 1), "4 file#4:1\n");
    program.end();
    let outcome = outcome(reader.wait_with_output().unwrap());
    assert_eq!(outcome.code, 1);
    assert_eq!(outcome.notes.matches("overtaken").count(), 1, "{}", outcome.notes);
    assert!(outcome.notes.contains("ring 1 (thread third): overtaken: 70 bytes"), "{}", outcome.notes);
}

#[test]
fn a_running_loop_is_printed_by_its_new_rounds() {
    let dir = Dir::new();
    let mut program = Running::new();
    let ring = ring(program.pid(), 1, "main").packed(0, &[(1, 1), (1, 2)]);
    let folded = |folded| RingImage { folded, ..ring.clone() }.open(0, &[]).build();
    let path = dir.write("run.xhist", folded(10));
    let mut command = dir.command(&["run.xhist", "--follow"]);
    let mut reader = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = lines(&mut reader);
    assert_eq!(next(&mut out, 3), "1 file#1:1\n2 file#1:2\n... lines 1-2 x 10 in file#1\n");
    write(&path, 0, &folded(1010));
    assert_eq!(next(&mut out, 1), "... lines 1-2 x 1,000 in file#1\n");
    write(&path, 0, &ring.clone().packed_again(0, &[(1, 3)], 1, 1011).build());
    assert_eq!(next(&mut out, 2), "... lines 1-2 x 1 in file#1\n3 file#1:3\n");
    program.end();
    assert_eq!(reader.wait().unwrap().code(), Some(0));
}

#[test]
fn a_file_of_a_process_that_is_gone_is_read_once() {
    let dir = Dir::new();
    dir.write("run.xhist", ring(GONE, 1, "main").packed(0, &[(1, 1), (1, 2)]).open(0, &[(1, 3)]).build());
    let outcome = dir.run(&["run.xhist", "--follow"]);
    assert_eq!((outcome.code, outcome.out), (0, listing(&[(1, 1), (1, 2), (1, 3)])));
    assert_eq!(dir.run(&["run.xhist", "-f", "--last", "1"]).out, "1 file#1:3\n");
    assert_eq!(dir.run(&["run.xhist", "-f", "--last", "0"]).code, 0);
    dir.write("none.xhist", [0; 100]);
    assert_eq!(dir.run(&["none.xhist", "--follow"]).code, 3);
    // Standard input is followed as a stream, and it is empty.
    assert_eq!(dir.run(&["-", "--follow"]).code, 3);
    // What cannot be read is not taken for its end.
    let unreadable = File::open(dir.path()).unwrap();
    let failed = crate::support::outcome(dir.command(&["-", "--follow"]).stdin(unreadable).output().unwrap());
    assert!(failed.code == 3 && failed.notes.contains("cannot read -: "), "{}", failed.notes);
}

/// As with a program that executes itself again.
#[cfg(unix)]
#[test]
fn another_file_at_the_path_is_reported() {
    let dir = Dir::new();
    let mut program = Running::new();
    let image = ring(program.pid(), 1, "main").packed(0, &[(1, 1)]).build();
    let path = dir.write("run.xhist", &image);
    let mut command = dir.command(&["run.xhist", "--follow"]);
    let mut reader = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    next(&mut lines(&mut reader), 1);
    let mut notes = BufReader::new(reader.stderr.take().unwrap());
    next(&mut notes, 1);
    std::fs::rename(&path, dir.path().join("aside")).unwrap();
    dir.write("run.xhist", &image);
    assert!(next(&mut notes, 1).contains("run.xhist is another file now"));
    program.end();
    assert_eq!(reader.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_ring_that_is_no_longer_in_its_file_is_reported() {
    let ruins: [fn(&File); 2] =
        [|file| file.set_len(100).unwrap(), |mut file| file.write_all(&[0; 2 * PAGE]).unwrap()];
    for ruin in ruins {
        let dir = Dir::new();
        let mut program = Running::new();
        let path = dir.write("run.xhist", ring(program.pid(), 1, "main").packed(0, &[(1, 1)]).build());
        let mut command = dir.command(&["run.xhist", "--follow"]);
        let mut reader = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        next(&mut lines(&mut reader), 1);
        ruin(&File::options().write(true).open(&path).unwrap());
        program.end();
        let finished = outcome(reader.wait_with_output().unwrap());
        assert!(
            finished.code == 1 && finished.notes.contains("it is no longer in the file"),
            "{}",
            finished.notes
        );
    }
}

#[test]
fn an_interrupted_reader_ends_as_a_report_does() {
    let dir = Dir::new();
    let program = Running::new();
    dir.write("run.xhist", ring(program.pid(), 1, "main").packed(0, &[(1, 1)]).build());
    let mut command = dir.command(&["run.xhist", "--follow", "--format", "json"]);
    let mut reader = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = lines(&mut reader);
    next(&mut out, 3);
    let kill = std::process::Command::new("kill").args(["-INT", &reader.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "{\"kind\":\"end\",\"entries\":1,\"complete\":true}\n");
    assert_eq!(reader.wait().unwrap().code(), Some(0));
}

#[test]
fn what_was_cleared_is_not_printed_again() {
    let dir = Dir::new();
    let first = ring(GONE, 1, "main").packed(0, &[(1, 1), (1, 2)]).open(0, &[(1, 3)]);
    for big_endian in [false, true] {
        let path = dir.write("run.xhist", RingImage { big_endian, ..first.clone() }.build());
        assert_eq!(dir.run(&["run.xhist", "--clear"]).out, listing(&[(1, 1), (1, 2), (1, 3)]));
        let nothing = dir.run(&["run.xhist"]);
        assert!(nothing.code == 3 && nothing.notes.contains("was cleared"), "{}", nothing.notes);
        // The program goes on; it does not touch what readers wrote.
        let closed =
            ring(GONE, 1, "main").packed(0, &[(1, 1), (1, 2)]).packed(0, &[(1, 3), (1, 4)]).statement(1, 5);
        let mut image = RingImage { big_endian, ..closed }.build();
        image[176..192].copy_from_slice(&std::fs::read(&path).unwrap()[176..192]);
        std::fs::write(&path, image).unwrap();
        assert_eq!(dir.run(&["run.xhist", "-c"]).out, listing(&[(1, 4), (1, 5)]));
    }
    assert_eq!(dir.run(&["-", "--clear"]).code, 2);
}

#[test]
fn only_clearing_writes_to_the_file() {
    let dir = Dir::new();
    let image = ring(GONE, 1, "main").packed(0, &[(1, 1)]).open(0, &[(1, 2)]).build();
    let path = dir.write("run.xhist", &image);
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    for args in
        [&["run.xhist"][..], &["run.xhist", "--follow"], &["builds", "run.xhist"], &["run.xhist", "--lanes"]]
    {
        dir.run(args);
        assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), modified);
        assert!(std::fs::read(&path).unwrap() == image);
    }
}
