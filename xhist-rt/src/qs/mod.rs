//! A QS target: predefined records as typed calls, application records, dictionaries, filters, the receive channel, and the
//! stream for a link. It shares the ring with the statements, and works without them.
//!
//! `config` is the compile-time configuration. `draft` composes a record, `filter` decides whether it is on, and `send`
//! appends it to the ring. `dictionary`, `receive` and `probe` use these. `pump` serves a link, and `rtt` is one.
//! `embassy` makes records of an executor's hooks. Source: QS (QP 7.x).

mod config;
mod dictionary;
#[cfg_attr(not(feature = "trace"), allow(dead_code, reason = "nothing is put together"))]
mod draft;
pub mod embassy;
mod filter;
mod inbox;
#[cfg(feature = "memory")]
#[allow(unsafe_code)]
mod memory;
#[cfg(feature = "qutest")]
mod probe;
mod pump;
mod receive;
#[cfg(feature = "rtt")]
#[allow(unsafe_code)]
pub mod rtt;
mod send;

pub use qs_core::filter::{Objects, Records};
// One type for each record of the table of qs-core.
pub use qs_core::record::predefined::*;
pub use qs_core::record::{
    BuildTime, FILES, Field, Fields, Fun, Group, Kind, Layout, Obj, PeekData, Query, QueryData, RECORD_BASE,
    RECORDS, Record, RecordInfo, Sig, Sizes, TargetInfo, USER_BASE, element, info,
};
pub use qs_core::rx::{Callbacks, To};

pub use config::SIZES;
pub use dictionary::{name_enum, name_files, name_fun, name_obj, name_obj_of, name_sig, name_user};
#[cfg(feature = "defmt")]
#[allow(unused_imports, reason = "only the recorder on bare metal uses it")]
pub(crate) use draft::CUT;
pub use draft::Draft;
pub use filter::{global, global_off, global_on, is_on, local, local_off, local_on};
pub use inbox::Inbox;
#[cfg(feature = "memory")]
pub use memory::{Range, allow_memory};
#[cfg(feature = "qutest")]
pub use probe::test_probe;
pub use pump::Pump;
pub use receive::Channel;
pub use send::{Info, assertion, exit, put, record, send, start, user, user_id};

pub use crate::recorder::{flush, get_block, get_byte};

/// An application record: `qs_record!(ID, object; u8 n, str "eating")`.
///
/// `ID` is a constant from 100 to 117, or 124; trace events and statements have the ids between. `object` is the number of the
/// record's object in the local filter, 0 for no object. Each element is a type and a value:
///
/// - `i8`, `u8`, `i16`, `u16`, `i32`, `u32`, `i64`, `u64`, `f32`, `f64`: numbers
/// - `x8`, `x16`, `x32`, `x64`, `hex`: numbers that a host shows in hexadecimal
/// - `str`: a text; `mem`: a `&[u8]`
/// - `obj`, `fun`, `sig`: an object, a function, a pair of [`Sig`](crate::qs::Sig) and [`Obj`](crate::qs::Obj)
/// - `enum[2]`: a value of enumeration 2
///
/// A number in brackets behind any other type is the width in which a host shows the value: 0 to 15, and to 7 for `i8`. The
/// compiler checks types. Values are computed only if the record is on.
///
/// Nothing is formatted here. Elements that do not fit in a record of 512 bytes are left out, and the record then ends with
/// `...`.
///
/// ```
/// # use xhist_rt::qs_record;
/// const PHILO_STAT: u8 = 100;
/// let (number, state) = (3, "eating");
/// qs_record!(PHILO_STAT, number; u8 number, str state, i32[6] -1);
/// ```
///
/// A wrong width or a wrong id does not compile:
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

/// Names the files of statements, so any QS host shows `src/main.rs` for the first file of a packed frame. Call it with the
/// program's dictionaries.
///
/// `cargo xhist` gives the names to the compiler. Other builds set `XHIST_FILES`, lines of a file id and a path:
/// `XHIST_FILES="$(sed -n 's/^{"file":\([0-9]*\),"path":"\([^"]*\)".*/\1 \2/p' xhist.map)" cargo build`.
#[macro_export]
macro_rules! name_files {
    () => {
        $crate::qs::name_files(::core::option_env!("XHIST_FILES"))
    };
}

/// The implementation of [`qs_record!`]: computes each value once, then writes all.
#[doc(hidden)]
#[macro_export]
macro_rules! __qs_elements {
    // Inlined: a record that always fits needs no code for cutting.
    ($id:expr; [$($kind:ident $width:literal $value:ident)*]; $(,)?) => {
        $crate::qs::user($id, #[inline(always)] |_to: &mut $crate::qs::Draft<'_>| {
            $(
                const {
                    let max = $crate::qs::element::max_width(::core::stringify!($kind));
                    ::core::assert!($width <= max, "an element of this type cannot have this width");
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
