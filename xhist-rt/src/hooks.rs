//! The functions that inserted code calls. [`qs_core::inserted`] has the names.
//!
//! They are safe, take constants or references, return nothing and never unwind, so an inserted call cannot change the meaning of a program.

use qs_core::inserted::{StatementNumber, WordWidth};
use qs_core::record::Statement;

/// The calls that record. The argument is a [`StatementNumber`]; the name says how wide its word is. `record` records; `entry`
/// checks for room first. With the feature `each` every statement checks.
macro_rules! recording {
    (in $recorder:path, $kind:tt) => {
        recording! {
            $kind $recorder;
            /// A statement is about to run.
            s record false;
            /// [`s`] with a long word.
            sl record true;
            /// [`s`] for an arm or a closure body that was wrapped in a block.
            a record false;
            /// [`a`] with a long word.
            al record true;
            /// [`s`] for an arm or a closure body that was also put in parentheses.
            p record false;
            /// [`p`] with a long word.
            pl record true;
            /// [`s`] for a statement whose attributes were copied to the call.
            c record false;
            /// [`c`] with a long word.
            cl record true;
            /// [`s`] with a check for room: at function entries, heads of loops, and behind calls that may take long.
            e entry false;
            /// [`e`] with a long word.
            el entry true;
            /// [`a`] with a check for room.
            ae entry false;
            /// [`ae`] with a long word.
            ael entry true;
            /// [`p`] with a check for room.
            pe entry false;
            /// [`pe`] with a long word.
            pel entry true;
            /// [`c`] with a check for room.
            ce entry false;
            /// [`ce`] with a long word.
            cel entry true;
        }
    };
    ($kind:tt $recorder:path; $($(#[$about:meta])* $name:ident $function:ident $is_long:literal;)*) => {
        /// The names, and what each calls.
        #[cfg(test)]
        pub(super) const RECORDINGS: &[(&str, &str, bool)] =
            &[$((stringify!($name), stringify!($function), $is_long)),*];
        $(recording!(@ $recorder; { $(#[$about])* } $name $function $is_long; $kind);)*
    };
    (@ $recorder:path; { $($about:tt)* } $name:ident $function:ident $is_long:literal; inlined) => {
        $($about)*
        #[inline(always)]
        pub fn $name(number: u64) {
            $crate::hooks::stamps_have_bytes::<4>();
            recording!(@ $recorder; $function $is_long number);
        }
    };
    (@ $recorder:path; { $($about:tt)* } $name:ident $function:ident $is_long:literal; called) => {
        $($about)*
        #[inline(never)]
        pub extern "C" fn $name(number: u64) {
            recording!(@ $recorder; $function $is_long number);
        }
    };
    (@ $recorder:path; $function:ident $is_long:literal $number:ident) => {
        use $recorder as recorder;
        if cfg!(feature = "each") {
            recorder::entry::<$is_long>($number);
        } else {
            recorder::$function::<$is_long>($number);
        }
    };
}

/// The calls for optimised crates: a few instructions in place of each.
#[doc(hidden)]
pub mod inlined {
    recording!(in crate::recorder, inlined);
}

/// The calls that record a value: the bytes of a variable. `NUMBER` is the number of the place in the program. With another
/// type than the one place has, the record says which.
macro_rules! values {
    (in $recorder:path) => {
        values! {
            $recorder;
            /// A variable has this value: at most 8 of its own bytes.
            v own 8 false [];
            /// [`v`] at a place whose values have several types.
            vg own 8 true [];
            /// [`v`] with at most 32 bytes.
            vw own 32 false [];
            /// [`vw`] at a place whose values have several types.
            vwg own 32 true [];
            /// [`v`] with at most 64 bytes, and of texts, numbers and `Vec` of them behind a pointer those.
            vt target 64 false [];
            /// [`vt`] at a place whose values have several types.
            vtg target 64 true [];
            /// [`vt`] for a reference: at most 64 bytes of what it refers to.
            vr reference 64 false [Pointer];
            /// [`vr`] at a place whose values have several types.
            vrg reference 64 true [Pointer];
        }
    };
    ($recorder:path; $($(#[$about:meta])* $name:ident $function:ident $most:literal $is_generic:literal [$($bound:ident)?];)*) => {
        /// The names, and what each calls.
        #[cfg(test)]
        pub(super) const VALUES: &[(&str, &str, usize, bool)] =
            &[$((stringify!($name), stringify!($function), $most, $is_generic)),*];
        $(
        $(#[$about])*
        #[inline(always)]
        pub fn $name<const NUMBER: u32, T$(: crate::pointer::$bound)?>(value: &T) {
            use $recorder as recorder;
            recorder::$function::<NUMBER, $most, $is_generic, T>(value);
        }
    )*};
}

values!(in crate::recorder);

/// The calls for crates without optimisation: a statement is a call, because that is what the compiler makes fastest. Values
/// are in assembly where available. `cargo xhist` links these.
#[doc(hidden)]
#[cfg(feature = "trace")]
pub mod unoptimised {
    #[cfg(not(feature = "std"))]
    recording!(in crate::recorder, called);
    #[cfg(feature = "std")]
    recording!(in crate::hosted::fast_path::unoptimised, called);
    #[cfg(feature = "std")]
    values!(in crate::hosted::fast_path::unoptimised);
}

/// The argument of a call whose word is short, for calls that are written by hand. `number` is the statement's number in its
/// program, from 1.
///
/// # Panics
/// For a number without a short word; in a constant, that is an error of the compiler.
#[doc(hidden)]
pub const fn short(file: u16, line: u16, number: u32) -> u64 {
    let StatementNumber { value, width } = StatementNumber::new(Statement { file, line }, number);
    assert!(matches!(width, WordWidth::Short));
    value
}

/// The argument of a call whose word is long, for calls that are written by hand.
#[doc(hidden)]
pub const fn long(file: u16, line: u16) -> u64 {
    StatementNumber::new(Statement { file, line }, 0).value
}

/// [`s`] for a file and a line that are only known at run time. No inserted call has this name.
#[doc(hidden)]
#[inline(always)]
pub fn at(file: u16, line: u16) {
    stamps_have_bytes::<4>();
    crate::recorder::at(file, line);
}

/// Statements have time stamps of four bytes, and in QS all records have the same width. Generic, so only a program with
/// statements fails to compile.
#[inline(always)]
fn stamps_have_bytes<const WIDTH: u8>() {
    const {
        assert!(
            crate::qs::SIZES.time == WIDTH,
            "XHIST_QS_SIZES needs T4 in a program that records statements"
        )
    };
}

/// Starts recording at the `hit`-th execution of this call. `trigger` identifies the place.
#[inline]
pub fn start_at(trigger: u16, hit: u32) {
    #[cfg(feature = "trace")]
    crate::recorder::start_at(trigger, hit);
    #[cfg(not(feature = "trace"))]
    let _ = (trigger, hit);
}

/// Stops recording `after` statements behind the `hit`-th execution of this call. On bare metal it stops at once.
#[inline]
pub fn stop_at(trigger: u16, hit: u32, after: u32) {
    #[cfg(feature = "trace")]
    crate::recorder::stop_at(trigger, hit, after);
    #[cfg(not(feature = "trace"))]
    let _ = (trigger, hit, after);
}

/// Stops recording `after` statements behind the first binding of a variable that equals `expected`, or behind the first one.
/// Bare metal compares no values, and stops at once.
#[inline]
pub fn watch<T>(trigger: u16, after: u32, expected: Option<&'static str>, value: &T) {
    #[cfg(all(feature = "trace", feature = "std"))]
    if expected.is_none_or(|expected| crate::value::target::equals(value, expected)) {
        crate::recorder::stop_at(trigger, 1, after);
    }
    #[cfg(not(feature = "std"))]
    let _ = value;
    #[cfg(all(feature = "trace", not(feature = "std")))]
    if expected.is_none() {
        crate::recorder::stop_at(trigger, 1, after);
    }
    #[cfg(not(feature = "trace"))]
    let _ = (trigger, after, expected, value);
}

/// An async task: one run of the body of an async function or block, for which an inserted variable holds it. 6 bytes, on
/// bare metal 2, and nothing without the feature `trace`.
#[doc(hidden)]
#[must_use]
pub struct Task(crate::recorder::Task);

/// The body of an async function or block begins. It was left when the value is dropped.
#[inline(always)]
pub fn t() -> Task {
    Task(crate::recorder::Task::enter())
}

/// The task goes on behind an `.await`.
#[inline(always)]
pub fn r(task: &Task) {
    task.0.resume();
}

/// Sets the hash of the map that the program was instrumented with.
#[inline(always)]
pub fn m(hash: u64) {
    stamps_have_bytes::<4>();
    #[cfg(feature = "trace")]
    crate::recorder::set_map_hash(hash);
    #[cfg(not(feature = "trace"))]
    let _ = hash;
}

/// [`m`](fn@m) for a program that records only function entries.
#[inline(always)]
pub fn me(hash: u64) {
    #[cfg(feature = "trace")]
    crate::recorder::set_entries_only();
    m(hash);
}

/// [`m`](fn@m) for a program that records values. The hash is also in its file, for readers that look for the program of a ring.
#[inline(always)]
pub fn mv<const HASH: u64>() {
    #[cfg(feature = "trace")]
    {
        crate::recorder::add_build::<HASH>();
        crate::recorder::set_values();
    }
    m(HASH);
}

/// [`me`](fn@me) for a program that records values.
#[inline(always)]
pub fn mev<const HASH: u64>() {
    #[cfg(feature = "trace")]
    {
        crate::recorder::add_build::<HASH>();
        crate::recorder::set_values();
    }
    me(HASH);
}

/// [`m`](fn@m) with the hash in the compiler's environment, `XHIST_MAP_HASH`, which `cargo xhist` sets.
#[doc(hidden)]
#[macro_export]
macro_rules! m {
    () => {
        $crate::m(const { $crate::hash_from_hex(::core::option_env!("XHIST_MAP_HASH")) })
    };
}

/// [`me`](fn@me) with the hash in `XHIST_MAP_HASH`.
#[doc(hidden)]
#[macro_export]
macro_rules! me {
    () => {
        $crate::me(const { $crate::hash_from_hex(::core::option_env!("XHIST_MAP_HASH")) })
    };
}

/// [`mv`](fn@mv) with the hash in `XHIST_MAP_HASH`.
#[doc(hidden)]
#[macro_export]
macro_rules! mv {
    () => {
        $crate::mv::<{ $crate::hash_from_hex(::core::option_env!("XHIST_MAP_HASH")) }>()
    };
}

/// [`mev`](fn@mev) with the hash in `XHIST_MAP_HASH`.
#[doc(hidden)]
#[macro_export]
macro_rules! mev {
    () => {
        $crate::mev::<{ $crate::hash_from_hex(::core::option_env!("XHIST_MAP_HASH")) }>()
    };
}

/// Parses the hash for [`m!`]. 0 without text, or if the text is not a hexadecimal number.
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

#[cfg(test)]
mod tests {
    extern crate std;
    use super::VALUES;
    use super::inlined::RECORDINGS;
    use qs_core::inserted::{self, ValueAmount, WordWidth};
    use std::vec::Vec;

    #[test]
    fn each_inserted_call_has_its_function() {
        #[cfg(feature = "trace")]
        assert_eq!(RECORDINGS, super::unoptimised::RECORDINGS);
        #[cfg(all(feature = "trace", feature = "std"))]
        assert_eq!(VALUES, super::unoptimised::VALUES);
        let function = |call: &inserted::RecordingCall| if call.checks { "entry" } else { "record" };
        let row = |call: &inserted::RecordingCall| (call.name, function(call), call.width == WordWidth::Long);
        let mut wanted: Vec<_> = inserted::RECORDINGS.iter().map(row).collect();
        let mut found = RECORDINGS.to_vec();
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted);

        let values = inserted::VALUES.iter().map(|call| match call.amount {
            ValueAmount::Eight => (call.name, "own", 8, call.is_generic),
            ValueAmount::ThirtyTwo => (call.name, "own", 32, call.is_generic),
            ValueAmount::Targets => (call.name, "target", 64, call.is_generic),
            ValueAmount::Pointees => (call.name, "reference", 64, call.is_generic),
        });
        let (mut wanted, mut found) = (values.collect::<Vec<_>>(), VALUES.to_vec());
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted);
    }

    /// The other calls, in the forms in which they are inserted. The names are those of the functions.
    #[test]
    fn the_other_inserted_calls_have_theirs() {
        macro_rules! named {
            ($($name:ident as $form:ty),*) => {[$({
                let _: $form = crate::$name;
                stringify!($name)
            }),*]};
        }
        let plain = named!(m as fn(u64), me as fn(u64));
        let _: (fn(), fn()) = (crate::mv::<7>, crate::mev::<7>);
        let in_values = [stringify!(mv), stringify!(mev)];
        for call in inserted::HASHES {
            let names = if call.has_values { in_values } else { plain };
            assert_eq!(names[usize::from(call.entries_only)], call.name);
        }
        let triggers = named!(
            start_at as fn(u16, u32),
            stop_at as fn(u16, u32, u32),
            watch as fn(u16, u32, Option<&'static str>, &u8)
        );
        assert_eq!(triggers, [inserted::START_AT, inserted::STOP_AT, inserted::WATCH]);
        let tasks = named!(t as fn() -> crate::Task, r as fn(&crate::Task));
        assert_eq!(tasks, [inserted::BEGIN_TASK, inserted::RESUME_TASK]);
    }
}
