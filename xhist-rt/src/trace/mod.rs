//! Trace events in the style of QNX: a program's own messages, in order with its statements.
//!
//! *Exception events* report faults and errors, with a severity and a code. *Profile events* report normal operation; each
//! has a bit in `mask`, which a host can change. The `logger` decides what happens to an event; without a logger it is
//! dropped. Source: QNX Neutrino, "Trace Event Logging".
//!
//! ```
//! use xhist_rt::trace::{self, Code};
//! use xhist_rt::{profile_event, trace_event};
//!
//! const UART: u32 = Code::major_of("uart");
//! const PARITY: Code = Code::new(UART, 5);
//! const TIMER_FIRED: u8 = 33;
//!
//! trace::set_logger(Some(trace::to_ring));
//! trace::enable(TIMER_FIRED..=TIMER_FIRED);
//! let (port, status, received) = (3, 0x14u8, [0x61, 0x62]);
//! trace_event!(Hw1, PARITY; port, status; &received);
//! profile_event!(TIMER_FIRED; 12u64);
//! ```

#[cfg(all(feature = "defmt", feature = "trace", not(feature = "std")))]
#[allow(unsafe_code)]
mod defmt;
mod line;
#[allow(unsafe_code)]
mod logger;
mod mask;
#[cfg(all(feature = "trace", feature = "std"))]
mod output;
mod shapes;

pub use qs_core::record::trace::{
    Arg, Class, Code, EXCEPTION, Event, MAX_ARGS, OPCODES, Opcodes, PROFILE, Severity,
};

pub use line::{LogLevel, line};
#[cfg(all(feature = "trace", feature = "std"))]
pub(crate) use logger::report_no_memory;
pub use logger::{
    Logger, add_logger, event, is_logged, is_wanted, logger, set_logger, set_severities, to_ring,
};
pub(crate) use mask::set;
pub use mask::{disable, enable, is_profiled, opcodes};
#[cfg(all(feature = "trace", feature = "std"))]
pub(crate) use output::on_output;
#[cfg(all(feature = "trace", feature = "std"))]
#[doc(hidden)]
pub use output::{Printed, Stream, record_writes};
#[cfg(feature = "trace")]
pub(crate) use shapes::noticed;
pub use shapes::{
    exception, profile, trace0, trace0b, trace1, trace1b, trace2, trace2b, trace3, trace3b, trace4, trace4b,
    trace5, trace5b, trace6, trace6b,
};

/// An exception event: `trace_event!(Hw1, PARITY; port, status; &received)`.
///
/// First the [`Severity`], `Hw0` to `Sw3`, and the [`Code`]. Then up to six arguments: integers of up to eight bytes, or
/// pointers. Then a buffer of bytes. Arguments and buffer are optional. Nothing is formatted. Arguments are computed only if
/// there is a logger.
#[macro_export]
macro_rules! trace_event {
    ($severity:ident, $code:expr $(; $($arg:expr),* $(,)? $(; $buffer:expr)?)?) => {
        if $crate::trace::is_wanted($crate::trace::Severity::$severity) {
            $crate::trace::exception(
                $crate::trace::Severity::$severity,
                $code,
                [$($($crate::trace::Arg::from($arg)),*)?],
                $crate::__trace_buffer!($($($buffer)?)?),
            );
        }
    };
}

/// A profile event: `profile_event!(TIMER_FIRED; timer, late)`, or `profile_event!(TIMER_FIRED, data; timer, late; &bytes)`.
///
/// First the opcode, a constant, and a number of up to 32 bits. Then up to seven arguments, then a buffer of bytes. All but the
/// opcode are optional. At start, all opcodes are off, see [`trace::enable`](crate::trace::enable). An event that is off costs
/// a load and a test of a bit.
#[macro_export]
macro_rules! profile_event {
    ($opcode:expr $(, $data:expr)? $(; $($arg:expr),* $(,)? $(; $buffer:expr)?)?) => {
        if $crate::trace::is_profiled($opcode) {
            $crate::trace::profile(
                $opcode,
                0 $(+ $data)?,
                [$($($crate::trace::Arg::from($arg)),*)?],
                $crate::__trace_buffer!($($($buffer)?)?),
            );
        }
    };
}

/// The buffer of an event, if it has one.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_buffer {
    () => {
        ::core::option::Option::None
    };
    ($buffer:expr) => {
        ::core::option::Option::Some(::core::convert::AsRef::<[u8]>::as_ref($buffer))
    };
}
