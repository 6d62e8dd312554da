//! The logger hook: one pointer, read without a lock, so any code can emit events.

use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use qs_core::record::trace::Event;
#[cfg(all(feature = "trace", feature = "std"))]
use qs_core::record::trace::{Arg, Class, Code, Severity};

/// What is called with each event, on the thread or in the handler that it comes from. It may look for certain values and
/// act: print, freeze the rings with [`stop`](crate::stop), pass the event on [`to_ring`]. What is emitted in it is logged as well.
pub type Logger = fn(&Event<'_>);

/// Null, or a [`Logger`]. `cargo xhist` starts with `to_ring`.
static LOGGER: AtomicPtr<()> =
    AtomicPtr::new(if cfg!(feature = "auto") { to_ring as Logger as *mut () } else { null_mut() });

/// Has this logger called with each event; `None` drops them at once, as at first. Programs that `cargo xhist` runs start with
/// [`to_ring`].
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

/// The logger.
#[inline]
pub fn logger() -> Option<Logger> {
    let logger = LOGGER.load(Acquire);
    // SAFETY: the pointer is not null. `set_logger` and the initial value are the only sources of other pointers, and both
    // cast a `Logger`.
    (is_logged() && !logger.is_null()).then(|| unsafe { transmute::<*mut (), Logger>(logger) })
}

/// Passes an event to the logger. Without a logger, the event is dropped. All other functions here call this one.
///
/// Interrupt and signal handlers may call it if they may call the logger.
#[inline]
pub fn event(event: &Event<'_>) {
    if let Some(logger) = logger() {
        logger(event);
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
