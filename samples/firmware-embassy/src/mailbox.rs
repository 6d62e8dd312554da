//! A place for one reading. It remembers one waker: the bug is that two tasks wait.

use core::cell::RefCell;
use core::future::poll_fn;
use core::task::{Poll, Waker};

use critical_section::Mutex;

pub struct Mailbox {
    inner: Mutex<RefCell<Inner>>,
}

struct Inner {
    reading: Option<u32>,
    waiting: Option<Waker>,
}

impl Mailbox {
    pub const fn new() -> Mailbox {
        Mailbox { inner: Mutex::new(RefCell::new(Inner { reading: None, waiting: None })) }
    }

    pub fn put(&self, reading: u32) {
        let waiting = critical_section::with(|token| {
            let mut inner = self.inner.borrow_ref_mut(token);
            inner.reading = Some(reading);
            inner.waiting.take()
        });
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    pub async fn take(&self) -> u32 {
        poll_fn(|context| {
            critical_section::with(|token| {
                let mut inner = self.inner.borrow_ref_mut(token);
                match inner.reading.take() {
                    Some(reading) => Poll::Ready(reading),
                    None => {
                        inner.waiting = Some(context.waker().clone());
                        Poll::Pending
                    }
                }
            })
        })
        .await
    }
}
