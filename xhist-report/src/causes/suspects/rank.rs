//! Ranks the sites of a program. A formula weighs the tests that ran a site. Where that says little, other evidence decides: the
//! text, what made the values that failed, the first difference from the nearest passed test, open calls, and nearness.
//!
//! Each site has a rank of its own. Those that the same tests ran share a mark.

use std::collections::HashMap;

use super::bits::SiteSet;
use super::formula::{Counts, TestTotals, ochiai};
use super::history::{Access, Maker};
use super::program::{ProgramSites, Role};
use super::run::Test;
use super::text_weight::TextEvidence;

/// Number of distinct sites from the failure at which nearness has fallen to a third.
const REACH: f64 = 120.0;
/// What nearness to the end of a program counts: a test notices later that its output is wrong.
const PROGRAM: f64 = 0.1;
/// What a call counts less than the one that it made.
const OUTWARD: f64 = 0.85;
/// The parts of a score besides the formula's value, if a check of a test failed: it says nothing but that a value is wrong.
/// Parts of more kinds, and other weights, were no better on crates that did not choose them.
const OF_CHECK: Weights =
    Weights { rest: 0.24, text: 0.46, made: 0.12, near: 0.12, open: 0.0, difference: 0.06 };
/// The same without a passed test, if few of all statements that ran made the value: many more compute something.
const OF_RARE_MAKERS: Weights = Weights { text: 0.22, made: 0.36, ..OF_CHECK };
/// How many times as many statements ran then as made the value.
const RARE: usize = 10;
/// If the program itself panicked: the mistake is often there.
const OF_PANIC: Weights =
    Weights { rest: 0.26, text: 0.12, made: 0.08, near: 0.30, open: 0.12, difference: 0.0 };
/// How much more suspicious the other way is than a condition that every test ran, so that the condition is a suspect.
const OTHER_WAY: f64 = 1.1;
/// What a branch says of the condition before it.
const BRANCH: f64 = 0.97;
/// What a statement counts that only formatted messages of panics: passed tests have no such message.
const FORMATS: f64 = 0.2;
/// What a statement counts that only read a value when a check of it failed: what made the value is wrong more often.
const READS: f64 = 0.7;
/// What each further failed test takes from the weight of the order of the histories.
const MORE_FAILED: f64 = 0.05;
/// What a statement of `main` counts: it only begins what other functions do.
const MAIN: f64 = 0.85;
/// What a statement that panicked counts of the best suspect, at least; and a frame, of the suspect whose rank it has at least.
const BELOW_BEST: f64 = 0.9999;
/// What an open call in the body of a macro counts: the body is that of every use.
const MACRO: f64 = 0.5;
/// How many times as far down a frame may be as in a backtrace. The innermost two are near enough without that.
const FRAME_RANKS: usize = 2;
const INNERMOST: usize = 2;

/// What is known of one site.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SiteEvidence {
    /// Tests that ran it.
    pub counts: Counts,
    /// The formula's value.
    pub value: f64,
    /// The value of the best branch that it decides, on a scale from 0 to 1.
    pub branch: f64,
    /// It decides a branch that only failed tests took.
    pub leads_there: bool,
    /// 1 = the last own site before the failure, falling with the distance.
    pub near: f64,
    /// 1 = the innermost open call, falling outwards, with those that returned to a failed check; 0 = not open.
    pub open: f64,
    /// 1 = the nearest maker of what the failed statement names, falling with the steps; 0 = no maker.
    pub made: f64,
    /// Number of failed tests at whose failure the site was that of an open call.
    pub open_in: u32,
    /// Number of failed tests in which it was the last statement of a call that returned to the failed check.
    pub returned_in: u32,
    /// Number of failed tests that part here from the nearest passed test.
    pub parts_in: u32,
    /// Number of failed tests whose panic came from here, and not from a check that the text has.
    pub panics_in: u32,
    /// Number of failed tests in which it only formatted the message of the panic.
    pub formats_in: u32,
    /// Number of failed tests in which it only read the value whose check failed.
    pub reads_in: u32,
    /// How likely it is the mistake by its text alone, from 0 to 1.
    pub text: f64,
    /// All of it.
    pub score: f64,
}

impl SiteEvidence {
    /// Whether most failed tests ended by its own operation.
    fn is_panic(&self, totals: TestTotals) -> bool {
        2 * self.panics_in > totals.failed
    }
}

/// A site that may be the mistake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspect {
    /// The site.
    pub site: u32,
    /// What is known of it.
    pub evidence: SiteEvidence,
    /// Number of suspects with the same counts, with this one.
    pub tie: usize,
    /// The mark of the suspects that the same tests ran, from 0 in the order of the ranks; `None` for a suspect without others.
    pub mark: Option<usize>,
}

/// A function with suspects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuspectFunction {
    /// Its number in the program.
    pub function: u32,
    /// The score of its most suspicious site.
    pub score: f64,
    /// The formula's value of that site.
    pub value: f64,
}

