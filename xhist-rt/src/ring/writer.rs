//! All parts of the history of one ring, and which of them an append belongs to.
//!
//! Appends of handlers that interrupt appends go one level up, to a part of their own behind what the interrupted
//! append has reserved. Whoever finds parts above its own takes them over when it is done.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use core::mem::offset_of;

use qs_core::filter::Filter;
use qs_core::record::EventKind;
use qs_core::ring::Touched;

use super::Ever;
use super::run::Place;
use super::run::{Around, Clock, Memory, NO_GUARD, Run};
use super::{Header, LONG, MEDIUM, SHORT};
use crate::site::Site;
use crate::sync::{Word, fence};

/// Parts of a history: one, and one for each handler inside another's append.
const LEVELS: usize = qs_core::ring::NESTED + 1;

/// What is appended.
#[derive(Clone, Copy)]
pub(crate) enum Append<'a> {
    /// A statement, in a packed frame.
    Statement(Site),
    /// A record.
    Short(Record<'a, SHORT>),
    /// A record of medium length.
    Medium(Record<'a, MEDIUM>),
    /// A long record.
    Long(Record<'a, LONG>),
    /// The end of the open frame.
    Close,
    /// A statement in a frame of its own, with this time.
    Single(Site, Option<u64>),
    /// An event.
    Event(EventKind, u64),
    /// Nothing: only finds out where the hot path is.
    Nothing,
}

impl Append<'_> {
    /// Whether it is a record that no filter keeps out.
    pub(crate) fn is_always_on(&self) -> bool {
        match self {
            Append::Short(record) => Filter::ALWAYS.has(record.id()),
            Append::Medium(record) => Filter::ALWAYS.has(record.id()),
            Append::Long(record) => Filter::ALWAYS.has(record.id()),
            _ => false,
        }
    }
}

/// A record before its sequence number, time, checksum and escapes are known.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a, const LEN: usize> {
    /// A place for the sequence number, the id, a place for the time stamp, the payload; zeros behind it.
    pub(crate) bytes: &'a [u8; LEN],
    /// Bytes up to the end of the payload.
    pub(crate) len: usize,
    /// Whether there is a time stamp.
    pub(crate) timed: bool,
}

impl<const LEN: usize> Record<'_, LEN> {
    #[inline(always)]
    pub(crate) const fn id(&self) -> u8 {
        self.bytes[1]
    }
}

macro_rules! records {
    ($($name:ident $len:expr),*) => {$(
        impl<'a> From<Record<'a, $len>> for Append<'a> {
            #[inline(always)]
            fn from(record: Record<'a, $len>) -> Append<'a> {
                Append::$name(record)
            }
        }
    )*};
}

records!(Short SHORT, Medium MEDIUM, Long LONG);

/// What the hot path of the thread is about, and up to where it has written; nowhere when something else has been
/// written since.
pub(crate) enum Hot {
    /// Nothing is under way.
    Free(Option<Place>),
    /// A statement is under way, and was interrupted.
    Inside(Option<*mut u8>),
}

/// Writes one ring. Lies in memory of its own, where no reader looks.
///
/// Handlers use it in the middle of an append, so there is never a reference to all of it; a run is borrowed by the
/// one append that is under way on its level.
#[repr(C)]
pub(crate) struct Writer {
    /// Appends under way.
    busy: AtomicU32,
    /// The highest level with a part, in the low byte; the rest counts appends above the lowest level.
    top: AtomicU32,
    /// Position of a byte that an interrupted statement of the hot path may yet write.
    guard: Word,
    runs: [Run; LEVELS],
    header: *mut Header,
    clock: Option<Clock>,
    ever: Option<Ever>,
}

