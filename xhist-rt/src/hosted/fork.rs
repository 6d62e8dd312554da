//! A forked child: the parent's rings are the parent's, and the child's thread gets one of its own.

use core::sync::atomic::Ordering::Relaxed;

use super::config::{self, Config};
use super::mirror::Region;
use super::slots::{self, EVER, SLOTS, Slot};
use super::{file, spare, sys, threads, ticker};
use crate::hot;
use crate::ring::Ever;

/// Bytes of a header that are in use.
const HEADER: usize = size_of::<crate::words::HostedHeader>();

/// The process that has these rings, as opposed to a child of it that the C library does not know of.
static OWNER: sys::ForkMark = sys::ForkMark::new();

/// This process has rings from now on.
pub(super) fn set_owner() {
    OWNER.set();
}

/// Whether this is a child that was forked behind the C library's back.
#[inline(always)]
pub(crate) fn is_unseen_child() -> bool {
    OWNER.is_wiped()
}

/// In such a child, once it comes to notice. Its first words may lie in its parent's ring, in the middle of what the parent did,
/// which that ring counts as one loss.
#[cold]
pub(crate) fn leave_parent() {
    sys::keeping_errno(|| {
        if let Some(header) = threads::own() {
            header.count_dropped(1);
        }
        on_fork_in_child();
    });
}

/// The words directly before this cursor, which a child has written in the place of a ring that it has left: its memory there
/// is its own.
pub(crate) fn words_left_behind<'a>(cursor: *mut u8) -> Option<&'a [u8]> {
    // Scratch memory has no header.
    let region = Region::of(cursor).filter(|region| region.len() > region.size())?;
    let is_ring = SLOTS.iter().filter_map(Slot::region).any(|ring| ring.header() == region.header());
    (!is_ring).then(|| slots::words_before(region, cursor))
}

/// In a forked child. Its thread has a ring at once, because statements do not ask for one before their next check.
pub(super) extern "C" fn on_fork_in_child() {
    if OWNER.is_wiped() {
        OWNER.set();
    }
    spare::forget_lost();
    if config::is_off() || config::forget_others() {
        return;
    }
    let was_attached = hot::has_track();
    leave_rings_to_parent();
    slots::forget_rings();
    ticker::after_fork_in_child();
    if hot::is_attached() {
        hot::detach();
    }
    sys::while_signals_wait(|| sys::on_large_stack(file::reopen_in_child));
    if was_attached {
        let _ = sys::while_signals_wait(threads::attach);
        hot::moved();
    }
}

/// A mapping holds the lock of its file, as a descriptor does. The memory stays: a signal handler that forks may have
/// interrupted a statement.
fn leave_rings_to_parent() {
    SLOTS.iter().filter_map(Slot::region).for_each(|region| region.unshare::<HEADER>());
    let ever = EVER.load(Relaxed);
    if let Some(config) = Config::get().filter(|_| !ever.is_null() && file::get().is_some()) {
        sys::unshare::<0>(ever, Ever::len(config.ever));
    }
}
