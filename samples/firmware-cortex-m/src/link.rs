//! The live link: the stream of the ring out of the UART, and the host's commands in.
// xhist instrument FALSE

use core::cell::RefCell;

use critical_section::Mutex;
use xhist_rt::qs::{self, Callbacks, Channel, Info};

const UART: *mut u32 = 0x4000_C000 as *mut u32;
const FLAGS: usize = 6;
const RECEIVE_EMPTY: u32 = 1 << 4;
const SEND_FULL: u32 = 1 << 5;
