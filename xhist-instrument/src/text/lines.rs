//! Byte offset to line and column. Logarithmic, also on lines of megabytes.

/// Where lines start, and which bytes are not the first of a character.
pub(crate) struct LineIndex {
    /// Offset of the first byte of each line.
    starts: Vec<usize>,
    /// Offsets of UTF-8 continuation bytes; empty in most files.
    continuations: Vec<usize>,
}

impl LineIndex {
    /// `first` is where line 1 starts: behind a byte-order mark.
    pub fn new(text: &[u8], first: usize) -> Self {
        let newlines = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
        let starts = std::iter::once(first).chain(newlines).collect();
        let continuations = if text.is_ascii() {
            Vec::new()
        } else {
            let continued = |&(_, byte): &(usize, &u8)| byte & 0xC0 == 0x80;
            text.iter().enumerate().filter(continued).map(|(at, _)| at).collect()
        };
        Self { starts, continuations }
    }

    /// Line of this byte, from 1.
    pub fn line(&self, offset: usize) -> u32 {
        self.starts.partition_point(|&start| start <= offset).max(1) as u32
    }

    /// Line and column of this byte, both from 1, the column in characters.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.starts[line as usize - 1].min(offset);
        let before = |at| self.continuations.partition_point(|&offset| offset < at);
        let inside = before(offset) - before(start);
        (line, (offset - start - inside) as u32 + 1)
    }

    /// Number of lines; a last newline starts no further one.
    pub fn count(&self, len: usize) -> u32 {
        let ends_with_newline = self.starts.len() > 1 && self.starts.last() == Some(&len);
        (self.starts.len() - usize::from(ends_with_newline)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_behind_a_mark() {
        let text = "\u{feff}aé€x\nb".as_bytes();
        let index = LineIndex::new(text, 3);
        assert_eq!(index.position(3), (1, 1));
        assert_eq!(index.position(3 + 1 + 2 + 3), (1, 4));
        assert_eq!(index.position(text.len() - 1), (2, 1));
        assert_eq!(index.count(text.len()), 2);
    }

    #[test]
    fn a_last_newline_starts_no_line() {
        assert_eq!(LineIndex::new(b"a\n", 0).count(2), 1);
        assert_eq!(LineIndex::new(b"", 0).count(0), 1);
        assert_eq!(LineIndex::new(b"a\n", 0).position(2), (2, 1));
    }
}
