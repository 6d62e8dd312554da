//! The live link: sends the stream of the ring through the UART, and receives the host's commands.
// xhist instrument FALSE

use core::cell::RefCell;

use critical_section::Mutex;
use xhist_rt::qs::{self, Callbacks, Channel, Info};

/// The first UART of the board.
const DATA: *mut u32 = 0x4000_C000 as *mut u32;
const FLAGS: *const u32 = 0x4000_C018 as *const u32;
const RECEIVE_EMPTY: u32 = 1 << 4;
const SEND_FULL: u32 = 1 << 5;

static CHANNEL: Mutex<RefCell<Channel<128>>> = Mutex::new(RefCell::new(Channel::new()));

struct Firmware;

impl Callbacks for Firmware {}

pub fn start() {
    qs::start(Info { dictionaries: Some(dictionaries), ..Info::default() });
}

fn dictionaries() {
    xhist_rt::name_files!();
    qs::name_user(100, "TICKS");
}

/// Exchanges bytes with the host; the main loop calls it repeatedly.
pub fn poll() {
    // SAFETY: a register of the UART, which may be read at any time.
    let has = |flag| unsafe { FLAGS.read_volatile() } & flag != 0;
    while !has(RECEIVE_EMPTY) {
        // SAFETY: a register of the UART; reading it takes the received byte, and only this function reads.
        let byte = unsafe { DATA.read_volatile() } as u8;
        critical_section::with(|token| CHANNEL.borrow_ref_mut(token).byte(byte, &mut Firmware));
    }
    while !has(SEND_FULL) {
        // SAFETY: a register of the UART, which has room for a byte.
        match qs::get_byte() {
            Some(byte) => unsafe { DATA.write_volatile(byte.into()) },
            None => return qs::flush(),
        }
    }
}
