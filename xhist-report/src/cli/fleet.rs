//! `xhist-report fleet`: starts `xhist-fleet`, a program of its own, as its query engine is large.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use clap::Args as ClapArgs;

use xhist_history::ExitCode;
use xhist_history::notes::Notes;
use xhist_history::notes::typed;

/// The program.
const PROGRAM: &str = "xhist-fleet";

/// What `xhist-fleet` gets.
#[derive(Clone, Debug, ClapArgs)]
#[command(disable_help_flag = true)]
pub struct FleetArgs {
    /// Arguments of xhist-fleet
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Starts the program beside this one, else the one on the path.
pub(super) fn run(args: &FleetArgs, notes: &mut Notes<'_>) -> ExitCode {
    let beside = || {
        let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
        Some(std::env::current_exe().ok()?.parent()?.join(name)).filter(|path| path.is_file())
    };
    let program = beside().unwrap_or_else(|| PathBuf::from(PROGRAM));
    match start(Command::new(&program).args(&args.arguments)) {
        Ok(code) => code,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            notes.error(format_args!(
                "`{}` needs the program xhist-fleet: `cargo install --path xhist-fleet` in a checkout of xhist \
                 installs it",
                typed::command("fleet")
            ));
            ExitCode::Usage
        }
        Err(error) => {
            notes.error(format_args!("cannot start {}: {error}", program.display()));
            ExitCode::Usage
        }
    }
}

/// Replaces this process; returns only if that fails.
#[cfg(unix)]
fn start(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Waits for the program.
#[cfg(not(unix))]
fn start(command: &mut Command) -> io::Result<ExitCode> {
    let code = command.status()?.code().unwrap_or(2);
    Ok([ExitCode::Complete, ExitCode::Incomplete]
        .into_iter()
        .find(|known| *known as i32 == code)
        .unwrap_or(ExitCode::Usage))
}
