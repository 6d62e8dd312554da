//! Macros of other crates whose arguments hold statements, as `macro_rules!` that use the arguments like the real
//! ones.
//! To add one, add a row. Arguments that the rules drop are skipped.

use memchr::memmem;
use syn::Path;

/// One macro.
struct KnownMacro {
    name: &'static str,
    /// The crates that define it; empty if the name is unique.
    crates: &'static [&'static str],
    rules: &'static str,
}

const KNOWN: [KnownMacro; 13] = [
    KnownMacro {
        name: "cfg_if",
        crates: &[],
        rules: "($(if #[$m:meta] { $($t:tt)* }) else+ $(else { $($e:tt)* })?) => { $($($t)*)+ $($($e)*)? };",
    },
    KnownMacro {
        name: "thread_local",
        crates: &[],
        rules: "() => {};
            ($(#[$m:meta])* $v:vis static $n:ident : $t:ty = const $i:block; $($r:tt)*) =>
                { const $n: $t = $i; thread_local! { $($r)* } };
            ($(#[$m:meta])* $v:vis static $n:ident : $t:ty = const $i:block) => { const $n: $t = $i; };
            ($(#[$m:meta])* $v:vis static $n:ident : $t:ty = $i:expr; $($r:tt)*) =>
                { static $n: fn() -> $t = || $i; thread_local! { $($r)* } };
            ($(#[$m:meta])* $v:vis static $n:ident : $t:ty = $i:expr) => { static $n: fn() -> $t = || $i; };",
    },
    KnownMacro {
        name: "lazy_static",
        crates: &[],
        rules: "($($(#[$m:meta])* $v:vis static ref $n:ident : $t:ty = $i:expr;)*) =>
                { $(static $n: fn() -> $t = || $i;)* };",
    },
    KnownMacro {
        name: "select",
        crates: &["tokio", "futures", "futures_util"],
        rules: "() => {};
            (biased; $($r:tt)*) => { select!($($r)*) };
            ($else:ident => $h:block $(,)? $($r:tt)*) => {{ match _x { _ => $h } select!($($r)*) }};
            ($else:ident => $h:expr $(, $($r:tt)*)?) => {{ match _x { _ => $h } $(select!($($r)*))? }};
            ($p:pat = $f:expr $(, if $g:expr)? => $h:block $(,)? $($r:tt)*) =>
                {{ ($f, $($g)?); match _x { $p => $h } select!($($r)*) }};
            ($p:pat = $f:expr $(, if $g:expr)? => $h:expr $(, $($r:tt)*)?) =>
                {{ ($f, $($g)?); match _x { $p => $h } $(select!($($r)*))? }};",
    },
    KnownMacro { name: "join", crates: &["tokio", "futures", "futures_util"], rules: EXPRESSIONS },
    KnownMacro { name: "try_join", crates: &["tokio", "futures", "futures_util"], rules: EXPRESSIONS },
    KnownMacro { name: "assert_eq", crates: &["pretty_assertions", "similar_asserts"], rules: EXPRESSIONS },
    KnownMacro { name: "assert_ne", crates: &["pretty_assertions"], rules: EXPRESSIONS },
    KnownMacro { name: "stream", crates: &["async_stream"], rules: ASYNC_BLOCK },
    KnownMacro { name: "try_stream", crates: &["async_stream"], rules: ASYNC_BLOCK },
    KnownMacro { name: "defer", crates: &["scopeguard"], rules: "($($t:tt)*) => { || { $($t)* } };" },
    KnownMacro {
        name: "proptest",
        crates: &[],
        rules: "(#![$($c:tt)*] $($r:tt)*) => { proptest! { $($r)* } };
            ($($(#[$m:meta])* fn $n:ident($($p:tt)*) $b:block)*) => { $(fn $n() $b)* };",
    },
    KnownMacro {
        name: "quickcheck",
        crates: &[],
        rules: "($($(#[$m:meta])* fn $n:ident($($p:tt)*) -> $t:ty $b:block)*) => { $(fn $n() -> $t $b)* };",
    },
];

const EXPRESSIONS: &str =
    "(biased; $($e:expr),* $(,)?) => { ($($e,)*) }; ($($e:expr),* $(,)?) => { ($($e,)*) };";
const ASYNC_BLOCK: &str = "($($t:tt)*) => { async { $($t)* } };";

/// The rules of the macro at this path. `text` is the source, which must name one of the macro's crates.
pub(in super::super) fn rules(path: &Path, text: &str) -> Option<&'static str> {
    let (last, first) = (&path.segments.last()?.ident, &path.segments.first()?.ident);
    let known = KNOWN.iter().find(|known| last == known.name)?;
    let is_from = |name: &&str| match path.segments.len() {
        1 => memmem::find(text.as_bytes(), name.as_bytes()).is_some(),
        _ => first == name,
    };
    (known.crates.is_empty() || known.crates.iter().any(is_from)).then_some(known.rules)
}
