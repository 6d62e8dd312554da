//! What a user meant who typed a name with a typo: a command, or an option of ours.

/// The name that is very like this word, and not the word itself.
pub(super) fn meant<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Cargo has short options that differ from ours in two letters: `--tests` is not `--tasks`.
    let most = if word.len() < 6 { 1 } else { 2 };
    let alike = names.into_iter().map(|name| (strsim::osa_distance(word, name), name));
    alike.filter(|(distance, _)| (1..=most).contains(distance)).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_recognised_and_another_word_is_none() {
        let names = ["run", "test", "build", "nextest"];
        for (word, name) in [
            ("rnu", Some("run")),
            ("tset", Some("test")),
            ("bulid", Some("build")),
            ("nexttset", Some("nextest")),
            ("doc", None),
            ("list", None),
            ("run", None),
        ] {
            assert_eq!(meant(word, names), name, "{word}");
        }
    }
}
