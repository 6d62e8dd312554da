//! The calls of a thread as a tree, in bounded memory: equal calls that follow each other are one row with a count.
//!
//! A call is kept until it was left, so that equal ones can be counted. When too many are kept, the outermost is
//! written as it is so far, and its end follows later.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io;

use super::activation::{Activation, Exit, Left, Moves};
use super::stack::CallStack;
use super::structure::{BodyId, StatementId};
use crate::model::ShownValue;

/// Calls that are kept.
const MAX_KEPT: usize = 4_096;

/// A row of the tree.
#[derive(Clone, Copy, Debug)]
pub enum TreeRow<'t> {
    /// A call with everything that is known of it; its children follow.
    Whole(&'t CallNode),
    /// A call that is not over; its children follow, then its end.
    Begin(&'t CallNode),
    /// The end of such a call.
    End(&'t CallNode),
}

/// Takes a row and its depth.
pub type TakeRow<'t> = &'t mut dyn FnMut(usize, TreeRow<'_>) -> io::Result<()>;

/// A call, several equal calls, or a note between calls.
#[derive(Clone, Debug)]
pub struct CallNode {
    /// What it is.
    pub subject: NodeSubject,
    /// How often it was called from the same place with the same calls inside.
    pub times: u64,
    /// Its own statements, of all times.
    pub own: u64,
    /// Its statements and those of its callees.
    pub statements: u64,
    /// Ticks between stamps, where known.
    pub ticks: u64,
    /// Parameters of a call, if they were recorded. Calls with others are not equal.
    pub arguments: Vec<ShownValue>,
    children: Vec<CallNode>,
    hash: u64,
    size: usize,
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeSubject {
    /// A call.
    Call {
        /// What was called.
        body: BodyId,
        /// The statement of the caller.
        called_from: Option<StatementId>,
        /// The last statement.
        at: StatementId,
        /// How it was left; `None` if it is open at the end.
        exit: Option<Exit>,
        /// Its entry was not seen.
        entered_before: bool,
        /// Another reading is possible.
        is_uncertain: bool,
        /// An async body that went on.
        is_resumed: bool,
        /// It ran while the stack was unwound.
        in_unwinding: bool,
        /// It interrupted its caller.
        is_handler: bool,
        /// The id of its future.
        task: Option<u64>,
    },
    /// A panic, a signal, or a loss.
    Note(NoteKind, String),
    /// Statements ran again.
    Repetition {
        /// How many, counted back.
        statements: u64,
        /// How often.
        times: u64,
        /// Calls of these rounds that were not left.
        calls: u64,
    },
}

/// The kind of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoteKind {
    /// The thread panicked.
    Panic,
    /// A signal arrived.
    Signal,
    /// A future was dropped at its `.await`.
    Cancelled,
    /// A line of a log.
    Log,
    /// Something is missing.
    Gap,
}

impl CallNode {
    fn leaf(subject: NodeSubject) -> CallNode {
        CallNode {
            subject,
            times: 1,
            own: 0,
            statements: 0,
            ticks: 0,
            arguments: Vec::new(),
            children: Vec::new(),
            hash: 0,
            size: 1,
        }
    }

    /// Fixes what it is compared by.
    fn seal(&mut self) {
        let mut hasher = DefaultHasher::new();
        match &self.subject {
            // The last statement may differ between equal calls.
            NodeSubject::Call {
                body, called_from, exit, entered_before, is_uncertain, is_resumed, ..
            } => {
                (body, called_from, exit, entered_before, is_uncertain, is_resumed).hash(&mut hasher);
            }
            other => other.hash(&mut hasher),
        }
        self.arguments.hash(&mut hasher);
        for child in &self.children {
            (child.hash, child.times).hash(&mut hasher);
        }
        self.hash = hasher.finish();
        self.size = 1 + self.children.iter().map(|child| child.size).sum::<usize>();
    }

    /// Adds an equal call.
    fn merge(&mut self, other: CallNode) {
        self.times += other.times;
        let mut pairs: Vec<(&mut CallNode, CallNode)> = vec![(self, other)];
        while let Some((kept, other)) = pairs.pop() {
            kept.own += other.own;
            kept.statements += other.statements;
            kept.ticks += other.ticks;
            pairs.extend(kept.children.iter_mut().zip(other.children));
        }
    }

    fn write(&self, depth: usize, take: TakeRow<'_>) -> io::Result<()> {
        let mut rest = vec![(depth, self)];
        while let Some((depth, node)) = rest.pop() {
            take(depth, TreeRow::Whole(node))?;
            rest.extend(node.children.iter().rev().map(|child| (depth + 1, child)));
        }
        Ok(())
    }
}

/// A call that is not over.
#[derive(Debug)]
struct OpenCall {
    node: CallNode,
    is_written: bool,
    start: Option<u64>,
}

/// Builds the tree of one thread.
#[derive(Debug, Default)]
pub struct CallTree {
    open: Vec<OpenCall>,
    /// How many of them are written, the outermost ones.
    written: usize,
    /// The newest call at the root.
    root: Option<CallNode>,
    /// Calls that are kept.
    kept: usize,
    /// The newest time.
    now: Option<u64>,
}

impl CallTree {
    /// Takes what a statement changed; `stack` is the stack behind it.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn step(&mut self, stack: &CallStack, time: Option<u64>, take: TakeRow<'_>) -> io::Result<()> {
        let moves = stack.moves();
        self.left(moves, take)?;
        self.now = time.or(self.now);
        self.enter(stack, time);
        if let Some(top) = self.open.last_mut() {
            top.node.own += 1;
            top.node.statements += 1;
            if let NodeSubject::Call { is_uncertain, .. } = &mut top.node.subject {
                *is_uncertain |= moves.is_uncertain;
            }
        }
        while self.kept > MAX_KEPT && self.written < self.open.len() {
            self.write_outermost(take)?;
        }
        Ok(())
    }

    /// The newest entry entered calls.
    fn enter(&mut self, stack: &CallStack, time: Option<u64>) {
        for activation in stack.entered() {
            let node = CallNode::leaf(subject(activation, None));
            self.open.push(OpenCall { node, is_written: false, start: time });
            self.kept += 1;
        }
    }

    /// The parameters of the topmost call.
    pub fn arguments(&mut self, arguments: Vec<ShownValue>) {
        if let Some(top) = self.open.last_mut().filter(|top| top.node.arguments.is_empty()) {
            top.node.arguments = arguments;
        }
    }

    /// How many calls are not over.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// A note in the topmost call.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn note(&mut self, kind: NoteKind, text: String, take: TakeRow<'_>) -> io::Result<()> {
        self.add(self.open.len(), CallNode::leaf(NodeSubject::Note(kind, text)), take)
    }

    /// Calls ended although no statement ran.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn left(&mut self, moves: &Moves, take: TakeRow<'_>) -> io::Result<()> {
        self.leave_all(&moves.left, take)
    }

    fn leave_all(&mut self, left: &[Left], take: TakeRow<'_>) -> io::Result<()> {
        left.iter().try_for_each(|left| self.leave(left, Some(left.exit), take))
    }

    /// The newest statements ran again; `stack` is the stack behind it.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn repetition(
        &mut self,
        stack: &CallStack,
        statements: usize,
        times: u64,
        take: TakeRow<'_>,
    ) -> io::Result<()> {
        let moves = stack.moves();
        let (of_handlers, of_rounds) = moves.left.split_at(moves.of_handlers);
        self.leave_all(of_handlers, take)?;
        let depth = moves.round.map_or(self.open.len(), |index| index + 1).min(self.open.len());
        let (statements, calls) = (statements as u64, moves.folded.map_or(0, |folded| folded.calls));
        let mut node = CallNode::leaf(NodeSubject::Repetition { statements, times, calls });
        node.statements = statements.saturating_mul(times);
        self.add(depth, node, take)?;
        self.leave_all(of_rounds, take)?;
        self.enter(stack, self.now);
        Ok(())
    }

    /// Ends the thread. `stack` are the activations that are still there, the outermost first; `exit` says how they ended,
    /// if they did.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn finish<'a>(
        &mut self,
        stack: impl DoubleEndedIterator<Item = &'a Activation>,
        exit: Option<Exit>,
        take: TakeRow<'_>,
    ) -> io::Result<()> {
        for activation in stack.rev() {
            let left = Left { activation: activation.clone(), exit: Exit::Unknown, depth: 0 };
            self.leave(&left, exit, take)?;
        }
        match self.root.take() {
            Some(root) => root.write(0, take),
            None => Ok(()),
        }
    }

    /// The topmost call is over.
    fn leave(&mut self, left: &Left, exit: Option<Exit>, take: TakeRow<'_>) -> io::Result<()> {
        let Some(OpenCall { mut node, is_written, start }) = self.open.pop() else { return Ok(()) };
        if let NodeSubject::Call { at, exit: known, is_uncertain, .. } = &mut node.subject {
            (*at, *known) = (left.activation.statement, exit);
            *is_uncertain |= left.activation.is_uncertain;
        }
        node.ticks = start.zip(self.now).map_or(0, |(start, now)| now.saturating_sub(start));
        let depth = self.open.len();
        if !is_written && node.own == 0 && node.children.is_empty() {
            // It ran in a repetition, which counts it.
            self.kept = self.kept.saturating_sub(node.size);
            return Ok(());
        }
        if !is_written {
            node.seal();
            // It is kept as a child from now on.
            self.kept = self.kept.saturating_sub(node.size);
            return self.add(depth, node, take);
        }
        self.written = self.written.min(depth);
        for child in std::mem::take(&mut node.children) {
            self.kept = self.kept.saturating_sub(child.size);
            child.write(depth + 1, take)?;
        }
        take(depth, TreeRow::End(&node))?;
        if let Some(caller) = self.open.last_mut() {
            caller.node.statements += node.statements;
        }
        Ok(())
    }

    /// Adds a complete row below the open call at `depth`.
    fn add(&mut self, depth: usize, mut node: CallNode, take: TakeRow<'_>) -> io::Result<()> {
        if node.hash == 0 {
            node.seal();
        }
        let Some(caller) = depth.checked_sub(1).and_then(|index| self.open.get_mut(index)) else {
            return add_root(&mut self.root, &mut self.kept, node, take);
        };
        caller.node.statements += node.statements;
        match caller.node.children.last_mut() {
            Some(last) if last.hash == node.hash => last.merge(node),
            _ => {
                if caller.is_written {
                    for earlier in std::mem::take(&mut caller.node.children) {
                        self.kept = self.kept.saturating_sub(earlier.size);
                        earlier.write(depth, take)?;
                    }
                }
                self.kept += node.size;
                caller.node.children.push(node);
            }
        }
        Ok(())
    }

    /// Writes the outermost call that is not written yet, without its newest child.
    fn write_outermost(&mut self, take: TakeRow<'_>) -> io::Result<()> {
        let index = self.written;
        // What comes before it.
        match index.checked_sub(1) {
            None => {
                if let Some(root) = self.root.take() {
                    self.kept = self.kept.saturating_sub(root.size);
                    root.write(0, take)?;
                }
            }
            Some(caller) => {
                for earlier in std::mem::take(&mut self.open[caller].node.children) {
                    self.kept = self.kept.saturating_sub(earlier.size);
                    earlier.write(index, take)?;
                }
            }
        }
        let call = &mut self.open[index];
        take(index, TreeRow::Begin(&call.node))?;
        let newest = call.node.children.pop();
        for child in std::mem::take(&mut call.node.children) {
            self.kept = self.kept.saturating_sub(child.size);
            child.write(index + 1, take)?;
        }
        call.node.children.extend(newest);
        call.is_written = true;
        self.kept = self.kept.saturating_sub(1);
        self.written += 1;
        Ok(())
    }
}

