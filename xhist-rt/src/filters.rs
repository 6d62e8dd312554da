//! The state of the record filters. A check loads two words and tests two bits, or one of each for a record about no
//! object.

use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicBool, fence};

use qs_core::filter::{Filter, Records};
use qs_core::record::RECORD_BASE;
use qs_core::record::trace::{EXCEPTION, PROFILE};

use crate::bits::Bits;

/// The recorder's own records, and trace events. They are on at first.
const OWN: Filter = Filter::NONE
    .on(Records::Id(EXCEPTION))
    .on(Records::Id(PROFILE))
    .on(Records::Id(RECORD_BASE))
    .on(Records::Id(RECORD_BASE + 1))
    .on(Records::Id(RECORD_BASE + 2))
    .on(Records::Id(RECORD_BASE + 3));

/// Whether nothing is recorded before a trigger or the program starts it. A hosted program has a variable for it.
pub(crate) const WAITS: bool = cfg!(all(feature = "wait", not(feature = "std")));

/// The filter that checks use: it lets nothing through while a trigger has stopped the ring.
static GLOBAL: Bits<4> = Bits::new(if WAITS { Filter::NONE.0 } else { Filter::ALWAYS.or(OWN).0 });
/// The filter that the program or a host has set.
static WANTED: Bits<4> = Bits::new(Filter::ALWAYS.or(OWN).0);
static FROZEN: AtomicBool = AtomicBool::new(WAITS);
static LOCAL: Bits<4> = Bits::new(Filter::EVERY_OBJECT.0);

/// Whether both filters let through a record with this id about this object.
#[inline(always)]
pub(crate) fn lets_through(id: u8, object: u8) -> bool {
    GLOBAL.has(id) && LOCAL.has(object)
}

/// The global filter that was set.
pub(crate) fn global() -> Filter {
    Filter(WANTED.get())
}

/// The local filter.
pub(crate) fn local() -> Filter {
    Filter(LOCAL.get())
}

/// Whether the frames of statements are wanted.
#[cfg(feature = "trace")]
pub(crate) fn wants_statements() -> bool {
    global().has(RECORD_BASE + qs_core::record::ids::PACKED)
}

/// Changes the global filter.
pub(crate) fn change_global(how: impl FnOnce(Filter) -> Filter) {
    WANTED.change(|filter| how(Filter(filter)).0);
    publish();
}

/// Changes the local filter.
pub(crate) fn change_local(how: impl FnOnce(Filter) -> Filter) {
    LOCAL.change(|filter| how(Filter(filter)).0);
}

/// Keeps all filtered records out of the ring, or lets them in again. Signal handlers may call it.
#[cfg(feature = "trace")]
pub(crate) fn freeze(is_frozen: bool) {
    FROZEN.store(is_frozen, SeqCst);
    publish();
}

/// Whether all filtered records are kept out.
#[cfg(feature = "trace")]
pub(crate) fn is_frozen() -> bool {
    FROZEN.load(SeqCst)
}

/// Computes the filter that checks use. It needs no lock: a caller that another one has overtaken detects that and
/// tries again.
fn publish() {
    loop {
        let (is_frozen, wanted) = (FROZEN.load(SeqCst), WANTED.get());
        GLOBAL.put(if is_frozen { Filter::NONE.0 } else { wanted });
        fence(SeqCst);
        if (FROZEN.load(SeqCst), WANTED.get()) == (is_frozen, wanted) {
            return;
        }
    }
}
