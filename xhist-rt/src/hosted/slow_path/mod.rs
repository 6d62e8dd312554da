//! What the fast path leaves out: `roll_over` closes a chunk and opens the next one, `append` appends records, and
//! statements that are known at run time only.

#[allow(unsafe_code)]
mod append;
#[allow(unsafe_code)]
mod roll_over;

pub(crate) use append::{append_record, at, put_word, record_without_word};
pub(crate) use roll_over::roll_over;
