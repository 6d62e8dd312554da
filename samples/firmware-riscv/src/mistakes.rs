//! A bug that a feature selects; `post_mortem` reports it.

#[cfg(feature = "fault")]
pub fn make() {
    let nowhere = 0x0000_0010 as *const u32;
    // SAFETY: none; this is the bug.
    let value = unsafe { nowhere.read_volatile() };
    core::hint::black_box(value);
}

#[cfg(feature = "panic")]
pub fn make() {
    let list = [1, 2, 3];
    let index = core::hint::black_box(list.len());
    core::hint::black_box(list[index]);
}
