//! What a faulty crate's tests and the suspects of their run are worth: how many lines are read until a faulty one.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::{Value, json};

use crate::faults::{Fault, FaultyLines};
use crate::{Crate, Tree, kept, online_cargo, report};

/// Where the fault is among the suspects.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The first faulty line.
    pub line: usize,
    /// Failed and passed tests.
    pub tests: (u64, u64),
    /// The rank of the first suspect with a faulty line; `None` without one.
    pub rank: Option<u64>,
    /// The rank of its function.
    pub function: Option<u64>,
    /// Lines of the list of suspects up to the first faulty one, which counts.
    pub lines_read: Option<usize>,
    /// The same for Ochiai's score alone and for a random order of the same lines, on average.
    pub by_chance: Option<ByChance>,
    /// Whether the output of `cargo xhist test` names it among the suspects.
    pub is_named: bool,
    /// Whether the first screen of `xhist-report diff RUN::TEST` names it, for the first failed test.
    pub is_in_diff: bool,
    /// The lines that count as faulty: file and number.
    pub faulty: Vec<(String, usize)>,
    /// What `xhist-report suspects --format json` printed.
    pub suspects: Value,
    /// What `cargo xhist test` printed about the failure, behind what cargo itself printed.
    pub answer: String,
}

/// Lines read until a faulty one, on average over the orders of lines with one score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByChance {
    /// Ordered by Ochiai's score alone, without the code of tests.
    pub ochiai: f64,
    /// In any order.
    pub random: f64,
}

/// Lines of a screen.
const SCREEN: usize = 40;

impl Fault {
    /// Puts the fault into the crate, runs its tests, ranks, and takes the fault away. `keep`: the run stays in the tree, and the
    /// tests do not run again.
    pub fn examine(&self, released: &Crate, tree: &Tree, keep: bool) -> Verdict {
        let faulty_crate = self.put_into(tree);
        let places = &faulty_crate.lines;
        let arguments = format!("xhist test --no-fail-fast {}", released.targets);
        let run = || online_cargo(tree.path()).args(&arguments);
        let (_, answer) = kept::split(&kept::printed(tree, keep, run));
        let document =
            report(tree.path()).args("suspects --format json --limit 1000000").done().expect(0).stdout;
        let suspects: Value = serde_json::from_str(&document).expect("JSON");
        let text = report(tree.path()).args("suspects --limit 1").done().expect(0).stdout;
        let faulty =
            faulty_lines(places, &statements(&tree.read("target/xhist/xhist.map")), self.tolerance());
        let is_faulty = |file: &str, line: usize| faulty.iter().any(|(of, at)| of == file && *at == line);
        let lines = lines(&suspects);
        let first = lines.iter().position(|line| is_faulty(line.file, line.line));
        let of_first = first.map(|first| &lines[first]);
        let printed = answer.find("\nsuspects of ").map_or("", |at| &answer[at..]);
        let named = |text: &str| {
            let text: Vec<&str> = text.lines().take(SCREEN).collect();
            faulty.iter().any(|(file, line)| names(&text, file, *line))
        };
        let compared = suspects["nearest"][0]["failed"].as_str().map(|test| {
            let run = newest_run(tree);
            report(tree.path()).arg("diff").arg(format!("{run}::{test}")).done().stdout
        });
        Verdict {
            line: *places[0].lines.start(),
            tests: (number(&suspects["tests"]["failed"]), number(&suspects["tests"]["passed"])),
            rank: of_first.map(|line| number(&line.suspect["rank"])),
            function: of_first.and_then(|line| {
                let mut functions = suspects["functions"].as_array()?.iter();
                let is_its =
                    |of: &&Value| ["file", "function"].iter().all(|key| of[*key] == line.suspect[*key]);
                functions.find(is_its).map(|function| number(&function["rank"]))
            }),
            lines_read: first.map(|first| first + 1),
            by_chance: by_chance(&suspects, left_out(&text), &is_faulty),
            is_named: named(printed),
            is_in_diff: compared.is_some_and(|compared| named(&compared)),
            faulty,
            suspects,
            answer,
        }
    }
}