/// The result of a ranking.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// Numbers of tests.
    pub totals: TestTotals,
    /// Functions, the most suspicious first.
    pub functions: Vec<SuspectFunction>,
    /// Suspects, the most suspicious first.
    pub suspects: Vec<Suspect>,
    /// Lines of which the tests say nothing and that are left out.
    pub common: usize,
    /// For each failed test the passed test most like it: indices of both.
    pub nearest: Vec<(usize, usize)>,
    /// The failed tests that it ranks by: indices.
    pub failed: Vec<usize>,
    /// The evidence of every site.
    pub evidence: Vec<SiteEvidence>,
}

impl Ranking {
    /// All suspects, each with its rank from 1.
    pub fn ranked(&self) -> impl Iterator<Item = (usize, &Suspect)> {
        (1..).zip(&self.suspects)
    }
}

/// Ranks the sites by these failed tests and all passed ones. `accesses`: what functions do to what they are called on; `weigh`
/// says what the text of a site says.
pub fn rank(
    program: &ProgramSites,
    tests: &[Test],
    failed: &[usize],
    accesses: &HashMap<u32, Access>,
    weigh: &mut dyn FnMut(u32) -> TextEvidence,
) -> Ranking {
    let numbered = tests.iter().enumerate();
    let members: Vec<(usize, &Test)> =
        numbered.filter(|(index, test)| !test.failed || failed.contains(index)).collect();
    let tests: Vec<&Test> = members.iter().map(|(_, test)| *test).collect();
    let number = |failed| tests.iter().filter(|test| test.failed == failed).count() as u32;
    let totals = TestTotals { failed: number(true), passed: number(false) };
    let (failed, evidence) = (failed.to_vec(), evidence(program, &tests, totals));
    let mut ranking = Ranking { totals, failed, evidence, ..Ranking::default() };
    let decided = add_branches(program, &tests, totals, &mut ranking.evidence);
    add_order(program, &members, accesses, &mut ranking);
    let weights = Weights::of(program, &tests, &ranking.evidence);
    for (site, evidence) in ranking.evidence.iter_mut().enumerate() {
        if evidence.counts.failed > 0 {
            let TextEvidence { weight, is_check } = weigh(site as u32);
            evidence.text = weight;
            if is_check {
                evidence.panics_in = 0;
            }
            evidence.score = score(evidence, program.sites[site].role, totals, weights);
            if program.is_of_main(site as u32) {
                evidence.score *= MAIN;
            }
        }
    }
    let scores: Vec<f64> = ranking.evidence.iter().map(|evidence| evidence.score).collect();
    for (condition, branch) in decided {
        let evidence = &mut ranking.evidence[condition as usize];
        evidence.score = evidence.score.max(BRANCH * scores[branch as usize]);
    }
    raise_panics(totals, &mut ranking.evidence);
    raise_frames(program, &tests, &mut ranking.evidence);
    order(program, &tests, &mut ranking);
    ranking
}

/// A statement whose own operation panicked in most of the failed tests, such as an index out of range, is among the first two.
fn raise_panics(totals: TestTotals, evidence: &mut [SiteEvidence]) {
    let best = evidence.iter().map(|evidence| evidence.score).fold(0.0, f64::max);
    let panicking = evidence.iter_mut().filter(|evidence| evidence.is_panic(totals));
    panicking.for_each(|evidence| evidence.score = evidence.score.max(BELOW_BEST * best));
}

/// An open call is not much farther down than in a backtrace, however deep the panic is in code that others use, too.
fn raise_frames(program: &ProgramSites, tests: &[&Test], evidence: &mut [SiteEvidence]) {
    let histories = tests.iter().filter(|test| test.failed).filter_map(|test| test.history.as_ref());
    let Some(history) =
        histories.min_by_key(|history| !history.has_panic).filter(|history| history.has_panic)
    else {
        return;
    };
    let mut frames: Vec<u32> = Vec::new();
    for site in &history.open {
        if program.sites[*site as usize].role == Role::Own && !frames.contains(site) {
            frames.push(*site);
        }
    }
    let mut scores: Vec<f64> = evidence.iter().map(|evidence| evidence.score).collect();
    scores.sort_by(|one, other| other.total_cmp(one));
    let mut raised = 0;
    for (number, site) in (1..).zip(frames).skip(INNERMOST) {
        // Frames that were raised before take ranks, too.
        let Some(score) = scores.get((FRAME_RANKS * number).saturating_sub(2 + raised)) else { return };
        let evidence = &mut evidence[site as usize];
        if evidence.score < BELOW_BEST * score {
            evidence.score = BELOW_BEST * score;
            raised += 1;
        }
    }
}

