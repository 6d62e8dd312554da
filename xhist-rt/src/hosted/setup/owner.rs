//! Which process has the rings: a child that was forked without the C library detects here that it is not that process.

use crate::hosted::system::mapped::ForkMark;

static OWNER: ForkMark = ForkMark::new();

/// This process has rings from now on. In a child that does not know yet that it is one, nothing changes.
pub(crate) fn set_owner() {
    OWNER.mark();
}

/// This is a child, which has rings of its own from now on.
pub(crate) fn set_child() {
    OWNER.mark_again();
}

/// Whether this is a child that was forked without the C library.
#[inline(always)]
pub(crate) fn is_unseen_child() -> bool {
    OWNER.is_wiped()
}
