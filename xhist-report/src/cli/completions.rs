//! Completions of shells and pages of manuals, made of the command line itself.

use std::io::{self, Write};

use clap::{Args as ClapArgs, Command, CommandFactory, ValueEnum};
use clap_complete::Shell;

use super::command::CommandLine;
use crate::typed;

/// What is printed.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub struct CompletionsArgs {
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

/// Prints it.
pub(super) fn run(args: CompletionsArgs, out: &mut dyn Write) -> io::Result<()> {
    let mut command = match typed::is_cargo() {
        true => cargo_command(),
        false => CommandLine::command(),
    };
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
fn cargo_command() -> Command {
    let own = typed::cargo_commands().iter().map(|(name, about)| Command::new(*name).about(*about));
    let xhist = CommandLine::command().name("xhist").subcommands(own);
    Command::new("cargo-xhist").about("cargo on instrumented sources").subcommand(xhist)
}
