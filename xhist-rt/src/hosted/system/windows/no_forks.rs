//! Windows forks no process, so there is nothing that a child would have to undo.

/// No process is forked.
pub(crate) const fn at_fork_in_child(_: extern "C" fn()) {}

/// No page is needed that shows a fork.
pub(crate) const fn map_wiped_on_fork() -> Option<*mut u8> {
    None
}

/// There is no such page.
pub(crate) const fn unmap_wiped(_: *mut u8) {}

/// No memory is shared with a parent.
pub(crate) const fn unshare<const KEPT: usize>(_: *mut u8, _: usize) {}

/// No file can be cut while it is mapped.
pub(crate) const fn forget_cuts() {}
