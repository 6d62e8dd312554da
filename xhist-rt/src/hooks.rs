//! All that inserted code calls. Each name is a shape that `xhist-instrument` knows how to remove.
//!
//! Safe, constant arguments, nothing returned, never unwinding: an inserted call cannot change
//! what a program means.

/// Calls that record. Const arguments stay immediates in unoptimised builds, too. `NUMBER` is the statement's in the program,
/// which two statements of one line do not share.
macro_rules! recording {
    ($($(#[$about:meta])* $name:ident;)*) => {$(
        $(#[$about])*
        #[inline(always)]
        pub fn $name<const FILE: u16, const LINE: u16, const NUMBER: u32>() {
            stamps_have_bytes::<4>();
            crate::recorder::record::<FILE, LINE>();
        }
    )*};
}

recording! {
    /// A statement in line `LINE` of file `FILE` is about to run.
    s;
    /// As [`s`]: an arm or a closure body that was wrapped in a block.
    a;
    /// As [`s`]: the same with the expression in parentheses.
    p;
    /// As [`s`]: a statement whose attributes were carried onto the call.
    c;
    /// As [`s`], where the recorder may check for room: at entries, loop heads, and behind what may be come back to late.
    e;
    /// As [`a`], where the recorder may check for room.
    ae;
    /// As [`p`], where the recorder may check for room.
    pe;
    /// As [`c`], where the recorder may check for room.
    ce;
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

/// [`m`](fn@m) with the hash that `cargo xhist` gives the compiler in `XHIST_MAP_HASH`.
#[macro_export]
macro_rules! m {
    () => {
        $crate::m(const { $crate::hash_from_hex(::core::option_env!("XHIST_MAP_HASH")) })
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
