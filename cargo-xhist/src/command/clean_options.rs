//! The options of `cargo xhist clean`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;

/// Removes the runs that are kept under target/xhist: ring files and how each run ended. Directories that were renamed and files of
/// other names stay. Nothing is removed while a run is in use.
#[derive(Clone, Debug, Parser)]
#[command(name = "cargo xhist clean", bin_name = "cargo xhist clean")]
pub(crate) struct Clean {
    /// Remove instrumented sources and builds as well: the next command builds again
    #[arg(long)]
    pub(crate) builds: bool,

    /// Remove also the maps: rings that are kept elsewhere lose the names of their files
    #[arg(long)]
    pub(crate) all: bool,

    /// Print what would be removed, and remove nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,

    /// Print nothing about what was removed
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Cargo's target directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) target_dir: Option<PathBuf>,

    /// The manifest of the project
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest_path: Option<PathBuf>,

    /// Cargo's configuration: KEY=VALUE or a file
    #[arg(long, value_name = "KEY=VALUE|PATH")]
    pub(crate) config: Vec<OsString>,

    /// Passed to cargo
    #[arg(long)]
    pub(crate) locked: bool,

    /// Passed to cargo
    #[arg(long)]
    pub(crate) offline: bool,

    /// Passed to cargo
    #[arg(long)]
    pub(crate) frozen: bool,
}

impl Clean {
    /// Parses the words behind `clean`. Clap prints help.
    pub(crate) fn parse(words: &[OsString]) -> Result<Clean, clap::Error> {
        let program = OsString::from("cargo xhist clean");
        Clean::try_parse_from(std::iter::once(&program).chain(words))
    }
}
