//! What a statement does not do: the turn, records and events, threads without a ring, parked threads.

use core::ops::Range;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use qs_core::filter::Filter;
use qs_core::record::words::Word;
use qs_core::record::{EventKind, RECORD_BASE, Statement, ids};

use super::{SCRATCH, Tls, handlers, single, tls};
use crate::recorder::{self, Pace};
use crate::ring::SHORT;
use crate::sync::fence;
use crate::words::{MayMove, Place, Writer};

/// One ring, and where its thread goes on in it.
pub(crate) struct Track {
    pub(crate) writer: Writer,
    /// Where the words go on. While the thread writes them, its own cursor is ahead of this.
    pub(super) place: Place,
    /// Its place among the rings of the process.
    pub(super) slot: u16,
    /// Where a cursor of this ring may be.
    addresses: Range<usize>,
    /// The thread's words go to scratch memory, because a trigger has stopped recording.
    pub(super) is_parked: bool,
    /// Signal handlers write here.
    pub(super) is_lane: bool,
    /// A call from here is under way. What comes in then must not touch the writer.
    pub(super) is_busy: bool,
    /// While it is: where its words ended before.
    pub(super) busy_at: u64,
    /// While it is: the position where words go on once the call has moved them, 0 before; and [`TAKEN`]. A handler and the
    /// call agree here by one instruction.
    pub(super) moved: AtomicU64,
    /// No handler came since the chunk was opened, so no position in it has to stay.
    pub(super) may_fold: bool,
    /// The turn.
    turn: TurnBy,
    /// Turns so far.
    turns: u8,
}

/// The turn of a thread whose cursor is there. The track is this thread's.
pub(super) type TurnBy = unsafe fn(*mut Tls, *mut Track, *mut u8) -> *mut u8;

/// In [`Track::moved`]: a handler came and took the position for its own, so words must not move any more.
pub(super) const TAKEN: u64 = 1 << 63;

/// Has words go on at that position, unless a handler has taken another one.
fn may_move(moved: &AtomicU64, to: u64) -> bool {
    moved.fetch_update(Relaxed, Relaxed, |now| (now & TAKEN == 0).then_some(to)).is_ok()
}

/// In [`Tls::track`]: this thread is not recorded.
pub(super) const OFF: *mut Track = core::ptr::without_provenance_mut(1);

/// What is appended beside statements and records.
#[derive(Clone, Copy)]
pub(crate) enum Append {
    /// An event with its value.
    Event(EventKind, u64),
    /// Nothing; all words are to be in whole frames.
    Close,
}

impl Track {
    /// A track in this place of its ring.
    pub(crate) fn new(writer: Writer, place: Place, addresses: Range<usize>, slot: u16) -> Track {
        let turn = single::turn(&writer);
        Track {
            turn,
            writer,
            place,
            slot,
            addresses,
            is_parked: false,
            is_lane: false,
            is_busy: false,
            busy_at: 0,
            moved: AtomicU64::new(0),
            may_fold: true,
            turns: 0,
        }
    }

    /// The words up to the cursor get their times, before something is appended to them.
    #[inline(always)]
    fn dated(&mut self, at: *mut u8) -> *mut u8 {
        match at != self.place.cursor && self.may_fold && !self.is_lane {
            true => self.writer.dated(at, &|to| may_move(&self.moved, to)),
            false => at,
        }
    }

    /// Whether a cursor is in the ring's memory.
    #[inline(always)]
    pub(super) fn has(&self, cursor: *mut u8) -> bool {
        self.addresses.contains(&cursor.addr())
    }
}

/// Lets this thread's words go on there.
fn go_on(tls: *mut Tls, Place { cursor, limit }: Place, pace: Pace) {
    let limit = if pace == Pace::Chunks { limit.addr() } else { 0 };
    // SAFETY: the words are this thread's.
    unsafe {
        (&raw mut (*tls).cursor).write_volatile(cursor);
        (*tls).limit.store(limit, Relaxed);
    }
}

