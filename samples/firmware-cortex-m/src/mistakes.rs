//! A bug that a feature selects; `post_mortem` reports it.

#[cfg(feature = "fault")]
pub fn make() {
    let nowhere = core::hint::black_box(0x2000_0000 as *const ());
    // SAFETY: none; this is the bug.
    let function = unsafe { core::mem::transmute::<*const (), extern "C" fn()>(nowhere) };
    function();
}

#[cfg(feature = "panic")]
pub fn make() {
    let list = [1, 2, 3];
    let index = core::hint::black_box(list.len());
    core::hint::black_box(list[index]);
}
