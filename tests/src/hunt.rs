//! How far the hunts go: cases that try one thing again and again, each time a little differently.

/// The number of tries: `usual`, or `long` when `XHIST_LONG` is set. A variable of this name overrides both.
pub fn tries(variable: &str, usual: usize, long: usize) -> usize {
    let given = std::env::var(variable).ok();
    let given =
        given.map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}: a number is expected")));
    given.unwrap_or(if is_long() { long } else { usual })
}

/// Rounds of a program that records a million statements in `rounds`: a fifth of them in a usual run, since tools without
/// optimisation read what it records.
pub fn share_of_million(rounds: u64) -> u64 {
    if is_long() || !cfg!(debug_assertions) { rounds } else { rounds / 5 }
}

/// Whether hunts try everything that they can.
pub fn is_long() -> bool {
    std::env::var_os("XHIST_LONG").is_some_and(|value| !value.is_empty() && value != "0")
}
