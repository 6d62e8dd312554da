//! Runs recursive work on a stack that is large enough for the nesting of the text.
//! Parsing, walking and dropping a syntax tree recurse, and a stack overflow aborts the process.

use crate::refusal::{Refusal, RefusalReason};
use std::cell::Cell;

/// Deepest nesting accepted, in the units of `text::nesting`.
pub(crate) const MAX_NESTING: usize = 60_000;

/// Stack for one unit of nesting. Measured: at most 14,200 bytes without optimisation, 3,700 with.
const BYTES_PER_LEVEL: usize = if cfg!(debug_assertions) { 17_000 } else { 6_000 };

/// Stack for everything besides nested syntax.
const RESERVE: usize = 1 << 20;

/// Stack of the threads of [`in_parallel`]: enough for nearly every real source. Pages that stay untouched cost
/// nothing.
const WORKER_STACK: usize = 64 << 20;

thread_local! {
    /// Bytes of this thread's stack for nested syntax. The default is half of the stack that `std` gives a thread.
    static STACK_FOR_SYNTAX: Cell<usize> = const { Cell::new(1 << 20) };
}

/// Runs `work`, on a thread of its own when the stack of this thread may be too small.
pub(crate) fn with_sufficient_stack<T: Send>(
    nesting: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Refusal> {
    let needed = nesting * BYTES_PER_LEVEL;
    if needed <= STACK_FOR_SYNTAX.get() {
        return Ok(work());
    }
    let stack_size = needed + RESERVE;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack_size).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| {
            Refusal::of_file(RefusalReason::NoStack { bytes: stack_size, error: error.kind() })
        })?;
        thread.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs `work` in a `rayon` pool whose threads have large stacks. A source nested deeper still gets a thread of its
/// own.
pub fn in_parallel<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new()
        .stack_size(WORKER_STACK)
        .start_handler(|_| STACK_FOR_SYNTAX.set(WORKER_STACK - RESERVE))
        .build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