impl Verdict {
    /// Writes the suspects and the faulty lines to a file of this directory: orders can be compared without the crate.
    pub fn keep(&self, fault: &Fault, directory: &Path) -> std::io::Result<()> {
        let faulty: Vec<Value> =
            self.faulty.iter().map(|(file, line)| json!({ "file": file, "line": line })).collect();
        let document = json!({
            "crate": fault.name, "version": fault.version, "what": fault.what, "set": fault.set,
            "faulty": faulty, "suspects": self.suspects,
        });
        std::fs::create_dir_all(directory)?;
        let file = format!("{}-{}-{}.json", fault.name, fault.version, self.line);
        std::fs::write(directory.join(file), format!("{document:#}\n"))
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// A line of the list of suspects.
struct ReadLine<'a> {
    file: &'a str,
    line: usize,
    suspect: &'a Value,
}

/// The list of suspects, in the order in which it is printed.
fn lines(suspects: &Value) -> Vec<ReadLine<'_>> {
    let all = suspects["suspects"].as_array().expect("suspects").iter();
    let lines = all.map(|suspect| ReadLine {
        file: suspect["file"].as_str().expect("a file"),
        line: number(&suspect["line"]) as usize,
        suspect,
    });
    lines.collect()
}

/// The number of lines that every test ran, from the text of the first cluster.
fn left_out(text: &str) -> usize {
    let line = text.lines().find_map(|line| line.strip_prefix("left out: "));
    line.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0)
}

/// Orders without the history, of the lines that a failed test ran. `left_out` lines are not in the list: every test ran them.
fn by_chance(suspects: &Value, left_out: usize, is_faulty: &dyn Fn(&str, usize) -> bool) -> Option<ByChance> {
    let totals = ["failed", "passed"].map(|key| number(&suspects["tests"][key]) as f64);
    let score = |failed: f64, passed: f64| failed / (totals[0] * (failed + passed)).sqrt();
    // A statement is in each cluster of failed tests that ran it, and a line may have several.
    let mut nth: HashMap<(u64, &str, usize), usize> = HashMap::new();
    let mut counts: BTreeMap<(&str, usize, usize), [f64; 2]> = BTreeMap::new();
    for ReadLine { file, line, suspect } in lines(suspects) {
        if suspect["role"] == "test" {
            continue;
        }
        let nth = nth.entry((suspect["cluster"].as_u64().unwrap_or(0), file, line)).or_default();
        let [failed, passed] = counts.entry((file, line, *nth)).or_default();
        *nth += 1;
        *failed += number(&suspect["failed"]) as f64;
        *passed = number(&suspect["passed"]) as f64;
    }
    let mut scores: Vec<(f64, bool)> = counts
        .into_iter()
        .map(|((file, line, _), [failed, passed])| (score(failed, passed), is_faulty(file, line)))
        .collect();
    scores.extend(std::iter::repeat_n((score(totals[0], totals[1]), false), left_out));
    let faulty = scores.iter().filter(|(_, is)| *is).count();
    let best = scores.iter().filter(|(_, is)| *is).map(|(score, _)| *score).max_by(f64::total_cmp)?;
    // The first of k among n, in any order.
    let first_of = |k: usize, n: usize| (n as f64 + 1.0) / (k as f64 + 1.0);
    let better = scores.iter().filter(|(score, _)| *score > best).count();
    let alike: Vec<bool> = scores.iter().filter(|(score, _)| *score == best).map(|(_, is)| *is).collect();
    let faulty_alike = alike.iter().filter(|is| **is).count();
    let ochiai = better as f64 + first_of(faulty_alike, alike.len());
    Some(ByChance { ochiai, random: first_of(faulty, scores.len()) })
}

/// Statements of a map: the file, the first and the last line.
fn statements(map: &str) -> Vec<(String, usize, usize)> {
    let mut file = String::new();
    let mut statements = Vec::new();
    for line in map.lines() {
        let line: Value = serde_json::from_str(line).expect("a line of the map");
        if line.get("file").is_some() {
            file = line["path"].as_str().expect("a path").to_owned();
        } else if line.get("stmt").is_some() {
            let end = line["end"].as_str().and_then(|end| end.split(':').next()?.parse().ok());
            statements.push((file.clone(), number(&line["line"]) as usize, end.expect("a line")));
        }
    }
    statements
}

