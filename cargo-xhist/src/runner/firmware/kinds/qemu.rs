//! QEMU's emulators of whole machines. Nothing is added to the user's command line: the memory of the target is read from the
//! emulator's process at its end.

use super::kind::{Reading, RunnerKind, is_emulator};
use crate::runner::firmware::target_memory::Emulators;

pub(super) const KIND: RunnerKind =
    RunnerKind { is: |program, _| is_emulator(program), reading: Reading::AtItsEnd(Emulators::Runner) };

/// embedded-test-qemu-runner (0.1), which starts one emulator for each test.
pub(super) const FOR_TESTS: RunnerKind = RunnerKind {
    is: |program, _| program == "embedded-test-qemu-runner",
    reading: Reading::AtItsEnd(Emulators::Started(is_emulator)),
};
