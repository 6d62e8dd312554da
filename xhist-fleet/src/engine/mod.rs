//! SQL on a data set: DataFusion in this process, and scripts for other engines.

mod print;
mod scripts;
mod session;
mod views;

pub use print::{QueryFormat, print};
pub use scripts::write_views;
pub use session::{Engine, EngineOptions};
pub use views::first_suspects;
