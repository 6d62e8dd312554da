//! The application's signals and their names.

use xhist_rt::qs::Sig;

/// QP reserves the first values for state machines.
const FIRST: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Eat,
    Done,
    Pause,
    Serve,
    Hungry,
    Timeout,
}

impl Signal {
    pub const ALL: [(Signal, &'static str); 6] = [
        (Signal::Eat, "EAT_SIG"),
        (Signal::Done, "DONE_SIG"),
        (Signal::Pause, "PAUSE_SIG"),
        (Signal::Serve, "SERVE_SIG"),
        (Signal::Hungry, "HUNGRY_SIG"),
        (Signal::Timeout, "TIMEOUT_SIG"),
    ];

    pub fn sig(self) -> Sig {
        Sig(FIRST + self as u32)
    }

    pub fn from_sig(sig: Sig) -> Option<Signal> {
        Signal::ALL.iter().map(|(signal, _)| *signal).find(|signal| signal.sig() == sig)
    }
}
