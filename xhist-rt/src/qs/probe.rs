//! Test probes: a host sets a value that a function then uses, to test code that is hard to reach.

use qs_core::record::{Fun, TestProbeGet};
use qs_core::rx::Probes;

use super::config::SIZES;
use super::send::send;
use crate::shared::Shared;

/// The number that QP keeps.
const PROBES: usize = 16;

static WAITING: Shared<Probes<PROBES>> = Shared::new(Probes::new());

/// The value that the host set for this use of a function. 0 without one.
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

/// A function's address with the width that is sent, which may be smaller than that of this machine.
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
    fn function_addresses_have_the_width_that_is_sent() {
        let function = Fun(usize::MAX);
        assert_eq!((narrowed(function, 2), narrowed(function, 1)), (Fun(0xFFFF), Fun(0xFF)));
        assert_eq!(narrowed(function, size_of::<usize>() as u8), function);
    }
}
