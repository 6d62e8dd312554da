//! What the program prints, as records at the statements that print it.
//!
//! The macros have the names of those of `std`, and call them: the text goes through the one argument that they get. So
//! the output, its locks, the test harness that captures it and a stream that fails are as without the recorder.
//!
//! What the program writes in another way comes from the hook on `write`, where a system has one.

use core::fmt::{self, Display, Formatter, Write};

use qs_core::record::trace::{Arg, Class, Code, Event, Severity};

use super::line::LineText;
use super::logger::{is_logged, to_ring};
use crate::hosted::system::written::{self, Written};
use crate::hosted::track::printed;

/// A stream of the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A text on its way to a stream. Formatting it once prints it and records it.
pub struct Printed<'a> {
    /// The arguments of the macro.
    pub text: fmt::Arguments<'a>,
    /// Where it goes.
    pub stream: Stream,
    /// A newline follows.
    pub is_line: bool,
    /// The line of the macro: what its arguments call is recorded behind the statement.
    pub line: u32,
}

impl Display for Printed<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        if !is_logged() {
            to.write_fmt(self.text)?;
            return to.write_str(if self.is_line { "\n" } else { "" });
        }
        let mut copied = Copied { to, text: LineText::new(), stream: self.stream, line: self.line };
        let stream = self.stream;
        match self.text.as_str() {
            // As with `std`, text and newline are one write.
            Some(text) if self.is_line && text.len() < WHOLE => {
                let mut whole = [0; WHOLE];
                whole[..text.len()].copy_from_slice(text.as_bytes());
                whole[text.len()] = b'\n';
                let _ = copied.text.write_str(text);
                stream.give(copied.to, core::str::from_utf8(&whole[..=text.len()]).map_err(|_| fmt::Error)?)
            }
            _ => {
                copied.write_fmt(self.text)?;
                stream.give(copied.to, if self.is_line { "\n" } else { "" })
            }
        }
    }
}

/// Length of a text that is written together with its newline.
const WHOLE: usize = 256;

/// Passes a text on, and records its beginning at the end, also when a `Display` of the program fails or panics.
struct Copied<'f, 't> {
    to: &'f mut Formatter<'t>,
    text: LineText,
    stream: Stream,
    line: u32,
}

impl Write for Copied<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let _ = self.text.write_str(text);
        self.stream.give(self.to, text)
    }
}

impl Drop for Copied<'_, '_> {
    fn drop(&mut self) {
        self.stream.record(&[Arg::from(self.line)], self.text.finish());
    }
}

impl Stream {
    /// Passes a text on that is recorded, so that the hook on `write` does not record it.
    fn give(self, to: &mut Formatter<'_>, text: &str) -> fmt::Result {
        printed::give(self == Stream::Err, text, || to.write_str(text))
    }

    /// Records a text. Not through the program's own logger, which may print.
    fn record(self, args: &[Arg], text: &[u8]) {
        let (code, severity) = match self {
            Stream::Out => (Code::STDOUT, Severity::Sw0),
            Stream::Err => (Code::STDERR, Severity::Sw1),
        };
        to_ring(&Event { class: Class::Exception { severity, code }, args, buffer: Some(text) });
    }
}

/// Records what was written, except what the macros have recorded. It may be called in a signal handler.
pub(crate) fn on_output(written: &Written<'_>) {
    if !is_logged() {
        return;
    }
    let known = printed::recorded_already(written);
    let mut text = LineText::new();
    // As with the macros, the end of a line is no part of its text, and an empty line has none.
    if let text @ [_, ..] = text.finish_bytes(written.bytes().skip(known), written.len - known) {
        let stream = if written.is_err { Stream::Err } else { Stream::Out };
        stream.record(&[], text);
    }
}

/// Before `main`, in a program with a crate whose output is recorded: what it writes past the macros is, too.
pub extern "C" fn record_writes<const IS_TEST: bool>() {
    written::note_crate(IS_TEST);
}

/// Has [`record_writes`] called before `main`. `cargo xhist` inserts it into roots of crates.
#[doc(hidden)]
#[macro_export]
macro_rules! __record_writes {
    () => {
        #[cfg(target_os = "linux")]
        const _: () = {
            #[used]
            #[unsafe(link_section = ".init_array")]
            static BEFORE_MAIN: extern "C" fn() = $crate::trace::record_writes::<{ cfg!(test) }>;
        };
    };
}

/// `print!` of `std`, whose text is also recorded at its statement.
#[macro_export]
macro_rules! print {
    ($($arg:tt)*) => {{
        ::std::print!("{}", $crate::__printed!(Out, false, $($arg)*));
    }};
}

/// `println!` of `std`, whose text is also recorded at its statement.
///
/// `cargo xhist` has programs use these macros in place of those of `std`. Sources that are instrumented in place do so with
/// `use xhist_rt::{eprintln, println};`.
#[macro_export]
macro_rules! println {
    () => {
        ::std::println!()
    };
    ($($arg:tt)*) => {{
        ::std::print!("{}", $crate::__printed!(Out, true, $($arg)*));
    }};
}

/// `eprint!` of `std`, whose text is also recorded at its statement.
#[macro_export]
macro_rules! eprint {
    ($($arg:tt)*) => {{
        ::std::eprint!("{}", $crate::__printed!(Err, false, $($arg)*));
    }};
}

/// `eprintln!` of `std`, whose text is also recorded at its statement.
#[macro_export]
macro_rules! eprintln {
    () => {
        ::std::eprintln!()
    };
    ($($arg:tt)*) => {{
        ::std::eprint!("{}", $crate::__printed!(Err, true, $($arg)*));
    }};
}

/// `dbg!` of `std`, whose text is also recorded at its statement.
#[macro_export]
macro_rules! dbg {
    () => {
        $crate::eprintln!("[{}:{}:{}]", ::std::file!(), ::std::line!(), ::std::column!())
    };
    ($value:expr $(,)?) => {
        // In a `match` temporaries of the expression live as long as its value.
        match $value {
            value => {
                $crate::eprintln!(
                    "[{}:{}:{}] {} = {:#?}",
                    ::std::file!(),
                    ::std::line!(),
                    ::std::column!(),
                    ::std::stringify!($value),
                    &value
                );
                value
            }
        }
    };
    ($($value:expr),+ $(,)?) => {
        ($($crate::dbg!($value)),+,)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __printed {
    ($stream:ident, $is_line:literal, $($arg:tt)*) => {
        $crate::trace::Printed {
            text: ::std::format_args!($($arg)*),
            stream: $crate::trace::Stream::$stream,
            is_line: $is_line,
            line: ::std::line!(),
        }
    };
}
