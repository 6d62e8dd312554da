//! Do marks of the recorder (a panic, a trigger) stay out of the listing for programs, and appear everywhere else?

use qs_core::record::EventKind;
use xhist_history::ReadOptions;
use xhist_report::format::by_name;
use xhist_report::{Layout, Options};

use crate::support::{Dir, RingImage, report, report_with};

/// Statements, a record of the application, and each mark there is.
fn ring() -> RingImage {
    RingImage::hosted(4096, 1, 1, "main")
        .event(EventKind::Started, 90, 0)
        .timed(100, 1, 1)
        .event(EventKind::Armed, 101, 2)
        .frame(101, &[0, 0, 0, 0, 0x01, 7])
        .timed(102, 1, 2)
        .event(EventKind::Panic, 103, 0)
        .timed(104, 1, 3)
        .event(EventKind::Signal, 105, 11)
        .event(EventKind::Stopped, 106, 0)
}

#[test]
fn on_a_pipe_there_are_statements_and_qs_records_with_numbers_of_their_own() {
    let outcome = report(&ring().build());
    let expected = "1 file#1:1\n2 0000000000 USER+001 7\n3 file#1:2\n4 file#1:3\n";
    assert_eq!((outcome.code, outcome.out.as_str()), (0, expected));
    let last =
        report_with(&ring().build(), &Options::from(ReadOptions { last: Some(2), ..ReadOptions::default() }));
    assert_eq!(last.out, "1 file#1:2\n2 file#1:3\n");
    let dir = Dir::new();
    dir.write("ring.bin", ring().build());
    assert_eq!(dir.run(&["ring.bin"]).out, expected);
    assert_eq!(dir.run(&["ring.bin", "--thread"]).out.lines().count(), 4);
}

#[test]
fn on_a_terminal_each_mark_has_its_place() {
    let layout = Layout { terminal: true, ..Layout::default() };
    let outcome = report_with(&ring().build(), &Options { layout, ..Options::default() });
    let mut text = Vec::new();
    std::io::Write::write_all(&mut anstream::StripStream::new(&mut text), outcome.out.as_bytes()).unwrap();
    let text = String::from_utf8(text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "1 -- recording started here --",
            "2 file#1:1",
            "3 -- recording stops 2 statements later --",
            "4 0000000000 USER+001 7",
            "5 file#1:2",
            "6 -- thread 'main' panicked here --",
            "7 file#1:3",
            "8 -- signal 11 arrived in thread 'main' --",
            "9 -- recording stopped here --",
        ]
    );
}

#[test]
fn json_and_qspy_have_them_as_records() {
    let options = |name| Options { format: by_name(name).expect("a format"), ..Options::default() };
    let json = report_with(&ring().build(), &options("json")).out;
    assert!(
        json.starts_with("{\"schema\":2,\"kind\":\"report\"") && json.contains("\"entries\":9"),
        "{json}"
    );
    assert!(json.contains("\"mark\":\"recording stopped here\""), "{json}");
    let qspy = report_with(&ring().build(), &options("qspy")).out;
    assert_eq!(qspy.matches("USER+023").count(), 5, "{qspy}");
}

#[test]
fn where_there_is_nothing_but_marks_that_is_said() {
    let outcome = report(&RingImage::hosted(4096, 1, 1, "main").event(EventKind::Panic, 5, 0).build());
    assert_eq!((outcome.code, outcome.out.as_str()), (0, ""));
    assert!(outcome.notes.contains("nothing but marks of the recorder"), "{}", outcome.notes);
}
