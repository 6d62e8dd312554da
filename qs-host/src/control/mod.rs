//! Requests to a target: packets, filters as they are typed, and the port for front-ends.

pub mod filter_spec;
pub mod front_end;
pub mod request;
pub mod tap;
