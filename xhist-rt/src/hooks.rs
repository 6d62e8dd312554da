//! The functions that inserted code calls. [`qs_core::inserted`] has the names.
//!
//! They are safe, take constants, return nothing and never unwind, so an inserted call cannot change the meaning of a program.

/// The calls that record. Const arguments stay immediates in unoptimised builds, too. `NUMBER` is the number of the statement
/// in the program; two statements of one line have different numbers. `record` records; `entry` checks for room first. With
/// the feature `each` every statement checks.
macro_rules! recording {
    (in $recorder:path) => {
        recording! {
            $recorder;
            /// A statement in line `LINE` of file `FILE` is about to run.
            s record;
            /// [`s`] for an arm or a closure body that was wrapped in a block.
            a record;
            /// [`s`] for an arm or a closure body that was also put in parentheses.
            p record;
            /// [`s`] for a statement whose attributes were copied to the call.
            c record;
            /// [`s`] with a check for room: at function entries, heads of loops, and behind calls that may take long.
            e entry;
            /// [`a`] with a check for room.
            ae entry;
            /// [`p`] with a check for room.
            pe entry;
            /// [`c`] with a check for room.
            ce entry;
        }
    };
    ($recorder:path; $($(#[$about:meta])* $name:ident $function:ident;)*) => {
        /// The names, and what each calls.
        #[cfg(test)]
        pub(super) const RECORDINGS: &[(&str, &str)] = &[$((stringify!($name), stringify!($function))),*];
        $(
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

/// The calls that record a value: the bytes of a variable. `NUMBER` is the number of the place in the program. With another
/// type than the one place has, the record says which.
macro_rules! values {
    (in $recorder:path) => {
        values! {
            $recorder;
            /// A variable has this value: at most 8 of its own bytes.
            v own 8 false;
            /// [`v`] at a place whose values have several types.
            vg own 8 true;
            /// [`v`] with at most 32 bytes.
            vw own 32 false;
            /// [`vw`] at a place whose values have several types.
            vwg own 32 true;
            /// [`vw`], but of a text, or of a slice or `Vec` of numbers, the first 64 bytes of what it refers to.
            vt target 32 false;
            /// [`vt`] at a place whose values have several types.
            vtg target 32 true;
        }
    };
    ($recorder:path; $($(#[$about:meta])* $name:ident $function:ident $most:literal $is_generic:literal;)*) => {
        /// The names, and what each calls.
        #[cfg(test)]
        pub(super) const VALUES: &[(&str, &str, usize, bool)] =
            &[$((stringify!($name), stringify!($function), $most, $is_generic)),*];
        $(
        $(#[$about])*
        #[inline(always)]
        pub fn $name<const NUMBER: u32, T>(value: &T) {
            use $recorder as recorder;
            recorder::$function::<NUMBER, $most, $is_generic, T>(value);
        }
    )*};
}

values!(in crate::recorder);

/// The calls for crates without optimisation, in assembly where available. `cargo xhist` links them.
#[doc(hidden)]
#[cfg(all(feature = "trace", feature = "std"))]
pub mod unoptimised {
    recording!(in crate::hosted::fast_path::unoptimised);
    values!(in crate::hosted::fast_path::unoptimised);
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
    #[cfg(all(feature = "trace", feature = "std"))]
    crate::recorder::start_at(trigger, hit);
    #[cfg(not(all(feature = "trace", feature = "std")))]
    let _ = (trigger, hit);
}

/// Stops recording `after` statements behind the `hit`-th execution of this call.
#[inline]
pub fn stop_at(trigger: u16, hit: u32, after: u32) {
    #[cfg(all(feature = "trace", feature = "std"))]
    crate::recorder::stop_at(trigger, hit, after);
    #[cfg(not(all(feature = "trace", feature = "std")))]
    let _ = (trigger, hit, after);
}

/// Stops recording `after` statements behind the first binding of a variable that equals `expected`, or behind the first one.
#[inline]
pub fn watch<T>(trigger: u16, after: u32, expected: Option<&'static str>, value: &T) {
    #[cfg(all(feature = "trace", feature = "std"))]
    if expected.is_none_or(|expected| crate::value::target::equals(value, expected)) {
        crate::recorder::stop_at(trigger, 1, after);
    }
    #[cfg(not(all(feature = "trace", feature = "std")))]
    let _ = (trigger, after, expected, value);
}

/// An async task: one run of the body of an async function or block, for which an inserted variable holds it. 6 bytes, and
/// nothing without the feature `trace` or without `std`.
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
    use super::{RECORDINGS, VALUES};
    use qs_core::inserted::{self, ValueAmount};
    use std::vec::Vec;

    #[test]
    fn each_inserted_call_has_its_function() {
        #[cfg(all(feature = "trace", feature = "std"))]
        assert_eq!((RECORDINGS, VALUES), (super::unoptimised::RECORDINGS, super::unoptimised::VALUES));
        let checks = |call: &inserted::RecordingCall| if call.checks { "entry" } else { "record" };
        let mut wanted: Vec<_> = inserted::RECORDINGS.iter().map(|call| (call.name, checks(call))).collect();
        let mut found = RECORDINGS.to_vec();
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted);

        let values = inserted::VALUES.iter().map(|call| match call.amount {
            ValueAmount::Eight => (call.name, "own", 8, call.is_generic),
            ValueAmount::ThirtyTwo => (call.name, "own", 32, call.is_generic),
            ValueAmount::Targets => (call.name, "target", 32, call.is_generic),
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
