//! QEMU's board `virt`, with two RISC-V cores.
// xhist instrument FALSE

use core::fmt::{Arguments, Result, Write};

pub use riscv::interrupt::enable as enable_interrupts;
use riscv::register::{mhartid, mstatus};
pub use riscv_rt::entry;

/// The second core's software interrupt, the time in units of 0.1 us, the first UART, and the device that ends the emulator.
const PENDING: *mut u32 = 0x0200_0004 as *mut u32;
const TIME: *const u32 = 0x0200_BFF8 as *const u32;
const UART: *mut u8 = 0x1000_0000 as *mut u8;
const FINISHER: *mut u32 = 0x0010_0000 as *mut u32;
const PASSED: u32 = 0x5555;
const FAILED: u32 = 1 << 16 | 0x3333;

/// Called by each core before memory is initialised. The second one waits here until the first has done that.
#[unsafe(export_name = "_mp_hook")]
pub extern "Rust" fn is_first(core: usize) -> bool {
    // SAFETY: a device register. No variable is used.
    while core != 0 && unsafe { PENDING.read_volatile() } == 0 {}
    core == 0
}

pub fn core() -> usize {
    mhartid::read()
}

pub fn start_second_core() {
    // SAFETY: a device register that only this function writes.
    unsafe { PENDING.write_volatile(1) };
}

/// It runs from the start.
pub fn start_timer() {}

pub fn time() -> u32 {
    // SAFETY: a device register, which is only read. The low half is enough for 7 minutes.
    unsafe { TIME.read_volatile() }
}

/// Whether they were enabled.
pub fn mask_interrupts() -> bool {
    let were_enabled = mstatus::read().mie();
    riscv::interrupt::disable();
    were_enabled
}

/// Ends the emulator.
pub fn end(is_well: bool) -> ! {
    loop {
        // SAFETY: a device register.
        unsafe { FINISHER.write_volatile(if is_well { PASSED } else { FAILED }) };
    }
}

pub fn print(text: Arguments<'_>) {
    let _ = Uart.write_fmt(text);
}

struct Uart;

impl Write for Uart {
    fn write_str(&mut self, text: &str) -> Result {
        for byte in text.bytes() {
            // SAFETY: a register of the UART, which only a panic writes.
            unsafe { UART.write_volatile(byte) };
        }
        Ok(())
    }
}
// xhist instrument TRUE
