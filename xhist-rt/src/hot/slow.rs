//! What the hot path does not do: other pages, full frames, events, threads without a ring, and handlers that
//! interrupted any of that.

use qs_core::record::{EventKind, RECORD_BASE, ids};

use super::cpu::{add_to_page, tls};
use super::{INSIDE, LOCKED, TOUCHED, Tls};
use crate::ring::{Append, Hot, MEDIUM, Place, Record, Writer};
use crate::site::{PAGES_FROM, Site};
use crate::sync::fence;

/// In [`Tls::writer`]: this thread is not recorded.
const OFF: *mut Writer = core::ptr::without_provenance_mut(1);

impl Tls {
    /// Points the cursor at a byte that is not free.
    fn kill(this: *mut Tls) {
        // SAFETY: the words are this thread's.
        unsafe { (&raw mut (*this).cursor).write_volatile((&raw mut (*this).dead).cast()) };
    }

    fn page(this: *mut Tls) -> u64 {
        // SAFETY: as in `kill`.
        unsafe { (&raw const (*this).page).read_volatile() }
    }

    fn set_page(this: *mut Tls, page: u64) {
        // SAFETY: as in `kill`.
        unsafe { (&raw mut (*this).page).write_volatile(page) };
    }

    /// Where the hot path goes on, when its page word was `found`; `None` when it must not.
    fn place(this: *mut Tls, found: u64) -> Option<Place> {
        // When a handler has touched the word, it is no page, but begins like one.
        let page = if is_free(found) { found as u32 & !TOUCHED as u32 } else { Site::NONE };
        Tls::cursor(this).map(|cursor| Place { cursor, page })
    }

    /// Its cursor.
    fn cursor(this: *mut Tls) -> Option<*mut u8> {
        // SAFETY: as in `kill`.
        let (cursor, dead) =
            unsafe { ((&raw const (*this).cursor).read_volatile(), (&raw mut (*this).dead).cast()) };
        (cursor != dead).then_some(cursor)
    }

    fn set_cursor(this: *mut Tls, cursor: *mut u8) {
        // SAFETY: as in `kill`.
        unsafe { (&raw mut (*this).cursor).write_volatile(cursor) };
    }
}

/// Gives this thread a writer; `None` when it is not to be recorded.
pub(crate) fn attach(writer: Option<*mut Writer>) {
    let tls = tls();
    // SAFETY: the words are this thread's; with the page last, nobody uses the others before.
    unsafe {
        (*tls).dead = [0xFF; 8];
        Tls::kill(tls);
        (&raw mut (*tls).writer).write_volatile(writer.unwrap_or(OFF));
        fence();
        Tls::set_page(tls, u64::from(Site::NONE));
    }
}

/// Takes the writer from this thread; its next statement starts anew.
pub(crate) fn detach() {
    let tls = tls();
    // No page, whatever an interrupted statement adds to it.
    Tls::set_page(tls, LOCKED);
    fence();
    // SAFETY: as in `attach`.
    unsafe { (&raw mut (*tls).writer).write_volatile(core::ptr::null_mut()) };
}

/// Whether an append of this thread is under way: a handler interrupted it and is here.
pub(crate) fn is_inside() -> bool {
    writer().is_some() && !is_free(Tls::page(tls()))
}

/// Gives this thread another writer where [`is_inside`]. What is under way goes on with the one it had, and the hot path
/// is closed until that is done.
pub(crate) fn replace(writer: *mut Writer) {
    let tls = tls();
    if let Some(before) = self::writer() {
        // SAFETY: both are valid; nobody but this thread uses them, and signals wait.
        unsafe { Writer::replace(before, writer) };
    }
    Tls::kill(tls);
    // SAFETY: the word is this thread's.
    unsafe { (&raw mut (*tls).writer).write_volatile(writer) };
}

/// Whether this thread was given a writer, or is not to be recorded.
pub(crate) fn is_attached() -> bool {
    // SAFETY: the word is this thread's.
    unsafe { !(&raw const (*tls()).writer).read_volatile().is_null() }
}

/// Whether this thread is not recorded, now and later.
pub(crate) fn is_off() -> bool {
    // SAFETY: the word is this thread's.
    unsafe { (&raw const (*tls()).writer).read_volatile() == OFF }
}

/// This thread's writer.
pub(crate) fn writer() -> Option<*mut Writer> {
    // SAFETY: the word is this thread's.
    let writer = unsafe { (&raw const (*tls()).writer).read_volatile() };
    (writer.addr() > OFF.addr()).then_some(writer)
}

