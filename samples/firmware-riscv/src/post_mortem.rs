//! Reports through the UART after a failure: the last statements before a panic or an exception.
// xhist instrument FALSE

use core::fmt::{self, Write};
use core::panic::PanicInfo;

/// Number of statements to print.
const LAST: usize = 64;

/// The first UART of the board, and the device that ends the emulator.
const UART: *mut u8 = 0x1000_0000 as *mut u8;
const FINISHER: *mut u32 = 0x0010_0000 as *mut u32;
const FAILED: u32 = 1 << 16 | 0x3333;

struct Uart;

impl Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            // SAFETY: a register of the UART, which only this code writes.
            unsafe { UART.write_volatile(byte) };
        }
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // No interrupts from here on: the statements of their handlers are not part of the cause.
    riscv::interrupt::disable();
    let _ = writeln!(Uart, "{info}");
    print_and_end()
}

#[riscv_rt::exception(riscv::interrupt::Exception::LoadFault)]
fn load_fault(_frame: &riscv_rt::TrapFrame) -> ! {
    let _ = writeln!(Uart, "load fault at {:#010x}", riscv::register::mepc::read());
    print_and_end()
}

/// Prints the last statements as file ids and lines; the map on the host has the names.
fn print_and_end() -> ! {
    let mut last = [(0, 0); LAST];
    for (file, line) in xhist_rt::last(&mut last) {
        let _ = writeln!(Uart, "{file}:{line}");
    }
    loop {
        // SAFETY: a device register; writing it ends the emulator.
        unsafe { FINISHER.write_volatile(FAILED) };
    }
}
// xhist instrument TRUE
