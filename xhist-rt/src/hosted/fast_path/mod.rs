//! The fast path: the code that a recorded statement runs.
//!
//! A statement stores its word and moves the cursor, with plain stores that the compiler may merge. Only function
//! entries and loop heads check for room: they compare the cursor with the limit. If the chunk is full, the check
//! *rolls over*, a call that keeps the caller's registers. Between two checks the words may go on into the slack
//! behind the limit, see [`crate::hosted::words`].
//!
//! The compiler may keep the cursor in a register, so the cursor in memory may be behind. It is exact at every call,
//! including the roll-over, because a call may read it. A signal handler finds the end of the words by searching for
//! it.
//!
//! `optimised` and `unoptimised` are a statement in optimised and unoptimised code, and `value` has values for both that are
//! longer, or lead somewhere. `x86_64` and `portable` call
//! [`crate::hosted::slow_path`], which does everything else.

#[cfg_attr(all(target_arch = "x86_64", target_os = "linux", not(feature = "portable")), path = "x86_64.rs")]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", not(feature = "portable"))),
    path = "portable.rs"
)]
mod cpu;
#[cfg_attr(
    all(debug_assertions, target_arch = "x86_64", target_os = "linux", not(feature = "portable")),
    expect(dead_code, reason = "statements are `unoptimised`")
)]
pub(crate) mod optimised;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(feature = "portable")))]
pub(crate) mod unoptimised;
mod value;
/// On other systems both are the same.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(feature = "portable"))))]
pub(crate) use optimised as unoptimised;

#[cfg(not(debug_assertions))]
pub(crate) use optimised::{entry, own, record, reference, target};
#[cfg(debug_assertions)]
pub(crate) use unoptimised::{entry, own, record, reference, target};
