//! Start before `main`, for programs that know nothing of the recorder (`cargo xhist`).
//!
//! No signal is taken, and nothing is printed but the last statements under a panic message: else the program must
//! behave as it does without us.

use super::config::Config;
use super::init::Init;

extern "C" fn start() {
    // Switched off, for example in a compiler that loads a procedural macro with us in it.
    if Config::get().is_none_or(|config| !config.on) {
        return;
    }
    Init::new().no_signal().install();
}

/// The loader calls what stands in this section before `main`.
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static START: extern "C" fn() = start;
