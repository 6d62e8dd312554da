//! Groups of dumps whose bugs are known.

use std::collections::{HashMap, HashSet};

use super::support::{dumps, number, query, run, table, truth, whole};

/// The bug that never ends.
const LOOP: &str = "4";

/// Pairs of one kind.
fn pairs(number: usize) -> usize {
    number * number.saturating_sub(1) / 2
}

pub fn are_the_bugs() {
    let rows = query(whole(), "SELECT source, outcome, signature, build, file, line FROM rings");
    let by_source: HashMap<String, &serde_json::Value> =
        rows.iter().map(|row| (row["source"].as_str().unwrap().to_owned(), row)).collect();
    let mut kinds: HashMap<(String, String), usize> = HashMap::new();
    let truth = truth();
    let places = table("places.tsv");
    let mut elsewhere = Vec::new();
    for dump in &truth {
        let path = std::path::absolute(dumps().join(&dump["path"])).unwrap();
        let row = by_source
            .get(&path.display().to_string())
            .unwrap_or_else(|| panic!("{} is missing", path.display()));
        assert_eq!(row["outcome"], dump["outcome"], "{}", path.display());
        assert_eq!(row["build"], dump["map"], "{}", path.display());
        let signature = row["signature"].as_str().unwrap_or_default().to_owned();
        assert_eq!(signature.is_empty(), dump["bug"].is_empty(), "{}", path.display());
        if !signature.is_empty() {
            let is_it = |place: &&HashMap<String, String>| {
                place["build"] == dump["build"] && place["bug"] == dump["bug"]
            };
            let place = places.iter().find(is_it).expect("each bug has a place in each build");
            let (file, line) = (row["file"].as_str().unwrap_or_default(), row["line"].to_string());
            // A loop may be stopped in any of its statements.
            let is_loop = dump["bug"] == LOOP && file.ends_with(&place["file"]);
            if !is_loop && (!file.ends_with(&place["file"]) || line != place["line"]) {
                elsewhere.push(format!("{}: {file}:{line}, and not {place:?}", path.display()));
            }
            *kinds.entry((dump["bug"].clone(), signature)).or_default() += 1;
        }
    }
    assert!(elsewhere.is_empty(), "{} of {}: {:#?}", elsewhere.len(), truth.len(), elsewhere.first());
    let sum_by = |key: fn(&(String, String)) -> &String| {
        let mut sums: HashMap<&String, usize> = HashMap::new();
        kinds.iter().for_each(|(kind, number)| *sums.entry(key(kind)).or_default() += number);
        sums.into_values().map(pairs).sum::<usize>()
    };
    let right: usize = kinds.values().copied().map(pairs).sum();
    let (precision, recall) =
        (right as f64 / sum_by(|kind| &kind.1) as f64, right as f64 / sum_by(|kind| &kind.0) as f64);
    let bugs: HashSet<&String> = kinds.keys().map(|(bug, _)| bug).collect();
    println!(
        "{} dumps, {} bugs: precision {precision:.4}, recall {recall:.4} of pairs",
        truth.len(),
        bugs.len()
    );
    assert_eq!((precision, recall), (1.0, 1.0), "{kinds:?}");
    assert_eq!(number(whole(), "SELECT COUNT(*) FROM groups"), bugs.len() as i64);
}

pub fn commands_print_what_is_there() {
    let dir = whole().to_str().unwrap();
    let groups = run(["groups", dir]);
    assert_eq!(groups.code, Some(0), "{}", groups.err);
    assert!(
        groups.out.contains("groups of") && groups.out.contains("newest: xhist-report /"),
        "{}",
        groups.out
    );
    // The command at the end works when typed.
    let next = groups.out.lines().last().unwrap().split_once("xhist-fleet ").unwrap().1;
    let suspects = run(next.split(' '));
    assert_eq!(suspects.code, Some(0), "{}", suspects.err);
    assert!(suspects.out.contains("  1. ") && suspects.out.contains("(ochiai score)"), "{}", suspects.out);
    let builds = query(whole(), "SELECT build FROM builds ORDER BY ordinal");
    let [first, last] = [builds.first(), builds.last()].map(|row| row.unwrap()["build"].as_str().unwrap());
    let diff = run(["diff", dir, first, last]);
    assert_eq!(diff.code, Some(0), "{}", diff.err);
    assert!(["new: ", "gone: ", "in both: "].iter().all(|kind| diff.out.contains(kind)), "{}", diff.out);
    let page = tempfile::tempdir().unwrap();
    let path = page.path().join("fleet.html");
    let overview = run(["overview", dir, "--limit", "3", "--output", path.to_str().unwrap()]);
    assert_eq!(overview.code, Some(0), "{}", overview.err);
    let text = std::fs::read_to_string(path).unwrap();
    let links: Vec<&str> =
        text.split("href=\"").skip(1).map(|link| link.split('"').next().unwrap()).collect();
    assert_eq!(links.len(), 3);
    for link in links {
        let history = std::fs::read_to_string(page.path().join(link)).unwrap();
        assert!(history.contains("<title>"), "{link}");
    }
    // Adding the same again adds nothing.
    let again = run(super::support::add_all(whole()));
    assert!(again.out.starts_with("0 histories added (0 rows)"), "{}", again.out);
}

/// The query of docs/fleet.md makes a table that takes the place of the old one.
pub fn compaction() {
    let dir = tempfile::tempdir().unwrap();
    let compacted = dir.path().join("statements");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/fleet.md");
    let page = std::fs::read_to_string(page).unwrap().replace('\n', " ");
    let begin = page.find("`COPY (SELECT").expect("the query") + 1;
    let documented = &page[begin..begin + page[begin..].find('`').unwrap()];
    let sql = documented.replace("compacted/statements/", &format!("{}/", compacted.display()));
    let copied = run(["query", whole().to_str().unwrap(), &sql]);
    assert_eq!(copied.code, Some(0), "{sql}: {}", copied.err);
    for entry in std::fs::read_dir(whole()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "statements" {
            std::os::unix::fs::symlink(entry.path(), dir.path().join(entry.file_name())).unwrap();
        }
    }
    let count = "SELECT SUM(repetition) FROM statements";
    assert_eq!(number(dir.path(), count), number(whole(), count));
    // A day that is forgotten is gone in every view.
    let builds = std::fs::read_dir(&compacted).unwrap().map(|entry| entry.unwrap().path());
    builds.for_each(|build| std::fs::remove_dir_all(build.join("day=2026-10-03")).unwrap_or_default());
    assert_eq!(number(dir.path(), "SELECT COUNT(*) FROM statements WHERE day = '2026-10-03'"), 0);
    assert!(number(dir.path(), count) < number(whole(), count));
}
