//! The filters as programs and hosts use them.

use qs_core::filter::{Filter, Objects, Records};

use super::config::LEFT_OUT;
use crate::filters;

/// Whether a record about this object is wanted. If the id is a constant, as it should be, this is two loads and two bit
/// tests.
#[inline(always)]
pub fn is_on(id: u8, object: u8) -> bool {
    cfg!(feature = "trace") && !LEFT_OUT.has(id) && filters::lets_through(id, object)
}

/// The global filter: the records that are on.
pub fn global() -> Filter {
    filters::global()
}

/// The local filter: which objects are wanted.
pub fn local() -> Filter {
    filters::local()
}

/// Changes the global filter. Statements are recorded while their frames are on.
pub(super) fn change_global(how: impl FnOnce(Filter) -> Filter) {
    filters::change_global(how);
    crate::recorder::apply_filters();
}

/// Changes the local filter.
pub(super) fn change_local(how: impl FnOnce(Filter) -> Filter) {
    filters::change_local(how);
}

/// Switches records on in the global filter. At start, only the recorder's own records and those that are always on are on.
///
/// ```
/// use xhist_rt::qs::{self, Group, Records};
/// qs::global_on(Records::Group(Group::Sm));
/// qs::global_off(Records::Id(1));
/// ```
pub fn global_on(records: Records) {
    change_global(|filter| filter.on(records));
}

/// Switches records off in the global filter.
pub fn global_off(records: Records) {
    change_global(|filter| filter.off(records));
}

/// Switches objects on in the local filter. At start, all objects are on.
pub fn local_on(objects: Objects) {
    change_local(|filter| filter.object_on(objects));
}

/// Switches objects off in the local filter.
pub fn local_off(objects: Objects) {
    change_local(|filter| filter.object_off(objects));
}
