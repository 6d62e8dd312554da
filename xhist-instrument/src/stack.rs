//! Runs recursive work on a stack that is large enough for the nesting of the text at hand.
//! Parsing, walking and dropping a syntax tree all recurse; an overflow aborts and nobody can catch it.

use crate::refusal::Refusal;

/// Deepest nesting accepted, in the units of `text::nesting`.
pub(crate) const MAX_NESTING: usize = 60_000;

/// Stack for one level, in bytes. In a build without optimisation nothing takes more than 14,200.
const BYTES_PER_LEVEL: usize = 17_000;

/// Nesting that fits into half the stack of a thread as `std` makes them.
const SHALLOW: usize = (1 << 20) / BYTES_PER_LEVEL;

/// Runs `work`, on a thread of its own when the nesting asks for it. The stack is virtual memory until it is used.
pub(crate) fn with_room<T: Send>(nesting: usize, work: impl FnOnce() -> T + Send) -> Result<T, Refusal> {
    if nesting <= SHALLOW {
        return Ok(work());
    }
    let stack_size = nesting * BYTES_PER_LEVEL + (1 << 20);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack_size).spawn_scoped(scope, work);
        let thread =
            thread.map_err(|error| Refusal::of_file(format!("no stack of {stack_size} bytes: {error}")))?;
        thread.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}
