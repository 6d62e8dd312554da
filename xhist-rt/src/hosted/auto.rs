//! What happens before `main`, or when a shared object with the recorder is loaded.
//!
//! Programs that do not call the recorder (`cargo xhist`) start it here. It handles no signal for an export, and
//! prints nothing except a line under a panic message: otherwise the program must behave as without the
//! recorder.

#[cfg(feature = "auto")]
use crate::hosted::init::Init;
#[cfg(feature = "auto")]
use crate::hosted::setup::config::Config;
use crate::hosted::setup::settings::SWITCH;
use crate::hosted::system::sys;

extern "C" fn start() {
    // The recorder is switched off, for example in a compiler that loads a procedural macro that contains it.
    if SWITCH.is(&["off", "0"]) {
        return;
    }
    // This comes here and not at the first statement, which may run in a signal handler.
    sys::stay_loaded();
    // Two processes must not write the same file, whatever a program sets up.
    sys::at_fork_in_child(crate::hosted::threads::on_fork_in_child);
    crate::hosted::slots::spare::on_no_memory(crate::trace::report_no_memory);
    crate::hosted::threads::set_up_handlers();
    // This comes before the program asks for the handler of the signal.
    crate::hosted::system::signals::catch(libc::SIGSEGV, crate::hosted::system::mirror::on_fault);
    #[cfg(feature = "auto")]
    if Config::get().is_some_and(|config| config.on) {
        Init::new().no_signal().install();
    }
}

/// The loader calls the functions in this section before `main`.
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static START: extern "C" fn() = start;
