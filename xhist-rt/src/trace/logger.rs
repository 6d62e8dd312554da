//! The logger hook: one pointer, read without a lock, so any code can emit events.

use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU8};

use qs_core::record::trace::Event;
#[cfg(all(feature = "trace", feature = "std"))]
use qs_core::record::trace::{Arg, Code};
use qs_core::record::trace::{Class, Severity};

use crate::shared::Shared;

/// What is called with each event, on the thread or in the handler that it comes from. It may look for certain values and
/// act: print, freeze the rings with [`stop`](crate::stop), pass the event on [`to_ring`]. What is emitted in it is logged as well.
pub type Logger = fn(&Event<'_>);

/// Null, or a [`Logger`]. `cargo xhist` starts with `to_ring`.
static LOGGER: AtomicPtr<()> = AtomicPtr::new(if cfg!(any(feature = "auto", feature = "to-ring")) {
    to_ring as Logger as *mut ()
} else {
    null_mut()
});

/// Further loggers, from the first on. Null without one.
static MORE: [AtomicPtr<()>; 3] = [const { AtomicPtr::new(null_mut()) }; 3];

/// One thread or interrupt at a time adds a logger.
static ADDING: Shared<()> = Shared::new(());

/// A bit for each severity of exception events that is wanted.
static SEVERITIES: AtomicU8 = AtomicU8::new(u8::MAX);

/// Wants exception events of these severities only; the others are dropped where they are emitted, before their arguments are
/// computed. At start, all are wanted.
///
/// ```
/// use xhist_rt::trace::{self, Severity};
/// trace::set_severities(&[Severity::Hw3, Severity::Sw3, Severity::Sw2]);
/// assert!(trace::is_wanted(Severity::Sw2) <= trace::is_logged() && !trace::is_wanted(Severity::Sw0));
/// ```
pub fn set_severities(severities: &[Severity]) {
    SEVERITIES.store(severities.iter().fold(0, |mask, severity| mask | 1 << *severity as u8), Relaxed);
}

/// Whether there is a logger for exception events of this severity.
#[inline(always)]
pub fn is_wanted(severity: Severity) -> bool {
    is_logged() && SEVERITIES.load(Relaxed) >> severity as u8 & 1 != 0
}

/// Has another logger called with each event, behind those before it: up to four in all. False without room for it.
/// [`set_logger`] replaces all of them. Not for signal handlers.
pub fn add_logger(logger: Logger) -> bool {
    let place = ADDING.with(|()| {
        let mut all = core::iter::once(&LOGGER).chain(&MORE);
        let free = all.find(|place| place.load(Relaxed).is_null());
        free.map(|place| place.store(logger as *mut (), Release))
    });
    place.flatten().is_some()
}

/// Has this logger called with each event, and no other; `None` drops them at once, as at first. Programs that `cargo xhist`
/// runs start with [`to_ring`].
///
/// ```
/// use xhist_rt::trace::{self, Event};
/// use xhist_rt::trace_event;
/// fn first_of_severity_3(event: &Event<'_>) {
///     trace::to_ring(event);
///     if let trace::Class::Exception { severity, .. } = event.class && severity.level() == 3 {
///         xhist_rt::stop();
///     }
/// }
/// trace::set_logger(Some(first_of_severity_3));
/// ```
pub fn set_logger(logger: Option<Logger>) {
    MORE.iter().for_each(|place| place.store(null_mut(), Release));
    LOGGER.store(logger.map_or(null_mut(), |logger| logger as *mut ()), Release);
}

/// There is no memory for a ring of this many bytes.
#[cfg(all(feature = "trace", feature = "std"))]
pub(crate) fn report_no_memory(bytes: u64) {
    let class = Class::Exception { severity: Severity::Sw2, code: Code::ALLOCATION_FAILED };
    event(&Event { class, args: &[Arg::from(bytes)], buffer: None });
}

/// Whether there is a logger: a load and a test.
#[inline(always)]
pub fn is_logged() -> bool {
    cfg!(feature = "trace") && !LOGGER.load(Relaxed).is_null()
}

/// The first logger.
#[inline]
pub fn logger() -> Option<Logger> {
    if is_logged() { loaded(&LOGGER) } else { None }
}

#[inline]
fn loaded(place: &AtomicPtr<()>) -> Option<Logger> {
    let logger = place.load(Acquire);
    // SAFETY: the pointer is not null. `set_logger`, `add_logger` and the initial value are the only sources of other pointers,
    // and all cast a `Logger`.
    (!logger.is_null()).then(|| unsafe { transmute::<*mut (), Logger>(logger) })
}

/// Passes an event to the logger. Without a logger, the event is dropped. All other functions here call this one.
///
/// Interrupt and signal handlers may call it if they may call the logger.
#[inline]
pub fn event(event: &Event<'_>) {
    let is_wanted = match event.class {
        Class::Exception { severity, .. } => is_wanted(severity),
        Class::Profile { .. } => true,
    };
    if let Some(logger) = logger().filter(|_| is_wanted) {
        logger(event);
        MORE.iter().filter_map(loaded).for_each(|logger| logger(event));
    }
}

/// The standard logger: writes the event into the ring, if the global filter wants its record ([`EXCEPTION`](super::EXCEPTION) or
/// [`PROFILE`](super::PROFILE)). It may be called from any other logger, and wherever statements are recorded.
#[inline(never)]
pub fn to_ring(event: &Event<'_>) {
    let id = event.id();
    if crate::qs::is_on(id, 0) {
        crate::qs::user(id, |to| event.put(to));
    }
}

#[cfg(all(test, feature = "trace"))]
mod tests {
    use core::sync::atomic::AtomicU32;

    use super::*;
    use qs_core::record::trace::Code;

    static FIRST: AtomicU32 = AtomicU32::new(0);
    static SECOND: AtomicU32 = AtomicU32::new(0);
    const CODE: Code = Code::new(Code::major_of("loggers"), 1);

    fn count(to: &AtomicU32, event: &Event<'_>) {
        if matches!(event.class, Class::Exception { code, .. } if code == CODE) {
            to.store(to.load(Relaxed) + 1, Relaxed);
        }
    }

    /// The only test of the loggers, which are static.
    #[test]
    fn every_logger_gets_the_events_of_wanted_severities() {
        let before = logger();
        set_logger(Some(|event| count(&FIRST, event)));
        assert!(add_logger(|event| count(&SECOND, event)));
        let emit = |severity| {
            event(&Event { class: Class::Exception { severity, code: CODE }, args: &[], buffer: None });
            (FIRST.load(Relaxed), SECOND.load(Relaxed))
        };
        assert_eq!(emit(Severity::Hw0), (1, 1));
        set_severities(&[Severity::Hw1, Severity::Hw2, Severity::Sw1, Severity::Sw2, Severity::Sw3]);
        assert_eq!(emit(Severity::Hw0), (1, 1), "not wanted");
        assert_eq!(emit(Severity::Sw3), (2, 2));
        assert!(!is_wanted(Severity::Hw0) && is_wanted(Severity::Sw3));
        let all = [0, 1, 2, 3, 4, 5, 6, 7].map(Severity::from_number);
        set_severities(&all.map(|severity| severity.expect("a severity")));
        assert!(add_logger(|_| ()) && add_logger(|_| ()) && !add_logger(|_| ()), "four in all");
        set_logger(Some(|event| count(&FIRST, event)));
        assert_eq!(emit(Severity::Hw0), (3, 2), "the others are gone");
        set_logger(before);
    }
}
