//! Any map and any statements into the stack of calls and its tree: no panic, and a tree as deep as the stack.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use qs_core::record::{Statement, TaskMark, TaskStep};
use xhist_history::calls::{CallStack, CallTree, Exit, Handler, NoteKind, Structure, ThreadEntry};
use xhist_history::model::Names;

fuzz_target!(|input: &[u8]| {
    let (map, stream) = match input.iter().position(|byte| *byte == 0) {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[][..]),
    };
    let names = Names::parse(map);
    let structure = Arc::new(Structure::of(&names));
    let (mut stack, mut tree) = (CallStack::new(&structure), CallTree::default());
    let mut rows = 0usize;
    let mut take = |_: usize, _: xhist_history::calls::TreeRow<'_>| {
        rows += 1;
        Ok(())
    };
    let mut handler = Handler::default();
    for pair in stream.chunks_exact(2) {
        let (what, line) = (pair[0], u16::from(pair[1]));
        let entry = match what {
            250 => ThreadEntry::Panic,
            251 => ThreadEntry::Gap,
            252 => {
                const STEPS: [TaskStep; 4] =
                    [TaskStep::Enter, TaskStep::Resume, TaskStep::End, TaskStep::Unwind];
                let step = STEPS[usize::from(line % 4)];
                ThreadEntry::Task(TaskMark { step, task: u32::from(line / 4) })
            }
            253 => ThreadEntry::Again { statements: usize::from(line), times: 3 },
            248 => {
                handler = Handler { signals: (line % 4) as u8, interrupt: line / 4 };
                ThreadEntry::Other
            }
            254 => ThreadEntry::Signal(0),
            file => {
                let file = if file == 249 { u16::MAX } else { u16::from(file) };
                ThreadEntry::Statement(Statement { file, line })
            }
        };
        stack.take(handler, entry);
        assert!(stack.moves().entered <= stack.depth());
        match entry {
            ThreadEntry::Statement(_) => {
                assert!(stack.depth() > 0);
                tree.step(&stack, None, &mut take).unwrap();
            }
            ThreadEntry::Again { statements, times } => {
                tree.repetition(&stack, statements, times, &mut take).unwrap();
            }
            _ => tree.left(stack.moves(), &mut take).unwrap(),
        }
        if entry == ThreadEntry::Signal(0) {
            tree.note(NoteKind::Gap, String::new(), &mut take).unwrap();
        }
        assert_eq!(tree.depth(), stack.depth());
    }
    let open = stack.open(false).len();
    assert!(open <= stream.len());
    tree.finish(stack.stack(), Some(Exit::Returned), &mut take).unwrap();
});
