//! Does a fleet of dumps have the truth that its table says?

use std::collections::BTreeMap;
use std::fs;

use xhist_tests::fleet::{BUGS, FleetOptions, InjectedBug, make_fleet};
use xhist_tests::{Case, Tree, report};

pub const CASES: &[Case] = &[Case::new("bad_dumps_end_at_their_bugs", ends)];

const DUMPS: usize = 50;

/// Entries at the end of a history. Bugs in threads and in a helper have others behind their place.
const TAIL: usize = 400;

/// The fields of each row of a table.
fn rows(tree: &Tree, file: &str) -> Vec<Vec<String>> {
    let row = |line: &str| line.split('\t').map(str::to_owned).collect();
    tree.read(file).lines().skip(1).map(row).collect()
}

fn ends() {
    let tree = Tree::empty("dumps");
    let options = FleetOptions { dumps: DUMPS as u64, seed: 3, jobs: 2 };
    let summary = make_fleet(tree.path(), &options).expect("a fleet");
    assert_eq!(summary.good + summary.bugs.iter().sum::<u64>(), DUMPS as u64);
    assert_eq!(fs::read_dir(tree.join("maps")).expect("maps").count(), 5, "each build has a map");
    let places: BTreeMap<(String, String), String> = rows(&tree, "places.tsv")
        .into_iter()
        .map(|row| ((row[0].clone(), row[1].clone()), format!("{}:{}", row[2], row[3])))
        .collect();
    let truth = rows(&tree, "truth.tsv");
    assert_eq!(truth.len(), DUMPS);
    for row in truth {
        let [path, build, map, _, day, outcome, bug] = &row[..] else { panic!("seven fields: {row:?}") };
        assert!(day.starts_with("2026-10-") && (outcome == "good") == bug.is_empty(), "{row:?}");
        let done = report(tree.path()).args(&format!("--map maps/{map}.map --last {TAIL} {path}")).done();
        let entries: Vec<&str> = done.stdout.lines().collect();
        assert!(!entries.is_empty(), "{path} has a history: {}", done.summary());
        if bug.is_empty() {
            continue;
        }
        let bug: &InjectedBug = &BUGS[bug.parse::<usize>().expect("a number") - 1];
        let place = &places[&(build.clone(), bug.number.to_string())];
        let is_place = |entry: &&str| entry.split_whitespace().any(|word| word == place);
        match bug.number {
            // A loop that never ends, a worker thread, and a helper that panics.
            2 | 4 | 7 | 8 => assert!(entries.iter().any(is_place), "{place}: {row:?}"),
            _ => assert!(entries.last().is_some_and(is_place), "{place}: {row:?} {:?}", entries.last()),
        }
    }
}