/// Counts and values.
fn evidence(program: &ProgramSites, tests: &[&Test], totals: TestTotals) -> Vec<SiteEvidence> {
    let mut evidence = vec![SiteEvidence::default(); program.sites.len()];
    for test in tests {
        for site in test.ran.iter() {
            let Some(SiteEvidence { counts, .. }) = evidence.get_mut(site as usize) else { continue };
            match test.failed {
                true => counts.failed += 1,
                false => counts.passed += 1,
            }
        }
    }
    evidence.iter_mut().for_each(|evidence| evidence.value = ochiai(evidence.counts, totals));
    evidence
}

/// A condition decides whether the statements inside it run, and those behind it. That they did not is a spectrum as well.
/// Returns the pairs of a condition and what it decides. Of the statements in front only the nearest decides, and the one around
/// only if none of them does.
fn add_branches(
    program: &ProgramSites,
    tests: &[&Test],
    totals: TestTotals,
    evidence: &mut [SiteEvidence],
) -> Vec<(u32, u32)> {
    let in_front = program.in_front();
    // For each site the nearest one in front of it that other numbers of tests ran.
    let mut deciding: Vec<Option<u32>> = vec![None; in_front.len()];
    let mut decided = Vec::new();
    for (branch, before) in (0..).zip(in_front) {
        let counts = |site: u32| evidence[site as usize].counts;
        deciding[branch as usize] = match before {
            Some(before) if counts(before) == counts(branch) => deciding[before as usize],
            before => before,
        };
        let conditions = [deciding[branch as usize], program.sites[branch as usize].parent];
        for condition in conditions.into_iter().flatten() {
            if add_branch(tests, totals, (condition, branch), evidence) {
                decided.push((condition, branch));
                break;
            }
        }
    }
    decided
}

/// Adds what a branch says of a condition. Returns whether the condition decides it.
fn add_branch(
    tests: &[&Test],
    totals: TestTotals,
    (condition, branch): (u32, u32),
    evidence: &mut [SiteEvidence],
) -> bool {
    let (of_condition, of_branch) = (evidence[condition as usize], evidence[branch as usize]);
    if of_condition.counts == of_branch.counts || of_condition.counts.failed == 0 {
        return false;
    }
    let (mut taken, mut left) = (Counts::default(), Counts::default());
    for test in tests.iter().filter(|test| test.ran.contains(condition)) {
        let counts = if test.ran.contains(branch) { &mut taken } else { &mut left };
        match test.failed {
            true => counts.failed += 1,
            false => counts.passed += 1,
        }
    }
    // It runs without the condition, too.
    if taken != of_branch.counts {
        return false;
    }
    let evidence = &mut evidence[condition as usize];
    evidence.leads_there |= taken.passed == 0 && ochiai(taken, totals) >= OTHER_WAY * evidence.value;
    // Not to go where few tests go is nothing unusual.
    let went = f64::from(taken.passed);
    let left = ochiai(left, totals) * went / (went + 1.0);
    if left > evidence.value {
        evidence.branch = evidence.branch.max(left);
    }
    true
}

/// Nearness, open calls, makers, and the first differences from the nearest passed tests.
fn add_order(
    program: &ProgramSites,
    tests: &[(usize, &Test)],
    accesses: &HashMap<u32, Access>,
    ranking: &mut Ranking,
) {
    let own = |site: &u32| program.sites[*site as usize].role == Role::Own;
    let of_own = |set: &SiteSet| set.iter().filter(own).collect::<SiteSet>();
    let passed: Vec<(usize, SiteSet)> = tests
        .iter()
        .filter(|(_, test)| !test.failed)
        .map(|(index, test)| (*index, of_own(&test.ran)))
        .collect();
    let failed: Vec<(usize, &Test)> = tests.iter().copied().filter(|(_, test)| test.failed).collect();
    let with_history = failed.iter().filter(|(_, test)| test.history.is_some()).count().max(1) as f64;
    for (index, test) in failed {
        let ran = of_own(&test.ran);
        let similar = |(_, other): &&(usize, SiteSet)| ran.similarity(other);
        let nearest = passed.iter().rev().max_by(|one, other| similar(one).total_cmp(&similar(other)));
        ranking.nearest.extend(nearest.map(|(other, _)| (index, *other)));
        let Some(history) = &test.history else { continue };
        let of_program = test.program.as_ref();
        let weight = if of_program.is_some_and(|program| program.has_panic) { 1.0 } else { PROGRAM };
        for (history, weight) in
            [(history, 1.0)].into_iter().chain(of_program.map(|program| (program, weight)))
        {
            for (distance, site) in (0u32..).zip(history.newest_first(program)) {
                let near = (-f64::from(distance) / REACH).exp();
                ranking.evidence[site as usize].near += weight * near / with_history;
            }
        }
        for site in history.only_read(program, accesses).iter() {
            ranking.evidence[site as usize].reads_in += 1;
        }
        for site in history.message.iter() {
            ranking.evidence[site as usize].formats_in += 1;
        }
        if let Some(site) = history.panic_site.filter(own) {
            ranking.evidence[site as usize].panics_in += 1;
        }
        // A call of a closure in its own text says no more than what is open in the closure.
        // A check that failed does not say who made the value: the newest call that returned does.
        let calls = [&history.returned[..], &history.open].concat();
        let inner = [None].into_iter().chain(calls.iter().copied().map(Some));
        let open = calls.iter().copied().zip(inner);
        let open = open.filter(|(site, inner)| !inner.is_some_and(|inner| program.is_around(*site, inner)));
        for (depth, site) in open.map(|(site, _)| site).filter(own).enumerate() {
            let evidence = &mut ranking.evidence[site as usize];
            let shared = if program.is_of_macro(site) { MACRO } else { 1.0 };
            let open = shared * OUTWARD.powi(i32::try_from(depth).unwrap_or(i32::MAX)) / with_history;
            evidence.open = (evidence.open + open).min(1.0);
            match history.returned.contains(&site) {
                true => evidence.returned_in += 1,
                false => evidence.open_in += 1,
            }
        }
        for Maker { site, steps } in history.makers.iter().filter(|maker| own(&maker.site)) {
            let made = OUTWARD.powi(i32::try_from(*steps).unwrap_or(i32::MAX)) / with_history;
            ranking.evidence[*site as usize].made += made;
        }
        if let Some((_, other)) = nearest {
            let order: Vec<u32> = history.order.iter().copied().filter(own).collect();
            if let Some(first) = order.iter().position(|site| !other.contains(*site)) {
                // The statement that decided to come here, and the first one here.
                let parts = [first.checked_sub(1), Some(first)].into_iter().flatten();
                parts.for_each(|at| ranking.evidence[order[at] as usize].parts_in += 1);
            }
        }
    }
}