/// The statement is not on the page of the hot path, and has subtracted its own. [`Site::turn`] tells its byte.
#[cold]
#[inline(never)]
pub(crate) extern "C" fn miss(page: u32, turn: u32) {
    let tls = tls();
    let site = Site::at(page, (turn >> 8) as u8);
    let found = Tls::page(tls).wrapping_add(u64::from(page));
    let Some(writer) = writer() else {
        if is_off() {
            Tls::set_page(tls, found);
        }
        // Otherwise the word is of no use before there is a ring, which a handler may have made meanwhile.
        return crate::recorder::first(site);
    };
    if crate::recorder::is_unseen_child() {
        return in_unseen_child(tls, writer, found, site);
    }
    if !is_free(found) {
        Tls::set_page(tls, found);
    }
    append_statement(tls, writer, found, site);
}

/// In a child that the recorder was not told of: its statements are not its parent's. Inside of an append, all goes on as it
/// began.
#[cold]
#[inline(never)]
fn in_unseen_child(tls: *mut Tls, writer: *mut Writer, found: u64, site: Site) {
    // As if the statement had not tried.
    Tls::set_page(tls, found);
    if !is_free(found) {
        return append_at_length(tls, writer, found, site);
    }
    crate::recorder::leave_parent();
    crate::recorder::first(site);
}

/// The same before something else than a statement.
#[inline(always)]
fn look_for_fork(tls: *mut Tls) {
    #[cold]
    #[inline(never)]
    fn leave_parent(tls: *mut Tls) {
        if is_free(Tls::page(tls)) {
            crate::recorder::leave_parent();
        }
    }
    if crate::recorder::is_unseen_child() {
        leave_parent(tls);
    }
}

/// Appends a statement, unless a trigger has stopped that.
#[inline(always)]
fn append_statement(tls: *mut Tls, writer: *mut Writer, found: u64, site: Site) {
    if is_free(found) && crate::recorder::is_plain() && Tls::cursor(tls).is_some() {
        append_shortly(tls, writer, found, site);
    } else {
        append_at_length(tls, writer, found, site);
    }
}

/// The same where the hot path goes on, and there may be no more to do than usual.
#[inline(never)]
fn append_shortly(tls: *mut Tls, writer: *mut Writer, found: u64, site: Site) {
    Tls::set_page(tls, LOCKED);
    fence();
    let (place, publish) = (|| Tls::place(tls, found), |cursor| publish(tls, writer, cursor));
    // SAFETY: a writer in the thread's words is valid; the lock is ours and was nobody's.
    if unsafe { Writer::append_shortly(writer, site, place, publish) } {
        return add_to_page(tls, u64::from(site.page()) - LOCKED);
    }
    append_at_length(tls, writer, found, site);
}

/// What is left of [`append_statement`].
#[cold]
#[inline(never)]
fn append_at_length(tls: *mut Tls, writer: *mut Writer, found: u64, site: Site) {
    if crate::recorder::is_plain() {
        let what = crate::recorder::statement(site);
        if let Append::Single(site, time) = what {
            // SAFETY: a writer in the thread's words is valid; the lock is taken.
            let single = || unsafe { Writer::single(writer, site, time) };
            if append_alone(tls, found, single) {
                return;
            }
        }
        return append_from(tls, writer, found, what);
    }
    if !crate::recorder::is_stopped() {
        append_from(tls, writer, found, crate::recorder::statement(site));
        crate::recorder::count();
    }
    if is_free(found) {
        // The next statement shall come here, too.
        append_free(tls, writer, Tls::page(tls), Append::Nothing);
    }
}

/// Whether this page word says that nothing is under way. What statements leave that fail to take the lock may be less
/// than nothing, which is more than any page.
#[inline(always)]
pub(super) const fn is_free(found: u64) -> bool {
    found.wrapping_sub(PAGES_FROM as u64) < PAGES_FROM as u64 && found & LOCKED == 0
}

/// The statement has the lock, and no free byte. [`Site::turn`] tells its byte.
#[cold]
#[inline(never)]
pub(crate) extern "C" fn full(page: u32, turn: u32) {
    let tls = tls();
    let Some(writer) = writer() else { return };
    let (found, site) = (u64::from(page), Site::at(page, (turn >> 8) as u8));
    if crate::recorder::is_unseen_child() {
        return in_unseen_child(tls, writer, found, site);
    }
    // As if the statement had not tried: it gives the lock back.
    append_statement(tls, writer, found, site);
}

