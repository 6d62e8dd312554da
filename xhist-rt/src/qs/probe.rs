//! Test probes: a host tells what a function shall find, for tests of code that cannot be reached otherwise.

use qs_core::record::{Fun, TestProbeGet};
use qs_core::rx::Probes;

use super::config::SIZES;
use super::send::send;
use crate::shared::Shared;

/// As many as QP keeps.
const PROBES: usize = 16;

static WAITING: Shared<Probes<PROBES>> = Shared::new(Probes::new());

/// What the host gave for this use of a function; 0 for nothing.
///
/// ```
/// use xhist_rt::qs::{Fun, test_probe};
/// fn read_sensor() -> u32 {
///     match test_probe(Fun::of(read_sensor as *const ())) {
///         0 => 42,
///         probe => probe,
///     }
/// }
/// assert_eq!(read_sensor(), 42);
/// ```
pub fn test_probe(function: Fun) -> u32 {
    let sent = narrowed(function, SIZES.fun);
    let Some(data) = WAITING.with(|probes| probes.take(sent)).flatten() else { return 0 };
    send(&TestProbeGet { fun: function, data });
    data
}

pub(super) fn add(function: Fun, data: u32) -> bool {
    WAITING.with(|probes| probes.add(function, data)).unwrap_or(false)
}

pub(super) fn clear() {
    WAITING.with(Probes::clear);
}

/// A function as a host knows it: addresses may be sent with fewer bytes than this machine has.
const fn narrowed(Fun(address): Fun, bytes: u8) -> Fun {
    match 1usize.checked_shl(8 * bytes as u32) {
        Some(behind) => Fun(address & (behind - 1)),
        None => Fun(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_bytes_that_are_sent() {
        let function = Fun(usize::MAX);
        assert_eq!((narrowed(function, 2), narrowed(function, 1)), (Fun(0xFFFF), Fun(0xFF)));
        assert_eq!(narrowed(function, size_of::<usize>() as u8), function);
    }
}
