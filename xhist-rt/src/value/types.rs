//! Types of values. The program does not carry them: each place where a value is recorded has a row in a section that is
//! never loaded, and a reader joins the row with the program's debug information.
//!
//! | bytes | row in `.xhist_types` |
//! |---|---|
//! | 4 | number of the place; 0 for the rows of [`anchor`] and of the build |
//! | 4 | size of the type; 0 for the anchor, 8 for the build |
//! | 8 | address of [`of_type`] for the type; 0 for 32 bits, unless the record of the value has its low half. The hash of the map, in the row of the build |
//! | | the linkage name of [`of_type`] for the type, and a zero |
//!
//! Linkers that drop unused sections keep this one, because of its flag `R`. In a program for Windows it has the name
//! `.debug_typenames`. The GNU linker has a place for that, does not load it, and drops it only with the code that it is of.
//! Addresses there are relative to the program. The MSVC target has no rows: its programs have no DWARF.

/// The fields of a row. An address has eight bytes, of which a linker for 32 bits knows four.
macro_rules! row {
    ($address:expr, $($operand:tt)*) => {
        note!(
            section!(),
            ".long {number}",
            ".long {size}",
            $address,
            ".asciz \"{of}\"",
            ".popsection",
            $($operand)*
        );
    };
}

/// Adds the row of a place whose values have this type. With `IS_GENERIC` their records have a type key.
#[inline(always)]
pub(crate) fn add_row<const NUMBER: u32, const IS_GENERIC: bool, T>() {
    // Linkers take an object of a library only where something refers to it: the one with this function has the type's
    // debug information, too.
    if const { size_of::<usize>() == 8 } {
        row!(address!(), number = const NUMBER, size = const size_of::<T>(), of = sym of_type::<T>);
    } else if const { IS_GENERIC } {
        row!(".long {of}, 0", number = const NUMBER, size = const size_of::<T>(), of = sym of_type::<T>);
    } else {
        // Without its address the function need not be in flash.
        row!(".quad 0", number = const NUMBER, size = const size_of::<T>(), of = sym of_type::<T>);
    }
}

/// Adds the row of the build: the hash of its map.
#[inline(always)]
pub(crate) fn add_build<const HASH: u64>() {
    row!(".quad {hash}", hash = const HASH, number = const 0, size = const 8, of = sym add_build::<HASH>);
}

/// The type key of a value, where its place has values of several types.
#[inline(always)]
pub(crate) fn key<const IS_GENERIC: bool, T>() -> Option<u32> {
    if const { IS_GENERIC } { Some(of_type::<T> as fn() -> &'static str as usize as u32) } else { None }
}

/// The name of a type. In the debug information, this function leads from its linkage name to the type.
#[inline(never)]
pub fn of_type<T>() -> &'static str {
    // Functions with equal code could become one.
    note!("/* {of} */", of = sym of_type::<T>);
    core::any::type_name::<T>()
}

/// A function whose address shows where the program was loaded.
#[inline(never)]
pub fn anchor() {
    note!("/* {of} */", of = sym anchor);
}

/// The address of [`anchor`]. Adds its row.
#[cfg(feature = "std")]
#[inline(never)]
pub(crate) fn anchor_address() -> usize {
    row!(address!(), number = const 0, size = const 0, of = sym anchor);
    anchor as fn() as usize
}