fn add_root(
    root: &mut Option<CallNode>,
    kept: &mut usize,
    node: CallNode,
    take: TakeRow<'_>,
) -> io::Result<()> {
    match root {
        Some(last) if last.hash == node.hash => last.merge(node),
        _ => {
            *kept += node.size;
            if let Some(earlier) = root.replace(node) {
                *kept = kept.saturating_sub(earlier.size);
                earlier.write(0, take)?;
            }
        }
    }
    Ok(())
}

fn subject(activation: &Activation, exit: Option<Exit>) -> NodeSubject {
    NodeSubject::Call {
        body: activation.body,
        called_from: activation.called_from,
        at: activation.statement,
        exit,
        entered_before: activation.entered_before,
        is_uncertain: activation.is_uncertain,
        is_resumed: activation.is_resumed,
        in_unwinding: activation.in_unwinding,
        is_handler: activation.is_handler,
        task: activation.task,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::calls::outline::{entry, map};
    use crate::calls::{Handler, Structure};

    /// Takes a row as its depth, `(` and `)` for the begin and the end of a call that was written early, its own statements
    /// and all, and how often it was called.
    fn text(depth: usize, row: TreeRow<'_>) -> String {
        let (mark, node) = match row {
            TreeRow::Whole(node) => ("", node),
            TreeRow::Begin(node) => ("(", node),
            TreeRow::End(node) => (")", node),
        };
        format!("{depth}{mark} {}/{} x{}", node.own, node.statements, node.times)
    }

    #[test]
    fn equal_calls_are_a_row_with_the_statements_of_all_and_of_what_they_called() {
        let outline = "\
fn main
  s f f
fn f
  s g
fn g
  s
  s
  s";
        let structure = Arc::new(Structure::of(&map(outline)));
        let (mut stack, mut tree) = (CallStack::new(&structure), CallTree::default());
        let mut rows = Vec::new();
        let take = &mut |depth: usize, row: TreeRow<'_>| {
            rows.push(text(depth, row));
            Ok(())
        };
        for word in "2 4 6 7 8 4 6 7 8".split(' ') {
            stack.take(Handler::default(), entry(word));
            tree.step(&stack, None, take).unwrap();
        }
        tree.finish(stack.stack(), Some(Exit::Returned), take).unwrap();
        assert_eq!(rows, ["0 1/9 x1", "1 2/8 x2", "2 6/6 x1"]);
    }

    #[test]
    fn a_call_with_too_many_rows_below_is_written_before_it_is_over() {
        let structure = Arc::new(Structure::of(&map("fn main\n  s\n  s")));
        let written = |notes: usize| {
            let (mut stack, mut tree) = (CallStack::new(&structure), CallTree::default());
            let mut rows = Vec::new();
            let take = &mut |depth: usize, row: TreeRow<'_>| {
                rows.push(text(depth, row));
                Ok(())
            };
            stack.take(Handler::default(), entry("2"));
            tree.step(&stack, None, take).unwrap();
            (0..notes).for_each(|number| tree.note(NoteKind::Log, number.to_string(), take).unwrap());
            stack.take(Handler::default(), entry("3"));
            tree.step(&stack, None, take).unwrap();
            rows.truncate(2);
            rows
        };
        // The call is kept, too.
        assert_eq!(written(MAX_KEPT - 1), Vec::<String>::new());
        assert_eq!(written(MAX_KEPT), ["0( 2/2 x1", "1 0/0 x1"]);
    }
}
