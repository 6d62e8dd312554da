//! The live link: the stream of the ring out of the UART, and the host's commands in.
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

/// To be called again and again.
pub fn poll() {
    // SAFETY: registers of the UART, which nobody else uses.
    let has = |flag| unsafe { FLAGS.read_volatile() } & flag != 0;
    while !has(RECEIVE_EMPTY) {
        // SAFETY: as above.
        let byte = unsafe { DATA.read_volatile() } as u8;
        critical_section::with(|token| CHANNEL.borrow_ref_mut(token).byte(byte, &mut Firmware));
    }
    while !has(SEND_FULL) {
        // SAFETY: as above.
        match qs::get_byte() {
            Some(byte) => unsafe { DATA.write_volatile(byte.into()) },
            None => return qs::flush(),
        }
    }
}
