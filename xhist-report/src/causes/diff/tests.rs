//! Programs of a few statements: their histories are built from random choices, and differences are planted.

use proptest::prelude::*;

use super::align::{Level, Next, Parting, Side, Then};
use super::build::{Built, ShapeBuilder, TextOrder};
use super::cut::{Alignment, align};
use super::shape::{BodyId, HistoryEnd, Repeater, Shapes, StatementId};

/// A program: each body has ten positions; a site is `body * 100 + position`, and its loops are given.
struct SampleProgram {
    loops: Vec<(StatementId, Vec<u32>)>,
}

impl TextOrder for SampleProgram {
    fn position(&self, site: StatementId) -> u64 {
        u64::from(site.0 % 100)
    }

    fn loops(&self, site: StatementId) -> &[u32] {
        self.loops.iter().find(|(of, _)| *of == site).map_or(&[], |(_, loops)| loops)
    }
}

/// What a thread does.
#[derive(Clone, Debug, PartialEq)]
enum Behaviour {
    At(u32),
    Call(u32, Vec<Behaviour>),
    /// Rounds, each a list.
    Loop(Vec<Vec<Behaviour>>),
    End(HistoryEnd),
}
use Behaviour::{At, Call, Loop};

fn play(run: &[Behaviour], builder: &mut ShapeBuilder<'_, SampleProgram>) {
    for step in run {
        match step {
            At(site) => builder.statement(StatementId(*site)),
            Call(body, inner) => {
                builder.enter(BodyId(*body));
                play(inner, builder);
                builder.leave();
            }
            Loop(rounds) => rounds.iter().for_each(|round| play(round, builder)),
            Behaviour::End(end) => builder.end(*end),
        }
    }
}

fn built(program: &SampleProgram, shapes: &mut Shapes, run: &[Behaviour]) -> Built {
    let mut builder = ShapeBuilder::new(program, shapes, false);
    play(run, &mut builder);
    assert_eq!(builder.depth(), 0);
    builder.finish()
}

/// Sites 12 and 13 are in loop 1, 13 also in loop 2; 30 to 33 are in loop 3.
fn program() -> SampleProgram {
    let of = |site, loops: &[u32]| (StatementId(site), loops.to_vec());
    SampleProgram {
        loops: vec![of(12, &[1]), of(13, &[1, 2]), of(14, &[1]), of(302, &[3]), of(303, &[3]), of(304, &[3])],
    }
}

fn aligned(good: &[Behaviour], bad: &[Behaviour]) -> Alignment {
    let (program, mut shapes) = (program(), Shapes::default());
    let good = built(&program, &mut shapes, good);
    let bad = built(&program, &mut shapes, bad);
    align(&shapes, good.root, bad.root, false)
}

fn parting(good: &[Behaviour], bad: &[Behaviour]) -> Parting {
    match aligned(good, bad) {
        Alignment::Parts(mut found) => found.remove(0),
        other => panic!("{other:?}"),
    }
}

fn main_with(inner: Vec<Behaviour>) -> Vec<Behaviour> {
    vec![Call(0, inner)]
}

fn first(next: &Next) -> Option<u32> {
    next.sites.first().map(|site| site.0)
}

#[test]
fn the_count_of_iterations_is_no_difference() {
    let run = |rounds| main_with(vec![At(1), At(11), Loop(vec![vec![At(12)]; rounds]), At(20)]);
    assert_eq!(aligned(&run(1000), &run(1001)), Alignment::Same);
    assert_eq!(aligned(&run(1), &run(1000)), Alignment::Same);
    // But a loop that never ran took another way.
    let parting = parting(&run(0), &run(1));
    assert_eq!(
        (parting.stack[0].at, first(&parting.good), first(&parting.bad)),
        (Some(StatementId(11)), Some(20), Some(12))
    );
}

#[test]
fn a_new_round_parts_where_no_known_round_goes_on() {
    let plain = vec![At(12), At(14)];
    let other = vec![At(12), At(13), At(14)];
    let good = main_with(vec![At(11), Loop(vec![plain.clone(); 5]), At(20)]);
    let bad = main_with(vec![At(11), Loop(vec![plain.clone(), other, plain]), At(20)]);
    let found = parting(&good, &bad);
    assert_eq!(found.stack, [Level { body: BodyId(0), at: Some(StatementId(12)) }]);
    assert_eq!((found.within, found.round_of), (Some(Repeater::Loop(1)), Side::Bad));
    assert_eq!((first(&found.good), first(&found.bad)), (Some(14), Some(13)));
    let mirrored = parting(&bad, &good);
    assert_eq!((mirrored.round_of, &mirrored.good, &mirrored.bad), (Side::Good, &found.bad, &found.good));
}