/// Sends this thread's words to scratch memory.
fn go_round(tls: *mut Tls) {
    go_on(tls, recorder::scratch(cursor(tls)), Pace::Chunks);
}

/// This thread's cursor.
pub(super) fn cursor(tls: *mut Tls) -> *mut u8 {
    // SAFETY: the word is this thread's.
    unsafe { (&raw const (*tls).cursor).read_volatile() }
}

fn limit(tls: *mut Tls) -> usize {
    // SAFETY: the word is this thread's.
    unsafe { (*tls).limit.load(Relaxed) }
}

/// Has this thread take the turn at its next check.
pub(crate) fn ask() {
    // SAFETY: the word is this thread's.
    unsafe { (*tls()).limit.store(0, Relaxed) };
}

/// Where this thread's cursor and limit are.
pub(crate) fn words() -> (*const usize, *mut usize) {
    let tls = tls();
    // SAFETY: the words are this thread's.
    unsafe { ((&raw const (*tls).cursor).cast(), (*tls).limit.as_ptr()) }
}

/// Gives this thread a track; `None` when it is not to be recorded.
pub(crate) fn attach(track: Option<*mut Track>) {
    let tls = tls();
    // SAFETY: the word is this thread's.
    unsafe { (&raw mut (*tls).track).write_volatile(track.unwrap_or(OFF)) };
    fence();
    match track {
        // SAFETY: the caller gives a track that only this thread uses.
        Some(track) => unsafe { resume(tls, track) },
        None => go_round(tls),
    }
}

/// Sends the words to the ring, unless a trigger has stopped that.
///
/// # Safety
/// `track` is this thread's.
unsafe fn resume(tls: *mut Tls, track: *mut Track) {
    // SAFETY: the caller's.
    unsafe {
        (*track).is_parked = recorder::is_stopped();
        match (*track).is_parked {
            true => go_round(tls),
            false => go_on(tls, (*track).place, recorder::pace()),
        }
    }
}

/// Whether this is the cursor of a thread that has written no word yet.
fn is_untouched(cursor: *mut u8) -> bool {
    core::ptr::eq(cursor, SCRATCH.0.get().cast())
}

/// Counts the words of a thread without a ring, and lets it write over them.
pub(crate) fn count_lost_words() {
    if is_off() {
        let tls = tls();
        recorder::count_lost_words(cursor(tls));
        go_round(tls);
    }
}

/// Takes the track from this thread, which then is as at its start: its next check looks for another.
pub(crate) fn detach() {
    let tls = tls();
    recorder::leave_scratch(cursor(tls));
    // SAFETY: the words are this thread's.
    unsafe {
        (&raw mut (*tls).cursor).write_volatile(SCRATCH.0.get().cast());
        (&raw mut (*tls).track).write_volatile(core::ptr::null_mut());
        (*tls).limit.store(0, Relaxed);
    }
}

/// Whether this thread was given a track, or is not to be recorded.
pub(crate) fn is_attached() -> bool {
    // SAFETY: the word is this thread's.
    unsafe { !(&raw const (*tls()).track).read_volatile().is_null() }
}

/// Whether this thread is not recorded, now and later.
pub(crate) fn is_off() -> bool {
    // SAFETY: the word is this thread's.
    unsafe { (&raw const (*tls()).track).read_volatile() == OFF }
}

/// This thread's track.
pub(crate) fn track() -> Option<*mut Track> {
    // SAFETY: the word is this thread's.
    let track = unsafe { (&raw const (*tls()).track).read_volatile() };
    (track.addr() > OFF.addr()).then_some(track)
}

/// Whether a call from here is under way: a handler interrupted it and is here.
pub(crate) fn is_inside() -> bool {
    // SAFETY: a track in the thread's words is valid.
    track().is_some_and(|track| unsafe { (&raw const (*track).is_busy).read_volatile() })
}

/// The turn: a check found the cursor at the limit. Returns where the words go on.
pub(super) extern "C" fn turned(at: *mut u8) -> *mut u8 {
    let tls = tls();
    if let Some(track) = track() {
        // SAFETY: a track in the thread's words is valid, and this thread's.
        return unsafe { ((*track).turn)(tls, track, at) };
    }
    turn_at_length(tls, at)
}

