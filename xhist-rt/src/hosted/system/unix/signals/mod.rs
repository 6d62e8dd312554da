//! Signal handlers of the program. Each runs on a lane, so the words of a handler do not mix with those of the code
//! that it interrupts.
//!
//! The recorder defines `sigaction` and its relatives ([`calls`]). Instead of a handler they give the kernel one of
//! the recorder's entry functions ([`entries`]), with the program's flags and mask. So the kernel's own table holds
//! all state. No other table can contradict it, not even in a `vfork` child, after `SA_RESETHAND`, or when threads
//! race.
//!
//! [`lanes`](crate::hosted::system::lanes) moves the cursor to a lane and back. [`fault`] lets the recorder see a fault of the processor first. All
//! functions are safe to call from a signal handler.

mod actions;
mod calls;
pub(crate) mod context;
mod entries;
mod fault;
#[cfg(test)]
mod tests;

pub(super) use entries::catch;
pub(crate) use entries::{foreign_handlers, is_foreign};

use fault::FaultCheck;

/// Lets `check` see each store first that the memory refused. Comes before the program installs a handler.
pub(crate) fn catch_faults(check: FaultCheck) {
    catch(libc::SIGSEGV, check);
    // A store to reserved addresses is a violation of their protection there.
    #[cfg(target_vendor = "apple")]
    catch(libc::SIGBUS, check);
}
