//! The prologue: what stays of the beginning of a history. Every other test also checks it, at each store.

use qs_core::ring::PROLOGUE_AT;

use super::program::{HEADER, MappedRing, Program};

/// Runs statements that do not repeat, with a check before each.
fn straight(program: &mut Program, count: u32) {
    for number in 0..count {
        program.check();
        program.statement(1 + number % 40_000);
    }
}

#[test]
fn the_prologue_has_as_many_frames_as_there_is_room_for() {
    for size in [12, 14, 16, 17, 18] {
        let ring = MappedRing::new(1 << size);
        let mut program = Program::new(&ring, true, false);
        straight(&mut program, 1 << 17);
        program.finish();
        let (all, prologue) = program.prologue();
        let (items, end) = prologue.expect("a prologue");
        // A chunk and its frame are about a quarter of a small ring.
        let frame = (1 << size >> 2).min(16 << 10) + 64;
        let most = (HEADER - PROLOGUE_AT).min(1 << size) as u64;
        assert!(end <= most && end + 2 * frame > most, "{end} of {most} bytes");
        assert!(2 * items as u64 > end - end / 8 && items < all, "{items} items in {end} bytes");
    }
}

#[test]
fn nothing_changes_the_prologue() {
    let ring = MappedRing::new(1 << 13);
    let mut program = Program::new(&ring, true, true);
    straight(&mut program, 5000);
    let kept = ring.header()[PROLOGUE_AT..].to_vec();
    assert!(kept.iter().any(|byte| *byte != 0));
    straight(&mut program, 20_000);
    assert!(ring.header()[PROLOGUE_AT..] == kept);
}

#[test]
fn before_the_ring_overwrites_anything_the_room_is_untouched() {
    let ring = MappedRing::new(1 << 16);
    let mut program = Program::new(&ring, true, false);
    straight(&mut program, 10_000);
    program.finish();
    assert!(program.prologue().1.is_none());
    assert!(ring.header()[PROLOGUE_AT..].iter().all(|byte| *byte == 0));
}

#[test]
fn an_emptied_file_gets_a_prologue_of_what_ran_since() {
    let ring = MappedRing::new(1 << 13);
    let mut program = Program::new(&ring, true, false);
    straight(&mut program, 10_000);
    assert!(program.prologue().1.is_some());
    program.emptied(&[50_000, 50_001]);
    assert!(program.prologue().1.is_none());
    straight(&mut program, 10_000);
    program.finish();
    // Its check compares the items with those since then.
    assert!(program.prologue().1.is_some());
}

#[test]
fn words_that_overwrote_the_first_frame_leave_no_prologue() {
    let ring = MappedRing::new(1 << 12);
    let mut program = Program::new(&ring, false, false);
    straight(&mut program, 700);
    assert!(program.prologue().1.is_none());
    // No check until the ring is full; the mirror holds what is behind its end.
    for number in 0..1800 {
        program.statement(1 + number % 7);
    }
    straight(&mut program, 5000);
    program.finish();
    assert!(program.prologue().1.is_none());
}

#[test]
fn words_without_a_check_that_reach_no_closed_frame_leave_a_prologue() {
    let ring = MappedRing::new(1 << 12);
    let mut program = Program::new(&ring, false, false);
    straight(&mut program, 700);
    // More than the slack, so that the oldest of them are left out.
    for number in 0..1150 {
        program.statement(1 + number % 7);
    }
    straight(&mut program, 5000);
    let (_, prologue) = program.prologue();
    assert!(prologue.is_some_and(|(items, _)| items < 700), "{prologue:?}");
}
