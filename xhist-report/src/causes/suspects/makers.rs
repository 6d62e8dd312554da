//! What made the values that a failed statement names: where each name was bound or changed last, the statements at which the
//! calls ended that returned it, and the same for what is named there. It reads texts, so it is a guess.

use std::collections::{HashMap, HashSet};

use super::history::{FailureHistory, Maker};
use super::maker_text::{Change, FIELD, change, chooses, code_of, is_empty_value, names, only_names};
use super::program::{Function, ProgramSites};

/// Statements that are searched for a name.
const SEARCHED: usize = 1 << 17;
/// Makers that are found at most.
const MOST: usize = 24;
/// Steps from the failure to a maker.
const STEPS: u32 = 6;
/// Searches for names.
const QUESTS: usize = 64;
/// Calls of one statement whose ends are looked for.
const CALLS: usize = 4;
/// Lines of a statement that are read.
const LINES: u32 = 16;

/// A statement whose names are looked for: where it is in the order of the sites, which open call it is in, and how many steps
/// led to it.
struct Quest {
    at: usize,
    /// The place among the open calls; `None` in a call that has returned.
    open: Option<usize>,
    steps: u32,
    names: Vec<String>,
}

/// The sites that made what the failed statement names, the nearest first. `text_of`: the text of a line of a site's file.
pub fn makers(
    (program, in_front): (&ProgramSites, &[Option<u32>]),
    history: &FailureHistory,
    text_of: &mut dyn FnMut(u32, u32) -> Option<String>,
) -> Vec<Maker> {
    let line = |site: u32| program.sites[site as usize].line;
    let Some(first) = history.open.first().copied().filter(|_| history.has_panic) else { return Vec::new() };
    let Some(at) = history.order.iter().rposition(|site| *site == first) else { return Vec::new() };
    // A check follows the value that it checks, in lines before it.
    let failed = history.panic_line.filter(|_| history.panic_site == Some(first) && !history.is_check);
    let failed = failed.filter(|failed| *failed != line(first)).and_then(|failed| text_of(first, failed));
    let mut texts = Texts { program, in_front, text_of, known: HashMap::new(), changes: HashMap::new() };
    let text = failed.unwrap_or_else(|| texts.of(first).to_owned());
    let mut search = MakerSearch {
        program,
        history,
        types: types(program),
        skipped: skipped(program, history),
        found: Vec::new(),
        quests: Vec::new(),
    };
    search.quests.push(Quest { at, open: Some(0), steps: 0, names: names(&text) });
    if history.is_check && at + 1 < history.order.len() {
        search.returned((at, history.order.len() - 1), 0, &mut texts);
    }
    let mut next = 0;
    while next < search.quests.len().min(QUESTS) && search.found.len() < MOST {
        let quest = &mut search.quests[next];
        let quest = Quest { names: std::mem::take(&mut quest.names), ..*quest };
        search.follow(&quest, &mut texts);
        next += 1;
    }
    search.found.sort_by_key(|maker| maker.steps);
    search.found
}

/// Texts of statements.
struct Texts<'t> {
    program: &'t ProgramSites,
    /// For each site the one in front of it in the same block.
    in_front: &'t [Option<u32>],
    text_of: &'t mut dyn FnMut(u32, u32) -> Option<String>,
    known: HashMap<u32, String>,
    changes: HashMap<u32, Option<Change>>,
}

impl Texts<'_> {
    /// The lines of a statement without comments, up to the first statement inside it. Empty if they are not known.
    fn of(&mut self, site: u32) -> &str {
        self.known.entry(site).or_insert_with(|| {
            let of = &self.program.sites[site as usize];
            let is_own = |line: &u32| *line == of.line || self.program.at(of.file, *line).is_none();
            let lines = (of.line..=of.end_line.max(of.line)).take_while(is_own).take(LINES as usize);
            let texts: Vec<String> = lines.map_while(|line| (self.text_of)(site, line)).collect();
            let codes: Vec<&str> = texts.iter().map(|text| code_of(text)).collect();
            codes.join(" ")
        })
    }

    /// What a statement makes.
    fn change(&mut self, site: u32) -> Option<&Change> {
        if !self.changes.contains_key(&site) {
            let change = change(self.of(site));
            self.changes.insert(site, change);
        }
        self.changes[&site].as_ref()
    }
}

