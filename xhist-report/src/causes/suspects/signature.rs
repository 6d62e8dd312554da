//! What the signature of a function says of it: whether it only reads, and whether it only passes on what it has.

use super::maker_text::{FIELD, code_of, names};
use super::text_weight::{CALLS, text_weight};

/// Lines of a signature that are read.
const SIGNATURE: usize = 12;

/// The signature of a function: these are its lines upwards from the one where its body begins.
pub fn signature(lines: impl Iterator<Item = String>) -> String {
    let mut signature = String::new();
    for line in lines.take(SIGNATURE) {
        let code = code_of(&line);
        signature = format!("{code} {signature}");
        if code.starts_with("fn ") || code.contains(" fn ") {
            break;
        }
    }
    signature
}

/// Whether a statement, with which a function of this signature ends at once, only passes its parameters on, in their order, or
/// returns what it has: it neither computes nor chooses, and names no constant.
pub fn only_passes_on(signature: &str, text: &str) -> bool {
    let mut passed = names(text);
    passed.retain(|name| !name.starts_with(FIELD));
    text_weight(text) == CALLS && passed == parameters(signature)
}

/// The names of the parameters in a signature, but for `self`.
fn parameters(signature: &str) -> Vec<String> {
    // Behind the brackets of the generic ones.
    let mut depth = 0;
    let mut before = ' ';
    let mut begin = None;
    let mut parameters = Vec::new();
    for (at, char) in signature.char_indices() {
        match char {
            '(' if depth == 0 && begin.is_none() => begin = Some(at + 1),
            ',' | ')' if depth == 0 => {
                let Some(first) = begin else { continue };
                let name = signature[first..at].split(':').next().unwrap_or_default().trim();
                let name = name.rsplit([' ', '&']).next().unwrap_or_default();
                parameters.extend(Some(name.to_owned()).filter(|name| !name.is_empty() && name != "self"));
                if char == ')' {
                    break;
                }
                begin = Some(at + 1);
            }
            '(' | '[' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
        before = char;
    }
    parameters
}

/// Whether a function with this signature takes `&self`.
pub fn only_reads(signature: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let mut words = signature.match_indices("self").map(|(at, word)| (at, at + word.len()));
    let Some((at, _)) = words
        .find(|(at, end)| !signature[..*at].ends_with(is_part) && !signature[*end..].starts_with(is_part))
    else {
        return false;
    };
    let before = signature[..at].trim_end();
    let reference = match before.rsplit_once('\'') {
        Some((before, lifetime)) if !lifetime.is_empty() && lifetime.chars().all(is_part) => before,
        _ => before,
    };
    reference.strip_suffix('&').is_some_and(|before| before.trim_end().ends_with('('))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_takes_a_shared_reference_to_itself() {
        let reads = |text: &str| only_reads(&signature(text.lines().rev().map(str::to_owned)));
        for reader in [
            "pub fn len(&self) -> usize {",
            "fn get<'a>(&'a self, at: usize) -> &'a T {",
            "fn map<F: Fn(&T) -> U>(\n    &self, // as it is\n    f: F,\n) {",
        ] {
            assert!(reads(reader), "{reader}");
        }
        for other in [
            "fn push(&mut self, t: T) {",
            "fn into(self) -> U {",
            "fn of(text: &str) -> Self {",
            "fn of(other: &Self) -> Self {\n  self::f(&self)",
            "fn f(a: &mut A, self_: &A) {",
            "",
        ] {
            assert!(!reads(other), "{other}");
        }
    }

    #[test]
    fn a_function_may_only_pass_its_parameters_on() {
        let of_lines = |text: &str| signature(text.lines().rev().map(str::to_owned));
        let dash = of_lines(
            "}\npub fn dash<'a, F: Fn(u8) -> T>(\n    inner: impl Iterator<Item = A> + 'a, // all\n    mut at: f64,\n) -> B {",
        );
        assert_eq!(parameters(&dash), ["inner", "at"]);
        assert!(only_passes_on(&dash, "dash_impl(inner, at)"));
        for other in [
            "dash_impl(at, inner)",
            "dash_impl(inner, 0, at)",
            "dash_impl(inner)",
            "dash_impl(inner, at + at)",
        ] {
            assert!(!only_passes_on(&dash, other), "{other}");
        }
        let len = of_lines("fn len(&self) -> usize {");
        assert!(only_passes_on(&len, "self.parts.range.clone()"));
        assert!(!only_passes_on(&len, "self.parts.len()"), "it counts");
        assert!(!only_passes_on(&len, "Part { at: 0 }"), "it makes something");
    }
}
