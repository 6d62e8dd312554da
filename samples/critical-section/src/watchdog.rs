//! What a board has for such cases: a watchdog that resets a program which stops responding.
// xhist instrument FALSE

use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

static HANDLED: AtomicU32 = AtomicU32::new(0);

pub fn event_handled() {
    HANDLED.store(HANDLED.load(Relaxed) + 1, Relaxed);
}

pub fn start() {
    // The timer's signal is for the main thread: this one inherits that it is kept out.
    // SAFETY: the sets are initialised before they are used.
    unsafe {
        let mut alarm = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        libc::sigemptyset(alarm.as_mut_ptr());
        libc::sigaddset(alarm.as_mut_ptr(), libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_BLOCK, alarm.as_ptr(), before.as_mut_ptr());
        std::thread::spawn(watch);
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
    }
}

fn watch() {
    let mut seen = 0;
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let handled = HANDLED.load(Relaxed);
        if handled == seen {
            let events = crate::event_handlers::events();
            eprintln!("watchdog: {events} events came, {handled} were handled, then nothing for half a second; reset");
            std::process::abort();
        }
        seen = handled;
    }
}
