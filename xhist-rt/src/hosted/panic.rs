//! The panic hook: notes the panic in the ring, and prints the last statements under the message.

use std::panic::{set_hook, take_hook};

use qs_core::record::EventKind;
use qs_core::ring::{Header, Line, Reader, Status};

use super::names::Names;
use super::threads;

/// Installs the hook behind the one that is there, which prints the message.
pub(super) fn install(lines: usize) {
    let previous = take_hook();
    set_hook(Box::new(move |info| {
        // Before the previous hook runs statements of its own.
        let thread = std::thread::current();
        threads::note(EventKind::Panic, 0, Status::Panicked, thread.name());
        let history = if lines > 0 { threads::snapshot() } else { None };
        previous(info);
        if let Some(image) = history
            && let Ok(header) = Header::parse(&image)
        {
            let map_hash = header.map_hash;
            let statements: Vec<Line> = Reader::new(header, &image).tail(lines).collect();
            print(&statements, map_hash);
        }
    }));
}

/// Prints as the default hook does, so that the test harness captures it with the message.
fn print(statements: &[Line], map_hash: u64) {
    if statements.is_empty() {
        return;
    }
    let names = Names::of(map_hash);
    let mut text = String::from("last statements before the panic (xhist, newest last):\n");
    if let Some(refusal) = names.refusal() {
        text.push_str(&format!("      files are numbered: {refusal}\n"));
    }
    for (index, line) in statements.iter().enumerate() {
        text.push_str(&match line {
            Line::Again(again) => format!("      {}\n", again.show(|statement| names.place(statement))),
            Line::Statement(statement, times) => {
                let (path, line) = names.place(*statement);
                let repeated = if *times > 1 { format!(" x {times}") } else { String::new() };
                format!("{:>4}: {path}:{line}{repeated}\n", index + 1)
            }
        });
    }
    eprint!("{text}");
}
