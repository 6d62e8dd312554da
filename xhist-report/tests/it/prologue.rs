//! The prologue of a ring in reports: what ran first, and how much is overwritten behind it.

use proptest::collection::vec;
use proptest::prelude::*;
use qs_core::record::Statement;
use qs_core::ring::{CheckedPosition, Header, PROLOGUE_AT, PROLOGUE_OFFSET};

use crate::support::{Dir, Outcome, report};
use crate::words_model::{Model, PAGE, keep_prologue};

const FIRST: u16 = 900;
const LAST: u16 = 9000;

/// Lines 1 to [`LAST`] of file 1, in a ring that has the first of them in its prologue. `tick`: ticks before each statement
/// from the 901st on.
fn image(tick: u64) -> Vec<u8> {
    let mut ring = Model { pid: 0, tid: 7, name: "main", rings: 1, ..Model::new(1 << 13) };
    let run = |ring: &mut Model, lines: std::ops::RangeInclusive<u16>, tick: u64| {
        for line in lines {
            ring.last_time += tick;
            ring.check();
            ring.statement(Statement { file: 1, line }, 0);
        }
    };
    run(&mut ring, 1..=FIRST, 0);
    let early = ring.image();
    run(&mut ring, FIRST + 1..=LAST, tick);
    let mut image = ring.image();
    assert!(keep_prologue(&early, &mut image));
    image
}

fn lines(outcome: &Outcome) -> Vec<u16> {
    let line = |line: &str| line.rsplit(':').next().and_then(|line| line.parse().ok());
    outcome.out.lines().map(|text| line(text).unwrap_or_else(|| panic!("{text}"))).collect()
}

#[test]
fn what_ran_first_comes_first_and_what_is_overwritten_is_not_a_loss() {
    let outcome = report(&image(0));
    assert_eq!((outcome.code, outcome.notes.contains("lost")), (0, false), "{}", outcome.notes);
    let lines = lines(&outcome);
    let first = (1..).zip(&lines).take_while(|(line, found)| line == *found).count();
    assert!((300..=usize::from(FIRST)).contains(&first), "{first}");
    let rest = LAST - (lines.len() - first) as u16;
    assert!(rest > FIRST && lines[first..].iter().copied().eq(rest + 1..=LAST), "{rest}");
    let note = format!(" bytes of statements are overwritten, before entry {}", first + 1);
    assert_eq!(outcome.notes.matches(&note).count(), 1, "{}", outcome.notes);
}

#[test]
fn each_report_takes_it() {
    let dir = Dir::new();
    dir.write("ring", image(0));
    let all = dir.run(&["ring", "--format", "json"]);
    assert_eq!(all.code, 0, "{}", all.notes);
    assert!(
        all.out.contains("\"overwritten_bytes\":") && all.out.contains("\"complete\":true"),
        "{}",
        all.notes
    );
    for report in ["hot", "answer", "calls", "qspy", "tasks", "coverage"] {
        let outcome = dir.run(&[report, "ring"]);
        assert!(outcome.code <= 1 && !outcome.notes.contains("missing"), "{report}: {}", outcome.notes);
        assert!(report != "qspy" || outcome.code == 0, "{}", outcome.notes);
    }
    let last = dir.run(&["ring", "--last", "3"]);
    assert_eq!((last.code, lines(&last)), (0, vec![LAST - 2, LAST - 1, LAST]), "{}", last.notes);
    assert!(!last.notes.contains("overwritten"), "{}", last.notes);
}

/// The stamps have 4 bytes. Behind the gap they are those of another turn of the clock.
#[test]
fn times_on_both_sides_are_right() {
    let dir = Dir::new();
    let tick = 5_000_000;
    dir.write("ring", image(tick));
    let outcome = dir.run(&["ring", "--format", "json"]);
    let entries = outcome.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let times: Vec<(u64, u64)> =
        entries.filter_map(|entry| Some((entry["line"].as_u64()?, entry["ticks"].as_u64()?))).collect();
    assert!(times.len() >= 3, "{times:?}");
    for (line, time) in times {
        let ran = 1000 + 10 * line + tick * line.saturating_sub(FIRST.into());
        assert!(time <= ran && ran - time < 700 * tick, "line {line}: {time}, ran at {ran}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_bytes_are_survived(
        bytes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..200),
        end in prop_oneof![(0u64..4000).prop_map(|end| CheckedPosition::at(end).0), any::<u64>()],
        begin in prop_oneof![3 => Just(0), 1 => (0u64..4000).prop_map(|at| CheckedPosition::at(at).0), 1 => any::<u64>()],
        len in PAGE / 2..=PAGE + (1 << 13),
    ) {
        let mut image = image(0);
        for (at, byte) in bytes {
            image[PROLOGUE_AT + at.index(PAGE - PROLOGUE_AT)] = byte;
        }
        image[PROLOGUE_OFFSET..][..8].copy_from_slice(&end.to_ne_bytes());
        image[160..168].copy_from_slice(&begin.to_ne_bytes());
        image.truncate(len);
        let outcome = report(&image);
        prop_assert!([0, 1, 3].contains(&outcome.code), "{}", outcome.code);
        let header = Header::parse(&image).unwrap();
        if header.words.is_prologue_damaged {
            prop_assert!(outcome.notes.contains("how much of the first statements it keeps"), "{}", outcome.notes);
            prop_assert!(outcome.code > 0);
        }
    }
}
