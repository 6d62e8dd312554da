//! Shows a pattern on an LED, step by step. There is a mistake in it: the features choose which.

#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use panic_semihosting as _;

/// Brightness of each step.
static PATTERN: [u32; 4] = [0, 40, 100, 40];

#[entry]
fn main() -> ! {
    hprintln!("blinking");
    let mut shown = 0;
    for step in 0..100 {
        shown += brightness(step);
        if step == 3 {
            make_a_mistake(shown);
        }
    }
    debug::exit(debug::EXIT_SUCCESS);
    loop {}
}

fn brightness(step: usize) -> u32 {
    let steps = if cfg!(feature = "good") { 4 } else { 5 };
    let at = step % steps;
    PATTERN[at]
}

fn make_a_mistake(shown: u32) {
    if cfg!(feature = "hang") {
        wait_for(shown);
    } else if cfg!(feature = "fault") {
        call(0x6000_0001);
    } else if cfg!(feature = "overflow") {
        black_box(deeper(shown));
    }
}

/// Nothing changes what it waits for.
fn wait_for(shown: u32) {
    while black_box(shown) != 0 {
        black_box(1);
    }
}

/// There is no function at this address.
fn call(address: usize) {
    let function: fn() = unsafe { core::mem::transmute(address) };
    function();
}

/// It has no end.
#[allow(unconditional_recursion)]
fn deeper(depth: u32) -> u32 {
    let more = black_box([depth; 64]);
    black_box(deeper(depth + 1)) + more[0]
}
