//! A mistake, of the kind that a feature asks for; `post_mortem` tells of it.

#[cfg(feature = "fault")]
pub fn make() {
    let nowhere = core::hint::black_box(0x2000_0000 as *const ());
    // SAFETY: none, that is the mistake.
    let function = unsafe { core::mem::transmute::<*const (), extern "C" fn()>(nowhere) };
    function();
}

#[cfg(feature = "panic")]
pub fn make() {
    let list = [1, 2, 3];
    let index = core::hint::black_box(list.len());
    core::hint::black_box(list[index]);
}