/// The turn where many statements share a chunk.
///
/// # Safety
/// As that of the turn.
pub(super) unsafe fn turn_of_chunks(tls: *mut Tls, _: *mut Track, at: *mut u8) -> *mut u8 {
    turn_at_length(tls, at)
}

/// The turn in any case.
#[inline(never)]
pub(super) fn turn_at_length(tls: *mut Tls, at: *mut u8) -> *mut u8 {
    // SAFETY: the word is this thread's.
    unsafe { (&raw mut (*tls).cursor).write_volatile(at) };
    handlers::settle(tls);
    if track().is_some() && recorder::is_unseen_child() {
        recorder::leave_parent();
    }
    match track() {
        None if is_off() => count_lost_words(),
        None => recorder::first(),
        // SAFETY: a track in the thread's words is valid, and this thread's.
        Some(track) => unsafe {
            act(tls, track, Act::Turn, |track, at| {
                if track.is_lane && at.addr() < track.place.limit.addr() {
                    // On a lane each check comes here, to see whether the handler is gone.
                    return Place { cursor: at, ..track.place };
                }
                let is_each = recorder::pace() == Pace::Checks;
                let is_stamp = is_each || at.addr() < track.place.limit.addr();
                let had_none = track.may_fold;
                let (moved, writer) = (&track.moved, &mut track.writer);
                let plan = |to| may_move(moved, to);
                let may_move = had_none && !track.is_lane && !is_each;
                let may_move: Option<MayMove<'_>> = may_move.then_some(&plan);
                // Handlers that come meanwhile say no again.
                (&raw mut track.may_fold).write_volatile(true);
                let place = writer.turn(at, recorder::now(), may_move, is_stamp);
                let has_come = !had_none || track.moved.load(Relaxed) & TAKEN != 0;
                if place.cursor == at && has_come {
                    track.may_fold = false;
                }
                place
            });
            look_around(&mut *track);
        },
    }
    recorder::on_turn();
    cursor(tls)
}

/// Now and then a look at what costs a system call.
#[inline(always)]
fn look_around(track: &mut Track) {
    track.turns = track.turns.wrapping_add(1);
    // Elsewhere each check takes the turn.
    if track.turns.is_multiple_of(16) && !track.is_lane && recorder::pace() == Pace::Chunks {
        recorder::look_at_one();
    }
}

/// What [`act`] is to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    /// The words go on; what is not recorded needs no writer.
    Turn,
    /// Something is appended, whatever becomes of words.
    Append,
}

/// Calls the writer, and sends the thread's words to where it says. What a handler wants that interrupted such a call is
/// counted as lost.
///
/// # Safety
/// `track` is this thread's.
#[inline(always)]
unsafe fn act(tls: *mut Tls, track: *mut Track, what: Act, call: impl FnOnce(&mut Track, *mut u8) -> Place) {
    // SAFETY: the caller's. While it is busy, nobody but this call uses the track.
    unsafe {
        if (&raw const (*track).is_busy).read_volatile() {
            recorder::count_lost();
            return go_round(tls);
        }
        let at = cursor(tls);
        let is_here = !(*track).is_parked && (*track).has(at);
        // Before it is busy, because from then on handlers look there.
        let busy_at = (*track).writer.position(if is_here { at } else { (*track).place.cursor });
        (&raw mut (*track).busy_at).write_volatile(busy_at);
        (*track).moved.store(0, Relaxed);
        fence();
        (&raw mut (*track).is_busy).write_volatile(true);
        fence();
        let pace = recorder::pace();
        if matches!(pace, Pace::Chunks | Pace::Checks) && is_here {
            (*track).place = call(&mut *track, at);
            go_on(tls, (*track).place, if (*track).is_lane { Pace::Checks } else { pace });
        } else {
            act_at_length(tls, &mut *track, what, pace, call);
        }
        fence();
        (&raw mut (*track).is_busy).write_volatile(false);
        look_for_move(tls, track);
    }
}

