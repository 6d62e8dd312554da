//! Does a history agree with the reference log? A handler may come between the log and the record of a statement, so
//! the statement that it interrupted is directly before or directly behind what the handler did.

use qs_core::record::Statement;

use crate::rings::Recorded;

/// An entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEntry {
    /// A statement began.
    Statement(Statement),
    /// A signal handler began.
    Enter,
    /// A signal handler ended.
    Leave,
}

impl LogEntry {
    /// Reads a word of the log; `None` when the program was interrupted before it wrote the word.
    pub fn from_word(word: u64) -> Option<LogEntry> {
        match word >> 32 {
            1 => Some(LogEntry::Statement(Statement::from_word(word as u32))),
            2 => Some(LogEntry::Enter),
            3 => Some(LogEntry::Leave),
            _ => None,
        }
    }
}

/// What a thread did.
pub struct Reference {
    /// Its id.
    pub thread: u32,
    /// Everything, in the order in which it began.
    pub entries: Vec<LogEntry>,
}

/// How far the thread is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It was stopped anywhere: what is under way, here and in what was interrupted, may not be recorded yet.
    Anywhere,
    /// All that began is done.
    Done,
}

/// A statement, and the handlers that interrupted it; none for what came before the first statement.
struct Node {
    statement: Option<Statement>,
    handlers: Vec<Part>,
}

/// The statements of a handler, or of the thread itself.
struct Part {
    nodes: Vec<Node>,
    /// It goes on.
    is_open: bool,
}

impl Reference {
    /// Every statement, in the order in which it began.
    pub fn statements(&self) -> impl DoubleEndedIterator<Item = Statement> {
        self.entries.iter().filter_map(|entry| match entry {
            LogEntry::Statement(statement) => Some(*statement),
            _ => None,
        })
    }

    /// How many handlers ran.
    pub fn handlers(&self) -> usize {
        self.entries.iter().filter(|entry| **entry == LogEntry::Enter).count()
    }

    /// Compares a history, from its newest statement to its oldest, where it may begin later; `dropped` statements may
    /// be missing. Returns how many statements began before its oldest one.
    ///
    /// # Errors
    /// The first place where they differ.
    pub fn agree(&self, history: &[Statement], moment: Moment, dropped: usize) -> Result<usize, String> {
        let root = Part::new(&mut self.entries.iter(), moment == Moment::Anywhere);
        let mut left = Left { history, dropped, rings: None };
        left.take_part(&root, 0)?;
        match left.history.last() {
            Some(last) => Err(format!("{last:?} and {} more did not begin", left.history.len() - 1)),
            None => Ok(self.statements().count().saturating_sub(history.len() + dropped - left.dropped)),
        }
    }

    /// The same for rings that were overwritten, each for itself: a statement may be missing where its ring has lost the
    /// oldest statements, and none older is left there. A handler's statements are in the lane of its own level; few are in
    /// a higher one, because another handler was about to begin or to end. How many of those are missing. `dropped`
    /// statements may be missing anywhere: their handlers had no lane.
    ///
    /// # Errors
    /// The first place where they differ.
    pub fn agree_as_left(&self, recorded: &Recorded, dropped: usize) -> Result<usize, String> {
        let Recorded { statements, levels, overwritten, .. } = recorded;
        let mut in_rings = [0; LEVELS];
        levels.iter().for_each(|level| in_rings[usize::from(*level)] += 1);
        let is_cut = std::array::from_fn(|level| overwritten.contains(&(level as u16)));
        let root = Part::new(&mut self.entries.iter(), false);
        let rings = Some(Rings { levels, left: in_rings, is_cut, higher: 0 });
        let mut left = Left { history: statements, dropped, rings };
        left.take_part(&root, 0)?;
        match left.history.last() {
            Some(last) => Err(format!("{last:?} and {} more did not begin", left.history.len() - 1)),
            None => Ok(left.rings.map_or(0, |rings| rings.higher)),
        }
    }
}

/// A thread's own ring, and its lanes.
const LEVELS: usize = 9;

impl Part {
    fn new<'a>(entries: &mut impl Iterator<Item = &'a LogEntry>, may_be_open: bool) -> Part {
        let mut part = Part { nodes: Vec::new(), is_open: may_be_open };
        while let Some(entry) = entries.next() {
            match entry {
                LogEntry::Statement(statement) => {
                    part.nodes.push(Node { statement: Some(*statement), handlers: Vec::new() });
                }
                LogEntry::Enter => {
                    let handler = Part::new(entries, may_be_open);
                    match part.nodes.last_mut() {
                        Some(node) => node.handlers.push(handler),
                        None => part.nodes.push(Node { statement: None, handlers: vec![handler] }),
                    }
                }
                LogEntry::Leave => {
                    part.is_open = false;
                    break;
                }
            }
        }
        part
    }
}

/// What is still to be compared.
struct Left<'a> {
    history: &'a [Statement],
    dropped: usize,
    rings: Option<Rings<'a>>,
}

