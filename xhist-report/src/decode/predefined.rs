//! Text of QS's predefined records: for now their name and length. It must not know application records.

use qs_core::record;

/// The line of a predefined record.
pub fn text(id: u8, payload: &[u8]) -> String {
    match record::info(id) {
        Some(info) => format!("           {} Len={}", info.name, payload.len()),
        None => format!("           Unknown Rec={id},Len={}", payload.len()),
    }
}