/// Appends a frame of its own where nothing is under way and no frame is open; false when there is, or `act` says so.
#[inline(always)]
fn append_alone(tls: *mut Tls, found: u64, act: impl FnOnce() -> bool) -> bool {
    if !is_free(found) || Tls::cursor(tls).is_some() {
        return false;
    }
    Tls::set_page(tls, LOCKED);
    fence();
    let done = act();
    if done {
        add_to_page(tls, u64::from(Site::NONE) - LOCKED);
    }
    done
}

/// Appends something else than a statement.
pub(crate) fn append(what: Append<'_>) {
    let tls = tls();
    look_for_fork(tls);
    if let Some(writer) = writer() {
        append_from(tls, writer, Tls::page(tls), what);
    }
    match what {
        // Triggers set off no triggers.
        Append::Event(EventKind::Started | EventKind::Stopped | EventKind::Armed, _) => {}
        Append::Event(..) => crate::recorder::on_record(RECORD_BASE + ids::EVENT),
        _ => {}
    }
}

/// Appends a record of QS, perhaps the first of a thread: see [`Record`].
#[inline(never)]
pub(crate) fn append_record<const LEN: usize, const TIMED: bool>(bytes: &[u8; LEN], len: usize)
where
    for<'a> Append<'a>: From<Record<'a, LEN>>,
{
    let record = Record { bytes, len, timed: TIMED };
    let tls = tls();
    look_for_fork(tls);
    let Some(writer) = writer() else {
        crate::recorder::first_record(record.into());
        return crate::recorder::on_record(record.id());
    };
    // SAFETY: a writer in the thread's words is valid; the lock is taken.
    let shortly = || unsafe { Writer::record::<LEN, TIMED>(writer, bytes, len) };
    if const { LEN > MEDIUM } || !append_alone(tls, Tls::page(tls), shortly) {
        append_apart(record.into());
    }
    crate::recorder::on_record(record.id());
}

/// What is left of [`append_record`].
#[cold]
#[inline(never)]
fn append_apart(what: Append<'_>) {
    append(what);
}

/// Appends, where the page word was `found`.
#[inline(always)]
fn append_from(tls: *mut Tls, writer: *mut Writer, found: u64, what: Append<'_>) {
    if is_free(found) {
        return append_free(tls, writer, found, what);
    }
    // Inside an append on the slow path, a statement of the hot path, or its failing to take the lock. Its owner goes
    // on later, and must find nothing changed but the dead cursor, and that it was touched.
    let is_inside = found & LOCKED == 0 || found & INSIDE == INSIDE;
    let hot = || match is_inside {
        true => Hot::Inside(Tls::cursor(tls)),
        false => Hot::Free(Tls::place(tls, found)),
    };
    Tls::set_page(tls, if found & LOCKED == 0 { INSIDE } else { found });
    fence();
    // SAFETY: a writer in the thread's words is valid.
    unsafe { Writer::append(writer, what, hot, |_, _| Tls::kill(tls)) };
    fence();
    Tls::set_page(tls, if found & LOCKED == 0 { found } else { found | TOUCHED });
}

/// Tells the hot path where to go on, unless the thread was given another writer meanwhile.
fn publish(tls: *mut Tls, writer: *mut Writer, cursor: *mut u8) {
    Tls::set_cursor(tls, cursor);
    fence();
    if self::writer() != Some(writer) {
        Tls::kill(tls);
    }
}

/// Appends where nothing is under way.
#[inline(always)]
fn append_free(tls: *mut Tls, writer: *mut Writer, found: u64, what: Append<'_>) {
    Tls::set_page(tls, LOCKED);
    fence();
    let mut page = Site::NONE;
    // SAFETY: a writer in the thread's words is valid.
    unsafe {
        Writer::append(
            writer,
            what,
            || Hot::Free(Tls::place(tls, found)),
            |run_page, cursor| match (run_page, what) {
                (Site::NONE, _) | (_, Append::Nothing) => Tls::kill(tls),
                _ => {
                    page = run_page;
                    publish(tls, writer, cursor);
                }
            },
        );
    }
    fence();
    // When a handler came in meanwhile, the sum is no page: the next statement comes here again.
    add_to_page(tls, u64::from(page) - LOCKED);
}
