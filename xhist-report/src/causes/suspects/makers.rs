//! What made the values that a failed statement names: where each name was bound or changed last, the statements at which the
//! calls ended that returned it, and the same for what is named there. It reads texts, so it is a guess.

use std::collections::{HashMap, HashSet};

use super::history::{FailureHistory, Maker};
use super::program::ProgramSites;
use super::text_weight::code_of;

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

/// Words of the language that name no value.
const KEYWORDS: [&str; 22] = [
    "as", "break", "else", "false", "for", "if", "in", "let", "loop", "match", "move", "mut", "ref",
    "return", "self", "true", "unsafe", "while", "usize", "await", "dyn", "impl",
];

/// Statements that begin so bind names.
const BINDINGS: [&str; 4] = ["let ", "if let ", "while let ", "} else if let "];

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
    program: &ProgramSites,
    history: &FailureHistory,
    text_of: &mut dyn FnMut(u32, u32) -> Option<String>,
) -> Vec<Maker> {
    let line = |site: u32| program.sites[site as usize].line;
    let Some(first) = history.open.first().copied().filter(|_| history.has_panic) else { return Vec::new() };
    let Some(at) = history.order.iter().rposition(|site| *site == first) else { return Vec::new() };
    // A check follows the value that it checks, in lines before it.
    let failed = history.panic_line.filter(|_| history.panic_site == Some(first) && !history.is_check);
    let failed = failed.filter(|failed| *failed != line(first)).and_then(|failed| text_of(first, failed));
    let mut texts = Texts { program, text_of, known: HashMap::new(), changes: HashMap::new() };
    let text = failed.unwrap_or_else(|| texts.of(first).to_owned());
    let mut search = MakerSearch { program, history, found: Vec::new(), quests: Vec::new() };
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
                continue;
            }
            let returned = inner.take();
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
        if let Some((open, caller)) = caller.filter(|_| !missing.is_empty())
            && let Some(at) = self.history.order[..at].iter().rposition(|site| *site == caller)
        {
            let names = self::names(texts.of(caller));
            self.ask(Quest { at, open: Some(open), steps: steps + 1, names });
        }
    }

    /// A statement made a missing value, with the calls that it made.
    fn made(
        &mut self,
        (at, returned, change): (usize, Option<usize>, Change),
        (open, steps): (Option<usize>, u32),
        texts: &mut Texts<'_>,
    ) {
        self.add(at, steps);
        if let Some(last) = returned {
            self.returned((at, last), steps + 1, texts);
        }
        self.ask(Quest { at, open, steps: steps + 1, names: change.made_of });
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
        }
    }
}

/// What a statement makes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    /// The names of what it binds or changes.
    changed: Vec<String>,
    /// Those that it binds: what they were before says nothing.
    bound: Vec<String>,
    /// It lends something that may be changed.
    lends: bool,
    /// The names that it makes them of.
    made_of: Vec<String>,
}

/// What a statement binds or changes: a variable, a field, an element, the receiver of a call whose result is dropped, or what it
/// lends by `&mut`.
fn change(text: &str) -> Option<Change> {
    let code = text.trim();
    let lent = code.match_indices("&mut ").filter_map(|(at, lends)| words(&code[at + lends.len()..]).next());
    let mut changed: Vec<String> = lent.filter(is_value).map(|(word, ..)| word.to_owned()).collect();
    if let Some((bound, made_of)) = binding(code) {
        changed.extend(bound.iter().cloned());
        let bound = if binds_all(code) { bound } else { Vec::new() };
        let lends = code.contains("&mut ") || code.contains("_mut(");
        return Some(Change { changed, bound, lends, made_of });
    }
    let arguments = ["write!(", "writeln!("].iter().find_map(|name| code.strip_prefix(name));
    let is_receiver = |(_, before, behind): &(&str, &str, &str)| before.is_empty() && behind.starts_with('.');
    let receiver = match arguments {
        Some(arguments) => words(arguments).next(),
        None => words(code).next().filter(is_receiver).filter(|_| code.ends_with(';')),
    };
    changed.extend(receiver.filter(is_value).map(|(word, ..)| word.to_owned()));
    (!changed.is_empty()).then(|| Change { changed, bound: Vec::new(), lends: false, made_of: names(code) })
}

/// Whether a binding makes all of the value: a part of it, and what an operator adds to, were made before.
fn binds_all(code: &str) -> bool {
    let binds = BINDINGS.iter().any(|word| code.starts_with(word)) || code.starts_with("for ");
    let is_part = |left: &str| left.contains(['.', '[']);
    binds || code.split_once(" = ").is_some_and(|(left, _)| !is_part(left))
}

