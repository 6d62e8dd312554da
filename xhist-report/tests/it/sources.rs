//! Which bytes does a report read: of a file that is cut meanwhile, of standard input, of the run that failed last?

use std::io::{Read, Seek, SeekFrom, Write};
use std::process::Stdio;

use crate::support::{Dir, RingImage};

/// So many statements that the listing fills every pipe.
fn long_ring() -> RingImage {
    let lines: Vec<_> = (0..200).map(|line| (1, line % 90)).collect();
    (0..4000).fold(RingImage { rings: 1, ..RingImage::hosted(1 << 20, 1 << 30, 1, "main") }, |ring, _| {
        ring.packed(0, &lines)
    })
}

#[cfg(unix)]
#[test]
fn a_file_that_is_cut_meanwhile_ends_the_report_with_a_message() {
    let dir = Dir::new();
    // So long that it is mapped, and mostly a hole.
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
