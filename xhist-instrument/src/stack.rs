//! Runs recursive work on a stack that is large enough for the nesting of the text at hand.
//! Parsing, walking and dropping a syntax tree all recurse; an overflow aborts and nobody can catch it.

use crate::refusal::Refusal;
use std::cell::Cell;

/// Deepest nesting accepted, in the units of `text::nesting`.
pub(crate) const MAX_NESTING: usize = 60_000;

/// Stack for one unit of nesting. Measured: at most 14,200 bytes without optimisation, 3,700 with.
const BYTES_PER_LEVEL: usize = if cfg!(debug_assertions) { 17_000 } else { 6_000 };

/// What a thread needs for everything else.
const RESERVE: usize = 1 << 20;

/// Stack of the threads of [`in_parallel`]: enough for nearly every real source. Memory is used only when touched.
const WORKER_STACK: usize = 64 << 20;

thread_local! {
    /// Bytes of this thread's stack that nested syntax may take: half of what `std` gives a thread.
    static ROOM: Cell<usize> = const { Cell::new(1 << 20) };
}

/// Runs `work`, on a thread of its own when this one's stack may not do.
pub(crate) fn with_room<T: Send>(nesting: usize, work: impl FnOnce() -> T + Send) -> Result<T, Refusal> {
    let needed = nesting * BYTES_PER_LEVEL;
    if needed <= ROOM.get() {
        return Ok(work());
    }
    let stack_size = needed + RESERVE;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack_size).spawn_scoped(scope, work);
        let thread =
            thread.map_err(|error| Refusal::of_file(format!("no stack of {stack_size} bytes: {error}")))?;
        thread.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs `work` where `rayon`'s parallel iterators have threads with stacks for sources. A source nested deeper
/// than that is handled anywhere, at the price of a new thread; this is only faster.
pub fn in_parallel<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new()
        .stack_size(WORKER_STACK)
        .start_handler(|_| ROOM.set(WORKER_STACK - RESERVE))
        .build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
