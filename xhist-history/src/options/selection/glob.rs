//! Globs over one part of a path, and sequences of such parts: `src/*.rs`, `**/net`, `parser::Lex*`.

/// A sequence of parts, each a glob of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts(Vec<PathPart>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathPart {
    /// `**`: any number of parts.
    Any,
    /// One part, with `*` for any characters and `?` for one.
    One(String),
}

impl Parts {
    /// Without parts nothing could match: `None`.
    pub fn new<'p>(parts: impl IntoIterator<Item = &'p str>) -> Option<Parts> {
        let part = |text: &str| match text {
            "**" => PathPart::Any,
            text => PathPart::One(text.to_owned()),
        };
        let parts: Vec<PathPart> = parts.into_iter().map(part).collect();
        (!parts.is_empty()).then_some(Parts(parts))
    }

    /// Whether the parts match from the first name on; what is inside a match matches, too.
    pub fn covers(&self, names: &[Vec<&str>]) -> bool {
        (0..=names.len()).any(|end| whole(&self.0, &names[..end]))
    }

    /// Whether the parts match the last names.
    pub fn ends(&self, names: &[Vec<&str>]) -> bool {
        (0..=names.len()).any(|start| whole(&self.0, &names[start..]))
    }

    /// Whether the parts match from any name on.
    pub fn are_in(&self, names: &[Vec<&str>]) -> bool {
        (0..names.len()).any(|start| self.covers(&names[start..]))
    }
}

/// Whether the parts match all names. Each name may have several spellings.
fn whole(parts: &[PathPart], names: &[Vec<&str>]) -> bool {
    // For each number of names, whether the parts so far match just those.
    let mut reached = vec![false; names.len() + 1];
    reached[0] = true;
    for part in parts {
        let mut next = vec![false; names.len() + 1];
        for at in (0..=names.len()).filter(|at| reached[*at]) {
            match part {
                PathPart::Any => next[at..].fill(true),
                PathPart::One(glob) => {
                    let is_next =
                        names.get(at).is_some_and(|name| name.iter().any(|text| matches(glob, text)));
                    if is_next {
                        next[at + 1] = true;
                    }
                }
            }
        }
        reached = next;
    }
    reached[names.len()]
}

/// Whether a glob with `*` and `?` matches a text. Never slower than the product of both lengths.
pub fn matches(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // The newest `*`, and the text behind what it takes so far.
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match glob.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(char) if *char == '?' || *char == text[read] => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((of, taken)) = star else { return false };
                star = Some((of, taken + 1));
                at = of + 1;
                read = taken + 1;
            }
        }
    }
    glob[at..].iter().all(|char| *char == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match_characters() {
        for (glob, text, is_match) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("", "", true),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abcc", true),
            ("a*b*c", "axxbyybzzc", true),
            ("a*b*c", "axxbyybzz", false),
            ("a?c", "aéc", true),
            ("a?c", "ac", false),
            ("[a]", "a", false),
        ] {
            assert_eq!(matches(glob, text), is_match, "{glob} {text}");
        }
        // Exponential with a matcher that tries every length of every star.
        assert!(!matches(&format!("{}b", "a*".repeat(200)), &"a".repeat(5000)));
    }

    fn parts(text: &str) -> Parts {
        Parts::new(text.split('/')).unwrap()
    }

    #[test]
    fn parts_match_from_the_start_at_the_end_or_inside() {
        let names: Vec<Vec<&str>> = "crates/net/src/tcp.rs".split('/').map(|name| vec![name]).collect();
        for (glob, covers, ends, inside) in [
            ("crates", true, false, true),
            ("crates/*/src", true, false, true),
            ("src", false, false, true),
            ("src/tcp.rs", false, true, true),
            ("src/*.rs", false, true, true),
            ("**/src", true, false, true),
            ("crates/**/tcp.rs", true, true, true),
            ("crates/**/udp.rs", false, false, false),
            ("net/tcp.rs", false, false, false),
        ] {
            let parts = parts(glob);
            let found = (parts.covers(&names), parts.ends(&names), parts.are_in(&names));
            assert_eq!(found, (covers, ends, inside), "{glob}");
        }
    }

    #[test]
    fn a_name_may_have_several_spellings() {
        let names = [vec!["<A as B>", "A", "B"], vec!["f"]];
        for text in ["A/f", "B/f", "<A as B>/f"] {
            assert!(parts(text).covers(&names), "{text}");
        }
        assert!(!parts("C/f").covers(&names));
    }
}
