//! The async task of builds that record none: without the feature `trace`, and on bare metal.

/// Holds nothing and does nothing.
pub(crate) struct NoTask;

impl NoTask {
    #[inline(always)]
    pub(crate) fn enter() -> NoTask {
        NoTask
    }

    #[inline(always)]
    pub(crate) fn resume(&self) {}
}