/// A search for makers.
struct MakerSearch<'s> {
    program: &'s ProgramSites,
    history: &'s FailureHistory,
    /// For each function a number of the type that it is a method of.
    types: Vec<u32>,
    /// For each condition that ran, the statements directly inside it that did not.
    skipped: HashMap<u32, Vec<u32>>,
    found: Vec<Maker>,
    quests: Vec<Quest>,
}

impl MakerSearch<'_> {
    fn function(&self, at: usize) -> u32 {
        self.program.sites[self.history.order[at] as usize].function
    }

    fn depth(&self, at: usize) -> u32 {
        self.history.depths.get(at).copied().unwrap_or_default()
    }

    /// A statement made what is looked for.
    fn add(&mut self, at: usize, steps: u32) {
        let site = self.history.order[at];
        if self.found.len() < MOST && self.found.iter().all(|known| known.site != site) {
            self.found.push(Maker { site, steps });
        }
    }

    /// Looks for names at one place.
    fn ask(&mut self, quest: Quest) {
        let order = &self.history.order;
        let is_known = |known: &Quest| order[known.at] == order[quest.at] && known.steps <= quest.steps;
        if quest.steps <= STEPS && !self.quests.iter().any(is_known) {
            self.quests.push(quest);
        }
    }

    /// Looks for what made the names of one statement, back to the beginning of its call.
    fn follow(&mut self, quest: &Quest, texts: &mut Texts<'_>) {
        let Quest { at, open, steps, ref names } = *quest;
        let mut missing: HashSet<&str> = names.iter().map(String::as_str).collect();
        let of = self.function(at);
        let names_fields = names.iter().any(|name| name.starts_with(FIELD));
        // Changes of what may turn out to borrow a missing value.
        let mut others: Vec<(usize, Option<usize>, Change)> = Vec::new();
        // The newest statement of the calls that were passed.
        let mut inner = None;
        for index in (at.saturating_sub(SEARCHED)..at).rev() {
            if missing.is_empty() || self.found.len() >= MOST {
                return;
            }
            if self.function(index) != of {
                inner.get_or_insert(index);
                if names_fields && self.types[self.function(index) as usize] == self.types[of as usize] {
                    self.made_field((index, steps), &mut missing, texts);
                }
                continue;
            }
            let returned = inner.take();
            self.skipped(index, (open, steps), &missing, texts);
            let Some(change) = texts.change(self.history.order[index]) else { continue };
            let names_missing = |names: &[String]| names.iter().any(|name| missing.contains(name.as_str()));
            let (is_made, is_lent) =
                (names_missing(&change.changed), change.lends && names_missing(&change.made_of));
            if !is_made && !is_lent && others.len() >= MOST {
                continue;
            }
            let change = change.clone();
            if is_lent {
                let is_through = |(.., other): &mut (usize, Option<usize>, Change)| {
                    other.changed.iter().any(|name| change.bound.contains(name))
                };
                let through: Vec<_> = others.extract_if(.., is_through).collect();
                through.into_iter().for_each(|other| self.made(other, (open, steps), texts));
            }
            if is_made {
                missing.retain(|name| !change.bound.iter().any(|bound| bound == name));
                self.made((index, returned, change), (open, steps), texts);
            } else {
                others.push((index, returned, change));
            }
        }
        // What no statement of the function binds is a parameter, as a rule.
        let caller = open.and_then(|open| Some((open + 1, *self.history.open.get(open + 1)?)));
        let has_parameter = missing.iter().any(|name| !name.starts_with(FIELD));
        if let Some((open, caller)) = caller.filter(|_| has_parameter)
            && let Some(at) = self.history.order[..at].iter().rposition(|site| *site == caller)
        {
            let names = self::names(texts.of(caller));
            self.ask(Quest { at, open: Some(open), steps: steps + 1, names });
        }
    }

    /// A condition that kept a statement from changing a missing value made that value, too.
    fn skipped(
        &mut self,
        at: usize,
        (open, steps): (Option<usize>, u32),
        missing: &HashSet<&str>,
        texts: &mut Texts<'_>,
    ) {
        let site = self.history.order[at];
        let Some(inside) = self.skipped.get(&site) else { return };
        let changes = |site: &u32, texts: &mut Texts<'_>| {
            let change = texts.change(*site);
            change.is_some_and(|change| change.changed.iter().any(|name| missing.contains(name.as_str())))
        };
        if inside.iter().any(|site| changes(site, texts)) && chooses(texts.of(site)) {
            self.add(at, steps);
            let names = names(texts.of(site));
            self.ask(Quest { at, open, steps: steps + 1, names });
        }
    }

    /// A method of the same type may have made a field that is missing.
    fn made_field(&mut self, (at, steps): (usize, u32), missing: &mut HashSet<&str>, texts: &mut Texts<'_>) {
        let Some(change) = texts.change(self.history.order[at]) else { return };
        let is_made = |name: &String| name.starts_with(FIELD) && missing.contains(name.as_str());
        if change.changed.iter().any(is_made) {
            let change = change.clone();
            missing.retain(|name| !change.bound.iter().any(|bound| bound == name));
            self.made((at, None, change), (None, steps), texts);
        }
    }

    /// A statement made a missing value, with the calls that it made.
    fn made(
        &mut self,
        (at, returned, change): (usize, Option<usize>, Change),
        (open, steps): (Option<usize>, u32),
        texts: &mut Texts<'_>,
    ) {
        if !is_empty_value(texts.of(self.history.order[at])) {
            self.add(at, steps);
        }
        if let Some(last) = returned {
            self.returned((at, last), steps + 1, texts);
        }
        self.ask(Quest { at, open, steps: steps + 1, names: change.made_of });
        self.chose(at, (open, steps + 1), texts);
    }

    /// Looks for the condition that chose this statement, and for what that was made of.
    fn chose(&mut self, at: usize, (open, steps): (Option<usize>, u32), texts: &mut Texts<'_>) {
        let site = self.history.order[at];
        let is_else_if = |site: &u32, texts: &mut Texts<'_>| texts.of(*site).starts_with("} else if ");
        let mut in_front = texts.in_front[site as usize];
        while let Some(before) = in_front.filter(|before| !is_else_if(before, texts)) {
            in_front = texts.in_front[before as usize];
        }
        let around = self.program.sites[site as usize].parent.filter(|around| chooses(texts.of(*around)));
        let Some(condition) = in_front.or(around).filter(|_| steps <= STEPS) else { return };
        // Each is followed once, so the search ends soon.
        if self.found.len() >= MOST || self.found.iter().any(|known| known.site == condition) {
            return;
        }
        let Some(index) = self.history.order[..at].iter().rposition(|known| *known == condition) else {
            return;
        };
        self.add(index, steps);
        let names = names(texts.of(condition));
        // What the condition called ended before the first statement that it chose.
        let (of, depth) = (self.function(index), self.depth(index));
        let is_inside = |at: &usize| self.depth(*at) > depth || self.function(*at) != of;
        let last = (index + 1..at).take_while(is_inside).last();
        if let Some(last) = last {
            self.returned((index, last), steps + 1, texts);
        }
        self.ask(Quest { at: index, open, steps: steps + 1, names });
    }

    /// The statement at `caller` made calls, of which `last` is the newest statement. Each of them ended at a statement that made
    /// the value, or that called what made it.
    fn returned(&mut self, (caller, last): (usize, usize), steps: u32, texts: &mut Texts<'_>) {
        let inside = self.depth(caller) + 1;
        let mut calls: Vec<usize> = Vec::new();
        for index in caller + 1..=last {
            let is_other = |begin: &usize| self.function(*begin) != self.function(index);
            if self.depth(index) <= inside && calls.last().is_none_or(is_other) {
                calls.push(index);
            }
        }
        // Without a call at that depth it is not known where they begin.
        match calls.first_mut() {
            Some(begin) => *begin = caller + 1,
            None => calls.push(caller + 1),
        }
        let ends = calls.iter().skip(1).map(|begin| begin - 1).chain([last]);
        let calls: Vec<_> = calls.iter().copied().zip(ends).collect();
        let is_drop = |call: &(usize, usize)| self.program.is_of_drop(self.history.order[call.0]);
        let made: Vec<_> = calls.into_iter().rev().filter(|call| !is_drop(call)).take(CALLS).collect();
        for call in made {
            self.end_of(call, steps, texts);
        }
    }

    /// Where a call of these statements ended, and the calls in it that ended there with it: the outermost first.
    fn end_of(&mut self, (begin, last): (usize, usize), mut steps: u32, texts: &mut Texts<'_>) {
        let mut depth = u32::MAX;
        let mut way: Vec<usize> = Vec::new();
        for index in (begin..=last).rev() {
            if self.depth(index) < depth {
                depth = self.depth(index);
                way.push(index);
            }
        }
        for at in way.into_iter().rev() {
            if steps > STEPS {
                return;
            }
            let text = texts.of(self.history.order[at]);
            let names = names(text);
            // What only passes a value on has made nothing.
            if !only_names(text) {
                self.add(at, steps);
                steps += 1;
            }
            self.ask(Quest { at, open: None, steps, names });
            self.chose(at, (None, steps), texts);
        }
    }
}