/// The weights, which depend on how the tests failed; 1 together at most.
struct Weights {
    rest: f64,
    text: f64,
    made: f64,
    near: f64,
    open: f64,
    difference: f64,
}

impl Weights {
    fn of(program: &ProgramSites, tests: &[&Test], evidence: &[SiteEvidence]) -> &'static Weights {
        // A check in `main` is one of what `main` began.
        let is_of_test =
            |site: u32| program.sites[site as usize].role == Role::Test || program.is_of_main(site);
        let histories = tests.iter().filter(|test| test.failed).filter_map(|test| test.history.as_ref());
        let checks: Vec<bool> =
            histories.map(|history| history.is_check && history.panic_site.is_some_and(is_of_test)).collect();
        let failed = checks.iter().filter(|is_check| **is_check).count();
        if 2 * failed <= checks.len() {
            return &OF_PANIC;
        }
        let own = evidence.iter().zip(&program.sites).filter(|(_, site)| site.role == Role::Own);
        let ran = own.clone().filter(|(evidence, _)| evidence.counts.failed > 0).count();
        let makers = own.filter(|(evidence, _)| evidence.made > 0.0).count();
        let are_rare = tests.iter().all(|test| test.failed) && (1..=ran / RARE).contains(&makers);
        if are_rare { &OF_RARE_MAKERS } else { &OF_CHECK }
    }
}

/// All evidence as one number, at most 1.
fn score(evidence: &SiteEvidence, role: Role, totals: TestTotals, weights: &Weights) -> f64 {
    let value = evidence.value.max(BRANCH * evidence.branch);
    let order = weights.text * evidence.text
        + weights.made * evidence.made
        + weights.near * evidence.near
        + weights.open * evidence.open
        + weights.difference * f64::from(evidence.parts_in) / f64::from(totals.failed.max(1));
    let role = match role {
        Role::Own => 1.0,
        // The mistake is rarely in the test, and more rarely in a released crate.
        Role::Test => 0.3,
        Role::Dependency => 0.2,
    };
    let formats = if 2 * evidence.formats_in > totals.failed { FORMATS } else { 1.0 };
    let reads = if 2 * evidence.reads_in > totals.failed { READS } else { 1.0 };
    // The more tests failed, the more their spectra say by themselves, while the order is only a mean over them.
    let shared = 1.0 / (1.0 + MORE_FAILED * (f64::from(totals.failed) - 1.0));
    role * formats * reads * value * (1.0 - shared * (1.0 - weights.rest - order))
}

/// For each site a hash of the set of tests that ran it.
fn columns(program: &ProgramSites, tests: &[&Test]) -> Vec<[u64; 2]> {
    /// SplitMix64.
    fn mixed(number: u64) -> u64 {
        let mut bits = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ bits >> 31
    }
    let mut columns = vec![[0; 2]; program.sites.len()];
    for (index, test) in tests.iter().enumerate() {
        let own = [mixed(2 * index as u64), mixed(2 * index as u64 + 1)];
        for site in test.ran.iter() {
            if let Some([first, second]) = columns.get_mut(site as usize) {
                (*first, *second) = (*first ^ own[0], *second ^ own[1]);
            }
        }
    }
    columns
}

