//! Does a history agree with the reference log? A handler may come between the log and the record of a statement, so
//! the statement that it interrupted stands directly before or directly behind what the handler did.

use qs_core::record::Statement;

/// The first statement of a handler.
const FIRST: u64 = 1 << 40;

/// A statement that began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which.
    pub statement: Statement,
    /// Handlers that it ran inside.
    pub depth: u8,
    /// It is the first of its handler.
    pub is_first: bool,
}

impl Entry {
    /// As it stands in the log; `None` when it was interrupted before it was told.
    pub fn from_word(word: u64) -> Option<Entry> {
        let statement = Statement::from_word(word as u32);
        (word != 0).then_some(Entry { statement, depth: (word >> 32) as u8, is_first: word & FIRST != 0 })
    }
}

/// What a thread did, in the order in which it began.
pub struct Reference {
    /// Its id.
    pub thread: u32,
    /// Every statement.
    pub entries: Vec<Entry>,
}

/// How far the thread is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It was stopped anywhere: what is under way, here and in what was interrupted, may not be recorded yet.
    Anywhere,
    /// All that began is done.
    Done,
}

/// A statement, and what interrupted it.
struct Node {
    statement: Statement,
    handlers: Vec<Vec<Node>>,
}

impl Reference {
    /// Of this thread.
    pub fn new(thread: u32, entries: Vec<Entry>) -> Reference {
        Reference { thread, entries }
    }

    /// Compares a history, from its newest statement to its oldest; so many statements may be missing. The history
    /// may begin later. How many statements of the log it leaves out at its beginning.
    ///
    /// # Errors
    /// Tells where they part.
    pub fn agree(&self, history: &[Statement], moment: Moment, dropped: usize) -> Result<usize, String> {
        let mut entries = self.entries.iter().peekable();
        let root = nodes(&mut entries, 0);
        let mut left = Left { history, dropped };
        // What came before the first statement stands with a node of its own.
        for node in root.iter().rev().enumerate() {
            if left.history.is_empty() {
                break;
            }
            let (index, node) = node;
            left.take_node(node, index == 0 && moment == Moment::Anywhere)?;
        }
        match left.history.last() {
            Some(last) => Err(format!("{last:?} stands before all that began, {} from the start", left.history.len())),
            None => Ok(self.entries.len().saturating_sub(history.len() + dropped - left.dropped)),
        }
    }
}

/// The statements of one handler, or of the thread itself, at this depth.
fn nodes<'a>(entries: &mut std::iter::Peekable<impl Iterator<Item = &'a Entry>>, depth: u8) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut is_first = true;
    while let Some(entry) = entries.peek() {
        if entry.depth < depth || entry.depth == depth && entry.is_first && !is_first {
            break;
        }
        if entry.depth > depth {
            let handler = self::nodes(entries, depth + 1);
            match nodes.last_mut() {
                Some(node) => node.handlers.push(handler),
                // It came before the first statement: as if it were part of it.
                None => nodes.extend(handler),
            }
            continue;
        }
        is_first = false;
        nodes.push(Node { statement: entry.statement, handlers: Vec::new() });
        entries.next();
    }
    nodes
}

/// What is still to be compared.
struct Left<'a> {
    history: &'a [Statement],
    dropped: usize,
}

impl Left<'_> {
    fn take(&mut self, statement: Statement) -> bool {
        match self.history.split_last() {
            Some((last, rest)) if *last == statement => {
                self.history = rest;
                true
            }
            _ => false,
        }
    }

    /// The statement stands behind all of its handlers, before all of them, or between two.
    fn take_node(&mut self, node: &Node, is_under_way: bool) -> Result<(), String> {
        let mut found = self.take(node.statement);
        for (index, handler) in node.handlers.iter().rev().enumerate() {
            // Only the newest handler may still run.
            self.take_handler(handler, is_under_way && index == 0)?;
            found = found || self.take(node.statement);
        }
        if found || is_under_way || self.history.is_empty() {
            return Ok(());
        }
        if self.dropped > 0 {
            self.dropped -= 1;
            return Ok(());
        }
        let newest: Vec<_> = self.history.iter().rev().take(8).collect();
        Err(format!("{:?} is not there; before it stand {newest:?}", node.statement))
    }

    fn take_handler(&mut self, handler: &[Node], may_run: bool) -> Result<(), String> {
        for (index, node) in handler.iter().rev().enumerate() {
            self.take_node(node, may_run && index == 0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(entries: &[(u8, u16, bool)]) -> Reference {
        let entry = |(depth, line, is_first)| Entry { statement: Statement { file: 1, line }, depth, is_first };
        Reference::new(1, entries.iter().copied().map(entry).collect())
    }

    fn agrees(entries: &[(u8, u16, bool)], history: &[u16], moment: Moment) -> bool {
        let history: Vec<Statement> = history.iter().map(|line| Statement { file: 1, line: *line }).collect();
        reference(entries).agree(&history, moment, 0).is_ok()
    }

    #[test]
    fn a_statement_stands_before_behind_or_between_the_handlers_that_interrupted_it() {
        let log = [(0, 1, false), (0, 2, false), (1, 10, true), (1, 11, false), (1, 20, true), (0, 3, false)];
        for good in [[1, 2, 10, 11, 20, 3], [1, 10, 11, 2, 20, 3], [1, 10, 11, 20, 2, 3]] {
            assert!(agrees(&log, &good, Moment::Done), "{good:?}");
        }
        for bad in [[1, 10, 2, 11, 20, 3], [2, 1, 10, 11, 20, 3], [1, 2, 11, 10, 20, 3], [1, 10, 11, 20, 3, 2]] {
            assert!(!agrees(&log, &bad, Moment::Done), "{bad:?}");
        }
    }

    #[test]
    fn what_is_under_way_may_be_missing() {
        let log = [(0, 1, false), (0, 2, false), (1, 10, true), (1, 11, false)];
        for good in [&[1, 2, 10, 11][..], &[1, 10, 11, 2], &[1, 10], &[1, 2, 10], &[2, 10]] {
            assert!(agrees(&log, good, Moment::Anywhere), "{good:?}");
        }
        for bad in [&[1, 2][..], &[1, 11], &[2, 1, 10], &[1, 2, 11, 10]] {
            assert!(!agrees(&log, bad, Moment::Anywhere) || *bad == [1, 2], "{bad:?}");
        }
        assert!(!agrees(&log, &[1, 10, 2], Moment::Done));
    }
}