/// For each function a number of the type that it is a method of, or of its module.
fn types(program: &ProgramSites) -> Vec<u32> {
    let mut known: HashMap<(u16, &str), u32> = HashMap::new();
    let mut types = Vec::new();
    for Function { file, path } in &program.functions {
        let next = known.len() as u32;
        let of = path.rsplit_once("::").map_or("", |(of, _)| of);
        types.push(*known.entry((*file, of)).or_insert(next));
    }
    types
}

/// For each site that ran, the sites directly inside its statement that did not.
fn skipped(program: &ProgramSites, history: &FailureHistory) -> HashMap<u32, Vec<u32>> {
    let ran = history.ran();
    let mut skipped: HashMap<u32, Vec<u32>> = HashMap::new();
    for (index, site) in (0..).zip(&program.sites) {
        if let Some(around) = site.parent.filter(|around| ran.contains(*around) && !ran.contains(index)) {
            skipped.entry(around).or_default().push(index);
        }
    }
    skipped
}

#[cfg(test)]
mod tests {
    use super::*;
    use xhist_history::model::Names;

    const MAP: &str = r#"{"xhist":"map","version":3,"hash":"00000000000000ff","root":"/p","tool":"0"}
{"file":1,"path":"src/a.rs","base":0,"first":1,"room":9}
{"fn":1,"path":"f","at":"1:1","end":"3:2"}
{"fn":1,"path":"g","at":"5:1","end":"7:2"}
{"fn":1,"path":"main","at":"8:1","end":"12:2"}
{"stmt":1,"line":1,"col":5,"end":"1:6","kind":"let","fn":"f"}
{"stmt":1,"line":2,"col":5,"end":"2:6","kind":"expr","fn":"f"}
{"stmt":1,"line":5,"col":5,"end":"5:6","kind":"let","fn":"g"}
{"stmt":1,"line":6,"col":5,"end":"6:6","kind":"expr","fn":"g"}
{"stmt":1,"line":8,"col":5,"end":"8:6","kind":"let","fn":"main"}
{"stmt":1,"line":9,"col":5,"end":"9:6","kind":"expr","fn":"main"}
{"stmt":1,"line":10,"col":5,"end":"10:6","kind":"expr","fn":"main"}
{"stmt":1,"line":11,"col":5,"end":"11:6","kind":"expr","fn":"main"}
"#;

