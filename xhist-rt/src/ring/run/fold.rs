//! Folding: a frame that equals the one before it is counted and not written; and how frames come to be equal.

use qs_core::record::packed::step;
use qs_core::ring::Folded;

use super::Run;
use super::memory::bytes;
use crate::ring::Header;
use crate::site::Site;
use crate::sync::fence;

/// Bytes of a full frame that are searched for the start of a round.
const LOOK_BACK: usize = 64;
/// Longest wait, in frames, before looking for a loop again where none folded.
const MAX_PATIENCE: u8 = 64;

/// How far the search for a loop is.
#[derive(Clone, Copy)]
pub(super) struct Search {
    stage: Stage,
    /// The statement that begins each round.
    anchor: u32,
    /// Bytes of whole rounds that a frame holds.
    len: usize,
    /// Bytes to go before giving up.
    left: usize,
    /// Frames to let pass before the next search, now and after the next failure.
    wait: u8,
    patience: u8,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    None,
    /// Looking for the statement that begins a round.
    Seeking,
    /// A frame that began with it is to end before it.
    Aligned,
}

impl Search {
    pub(super) const NEW: Search =
        Search { stage: Stage::None, anchor: 0, len: 0, left: 0, wait: 0, patience: 1 };
}

impl Run {
    /// The limit is reached. Folds the frame, or moves a limit that was a guess; false when the frame is full.
    /// `header`: that of the ring, where folding is allowed.
    pub(super) fn turn(&mut self, site: Site, header: Option<&Header>) -> bool {
        if header.is_some_and(|header| self.fold(site, header)) {
            return true;
        }
        while self.limit < self.end {
            let is_anchor = site.word() == self.search.anchor;
            match self.search.stage {
                Stage::Seeking | Stage::Aligned if is_anchor => return false,
                Stage::Seeking if self.search.left > 0 => {
                    self.search.left -= 1;
                    self.move_limit(self.limit.wrapping_add(1));
                }
                _ => {
                    self.search.stage = Stage::None;
                    self.move_limit(self.end);
                }
            }
            if self.add(site, 0) {
                return true;
            }
        }
        false
    }

    /// Moves the limit up; the bytes in between are free.
    fn move_limit(&mut self, limit: *mut u8) {
        let old = core::mem::replace(&mut self.limit, limit);
        // SAFETY: limits lie inside the open frame.
        unsafe {
            limit.write_volatile(step::END);
            fence();
            old.write_volatile(step::FREE);
        }
    }

    /// Counts the open frame instead of closing it, when it is the frame before it once more.
    fn fold(&mut self, site: Site, header: &Header) -> bool {
        let len = self.len();
        let same = self.skipped == 0
            && len == self.last_len
            && self.first_page == self.last_page
            && site.page() == self.first_page
            && self.cursor == self.limit
            // SAFETY: both frames lie in one piece in the ring.
            && unsafe { bytes(self.last, len) == bytes(self.base, len) };
        if !same {
            return false;
        }
        self.folded += 1;
        let folded = Folded::new(self.head, self.folded);
        header.folded.store(folded.counted().0);
        fence();
        // SAFETY: the bytes belong to the open frame.
        unsafe {
            self.base.write_bytes(step::FREE, len);
            fence();
            self.base.write_volatile(site.code());
            self.cursor = self.base.add(1);
        }
        fence();
        header.folded.store(folded.0);
        self.forget_pages();
        self.search.stage = Stage::None;
        (self.search.patience, self.search.wait) = (1, 0);
        true
    }

    /// Whether the frame, which is full, ends within a loop that it began with. Then the next frame shall end
    /// where a round does, so that those after it can be alike.
    #[inline(always)]
    pub(super) fn seek_loop(&mut self) -> bool {
        let was = core::mem::take(&mut self.search.stage);
        if was == Stage::Seeking || was == Stage::Aligned && self.cursor < self.end {
            return false;
        }
        if self.search.wait > 0 {
            self.search.wait -= 1;
            return false;
        }
        if self.skipped > 0 || self.folded > 0 {
            return false;
        }
        self.find_round()
    }

    #[inline(never)]
    fn find_round(&mut self) -> bool {
        self.search.wait = self.search.patience;
        self.search.patience = (self.search.patience * 2).min(MAX_PATIENCE);
        // SAFETY: the data lies in one piece.
        let data = unsafe { bytes(self.base, self.len()) };
        let Some((first, rest)) = data.split_first() else { return false };
        // Looking further back is not worth it: a longer loop is found when a frame ends early in its round.
        let from = rest.len().saturating_sub(LOOK_BACK);
        let of_first = |data: &[u8]| data.iter().rposition(|byte| byte == first);
        let Some(last) = rest.get(from..).and_then(of_first).map(|at| from + at + 1) else { return false };
        let before = data.get(..last).and_then(of_first).unwrap_or(0);
        let (round, tail) = (last - before, data.len() - last);
        if tail > round || data.get(last..) != data.get(before..before + tail) {
            return false;
        }
        let anchor = Site::at(self.first_page, *first).word();
        let left = round - tail + 8;
        self.search = Search { stage: Stage::Seeking, anchor, len: last, left, ..self.search };
        true
    }

    /// Sets the limit of a frame that was just opened where it may turn out to be like another.
    #[inline(always)]
    pub(super) fn expect(&mut self, site: Site, seeking: bool) {
        let len = if seeking {
            1
        } else if core::mem::take(&mut self.search.left) > 0 && site.word() == self.search.anchor {
            self.search.stage = Stage::Aligned;
            self.search.len
        } else if self.last_len > 0 && self.last_page == self.first_page {
            self.last_len
        } else {
            return;
        };
        // SAFETY: `base` and `end` bound the data of the open frame.
        unsafe {
            if len >= 1 && len < self.end.addr() - self.base.addr() {
                self.limit = self.base.add(len);
                self.limit.write_volatile(step::END);
            }
        }
    }

    /// Keeps what the next frame is compared with.
    pub(super) fn remember(&mut self) {
        let comparable = self.is_open && self.skipped == 0;
        self.last = self.base;
        self.last_len = if comparable { self.len() } else { 0 };
        self.last_page = self.first_page;
        self.folded = 0;
    }
}
