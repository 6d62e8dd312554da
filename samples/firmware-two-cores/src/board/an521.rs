//! QEMU's board `mps2-an521`, with two Cortex-M33.
// xhist instrument FALSE

use core::fmt::Arguments;

pub use cortex_m::interrupt::enable as enable_interrupts;
use cortex_m::register::primask;
pub use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprint};

/// The number of the core, which `.cargo/config.toml` names for the recorder, too.
const CORE: *const u32 = 0x4001_F000 as *const u32;
/// The second core's vector table, and which cores wait.
const VECTORS_1: *mut *const u32 = 0x5002_1114 as *mut *const u32;
const WAIT: *mut u32 = 0x5002_1118 as *mut u32;
/// A timer: control, a value that counts down, and what it begins with again.
const TIMER: *mut u32 = 0x5000_0000 as *mut u32;

const STACK_WORDS: usize = 4096;

/// What the second core begins with.
#[repr(C, align(128))]
struct Vectors(*const u32, unsafe extern "C" fn() -> !);

// SAFETY: nothing is written through the pointer but the stack of the second core.
unsafe impl Sync for Vectors {}

static mut STACK_1: [u32; STACK_WORDS] = [0; STACK_WORDS];
static VECTORS: Vectors = Vectors((&raw const STACK_1).cast::<u32>().wrapping_add(STACK_WORDS), main);

unsafe extern "C" {
    /// The function with `#[entry]`. Memory is initialised then.
    fn main() -> !;
}

pub fn core() -> usize {
    // SAFETY: a device register, which is only read.
    unsafe { CORE.read_volatile() as usize }
}

pub fn start_second_core() {
    // SAFETY: device registers that only this function writes.
    unsafe {
        VECTORS_1.write_volatile((&raw const VECTORS).cast());
        WAIT.write_volatile(0);
    }
}

pub fn start_timer() {
    // SAFETY: device registers that only this function writes.
    unsafe {
        TIMER.add(2).write_volatile(u32::MAX);
        TIMER.add(1).write_volatile(u32::MAX);
        TIMER.write_volatile(1);
    }
}

pub fn time() -> u32 {
    // SAFETY: a device register, which is only read.
    !unsafe { TIMER.add(1).read_volatile() }
}

/// Whether they were enabled.
pub fn mask_interrupts() -> bool {
    let were_enabled = primask::read().is_active();
    cortex_m::interrupt::disable();
    were_enabled
}

/// Ends the emulator.
pub fn end(is_well: bool) -> ! {
    loop {
        debug::exit(if is_well { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    }
}

pub fn print(text: Arguments<'_>) {
    hprint!("{}", text);
}
// xhist instrument TRUE
