//! What is told after the fact: the run before a reset, and the last statements before a panic or a fault.
// xhist instrument FALSE

use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};
use semihosting::{println, process};

/// Statements that are printed.
const LAST: usize = 16;

/// Writes what the run before the reset has left to a file of the host.
pub fn tell_of_the_run_before() {
    #[cfg(feature = "watchdog")]
    {
        use semihosting::fs::File;
        use semihosting::io::Write;
        let mut file = None;
        let is_there = xhist_rt::export_earlier(|piece| {
            let file = file.get_or_insert_with(|| File::create(c"earlier.bin"));
            let _ = file.as_mut().map(|file| file.write(piece));
        });
        if is_there {
            println!("started again; the history of the run before is in earlier.bin");
            process::exit(0);
        }
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // What handlers do from here on is not what led here.
    cortex_m::interrupt::disable();
    println!("{info}");
    tell_and_exit()
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    println!("hard fault at {:#010x}", frame.pc());
    tell_and_exit()
}

/// The last statements, as file ids and lines: the map on the host has the names.
fn tell_and_exit() -> ! {
    let mut last = [(0, 0); LAST];
    for (file, line) in xhist_rt::last(&mut last) {
        println!("{file}:{line}");
    }
    process::exit(1)
}
