//! The roll-over: a check has found the cursor at the limit.

use core::sync::atomic::Ordering::Relaxed;

use crate::hosted::setup::owner;
use crate::hosted::slots::foreign;
use crate::hosted::thread_state::{TAKEN, ThisThread, Track};
use crate::hosted::threads;
use crate::hosted::timing::pace::{self, Pace};
use crate::hosted::timing::{stamp, ticker};
use crate::hosted::track::act::{Purpose, act, count_lost_words, may_move};
use crate::hosted::track::{handlers, pending};
use crate::hosted::words::{MayMove, Place};

/// Returns the place where the words continue.
#[inline(never)]
pub(crate) extern "C" fn roll_over(at: *mut u8) -> *mut u8 {
    let thread = ThisThread::get();
    let has_to_wait = thread.track().is_some_and(pending::catch_up);
    thread.set_cursor(at);
    handlers::settle(thread);
    if thread.track().is_some() && owner::is_unseen_child() {
        threads::leave_parent();
    }
    match thread.track() {
        None if thread.is_off() => count_lost_words(),
        None => threads::first_check(),
        Some(mut track) => {
            act(thread, track, Purpose::RollOver, |track, at| {
                if track.is_lane && at.addr() < track.place.limit.addr() {
                    // On a lane each check comes here, to detect that the handler has returned.
                    return Place { cursor: at, ..track.place };
                }
                let is_each = pace::pace() == Pace::Checks;
                let is_stamp = is_each || at.addr() < track.place.limit.addr();
                let had_none = track.may_fold;
                let (moved, writer) = (&track.moved, &mut track.writer);
                let plan = |to| may_move(moved, to);
                let may_move = had_none && !track.is_lane && !is_each;
                let may_move: Option<MayMove<'_>> = may_move.then_some(&plan);
                // SAFETY: the field is valid and not borrowed. The store is volatile because a handler that comes
                // from here on stores `false` again.
                unsafe { (&raw mut track.may_fold).write_volatile(true) };
                let place = writer.roll_over(at, stamp::now(), may_move, is_stamp);
                let has_come = !had_none || track.moved.load(Relaxed) & TAKEN != 0;
                if place.cursor == at && has_come {
                    track.may_fold = false;
                }
                place
            });
            look_for_foreign_handler(&mut track);
        }
    }
    ticker::on_roll_over();
    if has_to_wait {
        thread.set_limit(0);
    }
    thread.cursor()
}

/// Looks at one signal every 16 roll-overs, because that costs a system call.
#[inline(always)]
fn look_for_foreign_handler(track: &mut Track) {
    track.roll_overs = track.roll_overs.wrapping_add(1);
    // With another pace each check rolls over.
    if track.roll_overs.is_multiple_of(16) && !track.is_lane && pace::pace() == Pace::Chunks {
        foreign::look_at_one();
    }
}
