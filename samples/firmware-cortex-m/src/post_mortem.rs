//! Reports after a failure: the run before a reset, and the last statements before a panic or a fault.
// xhist instrument FALSE

use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};
use semihosting::{println, process};

/// Number of statements to print.
const LAST: usize = 64;

/// Writes the ring of the run before the reset to a file of the host.
pub fn report_earlier_run() {
    #[cfg(all(feature = "watchdog", not(feature = "field")))]
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
    // No interrupts from here on: the statements of their handlers are not part of the cause.
    cortex_m::interrupt::disable();
    println!("{info}");
    print_and_exit()
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    println!("hard fault at {:#010x}", frame.pc());
    print_and_exit()
}

/// Prints the last statements as file ids and lines; the map on the host has the names.
fn print_and_exit() -> ! {
    let mut last = [(0, 0); LAST];
    for (file, line) in xhist_rt::last(&mut last) {
        println!("{file}:{line}");
    }
    process::exit(1)
}
