//! What a statement makes and reads, by its text: which names it binds or changes, and of which it makes them.

/// Words of the language that name no value.
const KEYWORDS: [&str; 22] = [
    "as", "break", "else", "false", "for", "if", "in", "let", "loop", "match", "move", "mut", "ref",
    "return", "self", "true", "unsafe", "while", "usize", "await", "dyn", "impl",
];

/// What a field is read and written through in a method.
pub const FIELD: &str = "self.";

/// Statements that begin so bind names.
const BINDINGS: [&str; 4] = ["let ", "if let ", "while let ", "} else if let "];

/// A line without the comment at its end.
pub fn code_of(text: &str) -> &str {
    text.split("//").next().unwrap_or_default().trim()
}

/// What a statement makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The names of what it binds or changes.
    pub changed: Vec<String>,
    /// Those that it binds: what they were before says nothing.
    pub bound: Vec<String>,
    /// It lends something that may be changed.
    pub lends: bool,
    /// The names that it makes them of.
    pub made_of: Vec<String>,
}

/// What a statement binds or changes: a variable, a field, an element, the receiver of a call whose result is dropped, or what it
/// lends by `&mut`.
pub fn change(text: &str) -> Option<Change> {
    let code = text.trim();
    let lent = code.match_indices("&mut ").filter_map(|(at, lends)| words(&code[at + lends.len()..]).next());
    let mut changed: Vec<String> = lent.filter(is_value).map(|(word, ..)| word.to_owned()).collect();
    let fields = code.match_indices("&mut self.").filter_map(|(at, _)| field(&code[at + 5..]));
    changed.extend(fields.map(|(name, _)| name));
    if let Some((bound, made_of)) = binding(code) {
        changed.extend(bound.iter().cloned());
        let mut bound = if binds_all(code) { bound } else { Vec::new() };
        if let Some((name, behind)) = field(code.trim_start_matches('*')) {
            let is_all = behind.starts_with(" = ");
            bound.extend(is_all.then(|| name.clone()));
            changed.push(name);
        }
        let lends = code.contains("&mut ") || code.contains("_mut(");
        return Some(Change { changed, bound, lends, made_of });
    }
    let own_field = field(code).filter(|(_, behind)| behind.starts_with('.') && code.ends_with(';'));
    changed.extend(own_field.map(|(name, _)| name));
    let arguments = ["write!(", "writeln!("].iter().find_map(|name| code.strip_prefix(name));
    let is_receiver = |(_, before, behind): &(&str, &str, &str)| before.is_empty() && behind.starts_with('.');
    let receiver = match arguments {
        Some(arguments) => words(arguments).next(),
        None => words(code).next().filter(is_receiver).filter(|_| code.ends_with(';')),
    };
    changed.extend(receiver.filter(is_value).map(|(word, ..)| word.to_owned()));
    (!changed.is_empty()).then(|| Change { changed, bound: Vec::new(), lends: false, made_of: names(code) })
}

/// The field of `self` that a text begins with, as it is among names, and what is behind it.
fn field(code: &str) -> Option<(String, &str)> {
    let (word, _, behind) = words(code.strip_prefix(FIELD)?).next()?;
    (!behind.starts_with('(')).then(|| (format!("{FIELD}{word}"), behind))
}

/// Whether a statement makes only a value without a content: what fills it makes more.
pub fn is_empty_value(text: &str) -> bool {
    let code = code_of(text).trim_end_matches([';', ',']);
    let made = code.split_once(" = ").map_or(code, |(_, made)| made);
    let is_call =
        |name: &str| made.strip_suffix(')').and_then(|made| made.rsplit_once("::")?.1.strip_prefix(name));
    is_call("new(") == Some("")
        || is_call("default(") == Some("")
        || is_call("with_capacity(").is_some()
        || made == "vec![]"
}

