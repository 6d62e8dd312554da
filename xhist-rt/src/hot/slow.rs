//! What the hot path does not do: other pages, full frames, events, threads without a ring, and handlers that
//! interrupted any of that.

use super::cpu::{add_to_page, tls};
use super::{LOCKED, TOUCHED, Tls};
use crate::ring::{Append, Writer};
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

    fn is_dead(this: *mut Tls) -> bool {
        // SAFETY: as in `kill`.
        unsafe { (&raw const (*this).cursor).read_volatile() == (&raw mut (*this).dead).cast() }
    }

    fn page(this: *mut Tls) -> u64 {
        // SAFETY: as in `kill`.
        unsafe { (&raw const (*this).page).read_volatile() }
    }

    fn set_page(this: *mut Tls, page: u64) {
        // SAFETY: as in `kill`.
        unsafe { (&raw mut (*this).page).write_volatile(page) };
    }

    fn cursor(this: *mut Tls) -> *mut u8 {
        // SAFETY: as in `kill`.
        unsafe { (&raw const (*this).cursor).read_volatile() }
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
    Tls::set_page(tls, 0);
    fence();
    // SAFETY: as in `attach`.
    unsafe { (&raw mut (*tls).writer).write_volatile(core::ptr::null_mut()) };
}

/// Whether this thread was given a writer, or is not to be recorded.
pub(crate) fn is_attached() -> bool {
    // SAFETY: the word is this thread's.
    unsafe { !(&raw const (*tls()).writer).read_volatile().is_null() }
}

/// This thread's writer.
pub(crate) fn writer() -> Option<*mut Writer> {
    // SAFETY: the word is this thread's.
    let writer = unsafe { (&raw const (*tls()).writer).read_volatile() };
    (writer.addr() > OFF.addr()).then_some(writer)
}

/// The statement is not on the page of the hot path, and has subtracted its own.
#[cold]
#[inline(never)]
pub(crate) fn miss(page: u32, code: u8) {
    let tls = tls();
    let found = Tls::page(tls).wrapping_add(u64::from(page));
    let Some(writer) = writer() else {
        Tls::set_page(tls, found);
        return crate::recorder::first(Site::at(page, code));
    };
    if found >= u64::from(PAGES_FROM) && found & 1 == 0 && !Tls::is_dead(tls) {
        Tls::set_page(tls, LOCKED);
        fence();
        // SAFETY: a writer in the thread's words is valid; the lock is ours and was nobody's.
        let is_turned = unsafe {
            Writer::turn_page(writer, page, code, Tls::cursor(tls), |cursor| {
                (&raw mut (*tls).cursor).write_volatile(cursor);
            })
        };
        if is_turned {
            return add_to_page(tls, u64::from(page) - LOCKED);
        }
    }
    append_apart(tls, writer, found, Site::at(page, code));
}

/// What is left of [`miss`].
#[cold]
#[inline(never)]
fn append_apart(tls: *mut Tls, writer: *mut Writer, found: u64, site: Site) {
    append_from(tls, writer, found, crate::recorder::statement(site));
}

/// The statement has the lock, and no free byte at `cursor`.
#[cold]
#[inline(never)]
pub(crate) fn full(site: Site, cursor: *mut u8) {
    let tls = tls();
    Tls::set_page(tls, LOCKED);
    fence();
    let Some(writer) = writer() else { return };
    let cursor = if Tls::is_dead(tls) { None } else { Some(cursor) };
    // SAFETY: a writer in the thread's words is valid, and the lock is ours and was ours.
    unsafe { Writer::follow(writer, cursor) };
    finish(tls, writer, crate::recorder::statement(site));
}

/// Appends something else than a statement.
pub(crate) fn append(what: Append) {
    let tls = tls();
    if let Some(writer) = writer() {
        append_from(tls, writer, Tls::page(tls), what);
    }
}

/// Appends, where the page word was `found`.
#[inline(always)]
fn append_from(tls: *mut Tls, writer: *mut Writer, found: u64, what: Append) {
    if found & 1 != 0 {
        // Inside an append on the slow path.
        Tls::set_page(tls, found);
        // SAFETY: a writer in the thread's words is valid.
        unsafe { Writer::append(writer, what, |_, _| Tls::kill(tls)) };
        return Tls::set_page(tls, TOUCHED);
    }
    Tls::set_page(tls, LOCKED);
    fence();
    if found >= u64::from(PAGES_FROM) {
        let cursor = if Tls::is_dead(tls) { None } else { Some(Tls::cursor(tls)) };
        // SAFETY: as above; the lock is ours and was nobody's.
        unsafe { Writer::follow(writer, cursor) };
        return finish(tls, writer, what);
    }
    // Inside a statement of the hot path, or of its failing to take the lock: its owner goes on later, and must
    // find nothing changed but the dead cursor.
    if !Tls::is_dead(tls) {
        // SAFETY: as above; the interrupted statement only touches a byte that is free.
        unsafe { Writer::take_over(writer, Tls::cursor(tls)) };
        Tls::kill(tls);
    }
    // SAFETY: as above.
    unsafe { Writer::append(writer, what, |_, _| {}) };
    fence();
    Tls::set_page(tls, found);
}

/// Appends with the lock held, and gives it back.
#[inline(always)]
fn finish(tls: *mut Tls, writer: *mut Writer, what: Append) {
    let mut page = Site::NONE;
    // SAFETY: a writer in the thread's words is valid.
    unsafe {
        Writer::append(writer, what, |run_page, cursor| {
            page = run_page;
            match run_page {
                Site::NONE => Tls::kill(tls),
                _ => (&raw mut (*tls).cursor).write_volatile(cursor),
            }
        });
    }
    fence();
    // When a handler came in meanwhile, the sum is no page: the next statement comes here again.
    add_to_page(tls, u64::from(page) - LOCKED);
}
