//! The first UART of the board. Nothing here waits.
// xhist instrument FALSE
#![cfg_attr(not(feature = "link"), allow(dead_code, reason = "only a link reads"))]

const DATA: *mut u32 = 0x4000_C000 as *mut u32;
const FLAGS: *const u32 = 0x4000_C018 as *const u32;
const RECEIVE_EMPTY: u32 = 1 << 4;
const SEND_FULL: u32 = 1 << 5;

fn has(flag: u32) -> bool {
    // SAFETY: a register of the UART, which may be read at any time.
    unsafe { FLAGS.read_volatile() & flag != 0 }
}

/// Sends bytes while the UART has room, and returns their number.
pub fn write(bytes: &[u8]) -> usize {
    // SAFETY: a register of the UART, which has room for a byte.
    let send = |byte: u8| unsafe { DATA.write_volatile(byte.into()) };
    bytes.iter().take_while(|_| !has(SEND_FULL)).map(|byte| send(*byte)).count()
}

/// Takes the bytes that the UART has received, and returns their number.
pub fn read(into: &mut [u8]) -> usize {
    // SAFETY: a register of the UART; reading it takes the received byte, and only this function reads.
    let receive = |place: &mut u8| unsafe { *place = DATA.read_volatile() as u8 };
    into.iter_mut().take_while(|_| !has(RECEIVE_EMPTY)).map(receive).count()
}
