//! All that inserted code calls. Each name is a shape that `xhist-instrument` knows how to remove.
//!
//! Safe, constant arguments, nothing returned, never unwinding: an inserted call cannot change
//! what a program means.

/// The calls that record. Const arguments stay immediates in unoptimised builds, too. `NUMBER` is the statement's in the program,
/// which two statements of one line do not share. `record` records; `entry` first checks whether there is room. With the feature
/// `each` every statement checks.
macro_rules! recording {
    (in $recorder:path) => {
        recording! {
            $recorder;
            /// A statement in line `LINE` of file `FILE` is about to run.
            s record;
            /// As [`s`]: an arm or a closure body that was wrapped in a block.
            a record;
            /// As [`s`]: the same with the expression in parentheses.
            p record;
            /// As [`s`]: a statement whose attributes were carried onto the call.
            c record;
            /// As [`s`], where the recorder checks for room: at entries, heads of loops, and behind what may come back late.
            e entry;
            /// As [`a`], where the recorder checks for room.
            ae entry;
            /// As [`p`], where the recorder checks for room.
            pe entry;
            /// As [`c`], where the recorder checks for room.
            ce entry;
        }
    };
    ($recorder:path; $($(#[$about:meta])* $name:ident $function:ident;)*) => {$(
        $(#[$about])*
        #[inline(always)]
        pub fn $name<const FILE: u16, const LINE: u16, const NUMBER: u32>() {
            use $recorder as recorder;
            $crate::hooks::stamps_have_bytes::<4>();
            if cfg!(feature = "each") {
                recorder::entry::<FILE, LINE, NUMBER>();
            } else {
                recorder::$function::<FILE, LINE, NUMBER>();
            }
        }
    )*};
}

recording!(in crate::recorder);

/// The same for crates that are not optimised, as one piece of assembly where there is one. `cargo xhist` links them.
#[doc(hidden)]
#[cfg(all(feature = "trace", feature = "std"))]
pub mod unoptimised {
    recording!(in crate::hot::unoptimised);
}

/// As [`s`], for numbers that are known at run time only. No inserted call has this name.
#[doc(hidden)]
#[inline(always)]
pub fn at(file: u16, line: u16) {
    stamps_have_bytes::<4>();
    crate::recorder::at(file, line);
}

/// In QS all records have time stamps of one width, and those of statements have four bytes. Generic, so that only a
/// program with statements is refused.
#[inline(always)]
fn stamps_have_bytes<const WIDTH: u8>() {
    const { assert!(crate::qs::SIZES.time == WIDTH, "where statements are recorded, XHIST_QS_SIZES needs T4") };
}

/// Recording starts here when this is passed for the `hit`-th time; `trigger` tells the places apart.
#[inline]
pub fn start_at(trigger: u16, hit: u32) {
    #[cfg(all(feature = "trace", feature = "std"))]
    crate::recorder::start_at(trigger, hit);
    #[cfg(not(all(feature = "trace", feature = "std")))]
    let _ = (trigger, hit);
}

/// Recording stops `after` statements behind here when this is passed for the `hit`-th time.
#[inline]
pub fn stop_at(trigger: u16, hit: u32, after: u32) {
    #[cfg(all(feature = "trace", feature = "std"))]
    crate::recorder::stop_at(trigger, hit, after);
    #[cfg(not(all(feature = "trace", feature = "std")))]
    let _ = (trigger, hit, after);
}

/// The map that the program was instrumented with has this hash.
#[inline(always)]
pub fn m(hash: u64) {
    #[cfg(feature = "trace")]
    crate::recorder::set_map_hash(hash);
    #[cfg(not(feature = "trace"))]
    let _ = hash;
}

/// [`m`](fn@m) of a program that records only entries of functions.
#[inline(always)]
pub fn me(hash: u64) {
    #[cfg(feature = "trace")]
    crate::recorder::set_entries_only();
    m(hash);
}

/// [`m`](fn@m) with the hash that `cargo xhist` gives the compiler in `XHIST_MAP_HASH`.
#[macro_export]
macro_rules! m {
    () => {
        $crate::m(const { $crate::hash_from_hex(::core::option_env!("XHIST_MAP_HASH")) })
    };
}

/// [`me`](fn@me) with that hash.
#[macro_export]
macro_rules! me {
    () => {
        $crate::me(const { $crate::hash_from_hex(::core::option_env!("XHIST_MAP_HASH")) })
    };
}

/// The number that [`m!`] reads; 0 for none or for what is not a number.
#[doc(hidden)]
pub const fn hash_from_hex(text: Option<&str>) -> u64 {
    match text {
        None => 0,
        Some(text) => match u64::from_str_radix(text, 16) {
            Ok(hash) => hash,
            Err(_) => 0,
        },
    }
}
