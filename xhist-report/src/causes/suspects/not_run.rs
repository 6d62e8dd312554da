//! What did not run: the program's own lines that the most similar passed test ran and a failed test did not.

use std::collections::HashMap;

use super::bits::SiteSet;
use super::program::{ProgramSites, Role};
use super::run::Test;

/// Most lines for a failed test.
const LINES: usize = 5;

/// Lines that a failed test did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRun {
    /// Index of the failed test.
    pub failed: usize,
    /// Index of the passed test.
    pub passed: usize,
    /// Sites, the nearest to where the failed test turned away late in its history first.
    pub sites: Vec<u32>,
}

/// Finds them for each pair of a failed test and the passed test most like it. Only the first line of each way counts: the
/// statement around it, or the one in front of it, ran in the failed test.
pub fn not_run(program: &ProgramSites, tests: &[Test], nearest: &[(usize, usize)]) -> Vec<NotRun> {
    let in_front = program.in_front();
    let of_pair = |&(failed, passed): &(usize, usize)| {
        let ran = &tests[failed].ran;
        let age = ages(program, &tests[failed]);
        let is_own = |site: &u32| {
            let known = &program.sites[*site as usize];
            known.role == Role::Own && !known.is_initializer && !ran.contains(*site)
        };
        let turns = tests[passed].ran.iter().filter(is_own).filter_map(|site| {
            let turn = turn(program, &in_front, ran, site)?;
            Some((age.get(&turn).copied().unwrap_or(u32::MAX), site))
        });
        let mut turns: Vec<(u32, u32)> = turns.collect();
        turns.sort_unstable();
        let sites: Vec<u32> = turns.into_iter().map(|(_, site)| site).take(LINES).collect();
        (!sites.is_empty()).then_some(NotRun { failed, passed, sites })
    };
    nearest.iter().filter_map(of_pair).collect()
}

/// Where a run turned away from a site: the statement in front of it, or the one around it if the site is the first in there.
/// `None` if that did not run either.
fn turn(program: &ProgramSites, in_front: &[Option<u32>], ran: &SiteSet, site: u32) -> Option<u32> {
    in_front[site as usize].or(program.sites[site as usize].parent).filter(|turn| ran.contains(*turn))
}

/// How many of the program's own lines ran since each ran last.
fn ages(program: &ProgramSites, test: &Test) -> HashMap<u32, u32> {
    let history = test.history.iter().flat_map(|history| history.newest_first(program));
    history.zip(0..).collect()
}

#[cfg(test)]
mod tests {
    use super::super::history::FailureHistory;
    use super::super::program::Site;
    use super::*;

    /// Sites in one function, each with the site around it.
    fn program(parents: &[Option<u32>]) -> ProgramSites {
        let site = |(index, parent): (usize, &Option<u32>)| Site {
            file: 1,
            line: index as u32 + 1,
            end_line: index as u32 + 1,
            col: 1,
            function: 0,
            role: Role::Own,
            is_initializer: false,
            parent: *parent,
        };
        let mut program = ProgramSites::default();
        program.sites = parents.iter().enumerate().map(site).collect();
        program
    }

    fn test(failed: bool, order: &[u32]) -> Test {
        let history = FailureHistory { order: order.to_vec(), ..FailureHistory::default() };
        Test { failed, ran: order.iter().copied().collect(), history: Some(history), ..Test::default() }
    }

    #[test]
    fn the_first_line_of_each_way_not_taken_is_found_and_the_latest_turn_comes_first() {
        // 0 if { 1; 2 } 3 if { 4; 5 } 6
        let program = program(&[None, Some(0), Some(0), None, Some(3), Some(3), None]);
        let tests = [test(true, &[0, 3, 6]), test(false, &[0, 1, 2, 3, 4, 5, 6])];
        let found = not_run(&program, &tests, &[(0, 1)]);
        assert_eq!(found, [NotRun { failed: 0, passed: 1, sites: vec![4, 1] }]);
    }

    #[test]
    fn behind_an_early_end_is_what_did_not_run() {
        let program = program(&[None, None, None]);
        let tests = [test(true, &[0]), test(false, &[0, 1, 2]), test(false, &[0])];
        assert_eq!(not_run(&program, &tests, &[(0, 1)])[0].sites, [1]);
        assert_eq!(not_run(&program, &tests, &[(0, 2)]), []);
    }
}
