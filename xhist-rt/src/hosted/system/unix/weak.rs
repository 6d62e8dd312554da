//! Names of the C library for functions of the recorder, so that every caller in the program reaches the recorder.
//! Assembly makes them weak: a program with its own function of that name keeps it.

#[cfg(all(not(feature = "portable"), target_os = "linux", target_arch = "x86_64"))]
macro_rules! jump {
    () => {
        "jmp {}"
    };
}
#[cfg(all(not(feature = "portable"), target_os = "linux", target_arch = "aarch64"))]
macro_rules! jump {
    () => {
        "b {}"
    };
}

/// Exports functions under names of the C library.
macro_rules! weak {
    ($($name:ident => $inner:path),* $(,)?) => {
        $(
            #[cfg(all(
                not(feature = "portable"),
                target_os = "linux",
                any(target_arch = "x86_64", target_arch = "aarch64")
            ))]
            core::arch::global_asm!(
                concat!(".pushsection .text.xhist_", stringify!($name), ",\"ax\",%progbits"),
                concat!(".weak ", stringify!($name)),
                concat!(".type ", stringify!($name), ",%function"),
                ".p2align 4",
                concat!(stringify!($name), ":"),
                $crate::hosted::system::sys::weak::jump!(),
                concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
                ".popsection",
                sym $inner,
            );
        )*
    };
}

#[cfg(all(
    not(feature = "portable"),
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) use jump;
pub(crate) use weak;
