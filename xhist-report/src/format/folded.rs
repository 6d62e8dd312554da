//! `folded`: a line for each call with its stack and the statements of its own, for flame graphs.
//!
//! `thread;outermost;...;innermost COUNT`, as inferno, speedscope and flamegraph.pl read it. They add up equal stacks.

use std::io::{self, Write};

use super::Format;
use crate::format::entries::{CallPart, CallRow};

/// What repeats without names of its own.
const REPEATED: &str = "(repeated)";

/// Writes stacks.
#[derive(Default)]
pub struct Folded {
    /// The thread.
    root: String,
    /// The functions on the way to the current row, the outermost first.
    stack: Vec<String>,
}

impl Folded {
    /// A line, if a statement ran there.
    fn line(&self, last: Option<&str>, statements: u64, out: &mut dyn Write) -> io::Result<()> {
        if statements == 0 {
            return Ok(());
        }
        write!(out, "{}", self.root)?;
        for name in self.stack.iter().map(String::as_str).chain(last) {
            write!(out, ";{name}")?;
        }
        writeln!(out, " {statements}")
    }
}

impl Format for Folded {
    fn call(&mut self, row: &CallRow<'_>, out: &mut dyn Write) -> io::Result<()> {
        match row {
            CallRow::Thread { ring, interrupt } => {
                self.root = match interrupt {
                    0 => name(&ring.thread()),
                    interrupt => format!("{};{}", name(&ring.thread()), ring.interrupts.text(*interrupt)),
                };
                Ok(())
            }
            CallRow::Call(call) => {
                self.stack.truncate(call.depth);
                self.stack.push(name(call.function));
                match call.part {
                    // Its statements are known at its end.
                    CallPart::Begin => Ok(()),
                    CallPart::Whole | CallPart::End => self.line(None, call.own, out),
                }
            }
            CallRow::Repetition { depth, statements, times, .. } => {
                self.stack.truncate(*depth);
                self.line(Some(REPEATED), statements.saturating_mul(*times), out)
            }
            CallRow::Note { .. } | CallRow::Open { .. } => Ok(()),
        }
    }
}

/// A name without what separates frames, lines and counts. The format has no escapes.
fn name(name: &str) -> String {
    let plain = name.chars().map(|char| match char {
        ';' => ':',
        char if char.is_control() => ' ',
        char => char,
    });
    match name.is_empty() {
        true => "?".to_owned(),
        false => plain.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::entries::CallEntry;
    use xhist_history::model::Ring;

    fn call<'a>(ring: &'a Ring, depth: usize, part: CallPart, function: &'a str, own: u64) -> CallEntry<'a> {
        CallEntry {
            ring,
            depth,
            part,
            function,
            arguments: &[],
            file: None,
            line: 1,
            from: None,
            times: 2,
            own,
            statements: own,
            ticks: None,
            exit: "returned",
            at: 1,
            entered_before: false,
            through: None,
            is_uncertain: false,
            is_resumed: false,
            in_unwinding: false,
            is_handler: false,
            task: None,
        }
    }

    #[test]
    fn each_call_is_a_stack_with_its_own_statements() {
        let ring = Ring { thread_name: Some("a;b\n".into()), ..Ring::default() };
        let (mut format, mut out) = (Folded::default(), Vec::new());
        let mut put = |row: CallRow<'_>| format.call(&row, &mut out).expect("memory");
        put(CallRow::Thread { ring: &ring, interrupt: 0 });
        put(CallRow::Call(&call(&ring, 0, CallPart::Begin, "main", 0)));
        put(CallRow::Call(&call(&ring, 1, CallPart::Whole, "parse", 4)));
        put(CallRow::Call(&call(&ring, 2, CallPart::Whole, "<T as A>::b", 3)));
        put(CallRow::Repetition { ring: &ring, depth: 1, statements: 5, times: 10, calls: 0 });
        put(CallRow::Note { ring: &ring, depth: 1, what: "panic", text: "panicked here" });
        put(CallRow::Call(&call(&ring, 1, CallPart::Whole, "", 0)));
        put(CallRow::Call(&call(&ring, 0, CallPart::End, "main", 7)));
        put(CallRow::Thread { ring: &ring, interrupt: 15 });
        put(CallRow::Call(&call(&ring, 0, CallPart::Whole, "tick", 1)));
        let expected = "a:b ;main;parse 4\na:b ;main;parse;<T as A>::b 3\na:b ;main;(repeated) 50\na:b ;main 7\n\
                        a:b ;interrupt 15;tick 1\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}
