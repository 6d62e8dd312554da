//! Asynchronous events: a one-shot timer whose signal handler counts an event.

use std::mem::{MaybeUninit, zeroed};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::crit_section;

static EVENTS: AtomicU32 = AtomicU32::new(0);

extern "C" fn on_timer(_signal: libc::c_int) {
    crit_section::add(1);
    let events = EVENTS.load(Relaxed);
    EVENTS.store(events + 1, Relaxed);
}

pub fn install() {
    // SAFETY: the action is fully initialised; the handler only touches atomics.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = on_timer as *const () as usize;
        libc::sigaction(libc::SIGALRM, &action, null_mut());
    }
}

// xhist instrument FALSE
pub fn events() -> u32 {
    EVENTS.load(Relaxed)
}

/// The timer fires once, at an unpredictable moment.
pub fn request_event() {
    let micros = 20 + pseudo_random() % 180;
    let time = |tv_usec| libc::timeval { tv_sec: 0, tv_usec };
    let timer = libc::itimerval { it_interval: time(0), it_value: time(micros) };
    // SAFETY: `timer` is a complete value, and the old one is not asked for.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, null_mut()) };
}

/// Sleeps until an event is counted. Waiting unblocks the signal atomically, so no event is missed.
pub fn wait_for_event() {
    // SAFETY: the sets are initialised before they are used.
    unsafe {
        let mut alarm = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        libc::sigemptyset(alarm.as_mut_ptr());
        libc::sigaddset(alarm.as_mut_ptr(), libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_BLOCK, alarm.as_ptr(), before.as_mut_ptr());
        while crit_section::waiting() == 0 {
            libc::sigsuspend(before.as_ptr());
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
    }
}

fn pseudo_random() -> i64 {
    static SEED: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let seed = SEED.load(Relaxed) ^ now.subsec_nanos();
    let next = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    SEED.store(next, Relaxed);
    i64::from(next >> 8)
}
// xhist instrument TRUE
