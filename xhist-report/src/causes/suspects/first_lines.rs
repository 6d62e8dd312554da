//! The most suspicious lines of a run, as they are marked in the listings of its failures.

use xhist_history::model::SuspectLine;

/// The first lines of each way in which tests failed. Ranks count for one way only.
#[derive(Clone, Debug, Default)]
pub struct FirstLines(pub(super) Vec<FailedWay>);

/// Tests that failed in one way.
#[derive(Clone, Debug)]
pub(super) struct FailedWay {
    pub(super) tests: Vec<String>,
    pub(super) lines: Vec<SuspectLine>,
}

impl FirstLines {
    /// Whether no line is known.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|way| way.lines.is_empty())
    }

    /// Those of the way in which this test failed, the first first.
    pub fn of_test(&self, name: &str) -> Vec<SuspectLine> {
        match self.0.as_slice() {
            [only] => only.lines.clone(),
            ways => {
                let of = ways.iter().find(|way| way.tests.iter().any(|test| test == name));
                of.map(|way| way.lines.clone()).unwrap_or_default()
            }
        }
    }

    /// Those of all ways, the first ones first.
    pub fn all(&self) -> Vec<SuspectLine> {
        let mut lines: Vec<_> = self.0.iter().flat_map(|way| way.lines.iter().copied()).collect();
        lines.sort_by_key(|line| line.rank);
        lines
    }

    /// The same lines in a build with another map.
    pub(super) fn in_map(mut self, map_hash: u64) -> FirstLines {
        let lines = self.0.iter_mut().flat_map(|way| &mut way.lines);
        lines.for_each(|line| line.map_hash = map_hash);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(tests: &[&str], lines: &[u32]) -> FailedWay {
        let line = |(line, rank): (&u32, usize)| SuspectLine { map_hash: 7, file: 1, line: *line, rank };
        let lines = lines.iter().zip(1..).map(line).collect();
        FailedWay { tests: tests.iter().map(|name| (*name).to_owned()).collect(), lines }
    }

    fn numbers(lines: &[SuspectLine]) -> Vec<u32> {
        lines.iter().map(|line| line.line).collect()
    }

    #[test]
    fn a_test_has_the_lines_of_the_way_in_which_it_failed() {
        let ways = FirstLines(vec![way(&["one", "two"], &[10, 11]), way(&["three"], &[20, 10])]);
        assert_eq!(numbers(&ways.of_test("two")), [10, 11]);
        assert_eq!(numbers(&ways.of_test("three")), [20, 10]);
        assert!(ways.of_test("four").is_empty(), "its way is not known");
        assert_eq!(numbers(&ways.all()), [10, 20, 11, 10]);
        assert!(ways.in_map(8).all().iter().all(|line| line.map_hash == 8));

        let one = FirstLines(vec![way(&["one"], &[10])]);
        assert_eq!(numbers(&one.of_test("four")), [10], "there is only one way");
        assert!(!one.is_empty() && FirstLines::default().is_empty());
    }
}
