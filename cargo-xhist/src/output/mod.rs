//! What cargo and the tests print: passed on byte for byte, and read for the results of tests. And the steps before cargo
//! runs, as they are shown.

mod hidden;
pub(crate) mod progress;
pub(crate) mod relay;
pub(crate) mod results;

pub(crate) use hidden::Language;