    /// The makers of a history by the texts of the sites: each site with its steps.
    fn found(texts: [&str; 8], history: FailureHistory) -> Vec<(u32, u32)> {
        let program = ProgramSites::of(&Names::parse(MAP.as_bytes()));
        let history = FailureHistory { has_panic: true, ..history };
        let text = &mut |site: u32, _| Some(texts[site as usize].to_owned());
        let makers = makers((&program, &program.in_front()), &history, text);
        makers.into_iter().map(|maker| (maker.site, maker.steps)).collect()
    }

    #[test]
    fn values_are_followed_over_bindings_returns_and_parameters() {
        let (f, g) = (["let tag = g(text);", "tag[2..end]"], ["let (tag, rest) = text.split();", "tag"]);
        let texts = [f[0], f[1], g[0], g[1], "let end = 7;", "f(text, end)", "", ""];
        let history = || FailureHistory {
            order: vec![4, 5, 0, 2, 3, 1],
            open: vec![1, 5],
            panic_site: Some(1),
            panic_line: Some(2),
            ..FailureHistory::default()
        };
        let expected = [(0, 0), (2, 1), (4, 1)];
        assert_eq!(found(texts, history()), expected, "tag, what made it, and the parameter end");
        assert!(found([""; 8], history()).is_empty(), "no texts");
        let program = ProgramSites::of(&Names::parse(MAP.as_bytes()));
        let none = makers((&program, &program.in_front()), &history(), &mut |_, _| Some("a".to_owned()));
        assert!(none.is_empty(), "nothing failed");
    }

