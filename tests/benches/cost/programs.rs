//! The programs: what `tests/fixtures/cost` does over and over.

use crate::variants::Variant;

/// One of them.
pub struct Program {
    pub name: &'static str,
    /// Uses a crate of the registry; kernels are the densest code that there is.
    pub is_real: bool,
}

const fn kernel(name: &'static str) -> Program {
    Program { name, is_real: false }
}

const fn real(name: &'static str) -> Program {
    Program { name, is_real: true }
}

pub const PROGRAMS: [Program; 10] = [
    kernel("mix"),
    kernel("sort"),
    kernel("scan"),
    real("httparse"),
    real("num-bigint"),
    real("petgraph"),
    real("regex-syntax"),
    real("serde_json"),
    real("miniz_oxide"),
    // tokio on loopback TCP, with clients in the same process.
    real("server"),
];

/// A loop that waits: only for what its ring holds.
pub const WAIT: Program = kernel("wait");

/// Seconds of work in a plain run: long beside how exactly time is kept, short enough for many turns of variants that
/// take many times as long.
const LONG_ENOUGH: f64 = 0.02;

impl Program {
    /// Rounds that take the plain program about as long as all others.
    pub fn rounds(&self, plain: &Variant) -> u32 {
        let mut rounds = 1;
        loop {
            let seconds = plain.seconds(self.name, rounds, 1);
            if seconds > LONG_ENOUGH / 5.0 {
                return (f64::from(rounds) * LONG_ENOUGH / seconds).ceil() as u32;
            }
            rounds *= 4;
        }
    }
}