/// Whether a statement chooses what runs inside it.
pub fn chooses(text: &str) -> bool {
    let mut words = words(code_of(text)).map(|(word, ..)| word);
    words.any(|word| matches!(word, "if" | "match" | "while"))
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
pub fn only_names(text: &str) -> bool {
    let code = code_of(text).trim_end_matches([';', ',']);
    let code = code.rsplit(" => ").next().unwrap_or(code);
    let code = code.strip_prefix("return ").unwrap_or(code);
    let inner = code
        .strip_suffix(')')
        .and_then(|code| ["Ok(", "Some(", "Err("].iter().find_map(|wrapper| code.strip_prefix(wrapper)));
    let code = inner.unwrap_or(code).trim();
    code == "()" || !code.is_empty() && code.chars().all(|char| char.is_alphanumeric() || char == '_')
}

/// The names of values in a text, and those of fields of `self`: no functions, macros, other fields, types and paths.
pub fn names(text: &str) -> Vec<String> {
    let named = words(code_of(text)).filter_map(|word| {
        let (name, before, behind) = word;
        let is_called = before.ends_with("::") || behind.starts_with(['(', '!']) || behind.starts_with("::");
        if is_called || !is_value(&word) {
            return None;
        }
        let of = before.strip_suffix('.').filter(|of| !of.ends_with('.'));
        let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '.');
        match of.map(|of| of.strip_suffix("self")) {
            None => Some(name.to_owned()),
            Some(before) => {
                before.filter(|before| !before.ends_with(is_part)).map(|_| format!("{FIELD}{name}"))
            }
        }
    });
    named.collect()
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
        assert_eq!(known("self.next = key + 1;"), of("next self.next", "self.next", false));
        assert_eq!(known("self.pos.line += 1;"), of("pos line self.pos", "", false));
        assert_eq!(known("self.parts.push(part);"), of("self.parts", "", false));
        assert_eq!(known("fill(&mut self.buf);"), of("self.buf", "", false));
        assert_eq!(known("self.fill(part);"), None, "a method");
    }

    #[test]
    fn what_returns_a_name_makes_nothing() {
        for passes in ["tag", "return Ok(tag);", "Kind::Word(tag) => Some(tag),", "Ok(())"] {
            assert!(only_names(passes), "{passes}");
        }
        assert!(!only_names("Kind::Word(tag) => tag + 1,") && !only_names("Ok(f(tag))"));
    }

    #[test]
    fn names_are_those_of_values() {
        assert_eq!(names("let x = a.len() - b[i + 1].c + f(d, \"e f\"); // g"), ["x", "a", "b", "i", "d"]);
        assert_eq!(names("Self::new(Some(at), u::V, m!(x), 1..end)"), ["at", "x", "end"]);
        assert_eq!(names("self.next + myself.len - self.len() + a.self.b"), ["self.next", "myself", "a"]);
    }

    #[test]
    fn bindings_are_known_by_their_text() {
        let bound = |text: &str| binding(text).map(|(bound, made_of)| (bound.join(" "), made_of.join(" ")));
        let of = |bound: &str, made_of: &str| Some((bound.to_owned(), made_of.to_owned()));
        assert_eq!(bound("let (tag, rest) = self.text.split_at(pos + 1);"), of("tag rest", "self.text pos"));
        assert_eq!(bound("if let Some(pos) = line.find(c) {"), of("pos", "line c"));
        assert_eq!(bound("let mut at: usize = 0;"), of("at", ""));
        assert_eq!(bound("for item in items {"), of("item", "items"));
        assert_eq!(bound("count += step;"), of("count", "step"));
        assert_eq!(bound("f(a == b)"), None);
    }

    #[test]
    fn empty_values_are_known_by_their_text() {
        for empty in [
            "let mut out = String::new();",
            "Vec::with_capacity(len)",
            "let x: A = Default::default();",
            "let v = vec![];",
        ] {
            assert!(is_empty_value(empty), "{empty}");
        }
        for other in ["let mut out = Parser::new(text);", "let mut at = 0;", "vec![0; len]", "Kind::Empty"] {
            assert!(!is_empty_value(other), "{other}");
        }
    }
}
