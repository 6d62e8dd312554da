//! What every source of events has in common: it gives steps, oldest first, until it has ended.

use std::io;
use std::time::Duration;

use qs_core::frame::Frame;

use super::merge::Merged;
use crate::events::context::Context;
use crate::model::{Gap, Opening, Ring};
use crate::ring::Executed;

/// What a source gives.
pub enum Step<'s> {
    /// A thread is new, or its ring has another thread or another origin now.
    Ring(&'s Ring),
    /// Of the events that follow, this number of entries is not to be shown.
    Skip(u64),
    /// The contents of the executed bitmaps, before the first event.
    Executed(Executed),
    /// The next event of a ring: what is missing there, and an item.
    Event(&'s Ring, &'s Merged),
    /// The frames of a thread begin.
    Frames,
    /// The next frame of the thread.
    Frame(&'s Frame<'s>),
    /// Bytes of frames, as they are on the wire.
    Bytes(&'s [u8]),
    /// What is missing among the frames of a ring.
    Missing(&'s Ring, Gap),
    /// The stream ends, perhaps within a frame.
    StreamEnd,
    /// What follows was recorded while the report runs.
    UpToDate,
}

/// Whether more may come.
pub enum Progress {
    /// There is more.
    More,
    /// More may come after this time.
    Wait(Duration),
    /// The source has ended.
    End,
}

/// Takes the steps of a source.
pub type TakeStep<'t> = &'t mut dyn FnMut(Step<'_>, &mut Context<'_, '_>) -> io::Result<()>;

/// Anything that yields history.
pub trait EventSource {
    /// The rings that are known before the first step, and the number of entries that will be shown; 0 if not known.
    fn opening(&self) -> Opening<'_>;

    /// Gives what is there now.
    ///
    /// A source calls `take`, and is not asked for one step after another: the steps of a merge borrow the bytes of the rings,
    /// which a source that grows reads again between two calls.
    ///
    /// # Errors
    /// Those of `take`.
    fn read(&mut self, take: TakeStep<'_>, context: &mut Context<'_, '_>) -> io::Result<Progress>;
}
