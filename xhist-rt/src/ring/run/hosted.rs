//! What only hosted rings need: the hot path apart from the run, handlers inside appends, and other frames.

use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;

use qs_core::record::packed::step;
use qs_core::record::{EventKind, RECORD_BASE, Statement};
use qs_core::ring::{Touched, frame_room};

use super::frame::single;
use super::memory::Reserve;
use super::openings::OPENINGS_SHIFT;
use super::{Again, Around, NO_GUARD, Run};
use crate::ring::{Ever, Header};
use crate::site::Site;
use crate::sync::fence;

/// Where the hot path is.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) cursor: *mut u8,
    /// [`Site::NONE`] when it is not known.
    pub(crate) page: u32,
}

/// Where a run keeps what the hot path reads to turn a page: offsets.
#[allow(dead_code, reason = "the portable hot path reads less")]
pub(crate) struct At {
    pub(crate) pages: usize,
    pub(crate) openings: usize,
    /// The place of an opening is a page's hash without so many bits.
    pub(crate) openings_shift: u32,
    pub(crate) mark_at: usize,
    pub(crate) limit: usize,
}

/// See [`At`].
pub(crate) const AT: At = At {
    pages: offset_of!(Run, pages),
    openings: offset_of!(Run, openings),
    openings_shift: OPENINGS_SHIFT,
    mark_at: offset_of!(Run, mark_at),
    limit: offset_of!(Run, limit),
};

impl Run {
    /// The reserve of the run below that this one was begun behind.
    pub(crate) const fn origin(&self) -> u64 {
        self.origin
    }

    /// The hot path has written up to here.
    pub(crate) fn follow(&mut self, place: Place) {
        if self.is_open {
            // Never beyond the end of the frame, though somebody may have written over it in a shared file.
            (self.cursor, self.page) = (place.cursor.min(self.limit), place.page);
        }
    }

    /// Goes on behind a statement of the hot path that was interrupted at `cursor`: it may have been written or not, and
    /// may be written at any later time, if the byte is still free then. When it was, the next one will try the byte
    /// behind it. Returns the position of the byte that is tried.
    pub(crate) fn take_over(&mut self, mut cursor: *mut u8, header: &Header) -> u64 {
        if !self.is_open {
            return NO_GUARD;
        }
        // SAFETY: below the limit lie bytes of the open frame; what is not free there was written by the statement.
        while cursor < self.limit && unsafe { cursor.read_volatile() } != step::FREE {
            cursor = cursor.wrapping_add(1);
        }
        cursor = cursor.min(self.limit);
        (self.cursor, self.page) = (cursor, Site::NONE);
        let position = self.position(cursor);
        let index = self.memory.index(position);
        if cursor < self.limit {
            header.touched.store(Touched::skip(index).0, Relaxed);
            fence();
            // SAFETY: as above.
            unsafe { cursor.write_volatile(step::SKIP) };
            self.cursor = cursor.wrapping_add(1);
        } else {
            header.touched.store(Touched::end(index).0, Relaxed);
        }
        position
    }

    /// Leaves no free byte where the hot path may be, or where an interrupted statement tries one.
    pub(crate) fn leave_no_room(&self, guard: u64) {
        let from = if guard == NO_GUARD { self.position(self.cursor) } else { guard };
        for position in from..from + frame_room(self.memory.size) as u64 {
            self.memory.put(position, u8::MAX);
        }
    }

    /// Appends a statement where the hot path has come to; false when there is more to do than usual.
    #[inline(always)]
    pub(crate) fn append_shortly(&mut self, site: Site, place: Place, around: &Around<'_>) -> bool {
        if !self.is_open {
            return false;
        }
        self.follow(place);
        if self.cursor < self.limit {
            let mark = if self.cursor < self.mark_at { 0 } else { self.mark(around.clock) };
            if self.add(site, mark) {
                return true;
            }
        }
        self.turn(site, Some(around.header)) || self.next(site, around)
    }

    /// Starts anew at this place.
    pub(crate) fn restart(&mut self, from: &Run) {
        let (memory, stamp, from) = (self.memory, from.stamp, from.reserve());
        *self = Run::new(memory);
        (self.head, self.seq, self.stamp, self.origin) = (from.head, from.seq, stamp, from.word());
        self.tell_reserve(from);
    }

    /// Keeps where it began, though it goes on where another does.
    pub(crate) fn set_origin(&mut self, origin: u64) {
        self.origin = origin;
    }

    /// Ends exactly where it reserved, because handlers wrote behind that.
    pub(crate) fn finish(&mut self, ever: Option<&Ever>) {
        let reserve = self.reserve();
        if self.is_open {
            if let Some(ever) = ever {
                self.note_in(ever);
            }
            let close = self.plan_close(Some(reserve.head));
            self.write_close(&close);
        }
        self.stand_at(reserve);
    }

    /// Appends a statement in a frame of its own.
    pub(crate) fn append_single(
        &mut self,
        site: Site,
        time: Option<u64>,
        around: &Around<'_>,
    ) -> Result<(), Again> {
        let time = match time {
            Some(time) => Some(self.tell_time(time, around)?),
            None => None,
        };
        let (frame, len) = single(self.next_seq(), site, time);
        self.append_bytes(len, |memory, start| memory.put_all(start, &frame[..len]), around)?;
        if let Some(ever) = around.ever {
            ever.note_one(Statement::from_word(site.word()));
        }
        Ok(())
    }

    /// The same where nothing else is to be done; false when there is.
    #[inline(always)]
    pub(crate) fn append_single_shortly(
        &mut self,
        site: Site,
        time: Option<u64>,
        around: &Around<'_>,
    ) -> bool {
        let stamp = time.map_or(self.stamp, |time| time.max(self.stamp));
        if self.is_open || around.ever.is_some() || stamp - self.stamp > u64::from(u32::MAX) {
            return false;
        }
        let seq = self.next_seq();
        let (frame, len) = single(seq, site, time.map(|_| (stamp as u32).max(1)));
        let behind = Reserve { head: self.head + len as u64, seq };
        if !self.reserve_up_to(behind, around) {
            return false;
        }
        self.memory.put_all(self.head, &frame[..len]);
        self.close_shortly(behind, stamp, time.is_some(), around);
        true
    }

    /// Appends an event.
    pub(crate) fn append_event(
        &mut self,
        kind: EventKind,
        value: u64,
        around: &Around<'_>,
    ) -> Result<(), Again> {
        let time = match around.clock {
            Some(clock) => self.tell_time(self.read(clock), around)?,
            None => 0,
        };
        self.append_frame(|seq, sink| kind.emit(seq, RECORD_BASE, time, value, sink), around)
    }
}
