//! A serial port with a bad cable.

use xhist_rt::trace_event;

use crate::codes::PARITY_ERROR;

const PORT: u8 = 3;
const STATUS_PARITY: u8 = 0x04;

/// Receives bytes; drops those with a parity error.
pub fn receive(bytes: &[u8], with_parity: bool) -> usize {
    let mut taken = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let is_odd = byte.count_ones() % 2 == 1;
        if with_parity && is_odd {
            trace_event!(Hw1, PARITY_ERROR; PORT, STATUS_PARITY, at; bytes);
            continue;
        }
        taken += 1;
    }
    taken
}
