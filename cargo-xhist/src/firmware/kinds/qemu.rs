//! QEMU's emulators of whole machines. Nothing is added to the user's command line: the memory of the target is read from the
//! emulator's process at its end.

use super::kind::{Reading, RunnerKind};

pub(super) const KIND: RunnerKind =
    RunnerKind { is: |program, _| program.starts_with("qemu-system-"), reading: Reading::AtItsEnd };
