//! What the macros that print have recorded already, so that the hook on `write` does not record it again.
//!
//! The standard library keeps the end of a line of standard output in a buffer. So what is written may begin with texts of
//! earlier macros, which wait there. A text is recognised by its bytes: what is not recognised is recorded.

use core::ptr::slice_from_raw_parts;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::hosted::system::written::Written;
use crate::hosted::thread_state::{Printing, ThisThread, TrackPtr};

/// Bytes of a text by which it is recognised.
const RECOGNISED: usize = 64;
/// Bytes of the buffer of the standard library.
const BUFFERED: usize = 1024;

/// Texts of macros that wait in the buffer of standard output: how many bytes, and their hash.
static WAITING: (AtomicUsize, AtomicU64) = (AtomicUsize::new(0), AtomicU64::new(0));

/// Lets a macro give a text to its stream.
pub(crate) fn give<T>(is_err: bool, text: &str, give: impl FnOnce() -> T) -> T {
    let printing = Printing::Text { rest: slice_from_raw_parts(text.as_ptr(), text.len()), is_err };
    let given = ThisThread::get().track().map(|track| {
        let mut given = Given { track, outer: printing, text, is_err };
        core::mem::swap(&mut given.track.printing, &mut given.outer);
        given
    });
    let result = give();
    drop(given);
    result
}

/// A text that a macro gives to its stream.
struct Given<'t> {
    track: TrackPtr,
    outer: Printing,
    text: &'t str,
    is_err: bool,
}

impl Drop for Given<'_> {
    fn drop(&mut self) {
        let left = match core::mem::replace(&mut self.track.printing, self.outer) {
            Printing::Text { rest, .. } if !self.is_err => rest.len(),
            _ => 0,
        };
        let is_whole = left == self.text.len();
        // A whole line that was not written is in the output that a test harness captures.
        if left == 0 || is_whole && self.text.contains('\n') {
            return;
        }
        let (waiting, before) = match is_whole {
            true => (WAITING.0.load(Relaxed), WAITING.1.load(Relaxed)),
            false => (0, 0),
        };
        let rest = self.text.as_bytes().iter().copied().skip(self.text.len() - left);
        let fits = waiting + left <= BUFFERED;
        WAITING.1.store(if fits { rest.fold(before, hashed) } else { 0 }, Relaxed);
        WAITING.0.store(if fits { waiting + left } else { 0 }, Relaxed);
    }
}

/// Runs a function whose output on this thread is not the program's.
pub(crate) fn muted(run: impl FnOnce()) {
    struct Muted(Option<(TrackPtr, Printing)>);

    impl Drop for Muted {
        fn drop(&mut self) {
            if let Some((track, outer)) = &mut self.0 {
                track.printing = *outer;
            }
        }
    }

    let mute = |mut track: TrackPtr| (track, core::mem::replace(&mut track.printing, Printing::Muted));
    let muted = Muted(ThisThread::get().track().map(mute));
    run();
    drop(muted);
}

/// How many of the bytes that this thread has written are recorded already. A thread without a ring records none of them.
pub(crate) fn recorded_already(written: &Written<'_>) -> usize {
    let Some(mut track) = ThisThread::get().track() else { return written.len };
    if let Printing::Muted = track.printing {
        return written.len;
    }
    let waiting = if written.is_err { 0 } else { take_waiting(written) };
    if let Printing::Text { rest, is_err } = track.printing
        && is_err == written.is_err
        && written.len - waiting <= rest.len()
    {
        // SAFETY: `give` has set a text, and waits for what calls this.
        let text = unsafe { &*rest };
        let more = &text[..written.len - waiting];
        if more.iter().copied().take(RECOGNISED).eq(written.bytes().skip(waiting).take(RECOGNISED)) {
            track.printing = Printing::Text { rest: &raw const text[more.len()..], is_err };
            return written.len;
        }
    }
    waiting
}

/// How many of these bytes waited. Afterwards none do.
fn take_waiting(written: &Written<'_>) -> usize {
    let (waiting, hash) = (WAITING.0.swap(0, Relaxed), WAITING.1.swap(0, Relaxed));
    let is_it = waiting <= written.len && written.bytes().take(waiting).fold(0, hashed) == hash;
    if is_it { waiting } else { 0 }
}

/// The hash of bytes and one more.
fn hashed(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3).rotate_left(5).wrapping_add(1)
}
