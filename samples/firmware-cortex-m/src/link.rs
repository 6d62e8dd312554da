//! The live link: sends the stream of the ring through the UART or through RTT, and receives the host's commands.
// xhist instrument FALSE

use core::cell::Cell;

use critical_section::Mutex;
use xhist_rt::qs::{self, Callbacks, Info, Pump};

#[cfg(not(feature = "rtt"))]
use uart::{read, write};
#[cfg(feature = "rtt")]
use xhist_rt::qs::rtt::{read, write};

static PUMP: Mutex<Cell<Option<Pump<128>>>> = Mutex::new(Cell::new(Some(Pump::new())));

struct Firmware;

impl Callbacks for Firmware {}

pub fn start() {
    qs::start(Info { dictionaries: Some(dictionaries), ..Info::default() });
}

fn dictionaries() {
    xhist_rt::name_files!();
    qs::name_user(100, "TICKS");
}

/// Exchanges bytes with the host; the main loop calls it repeatedly. Interrupts stay enabled meanwhile.
pub fn poll() {
    let Some(mut pump) = critical_section::with(|token| PUMP.borrow(token).take()) else { return };
    pump.turn(write, read, &mut Firmware);
    critical_section::with(|token| PUMP.borrow(token).set(Some(pump)));
}

#[cfg(not(feature = "rtt"))]
mod uart {
    //! The first UART of the board.

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
}