/// The sites that may be suspects. What every test ran, and initializers, are no suspects if something else of the program's own
/// code has a better value: the tests say nothing about them. Except conditions from which failed tests go another way.
fn candidates(program: &ProgramSites, ranking: &mut Ranking) -> Vec<u32> {
    let (totals, evidence) = (ranking.totals, &ranking.evidence);
    let is_common = |site: &u32| {
        let SiteEvidence { counts, branch, leads_there, value, .. } = evidence[*site as usize];
        let is_of_all = (counts.failed, counts.passed) == (totals.failed, totals.passed);
        let goes_another_way = leads_there || branch >= OTHER_WAY * value;
        is_of_all && !goes_another_way && !evidence[*site as usize].is_panic(totals)
    };
    let ran = (0..evidence.len() as u32).filter(|site| evidence[*site as usize].counts.failed > 0);
    let says_nothing = |site: &u32| is_common(site) || program.sites[*site as usize].is_initializer;
    let (common, left): (Vec<u32>, Vec<u32>) = ran.partition(says_nothing);
    let of_all = ochiai(Counts { failed: totals.failed, passed: totals.passed }, totals);
    let is_better = |site: &u32| {
        program.sites[*site as usize].role == Role::Own && evidence[*site as usize].value > of_all
    };
    match totals.passed > 0 && left.iter().any(is_better) {
        true => {
            ranking.common = common.len();
            left
        }
        false => [left, common].concat(),
    }
}

/// Makes suspects of the sites that a failed test ran, and orders them and their functions.
fn order(program: &ProgramSites, tests: &[&Test], ranking: &mut Ranking) {
    let candidates = candidates(program, ranking);
    let columns = columns(program, tests);
    let mut together: HashMap<[u64; 2], (usize, Option<usize>)> = HashMap::new();
    let mut ties: HashMap<(u32, u32), usize> = HashMap::new();
    for site in &candidates {
        let Counts { failed, passed } = ranking.evidence[*site as usize].counts;
        together.entry(columns[*site as usize]).or_default().0 += 1;
        *ties.entry((failed, passed)).or_default() += 1;
    }
    let suspect = |site: u32| {
        let evidence = ranking.evidence[site as usize];
        Suspect { site, evidence, tie: ties[&(evidence.counts.failed, evidence.counts.passed)], mark: None }
    };
    let mut suspects: Vec<Suspect> = candidates.into_iter().map(suspect).collect();
    suspects.sort_by(|one, other| {
        other.evidence.score.total_cmp(&one.evidence.score).then(one.site.cmp(&other.site))
    });
    let mut marks = 0;
    let mut functions: Vec<SuspectFunction> = Vec::new();
    for suspect in &mut suspects {
        if let Some((2.., mark)) = together.get_mut(&columns[suspect.site as usize]) {
            suspect.mark = Some(*mark.get_or_insert_with(|| {
                marks += 1;
                marks - 1
            }));
        }
        let function = program.sites[suspect.site as usize].function;
        if functions.iter().all(|known| known.function != function) {
            let SiteEvidence { score, value, .. } = suspect.evidence;
            functions.push(SuspectFunction { function, score, value });
        }
    }
    (ranking.functions, ranking.suspects) = (functions, suspects);
}

#[cfg(test)]
mod tests {
    use super::super::history::{FailureHistory, NO_CALL};
    use super::*;
    use proptest::prelude::*;
    use xhist_history::model::Names;

    const SITES: u32 = 12;

