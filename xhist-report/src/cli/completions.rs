//! Completions of shells and pages of manuals, made of the command line itself.

use std::io::{self, Write};

use clap::{Args as ClapArgs, Command, ValueEnum};
use clap_complete::Shell;

use xhist_history::notes::typed;

/// What is printed.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub struct ShellArgs {
    /// A shell, or `man` for the page of the manual
    #[arg(value_name = "SHELL")]
    of: CompletionsOf,
}

/// What reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompletionsOf {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
    /// The page of the manual, for roff
    Man,
}

/// Prints what belongs to this command line.
pub(super) fn run(args: ShellArgs, command: Command, out: &mut dyn Write) -> io::Result<()> {
    let mut command = if typed::is_cargo() { of_cargo(command) } else { command };
    let name = command.get_name().to_owned();
    let shell = match args.of {
        CompletionsOf::Man => return clap_mangen::Man::new(command).render(out),
        CompletionsOf::Bash => Shell::Bash,
        CompletionsOf::Zsh => Shell::Zsh,
        CompletionsOf::Fish => Shell::Fish,
        CompletionsOf::Elvish => Shell::Elvish,
        CompletionsOf::Powershell => Shell::PowerShell,
    };
    // The crate panics when its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    out.write_all(&script)
}

/// `cargo-xhist xhist COMMAND`, as cargo starts it: its own commands take the arguments of cargo's.
fn of_cargo(command: Command) -> Command {
    let own = typed::cargo_commands().iter().map(|(name, about)| Command::new(*name).about(*about));
    let xhist = command.name("xhist").subcommands(own);
    Command::new("cargo-xhist").about("cargo on instrumented sources").subcommand(xhist)
}
