//! What happens before `main`, or when a shared object with the recorder in it is loaded.
//!
//! For programs that know nothing of the recorder (`cargo xhist`), it starts here. No signal is taken, and nothing is
//! printed but the last statements under a panic message: else the program must behave as it does without us.

#[cfg(feature = "auto")]
use super::config::Config;
#[cfg(feature = "auto")]
use super::init::Init;
use super::settings::SWITCH;
use super::sys;

extern "C" fn start() {
    // Switched off, for example in a compiler that loads a procedural macro with us in it.
    if SWITCH.is(&["off", "0"]) {
        return;
    }
    // Here and not at the first statement, which may run in a signal handler.
    sys::stay_loaded();
    crate::hot::set_up();
    // Before the program asks who handles it.
    super::signals::catch(libc::SIGSEGV, super::mirror::on_fault);
    #[cfg(feature = "auto")]
    if Config::get().is_some_and(|config| config.on) {
        Init::new().no_signal().install();
    }
}

/// The loader calls what stands in this section before `main`.
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static START: extern "C" fn() = start;
