//! Names that several steps share: this program in its roles, the recorder and its packages.

/// The file of a program of this name.
pub(crate) fn program_file(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// The name under which this program is the wrapper for members.
pub(crate) const WRAPPER_NAME: &str = "xhist-rustc";
/// The name under which it is the wrapper for crates that are not members.
pub(crate) const DEPENDENCY_NAME: &str = "xhist-rustc-dependency";
/// The name under which it is the wrapper for every crate, which calls one of the others.
pub(crate) const OUTER_NAME: &str = "xhist-rustc-all";
/// The name under which this program compiles the recorder.
pub(crate) const COMPILER_NAME: &str = "xhist-rustc-recorder";
/// The name under which this program is the runner.
pub(crate) const RUNNER_NAME: &str = "xhist-runner";
/// The name under which this program is in front of the user's runner of firmware.
pub(crate) const FIRMWARE_RUNNER_NAME: &str = "xhist-firmware-runner";

/// Packages that cannot record themselves.
pub(crate) const PACKAGES: [&str; 4] = ["xhist-rt", "xhist-qs", "critical-section", "libc"];

/// The same recorder with the calls for crates that are not optimised, see `write_package` in `recorder.rs`.
pub(crate) const UNOPTIMISED: &str = "xhist_recorder";

/// The profile of the recorder, and the directory that cargo names after it.
pub(crate) const PROFILE: &str = "recorder";
/// Extension of the files in which the recorder keeps which statements each thread ran.
pub(crate) const SPECTRA: &str = "spectra";
/// The directory beside the wrapper with a file for each crate that includes generated code which is not recorded.
pub(crate) const GENERATED: &str = "generated";
/// The directory beside the wrapper with a file for each crate that includes generated code which the plan does not know.
pub(crate) const FOUND: &str = "found";
/// The directory beside the wrapper with a file for each function or macro that a compiler needs as it is.
pub(crate) const REFUSED: &str = "refused";
