//! The cores that record: with the feature `multi-core` each has a ring and a writer of its own, without it all have one.
//!
//! A core masks only its own interrupts, and writes only its own ring. What the cores share is behind the program's critical
//! section: the choice and the headers of the rings. The clock is one word.

/// Number of rings that are written, and of writers. `XHIST_CORES` in the environment of the compiler changes it.
pub(super) const CORES: usize = match option_env!("XHIST_CORES") {
    _ if cfg!(not(feature = "multi-core")) => 1,
    None => 2,
    Some(text) => match usize::from_str_radix(text, 10) {
        Ok(cores @ 2..=16) => cores,
        _ => panic!("XHIST_CORES must be a number from 2 to 16"),
    },
};

#[cfg(not(feature = "multi-core"))]
pub(super) use one::{between, current, place};
#[cfg(feature = "multi-core")]
pub(super) use several::{between, clock, current, place, set_clock};

#[cfg(not(feature = "multi-core"))]
mod one {
    /// The number of the core that runs this code.
    #[inline(always)]
    pub(crate) fn current() -> usize {
        0
    }

    /// The place of its ring.
    #[inline(always)]
    pub(crate) fn place() -> usize {
        0
    }

    /// Calls `act` while no other core is in here.
    #[inline(always)]
    pub(crate) fn between<R>(act: impl FnOnce() -> R) -> R {
        act()
    }
}

#[cfg(feature = "multi-core")]
mod several {
    use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

    static CLOCK: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

    /// The place of the ring that this core writes, or of the last one if it has none.
    #[inline(always)]
    pub(crate) fn place() -> usize {
        current().min(super::CORES - 1)
    }

    /// Calls `act` in the program's critical section, which keeps out the other cores, too.
    pub(crate) fn between<R>(act: impl FnOnce() -> R) -> R {
        critical_section::with(|_| act())
    }

    /// Sets the clock of all cores.
    pub(crate) fn set_clock(time: fn() -> u32) {
        CLOCK.store(time as *mut (), Relaxed);
    }

    /// The program's clock, which all cores share.
    pub(crate) fn clock() -> Option<fn() -> u32> {
        // SAFETY: `set_clock` stores nothing else, and null is `None`.
        unsafe { core::mem::transmute::<*mut (), Option<fn() -> u32>>(CLOCK.load(Relaxed)) }
    }

    #[cfg(target_arch = "riscv32")]
    #[inline(always)]
    pub(crate) fn current() -> usize {
        let hart;
        // SAFETY: only reads a register. It is not `pure`, so the read stays where interrupts are masked.
        unsafe {
            core::arch::asm!("csrr {0}, mhartid", out(reg) hart, options(nomem, nostack, preserves_flags))
        };
        hart
    }

    #[cfg(target_arch = "arm")]
    const REGISTER: usize = match option_env!("XHIST_CORE_REGISTER") {
        Some(text) => address(text.as_bytes()),
        None => panic!(
            "XHIST_CORE_REGISTER must be the address of a register with the number of the core: 0xD0000000 on RP2040 and RP2350"
        ),
    };

    /// The number behind `0x`.
    #[cfg(any(target_arch = "arm", test))]
    pub(super) const fn address(text: &[u8]) -> usize {
        assert!(
            text.len() > 2 && text[0] == b'0' && text[1] == b'x',
            "XHIST_CORE_REGISTER must begin with 0x"
        );
        let (mut number, mut at) = (0, 2);
        while at < text.len() {
            let Some(digit) = (text[at] as char).to_digit(16) else {
                panic!("XHIST_CORE_REGISTER must be a hexadecimal number")
            };
            assert!(number >> 28 == 0, "XHIST_CORE_REGISTER must have at most 32 bits");
            number = number << 4 | digit as usize;
            at += 1;
        }
        assert!(number % 4 == 0, "XHIST_CORE_REGISTER must be the address of a word");
        number
    }

    #[cfg(target_arch = "arm")]
    #[inline(always)]
    pub(crate) fn current() -> usize {
        // SAFETY: the program names a register whose address is that of a word, and that may be read at any time.
        unsafe { core::ptr::with_exposed_provenance::<u32>(REGISTER).read_volatile() as usize }
    }

    #[cfg(all(test, not(any(target_arch = "arm", target_arch = "riscv32"))))]
    pub(crate) fn current() -> usize {
        super::super::tests::core()
    }
}

#[cfg(all(feature = "multi-core", feature = "single-core"))]
compile_error!("name one of the features `multi-core` and `single-core` of xhist-rt");

#[cfg(all(feature = "multi-core", feature = "cycles"))]
compile_error!(
    "the counters of several cores differ, so the features `multi-core` and `cycles` of xhist-rt exclude each other: give the cores a common clock by `qs::Info::time`"
);

#[cfg(all(test, feature = "multi-core"))]
mod tests {
    #[test]
    fn the_address_of_a_register_is_hexadecimal() {
        assert_eq!(super::several::address(b"0xD0000000"), 0xD000_0000);
        for wrong in ["D0000000", "0x", "0xG", "0x100000000", "0x2"] {
            assert!(
                std::panic::catch_unwind(|| super::several::address(wrong.as_bytes())).is_err(),
                "{wrong}"
            );
        }
    }
}