/// The rings that a history is from, by their levels.
struct Rings<'a> {
    /// Of each statement.
    levels: &'a [u16],
    /// Statements that are still to be compared.
    left: [usize; LEVELS],
    /// The oldest are overwritten.
    is_cut: [bool; LEVELS],
    /// Missing statements that were in a higher lane.
    higher: usize,
}

impl Left<'_> {
    fn take_part(&mut self, part: &Part, level: usize) -> Result<(), String> {
        for (index, node) in part.nodes.iter().rev().enumerate() {
            if self.history.is_empty() {
                break;
            }
            self.take_node(node, level, part.is_open && index == 0)?;
        }
        Ok(())
    }

    /// The statement is behind all of its handlers, before all of them, or between two.
    fn take_node(&mut self, node: &Node, level: usize, is_under_way: bool) -> Result<(), String> {
        let mut found = self.take(node, level);
        for handler in node.handlers.iter().rev() {
            self.take_part(handler, level + 1)?;
            found = found || self.take(node, level);
        }
        if found || is_under_way || self.history.is_empty() || self.is_overwritten(level) {
            return Ok(());
        }
        if self.dropped > 0 {
            self.dropped -= 1;
            return Ok(());
        }
        let newest: Vec<_> = self.history.iter().rev().take(8).collect();
        Err(format!("{:?} is not where it should be, before it are {newest:?}", node.statement))
    }

    /// Whether a statement of that level may be overwritten.
    fn is_overwritten(&mut self, level: usize) -> bool {
        let Some(Rings { left, is_cut, higher, .. }) = &mut self.rings else { return false };
        let is_gone = |level: &usize| is_cut[*level] && left[*level] == 0;
        if level >= LEVELS {
            return false;
        }
        if is_gone(&level) {
            return true;
        }
        let is_higher = level > 0 && (level + 1..LEVELS).any(|level| is_gone(&level));
        *higher += usize::from(is_higher);
        is_higher
    }

    fn take(&mut self, node: &Node, level: usize) -> bool {
        let Some(statement) = node.statement else { return true };
        let Some((last, rest)) = self.history.split_last() else { return false };
        if *last != statement {
            return false;
        }
        if let Some(Rings { levels, left, .. }) = &mut self.rings {
            let ring = usize::from(levels[rest.len()]);
            if ring < level || ring > 0 && level == 0 {
                return false;
            }
            left[ring] -= 1;
        }
        self.history = rest;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `0` begins a handler, and `-1` ends it.
    fn agrees(entries: &[i32], history: &[u16], moment: Moment) -> bool {
        let statement = |line: u16| Statement { file: 1, line };
        let entry = |entry: &i32| match *entry {
            0 => LogEntry::Enter,
            -1 => LogEntry::Leave,
            line => LogEntry::Statement(statement(line as u16)),
        };
        let reference = Reference { thread: 1, entries: entries.iter().map(entry).collect() };
        let history: Vec<Statement> = history.iter().copied().map(statement).collect();
        reference.agree(&history, moment, 0).is_ok()
    }

    #[test]
    fn a_statement_is_before_behind_or_between_the_handlers_that_interrupted_it() {
        let log = [1, 2, 0, 10, 11, -1, 0, 20, -1, 3];
        for good in [[1, 2, 10, 11, 20, 3], [1, 10, 11, 2, 20, 3], [1, 10, 11, 20, 2, 3]] {
            assert!(agrees(&log, &good, Moment::Done), "{good:?}");
        }
        for bad in
            [[1, 10, 2, 11, 20, 3], [2, 1, 10, 11, 20, 3], [1, 2, 11, 10, 20, 3], [1, 10, 11, 20, 3, 2]]
        {
            assert!(!agrees(&log, &bad, Moment::Done), "{bad:?}");
        }
    }

    #[test]
    fn a_handler_may_be_interrupted_before_its_first_statement() {
        let log = [1, 0, 0, 20, 21, -1, 0, 20, 21, -1, 10, -1];
        for good in [[1, 20, 21, 20, 21, 10], [20, 21, 20, 21, 10, 1]] {
            assert!(agrees(&log, &good, Moment::Done), "{good:?}");
        }
        assert!(!agrees(&log, &[1, 20, 21, 20, 10, 21], Moment::Done));
    }

    #[test]
    fn what_is_under_way_may_be_missing() {
        let log = [1, 2, 0, 10, 11];
        for good in [&[1, 2, 10, 11][..], &[1, 10, 11, 2], &[1, 10], &[1, 2, 10], &[2, 10]] {
            assert!(agrees(&log, good, Moment::Anywhere), "{good:?}");
        }
        for bad in [&[1, 11][..], &[2, 1, 10], &[1, 2, 11, 10], &[1, 2]] {
            assert!(!agrees(&log, bad, Moment::Anywhere), "{bad:?}");
        }
        assert!(!agrees(&log, &[1, 10, 2], Moment::Done));
        assert!(!agrees(&[1, 2, 0, 10, 11, -1], &[1, 2, 10], Moment::Anywhere));
    }
}