/// The lines at which a reader finds a fault: faulty ones, those near them, and the first lines of the statements that the
/// faulty ones lie in.
fn faulty_lines(
    places: &[FaultyLines],
    statements: &[(String, usize, usize)],
    tolerance: usize,
) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for FaultyLines { file, lines } in places {
        let near = lines.start().saturating_sub(tolerance).max(1)..=lines.end() + tolerance;
        found.extend(near.map(|line| (file.clone(), line)));
        for line in lines.clone() {
            // A line behind the last statement of a block lies in none.
            let before = statements.iter().filter(|(of, first, _)| of == file && *first <= line);
            let last = before.max_by_key(|(_, first, _)| *first);
            found.extend(last.filter(|(.., end)| *end >= line).map(|(_, first, _)| (file.clone(), *first)));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The name of the newest run of a project.
pub(crate) fn newest_run(tree: &Tree) -> String {
    let runs = std::fs::read_dir(tree.join("target/xhist/runs")).expect("runs").flatten();
    let newest = runs.map(|run| run.file_name()).max().expect("a run");
    newest.into_string().expect("a name of digits")
}

/// Whether a text has this line of a file: `file:7`, or in a list as `file:3, 5-9`.
fn names(text: &[&str], file: &str, line: usize) -> bool {
    let path = format!("{file}:");
    let lists = text.iter().flat_map(|of| of.split(path.as_str()).skip(1));
    let mut ranges = lists.flat_map(|list| {
        let end = list.find(|mark: char| !(mark.is_ascii_digit() || matches!(mark, ',' | '-' | ' ')));
        list[..end.unwrap_or(list.len())].split(',').map_while(|range| {
            let range = range.trim_start();
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            // Behind the last range there is a column of text.
            let last = last.split(' ').next().unwrap_or_default();
            Some(first.trim().split(' ').next()?.parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?)
        })
    });
    ranges.any(|range| range.contains(&line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_lines_are_read() {
        let text = ["  src/a.rs:3, 5-9, 11, 15      f", "  both  src/b.rs:12  if 7 {  g"];
        let named = |file: &str| (1..20).filter(|line| names(&text, file, *line)).collect::<Vec<_>>();
        assert_eq!(named("src/a.rs"), [3, 5, 6, 7, 8, 9, 11, 15]);
        assert_eq!(named("src/b.rs"), [12]);
        assert!(named("src/c.rs").is_empty());
    }

    /// Two lines that only the failed test ran, one of the test, three that one passed test ran as well; one of these
    /// again, for a failed test of another cluster.
    fn suspects() -> Value {
        let suspect = |cluster: u64, file: &str, role: &str, passed: u64, line: u64| json!({ "cluster": cluster, "file": file, "role": role, "failed": 1, "passed": passed, "line": line });
        json!({
            "tests": { "failed": 2, "passed": 3 },
            "suspects": [
                suspect(1, "src/a.rs", "own", 0, 7),
                suspect(1, "src/a.rs", "own", 0, 5),
                suspect(1, "tests/a.rs", "test", 0, 1),
                suspect(1, "src/b.rs", "own", 1, 5),
                suspect(1, "src/b.rs", "own", 1, 6),
                suspect(1, "src/b.rs", "own", 1, 7),
                suspect(2, "src/b.rs", "own", 1, 7),
            ],
        })
    }

    #[test]
    fn each_printed_line_is_read() {
        let suspects = suspects();
        let read = |file: &str, line: usize| {
            lines(&suspects).iter().position(|read| read.file == file && read.line == line)
        };
        assert_eq!(["src/a.rs", "src/b.rs"].map(|file| read(file, 5)), [Some(1), Some(3)]);
        assert_eq!(read("src/a.rs", 6), None);
    }

    #[test]
    fn lines_alike_are_read_in_any_order() {
        let suspects = suspects();
        let chance = |faulty: &[usize]| {
            by_chance(&suspects, 4, &|file, line| file == "src/b.rs" && faulty.contains(&line))
        };
        // Without the test's line 9 are left: 1 that both failed tests ran, 2 that no passed one ran, 4 that every test
        // ran, 2 alike.
        assert_eq!(chance(&[7]), Some(ByChance { ochiai: 1.0, random: 5.0 }));
        assert_eq!(chance(&[6]), Some(ByChance { ochiai: 8.5, random: 5.0 }));
        assert_eq!(chance(&[5, 6]), Some(ByChance { ochiai: 8.0, random: 10.0 / 3.0 }));
        assert_eq!(chance(&[]), None);
        assert_eq!(left_out("a\nleft out: 12 lines that every test ran\n"), 12);
    }

    #[test]
    fn a_fault_is_found_at_its_statement_and_near_it() {
        let map = "{\"xhist\":\"map\"}\n{\"file\":1,\"path\":\"src/a.rs\"}\n\
            {\"stmt\":1,\"line\":10,\"end\":\"30:6\"}\n{\"stmt\":1,\"line\":12,\"end\":\"18:9\"}\n\
            {\"stmt\":1,\"line\":20,\"end\":\"20:9\"}\n";
        let found = |lines, tolerance| {
            let place = FaultyLines { file: "src/a.rs".into(), lines };
            let found = faulty_lines(&[place], &statements(map), tolerance);
            found.into_iter().map(|(_, line)| line).collect::<Vec<_>>()
        };
        assert_eq!(found(16..=16, 0), [12, 16], "the first line of a statement over several lines");
        assert_eq!(found(24..=24, 2), [22, 23, 24, 25, 26], "no statement behind the last one of a block");
        assert_eq!(found(1..=2, 2), [1, 2, 3, 4]);
    }
}
