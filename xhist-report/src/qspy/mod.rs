//! What QSPY prints of a stream, and the files it writes beside.

mod args;
mod dictionaries;
mod error;
mod options;
mod outputs;
mod printer;
mod screen;
mod session;

pub use args::{QsArgs, TargetArgs};
pub use error::SessionError;
pub use options::{DictionaryFile, QsOptions};
pub use outputs::by_time;
pub use session::Session;
