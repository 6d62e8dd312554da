//! A board of QEMU: its second core, its clock, its end, and a critical section for both cores.
// xhist instrument FALSE

#[cfg(target_arch = "arm")]
mod an521;
#[cfg(target_arch = "arm")]
use an521 as this;
#[cfg(target_arch = "riscv32")]
mod virt;
#[cfg(target_arch = "riscv32")]
use virt as this;

use core::panic::PanicInfo;
use core::sync::atomic::{AtomicU8, Ordering::Acquire, Ordering::Release};

pub use this::{core, end, entry, start_second_core};
use xhist_rt::qs;

/// Both cores read the same clock, so their histories are merged.
pub fn start_clock() {
    this::start_timer();
    qs::start(qs::Info { time: Some(this::time), ..qs::Info::default() });
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // The other core goes on, and its ring must keep what led to this.
    xhist_rt::stop();
    this::print(format_args!("core {}: {info}\n", core()));
    end(false)
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
        let own = core() as u8 + 1;
        let interrupts = if this::mask_interrupts() { INTERRUPTS } else { 0 };
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
            unsafe { this::enable_interrupts() };
        }
    }
}
// xhist instrument TRUE
