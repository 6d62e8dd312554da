//! The ring: whole frames behind a header that `qs_core::ring` lays out; overwrites the oldest.
//!
//! This folder may be `unsafe`. It knows neither threads nor files nor how a clock is read.
//!
//! # Appending, with signal handlers on the same thread
//! A ring has one writing thread, but a signal handler may interrupt an append between any two instructions and
//! append as well. No lock is needed, because the handler runs to its end first. It is never kept waiting either:
//!
//! - A handler that interrupts the hot path ([`crate::hot`]) goes on in its place, see [`Run::take_over`].
//! - An append on the slow path first tells how far it may write ([`Run::reserve`]). A handler that interrupts it
//!   opens a new part of the history behind that ([`writer`]), told in the header; parts of parts likewise. When the
//!   interrupted append is done, it fills up what it had reserved, so that both parts are one stream of frames,
//!   and goes on where the handler stopped.
//!
//! So a dump taken at any instruction shows every statement: closed frames up to the state word, the open frame
//! behind them, and the parts of handlers behind those.

#[cfg(feature = "std")]
mod ever;
mod run;
mod writer;

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use qs_core::ring as layout;

use crate::sync::{Word, fence};

#[cfg(feature = "std")]
pub(crate) use ever::Ever;
#[cfg(feature = "std")]
pub(crate) use run::{AT, Clock, Place};
pub(crate) use writer::{Append, Hot, Writer};

/// The header that every ring has. Field for field `qs_core::ring`'s layout.
#[repr(C, align(8))]
pub(crate) struct Header {
    magic: Word,
    mark: u32,
    facts: [u8; 4],
    header_len: u16,
    reserved: u16,
    pub(crate) size: u32,
    pub(crate) map_hash: Word,
    pub(crate) clock_hz: u32,
    check: u32,
    state: Word,
    folded: Word,
    dropped: u32,
    /// [`layout::Touched`].
    touched: AtomicU32,
}

const _: () = {
    assert!(size_of::<Header>() == layout::BARE_HEADER_LEN);
    assert!(core::mem::offset_of!(Header, size) == 20);
    assert!(core::mem::offset_of!(Header, check) == 36);
    assert!(core::mem::offset_of!(Header, dropped) == 56);
    assert!(core::mem::offset_of!(Header, touched) == 60);
};

impl Header {
    /// Lays out an empty ring. The magic comes last, so that a half-made header is not found.
    pub(crate) fn init(&mut self, header_len: usize, size: u32, time_width: u8, flags: u8) {
        self.magic.store(0);
        fence();
        self.mark = layout::BYTE_ORDER_MARK;
        self.facts = [layout::LAYOUT_VERSION, time_width, qs_core::record::RECORD_BASE, flags];
        self.header_len = header_len as u16;
        self.reserved = 0;
        self.size = size;
        let [a, b] = self.header_len.to_ne_bytes();
        let lens = u32::from_ne_bytes([a, b, 0, 0]);
        self.check = layout::check_word([self.mark, u32::from_ne_bytes(self.facts), lens, size]);
        self.state.store(0);
        self.folded.store(0);
        self.dropped = 0;
        self.touched.store(0, Relaxed);
        fence();
        self.magic.store(u64::from_ne_bytes(layout::MAGIC));
    }
}

#[cfg(feature = "std")]
mod hosted;
#[cfg(feature = "std")]
pub(crate) use hosted::{HostedHeader, set_clock_hz, set_status, status_code};

#[cfg(all(test, feature = "std"))]
pub(crate) mod tests;
