//! What made the values that a failed statement names: where each name was bound last, the call that returned it, and the same
//! for what is named there. It reads texts, so it is a guess.

use std::collections::HashSet;

use super::history::FailureHistory;
use super::program::ProgramSites;
use super::text_weight::code_of;

/// Statements that are searched for a name.
const SEARCHED: usize = 4096;
/// Makers that are found at most.
const MOST: usize = 8;
/// Steps from the failure to a maker.
const STEPS: usize = 4;

/// Words of the language that name no value.
const KEYWORDS: [&str; 22] = [
    "as", "break", "else", "false", "for", "if", "in", "let", "loop", "match", "move", "mut", "ref",
    "return", "self", "true", "unsafe", "while", "usize", "await", "dyn", "impl",
];

/// A text whose names are looked for: where it is in the order of the sites, which open call it is in, and how many steps led to it.
struct Quest {
    at: usize,
    /// The place among the open calls; `None` in a call that has returned.
    open: Option<usize>,
    steps: usize,
    names: Vec<String>,
}

/// The sites that made what the failed statement names, the nearest first. `text_of`: the text of a line of a site's file.
pub fn makers(
    program: &ProgramSites,
    history: &FailureHistory,
    text_of: &mut dyn FnMut(u32, u32) -> Option<String>,
) -> Vec<u32> {
    let line = |site: u32| program.sites[site as usize].line;
    let Some(first) = history.open.first().copied().filter(|_| history.has_panic) else { return Vec::new() };
    let failed = history.panic_line.filter(|_| history.panic_site == Some(first)).unwrap_or(line(first));
    let Some(text) = text_of(first, failed) else { return Vec::new() };
    let Some(at) = history.order.iter().rposition(|site| *site == first) else { return Vec::new() };
    let mut quests = vec![Quest { at, open: Some(0), steps: 0, names: names(&text) }];
    let mut found: Vec<u32> = Vec::new();
    let mut next = 0;
    while let Some(quest) = quests.get(next) {
        let Quest { at, open, steps, ref names } = *quest;
        next += 1;
        let mut missing: HashSet<String> = names.iter().cloned().collect();
        let of = program.sites[history.order[at] as usize].function;
        let mut inner = None;
        for index in (at.saturating_sub(SEARCHED)..at).rev() {
            if missing.is_empty() || found.len() >= MOST {
                break;
            }
            let site = history.order[index];
            if program.sites[site as usize].function != of {
                inner.get_or_insert(index);
                continue;
            }
            let returned = inner.take();
            let Some(text) = text_of(site, line(site)) else { continue };
            let Some((bound, made_of)) = binding(&text) else { continue };
            if !bound.iter().any(|name| missing.contains(name)) {
                continue;
            }
            missing.retain(|name| !bound.contains(name));
            found.push(site);
            if steps < STEPS {
                // The last statement of the call that returned the value.
                if let Some(last) = returned {
                    let site = history.order[last];
                    let text = text_of(site, line(site)).unwrap_or_default();
                    if !only_names(&text) {
                        found.push(site);
                    }
                    quests.push(Quest { at: last, open: None, steps: steps + 1, names: self::names(&text) });
                }
                quests.push(Quest { at: index, open, steps: steps + 1, names: made_of });
            }
        }
        // What no statement of the function binds is a parameter, as a rule.
        let caller = open.and_then(|open| Some((open + 1, *history.open.get(open + 1)?)));
        if let Some((open, caller)) = caller.filter(|_| !missing.is_empty() && steps < STEPS)
            && let Some(at) = history.order[..at].iter().rposition(|site| *site == caller)
        {
            let text = text_of(caller, line(caller)).unwrap_or_default();
            quests.push(Quest { at, open: Some(open), steps: steps + 1, names: self::names(&text) });
        }
    }
    let mut seen = HashSet::new();
    found.retain(|site| seen.insert(*site));
    found.truncate(MOST);
    found
}

/// The names that a line binds or changes, and those that it makes them of.
fn binding(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let code = code_of(text);
    let is_let =
        ["let ", "if let ", "while let ", "} else if let "].iter().any(|word| code.starts_with(word));
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
    let code = code_of(text).trim_end_matches(';');
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
{"fn":1,"path":"main","at":"8:1","end":"10:2"}
{"stmt":1,"line":1,"col":5,"end":"1:6","kind":"let","fn":"f"}
{"stmt":1,"line":2,"col":5,"end":"2:6","kind":"expr","fn":"f"}
{"stmt":1,"line":5,"col":5,"end":"5:6","kind":"let","fn":"g"}
{"stmt":1,"line":6,"col":5,"end":"6:6","kind":"expr","fn":"g"}
{"stmt":1,"line":8,"col":5,"end":"8:6","kind":"let","fn":"main"}
{"stmt":1,"line":9,"col":5,"end":"9:6","kind":"expr","fn":"main"}
"#;

    #[test]
    fn values_are_followed_over_bindings_returns_and_parameters() {
        let program = ProgramSites::of(&Names::parse(MAP.as_bytes()));
        let lines = |texts: [&'static str; 6]| {
            move |_: u32, line: u32| Some(texts[[0, 0, 1, 0, 0, 2, 3, 0, 4, 5][line as usize]].to_owned())
        };
        let found = |mut text_of: &mut dyn FnMut(u32, u32) -> Option<String>, has_panic| {
            let history = FailureHistory {
                order: vec![4, 5, 0, 2, 3, 1],
                open: vec![1, 5],
                has_panic,
                panic_site: Some(1),
                panic_line: Some(2),
                ..FailureHistory::default()
            };
            makers(&program, &history, &mut text_of)
        };
        let (f, g) = (["let tag = g(text);", "tag[2..end]"], ["let (tag, rest) = text.split();", "tag"]);
        let main = ["let end = 7;", "f(text, end)"];
        let texts = lines([f[0], f[1], g[0], g[1], main[0], main[1]]);
        assert_eq!(found(&mut { texts }, true), [0, 2, 4], "tag, what made it, and the parameter end");
        assert!(found(&mut { texts }, false).is_empty(), "nothing failed");
        assert!(found(&mut |_, _| None, true).is_empty(), "no texts");
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
