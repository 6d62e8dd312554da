//! A value that several threads, or interrupts, use one at a time.

/// A shared value, behind a mutex in hosted programs, and behind a critical section otherwise.
pub(crate) struct Shared<T> {
    #[cfg(feature = "std")]
    value: std::sync::Mutex<T>,
    #[cfg(not(feature = "std"))]
    value: critical_section::Mutex<core::cell::RefCell<T>>,
}

impl<T> Shared<T> {
    pub(crate) const fn new(value: T) -> Shared<T> {
        #[cfg(feature = "std")]
        let value = std::sync::Mutex::new(value);
        #[cfg(not(feature = "std"))]
        let value = critical_section::Mutex::new(core::cell::RefCell::new(value));
        Shared { value }
    }

    /// Calls `act` with the value, which must not call `with` again. `None`, without a call, in builds without `trace`.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> Option<R> {
        if cfg!(not(feature = "trace")) {
            return None;
        }
        #[cfg(feature = "std")]
        return Some(act(&mut self.value.lock().unwrap_or_else(std::sync::PoisonError::into_inner)));
        #[cfg(not(feature = "std"))]
        critical_section::with(|token| {
            self.value.borrow(token).try_borrow_mut().ok().map(|mut value| act(&mut value))
        })
    }
}