/// Behind a call on a track: a handler that came meanwhile may have forked. Its child has another track, which brings the words
/// over at the next check.
#[inline(always)]
fn look_for_move(tls: *mut Tls, track: *mut Track) {
    // SAFETY: the words are this thread's.
    unsafe {
        if (&raw const (*tls).track).read_volatile() != track {
            (*tls).limit.store(0, Relaxed);
        }
    }
}

/// The same where recording is stopped or counted, or the words went elsewhere.
#[inline(never)]
fn act_at_length(
    tls: *mut Tls,
    track: &mut Track,
    what: Act,
    pace: Pace,
    call: impl FnOnce(&mut Track, *mut u8) -> Place,
) {
    let (found, is_elsewhere) = (cursor(tls), track.is_parked || !track.has(cursor(tls)));
    let mut at = if is_elsewhere { track.place.cursor } else { found };
    if is_elsewhere && !track.is_parked && !is_untouched(found) {
        // A handler gave the thread this ring, or the process was forked. Words went on where they went before.
        match recorder::words_left_behind(found).and_then(|words| track.writer.bring(at, words)) {
            Some(place) => at = place.cursor,
            None => recorder::count_lost(),
        }
    }
    let mut is_last = false;
    if let (Pace::Counted(left), false) = (pace, track.is_parked) {
        let counted = track.writer.count();
        if !track.writer.is_counting() {
            track.writer.mark(at);
        } else if let Some(place) = track.writer.trim_to(at, counted + left) {
            at = place.cursor;
        }
        is_last = recorder::spend(track.writer.count() - counted);
        if is_last {
            track.writer.stop_counting();
            track.place = track.writer.append_event(at, EventKind::Stopped, 0, recorder::now());
            at = track.place.cursor;
        }
    }
    let pace = recorder::pace();
    track.place.cursor = at;
    if !is_last && (what == Act::Append || pace != Pace::Stopped && !track.is_parked) {
        track.place = call(track, at);
    }
    if !matches!(pace, Pace::Counted(_)) {
        track.writer.stop_counting();
    }
    track.is_parked = pace == Pace::Stopped;
    match track.is_parked {
        true => go_round(tls),
        false => {
            if is_elsewhere {
                recorder::leave_scratch(found);
            }
            go_on(tls, track.place, if track.is_lane { Pace::Checks } else { pace });
        }
    }
}

/// Has this thread's words go where they belong by now: recording was started or stopped.
pub(crate) fn settle() {
    if let Some(track) = track() {
        // SAFETY: a track in the thread's words is valid, and this thread's.
        unsafe { act(tls(), track, Act::Turn, |_, at| Place { cursor: at, limit: core::ptr::null_mut() }) };
    }
}

/// Appends something else than a statement or a record.
pub(crate) fn append(what: Append) {
    let tls = tls();
    look_for_fork();
    count_lost_words();
    if let Some(track) = track() {
        // SAFETY: a track in the thread's words is valid, and this thread's.
        unsafe {
            act(tls, track, Act::Append, |track, at| {
                let at = track.dated(at);
                match what {
                    // Readers take both for one time.
                    Append::Event(EventKind::Until, time) => {
                        track.writer.append_event(at, EventKind::Until, time, time)
                    }
                    Append::Event(kind, value) => track.writer.append_event(at, kind, value, recorder::now()),
                    Append::Close => track.writer.close(at, recorder::now),
                }
            });
        }
    }
    match what {
        // Triggers set off no triggers.
        Append::Event(EventKind::Started | EventKind::Stopped | EventKind::Armed, _) | Append::Close => {}
        Append::Event(..) => recorder::on_record(RECORD_BASE + ids::EVENT),
    }
}

/// Appends a record of QS, perhaps the first of a thread, see [`Writer::append_record`].
#[inline(never)]
pub(crate) fn append_record<const LEN: usize, const TIMED: bool>(bytes: &[u8; LEN], len: usize) {
    let stamp = match track() {
        // SAFETY: a track in the thread's words is valid, and this thread's.
        Some(track) if !recorder::is_unseen_child() && !recorder::is_record_awaited() => unsafe {
            append_at_once::<LEN, TIMED>(track, bytes, len)
        },
        _ => Some(0),
    };
    if let Some(stamp) = stamp {
        append_at_length::<LEN, TIMED>(bytes, len, stamp);
        recorder::on_record(bytes[1]);
    }
}

