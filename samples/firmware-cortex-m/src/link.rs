//! The live link: sends the stream of the ring through the UART or through RTT, and receives the host's commands.
// xhist instrument FALSE

use core::cell::Cell;

use critical_section::Mutex;
use xhist_rt::qs::{self, Callbacks, Info, Pump};

#[cfg(not(feature = "rtt"))]
use crate::uart::{read, write};
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
