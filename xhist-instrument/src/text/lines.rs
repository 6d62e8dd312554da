//! Converts byte offsets to lines and columns in logarithmic time, even on lines of megabytes.

/// Offsets of the line starts and of all UTF-8 continuation bytes.
pub(crate) struct LineIndex {
    /// Offset of the first byte of each line.
    starts: Vec<usize>,
    /// Offsets of UTF-8 continuation bytes; empty in most files.
    continuations: Vec<usize>,
}

impl LineIndex {
    /// `first` is the offset of line 1: after a byte-order mark.
    pub fn new(text: &[u8], first: usize) -> Self {
        let newlines = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
        let starts = std::iter::once(first).chain(newlines).collect();
        let continuations = if text.is_ascii() {
            Vec::new()
        } else {
            // Even then, most chunks are ASCII.
            let chunks = text.chunks(32).enumerate().filter(|(_, chunk)| !chunk.is_ascii());
            let bytes = chunks.flat_map(|(index, chunk)| (index * 32..).zip(chunk));
            bytes.filter(|(_, byte)| *byte & 0xC0 == 0x80).map(|(at, _)| at).collect()
        };
        Self { starts, continuations }
    }

    /// Offset of the character at this column, from 0, of a line that starts at `start`; `None` if the search would
    /// be slow.
    pub fn byte(&self, start: usize, column: usize) -> Option<usize> {
        if self.continuations.is_empty() {
            return Some(start + column);
        }
        if column > 1000 {
            return None;
        }
        let first = self.continuations.partition_point(|&at| at < start);
        let shift = |at, &continuation: &usize| (continuation <= at).then_some(at + 1).ok_or(at);
        let end = self.continuations[first..].iter().try_fold(start + column, shift);
        Some(end.unwrap_or_else(|at| at))
    }

    /// Offset of the first byte of a line.
    pub fn start(&self, line: usize) -> usize {
        self.starts[line - 1]
    }

    /// Line of this byte, from 1.
    pub fn line(&self, offset: usize) -> u32 {
        self.starts.partition_point(|&start| start <= offset).max(1) as u32
    }

    /// Line and column of this byte, both from 1. The column counts characters.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.starts[line as usize - 1].min(offset);
        let before = |at| self.continuations.partition_point(|&offset| offset < at);
        let inside = before(offset) - before(start);
        (line, (offset - start - inside) as u32 + 1)
    }

    /// Number of lines; a final newline does not start another one.
    pub fn count(&self, len: usize) -> u32 {
        let ends_with_newline = self.starts.len() > 1 && self.starts.last() == Some(&len);
        (self.starts.len() - usize::from(ends_with_newline)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_after_a_byte_order_mark() {
        let text = "\u{feff}aé€x\nb".as_bytes();
        let index = LineIndex::new(text, 3);
        assert_eq!(index.position(3), (1, 1));
        assert_eq!(index.position(3 + 1 + 2 + 3), (1, 4));
        assert_eq!(index.position(text.len() - 1), (2, 1));
        assert_eq!(index.count(text.len()), 2);
    }

    #[test]
    fn characters_are_found_by_their_column() {
        let text = "\u{feff}aé€x\nb€".as_bytes();
        let index = LineIndex::new(text, 3);
        for offset in [3, 4, 6, 9, 10, 11, 12] {
            let (line, column) = index.position(offset);
            let start = if line == 1 { 3 } else { index.start(line as usize) };
            assert_eq!(index.byte(start, column as usize - 1), Some(offset));
        }
    }

    #[test]
    fn a_final_newline_does_not_start_a_line() {
        assert_eq!(LineIndex::new(b"a\n", 0).count(2), 1);
        assert_eq!(LineIndex::new(b"", 0).count(0), 1);
        assert_eq!(LineIndex::new(b"a\n", 0).position(2), (2, 1));
    }
}
