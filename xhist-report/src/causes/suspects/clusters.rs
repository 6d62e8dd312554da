//! Groups failed tests by how they fail: several mistakes in one run would halve each other's scores.

use super::bits::SiteSet;
use super::program::{ProgramSites, Role};
use super::run::Test;

/// Share of the rare sites of a test that another one has as well, from which on the two fail in one way.
const ALIKE: f64 = 0.5;
/// Most clusters. The tests of the smallest ones join the last.
const MOST: usize = 4;

/// The failed tests by how they fail, the largest cluster first: indices, in the order of the tests.
///
/// Two tests fail in one way if their panics came from one site of the program, or if they share
/// most of the sites that few passed tests ran. A test joins a cluster if it fails like any of its tests.
pub fn clusters(program: &ProgramSites, tests: &[Test]) -> Vec<Vec<usize>> {
    let rare = rare_sites(program, tests);
    let failed = tests.iter().enumerate().filter(|(_, test)| test.failed);
    let failed: Vec<(usize, SiteSet, Option<u32>)> = failed
        .map(|(index, test)| {
            let ran = test.ran.iter().filter(|site| rare.contains(*site)).collect();
            (index, ran, panic_site(program, test))
        })
        .collect();
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    for (at, (_, ran, panic)) in failed.iter().enumerate() {
        let is_alike = |other: &usize| {
            let (_, other_ran, other_panic) = &failed[*other];
            let is_one_panic = panic.is_some() && panic == other_panic;
            is_one_panic || ran == other_ran || ran.overlap(other_ran) >= ALIKE
        };
        let (alike, mut rest): (Vec<_>, Vec<_>) =
            clusters.into_iter().partition(|cluster: &Vec<usize>| cluster.iter().any(is_alike));
        rest.push(alike.into_iter().flatten().chain([at]).collect());
        clusters = rest;
    }
    for cluster in &mut clusters {
        cluster.iter_mut().for_each(|at| *at = failed[*at].0);
        cluster.sort_unstable();
    }
    clusters.sort_by_key(|cluster| (usize::MAX - cluster.len(), cluster[0]));
    let others = clusters.split_off(clusters.len().min(MOST));
    if let (Some(last), false) = (clusters.last_mut(), others.is_empty()) {
        last.extend(others.into_iter().flatten());
        last.sort_unstable();
    }
    clusters
}

/// The program's own sites that fewer than half of the passed tests ran.
fn rare_sites(program: &ProgramSites, tests: &[Test]) -> SiteSet {
    let mut passed = vec![0_usize; program.sites.len()];
    let all = tests.iter().filter(|test| !test.failed);
    for site in all.clone().flat_map(|test| test.ran.iter()) {
        passed[site as usize] += 1;
    }
    let all = all.count();
    let own = (0..program.sites.len()).filter(|site| program.sites[*site].role == Role::Own);
    own.filter(|site| all == 0 || 2 * passed[*site] < all).map(|site| site as u32).collect()
}

/// The program's own site that a panic came from, if the test's own code was not the one that panicked.
fn panic_site(program: &ProgramSites, test: &Test) -> Option<u32> {
    let site = test.history.as_ref()?.panic_site?;
    (program.sites[site as usize].role == Role::Own).then_some(site)
}

#[cfg(test)]
mod tests {
    use super::super::history::FailureHistory;
    use super::super::program::Site;
    use super::*;

    fn program() -> ProgramSites {
        let site = |line| Site {
            file: 1,
            line,
            end_line: line,
            col: 1,
            function: 0,
            role: Role::Own,
            is_initializer: false,
            parent: None,
        };
        let mut program = ProgramSites::default();
        program.sites = (1..=12).map(site).collect();
        program
    }

    fn test(failed: bool, ran: &[u32]) -> Test {
        Test { failed, ran: ran.iter().copied().collect(), ..Test::default() }
    }

    #[test]
    fn tests_that_fail_in_two_ways_are_two_clusters() {
        let mut tests = vec![
            test(true, &[0, 4, 5, 6]),
            test(false, &[0, 1]),
            test(true, &[0, 8, 9]),
            test(true, &[0, 4, 5]),
            test(false, &[0, 1]),
        ];
        assert_eq!(clusters(&program(), &tests), [vec![0, 3], vec![2]]);
        let panic = FailureHistory { panic_site: Some(1), ..FailureHistory::default() };
        for test in [0, 2] {
            tests[test].history = Some(panic.clone());
        }
        assert_eq!(clusters(&program(), &tests), [[0, 2, 3]], "one panic");
    }

    #[test]
    fn tests_that_ran_nothing_special_are_one_cluster() {
        let tests = [test(true, &[0]), test(true, &[0]), test(false, &[0])];
        assert_eq!(clusters(&program(), &tests), [[0, 1]]);
    }

    #[test]
    fn what_fails_in_too_many_ways_is_in_the_last_cluster() {
        let mut tests: Vec<Test> = (0..12).map(|site| test(true, &[site])).collect();
        tests.push(test(false, &[]));
        let found = clusters(&program(), &tests);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1, 9]);
    }
}
