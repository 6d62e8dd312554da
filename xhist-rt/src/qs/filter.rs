//! The filters as they are now: two loads and two bit tests, one of each where a record is about nothing.

use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicBool, fence};

use qs_core::filter::{Filter, Objects, Records};
use qs_core::record::RECORD_BASE;
use qs_core::record::trace::{EXCEPTION, PROFILE};

use super::config::LEFT_OUT;
use crate::bits::Bits;

/// The recorder's own records, and trace events: they are on at first.
const OWN: Filter = Filter::NONE
    .on(Records::Id(EXCEPTION))
    .on(Records::Id(PROFILE))
    .on(Records::Id(RECORD_BASE))
    .on(Records::Id(RECORD_BASE + 1))
    .on(Records::Id(RECORD_BASE + 2))
    .on(Records::Id(RECORD_BASE + 3));

/// What is looked at: nothing while a trigger has stopped the ring.
static GLOBAL: Bits<4> = Bits::new(Filter::ALWAYS.or(OWN).0);
/// What was asked for.
static WANTED: Bits<4> = Bits::new(Filter::ALWAYS.or(OWN).0);
static FROZEN: AtomicBool = AtomicBool::new(false);
static LOCAL: Bits<4> = Bits::new(Filter::EVERY_OBJECT.0);

/// Whether a record about this object is wanted. Where the id is a constant, as it should be, this is two loads and two bit
/// tests.
#[inline(always)]
pub fn is_on(id: u8, object: u8) -> bool {
    cfg!(feature = "trace") && !LEFT_OUT.has(id) && GLOBAL.has(id) && LOCAL.has(object)
}

/// The global filter: which records are wanted.
pub fn global() -> Filter {
    Filter(WANTED.get())
}

/// The local filter: which objects are.
pub fn local() -> Filter {
    Filter(LOCAL.get())
}

/// Whether frames of statements are.
#[cfg(feature = "trace")]
pub(crate) fn wants_statements() -> bool {
    global().has(RECORD_BASE + qs_core::record::ids::PACKED)
}

/// Changes the global filter. Statements are recorded while their frames are wanted.
pub(super) fn change_global(how: impl FnOnce(Filter) -> Filter) {
    WANTED.change(|filter| how(Filter(filter)).0);
    show();
    crate::recorder::heed_filters();
}

/// Keeps all filtered records out of the ring, or no longer. Signal handlers may do so.
#[cfg(feature = "trace")]
pub(crate) fn freeze(is_frozen: bool) {
    FROZEN.store(is_frozen, SeqCst);
    show();
}

/// Whether they are kept out.
#[cfg(feature = "trace")]
pub(crate) fn is_frozen() -> bool {
    FROZEN.load(SeqCst)
}

/// Has that looked at which was asked for. No lock: whoever is late sees that, and does it again.
fn show() {
    loop {
        let (is_frozen, wanted) = (FROZEN.load(SeqCst), WANTED.get());
        GLOBAL.put(if is_frozen { Filter::NONE.0 } else { wanted });
        fence(SeqCst);
        if (FROZEN.load(SeqCst), WANTED.get()) == (is_frozen, wanted) {
            return;
        }
    }
}

/// Changes the local filter.
pub(super) fn change_local(how: impl FnOnce(Filter) -> Filter) {
    LOCAL.change(|filter| how(Filter(filter)).0);
}

/// Switches records on. At first only those are on that always are, and the recorder's own.
///
/// ```
/// use xhist_rt::qs::{self, Group, Records};
/// qs::global_on(Records::Group(Group::Sm));
/// qs::global_off(Records::Id(1));
/// ```
pub fn global_on(records: Records) {
    change_global(|filter| filter.on(records));
}

/// Switches records off.
pub fn global_off(records: Records) {
    change_global(|filter| filter.off(records));
}

/// Switches objects on. At first all are.
pub fn local_on(objects: Objects) {
    change_local(|filter| filter.object_on(objects));
}

/// Switches objects off.
pub fn local_off(objects: Objects) {
    change_local(|filter| filter.object_off(objects));
}
