//! Trace events as QNX has them: what the program noticed on its way, between the statements that say where it went.
//!
//! *Exception events* tell of faults and errors, with a severity and a code of their owner; *profile events* of the natural course of
//! things, each behind a bit of `mask` that a host may change. What becomes of an event is the business of the `logger`: without one
//! it is dropped at once. Source: QNX Neutrino, "Trace Event Logging".
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

#[allow(unsafe_code)]
mod logger;
mod mask;
mod shapes;

pub use qs_core::record::trace::{
    Arg, Class, Code, EXCEPTION, Event, MAX_ARGS, MAX_DATA, OPCODES, Opcodes, PROFILE, Severity,
};

pub use logger::{Logger, is_logged, logger, set_logger};
pub(crate) use mask::set;
pub use mask::{disable, enable, is_profiled, opcodes};
pub use shapes::{
    exception, profile, trace0, trace0b, trace1, trace1b, trace2, trace2b, trace3, trace3b, trace4, trace4b,
    trace5, trace5b, trace6, trace6b,
};

/// Hands an event to the logger; without one nothing happens. All else here is built on this.
///
/// May be called from interrupt and signal handlers, if the logger may.
#[inline]
pub fn event(event: &Event<'_>) {
    if let Some(logger) = logger() {
        logger(event);
    }
}

/// The standard logger: writes the event into the ring, if the global filter wants its record ([`EXCEPTION`] or
/// [`PROFILE`]). It may be called from any other logger, and wherever a statement may stand.
#[inline(never)]
pub fn to_ring(event: &Event<'_>) {
    let id = event.id();
    if crate::qs::is_on(id, 0) {
        crate::qs::user(id, |to| event.put(to));
    }
}

/// The recorder itself noticed something, see [`Code::RING_OVERRUN`] and those beside it.
#[cfg(feature = "trace")]
pub(crate) fn noticed(severity: Severity, code: Code, number: u64) {
    exception(severity, code, [Arg::from(number)], None);
}

/// An exception event: `trace_event!(Hw1, PARITY; port, status; &received)`.
///
/// First the [`Severity`], `Hw0` to `Sw3`, and the [`Code`]; then up to six arguments, integers of up to eight bytes or pointers;
/// then bytes that belong to it. The last two may be left out. Nothing is formatted, and arguments are only computed when
/// there is a logger.
#[macro_export]
macro_rules! trace_event {
    ($severity:ident, $code:expr $(; $($arg:expr),* $(,)? $(; $buffer:expr)?)?) => {
        if $crate::trace::is_logged() {
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
/// First the opcode, a constant, and a number of up to 20 bits; then up to seven arguments, then bytes that belong to it. All but the
/// opcode may be left out. While the opcode is off, which it is at first ([`trace::enable`](crate::trace::enable)), this is a load and a
/// test of a bit.
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