    #[test]
    fn each_call_of_a_statement_is_followed_to_where_it_ended() {
        let (f, g) = (["let y = z + 1;", "y"], ["let z = 2;", "z * 3"]);
        let texts = [f[0], f[1], g[0], g[1], "let x = f(g(7));", "assert_eq!(x, 1);", "", ""];
        let history = FailureHistory {
            order: vec![4, 2, 3, 0, 1, 5],
            depths: vec![0, 1, 1, 1, 1, 0],
            open: vec![5],
            is_check: true,
            ..FailureHistory::default()
        };
        assert_eq!(found(texts, history), [(4, 0), (3, 1), (0, 1), (2, 2)], "to return a name is no step");
    }

    #[test]
    fn what_the_check_called_is_followed() {
        let texts = ["let y = 1;", "y + 2", "", "", "", "assert_eq!(f(), 1);", "", ""];
        let history = |is_check| FailureHistory {
            order: vec![5, 0, 1],
            depths: vec![0, 1, 1],
            open: vec![5],
            is_check,
            ..FailureHistory::default()
        };
        assert_eq!(found(texts, history(true)), [(1, 0), (0, 1)]);
        assert!(found(texts, history(false)).is_empty(), "an operation that panicked itself");
    }

    #[test]
    fn what_changes_a_value_through_a_name_that_borrows_it_makes_it() {
        let main = [
            "let key = f(1);",
            "let table = doc.as_table_mut();",
            "table.insert(key);",
            "assert_eq!(doc.len(), 2);",
        ];
        let texts = ["let n = 3;", "n + 2", "", "", main[0], main[1], main[2], main[3]];
        let history = FailureHistory {
            order: vec![4, 0, 1, 5, 6, 7],
            depths: vec![0, 1, 1, 0, 0, 0],
            open: vec![7],
            is_check: true,
            ..FailureHistory::default()
        };
        assert_eq!(found(texts, history), [(6, 0), (5, 1), (4, 1), (1, 2), (0, 3)]);
    }

