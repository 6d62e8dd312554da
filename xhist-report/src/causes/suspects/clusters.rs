//! Groups failed tests by how they fail: several mistakes in one run would halve each other's scores.

use super::bits::SiteSet;
use super::program::{ProgramSites, Role, Site};
use super::run::Test;

/// Share of the rare sites of a test that another one has as well, from which on the two fail in one way.
const ALIKE: f64 = 0.5;
/// Most clusters. The tests of the smallest ones join the last.
const MOST: usize = 4;

/// A failed test.
struct FailedRun<'t> {
    index: usize,
    ran: &'t SiteSet,
    /// What it ran of the sites that few passed tests ran.
    rare: SiteSet,
    /// Without any, the sites of it that the fewest passed tests ran.
    rarest: SiteSet,
    panic: Option<u32>,
}

impl FailedRun<'_> {
    fn fails_like(&self, other: &FailedRun<'_>) -> bool {
        let is_one_panic = self.panic.is_some() && self.panic == other.panic;
        let is_victim =
            |of: &SiteSet, by: &SiteSet| !of.is_empty() && of.iter().all(|site| by.contains(site));
        is_one_panic
            || self.rare == other.rare
            || self.rare.overlap(&other.rare) >= ALIKE
            || is_victim(&self.rarest, other.ran)
            || is_victim(&other.rarest, self.ran)
    }
}

/// The failed tests by how they fail, the largest cluster first: indices, in the order of the tests.
///
/// Two tests fail in one way if their panics came from one site of the program, or if they share most of the sites that few
/// passed tests ran. A test without such sites fails like those that ran the rarest of its sites, too. A test joins a cluster
/// if it fails like any of its tests.
pub fn clusters(program: &ProgramSites, tests: &[Test]) -> Vec<Vec<usize>> {
    let passed = Passed::of(program, tests);
    let failed = tests.iter().enumerate().filter(|(_, test)| test.failed);
    let failed: Vec<FailedRun<'_>> = failed
        .map(|(index, test)| {
            let rare: SiteSet = test.ran.iter().filter(|site| passed.is_below(*site, 1, 2)).collect();
            let rarest = if rare.is_empty() { passed.rarest(&test.ran) } else { SiteSet::default() };
            FailedRun { index, ran: &test.ran, rare, rarest, panic: panic_site(program, test) }
        })
        .collect();
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    for (at, run) in failed.iter().enumerate() {
        let is_alike = |other: &usize| run.fails_like(&failed[*other]);
        let (alike, mut rest): (Vec<_>, Vec<_>) =
            clusters.into_iter().partition(|cluster: &Vec<usize>| cluster.iter().any(is_alike));
        rest.push(alike.into_iter().flatten().chain([at]).collect());
        clusters = rest;
    }
    for cluster in &mut clusters {
        cluster.iter_mut().for_each(|at| *at = failed[*at].index);
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

/// Which passed tests ran the sites of the program.
struct Passed {
    /// How many of them ran each site; `None` for sites that are not the program's own.
    counts: Vec<Option<usize>>,
    tests: usize,
}

impl Passed {
    fn of(program: &ProgramSites, tests: &[Test]) -> Passed {
        let own = |site: &Site| (site.role == Role::Own).then_some(0);
        let mut counts: Vec<Option<usize>> = program.sites.iter().map(own).collect();
        let passed = tests.iter().filter(|test| !test.failed);
        for site in passed.clone().flat_map(|test| test.ran.iter()) {
            if let Some(Some(count)) = counts.get_mut(site as usize) {
                *count += 1;
            }
        }
        Passed { counts, tests: passed.count() }
    }

    fn count(&self, site: u32) -> Option<usize> {
        self.counts.get(site as usize).copied().flatten()
    }

    /// Whether it is a site of the program that fewer than this part of the tests ran.
    fn is_below(&self, site: u32, part: usize, of: usize) -> bool {
        self.count(site).is_some_and(|count| self.tests == 0 || of * count < part * self.tests)
    }

    /// Of these sites those that the fewest tests ran, unless nearly all did.
    fn rarest(&self, sites: &SiteSet) -> SiteSet {
        let fewest = sites.iter().filter_map(|site| self.count(site)).min();
        let is_rarest = |site: &u32| self.count(*site) == fewest && self.is_below(*site, 3, 4);
        sites.iter().filter(|site| fewest.is_some() && is_rarest(site)).collect()
    }
}

/// The program's own site that a panic came from, if the test's own code was not the one that panicked.
fn panic_site(program: &ProgramSites, test: &Test) -> Option<u32> {
    let site = test.history.as_ref()?.panic_site?;
    (program.sites[site as usize].role == Role::Own).then_some(site)
}

#[cfg(test)]
mod tests {
    use super::super::history::FailureHistory;
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
    fn a_test_without_rare_sites_fails_like_those_that_ran_the_rarest_of_its_sites() {
        // Four of seven passed tests ran site 1, by chance with the right result.
        let passed = (0..7).map(|number| test(false, if number < 4 { &[0, 1] } else { &[0] }));
        let failed =
            [test(true, &[0, 1]), test(true, &[0, 1, 4, 5]), test(true, &[0, 1, 8]), test(true, &[0, 9])];
        let tests: Vec<Test> = passed.chain(failed).collect();
        assert_eq!(clusters(&program(), &tests), [vec![7, 8, 9], vec![10]]);
        // What nearly all passed tests ran says nothing.
        let passed = (0..7).map(|number| test(false, if number < 6 { &[0, 1] } else { &[0] }));
        let tests: Vec<Test> = passed.chain([test(true, &[0, 1]), test(true, &[0, 1, 4])]).collect();
        assert_eq!(clusters(&program(), &tests), [[7], [8]]);
    }

    #[test]
    fn what_fails_in_too_many_ways_is_in_the_last_cluster() {
        let mut tests: Vec<Test> = (0..12).map(|site| test(true, &[site])).collect();
        tests.push(test(false, &[]));
        let found = clusters(&program(), &tests);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1, 9]);
    }
}
