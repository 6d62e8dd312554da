//! Real crates with one wrong line each, and where `xhist-report suspects` ranks that line.
//!
//! The table `tests/fixtures/faults.tsv` has a crate, a file of it, its text, and the text with the mistake.

use serde_json::Value;

use crate::{Crate, Done, Tree, online_cargo, report, repository};

/// A mistake in one line of a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The crate.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The file.
    pub file: String,
    /// The text that is right, once in the file.
    pub old: String,
    /// The text with the mistake.
    pub new: String,
    /// What kind of mistake it is.
    pub what: String,
    /// The set that it belongs to: the weights of `suspects` were chosen on `tuned`, and not on `held out`.
    pub set: String,
}

/// Where the wrong line is among the suspects.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Its number.
    pub line: usize,
    /// Its number, and that of the first line of its statement.
    pub lines: Vec<usize>,
    /// Failed and passed tests.
    pub tests: (u64, u64),
    /// The rank of the suspect with it; `None` if it is not there.
    pub rank: Option<u64>,
    /// The rank of its function.
    pub function: Option<u64>,
    /// Whether the output of `cargo xhist test` names it among the suspects.
    pub is_named: bool,
    /// Whether the first screen of `xhist-report diff RUN::TEST` names it, for the first failed test.
    pub is_in_diff: bool,
    /// What `cargo xhist test` printed.
    pub done: Done,
}

/// Lines of a screen.
const SCREEN: usize = 40;

/// The name of the newest run of a project.
fn newest_run(tree: &Tree) -> String {
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
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            // Behind the last range there is a column of text.
            let last = last.split(' ').next().unwrap_or_default();
            Some(first.trim().split(' ').next()?.parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?)
        })
    });
    ranges.any(|range| range.contains(&line))
}

impl Fault {
    /// Every row of the table.
    pub fn list() -> Vec<Fault> {
        let table = repository().join("tests/fixtures/faults.tsv");
        let table = std::fs::read_to_string(table).expect("the table of faults");
        let rows = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        rows.map(Fault::row).collect()
    }

    fn row(row: &str) -> Fault {
        let fields: Vec<String> = row
            .split('\t')
            .map(|field| field.replace("\\\\", "\0").replace("\\n", "\n").replace('\0', "\\"))
            .collect();
        let [name, version, file, old, new, what, set] = &fields[..] else { panic!("seven fields: {row}") };
        let [name, version, file, old, new, what, set] =
            [name, version, file, old, new, what, set].map(Clone::clone);
        Fault { name, version, file, old, new, what, set }
    }

    /// The crate, unpacked and without a fault.
    pub fn unpack(&self) -> (Crate, Tree) {
        let released = Crate::named(&format!("{}@{}", self.name, self.version));
        let (tree, _) = released.unpack();
        (released, tree)
    }

    /// Puts the mistake into the crate, runs its tests, ranks, and takes the mistake back.
    pub fn examine(&self, released: &Crate, tree: &Tree) -> Verdict {
        let text = tree.read(&self.file);
        let at = text.find(&self.old).unwrap_or_else(|| panic!("{}: no {:?}", self.file, self.old));
        let same = self.old.bytes().zip(self.new.bytes()).take_while(|(old, new)| old == new).count();
        let line = 1 + text[..at + same].matches('\n').count();
        tree.write(&self.file, &text.replacen(&self.old, &self.new, 1));
        let arguments = format!("xhist test --no-fail-fast {}", released.targets);
        let done = online_cargo(tree.path()).args(&arguments).done();
        let suspects = report(tree.path()).args("suspects --format json --limit 1000000").done();
        let suspects = suspects.expect(0);
        let suspects: Value = serde_json::from_str(&suspects.stdout).expect("JSON");
        let mut verdict = self.verdict(line, &suspects, done);
        if let Some(test) = suspects["nearest"][0]["failed"].as_str() {
            let run = newest_run(tree);
            let compared = report(tree.path()).arg("diff").arg(format!("{run}::{test}")).done();
            let screen: Vec<&str> = compared.stdout.lines().take(SCREEN).collect();
            verdict.is_in_diff = verdict.lines.iter().any(|line| names(&screen, &self.file, *line));
        }
        tree.write(&self.file, &text);
        verdict
    }

    fn verdict(&self, line: usize, suspects: &Value, done: Done) -> Verdict {
        let number = |value: &Value| value.as_u64().expect("a number");
        let all = suspects["suspects"].as_array().expect("suspects");
        let of_file = || all.iter().filter(|suspect| suspect["file"] == self.file.as_str());
        // The line of a statement, or one inside a statement over several lines.
        let spans = of_file().flat_map(|suspect| {
            let lines = suspect["lines"].as_array().into_iter().flatten();
            lines.map(move |span| {
                (number(&span["line"]) as usize, number(&span["end_line"]) as usize, suspect)
            })
        });
        let around = spans.filter(|(first, last, _)| (*first..=*last).contains(&line));
        let best = around.min_by_key(|(first, last, _)| last - first);
        let lines = [Some(line), best.map(|(first, ..)| first)].into_iter().flatten().collect();
        let best = best.map(|(.., suspect)| suspect);
        let function = best.and_then(|best| {
            let mut functions = suspects["functions"].as_array()?.iter();
            let is_its = |function: &&Value| {
                function["file"] == best["file"] && function["function"] == best["function"]
            };
            functions.find(is_its).map(|function| number(&function["rank"]))
        });
        let place = format!("{}:{line} ", self.file);
        let printed = done.stderr.find("\nsuspects of ").map_or("", |at| &done.stderr[at..]);
        Verdict {
            line,
            lines,
            is_in_diff: false,
            tests: (number(&suspects["tests"]["failed"]), number(&suspects["tests"]["passed"])),
            rank: best.map(|best| number(&best["rank"])),
            function,
            is_named: printed.contains(&place),
            done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn lists_of_lines_are_read() {
        let text = ["  src/a.rs:3, 5-9      f", "  both  src/b.rs:12  if 7 {  g"];
        let named = |file: &str| (1..20).filter(|line| names(&text, file, *line)).collect::<Vec<_>>();
        assert_eq!(named("src/a.rs"), [3, 5, 6, 7, 8, 9]);
        assert_eq!(named("src/b.rs"), [12]);
        assert!(named("src/c.rs").is_empty());
    }
}
