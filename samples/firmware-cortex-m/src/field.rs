//! In the field there is no debug probe. The start after a reset has the history of the run before: here it leaves through the
//! UART, and stays in flash, where an update or a crash report finds it.
// xhist instrument FALSE

use crate::flash::{self, Partition};

pub fn start() {
    let is_new = flash::is_new();
    let mut history = Partition(flash::HISTORY);
    #[cfg(feature = "embassy-boot")]
    crate::boot_embassy::start(is_new, &mut history);
    #[cfg(feature = "mcuboot")]
    crate::boot_mcuboot::start(is_new, &mut history);
    #[cfg(feature = "coredump")]
    if !is_new {
        crate::coredump::keep(&mut history);
    }
    #[cfg(not(any(feature = "coredump", feature = "embassy-boot", feature = "mcuboot")))]
    if !is_new {
        flash::keep_earlier_run(&mut history);
    }
}
