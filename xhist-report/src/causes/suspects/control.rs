//! Which statement decides whether another one runs: the one in front of it in the same block, or the one around it.

use std::collections::HashMap;

use xhist_history::model::FileCode;

/// A place: line and column.
pub type Place = (u32, u32);

/// A site: its place, the site around it, and its function.
pub type SiteInText = (Place, Option<u32>, u32);

/// A branch of an `if` or a `match`. What lies between its end and `past` does not run after it.
#[derive(Clone, Copy, Debug)]
struct Branch {
    end: Place,
    past: Place,
    /// The branch around it, in the same file.
    outer: Option<u32>,
}

impl Branch {
    fn excludes(&self, place: Place) -> bool {
        self.end <= place && place < self.past
    }
}

/// The branches of a program, and the innermost one around each site.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    branches: Vec<Branch>,
    /// For each site its innermost branch; empty if no branch is known.
    around: Vec<Option<u32>>,
}

impl Branches {
    /// Adds the branches of a file and finds those around its sites, which are at these places. They are behind those of other
    /// files.
    pub fn add(&mut self, code: Option<&FileCode>, first: usize, places: &[Place]) {
        let mut spans = code.map_or(Vec::new(), |code| code.branches.clone());
        spans.sort_by_key(|(span, _)| (span.line, span.col));
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|site| places[*site]);
        self.around.resize(first + places.len(), None);
        let mut spans = spans.into_iter().peekable();
        let mut open: Vec<u32> = Vec::new();
        for site in order {
            let at = places[site];
            while let Some((span, past)) = spans.next_if(|(span, _)| (span.line, span.col) <= at) {
                self.close(&mut open, (span.line, span.col));
                let end = (span.end_line, span.end_col);
                self.branches.push(Branch { end, past, outer: open.last().copied() });
                open.push(self.branches.len() as u32 - 1);
            }
            self.close(&mut open, at);
            self.around[first + site] = open.last().copied();
        }
    }

    fn close(&self, open: &mut Vec<u32>, at: Place) {
        while open.last().is_some_and(|top| self.branches[*top as usize].end <= at) {
            open.pop();
        }
    }

    /// The branches around a site, the innermost first.
    fn of(&self, site: u32) -> impl Iterator<Item = u32> + '_ {
        let innermost = self.around.get(site as usize).copied().flatten();
        std::iter::successors(innermost, |branch| self.branches[*branch as usize].outer)
    }

    /// For each site the nearest one in front of it, inside the same statement of the same function, that may run before it:
    /// not what is in another branch of an `if` or a `match`.
    pub fn in_front(&self, sites: impl Iterator<Item = SiteInText>) -> Vec<Option<u32>> {
        let mut in_front: Vec<Option<u32>> = Vec::new();
        let mut last: HashMap<(Option<u32>, u32), u32> = HashMap::new();
        let mut first: HashMap<(u32, Option<u32>, u32), u32> = HashMap::new();
        for (index, (place, parent, function)) in (0..).zip(sites) {
            let mut before = last.insert((parent, function), index);
            let excluding = |before: u32| {
                let excludes = |branch: &u32| self.branches[*branch as usize].excludes(place);
                self.of(before).filter(excludes).last()
            };
            while let Some(branch) = before.and_then(excluding) {
                let begin = first.get(&(branch, parent, function));
                before = begin.and_then(|begin| in_front[*begin as usize]);
            }
            in_front.push(before);
            for branch in self.of(index) {
                first.entry((branch, parent, function)).or_insert(index);
            }
        }
        in_front
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::ProgramSites;
    use xhist_history::model::Names;

    /// 1 match { A => { 2; 3 } B => 4, _ => { 5 } } 6 if { 7 } else if 8 { 9; 10 } else { 11 } 12
    const MAP: &str = r#"{"xhist":"map","version":3,"hash":"00000000000000ff","root":"/p","tool":"0"}
{"file":1,"path":"src/a.rs","base":0,"first":1,"room":99}
{"branch":1,"at":"1:20","end":"3:12","past":"5:20"}
{"branch":1,"at":"4:10","end":"4:12","past":"5:20"}
{"branch":1,"at":"6:10","end":"8:2","past":"11:20"}
{"branch":1,"at":"8:15","end":"10:12","past":"11:20"}
{"stmt":1,"line":1,"col":5,"end":"5:20","kind":"expr","fn":"f"}
{"stmt":1,"line":2,"col":9,"end":"2:10","kind":"expr","fn":"f"}
{"stmt":1,"line":3,"col":9,"end":"3:10","kind":"expr","fn":"f"}
{"stmt":1,"line":4,"col":10,"end":"4:12","kind":"arm","fn":"f"}
{"stmt":1,"line":5,"col":9,"end":"5:10","kind":"expr","fn":"f"}
{"stmt":1,"line":6,"col":5,"end":"11:20","kind":"expr","fn":"f"}
{"stmt":1,"line":7,"col":9,"end":"7:10","kind":"expr","fn":"f"}
{"stmt":1,"line":8,"col":9,"end":"8:14","kind":"test","fn":"f"}
{"stmt":1,"line":9,"col":9,"end":"9:10","kind":"expr","fn":"f"}
{"stmt":1,"line":10,"col":9,"end":"10:10","kind":"expr","fn":"f"}
{"stmt":1,"line":11,"col":9,"end":"11:10","kind":"expr","fn":"f"}
{"stmt":1,"line":12,"col":5,"end":"12:10","kind":"expr","fn":"f"}
"#;

    #[test]
    fn what_is_in_another_branch_is_not_in_front() {
        let program = ProgramSites::of(&Names::parse(MAP.as_bytes()));
        let lines = program.in_front().into_iter().map(|before| before.map(|site| site + 1));
        let expected = [
            None,    // match
            None,    // the first of an arm
            Some(2), // behind it in the arm
            None,    // another arm
            None,    // the last arm
            Some(1), // if
            None,    // then
            None,    // the test of else if
            Some(8), // what it decides
            Some(9), // behind that
            Some(8), // else
            Some(6), // behind the if
        ];
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }
}
