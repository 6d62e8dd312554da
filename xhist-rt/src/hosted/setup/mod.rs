//! What the recorder decides once: settings of the environment, the clock, the ring file, and whether recording runs.

pub(crate) mod clock;
pub(crate) mod config;
pub(crate) mod file;
pub(crate) mod owner;
pub(crate) mod settings;
#[allow(unsafe_code)]
pub(crate) mod spectra_file;
pub(crate) mod trigger_state;
