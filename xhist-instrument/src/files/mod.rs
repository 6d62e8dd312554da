//! Files and paths of the user: replaced completely or not at all, and compared by their normal form.

pub mod atomic;
pub mod normal;
