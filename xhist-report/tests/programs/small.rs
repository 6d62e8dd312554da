//! A program so small that its whole file can be changed byte by byte: types of values, and nothing to run.
#![no_std]
#![no_main]

/// What the recorder has under this path.
mod xhist_rt {
    pub mod value {
        pub mod types {
            #[inline(never)]
            pub fn of_type<T>() -> &'static str {
                // SAFETY: only a comment, which keeps functions with equal code apart.
                unsafe {
                    core::arch::asm!("/* {of} */", of = sym of_type::<T>, options(nomem, nostack, preserves_flags));
                }
                core::any::type_name::<T>()
            }
        }
    }
}

use xhist_rt::value::types::of_type;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

pub enum Data {
    Wide { a: u8, b: i64 },
    One(u32),
    Nothing,
}

pub struct Pair(pub u8, pub Option<bool>);

fn row<const NUMBER: u32, T>() {
    // SAFETY: the text only fills a section that is never loaded.
    unsafe {
        core::arch::asm!(
            ".pushsection .xhist_types,\"\",@progbits",
            ".long {number}",
            ".long {size}",
            ".quad {of}",
            ".asciz \"{of}\"",
            ".popsection",
            number = const NUMBER,
            size = const size_of::<T>(),
            of = sym of_type::<T>,
            options(nomem, nostack, preserves_flags),
        );
    }
}

#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    row::<1, i32>();
    row::<2, &str>();
    row::<3, Option<u16>>();
    row::<4, Data>();
    row::<5, Pair>();
    row::<6, [u16; 3]>();
    row::<7, &[Pair]>();
    row::<8, u128>();
    row::<9, core::time::Duration>();
    row::<10, core::ops::Range<usize>>();
    loop {}
}
