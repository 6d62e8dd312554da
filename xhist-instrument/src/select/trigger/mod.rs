//! Triggers at source lines, which start or stop the recording: the user's requests, and the statements and bindings that
//! they resolve to.

mod error;
mod place;
mod request;

pub use error::{RequestProblem, TriggerError, UnknownValue};
pub use place::{Placed, place};
pub use request::NOTE_WAIT;
pub use request::Request;
