//! Which process has the rings: a child that was forked without the C library detects here that it is not that process.

use crate::hosted::system::sys;

static OWNER: sys::ForkMark = sys::ForkMark::new();

/// This process has rings from now on.
pub(crate) fn set_owner() {
    OWNER.set();
}

/// Whether this is a child that was forked without the C library.
#[inline(always)]
pub(crate) fn is_unseen_child() -> bool {
    OWNER.is_wiped()
}
