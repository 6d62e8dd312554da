//! The QS target: every predefined record as a typed call, application records, dictionaries, filters, the receive
//! channel, and what a link takes out. It shares the ring with the statements, and needs none of them.
//!
//! `config` is what is fixed when the program is compiled; `draft` puts a record together, `filter` says whether it is
//! wanted, `send` hands it to the ring; `dictionary`, `receive` and `probe` stand on these. Source: QS (QP 7.x).

mod config;
mod dictionary;
#[cfg_attr(not(feature = "trace"), allow(dead_code, reason = "nothing is put together"))]
mod draft;
mod filter;
mod inbox;
#[cfg(feature = "memory")]
#[allow(unsafe_code)]
mod memory;
#[cfg(feature = "qutest")]
mod probe;
mod receive;
mod send;

pub use qs_core::filter::{Objects, Records};
pub use qs_core::record::*;
pub use qs_core::rx::{Callbacks, To};

pub use config::SIZES;
pub use dictionary::{name_enum, name_files, name_fun, name_obj, name_obj_of, name_sig, name_user};
pub use draft::Draft;
#[cfg(feature = "trace")]
pub(crate) use filter::{freeze, is_frozen, wants_statements};
pub use filter::{global, global_off, global_on, is_on, local, local_off, local_on};
pub use inbox::Inbox;
#[cfg(feature = "memory")]
pub use memory::{Range, allow_memory};
#[cfg(feature = "qutest")]
pub use probe::test_probe;
pub use receive::Channel;
pub use send::{Info, assertion, exit, record, send, start, user, user_id};

pub use crate::recorder::{flush, get_block, get_byte};

/// An application record: `qs_record!(ID, object; u8 n, str "eating")`.
///
/// `ID` is a constant from 100 to 117, or 124 (between are trace events and statements), `object` the number of what it is about
/// for the local filter, 0 for nothing. Each element is a type and a value: `i8`, `u8`, `i16`, `u16`, `i32`, `u32`, `i64`, `u64`, `f32`, `f64`; `x8`, `x16`, `x32`, `x64` and `hex` show
/// hexadecimal digits; `str`, `mem` (`&[u8]`), `obj`, `fun`, `sig` (a pair of [`Sig`](crate::qs::Sig) and
/// [`Obj`](crate::qs::Obj)); `enum[2]` is a value of enumeration 2. A number in brackets behind another type is the width in which a host
/// shows it, 0 to 15, for `i8` to 7. Types are checked by the compiler, and values are only computed when the record is wanted.
///
/// Nothing is formatted here. What does not fit in a record of 512 bytes is left out, and the record ends with `...`.
///
/// ```
/// # use xhist_rt::qs_record;
/// const PHILO_STAT: u8 = 100;
/// let (number, state) = (3, "eating");
/// qs_record!(PHILO_STAT, number; u8 number, str state, i32[6] -1);
/// ```
///
/// An id or a width that is none does not compile:
///
/// ```compile_fail
/// xhist_rt::qs_record!(100, 0; i8[8] -1);
/// ```
///
/// ```compile_fail
/// xhist_rt::qs_record!(120, 0; u8 1);
/// ```
#[macro_export]
macro_rules! qs_record {
    ($id:expr, $object:expr; $($elements:tt)*) => {
        if $crate::qs::is_on(const { $crate::qs::user_id($id) }, $object) {
            $crate::__qs_elements!($id; []; $($elements)*);
        }
    };
    ($id:expr, $object:expr) => { $crate::qs_record!($id, $object;) };
}

/// Names the files of statements, so that any QS host shows `src/main.rs` for a packed frame's first file: part of a
/// program's dictionaries.
///
/// The names are what `cargo xhist` gives the compiler; other builds set `XHIST_FILES`, lines of a file id and a path:
/// `XHIST_FILES="$(sed -n 's/^{"file":\([0-9]*\),"path":"\([^"]*\)".*/\1 \2/p' xhist.map)" cargo build`.
#[macro_export]
macro_rules! name_files {
    () => {
        $crate::qs::name_files(::core::option_env!("XHIST_FILES"))
    };
}

/// What [`qs_record!`] is made of: each value is computed once, then all are put.
#[doc(hidden)]
#[macro_export]
macro_rules! __qs_elements {
    // Inlined, a record that fits by its types needs no code for one that does not.
    ($id:expr; [$($kind:ident $width:literal $value:ident)*]; $(,)?) => {
        $crate::qs::user($id, #[inline(always)] |_to: &mut $crate::qs::Draft<'_>| {
            $(
                const {
                    let max = $crate::qs::element::max_width(::core::stringify!($kind));
                    ::core::assert!($width <= max, "there is no room for this width");
                }
                $crate::qs::element::$kind(_to, $width, $value);
            )*
        })
    };
    ($id:expr; [$($done:tt)*]; enum [$group:literal] $value:expr $(, $($rest:tt)*)?) => {
        match $value {
            value => $crate::__qs_elements!($id; [$($done)* enumeration $group value]; $($($rest)*)?),
        }
    };
    ($id:expr; [$($done:tt)*]; $kind:ident [$width:literal] $value:expr $(, $($rest:tt)*)?) => {
        match $value {
            value => $crate::__qs_elements!($id; [$($done)* $kind $width value]; $($($rest)*)?),
        }
    };
    ($id:expr; [$($done:tt)*]; $kind:ident $value:expr $(, $($rest:tt)*)?) => {
        match $value {
            value => $crate::__qs_elements!($id; [$($done)* $kind 0 value]; $($($rest)*)?),
        }
    };
}
