//! Rounds of a loop among the rows of a call: the first is kept, the others are counted.

/// The longest round, in rows.
const LONGEST: usize = 40;

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The row at this place.
    Row(usize),
    /// The `rows` rows before came `times` times more, up to the row at `last`.
    Again { rows: usize, times: usize, last: usize },
}

/// Folds a list whose rows are the same where their keys are.
pub fn fold<K: PartialEq>(keys: &[K]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < keys.len() {
        let rounds = |length: &usize| {
            let length = *length;
            let round = keys.get(at..at + length)?;
            let more = keys[at + length..].chunks_exact(length).take_while(|next| *next == round).count();
            (more > 0).then_some((length, more))
        };
        // The one that folds most; of those the shortest.
        let best = (1..=LONGEST)
            .filter_map(|length| rounds(&length))
            .max_by_key(|(length, more)| (length * more, usize::MAX - length));
        match best {
            Some((length, more)) => {
                parts.extend((at..at + length).map(Part::Row));
                at += length * (more + 1);
                parts.push(Part::Again { rows: length, times: more, last: at - 1 });
            }
            None => {
                parts.push(Part::Row(at));
                at += 1;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(keys: &str) -> String {
        let keys: Vec<char> = keys.chars().collect();
        let parts = fold(&keys).into_iter().map(|part| match part {
            Part::Row(row) => keys[row].to_string(),
            Part::Again { rows, times, .. } => format!("({rows}x{times})"),
        });
        parts.collect()
    }

    #[test]
    fn rounds_are_counted() {
        assert_eq!(folded("abcabcabcd"), "abc(3x2)d");
        assert_eq!(folded("aaaa"), "a(1x3)");
        assert_eq!(folded("abcd"), "abcd");
        assert_eq!(folded("xababy"), "xab(2x1)y");
    }
}
