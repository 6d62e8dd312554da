//! `calls`: the calls of each thread as a tree, for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{Format, Layout};
use crate::format::entries::{CallEntry, CallPart, CallRow, OpenFrame};
use xhist_history::calls::ThroughDerived;
use xhist_history::model::{Ring, arguments_line, count};

const DIM: Style = Style::new().dimmed();
const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const ALARM: Style = AnsiColor::Red.on_default().bold();

/// Calls that are shown by indentation; the depth of deeper ones is a number.
const MAX_INDENTED: usize = 40;

/// Writes the tree.
pub struct CallText {
    /// With styles.
    styles: bool,
    is_first: bool,
}

impl CallText {
    /// With styles, if it is for a person at a terminal.
    pub fn new(layout: Layout) -> CallText {
        CallText { styles: layout.terminal, is_first: true }
    }

    fn style(&self, style: Style) -> Style {
        if self.styles { style } else { Style::new() }
    }

    fn heading(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_first, false) {
            writeln!(out)?;
        }
        let style = self.style(HEADING);
        writeln!(out, "{style}{text}{style:#}")
    }

    fn indent(depth: usize, out: &mut dyn Write) -> io::Result<()> {
        match depth <= MAX_INDENTED {
            true => write!(out, "{:1$}", "", 2 * depth),
            false => write!(out, "{:1$}[{2}] ", "", 2 * MAX_INDENTED, number(depth as u64)),
        }
    }

    fn call(&self, call: &CallEntry<'_>, out: &mut dyn Write) -> io::Result<()> {
        let dim = self.style(DIM);
        CallText::indent(call.depth, out)?;
        if call.part == CallPart::End {
            write!(out, "}} {}", call.function)?;
        } else {
            write!(out, "{}", call.function)?;
            if !call.arguments.is_empty() {
                write!(out, "({})", arguments_line(call.arguments))?;
            }
            if call.times > 1 {
                write!(out, " x {}", number(call.times))?;
            }
            write!(out, "  {dim}{}:{}", call.file.unwrap_or("?"), call.line)?;
            match call.from {
                Some((Some(file), line)) => write!(out, " from {file}:{line}{dim:#}")?,
                Some((None, line)) => write!(out, " from line {line}{dim:#}")?,
                None => write!(out, "{dim:#}")?,
            }
        }
        if call.part == CallPart::Begin {
            return writeln!(out, " {{");
        }
        let plural = if call.statements == 1 { "" } else { "s" };
        write!(out, ", {} statement{plural}", number(call.statements))?;
        if let Some(ticks) = call.ticks {
            write!(out, ", {}", duration(ticks, call.ring.clock_hz))?;
        }
        let notes = [
            (call.through.is_some(), call.through.map_or("", ThroughDerived::text)),
            (call.entered_before, "entered before"),
            (call.is_handler, "a handler"),
            (call.is_resumed, "went on"),
            (call.in_unwinding, "while unwinding"),
            (call.exit == "unwound", "unwound by a panic"),
            (call.exit == "parked", "parked"),
            (call.exit == "cancelled", "cancelled"),
            (call.exit == "unknown", "end not seen"),
            (call.is_uncertain, "uncertain"),
        ];
        for (_, note) in notes.iter().filter(|(is, _)| *is) {
            write!(out, ", {note}")?;
        }
        match call.exit {
            "open" => writeln!(out, ", open at line {}", call.at),
            "parked" | "cancelled" => writeln!(out, " at line {}", call.at),
            _ => writeln!(out),
        }
    }

    fn open(
        &mut self,
        (at, ring, interrupt): (&str, &Ring, u16),
        frames: &[OpenFrame],
        depth: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let of = lane(ring, interrupt);
        self.heading(&format!("-- open at the {at} of {of}: {} --", count(depth, "call")), out)?;
        let mut expected = depth;
        for call in frames {
            if !call.is_parked {
                if call.depth + 1 != expected {
                    writeln!(out, "  ... {} more", number((expected - call.depth - 1) as u64))?;
                }
                expected = call.depth;
            }
            let file = call.file.as_deref().unwrap_or("?");
            let parked = if call.is_parked { ", parked" } else { "" };
            let uncertain = if call.is_uncertain { ", uncertain" } else { "" };
            writeln!(out, "  {}  {file}:{}{parked}{uncertain}", call.function, call.line)?;
        }
        Ok(())
    }
}

/// `ring 1`, or `ring 1, interrupt 30 UART0`.
fn lane(ring: &Ring, interrupt: u16) -> String {
    match interrupt {
        0 => ring.to_string(),
        number => format!("{ring}, {}", ring.interrupts.text_with_priority(number)),
    }
}

/// A number with commas.
fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time with three digits: `1.25 ms`.
fn duration(ticks: u64, hertz: u32) -> String {
    let nanoseconds = u128::from(ticks) * 1_000_000_000 / u128::from(hertz.max(1));
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.3} us", nanoseconds as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.3} ms", nanoseconds as f64 / 1e6),
        _ => format!("{:.3} s", nanoseconds as f64 / 1e9),
    }
}

impl Format for CallText {
    fn call(&mut self, row: &CallRow<'_>, out: &mut dyn Write) -> io::Result<()> {
        match row {
            CallRow::Thread { ring, interrupt } => {
                self.heading(&format!("-- {} --", lane(ring, *interrupt)), out)
            }
            CallRow::Call(call) => CallText::call(self, call, out),
            CallRow::Note { depth, text, what, .. } => {
                CallText::indent(*depth, out)?;
                let (style, mark) =
                    if *what == "log" { (self.style(DIM), "--") } else { (self.style(ALARM), "***") };
                writeln!(out, "{style}{mark} {text}{style:#}")
            }
            CallRow::Repetition { depth, statements, times, calls, .. } => {
                CallText::indent(*depth, out)?;
                write!(out, "... the last {} statements x {}", number(*statements), number(*times))?;
                match calls {
                    0 => writeln!(out),
                    calls => writeln!(out, ", {} more open calls", number(*calls)),
                }
            }
            CallRow::Open { ring, interrupt, at, calls, depth } => {
                self.open((at, ring, *interrupt), calls, *depth, out)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas_and_times_a_unit() {
        assert_eq!(
            (number(0), number(999), number(1_234_567)),
            ("0".into(), "999".into(), "1,234,567".into())
        );
        assert_eq!(duration(5, 1_000_000_000), "5 ns");
        assert_eq!(duration(1_500, 1_000_000), "1.500 ms");
        assert_eq!(duration(3, 1), "3.000 s");
    }
}
