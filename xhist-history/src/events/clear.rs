//! `--clear`: marks in a ring file what was shown, so that it is not shown again.

use std::path::Path;

use byteorder::{ByteOrder as _, NativeEndian};
use qs_core::ring::CLEARED_OFFSET;

use super::survey::Survey;
use crate::notes::Notes;
use crate::ring::Placed;
use crate::source;

/// Marks in the ring file at `path` what was shown of these rings.
pub fn clear(path: &Path, chosen: &[&Placed], surveys: &[Survey], notes: &mut Notes<'_>) {
    for (placed, survey) in chosen.iter().zip(surveys) {
        let header = &placed.header;
        if header.is_bare() {
            notes
                .note(format_args!("{} has no room to mark what was shown; it was not cleared", placed.ring));
            continue;
        }
        let mut bytes = [0; 16];
        for (word, bytes) in survey.shown.words().into_iter().zip(bytes.chunks_exact_mut(8)) {
            NativeEndian::write_u64(bytes, if header.swapped { word.swap_bytes() } else { word });
        }
        if let Err(error) = source::write_at(path, placed.ring.offset + CLEARED_OFFSET, &bytes) {
            notes.incomplete();
            notes.error(format_args!("cannot clear {}: {error}", path.display()));
            return;
        }
    }
}