    #[test]
    fn a_field_was_made_by_the_newest_method_that_wrote_it() {
        // `f` and `g` are methods of one type, or functions of one module.
        let texts = [
            "self.next = key + 1;",
            "",
            "let key = self.next;",
            "key",
            "",
            "",
            "f(1);",
            "assert_eq!(a.g(), 1);",
        ];
        let history = || FailureHistory {
            order: vec![6, 0, 7, 2, 3],
            depths: vec![0, 1, 0, 1, 1],
            open: vec![7],
            is_check: true,
            ..FailureHistory::default()
        };
        assert_eq!(found(texts, history()), [(2, 0), (0, 1)]);
        let other = texts.map(|text| text.replace("self.next = ", "self.last = "));
        assert_eq!(found(other.each_ref().map(String::as_str), history()), [(2, 0)], "another field");
    }

    #[test]
    fn the_condition_that_chose_what_made_a_value_made_it() {
        let map = MAP.replace(r#""line":5,"col":5,"end":"5:6""#, r#""line":5,"col":5,"end":"6:7""#);
        let program = ProgramSites::of(&Names::parse(map.as_bytes()));
        let found = |condition: &str| {
            let texts =
                ["let limit = 7;", "limit", condition, "Kind::Short", "", "", "", "assert_eq!(g(), 1);"];
            let history = FailureHistory {
                order: vec![7, 2, 0, 1, 3],
                depths: vec![0, 1, 2, 2, 1],
                open: vec![7],
                is_check: true,
                has_panic: true,
                ..FailureHistory::default()
            };
            let text = &mut |site: u32, _| Some(texts[site as usize].to_owned());
            let makers = makers((&program, &program.in_front()), &history, text);
            makers.into_iter().map(|maker| (maker.site, maker.steps)).collect::<Vec<_>>()
        };
        assert_eq!(found("if len < f() {"), [(3, 0), (2, 1), (0, 2)], "with what it called");
        assert_eq!(found("for part in f() {"), [(3, 0)], "no choice");
    }

    #[test]
    fn a_condition_that_kept_a_statement_from_changing_a_value_made_it() {
        let map = MAP.replace(r#""line":1,"col":5,"end":"1:6""#, r#""line":1,"col":5,"end":"2:7""#);
        let mut program = ProgramSites::of(&Names::parse(map.as_bytes()));
        // All of them are in `main`.
        let main = program.sites[4].function;
        program.sites[..2].iter_mut().for_each(|site| site.function = main);
        let found = |inside: &str, order: &[u32]| {
            let texts = ["if !all {", inside, "", "", "let out = g();", "", "", "assert_eq!(out, 1);"];
            let history = FailureHistory {
                order: order.to_vec(),
                depths: vec![0; order.len()],
                open: vec![7],
                is_check: true,
                has_panic: true,
                ..FailureHistory::default()
            };
            let text = &mut |site: u32, _| Some(texts[site as usize].to_owned());
            let makers = makers((&program, &program.in_front()), &history, text);
            makers.into_iter().map(|maker| (maker.site, maker.steps)).collect::<Vec<_>>()
        };
        assert_eq!(found("out.push(c);", &[4, 0, 7]), [(0, 0), (4, 0)]);
        assert_eq!(found("log.push(c);", &[4, 0, 7]), [(4, 0)], "it changes something else");
        assert_eq!(found("out.push(c);", &[4, 0, 1, 7]), [(1, 0), (4, 0), (0, 1)], "it ran");
    }

    #[test]
    fn what_makes_an_empty_value_makes_nothing() {
        let texts =
            ["let mut out = String::new();", "out.push(c);", "", "", "", "assert_eq!(f(), \"\");", "", ""];
        let history = FailureHistory {
            order: vec![5, 0, 1],
            depths: vec![0, 1, 1],
            open: vec![5],
            is_check: true,
            ..FailureHistory::default()
        };
        assert_eq!(found(texts, history), [(1, 0)]);
    }
}
