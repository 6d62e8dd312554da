//! The slow path's access to the state of the calling thread. Accesses are volatile, because a signal handler may come
//! between any two of them.

use core::ops::{Deref, DerefMut};
use core::sync::atomic::Ordering::Relaxed;

use super::cpu::tls;
use super::state::{Handlers, OFF, SCRATCH, ThreadState, Track};
use crate::sync::fence;

/// The state of the calling thread. It cannot be sent to another thread, and the state lives as long as its thread.
#[derive(Clone, Copy)]
pub(crate) struct ThisThread(*mut ThreadState);

/// Reads or writes one field of the state.
macro_rules! field {
    ($(#[$doc:meta])* $get:ident, $(#[$set_doc:meta])* $set:ident: $field:ident $type:ty) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $get(self) -> $type {
            // SAFETY: `ThisThread` points to the state of the calling thread, and only this thread accesses the field.
            unsafe { (&raw const (*self.0).$field).read_volatile() }
        }

        $(#[$set_doc])*
        #[inline(always)]
        pub(crate) fn $set(self, value: $type) {
            // SAFETY: `ThisThread` points to the state of the calling thread, and only this thread accesses the field.
            unsafe { (&raw mut (*self.0).$field).write_volatile(value) }
        }
    };
}

impl ThisThread {
    #[inline(always)]
    pub(crate) fn get() -> ThisThread {
        ThisThread(tls())
    }

    #[inline(always)]
    pub(crate) const fn as_ptr(self) -> *mut ThreadState {
        self.0
    }

    field! {
        /// Where the next word goes.
        cursor,
        /// Sets where the next word goes.
        set_cursor: cursor *mut u8
    }

    field! {
        /// The thread's signal handlers; null if none ran.
        handlers,
        /// Sets the memory for the thread's signal handlers.
        set_handlers: handlers *mut Handlers
    }

    field! {
        /// The track as it is stored; null before the first check, and an invalid address where the thread is not
        /// recorded.
        stored_track,
        /// Stores a track that [`ThisThread::stored_track`] has returned earlier.
        store_track: track *mut Track
    }

    #[inline(always)]
    pub(crate) fn limit(self) -> usize {
        // SAFETY: `ThisThread` points to the state of the calling thread, and the field is atomic.
        unsafe { (*self.0).limit.load(Relaxed) }
    }

    #[inline(always)]
    pub(crate) fn set_limit(self, limit: usize) {
        // SAFETY: `ThisThread` points to the state of the calling thread, and the field is atomic.
        unsafe { (*self.0).limit.store(limit, Relaxed) };
    }

    /// Addresses of cursor and limit.
    pub(crate) fn addresses(self) -> (*const usize, *mut usize) {
        // SAFETY: `ThisThread` points to the state of the calling thread. This computes addresses only.
        unsafe { ((&raw const (*self.0).cursor).cast(), (*self.0).limit.as_ptr()) }
    }

    /// The thread's track; `None` if the thread has no track yet or is not recorded.
    #[inline(always)]
    pub(crate) fn track(self) -> Option<TrackPtr> {
        let track = self.stored_track();
        // SAFETY: only tracks that `set_track` got are stored, apart from null and `OFF`.
        (track.addr() > OFF.addr()).then(|| unsafe { TrackPtr::new(track) })
    }

    /// Gives the thread a track; `None` = the thread is not recorded.
    pub(crate) fn set_track(self, track: Option<TrackPtr>) {
        self.store_track(track.map_or(OFF, TrackPtr::as_ptr));
    }

    /// Whether the thread got a track, or is not recorded.
    pub(crate) fn is_attached(self) -> bool {
        !self.stored_track().is_null()
    }

    /// Whether the thread is not recorded.
    pub(crate) fn is_off(self) -> bool {
        is_off(self.stored_track())
    }

    /// The thread is as at its start: its next check looks for a track.
    pub(crate) fn reset(self) {
        self.set_cursor(SCRATCH.start());
        self.store_track(core::ptr::null_mut());
        self.set_limit(0);
    }

    /// Whether the slow path is changing the thread's track: the caller is a signal handler that interrupted it.
    pub(crate) fn is_busy(self) -> bool {
        self.track().is_some_and(TrackPtr::is_busy)
    }
}

/// Whether a stored track means that the thread is not recorded.
#[inline(always)]
pub(crate) fn is_off(track: *mut Track) -> bool {
    track == OFF
}

/// A track of the calling thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrackPtr(*mut Track);

impl TrackPtr {
    /// # Safety
    /// The track is laid out and stays mapped. Only the calling thread uses it. A signal handler that finds the track
    /// [busy](TrackPtr::is_busy) only calls the methods of this type.
    #[inline(always)]
    pub(crate) const unsafe fn new(track: *mut Track) -> TrackPtr {
        TrackPtr(track)
    }

    #[inline(always)]
    pub(crate) const fn as_ptr(self) -> *mut Track {
        self.0
    }

    /// Whether the slow path is changing this track.
    #[inline(always)]
    pub(crate) fn is_busy(self) -> bool {
        // SAFETY: `new` got a valid track of the calling thread.
        unsafe { (&raw const (*self.0).is_busy).read_volatile() }
    }

    /// The position where the words ended when the track became busy.
    pub(crate) fn busy_at(self) -> u64 {
        // SAFETY: `new` got a valid track of the calling thread.
        unsafe { (&raw const (*self.0).busy_at).read_volatile() }
    }

    /// The track is busy until [`TrackPtr::end`]. Its words end at this position.
    #[inline(always)]
    pub(crate) fn begin(self, busy_at: u64) {
        let track = self.0;
        // SAFETY: `new` got a valid track of the calling thread.
        unsafe {
            // Handlers look at it as soon as the track is busy.
            (&raw mut (*track).busy_at).write_volatile(busy_at);
            (*track).moved.store(0, Relaxed);
            fence();
            (&raw mut (*track).is_busy).write_volatile(true);
        }
        fence();
    }

    /// The track is not busy any more.
    #[inline(always)]
    pub(crate) fn end(self) {
        fence();
        // SAFETY: `new` got a valid track of the calling thread.
        unsafe { (&raw mut (*self.0).is_busy).write_volatile(false) };
    }
}

impl Deref for TrackPtr {
    type Target = Track;

    #[inline(always)]
    fn deref(&self) -> &Track {
        // SAFETY: `new` got a valid track that only the calling thread uses.
        unsafe { &*self.0 }
    }
}

impl DerefMut for TrackPtr {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Track {
        // SAFETY: `new` got a valid track that only the calling thread uses.
        unsafe { &mut *self.0 }
    }
}
