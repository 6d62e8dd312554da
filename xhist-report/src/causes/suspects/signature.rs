//! What the signature of a function says of it: whether it only reads, or changes what it is called on.

use super::maker_text::code_of;

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

/// Whether a function with this signature takes `&self`.
pub fn only_reads(signature: &str) -> bool {
    before_self(signature)
        .and_then(|before| before.strip_suffix('&'))
        .is_some_and(|before| before.trim_end().ends_with('('))
}

/// Whether a function with this signature takes `&mut self`.
pub fn changes(signature: &str) -> bool {
    let before = before_self(signature).and_then(|before| before.strip_suffix("mut"));
    before.and_then(|before| without_lifetime(before.trim_end()).strip_suffix('&')).is_some()
}

/// What is in front of the first `self` of a signature, without a lifetime.
fn before_self(signature: &str) -> Option<&str> {
    let mut words = signature.match_indices("self").map(|(at, word)| (at, at + word.len()));
    let (at, _) = words
        .find(|(at, end)| !signature[..*at].ends_with(is_part) && !signature[*end..].starts_with(is_part))?;
    Some(without_lifetime(signature[..at].trim_end()))
}

fn without_lifetime(text: &str) -> &str {
    match text.rsplit_once('\'') {
        Some((before, lifetime)) if !lifetime.is_empty() && lifetime.chars().all(is_part) => before,
        _ => text,
    }
}

fn is_part(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
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
    fn a_changer_takes_a_mutable_reference_to_itself() {
        for changer in ["fn push(&mut self, t: T) {", "fn next<'a>(&'a mut self) -> &'a T {"] {
            assert!(changes(changer), "{changer}");
        }
        for other in ["fn len(&self) {", "fn of(mut self) {", "fn new() -> Self {", "fn f(a: &mut A) {", ""] {
            assert!(!changes(other), "{other}");
        }
    }
}
