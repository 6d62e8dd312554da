//! Memory of its own for what one thread lays out and all threads read: a value, and the page that shows a process
//! that it was forked.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::hosted::system::shared_state::{MarkWord, Published};
use crate::hosted::system::sys;

/// A value that may be replaced. Earlier values stay, because other threads may read them.
pub(crate) struct Mapped<T: 'static>(Published<T>);

impl<T: Sync> Mapped<T> {
    pub(crate) const fn new() -> Mapped<T> {
        Mapped(Published::null())
    }

    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: `set` has laid the value out in memory that stays mapped, and nothing changes it.
        unsafe { self.0.get().as_ref() }
    }

    /// Replaces the value. Returns false if there is no memory for it.
    #[must_use]
    pub(crate) fn set(&self, value: T) -> bool {
        const { assert!(align_of::<T>() <= 4096, "mappings are aligned to pages") };
        let Some(memory) = sys::map_anonymous(size_of::<T>()) else { return false };
        let memory = memory.cast::<T>();
        // SAFETY: this function has just mapped the memory, which has room for the value.
        self.0.publish(memory, || unsafe { memory.write(value) });
        true
    }

    /// In a forked child.
    pub(crate) fn forget(&self) {
        self.0.forget();
    }
}

/// A word that is 1, and 0 in a child that was forked since: there the kernel wipes its page (Linux 4.14 and later).
pub(crate) struct ForkMark(MarkWord);

/// The word before there is such a page, and on systems without one.
static UNMARKED: AtomicU64 = AtomicU64::new(1);

impl ForkMark {
    pub(crate) const fn new() -> ForkMark {
        ForkMark(MarkWord::new((&raw const UNMARKED).cast_mut()))
    }

    /// Marks the process unless it is marked, so that its children detect that they are forks of it.
    pub(crate) fn mark(&self) {
        let unmarked = (&raw const UNMARKED).cast_mut();
        if !core::ptr::eq(self.0.word(), unmarked) {
            return;
        }
        let Some(page) = sys::map_wiped_on_fork() else { return };
        // SAFETY: the page has room for the word, and no other thread has its address.
        let is_in_use = self.0.mark(unmarked, page.cast(), |page| unsafe { &*page });
        if !is_in_use {
            // Another thread was faster.
            sys::unmap_wiped(page);
        }
    }

    /// In a child: marks it as a process of its own.
    pub(crate) fn mark_again(&self) {
        self.word().store(1, Ordering::Relaxed);
    }

    /// Whether this is a child in which [`ForkMark::mark_again`] was not called.
    #[inline(always)]
    pub(crate) fn is_wiped(&self) -> bool {
        self.word().load(Ordering::Relaxed) == 0
    }

    #[inline(always)]
    fn word(&self) -> &AtomicU64 {
        // SAFETY: the pointer is that of a static, or of a page that stays mapped once it is in use.
        unsafe { &*self.0.word() }
    }
}
