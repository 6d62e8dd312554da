//! A forked child: the rings of the parent stay with the parent, and the child's thread gets a ring of its own.

use super::threads;
use crate::hosted::executed::ExecutedBitmap;
use crate::hosted::setup::config::{self, Config};
use crate::hosted::setup::{file, owner};
use crate::hosted::slots::{self, EXECUTED, SLOTS, Slot, spare, spectra};
use crate::hosted::slow_path;
use crate::hosted::system::sys;
use crate::hosted::thread_state::ThisThread;
use crate::hosted::timing::ticker;
use crate::hosted::words::HostedHeader;

/// Bytes of a header that are in use.
const HEADER: usize = size_of::<HostedHeader>();

/// In a child that was forked without the C library, once it detects that. Its first words may be in its parent's
/// ring, in the middle of an action of the parent. That ring counts them as one loss.
#[cold]
pub(crate) fn leave_parent() {
    sys::keeping_errno(|| {
        if let Some(header) = threads::own() {
            header.count_dropped(1);
        }
        on_fork_in_child();
    });
}

/// In a forked child. Its thread gets a ring at once, because statements ask for one only at their next check.
pub(crate) extern "C" fn on_fork_in_child() {
    if owner::is_unseen_child() {
        owner::set_child();
    }
    spare::forget_lost();
    if config::is_off() || config::forget_others() || !config::is_read() {
        return;
    }
    let was_attached = slow_path::has_track();
    leave_rings_to_parent();
    slots::forget_rings();
    ticker::after_fork_in_child();
    if ThisThread::get().is_attached() {
        slow_path::detach();
    }
    spectra::note_fork();
    sys::with_signals_blocked(|| sys::on_large_stack(file::reopen_in_child));
    if was_attached {
        let _ = sys::with_signals_blocked(threads::attach);
        slow_path::move_handlers();
    }
}

/// A mapping keeps the lock of its file, as a descriptor does, so the child unshares all mappings. It keeps the
/// memory: a signal handler that forks may have interrupted a statement.
fn leave_rings_to_parent() {
    SLOTS.iter().filter_map(Slot::region).for_each(|region| region.unshare::<HEADER>());
    let executed = EXECUTED.get();
    if let Some(config) = Config::get().filter(|_| !executed.is_null() && file::get().is_some()) {
        sys::unshare::<0>(executed, ExecutedBitmap::len(config.executed_slots));
    }
}
