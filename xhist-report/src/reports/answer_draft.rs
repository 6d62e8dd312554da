//! How much a draft of an answer's listing has.

/// Lines of a thread when several share them.
pub(super) const FEWEST_LINES: usize = 8;
/// Characters of the values in a line, where whole ones have no room.
const SHORT_VALUES: [usize; 2] = [60, 24];

/// A draft of the listing.
#[derive(Clone, Copy)]
pub(super) struct Draft {
    /// Lines of a thread.
    pub(super) lines: usize,
    pub(super) has_suspects: bool,
    /// Bytes of the line that names the suspects without a line.
    pub(super) named_bytes: usize,
    /// Characters of the values in a line.
    pub(super) most_values: usize,
}

impl Draft {
    /// The next one to try: first with shorter values, because a fold hides all values in it, and may hide the suspects.
    pub(super) fn shorter(self) -> Option<Draft> {
        match SHORT_VALUES.into_iter().find(|most| *most < self.most_values) {
            Some(most_values) => Some(Draft { most_values, ..self }),
            None if self.lines <= FEWEST_LINES => None,
            None => Some(Draft { lines: self.lines - 2, ..self }),
        }
    }
}

/// What a draft makes.
pub(super) struct DrawnListing {
    pub(super) text: Vec<u8>,
    /// Bytes of the line that names the suspects without a line.
    pub(super) named: usize,
}

impl DrawnListing {
    /// Its bytes without styles and links: no one reads these, and a pipe gets none.
    pub(super) fn len(&self) -> usize {
        anstream::adapter::strip_bytes(&self.text).map(<[u8]>::len).sum()
    }

    /// The same without the suspects that are only named.
    pub(super) fn listed(&self) -> usize {
        self.len() - self.named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shortened_before_lines_are_folded() {
        let first = Draft { lines: 12, has_suspects: true, named_bytes: 0, most_values: usize::MAX };
        let drafts = std::iter::successors(Some(first), |draft| draft.shorter());
        let drafts: Vec<_> = drafts.map(|draft| (draft.lines, draft.most_values)).collect();
        assert_eq!(drafts, [(12, usize::MAX), (12, 60), (12, 24), (10, 24), (8, 24)]);
    }
}
