//! Methods of the standard library, by what they do with the value that they are called on.

/// How the value of a method comes from what it is called on, or from its closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassedOn {
    /// It is the same value.
    Same,
    /// It is what is in it: the `a` of `Some(a)` and `Ok(a)`.
    Inner,
    /// What is in it stays, if there is something: an error or nothing becomes another one.
    SameInner,
    /// A closure made it, if it ran.
    OfClosure,
    /// A closure made what is in it, if it ran.
    InnerOfClosure,
}

const PASSED_ON: &[(PassedOn, &[&str])] = &[
    (
        PassedOn::Same,
        &[
            "clone",
            "to_owned",
            "cloned",
            "copied",
            "as_ref",
            "as_mut",
            "as_deref",
            "borrow",
            "borrow_mut",
            "ok",
            "by_ref",
            "as_deref_mut",
        ],
    ),
    (PassedOn::Inner, &["unwrap", "expect", "unwrap_unchecked"]),
    (PassedOn::SameInner, &["map_err", "ok_or", "ok_or_else"]),
    (PassedOn::OfClosure, &["and_then", "map_or", "or_else", "unwrap_or_else"]),
    (PassedOn::InnerOfClosure, &["map"]),
];

/// What a method with this name does.
pub fn passed_on(name: &str) -> Option<PassedOn> {
    PASSED_ON.iter().find(|(_, names)| names.contains(&name)).map(|(passed, _)| *passed)
}

/// Methods that give what is in their value to their closure.
const GIVING_INNER: [&str; 5] = ["and_then", "inspect", "is_ok_and", "is_some_and", "map"];

/// Whether a method with this name gives what is in its value to its closure.
pub fn gives_inner(name: &str) -> bool {
    GIVING_INNER.contains(&name)
}

/// Methods that change nothing. A recorded method is looked into instead.
const READING: [&str; 40] = [
    "len",
    "is_empty",
    "iter",
    "get",
    "first",
    "last",
    "contains",
    "contains_key",
    "clone",
    "to_string",
    "to_owned",
    "as_str",
    "as_ref",
    "as_slice",
    "as_bytes",
    "chars",
    "bytes",
    "cmp",
    "partial_cmp",
    "eq",
    "ne",
    "is_some",
    "is_none",
    "is_ok",
    "is_err",
    "copied",
    "cloned",
    "keys",
    "values",
    "starts_with",
    "ends_with",
    "trim",
    "split",
    "lines",
    "borrow",
    "unwrap",
    "expect",
    "min",
    "max",
    "hash",
];

/// Whether a method with this name changes nothing.
pub fn only_reads(name: &str) -> bool {
    READING.contains(&name)
}