#[test]
fn a_closure_that_a_library_calls_has_no_count_either() {
    let calls =
        |count| main_with(vec![At(1), Loop(vec![vec![Call(7, vec![At(700), At(701)])]; count]), At(2)]);
    assert_eq!(aligned(&calls(3), &calls(4)), Alignment::Same);
    assert_eq!(aligned(&calls(1), &calls(2)), Alignment::Same);
    let odd = main_with(vec![At(1), Call(7, vec![At(700), At(701)]), Call(7, vec![At(700), At(702)]), At(2)]);
    let found = parting(&calls(3), &odd);
    assert_eq!(found.stack.last().map(|level| (level.body.0, level.at)), Some((7, Some(StatementId(700)))));
    assert_eq!((first(&found.good), first(&found.bad)), (Some(701), Some(702)));
}

#[test]
fn the_stack_of_a_parting_names_the_calls() {
    let run = |last| {
        main_with(vec![At(1), Call(1, vec![At(100), Call(2, vec![At(200), At(last)]), At(101)]), At(2)])
    };
    let found = parting(&run(201), &run(202));
    let stack: Vec<(u32, Option<u32>)> =
        found.stack.iter().map(|level| (level.body.0, level.at.map(|site| site.0))).collect();
    assert_eq!(stack, [(0, Some(1)), (1, Some(100)), (2, Some(200))]);
}

#[test]
fn a_panic_is_where_the_history_ends() {
    let good = main_with(vec![At(1), Call(1, vec![At(100), At(101)]), At(2)]);
    let bad = main_with(vec![At(1), Call(1, vec![At(100), Behaviour::End(HistoryEnd::Panic)])]);
    let found = parting(&good, &bad);
    assert_eq!(found.bad, Next { sites: vec![], then: Some(Then::Ends(HistoryEnd::Panic)) });
    assert_eq!(first(&found.good), Some(101));
}

#[test]
fn other_programs_have_nothing_in_common() {
    assert_eq!(aligned(&[Call(1, vec![At(100)])], &[Call(2, vec![At(200)])]), Alignment::Apart);
}

#[test]
fn two_tests_are_aligned_by_the_functions_that_both_called() {
    let (program, mut shapes) = (program(), Shapes::default());
    let inner = |last| Call(3, vec![At(300), At(last)]);
    let good = built(&program, &mut shapes, &[Call(1, vec![At(100), inner(301), inner(305)])]);
    let same = built(&program, &mut shapes, &[Call(2, vec![At(200), inner(305)])]);
    let bad = built(&program, &mut shapes, &[Call(2, vec![At(200), inner(305), At(201), inner(307)])]);
    assert_eq!(align(&shapes, good.root, same.root, true), Alignment::Same);
    let Alignment::Parts(found) = align(&shapes, good.root, bad.root, true) else { panic!("same") };
    let found = &found[0];
    assert!(found.other_callers);
    assert_eq!(found.stack[0], Level { body: BodyId(2), at: Some(StatementId(201)) });
    assert_eq!((found.stack[1].at, first(&found.bad)), (Some(StatementId(300)), Some(307)));
}

#[test]
fn a_cut_history_is_aligned_where_it_begins() {
    let program = program();
    let good = main_with(vec![
        At(1),
        Call(3, vec![At(300), At(301), Loop(vec![vec![At(302), At(303)]; 9])]),
        At(2),
        At(3),
    ]);
    let cut = |rounds: &[u32], last: u32| {
        let mut shapes = Shapes::default();
        let good = built(&program, &mut shapes, &good);
        let mut builder = ShapeBuilder::new(&program, &mut shapes, true);
        builder.enclose(BodyId(3));
        builder.statement(StatementId(303));
        for site in rounds {
            builder.statement(StatementId(302));
            builder.statement(StatementId(*site));
        }
        builder.leave();
        builder.enclose(BodyId(0));
        builder.statement(StatementId(2));
        builder.statement(StatementId(last));
        let bad = builder.finish();
        (align(&shapes, good.root, bad.root, false), align(&shapes, bad.root, good.root, false))
    };
    assert_eq!(cut(&[303, 303], 3), (Alignment::Same, Alignment::Same));
    let (Alignment::Parts(found), Alignment::Parts(mirrored)) = cut(&[303, 304], 3) else { panic!("same") };
    let (found, mirrored) = (&found[0], &mirrored[0]);
    assert_eq!(found.stack.last(), Some(&Level { body: BodyId(3), at: Some(StatementId(302)) }));
    assert_eq!((first(&found.good), first(&found.bad)), (Some(303), Some(304)));
    assert_eq!((&mirrored.good, &mirrored.bad), (&found.bad, &found.good));
    let (Alignment::Parts(found), _) = cut(&[303], 4) else { panic!("same") };
    assert_eq!((first(&found[0].good), first(&found[0].bad)), (Some(3), Some(4)));
}

