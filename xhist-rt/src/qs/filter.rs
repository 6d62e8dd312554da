//! The filters as they are now: two loads and two bit tests, one of each where a record is about nothing.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU32, fence};

use qs_core::filter::{Filter, Objects, Records};
use qs_core::record::RECORD_BASE;
use qs_core::record::trace::{EXCEPTION, PROFILE};

use super::config::LEFT_OUT;
use crate::shared::Shared;

/// The recorder's own records, and trace events: they are on at first.
const OWN: Filter = Filter::NONE
    .on(Records::Id(EXCEPTION))
    .on(Records::Id(PROFILE))
    .on(Records::Id(RECORD_BASE))
    .on(Records::Id(RECORD_BASE + 1))
    .on(Records::Id(RECORD_BASE + 2))
    .on(Records::Id(RECORD_BASE + 3));

/// What is looked at: nothing while a trigger has stopped the ring.
static GLOBAL: [AtomicU32; 4] = atomic(Filter::ALWAYS.or(OWN));
/// What was asked for.
static WANTED: [AtomicU32; 4] = atomic(Filter::ALWAYS.or(OWN));
static FROZEN: AtomicBool = AtomicBool::new(false);
static LOCAL: [AtomicU32; 4] = atomic(Filter::EVERY_OBJECT);

const fn atomic(Filter([a, b, c, d]): Filter) -> [AtomicU32; 4] {
    [AtomicU32::new(a), AtomicU32::new(b), AtomicU32::new(c), AtomicU32::new(d)]
}

fn get(words: &[AtomicU32; 4]) -> Filter {
    Filter(core::array::from_fn(|word| words[word].load(Relaxed)))
}

/// Changes a filter, a word at a time.
fn change(words: &[AtomicU32; 4], change: impl FnOnce(Filter) -> Filter) {
    static TURN: Shared<()> = Shared::new(());
    TURN.with(|()| put(words, change(get(words))));
}

fn put(words: &[AtomicU32; 4], Filter(filter): Filter) {
    words.iter().zip(filter).for_each(|(word, filter)| word.store(filter, Relaxed));
}

/// Whether a record about this object is wanted. Where the id is a constant, as it should be, this is two loads and two bit
/// tests.
#[inline(always)]
pub fn is_on(id: u8, object: u8) -> bool {
    cfg!(feature = "trace") && !LEFT_OUT.has(id) && bit(&GLOBAL, id) != 0 && bit(&LOCAL, object) != 0
}

#[inline(always)]
fn bit(words: &[AtomicU32; 4], index: u8) -> u32 {
    let index = index & 127;
    words[usize::from(index / 32)].load(Relaxed) >> (index % 32) & 1
}

/// The global filter: which records are wanted.
pub fn global() -> Filter {
    get(&WANTED)
}

/// The local filter: which objects are.
pub fn local() -> Filter {
    get(&LOCAL)
}

/// Sets the global filter. Statements are recorded while record 122 is wanted.
pub(super) fn set_global(filter: Filter) {
    const STATEMENTS: u8 = RECORD_BASE + 2;
    let before = global().has(STATEMENTS);
    change(&WANTED, |_| filter);
    show();
    if before != filter.has(STATEMENTS) {
        crate::recorder::mute(before);
    }
}

/// Keeps all filtered records out of the ring, or no longer. Signal handlers may do so.
#[cfg(feature = "trace")]
pub(crate) fn freeze(is_frozen: bool) {
    FROZEN.store(is_frozen, SeqCst);
    show();
}

/// Has that looked at which was asked for. No lock: whoever is late sees that, and does it again.
fn show() {
    loop {
        let (is_frozen, wanted) = (FROZEN.load(SeqCst), get(&WANTED));
        put(&GLOBAL, if is_frozen { Filter::NONE } else { wanted });
        fence(SeqCst);
        if (FROZEN.load(SeqCst), get(&WANTED)) == (is_frozen, wanted) {
            return;
        }
    }
}

/// Changes the local filter.
pub(super) fn change_local(how: impl FnOnce(Filter) -> Filter) {
    change(&LOCAL, how);
}

/// Switches records on. At first only those are on that always are, and the recorder's own.
///
/// ```
/// use xhist_rt::qs::{self, Group, Records};
/// qs::global_on(Records::Group(Group::Sm));
/// qs::global_off(Records::Id(1));
/// ```
pub fn global_on(records: Records) {
    set_global(global().on(records));
}

/// Switches records off.
pub fn global_off(records: Records) {
    set_global(global().off(records));
}

/// Switches objects on. At first all are.
pub fn local_on(objects: Objects) {
    change_local(|filter| filter.object_on(objects));
}

/// Switches objects off.
pub fn local_off(objects: Objects) {
    change_local(|filter| filter.object_off(objects));
}