/// The names that a line binds or changes, and those that it makes them of.
fn binding(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let code = code_of(text);
    let is_let = BINDINGS.iter().any(|word| code.starts_with(word));
    let (left, right) = match code.strip_prefix("for ") {
        Some(rest) => rest.split_once(" in ")?,
        None => code.split_once(" = ").or_else(|| {
            let at = ["+= ", "-= ", "*= ", "/= ", "|= ", "&= ", "^= ", "<<= ", ">>= "];
            at.iter().find_map(|operator| code.split_once(operator))
        })?,
    };
    if !is_let && !code.starts_with("for ") && left.contains(['(', ')', '{']) {
        return None;
    }
    // The type of a binding names no value.
    let left = if is_let { left.split(": ").next().unwrap_or(left) } else { left };
    Some((words(left).filter(is_value).map(|(word, ..)| word.to_owned()).collect(), names(right)))
}

/// Whether a statement only passes on a value that has a name: it makes nothing.
pub(super) fn only_names(text: &str) -> bool {
    let code = code_of(text).trim_end_matches([';', ',']);
    let code = code.rsplit(" => ").next().unwrap_or(code);
    let code = code.strip_prefix("return ").unwrap_or(code);
    let inner = code
        .strip_suffix(')')
        .and_then(|code| ["Ok(", "Some(", "Err("].iter().find_map(|wrapper| code.strip_prefix(wrapper)));
    let code = inner.unwrap_or(code).trim();
    !code.is_empty() && code.chars().all(|char| char.is_alphanumeric() || char == '_')
}

/// The names of values in a text: no functions, macros, fields, types and paths.
fn names(text: &str) -> Vec<String> {
    let named = words(code_of(text)).filter(|word| {
        let (_, before, behind) = *word;
        let is_field = before.ends_with('.') && !before.ends_with("..");
        let is_called = before.ends_with("::") || behind.starts_with(['(', '!']) || behind.starts_with("::");
        is_value(word) && !is_field && !is_called
    });
    named.map(|(word, ..)| word.to_owned()).collect()
}

fn is_value((word, ..): &(&str, &str, &str)) -> bool {
    word.starts_with(|char: char| char.is_lowercase() || char == '_')
        && *word != "_"
        && !KEYWORDS.contains(word)
}

/// The words of a text outside of its strings, each with what is before and behind it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let begin = at + text[at..].find(|char: char| is_part(char) || char == '"')?;
            if text[begin..].starts_with('"') {
                at = begin + 1 + text[begin + 1..].find('"')? + 1;
                continue;
            }
            let end = text[begin..].find(|char: char| !is_part(char)).map_or(text.len(), |len| begin + len);
            at = end;
            return Some((&text[begin..end], &text[..begin], &text[end..]));
        }
    })
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
        let makers = makers(&program, &history, &mut |site, _| Some(texts[site as usize].to_owned()));
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
        assert!(makers(&program, &history(), &mut |_, _| Some("a".to_owned())).is_empty(), "nothing failed");
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
    fn changes_are_known_by_their_text() {
        let known = |text: &str| {
            change(text).map(|change| (change.changed.join(" "), change.bound.join(" "), change.lends))
        };
        let of = |changed: &str, bound: &str, lends| Some((changed.to_owned(), bound.to_owned(), lends));
        assert_eq!(known("let table = doc.as_table_mut();"), of("table", "table", true));
        assert_eq!(known("let rest = fill(&mut buf);"), of("buf rest", "rest", true));
        assert_eq!(known("count = 1;"), of("count", "count", false));
        assert_eq!(known("count += step;"), of("count", "", false));
        assert_eq!(known("cookie.expires = Some(time);"), of("cookie expires", "", false), "a part");
        assert_eq!(known("table.insert(&key, 1);"), of("table", "", false));
        assert_eq!(known("write!(out, \"{x}\")?;"), of("out", "", false));
        assert_eq!(known("table.len()"), None, "its value goes on");
    }

    #[test]
    fn what_returns_a_name_makes_nothing() {
        for passes in ["tag", "return Ok(tag);", "Kind::Word(tag) => Some(tag),"] {
            assert!(only_names(passes), "{passes}");
        }
        assert!(!only_names("Kind::Word(tag) => tag + 1,") && !only_names("Ok(f(tag))"));
    }

    #[test]
    fn names_are_those_of_values() {
        assert_eq!(names("let x = a.len() - b[i + 1].c + f(d, \"e f\"); // g"), ["x", "a", "b", "i", "d"]);
        assert_eq!(names("Self::new(Some(at), u::V, m!(x), 1..end)"), ["at", "x", "end"]);
    }

    #[test]
    fn bindings_are_known_by_their_text() {
        let bound = |text: &str| binding(text).map(|(bound, made_of)| (bound.join(" "), made_of.join(" ")));
        let of = |bound: &str, made_of: &str| Some((bound.to_owned(), made_of.to_owned()));
        assert_eq!(bound("let (tag, rest) = self.text.split_at(pos + 1);"), of("tag rest", "pos"));
        assert_eq!(bound("if let Some(pos) = line.find(c) {"), of("pos", "line c"));
        assert_eq!(bound("let mut at: usize = 0;"), of("at", ""));
        assert_eq!(bound("for item in items {"), of("item", "items"));
        assert_eq!(bound("count += step;"), of("count", "step"));
        assert_eq!(bound("f(a == b)"), None);
    }
}