#[test]
fn a_round_that_many_candidates_share_hides_no_other_round() {
    // Each round of loop 1 ends in another call; nine of ten have the same inner rounds.
    let inner = |body: u32| Loop(vec![vec![At(13)], vec![At(13), Call(body, vec![At(body * 100)])]]);
    let round = |at: u32| {
        vec![At(12), inner(if at < 9 { 8 } else { 9 }), At(14), Call(20 + at, vec![At(2000 + at * 100)])]
    };
    let good = main_with(vec![At(11), Loop((0..10).map(round).collect()), At(20)]);
    let new = vec![At(12), Loop(vec![vec![At(13)]]), At(14), Call(50, vec![At(5000)])];
    let bad = main_with(vec![At(11), Loop(vec![new]), At(20)]);
    let Alignment::Parts(found) = aligned(&good, &bad) else { panic!("same") };
    let good: Vec<_> = found.iter().filter_map(|parting| first(&parting.good)).collect();
    assert!(good.contains(&800) && good.contains(&900), "{good:?}");
}

#[test]
fn deep_recursion_needs_no_stack() {
    let (program, mut shapes) = (program(), Shapes::default());
    let mut deep = |depth: u32| {
        let mut builder = ShapeBuilder::new(&program, &mut shapes, false);
        for _ in 0..depth {
            builder.enter(BodyId(1));
            builder.statement(StatementId(100));
        }
        builder.finish().root
    };
    let (good, bad) = (deep(50_000), deep(50_001));
    let Alignment::Parts(found) = align(&shapes, good, bad, false) else { panic!("same") };
    assert_eq!(found[0].stack.len(), 50_000);
}

/// Straight code of increasing positions, with calls and loops.
fn runs(depth: u32) -> BoxedStrategy<Vec<Behaviour>> {
    let leaf = prop::collection::vec((20u32..30).prop_map(At), 1..4).prop_map(ordered).boxed();
    if depth == 0 {
        return leaf;
    }
    let inner = runs(depth - 1);
    let round = prop::collection::vec(prop::bool::ANY, 1..4).prop_map(|other| {
        let round = |other: &bool| if *other { vec![At(12), At(13), At(14)] } else { vec![At(12), At(14)] };
        Loop(other.iter().map(round).collect())
    });
    let call = (1u32..5, inner).prop_map(|(body, inner)| Call(body, inner));
    (leaf, prop::option::of(call.clone()), prop::option::of(round), prop::option::of(call))
        .prop_map(|(tail, one, rounds, other)| {
            let first = [At(1)].into_iter().chain(one);
            let middle = [At(11)].into_iter().chain(rounds).chain([At(15)]);
            first.chain(middle).chain(other).chain(tail).collect()
        })
        .boxed()
}

fn ordered(mut run: Vec<Behaviour>) -> Vec<Behaviour> {
    run.sort_by_key(|step| if let At(site) = step { *site } else { 0 });
    run.dedup();
    run
}

/// The same run with each loop's rounds once more.
fn longer(run: &[Behaviour]) -> Vec<Behaviour> {
    let longer = |step: &Behaviour| match step {
        Loop(rounds) => Loop(rounds.iter().chain(rounds).map(|round| longer(round)).collect()),
        Call(body, inner) => Call(*body, longer(inner)),
        other => other.clone(),
    };
    run.iter().map(longer).collect()
}

/// Puts a statement behind a step that is in no loop, counted from the front; the site before it in its body.
fn plant(run: &mut Vec<Behaviour>, place: &mut usize) -> Option<Option<u32>> {
    let mut before = None;
    let mut at = 0;
    while at < run.len() {
        match &mut run[at] {
            At(site) => before = Some(*site),
            Call(_, inner) => {
                if let Some(planted) = plant(inner, place) {
                    return Some(planted);
                }
            }
            Loop(_) | Behaviour::End(_) => {}
        }
        at += 1;
        if *place == 0 {
            run.insert(at, At(99));
            return Some(before);
        }
        *place -= 1;
    }
    None
}

proptest! {
    #[test]
    fn a_history_is_like_itself_and_like_one_with_more_iterations(run in runs(3)) {
        let run = main_with(run);
        prop_assert_eq!(aligned(&run, &run), Alignment::Same);
        prop_assert_eq!(aligned(&run, &longer(&run)), Alignment::Same);
    }

    #[test]
    fn a_planted_statement_is_found_from_both_sides(run in runs(3), place in 0usize..12) {
        let (good, mut bad) = (main_with(run.clone()), run);
        let (mut place, mut bad_place) = (place, 0);
        let before = plant(&mut bad, &mut place);
        let before = before.unwrap_or_else(|| plant(&mut bad, &mut bad_place).unwrap());
        let bad = main_with(bad);
        let found = parting(&good, &bad);
        prop_assert_eq!(found.stack.last().and_then(|level| level.at), before.map(StatementId));
        prop_assert_eq!(first(&found.bad), Some(99));
        let mirrored = parting(&bad, &good);
        prop_assert_eq!((&mirrored.good, &mirrored.bad), (&found.bad, &found.good));
        prop_assert_eq!(mirrored.stack, found.stack);
    }
}