impl Writer {
    /// Makes a writer of an empty ring, in its place: all at once it would be some kilobytes of stack.
    ///
    /// # Safety
    /// There is room for it at `this`. `header` was laid out and is followed by the ring; all are valid for as long as the
    /// writer is used. One thread uses it, and what interrupts that.
    pub(crate) unsafe fn init(
        this: *mut Writer,
        header: *mut Header,
        clock: Option<Clock>,
        ever: Option<Ever>,
    ) {
        // SAFETY: the caller's: so many bytes of header, then so many of ring; every field is written once.
        unsafe {
            let len = usize::from((*header).header_len);
            let memory = Memory::new(header.cast::<u8>().add(len), (*header).size as usize);
            (&raw mut (*this).busy).write(AtomicU32::new(0));
            (&raw mut (*this).top).write(AtomicU32::new(0));
            (&raw mut (*this).guard).write(Word::new(NO_GUARD));
            for level in 0..LEVELS {
                (&raw mut (*this).runs[level]).write(Run::new(memory));
            }
            (&raw mut (*this).header).write(header);
            (&raw mut (*this).clock).write(clock);
            (&raw mut (*this).ever).write(ever);
        }
    }

    /// Appends, at any time. Unless it interrupted another append, it asks `hot` first where the hot path is, and in
    /// the end tells `publish` the page and the cursor for it.
    ///
    /// # Safety
    /// The writer is valid, and the caller is the thread that writes it, or a handler on that thread.
    #[inline]
    pub(crate) unsafe fn append(
        this: *mut Writer,
        what: Append<'_>,
        hot: impl FnOnce() -> Hot,
        publish: impl FnOnce(u32, *mut u8),
    ) {
        // SAFETY: the writer is valid. Handlers that come in work on higher levels, so that the run of this level is
        // only borrowed here; all else that they change are atomic words.
        unsafe {
            let busy = &(*this).busy;
            let level = busy.load(Relaxed) as usize;
            if level >= LEVELS {
                return (*(*this).header).count_dropped(1);
            }
            busy.store(level as u32 + 1, Relaxed);
            fence();
            if level > 0 {
                Writer::begin(this, level);
            } else {
                Writer::follow(this, &hot());
            }
            loop {
                Writer::take_parts(this, level);
                if Writer::append_to(this, level, what) {
                    break;
                }
            }
            Writer::take_parts(this, level);
            if level == 0 {
                let run = &raw const (*this).runs[0];
                publish((*run).page(), (*run).cursor());
            } else {
                Writer::count(this);
            }
            fence();
            busy.store(level as u32, Relaxed);
            // A handler that comes in before that leaves a part; the next append takes it.
        }
    }

    /// What an append on this level works on beside its run.
    ///
    /// # Safety
    /// The writer is valid.
    #[inline(always)]
    unsafe fn around<'a>(this: *mut Writer, level: usize) -> Around<'a> {
        // SAFETY: the caller's.
        unsafe {
            Around {
                header: &*(*this).header,
                state: Writer::state(this, level),
                last_time: Writer::last_time(this),
                clock: (*this).clock,
                top: &(*this).top,
                level,
                above: (&raw const (*this).runs).cast::<Run>().wrapping_add(level + 1),
                guard: &(*this).guard,
                ever: (*this).ever.as_ref(),
            }
        }
    }

    /// One try; false when a handler came in between.
    ///
    /// # Safety
    /// As [`Writer::append`], whose append is under way on this level.
    #[inline]
    unsafe fn append_to(this: *mut Writer, level: usize, what: Append<'_>) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let around = Writer::around(this, level);
            let run = &mut (*this).runs[level];
            match what {
                Append::Statement(site) => run.append(site, &around),
                Append::Short(record) => run.append_record(record, &around),
                Append::Medium(record) => run.append_record(record, &around),
                Append::Long(record) => run.append_record(record, &around),
                Append::Close => run.close(&around),
                Append::Single(site, time) => run.append_single(site, time, &around),
                Append::Event(kind, value) => run.append_event(kind, value, &around),
                Append::Nothing => Ok(()),
            }
            .is_ok()
        }
    }
}

impl Writer {
    /// Does something short to the lowest run where the hot path is free and nothing else is to be done; false
    /// when there is, or `act` says so.
    ///
    /// # Safety
    /// As [`Writer::append`], where the hot path is free.
    #[inline(always)]
    unsafe fn shortly(this: *mut Writer, act: impl FnOnce(&mut Run) -> bool) -> bool {
        // SAFETY: as in `append`, on the lowest level.
        unsafe {
            (*this).busy.store(1, Relaxed);
            fence();
            let is_plain = Writer::top_level(this) == 0 && (*this).guard.load() == NO_GUARD;
            let done = is_plain && act(&mut (*this).runs[0]);
            fence();
            (*this).busy.store(0, Relaxed);
            done
        }
    }

