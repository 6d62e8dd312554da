//! Software triggers: when recording starts and stops, so that the ring keeps the history before that.
//!
//! The thread that stops recording stops at once. Other threads stop at their next check, a function entry or a loop
//! head: nothing else on the fast path reads the state.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU32, fence};

use qs_core::record::EventKind;

use crate::filters;
use crate::hosted::setup::config::Config;
use crate::hosted::setup::trigger_state::{COUNTING, MUTED, RUNNING, STATE, STOP_ON, STOP_ON_AFTER, STOPPED};
use crate::hosted::threads;
use crate::hosted::timing::pace::call_all;
use crate::hosted::track::act::count_lost_words;
use crate::hosted::track::events::{self, Append, publish};

/// How often each trigger of the sources was passed.
static PASSED: [AtomicU32; TRIGGERS] = [const { AtomicU32::new(0) }; TRIGGERS];
/// Number of triggers that sources may hold. Further triggers share the numbers.
const TRIGGERS: usize = 64;

/// Lets the environment decide first whether to wait for a start. The program's own calls come after that.
fn settle() {
    let _ = Config::get();
}

/// Starts recording, if it was stopped. Statements of this thread are recorded from here on, those of others
/// as well, unless the global filter keeps them out.
///
/// Source: QS software triggers.
pub fn start() {
    let state = if filters::wants_statements() { RUNNING } else { MUTED };
    settle();
    count_lost_words();
    let before = STATE.swap(state, AcqRel);
    if before == STOPPED {
        filters::freeze(false);
    }
    if matches!(before, STOPPED | MUTED) && state == RUNNING {
        threads::append(Append::Event(EventKind::Started, 0));
        call_all();
    }
    apply_filters();
}

/// Stops recording, of records too; the rings keep what they have. Other threads record until their next function
/// entry or round of a loop.
pub fn stop() {
    threads::check_for_fork();
    events::stop();
}

/// Stops recording after this many more statements of this thread and of others, which notice it at their next check.
/// If recording is stopped already, nothing happens.
pub fn stop_after(statements: u64) {
    threads::check_for_fork();
    events::stop_after(statements);
}

/// The filter lets statements through or keeps them out. If a trigger stops recording, also meanwhile, it stays
/// stopped.
pub(crate) fn apply_filters() {
    settle();
    count_lost_words();
    loop {
        fence(SeqCst);
        let state = STATE.load(Acquire);
        let turn_to = |next| STATE.compare_exchange(state, next, AcqRel, Relaxed).is_ok();
        match (filters::wants_statements(), state) {
            (true, MUTED) => {
                if turn_to(RUNNING) {
                    threads::append(Append::Event(EventKind::Started, 0));
                    call_all();
                }
            }
            (false, RUNNING | COUNTING) => {
                threads::append(Append::Event(EventKind::Stopped, 0));
                turn_to(MUTED);
                publish();
            }
            _ => return,
        }
    }
}

/// Stops recording `after` statements behind the next record with this id, for example 123, an event of the recorder.
pub fn stop_on_record(id: u8, after: u64) {
    STOP_ON_AFTER.store(after, Relaxed);
    STOP_ON.store(u32::from(id) + 1, Release);
}

/// Counts a passage of a trigger in the sources. Returns whether it was the `hit`-th one.
fn pass(trigger: u16, hit: u32) -> bool {
    PASSED[usize::from(trigger) % TRIGGERS].fetch_add(1, Relaxed) + 1 == hit.max(1)
}

pub(crate) fn start_at(trigger: u16, hit: u32) {
    if pass(trigger, hit) {
        start();
    }
}

pub(crate) fn stop_at(trigger: u16, hit: u32, after: u32) {
    if pass(trigger, hit) {
        stop_after(u64::from(after));
    }
}
