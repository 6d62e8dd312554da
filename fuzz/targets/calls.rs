//! Any map and any statements into the stack of calls and its tree: no panic, and a tree as deep as the stack.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_core::record::{Statement, TaskMark, TaskStep};
use xhist_history::calls::{CallStack, CallTree, Exit, NoteKind, Structure};
use xhist_history::model::Names;

fuzz_target!(|input: &[u8]| {
    let (map, stream) = match input.iter().position(|byte| *byte == 0) {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[][..]),
    };
    let names = Names::parse(map);
    let structure = Structure::of(&names);
    let (mut stack, mut tree) = (CallStack::new(&structure), CallTree::default());
    let mut rows = 0usize;
    let mut take = |_: usize, _: xhist_history::calls::TreeRow<'_>| {
        rows += 1;
        Ok(())
    };
    for pair in stream.chunks_exact(2) {
        let (what, line) = (pair[0], u16::from(pair[1]));
        match what {
            250 => stack.panic(),
            251 => stack.gap(),
            252 => {
                const STEPS: [TaskStep; 4] =
                    [TaskStep::Enter, TaskStep::Resume, TaskStep::End, TaskStep::Unwind];
                let step = STEPS[usize::from(line % 4)];
                stack.task(TaskMark { step, task: u32::from(line / 4) });
            }
            253 => {
                let calls = stack.descend(usize::from(line), 3).map_or(0, |descent| descent.calls);
                tree.repetition(usize::from(line), 3, calls, &mut take).unwrap();
            }
            248 => {
                let moves = stack.interrupted((line % 4) as u8, line / 4).clone();
                tree.left(&moves, &mut take).unwrap();
            }
            254 => tree.note(NoteKind::Gap, String::new(), &mut take).unwrap(),
            file => {
                let file = if file == 249 { u16::MAX } else { u16::from(file) };
                let moves = stack.statement(Statement { file, line }).clone();
                assert!(moves.entered <= stack.depth() && stack.depth() > 0);
                let new = stack.stack().skip(stack.depth() - moves.entered);
                tree.step(new, &moves, None, &mut take).unwrap();
                assert_eq!(tree.depth(), stack.depth());
            }
        }
    }
    let open = stack.open(false).len();
    assert!(open <= stream.len());
    tree.finish(stack.stack(), Some(Exit::Returned), &mut take).unwrap();
});