    /// Appends a statement behind what the hot path has written: `place` tells where that is, `publish` is told where it
    /// goes on. See [`Run::append_shortly`].
    ///
    /// # Safety
    /// As [`Writer::append`], where the hot path is free.
    #[inline]
    pub(crate) unsafe fn append_shortly(
        this: *mut Writer,
        site: Site,
        place: impl FnOnce() -> Option<Place>,
        publish: impl FnOnce(*mut u8),
    ) -> bool {
        // SAFETY: as in `append`, on the lowest level.
        unsafe {
            let around = Writer::around(this, 0);
            Writer::shortly(this, |run| {
                let done = place().is_some_and(|place| run.append_shortly(site, place, &around));
                if done {
                    publish(run.cursor());
                }
                done
            })
        }
    }

    /// Where the lowest run is.
    pub(crate) const RUN_AT: usize = offset_of!(Writer, runs);

    /// The highest level with a part.
    ///
    /// # Safety
    /// The writer is valid.
    #[inline(always)]
    unsafe fn top_level(this: *mut Writer) -> usize {
        // SAFETY: the caller's.
        unsafe { ((*this).top.load(Relaxed) & 0xFF) as usize }
    }

    /// Appends a statement in a frame of its own, see [`Run::append_single_shortly`].
    ///
    /// # Safety
    /// As [`Writer::append`], where the hot path is free and has not written since the last append.
    pub(crate) unsafe fn single(this: *mut Writer, site: Site, time: Option<u64>) -> bool {
        // SAFETY: as in `append`, on the lowest level.
        unsafe {
            let around = Writer::around(this, 0);
            Writer::shortly(this, |run| run.append_single_shortly(site, time, &around))
        }
    }

    /// Appends a record, see [`Run::append_record_shortly`].
    ///
    /// # Safety
    /// As [`Writer::single`].
    #[inline(always)]
    pub(crate) unsafe fn record<const LEN: usize, const TIMED: bool>(
        this: *mut Writer,
        bytes: &[u8; LEN],
        len: usize,
    ) -> bool {
        // SAFETY: as in `append`, on the lowest level.
        unsafe {
            let around = Writer::around(this, 0);
            Writer::shortly(this, |run| run.append_record_shortly::<LEN, TIMED>(bytes, len, &around))
        }
    }

    /// Goes on where the hot path is.
    ///
    /// # Safety
    /// As [`Writer::append`], whose append is under way on the lowest level.
    #[inline]
    unsafe fn follow(this: *mut Writer, hot: &Hot) {
        // SAFETY: handlers do not use the lowest run meanwhile.
        unsafe {
            let (run, guard, header) = (&mut (*this).runs[0], &(*this).guard, &*(*this).header);
            match *hot {
                // Once a handler has gone on in its place, what the hot path left is stale.
                Hot::Free(_) if guard.load() != NO_GUARD => {
                    guard.store(NO_GUARD);
                    header.touched.store(Touched::NONE.0, Relaxed);
                }
                Hot::Free(None) => {}
                Hot::Free(Some(place)) => run.follow(place),
                // Two handlers inside statements that follow each other: what the first has taken over goes on.
                Hot::Inside(_) if guard.load() != NO_GUARD => {}
                Hot::Inside(None) => {}
                Hot::Inside(Some(cursor)) => guard.store(run.take_over(cursor, header)),
            }
        }
    }

    /// A statement of the hot path that was interrupted knows `before`, and goes on when its thread has `this`: there is
    /// no free byte for it there, and where it then is means nothing here.
    ///
    /// # Safety
    /// Both are valid. The calling thread's handlers wait, and nothing but what it was interrupted in uses `before`.
    pub(crate) unsafe fn replace(before: *mut Writer, this: *mut Writer) {
        /// No position of any ring.
        const NOWHERE: u64 = 1 << 62;
        // SAFETY: the caller's.
        unsafe {
            (*before).runs[0].leave_no_room((*before).guard.load());
            (*this).guard.store(NOWHERE);
        }
    }