/// The same where the record before was the last thing in the ring, without what is done only then and when. Where that is
/// not so, the stamp, 0 for none so far.
///
/// # Safety
/// `track` is this thread's.
#[inline(always)]
unsafe fn append_at_once<const LEN: usize, const TIMED: bool>(
    track: *mut Track,
    bytes: &[u8; LEN],
    len: usize,
) -> Option<u64> {
    let tls = tls();
    // SAFETY: the caller's. While it is busy, nobody but this call uses the track.
    unsafe {
        let is_busy = (&raw const (*track).is_busy).read_volatile();
        if is_busy || !(*track).writer.is_ready_at(cursor(tls)) {
            return Some(0);
        }
        (&raw mut (*track).busy_at).write_volatile((*track).writer.first_word());
        (*track).moved.store(0, Relaxed);
        fence();
        (&raw mut (*track).is_busy).write_volatile(true);
        fence();
        let mut left = Some(0);
        if recorder::is_running() {
            let stamp = if TIMED { recorder::now() } else { 0 };
            left = Some(stamp);
            if let Some(cursor) = (*track).writer.append_at_once::<LEN, TIMED>(bytes, len, stamp) {
                (*track).place.cursor = cursor;
                go_on(tls, (*track).place, Pace::Chunks);
                left = None;
            }
        }
        fence();
        (&raw mut (*track).is_busy).write_volatile(false);
        look_for_move(tls, track);
        left
    }
}

/// The same in any case. The stamp is 0 where there is none so far.
#[cold]
#[inline(never)]
fn append_at_length<const LEN: usize, const TIMED: bool>(bytes: &[u8; LEN], len: usize, stamp: u64) {
    look_for_fork();
    let Some(track) = track().or_else(|| recorder::first_record(is_always_on(bytes[1]))) else {
        return;
    };
    // SAFETY: a track in the thread's words is valid, and this thread's.
    unsafe {
        act(tls(), track, Act::Append, |track, at| {
            let at = track.dated(at);
            let stamp = if TIMED && stamp == 0 { recorder::now() } else { stamp };
            track.writer.append_record::<LEN, TIMED>(at, bytes, len, stamp)
        });
    }
}

/// Whether no trigger keeps this record out.
fn is_always_on(id: u8) -> bool {
    Filter::ALWAYS.has(id)
}

/// Leaves the parent's rings to it in a child that the recorder did not hear of.
#[inline(always)]
fn look_for_fork() {
    if recorder::is_unseen_child() && !is_inside() {
        recorder::leave_parent();
    }
}

/// Records a statement whose numbers are known at run time only.
pub(crate) fn at(file: u16, line: u16) {
    let tls = tls();
    if cursor(tls).addr() >= limit(tls) {
        turned(cursor(tls));
    }
    let put = |bytes: &[u8]| {
        let cursor = cursor(tls);
        // SAFETY: behind a check there is room for a word, and the words are this thread's.
        unsafe {
            cursor.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            (&raw mut (*tls).cursor).write_volatile(cursor.wrapping_add(bytes.len()));
        }
    };
    match Word::new(Statement { file, line }, 0) {
        Some(Word::Short(bytes)) => put(&bytes),
        Some(Word::Long(bytes)) => put(&bytes),
        None => record_alone(file, line),
    }
}

/// Records a statement for which there is no word: as a record of its own.
#[cold]
#[inline(never)]
pub(super) fn record_alone(file: u16, line: u16) {
    let mut bytes = [0; SHORT];
    let word = Statement { file, line }.to_word().to_le_bytes();
    bytes[1] = RECORD_BASE + ids::STATEMENT;
    bytes[2..6].copy_from_slice(&word);
    append_record::<SHORT, false>(&bytes, 2 + word.len());
}
