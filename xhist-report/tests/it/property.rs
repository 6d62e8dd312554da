//! Does it hold for any input?

use proptest::collection::vec;
use proptest::prelude::*;
use qs_core::record::{Statement, TaskMark, value};
use xhist_history::ReadOptions;
use xhist_history::model::Names;
use xhist_report::format::FORMATS;
use xhist_report::{Layout, Options};

use crate::support::{RingImage, listing, report, report_with};

fn ring(statements: &[(u16, u16)], big_endian: bool, hosted: bool) -> RingImage {
    let ring = if hosted { RingImage::hosted(1 << 14, 1, 1, "main") } else { RingImage::bare(1 << 14) };
    RingImage { big_endian, ..ring }.statements(statements)
}

/// The ids that files of sources get.
fn files() -> impl Strategy<Value = u16> {
    let is_of_source = |id: &u16| !TaskMark::FILES.contains(id) && !value::FILES.contains(id);
    (0..Statement::NUMBERED).prop_filter("no id of a file", is_of_source)
}

fn options(format: bool, terminal: bool, last: Option<u64>) -> Options {
    let layout = Layout { terminal, time: terminal, thread: terminal, source: true, ..Layout::default() };
    Options {
        format: &FORMATS[usize::from(format)],
        layout,
        ..ReadOptions { last, ..ReadOptions::default() }.into()
    }
}

proptest! {
    #[test]
    fn statements_written_are_the_statements_read(
        statements in vec((files(), any::<u16>()), 1..500),
        big_endian: bool,
        hosted: bool,
        before in vec(any::<u8>(), 0..200),
    ) {
        let image = [before, ring(&statements, big_endian, hosted).build()].concat();
        let expected: Vec<(u16, u32)> = statements.iter().map(|(file, line)| (*file, u32::from(*line))).collect();
        let outcome = report(&image);
        prop_assert_eq!((outcome.code, outcome.out), (0, listing(&expected)));
    }

    #[test]
    fn a_wrapped_ring_gives_an_unbroken_end_of_what_was_written(count in 1u16..3000) {
        let ring = (0..count).fold(RingImage::bare(1024), |ring, line| ring.statement(3, line));
        let outcome = report(&ring.build());
        let lines: Vec<u16> =
            outcome.out.lines().map(|line| line.rsplit(':').next().unwrap().parse().unwrap()).collect();
        prop_assert_eq!(outcome.code, 0);
        prop_assert_eq!(lines.clone(), (count - lines.len() as u16..count).collect::<Vec<_>>());
    }

    #[test]
    fn any_map_is_survived(lines in vec("(\\{\"(file|stmt|xhist)\":)?[0-9\"a-z:,{}\\\\]{0,40}", 0..20), file: u16, line: u16) {
        let place = Names::parse(lines.join("\n").as_bytes());
        prop_assert_eq!(place.place(file, line).file, file);
    }

    #[test]
    fn any_bytes_are_survived(image in vec(any::<u8>(), 0..4096), format: bool, terminal: bool) {
        prop_assert!(report_with(&image, &options(format, terminal, Some(3))).code <= 3);
    }

    #[test]
    fn a_ring_with_anything_written_over_it_is_survived(
        statements in vec(any::<(u16, u16)>(), 0..50),
        payload in vec(any::<u8>(), 0..40),
        id: u8,
        big_endian: bool,
        hosted: bool,
        patches in vec((0usize..400, any::<u8>()), 0..40),
        state in prop::option::of(any::<u64>()),
        format: bool,
        terminal: bool,
    ) {
        let mut image = ring(&statements, big_endian, hosted).frame(id, &payload).build();
        if let Some(state) = state {
            image[40..48].copy_from_slice(&state.to_ne_bytes());
        }
        for (at, byte) in patches {
            // Mostly behind the words that make a header valid.
            let at = if at < 40 { at + 40 } else { at };
            image[at] = byte;
        }
        prop_assert!(report_with(&image, &options(format, terminal, None)).code <= 3);
    }
}