    /// The ring.
    ///
    /// # Safety
    /// The writer is valid.
    pub(crate) unsafe fn header(this: *mut Writer) -> *mut Header {
        // SAFETY: the field never changes.
        unsafe { (*this).header }
    }

    /// The state word of a level.
    ///
    /// # Safety
    /// The writer is valid.
    unsafe fn state<'a>(this: *mut Writer, level: usize) -> &'a Word {
        // SAFETY: hosted rings have a hosted header.
        unsafe {
            match level.checked_sub(1) {
                None => &(*(*this).header).state,
                Some(index) => &(*(*this).header.cast::<super::HostedHeader>()).nested[index].state,
            }
        }
    }

    /// The newest time.
    ///
    /// # Safety
    /// The writer is valid.
    unsafe fn last_time<'a>(this: *mut Writer) -> Option<&'a Word> {
        // SAFETY: hosted rings have a hosted header.
        unsafe { Some(&(*(*this).header.cast::<super::HostedHeader>()).last_time) }
    }

    /// Opens the parts up to this level that are not there. A handler that comes in does the same, with the same
    /// result.
    ///
    /// # Safety
    /// As [`Writer::append`], whose append is under way on this level.
    #[cold]
    unsafe fn begin(this: *mut Writer, level: usize) {
        // SAFETY: the runs above the top are in nobody's use.
        unsafe {
            loop {
                let top = (*this).top.load(Relaxed);
                let next = (top & 0xFF) as usize + 1;
                if next > level {
                    return;
                }
                let (below, run) = (&raw const (*this).runs[next - 1], &raw mut (*this).runs[next]);
                (*run).restart(&*below);
                let part = &(*(*this).header.cast::<super::HostedHeader>()).nested[next - 1];
                let start = (*run).reserve();
                part.state.store(start.word());
                fence();
                part.start.store(start.head + 1);
                fence();
                let _ = (*this).top.compare_exchange(top, top + 1, Relaxed, Relaxed);
            }
        }
    }

    /// Tells that a run above the lowest has changed.
    ///
    /// # Safety
    /// The writer is valid.
    unsafe fn count(this: *mut Writer) {
        // SAFETY: the caller's.
        unsafe { (*this).top.fetch_add(0x100, Relaxed) };
    }

    /// Takes over what handlers wrote above this level, from the top down.
    ///
    /// # Safety
    /// As [`Writer::append`], whose append is under way on this level.
    #[inline]
    unsafe fn take_parts(this: *mut Writer, level: usize) {
        // SAFETY: the caller's.
        unsafe {
            if Writer::top_level(this) > level {
                Writer::take_parts_now(this, level);
            }
        }
    }

    /// # Safety
    /// As [`Writer::take_parts`].
    #[cold]
    unsafe fn take_parts_now(this: *mut Writer, level: usize) {
        // SAFETY: handlers that come in go above the level that `busy` tells, so the runs up to there are only
        // used here; if one came in before that, the exchange fails.
        unsafe {
            // Runs that are already a copy of the one above, which may have gone on since.
            let mut copied = [false; LEVELS];
            loop {
                let top = (*this).top.load(Relaxed);
                let upper = (top & 0xFF) as usize;
                if upper <= level {
                    break;
                }
                (*this).busy.store(upper as u32 + 1, Relaxed);
                fence();
                let (below, above) = (&raw mut (*this).runs[upper - 1], &raw const (*this).runs[upper]);
                if !copied[upper - 1] {
                    (*below).finish((*this).ever.as_ref());
                    fence();
                }
                let origin = (*below).origin();
                below.copy_from_nonoverlapping(above, 1);
                (*below).set_origin(origin);
                Writer::state(this, upper - 1).store(Writer::state(this, upper).load());
                fence();
                let taken = top.wrapping_add(0x100) - 1;
                copied[upper - 1] = (*this).top.compare_exchange(top, taken, Relaxed, Relaxed).is_err();
            }
            (*this).busy.store(level as u32 + 1, Relaxed);
            fence();
        }
    }
}