    /// Three functions of four lines.
    fn program() -> ProgramSites {
        let head = r#"{"xhist":"map","version":3,"hash":"00000000000000ff","root":"/p","tool":"0"}"#;
        let file = r#"{"file":1,"path":"src/a.rs","base":0,"first":1,"room":99}"#;
        let line = |site: u32| {
            let (line, function) = (site + 1, ["f", "g", "h"][site as usize / 4]);
            format!(r#"{{"stmt":1,"line":{line},"col":5,"end":"{line}:9","kind":"expr","fn":"{function}"}}"#)
        };
        let lines: Vec<String> = (0..SITES).map(line).collect();
        ProgramSites::of(&Names::parse(format!("{head}\n{file}\n{}\n", lines.join("\n")).as_bytes()))
    }

    fn test(ran: u16, failed: bool) -> Test {
        let ran: SiteSet = (0..SITES).filter(|site| ran >> site & 1 == 1).collect();
        let order = ran.iter().collect();
        let history = failed.then(|| FailureHistory {
            order,
            is_whole: true,
            has_panic: true,
            ..FailureHistory::default()
        });
        Test { name: "t".into(), failed, ran, history, ..Test::default() }
    }

    fn ranked(tests: &[Test]) -> Ranking {
        let failed: Vec<usize> = (0..tests.len()).filter(|test| tests[*test].failed).collect();
        rank(&program(), tests, &failed, &HashMap::new(), &mut |_| TextEvidence {
            weight: 0.5,
            is_check: false,
        })
    }

    fn suspects(tests: &[Test]) -> Vec<u32> {
        ranked(tests).suspects.into_iter().map(|suspect| suspect.site).collect()
    }

    #[test]
    fn what_only_the_failed_test_ran_is_first() {
        let tests = [test(0b1111_1111_1111, true), test(0b1111_0000_1111, false), test(0b1111, false)];
        let ranking = ranked(&tests);
        let sites: Vec<_> = ranking.suspects.iter().map(|suspect| (suspect.site, suspect.mark)).collect();
        // The later ones ran nearer to the failure.
        let together = |sites: [u32; 4], mark| sites.map(|site| (site, Some(mark)));
        assert_eq!(sites, [together([7, 6, 5, 4], 0), together([11, 10, 9, 8], 1)].concat());
    }

    #[test]
    fn a_call_of_a_closure_in_its_own_text_is_not_open() {
        let mut tests = [test(0b111, true)];
        tests[0].history.as_mut().unwrap().open = vec![2, 0, 5];
        let mut program = program();
        let mut open = |end_line| {
            program.sites[0].end_line = end_line;
            let weigh = &mut |_| TextEvidence { weight: 0.5, is_check: false };
            let evidence = rank(&program, &tests, &[0], &HashMap::new(), weigh).evidence;
            [2, 0, 5].map(|site: usize| evidence[site].open)
        };
        assert_eq!(open(1), [1.0, OUTWARD, OUTWARD * OUTWARD]);
        assert_eq!(open(4), [1.0, 0.0, OUTWARD], "its lines are 1 to 4");
    }

    #[test]
    fn what_returned_to_a_failed_check_and_what_made_its_values_come_first() {
        let first = |change: fn(&mut FailureHistory)| {
            let mut tests = [test(0b1111, true)];
            change(tests[0].history.as_mut().unwrap());
            let ranking = ranked(&tests);
            let Suspect { site, evidence, .. } = ranking.suspects[0];
            (site, evidence.open_in, evidence.returned_in, evidence.made)
        };
        assert_eq!(first(|_| {}), (3, 0, 0, 0.0), "the newest");
        assert_eq!(first(|history| history.open = vec![1]), (1, 1, 0, 0.0));
        let returned = |history: &mut FailureHistory| {
            (history.open, history.returned) = (vec![3], vec![1]);
        };
        assert_eq!(first(returned), (1, 0, 1, 0.0), "though the check is open");
        let made = |history: &mut FailureHistory| history.makers = vec![Maker { site: 0, steps: 0 }];
        assert_eq!(first(made), (0, 0, 0, 1.0));
    }

    #[test]
    fn what_made_a_value_counts_more_if_a_check_of_a_test_failed() {
        let first = |is_check, role| {
            let mut program = program();
            program.sites[11].role = role;
            let mut tests = [test(0b1111 | 1 << 11, true)];
            let history = tests[0].history.as_mut().unwrap();
            (history.panic_site, history.is_check, history.open) = (Some(11), is_check, vec![11, 3]);
            history.makers = vec![Maker { site: 0, steps: 0 }];
            let weigh = &mut |_| TextEvidence { weight: 0.5, is_check };
            rank(&program, &tests, &[0], &HashMap::new(), weigh).suspects[0].site
        };
        assert_eq!(first(true, Role::Test), 0);
        assert_eq!(first(true, Role::Own), 11, "a check of the program itself");
        assert_eq!(first(false, Role::Own), 11);
    }

    #[test]
    fn what_made_a_value_counts_more_than_the_text_if_few_statements_did_and_no_test_passed() {
        let first = |makers: &[u32], passed: &[Test]| {
            let mut program = program();
            program.sites[11].role = Role::Test;
            let mut tests = [&[test(0b1111_1111_1111, true)], passed].concat();
            let history = tests[0].history.as_mut().unwrap();
            (history.panic_site, history.is_check) = (Some(11), true);
            history.makers = makers.iter().map(|site| Maker { site: *site, steps: 2 }).collect();
            let weight = |site| if site == 10 { 1.0 } else { 0.5 };
            let weigh = &mut |site| TextEvidence { weight: weight(site), is_check: true };
            rank(&program, &tests, &[0], &HashMap::new(), weigh).suspects[0].site
        };
        assert_eq!((first(&[2], &[]), first(&[2, 3], &[])), (2, 10));
        assert_eq!(first(&[2], &[test(1 << 11, false)]), 10, "a test passed");
    }

    #[test]
    fn an_open_call_says_nothing_of_a_check_and_the_text_most() {
        let first = |role| {
            let mut program = program();
            program.sites[11].role = role;
            let mut tests = [test(0b1111 | 1 << 11, true)];
            let history = tests[0].history.as_mut().unwrap();
            (history.panic_site, history.is_check, history.open) = (Some(11), true, vec![3]);
            let weight = |site| if site == 0 { 1.0 } else { 0.5 };
            let weigh = &mut |site| TextEvidence { weight: weight(site), is_check: true };
            rank(&program, &tests, &[0], &HashMap::new(), weigh).suspects[0].site
        };
        assert_eq!((first(Role::Test), first(Role::Own)), (0, 3));
    }

    #[test]
    fn what_only_read_weighs_less_than_what_changed_the_value() {
        let mut program = program();
        program.sites[11].role = Role::Test;
        let mut tests = [test(0b1_0001 | 1 << 11, true)];
        let history = tests[0].history.as_mut().unwrap();
        (history.panic_site, history.is_check) = (Some(11), true);
        // The test calls `f`, and checks what `g` returns.
        (history.order, history.called) = (vec![11, 0, 11, 4], vec![NO_CALL, 0, NO_CALL, 1]);
        let first = |accesses: &[(u32, Access)]| {
            let weigh = &mut |_| TextEvidence { weight: 0.5, is_check: true };
            rank(&program, &tests, &[0], &accesses.iter().copied().collect(), weigh).suspects[0].site
        };
        assert_eq!((first(&[]), first(&[(0, Access::Changes), (1, Access::Reads)])), (4, 0));
    }

    #[test]
    fn where_the_failed_test_parts_from_the_nearest_passed_one_counts_for_a_check() {
        let first = |role| {
            let mut program = program();
            program.sites[11].role = role;
            let mut tests = [test(0b1111 | 1 << 11, true), test(0b1, false)];
            let history = tests[0].history.as_mut().unwrap();
            (history.panic_site, history.is_check, history.open) = (Some(11), true, vec![3]);
            let weigh = &mut |_| TextEvidence { weight: 0.5, is_check: true };
            rank(&program, &tests, &[0], &HashMap::new(), weigh).suspects[0].site
        };
        assert_eq!((first(Role::Test), first(Role::Own)), (1, 3));
    }

    #[test]
    fn a_check_in_main_is_as_one_of_a_test() {
        let first = |function: &str| {
            let mut program = program();
            program.functions[2].path = function.into();
            let mut tests = [test(0b1111 | 1 << 11, true)];
            let history = tests[0].history.as_mut().unwrap();
            (history.panic_site, history.is_check, history.open) = (Some(11), true, vec![11, 3]);
            history.makers = vec![Maker { site: 0, steps: 0 }];
            let weigh = &mut |_| TextEvidence { weight: 0.5, is_check: true };
            rank(&program, &tests, &[0], &HashMap::new(), weigh).suspects[0].site
        };
        assert_eq!((first("main"), first("h")), (0, 11));
    }

    #[test]
    fn the_body_of_a_macro_is_open_for_every_use_of_it() {
        let first = |function: &str| {
            let mut program = program();
            program.functions[0].path = function.into();
            let mut tests = [test(0b1_0001, true)];
            tests[0].history.as_mut().unwrap().open = vec![0, 4];
            let weigh = &mut |_| TextEvidence { weight: 0.5, is_check: true };
            rank(&program, &tests, &[0], &HashMap::new(), weigh).suspects[0].site
        };
        assert_eq!((first("f"), first("f!")), (0, 4));
    }

    #[test]
    fn a_frame_is_at_most_twice_as_far_down_as_in_a_backtrace() {
        let ranks = |open: &[u32]| {
            let mut tests = [test(0b1111_1111_1111, true)];
            let history = tests[0].history.as_mut().unwrap();
            history.open = open.to_vec();
            history.makers = (5..SITES).map(|site| Maker { site, steps: 0 }).collect();
            let suspects = suspects(&tests);
            let rank = |site| suspects.iter().position(|known| known == site).unwrap() + 1;
            open.iter().map(rank).collect::<Vec<_>>()
        };
        // The oldest sites; all others made a value.
        for (number, rank) in (1..).zip(ranks(&[4, 3, 2, 1, 0])) {
            assert!(rank <= FRAME_RANKS * number, "frame {number} has rank {rank}");
        }
    }

    #[test]
    fn the_statement_that_panicked_is_among_the_first_two() {
        let mut tests = [test(0b1111_1111, true), test(0b1111, false), test(0b1111, false)];
        tests[0].history.as_mut().unwrap().panic_site = Some(1);
        assert_eq!(suspects(&tests)[..2], [7, 1], "though every test ran it");
        let check = |_| TextEvidence { weight: 0.5, is_check: true };
        let ranking = rank(&program(), &tests, &[0], &HashMap::new(), &mut { check });
        assert!(ranking.suspects.iter().all(|suspect| suspect.site != 1), "it checks something");
    }

    #[test]
    fn the_more_tests_failed_the_less_the_order_counts() {
        // More failed tests for each passed one ran site 0, but site 1 made what the check compared, and
        // computes.
        let first = |failed: usize| {
            let mut failing = test(0b11, true);
            let history = failing.history.as_mut().unwrap();
            (history.panic_site, history.is_check) = (Some(11), true);
            history.makers = vec![Maker { site: 1, steps: 0 }];
            let mut tests = vec![failing; failed];
            tests.extend((0..failed).map(|_| test(0b10, false)));
            tests.extend([test(0b11, false), test(0b100, false)]);
            let mut program = program();
            program.sites[11].role = Role::Test;
            let weigh =
                &mut |site| TextEvidence { weight: if site == 1 { 1.0 } else { 0.5 }, is_check: false };
            rank(&program, &tests, &(0..failed).collect::<Vec<_>>(), &HashMap::new(), weigh).suspects[0].site
        };
        assert_eq!((first(1), first(40)), (1, 0));
    }

    #[test]
    fn what_only_formatted_the_message_is_last() {
        let mut tests = [test(0b1111_1111, true), test(0b1111, false), test(0b1111, false)];
        tests[0].history.as_mut().unwrap().message = [7].into_iter().collect();
        assert_eq!(suspects(&tests).last(), Some(&7));
    }

    #[test]
    fn what_every_test_ran_is_a_suspect_only_if_nothing_else_is_left() {
        let alike = [test(0b1111, true), test(0b1111, false)];
        assert_eq!(suspects(&alike), [3, 2, 1, 0]);
        let tests = [test(0b1_1111, true), test(0b1111, false), test(0b1111, false)];
        assert_eq!((suspects(&tests), ranked(&tests).common), (vec![4], 4));
        // Site 4 has 1 / sqrt(3), the others sqrt(3) / 2.
        let most_fail = [test(0b1_1111, true), test(0b1111, true), test(0b1111, true), test(0b1111, false)];
        assert_eq!((suspects(&most_fail).len(), ranked(&most_fail).common), (5, 0));
    }

    #[test]
    fn a_condition_that_every_test_ran_is_a_suspect_if_failed_tests_go_another_way() {
        // Site 1 decides whether site 2 runs: it does in the passed tests.
        let tests = [test(0b1_0011, true), test(0b1_0111, false), test(0b111, false)];
        assert_eq!(suspects(&tests), [4, 1]);
        // If it does in the failed one, it is behind site 2.
        let tests = [test(0b0111, true), test(0b0011, false), test(0b0011, false)];
        assert_eq!(suspects(&tests), [2, 1]);
        // A passed test took the same way.
        let tests = [test(0b0111, true), test(0b0111, false), test(0b0011, false)];
        assert_eq!(suspects(&tests), [2]);
    }

    #[test]
    fn not_to_go_where_few_tests_go_is_nothing_unusual() {
        let branch = |passed: usize| {
            let mut tests = vec![test(0b0011, true)];
            tests.extend((0..passed).map(|_| test(0b0111, false)));
            ranked(&tests).evidence[1].branch
        };
        assert_eq!(
            [1, 4, 9].map(branch),
            [0.0, 0.8, 0.9],
            "half of the value is less than that of the condition"
        );
    }

    #[test]
    fn only_the_nearest_statement_in_front_decides() {
        // Site 2 runs behind site 1 in the failed test alone, and both behind site 0.
        let mut program = program();
        let tests = [test(0b0111, true), test(0b0011, false), test(0b0001, false)];
        let weigh = &mut |_| TextEvidence { weight: 0.5, is_check: false };
        let evidence = rank(&program, &tests, &[0], &HashMap::new(), weigh).evidence;
        assert_eq!([0, 1].map(|site: usize| evidence[site].leads_there), [false, true]);
        // Site 1 is a test of `else if` in the statement at site 0.
        (program.sites[1].parent, program.sites[2].parent) = (Some(0), Some(0));
        let evidence = rank(&program, &tests, &[0], &HashMap::new(), weigh).evidence;
        assert_eq!([0, 1].map(|site: usize| evidence[site].leads_there), [false, true]);
    }

    proptest! {
        #[test]
        fn each_site_of_a_failed_test_is_one_suspect(ran: Vec<(u16, bool)>, failed: u16) {
            let mut tests: Vec<Test> = ran.into_iter().map(|(ran, failed)| test(ran, failed)).collect();
            tests.push(test(failed | 1, true));
            let ranking = ranked(&tests);
            let mut sites: Vec<u32> = ranking.suspects.iter().map(|suspect| suspect.site).collect();
            sites.sort_unstable();
            let expected: Vec<u32> =
                (0..SITES).filter(|site| tests.iter().any(|test| test.failed && test.ran.contains(*site))).collect();
            let left_out = ranking.common;
            prop_assert_eq!(sites.len() + left_out, expected.len());
            prop_assert!(sites.iter().all(|site| expected.contains(site)));
            sites.dedup();
            prop_assert_eq!(sites.len() + left_out, expected.len());
        }

        #[test]
        fn a_test_that_ran_nothing_keeps_the_order_of_jaccard(
            passed in prop::collection::vec(any::<u16>(), 1..6), failed: u16,
        ) {
            let mut tests: Vec<Test> = passed.into_iter().map(|ran| test(ran, false)).collect();
            // One such test is there: otherwise some sites may be those of every test.
            tests.extend([test(failed | 1, true), test(0, false)]);
            let before = suspects(&tests);
            tests.push(test(0, false));
            prop_assert_eq!(suspects(&tests), before);
        }
    }
}
