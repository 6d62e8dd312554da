//! What happens before `main`, or when a shared object with the recorder is loaded.
//!
//! Programs that do not call the recorder (`cargo xhist`) start it here. It handles no signal for an export, and
//! prints nothing except a line under a panic message: otherwise the program must behave as without the
//! recorder.

#[cfg(feature = "auto")]
use crate::hosted::init::Init;
use crate::hosted::setup::config::Config;
use qs_core::ring::Status;

use crate::hosted::setup::settings::SWITCH;
use crate::hosted::setup::spectra_file;
use crate::hosted::slots::spectra;
use crate::hosted::system::{Callbacks, sandbox, set_callbacks, sys};
use crate::hosted::timing::ticker;
use crate::hosted::{setup, threads};

extern "C" fn start() {
    // The recorder is switched off, for example in a compiler that loads a procedural macro that contains it.
    if SWITCH.is(&["off", "0"]) {
        return;
    }
    // This comes here and not at the first statement, which may run in a signal handler.
    sys::stay_loaded();
    // Two processes must not write the same file, whatever a program sets up.
    set_callbacks(&CALLBACKS);
    crate::hosted::slots::spare::on_no_memory(crate::trace::report_no_memory);
    crate::hosted::threads::set_up_handlers();
    // This comes before the program asks for the handler of the signal.
    sys::catch_faults(crate::hosted::system::mirror::on_fault);
    #[cfg(feature = "auto")]
    if Config::get().is_some_and(|config| config.on) {
        Init::new().no_signal().install();
    }
}

static CALLBACKS: Callbacks = Callbacks {
    on_fork_in_child: threads::on_fork_in_child,
    on_death: || {
        if let Some(header) = threads::own() {
            header.set_status(Status::Killed);
        }
    },
    check_for_fork: || {
        if setup::owner::is_unseen_child() {
            sys::keeping_errno(|| threads::on_fork_in_child());
        }
    },
    restrict,
    number_for_thread: || if spectra_file::is_open() { spectra::origin_of_thread() } else { 0 },
    on_thread: spectra::set_parent,
    on_process: |pid| spectra_file::note_start(pid, spectra::origin()),
    on_output: crate::trace::on_output,
};

/// The program enters a sandbox, or forbids the processor's counter.
fn restrict(is_filter: bool, is_counter_forbidden: bool) {
    // The set-up makes many calls.
    let _ = Config::get();
    if is_filter && sandbox::enter() {
        ticker::leave_out_calls();
    }
    if is_counter_forbidden {
        setup::clock::forbid();
    }
}

sys::before_main!(start);
