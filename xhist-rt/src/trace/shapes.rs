//! Functions that the macros call, and QNX's functions `trace0` to `trace6`, with a buffer (`b`) and without.

#![allow(clippy::too_many_arguments, reason = "six arguments, as in QNX")]

use qs_core::record::trace::{Arg, Class, Code, Event, MAX_ARGS, Severity};

use super::logger::event;

/// Emits an exception event with up to six arguments, which the compiler checks.
#[inline(always)]
pub fn exception<const ARGS: usize>(
    severity: Severity,
    code: Code,
    args: [Arg; ARGS],
    buffer: Option<&[u8]>,
) {
    const { assert!(ARGS < MAX_ARGS, "an exception event has six arguments at most") };
    event(&Event { class: Class::Exception { severity, code }, args: &args, buffer });
}

/// Emits a profile event with up to seven arguments, which the compiler checks. Does not test whether the opcode is on.
#[inline(always)]
pub fn profile<const ARGS: usize>(opcode: u8, data: u32, args: [Arg; ARGS], buffer: Option<&[u8]>) {
    const { assert!(ARGS <= MAX_ARGS, "a profile event has seven arguments at most") };
    event(&Event { class: Class::Profile { opcode, data }, args: &args, buffer });
}

/// Emits an event of the recorder itself, with a code such as [`Code::RING_OVERRUN`].
#[cfg(feature = "trace")]
pub(crate) fn noticed(severity: Severity, code: Code, number: u64) {
    exception(severity, code, [Arg::from(number)], None);
}

macro_rules! shapes {
    ($($plain:ident $buffered:ident $number:literal: $($arg:ident)*;)*) => {$(
        #[doc = concat!("Trace exception event, ", $number, " arguments, no buffer.")]
        #[inline]
        pub fn $plain(severity: Severity, code: Code $(, $arg: impl Into<Arg>)*) {
            exception(severity, code, [$($arg.into()),*], None);
        }

        #[doc = concat!("Trace exception event, ", $number, " arguments, buffer.")]
        #[inline]
        pub fn $buffered(severity: Severity, code: Code $(, $arg: impl Into<Arg>)*, buffer: &[u8]) {
            exception(severity, code, [$($arg.into()),*], Some(buffer));
        }
    )*};
}

shapes! {
    trace0 trace0b 0:;
    trace1 trace1b 1: a;
    trace2 trace2b 2: a b;
    trace3 trace3b 3: a b c;
    trace4 trace4b 4: a b c d;
    trace5 trace5b 5: a b c d e;
    trace6 trace6b 6: a b c d e f;
}
