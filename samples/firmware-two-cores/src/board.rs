//! QEMU's board `virt`: its second core, its clock, its UART, and a critical section for both cores.
// xhist instrument FALSE

use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicU8, Ordering::Acquire, Ordering::Release};

use riscv::register::{mhartid, mstatus};
use xhist_rt::qs;

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

pub fn start_second_core() {
    // SAFETY: a device register that only this function writes.
    unsafe { PENDING.write_volatile(1) };
}

/// Both cores read the same clock, so their histories are merged.
pub fn start_clock() {
    // SAFETY: a device register, which is only read. The low half is enough for 7 minutes.
    qs::start(qs::Info { time: Some(|| unsafe { TIME.read_volatile() }), ..qs::Info::default() });
}

/// Ends the emulator.
pub fn end(is_well: bool) -> ! {
    loop {
        // SAFETY: a device register.
        unsafe { FINISHER.write_volatile(if is_well { PASSED } else { FAILED }) };
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // The other core goes on, and its ring must keep what led to this.
    xhist_rt::stop();
    let _ = writeln!(Uart, "core {}: {info}", mhartid::read());
    end(false)
}

struct Uart;

impl Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            // SAFETY: a register of the UART, which only a panic writes.
            unsafe { UART.write_volatile(byte) };
        }
        Ok(())
    }
}

/// The core that is in the critical section, from 1. 0 = none.
static OWNER: AtomicU8 = AtomicU8::new(0);

struct Section;
critical_section::set_impl!(Section);

/// What `acquire` returns.
const NESTED: u8 = 1;
const INTERRUPTS: u8 = 2;

// SAFETY: one core at a time is between both functions, with its interrupts masked.
unsafe impl critical_section::Impl for Section {
    unsafe fn acquire() -> u8 {
        let own = mhartid::read() as u8 + 1;
        let interrupts = if mstatus::read().mie() { INTERRUPTS } else { 0 };
        riscv::interrupt::disable();
        if OWNER.load(Acquire) == own {
            return NESTED | interrupts;
        }
        while OWNER.compare_exchange_weak(0, own, Acquire, Acquire).is_err() {}
        interrupts
    }

    unsafe fn release(state: u8) {
        if state & NESTED == 0 {
            OWNER.store(0, Release);
        }
        if state & INTERRUPTS != 0 {
            // SAFETY: they were enabled before.
            unsafe { riscv::interrupt::enable() };
        }
    }
}
// xhist instrument TRUE
