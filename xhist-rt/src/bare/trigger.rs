//! Triggers in the sources: recording starts or stops when a line is passed. A program without them has nothing of this.

use crate::shared::Shared;

/// Number of triggers that sources may hold. Further triggers share the numbers.
const TRIGGERS: usize = 64;
/// How often each trigger was passed.
static PASSED: Shared<[u32; TRIGGERS]> = Shared::new([0; TRIGGERS]);

/// Counts a passage of a trigger. Returns whether it was the `hit`-th one.
fn pass(trigger: u16, hit: u32) -> bool {
    let count = |passed: &mut [u32; TRIGGERS]| {
        let [count] = passed.get_mut(usize::from(trigger) % TRIGGERS..)?.first_chunk_mut()?;
        *count = count.wrapping_add(1);
        Some(*count)
    };
    PASSED.with(count).flatten() == Some(hit.max(1))
}

pub(crate) fn start_at(trigger: u16, hit: u32) {
    if pass(trigger, hit) {
        super::start();
    }
}

/// Stops at once: nothing counts statements on bare metal.
pub(crate) fn stop_at(trigger: u16, hit: u32, _after: u32) {
    if pass(trigger, hit) {
        super::stop();
    }
}
