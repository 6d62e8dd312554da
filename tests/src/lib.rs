//! The harness of the end-to-end tests: finds the product, copies what it is tried on, runs it with a time
//! limit and reads what it prints. It uses the product as a user does, through its commands only.

mod corpus;
mod faults;
pub mod fleet;
mod hunt;
pub mod imports;
pub mod kept;
mod listing;
mod metal;
mod need;
mod picture;
mod port;
mod project;
mod reference;
mod rings;
mod rtt;
mod run;
mod share;
pub mod structure;
mod tools;
mod torture;
mod tracee;
mod tree;
mod verdict;

pub use corpus::{Comparison, CorpusOptions, Crate, Reach};
pub use faults::{Fault, FaultEdit, FaultyCrate, FaultyLines};
pub use hunt::{is_long, share_of_million, tries};
pub use listing::{Entry, Listing, line_of};
pub use metal::{
    Board, CORTEX_M, COUNTED, EMBASSY, ENTRIES, ESP32_C3, Firmware, Machine, ONE_RING, RISC_V, STOP_AT,
    STOPPED, TWO_CORES, TWO_CORTEX_M, VALUES, cargo_for_target, check_for_target, has_compiler,
};
pub use need::{BROWSER_PACKAGES, DAP_PACKAGES, Need};
pub use picture::{Screen, text_of_svg};
pub use port::free_port;
pub use project::{Counts, history_of, ring_of, run_of, test_counts};
pub use reference::{Moment, Reference};
pub use rings::{Recorded, recorded, tail};
pub use rtt::RttServer;
pub use run::{Done, Run, Started, append_times, processor_seconds, set_deadline};
pub use share::{FileLine, Share};
pub use tools::{
    bin_directory, cargo, copy_program, instrument, kept_builds, online_cargo, other_cargo, report,
    repository, rings_in, with_cache,
};
pub use torture::{Build, Torture};
pub use tracee::{Snapshot, Stop, Tracee};
pub use tree::{Fingerprint, Tree, clean_up, finding_recorder, manifest, with_own_version};
pub use verdict::{ByChance, Verdict};

/// One thing that must be true of the product.
pub struct Case {
    /// The fact, in words.
    pub name: &'static str,
    /// What the machine must have.
    pub needs: &'static [Need],
    /// Panics when the fact does not hold.
    pub run: fn(),
}

impl Case {
    /// A case that needs nothing but a Rust toolchain.
    pub const fn new(name: &'static str, run: fn()) -> Case {
        Case { name, needs: &[], run }
    }

    /// A case that is ignored, with a word, on machines without this.
    pub const fn needing(name: &'static str, needs: &'static [Need], run: fn()) -> Case {
        Case { name, needs, run }
    }
}
