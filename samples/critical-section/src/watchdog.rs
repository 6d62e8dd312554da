//! A watchdog, as boards have one: it resets a program that stops responding.
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
    // Only the main thread takes the timer's signal: this thread inherits a mask that blocks it.
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
